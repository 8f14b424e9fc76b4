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
from attncli.tracing.difference import LARGEST, Numbers
from attncli.tracing.model import Trace

# epsilons of its magnitude, by which honest roundings hardly move a cell
HONEST = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class Magnitudes:
    """The magnitude of every cell of a trace, worked out when it is asked for, and those it takes.

    `dtype` is the format in which steps are rounded: what is smaller than its smallest normal
    number loses as much as this does, and functions are looked at as far as numbers are off by its
    epsilon.
    """

    trace: Trace
    dtype: Dtype
    _known: dict[str, Numbers] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Numbers:
        """The magnitudes of a step, in its shape: at least |cell|, never infinite, 0 where all it
        is made of is 0.
        """
        if name not in self._known:
            value = _double(self.trace[name])
            with np.errstate(all="ignore"):
                found = np.abs(value) if self.trace.steps[name].rule.given else self._worked(name)
                found = np.where(np.isfinite(value), np.maximum(found, np.abs(value)), 0)
                found = np.nan_to_num(found, nan=LARGEST, posinf=LARGEST)
                self._known[name] = np.where(found > 0, np.maximum(found, self.dtype.smallest), 0)
        return self._known[name]

    def _worked(self, name: str) -> Numbers:
        rule, trace = self.trace.steps[name].rule, self.trace
        if _is_softmax(rule):
            return self._of_softmax(rule)
        matrices = {
            of: given.value for of, given in trace.parameters.items() if isinstance(given, Matrix)
        }
        arrays: dict[str, NDArray[Any]] = {}
        for of in rule.inputs:
            arrays[of] = _double(trace[of] if of in trace else matrices[of])
            arrays[magnitude_name(of)] = self[of] if of in trace else np.abs(arrays[of])
        scalars = {
            of: float(given.value)
            for of, given in trace.parameters.items()
            if isinstance(given, Scalar)
        }
        own = dict(zip(rule.target.letters, trace.steps[name].shape, strict=True))
        found: Numbers = evaluate(
            magnitude(rule.equation, self.dtype.epsilon),
            arrays=arrays,
            scalars=scalars | {"inf": np.inf},
            sizes=trace.sizes(rule.equation) | own,
            xp=np,
            dtype=np.float64,
        )
        return found

    def _of_softmax(self, rule: Rule) -> Numbers:
        """Of weights: as much as all logits of the row move them, whether or not these were
        shifted.

        w_j moves by w_j·((1 − w_j)·δ_j − Σ w_k·δ_k), k not j, where logits do by small δ: one that
        has all of the row stays. By large ones it moves at most as much more as the exponentials of
        two of them; a weight too small for any number, as its exponential does.
        """
        trace, weights = self.trace, np.abs(_double(self.trace[rule.name]))
        steep = abs(log(trace.settings.exp_base)) if trace.settings.exp_base else 1.0
        logits = steep * self[trace.logits]
        others = (weights * logits).sum(axis=-1, keepdims=True) - weights * logits
        more = np.exp(
            2 * self.dtype.epsilon * np.where(weights > 0, logits, 0).max(axis=-1, keepdims=True)
        )
        vanished = self[rule.inputs[0]] / np.maximum(
            _double(trace[rule.inputs[1]])[..., np.newaxis], self.dtype.smallest
        )
        return np.where(
            weights > 0, weights * (1 + ((1 - weights) * logits + others) * more), vanished
        )


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
