"""What floats tell of a solution at once: whether a cell surely is, or surely is not, what was
written.

A mistake is tried on all cells of a step in one go. Each step is worked out with a bound of its
error, which comes from the magnitudes of its terms, and from what rounding on the way may have
decided otherwise. Only what lies within that bound of where a claim begins or ends is left to
decimals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim
from attncli.attention.registry import GRADIENT_RULES
from attncli.equation.error_bounds import magnitude, magnitude_name
from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Equation
from attncli.features.check.cell_values import CellIndex, CellValues
from attncli.problem.matrix import Matrix, Scalar
from attncli.tracing.model import Step

Array = NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)
# No sum of a problem of this size is off by more epsilons of its magnitude than these.
HONEST_EPSILONS = 64.0
# A sum of exponentials that is at least this is not made of what floats lose.
LEAST_SURE_SUM = 1e-200
# In units of the last decimal: what is nearer to a half may be rounded either way.
_NEAR_A_HALF = 1e-6


class SizedNumbers(NamedTuple):
    """The numbers of a step, and how large what each is made of is: its error is at most `HONEST`
    epsilons of this.
    """

    value: Array
    size: Array

    @property
    def error(self) -> Array:
        return HONEST_EPSILONS * EPSILON * self.size


@dataclass(slots=True)
class FloatReading:
    """A solution's steps in floats, each from what was written before it.

    With `decimals`, steps that were left out are rounded to so many before they are read; with
    `forward_in_full` those of the forward pass only where the backward pass reads them. `before` is
    the reading without the changes by which the values have moved. Nothing is told, None, of a step
    where floats overflow, or lose what decimals keep. A `rough` one has no bound of its error, for
    what need not be sure.
    """

    values: CellValues
    decimals: int | None = None
    forward_in_full: bool = False
    before: FloatReading | None = None
    rough: bool = False
    _worked: dict[str, SizedNumbers | None] = field(default_factory=dict)
    _read: dict[str, SizedNumbers | None] = field(default_factory=dict)
    _in_full: FloatReading | None = None

    def changed(self, values: CellValues) -> FloatReading:
        """The same reading by values with changed equations."""
        return FloatReading(values, self.decimals, self.forward_in_full, self, self.rough)

    def gives(self, name: str, index: CellIndex, claim: Claim) -> bool | None:
        """Whether the equation of a step gives a cell as claimed; None where floats cannot tell."""
        found = self.worked(name)
        if found is None or not claim.value.is_finite():
            return None
        value, half = float(found.value[index]), float(claim.half)
        if not math.isfinite(value):
            return None
        distance = abs(value - float(claim.value))
        error = float(found.error[index]) + EPSILON * (abs(value) + abs(float(claim.value)) + half)
        if distance > half + error:
            return False
        return True if distance < half - error else None

    def worked(self, name: str) -> SizedNumbers | None:
        """What a step comes to by its own equation."""
        if self.before is not None and name not in self.values.moved:
            return self.before.worked(name)
        if name not in self._worked:
            rule = self.values.trace.steps[name].rule
            if rule.given:
                self._worked[name] = self._given(name)
            else:
                self._worked[name] = self._from_equation(name)
        return self._worked[name]

    def read(self, name: str) -> SizedNumbers | None:
        """What stands for a step in the equations of others: as written, and where it is blank as
        worked out.
        """
        if self.before is not None and name not in self.values.moved:
            return self.before.read(name)
        if name not in self._read:
            self._read[name] = self._find(name)
        return self._read[name]

    def _find(self, name: str) -> SizedNumbers | None:
        step, answer = self.values.trace.steps.get(name), self.values.answers.steps.get(name)
        if step is None:
            return self._given(name)
        if answer is not None and answer.complete:
            numbers = np.array([float(claim.value) for claim in answer.claims])
            value = numbers.reshape(step.shape)
            return SizedNumbers(value, np.abs(_finite(value)))
        found = self._left_out(name)
        if found is None or answer is None or answer.blank:
            return found
        value, size = found.value.copy(), found.size.copy()
        for index, claim in np.ndenumerate(answer.cells):
            if isinstance(claim, Claim):
                value[index] = float(claim.value)
                size[index] = abs(value[index]) if math.isfinite(value[index]) else 0.0
        return SizedNumbers(value, size)

    def _left_out(self, name: str) -> SizedNumbers | None:
        """A step that is not written: worked out, and rounded if that is asked for."""
        rule = self.values.trace.steps[name].rule
        if self.decimals is None or rule.given:
            return self.worked(name)
        if self.forward_in_full and name not in GRADIENT_RULES:
            found = self._full().worked(name)
        else:
            found = self.worked(name)
        if found is None or rule.is_copy or rule.only_hides:
            return found
        return _rounded(found, self.decimals)

    def _full(self) -> FloatReading:
        """The reading without rounding on the way."""
        if self._in_full is None:
            before = self.before._full() if self.before is not None else None
            self._in_full = FloatReading(self.values, before=before)
        return self._in_full

    def _given(self, name: str) -> SizedNumbers | None:
        """An array that the problem gives, or that a mistake puts in place of a step."""
        given = self.values.trace.steps.get(name) or self.values.trace.parameters.get(name)
        if not isinstance(given, Step | Matrix):
            return None
        value = np.asarray(given.value, dtype=np.float64)
        if np.isnan(value).any():
            return None
        return SizedNumbers(value, np.abs(_finite(value)))

    def _from_equation(self, name: str) -> SizedNumbers | None:
        trace = self.values.trace
        step = trace.steps[name]
        arrays: dict[str, Array] = {}
        for of in step.rule.inputs:
            found = self.read(of)
            if found is None:
                return None
            arrays[of], arrays[magnitude_name(of)] = found
        scalars = {
            of: float(given.value)
            for of, given in trace.parameters.items()
            if isinstance(given, Scalar)
        }
        sizes = trace.sizes(step.rule.equation) | dict(
            zip(step.rule.target.letters, step.shape, strict=True)
        )

        def work(equation: Equation, scalars: dict[str, float]) -> Array:
            found: Any = evaluate(
                equation, arrays=arrays, scalars=scalars, sizes=sizes, xp=np, dtype=np.float64
            )
            return np.asarray(np.broadcast_to(found, step.shape), dtype=np.float64)

        try:
            with np.errstate(over="raise", under="ignore", invalid="raise", divide="raise"):
                value = work(step.rule.equation, scalars)
            if self.rough:
                return SizedNumbers(value, np.abs(_finite(value)))
            with np.errstate(all="ignore"):
                size = work(_magnitude_of(step.rule.equation), scalars | {"inf": math.inf})
        except FloatingPointError:
            # Decimals have room for these numbers, so they tell.
            return None
        size = np.where(np.isfinite(value), np.maximum(size, np.abs(_finite(value))), 0.0)
        if np.isnan(value).any() or np.isposinf(value).any() or not np.isfinite(size).all():
            return None
        if name == "exp" and self._vanishes(value):
            return None
        return SizedNumbers(value, size)

    def _vanishes(self, exponentials: Array) -> bool:
        """Whether exponentials that are too small for floats may be all of a sum that others are
        divided by.
        """
        if np.all(exponentials > 0):
            return False
        if self.values.trace.steps["weights"].rule.inputs != ("exp", "row_sum"):
            return True
        sees_a_key = np.isfinite(self._logits()).any(axis=-1)
        largest = exponentials.max(axis=-1)[sees_a_key]
        return bool((largest < LEAST_SURE_SUM).any())

    def _logits(self) -> Array:
        """What the exponentials are taken of."""
        read = self.values.trace.steps["exp"].rule.inputs
        found = [numbers.value for of in read if (numbers := self.read(of)) is not None]
        return next(array for array in found if array.shape == self.values.trace["exp"].shape)


@lru_cache(maxsize=4096)
def _magnitude_of(equation: Equation) -> Equation:
    return magnitude(equation, EPSILON)


def _rounded(numbers: SizedNumbers, decimals: int) -> SizedNumbers:
    """The numbers with so many decimals, halves up; one that is too near a half may be off by a
    unit.
    """
    unit = 10.0**-decimals
    is_finite = np.isfinite(numbers.value)
    finite = _finite(numbers.value)
    with np.errstate(all="ignore"):
        in_units = np.abs(finite) / unit
        whole = np.floor(in_units)
        from_half = np.abs(in_units - whole - 0.5) * unit
        rounded = np.copysign(np.floor(in_units + 0.5) * unit, finite)
    unsure = from_half <= numbers.error + _NEAR_A_HALF * unit
    a_unit_off = np.where(unsure, numbers.size + unit / EPSILON, 0.0)
    value = np.where(is_finite, rounded, numbers.value)
    size = np.where(is_finite, np.abs(rounded) + a_unit_off, 0.0)
    return SizedNumbers(value, size)


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0)
