"""How large the numbers are that each cell of a trace is made of: what a difference is measured
by.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.dtypes import Dtype
from attncli.equation.error_bounds import TooLongError, magnitude, magnitude_name
from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Call, Expression, Ref
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar
from attncli.tracing.difference import LARGEST_DOUBLE, Doubles
from attncli.tracing.model import StepsByName, Trace

# Epsilons of its magnitude, by which honest roundings hardly move a cell.
HONEST_EPSILONS = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class Magnitudes:
    """The magnitude of every cell of a trace, worked out when it is asked for, and those it takes.

    `dtype` is the format in which steps are rounded: what is smaller than its smallest normal
    number loses as much as this does, and functions are looked at as far as numbers are off by its
    epsilon. Of what was `handed_on` by a computation before this one, each cell is measured by the
    largest of its row: nobody knows its own terms. `known` are those that were worked out already.
    """

    trace: Trace
    dtype: Dtype
    handed_on: Collection[str] = ()
    known: dict[str, Doubles] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Doubles:
        """The magnitudes of a step, in its shape: at least |cell|, never infinite, 0 where all it
        is made of is 0.
        """
        if name not in self.known:
            with np.errstate(all="ignore"):
                self.known[name] = self._found(name)
        return self.known[name]

    def _found(self, name: str) -> Doubles:
        value = _double(self.trace[name])
        step = self.trace.steps[name]
        found = np.abs(value)
        if not step.rule.given:
            worked = self._worked(name)
            found = np.maximum(worked, found)
        elif name in self.handed_on:
            finite = np.where(np.isfinite(found), found, 0)
            of_row = np.max(finite, axis=-1, keepdims=True, initial=0)
            found = np.broadcast_to(of_row, found.shape)
        is_finite = np.isfinite(value)
        found = np.where(is_finite, found, 0)
        found = np.nan_to_num(found, nan=LARGEST_DOUBLE, posinf=LARGEST_DOUBLE)
        at_least = np.maximum(found, self.dtype.smallest)
        return np.where(found > 0, at_least, 0)

    def _worked(self, name: str) -> Doubles:
        """The magnitudes of a computed step, from those of the steps that it reads."""
        trace = self.trace
        step = trace.steps[name]
        rule = step.rule
        softmax = softmax_of(rule, trace.steps)
        if softmax is not None:
            return self._of_softmax(rule, softmax)
        arrays: dict[str, NDArray[Any]] = {}
        for of in rule.inputs:
            numbers, sizes = self._numbers_and_sizes(of)
            arrays[of] = numbers
            arrays[magnitude_name(of)] = sizes
        scalars = {"inf": np.inf}
        for of, given in trace.parameters.items():
            if isinstance(given, Scalar):
                scalars[of] = float(given.value)
        own = dict(zip(rule.target.letters, step.shape, strict=True))
        try:
            sized = magnitude(rule.equation, self.dtype.epsilon)
        except TooLongError:
            return np.zeros(step.shape)
        found: Doubles = evaluate(
            sized,
            arrays=arrays,
            scalars=scalars,
            sizes=trace.sizes(rule.equation) | own,
            xp=np,
            dtype=np.float64,
        )
        return found

    def _numbers_and_sizes(self, name: str) -> tuple[Doubles, Doubles]:
        """The numbers of a step or of an array of the mask, and their magnitudes."""
        if name in self.trace:
            numbers = _double(self.trace[name])
            return numbers, self[name]
        given = self.trace.parameters[name]
        assert isinstance(given, Matrix)
        numbers = _double(given.value)
        return numbers, np.abs(numbers)

    def _of_softmax(self, rule: Rule, softmax: Softmax) -> Doubles:
        """Of weights: as much as all logits of the row move them, whether or not these were
        shifted.

        w_j moves by w_j·((1 − w_j)·δ_j − Σ w_k·δ_k), k not j, where logits do by small δ: one that
        has all of the row stays. By large ones it moves at most as much more as the exponentials of
        two of them; a weight too small for any number, as its exponential does.
        """
        trace = self.trace
        weights = np.abs(_double(trace[rule.name]))
        logits = softmax.steepness(trace.settings.exp_base) * self[softmax.logits]
        weighted = weights * logits
        axis = softmax.axis
        of_row = weighted.sum(axis=axis, keepdims=True)
        others = of_row - weighted
        own = (1 - weights) * logits
        is_number = weights > 0
        counted = np.where(is_number, logits, 0)
        largest = counted.max(axis=axis, keepdims=True)
        more = np.exp(2 * self.dtype.epsilon * largest)
        moved = weights * (1 + (own + others) * more)
        of_rows = _double(trace[softmax.sums])
        divisors = np.maximum(of_rows, self.dtype.smallest)
        vanished = self[softmax.exponentials] / np.expand_dims(divisors, axis)
        found: Doubles = np.where(is_number, moved, vanished)
        return found


class Softmax(NamedTuple):
    """The steps that a softmax is worked out in: what it is taken of, the exponentials, and their
    sums along an axis. `of_base` where they are powers of the base that the problem has.
    """

    logits: str
    exponentials: str
    sums: str
    axis: int
    of_base: bool

    def steepness(self, base: float | None) -> float:
        """How much faster than e to it a power grows with its exponent."""
        return abs(log(base)) if base and self.of_base else 1.0


def softmax_of(rule: Rule, steps: StepsByName) -> Softmax | None:
    """The steps of the softmax that a step ends, dividing each exponential by the sum of its row;
    None where it does anything else.
    """
    match rule.expression:
        case Call("share", (Ref() as part, Ref() as whole)):
            along = [letter for letter in rule.target.letters if letter not in whole.letters]
            powers = steps[part.name].rule.expression
            logits = _logits(powers, part, steps)
            if part.indices != rule.target.indices or len(along) != 1 or logits is None:
                return None
            axis = rule.target.letters.index(along[0])
            of_base = isinstance(powers, Call) and powers.function == "pow"
            return Softmax(logits, part.name, whole.name, axis, of_base)
        case _:
            return None


def _logits(powers: Expression | None, part: Ref, steps: StepsByName) -> str | None:
    """What the exponentials are of, without the largest number of each row."""
    match powers:
        case Call("exp", (exponent,)) | Call("pow", (_, exponent)):
            pass
        case _:
            return None
    if isinstance(exponent, Ref) and (before := _before_shift(steps[exponent.name].rule)):
        return before.name
    logits = exponent if isinstance(exponent, Ref) else _shifted_back(exponent)
    return logits.name if logits and logits.indices == part.indices else None


def _before_shift(rule: Rule) -> Ref | None:
    return None if rule.given else _shifted_back(rule.equation.expression)


def _shifted_back(expression: Expression) -> Ref | None:
    """The numbers from which the largest of each row is taken away."""
    match expression:
        case Call("sub", (Ref() as logits, Call("finite"))):
            return logits
        case _:
            return None


def _double(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64)
