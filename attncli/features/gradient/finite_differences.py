"""Gradients held against central finite differences: each cell moved both ways, and the way forward worked again.

A gradient agrees with the quotient where they differ by at most 1e-6 of the larger one and of what is typical for the
step, and by what roundings of the output and of the softmax's scores do to the loss, eight times over, divided by h.
The latter is large where a row sees only scores such as -1e9, which have few digits left behind the point. What else
is tried where they do not agree, `quotients.py` tells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.plan import plan_logits
from attncli.dtypes import DTYPES
from attncli.features.gradient.perturbed import Perturbed
from attncli.features.gradient.quotients import SURE, Scale, Verdict, compare, first_step
from attncli.problem.model import Problem
from attncli.tracing.magnitudes import HONEST, Magnitudes
from attncli.tracing.model import Trace
from attncli.tracing.slices import backward, forward

MOST = 100  # cells of one gradient, evenly spread where it has more
ROUNDINGS = HONEST * DTYPES["float64"].epsilon
ORDINARY = 100.0  # times that of the outputs, of which scores of an ordinary size may do as much to the loss
WORST: tuple[Verdict, ...] = ("agree", "unknown", "disagree")


@dataclass(frozen=True, slots=True)
class Beside:
    """One cell of a gradient beside its difference quotient.

    `error` is their difference by the larger of the two; None where a number is not finite, or both are 0 but for
    roundings. `apart` is their difference by the largest with which they agree.
    """

    where: tuple[int, ...]
    worked: float
    by_differences: float
    error: float | None
    verdict: Verdict
    apart: float

    @property
    def is_zero(self) -> bool:
        """Whether both are 0 but for roundings."""
        return self.error is None and self.verdict == "agree"


@dataclass(frozen=True, slots=True)
class Held:
    """One gradient beside finite differences: those of its `cells` cells that were moved."""

    name: str
    cells: int
    beside: tuple[Beside, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of all cells."""
        return max((each.verdict for each in self.beside), key=WORST.index)

    @property
    def farthest(self) -> Beside:
        """The cell where the two are farthest apart: of those that are judged the worst, and not 0 if any is not."""
        return max(self.beside, key=lambda each: (WORST.index(each.verdict), not each.is_zero, each.apart))


@dataclass(frozen=True, slots=True)
class Part:
    """Which gradients are to be held, and which of their cells; all of them where nothing is said.

    `names` are the steps of the gradients, `place` of which entry and head they are, {"h": 0}, and `cell` is one index.
    """

    names: Collection[str] | None = None
    place: Mapping[str, int] = field(default_factory=dict)
    cell: tuple[int, ...] | None = None


def can_be_held(trace: Trace) -> tuple[str, ...]:
    """The gradients of a trace whose step can be moved by itself, in order."""
    return tuple(
        name
        for name in backward(trace)
        if name.startswith("d_")
        and ((of := name.removeprefix("d_")) in forward(trace) or of in trace.parameters)
        and (name != "d_output" or "loss" in trace)
    )


def held(problem: Problem, trace: Trace, part: Part | None = None) -> Iterator[Held]:
    """Every gradient of a trace in float64 that can be held, in order, or some of them."""
    part, sizes, measures = part or Part(), plan_logits(problem).sizes, _Measures.of(trace)
    for name in can_be_held(trace):
        if part.names is None or name in part.names:
            yield _held(Perturbed.of_step(trace, sizes, name.removeprefix("d_")), name, part, measures)


@dataclass(frozen=True, slots=True)
class _Measures:
    """What all cells of a trace are measured by: the rounding of the loss, and how large the largest gradient is.

    `ordinary` is the rounding of a loss whose scores have all their digits.
    """

    rounding: float
    ordinary: float
    largest: float
    magnitudes: Magnitudes

    @classmethod
    def of(cls, trace: Trace) -> _Measures:
        """Magnitudes are worked out where they are asked for."""
        largest = max(_typical(trace[name]) for name in backward(trace))
        outputs, scores = (ROUNDINGS * each for each in _magnitude(trace))
        return cls(outputs + scores, ORDINARY * outputs, largest, Magnitudes(trace, DTYPES["float64"]))

    def is_residue(self, ours: float, name: str, place: tuple[int, ...]) -> bool:
        """Whether a number is 0, or nothing but what rounding left of the terms that cancelled in it."""
        return ours == 0 or abs(ours) <= ROUNDINGS * float(self.magnitudes[name][place])


def _held(moved: Perturbed, name: str, part: Part, measures: _Measures) -> Held:
    gradient = moved.trace[name]
    typical, rounding = _typical(gradient), measures.rounding
    places = list(_places(moved.trace, name, part))
    found = []
    for place in places[:: -(-len(places) // MOST)]:
        ours, x = float(gradient[place]), float(moved.values[place])
        noise = rounding / first_step(x) if math.isfinite(x) else 0.0
        # What is hidden by rounding is 0 beside the other cells, or where nothing else is left of its own terms.
        zero = abs(ours) <= noise and (noise <= SURE * typical or measures.is_residue(ours, name, place))
        seen = max(SURE * measures.largest, measures.ordinary / first_step(x) if noise else 0.0)
        scale = Scale(typical, rounding, seen if zero else 0.0)
        told = compare(ours, partial(moved.quotient, place), x, scale)
        zero = told.verdict == "agree" and (zero and abs(told.quotient) <= noise)
        error = None if zero else _error(ours, told.quotient)
        found.append(Beside(place, ours, told.quotient, error, told.verdict, told.apart))
    return Held(name, len(places), tuple(found))


def _places(trace: Trace, name: str, part: Part) -> Iterator[tuple[int, ...]]:
    if part.cell is not None:
        yield part.cell
        return
    step = trace.steps[name]
    fixed = [(axis, part.place[each]) for axis, each in enumerate(step.rule.target.letters) if each in part.place]
    for place in np.ndindex(step.shape):
        if all(place[axis] == at for axis, at in fixed):
            yield place


def _error(ours: float, quotient: float) -> float | None:
    largest = max(abs(ours), abs(quotient))
    return abs(ours - quotient) / largest if largest and math.isfinite(ours - quotient) else None


def _typical(gradient: NDArray[Any]) -> float:
    """The root of the mean square of the finite numbers, none of which is squared to infinity or to 0."""
    finite = gradient[np.isfinite(gradient)]
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((finite / largest) ** 2))) if largest else 0.0


def _magnitude(trace: Trace) -> tuple[float, float]:
    """How large the numbers are that the loss is made of: the output's, and the scores in what they do to the loss."""
    logits = next(name for name in ("masked", "capped", "scaled", "scores") if name in trace)
    with np.errstate(all="ignore"):
        scores = np.where(trace[f"d_{logits}"] == 0, 0.0, np.abs(trace[f"d_{logits}"] * trace[logits]))
        outputs = np.abs(trace["d_output"] * trace["output"]).sum()
        if "loss" in trace:  # of which each row is that of its logits less another one
            outputs += np.abs(trace["output"]).sum() / trace.parameters["N"].value + abs(trace["loss"])
        return float(outputs), float(scores.sum())
