"""About what the steps of a solution come to with a mistake, for all mistakes that are tried.

Many mistakes come to the same numbers, and two that are made together share what either comes to
alone. So the same equation of the same numbers is worked out once, in floats without a bound of
their error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Answer, Claim
from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Equation, Expression, names_used
from attncli.features.check.cell_values import CellValues, steps_after
from attncli.mistakes.model import Changes
from attncli.problem.matrix import Matrix, Scalar
from attncli.tracing.model import Step

Floats = NDArray[np.float64]
# What steps come to, as far as it was asked for.
Found = dict[str, Floats | None]


class _Equation(NamedTuple):
    """An equation, what it reads, and how far its letters run."""

    equation: Equation
    inputs: tuple[str, ...]
    sizes: dict[str, int]


@dataclass(eq=False)
class RoughValues:
    """A solution's steps in floats, each from what was written before it, with the equations of any
    mistake in the place of its own.

    With `decimals`, steps that were left out are rounded to so many before they are read. What
    overflows is not known, and None.
    """

    values: CellValues
    decimals: int | None = None
    # An array is known again by its id, so each of them stays.
    _same: dict[tuple[tuple[int, ...], bytes], Floats] = field(default_factory=dict)
    _worked: dict[tuple[object, ...], Floats | None] = field(default_factory=dict)
    _rounded: dict[int, Floats] = field(default_factory=dict)
    _equations: dict[tuple[str, int], _Equation] = field(default_factory=dict)
    _moved: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    # What was written, or is in the problem; and what no mistake moves.
    _given: Found = field(default_factory=dict)
    _unmoved: Found = field(default_factory=dict)

    def of(self, name: str, changes: Changes) -> Floats | None:
        """What a step comes to with these changes. Equal numbers are the same array."""
        return self._of(name, changes, self._moved_by(frozenset(changes)), {})

    def _moved_by(self, changed: frozenset[str]) -> frozenset[str]:
        if changed not in self._moved:
            self._moved[changed] = changed | steps_after(self.values.trace, changed)
        return self._moved[changed]

    def _of(
        self, name: str, changes: Changes, moved: frozenset[str], found: Found
    ) -> Floats | None:
        """What a step comes to; `found` has those that moved, and were asked for before."""
        known = found if name in moved else self._unmoved
        if name not in known:
            known[name] = self._work(name, changes, moved, found)
        return known[name]

    def _work(
        self, name: str, changes: Changes, moved: frozenset[str], found: Found
    ) -> Floats | None:
        change = changes.get(name)
        if isinstance(change, np.ndarray):
            return self._kept(_floats(change))
        step = self.values.trace.steps.get(name)
        if step is None or (change is None and step.rule.given):
            return self._of_problem(name)
        expression = step.rule.equation.expression if change is None else change
        equation = self._equation(step, expression)
        read = [self._read(of, changes, moved, found) for of in equation.inputs]
        key = (name, id(expression), *map(id, read))
        if key not in self._worked:
            self._worked[key] = self._evaluated(step, equation, read)
        return self._worked[key]

    def _equation(self, step: Step, expression: Expression) -> _Equation:
        key = step.name, id(expression)
        if key not in self._equations:
            target = step.rule.target
            equation = Equation(target, expression)
            sizes = self.values.trace.sizes(equation)
            sizes |= dict(zip(target.letters, step.shape, strict=True))
            self._equations[key] = _Equation(equation, names_used(expression), sizes)
        return self._equations[key]

    def _read(
        self, name: str, changes: Changes, moved: frozenset[str], found: Found
    ) -> Floats | None:
        """What stands for a step in the equations of others: as written, and where it is blank as
        worked out.
        """
        answer = self.values.answers.steps.get(name)
        if answer is not None and answer.complete:
            return self._as_written(answer)
        left_out = self._left_out(name, self._of(name, changes, moved, found))
        if answer is None or answer.blank:
            return left_out
        return self._filled(answer, left_out)

    def _as_written(self, answer: Answer) -> Floats | None:
        if answer.name not in self._given:
            numbers = [float(claim.value) for claim in answer.claims]
            self._given[answer.name] = self._kept(_floats(numbers).reshape(answer.cells.shape))
        return self._given[answer.name]

    def _left_out(self, name: str, found: Floats | None) -> Floats | None:
        """A step that is not written: rounded, if that is asked for."""
        if self.decimals is None or found is None:
            return found
        step = self.values.trace.steps.get(name)
        if step is None or step.rule.given or step.rule.is_copy or step.rule.only_hides:
            return found
        if id(found) not in self._rounded:
            self._rounded[id(found)] = self._kept(np.round(found, self.decimals))
        return self._rounded[id(found)]

    def _filled(self, answer: Answer, left_out: Floats | None) -> Floats | None:
        if left_out is None:
            return None
        found = left_out.copy()
        for index, claim in np.ndenumerate(answer.cells):
            if isinstance(claim, Claim):
                found[index] = float(claim.value)
        return self._kept(found)

    def _of_problem(self, name: str) -> Floats | None:
        """An array that the problem gives."""
        trace = self.values.trace
        given = trace.steps.get(name) or trace.parameters.get(name)
        if not isinstance(given, Step | Matrix):
            return None
        return self._kept(_floats(given.value))

    def _evaluated(
        self, step: Step, equation: _Equation, read: list[Floats | None]
    ) -> Floats | None:
        if any(array is None for array in read):
            return None
        arrays = dict(zip(equation.inputs, read, strict=True))
        try:
            with np.errstate(all="ignore", over="raise"):
                found: Any = evaluate(
                    equation.equation,
                    arrays=arrays,
                    scalars=self._scalars,
                    sizes=equation.sizes,
                    xp=np,
                    dtype=np.float64,
                )
        except FloatingPointError:
            return None
        return self._kept(_floats(np.broadcast_to(found, step.shape)))

    @cached_property
    def _scalars(self) -> Mapping[str, float]:
        return {
            name: float(given.value)
            for name, given in self.values.trace.parameters.items()
            if isinstance(given, Scalar)
        }

    def _kept(self, array: Floats) -> Floats:
        return self._same.setdefault((array.shape, array.tobytes()), array)


def _floats(value: Any) -> Floats:
    # A single number, such as a loss, stays without an axis.
    return np.asarray(value, dtype=np.float64, order="C")
