"""How large the numbers are that each cell of a trace is made of: what a difference is measured
by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.dtypes import Dtype
from attncli.equation.error_bounds import magnitude, magnitude_name
from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Call, Ref
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar
from attncli.tracing.difference import LARGEST_DOUBLE, Doubles
from attncli.tracing.model import Trace

# Epsilons of its magnitude, by which honest roundings hardly move a cell.
HONEST_EPSILONS = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class Magnitudes:
    """The magnitude of every cell of a trace, worked out when it is asked for, and those it takes.

    `dtype` is the format in which steps are rounded: what is smaller than its smallest normal
    number loses as much as this does, and functions are looked at as far as numbers are off by its
    epsilon.
    """

    trace: Trace
    dtype: Dtype
    _known: dict[str, Doubles] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Doubles:
        """The magnitudes of a step, in its shape: at least |cell|, never infinite, 0 where all it
        is made of is 0.
        """
        if name not in self._known:
            with np.errstate(all="ignore"):
                self._known[name] = self._found(name)
        return self._known[name]

    def _found(self, name: str) -> Doubles:
        value = _double(self.trace[name])
        step = self.trace.steps[name]
        found = np.abs(value)
        if not step.rule.given:
            worked = self._worked(name)
            found = np.maximum(worked, found)
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
        if _is_softmax(rule):
            return self._of_softmax(rule)
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
        found: Doubles = evaluate(
            magnitude(rule.equation, self.dtype.epsilon),
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

    def _of_softmax(self, rule: Rule) -> Doubles:
        """Of weights: as much as all logits of the row move them, whether or not these were
        shifted.

        w_j moves by w_j·((1 − w_j)·δ_j − Σ w_k·δ_k), k not j, where logits do by small δ: one that
        has all of the row stays. By large ones it moves at most as much more as the exponentials of
        two of them; a weight too small for any number, as its exponential does.
        """
        trace = self.trace
        weights = np.abs(_double(trace[rule.name]))
        base = trace.settings.exp_base
        steep = 1.0
        if base:
            steep = abs(log(base))
        logits = steep * self[trace.logits]
        weighted = weights * logits
        of_row = weighted.sum(axis=-1, keepdims=True)
        others = of_row - weighted
        own = (1 - weights) * logits
        is_number = weights > 0
        counted = np.where(is_number, logits, 0)
        largest = counted.max(axis=-1, keepdims=True)
        more = np.exp(2 * self.dtype.epsilon * largest)
        moved = weights * (1 + (own + others) * more)
        exponentials, sums = rule.inputs
        of_rows = _double(trace[sums])
        divisors = np.maximum(of_rows, self.dtype.smallest)
        vanished = self[exponentials] / divisors[..., np.newaxis]
        return np.where(is_number, moved, vanished)


def _is_softmax(rule: Rule) -> bool:
    """Whether a step divides each exponential by the sum of its row, and does nothing else."""
    whole = rule.expression
    return (
        isinstance(whole, Call)
        and whole.function == "share"
        and all(isinstance(of, Ref) for of in whole.arguments)
    )


def _double(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64)
