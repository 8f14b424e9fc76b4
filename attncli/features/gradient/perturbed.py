"""The loss of a trace with one number moved: everything that follows from it worked again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.rule import Rule
from attncli.backend import CPU
from attncli.dtypes import DTYPES
from attncli.equation.derivatives import reads
from attncli.problem.model import Scalar
from attncli.tracing.model import Trace
from attncli.tracing.slices import forward, of_loss
from attncli.tracing.workers import FloatWorker


@dataclass(frozen=True, slots=True, eq=False)
class Perturbed:
    """A step of a trace, or a number it reads, that can be moved; `later` are the rules that follow from it."""

    trace: Trace
    sizes: Mapping[str, int]
    of: str
    values: NDArray[np.float64]
    later: tuple[Rule, ...]

    @classmethod
    def of_step(cls, trace: Trace, sizes: Mapping[str, int], of: str) -> Perturbed:
        """A step, or a parameter, by its name; `sizes` are those of the plan."""
        scalar = trace.parameters.get(of)
        values = np.asarray(scalar.value if isinstance(scalar, Scalar) else trace[of], dtype=np.float64)
        return cls(trace, sizes, of, values, tuple(_later(trace, of)))

    def quotient(self, place: tuple[int, ...], h: float) -> float:
        """How much the loss changes with one cell, by its values at x + h and x - h; NaN where h is lost in x.

        It is 0 at -∞, which a mask puts there, and no h moves.
        """
        x = float(self.values[place])
        if not math.isfinite(x):
            return 0.0
        up, down = x + h, x - h  # which round, so that they need not be 2h apart
        if up == down:
            return float("nan")
        with np.errstate(all="ignore"):
            return float((np.float64(self._loss(place, up)) - self._loss(place, down)) / (up - down))

    def _loss(self, place: tuple[int, ...], x: float) -> float:
        trace, moved = self.trace, self.values.copy()
        moved[place] = x
        arrays = {name: trace[name] for name in (*forward(trace), *of_loss(trace))}
        parameters = dict(trace.parameters)
        if self.of in parameters:
            parameters[self.of] = Scalar.of(float(moved))
        else:
            arrays[self.of] = moved
        worker = FloatWorker(CPU, DTYPES["float64"], parameters, self.sizes, arrays)
        for rule in self.later:
            worker.work(rule)
        return loss_of(worker.arrays, trace["d_output"])


def loss_of(values: Trace | Mapping[str, NDArray[Any]], d_output: NDArray[Any]) -> float:
    """The loss; without one it is Σ d_output · output, of which d_output is the gradient."""
    if "loss" in values:
        return float(values["loss"])
    return float((np.asarray(values["output"], dtype=np.float64) * d_output).sum())


def _later(trace: Trace, of: str) -> Iterator[Rule]:
    """The rules that follow from a step, or from a number, up to the output or to the loss."""
    changed = {of}
    for name in (*forward(trace), *of_loss(trace)):
        rule = trace.steps[name].rule
        if not rule.given and name != of and any(reads(rule.equation.expression, each) for each in changed):
            changed.add(name)
            yield rule
