"""Gradients held against central finite differences: each cell moved both ways, and the way forward worked again.

A number x is moved by h = 6e-6 · max(1, |x|), but no more than 6e-3: about the cube root of what a float64 can tell,
where what the curve of the function and what rounding do to the quotient are about equally small. A gradient agrees
with the quotient where they differ by at most 1e-6 of the larger one and of what is typical for the step, and by what
roundings of the output and of the softmax's scores do to the loss, eight times over, divided by h. The latter is large
where a row sees only scores such as -1e9, which have few digits left behind the point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attncli.attention.plan import plan_logits
from attncli.attention.rule import Rule
from attncli.backend import CPU
from attncli.choices import DTYPES
from attncli.equation.uses import reads
from attncli.problem.model import Problem, Scalar
from attncli.tracing.floats import FloatWorker
from attncli.tracing.model import Trace
from attncli.tracing.slices import backward, forward, of_loss

STEP, TOLERANCE, FARTHEST = 6e-6, 1e-6, 6e-3
MOST = 100  # cells of one gradient, evenly spread where it has more


@dataclass(frozen=True, slots=True)
class Held:
    """One gradient beside finite differences, at the cell where they are farthest apart.

    `checked` of its `cells` cells were moved; `error` is the difference by the larger of the two numbers there, and 0
    where both are 0; `agrees` says whether every cell does.
    """

    name: str
    cells: int
    checked: int
    where: tuple[int, ...]
    worked: float
    by_differences: float
    error: float
    agrees: bool


def held(problem: Problem, trace: Trace) -> Iterator[Held]:
    """Every gradient of a trace in float64 whose step can be moved by itself, in order."""
    sizes = plan_logits(problem).sizes
    for name in backward(trace):
        of = name.removeprefix("d_")
        moved = of in forward(trace) or of in trace.parameters
        if name.startswith("d_") and moved and (name != "d_output" or "loss" in trace):
            yield _held(trace, sizes, name, of)


def _held(trace: Trace, sizes: Mapping[str, int], name: str, of: str) -> Held:
    gradient = np.asarray(trace[name])
    scalar = trace.parameters.get(of)
    values = np.asarray(scalar.value if isinstance(scalar, Scalar) else trace[of], dtype=np.float64)
    places = list(np.ndindex(values.shape))
    places = places[:: -(-len(places) // MOST)]
    typical = float(np.sqrt(np.mean(gradient**2)))
    rounding = 8 * DTYPES["float64"].epsilon * _magnitude(trace)
    later = tuple(_later(trace, of))
    worst, agrees = (-1.0, places[0], 0.0), True
    for place in places:
        h = min(STEP * max(1.0, abs(float(values[place]))), FARTHEST)
        up, down = (_loss(trace, sizes, of, values, place, by, later) for by in (h, -h))
        quotient = (up - down) / (2 * h)
        ours = float(gradient[place])
        apart, allowed = abs(ours - quotient), TOLERANCE * (max(abs(ours), abs(quotient)) + typical) + rounding / h
        agrees &= apart <= allowed
        worst = max(worst, (apart / allowed if allowed else apart, place, quotient))
    _, place, quotient = worst
    ours = float(gradient[place])
    largest = max(abs(ours), abs(quotient))
    error = abs(ours - quotient) / largest if largest else 0.0
    return Held(name, values.size, len(places), place, ours, quotient, error, agrees)


def _magnitude(trace: Trace) -> float:
    """How large the numbers are that the loss is made of: the output's, and the scores in what they do to the loss."""
    logits = next(name for name in ("masked", "capped", "scaled", "scores") if name in trace)
    with np.errstate(invalid="ignore"):
        scores = np.where(trace[f"d_{logits}"] == 0, 0.0, np.abs(trace[f"d_{logits}"] * trace[logits]))
    outputs = np.abs(trace["d_output"] * trace["output"]).sum()
    if "loss" in trace:  # of which each row is that of its logits less another one
        outputs += np.abs(trace["output"]).sum() / trace.parameters["N"].value + abs(trace["loss"])
    return float(outputs + scores.sum())


def _later(trace: Trace, of: str) -> Iterator[Rule]:
    """The rules that follow from a step, or from a number, up to the output or to the loss."""
    changed = {of}
    for name in (*forward(trace), *of_loss(trace)):
        rule = trace.steps[name].rule
        if not rule.given and name != of and any(reads(rule.equation.expression, each) for each in changed):
            changed.add(name)
            yield rule


def _loss(
    trace: Trace, sizes: Mapping[str, int], of: str, values: NDArray[np.float64], place: tuple[int, ...], by: float,
    later: tuple[Rule, ...],
) -> float:  # fmt: skip
    """The loss with one cell of a step moved, and everything that follows from it worked again.

    Without one it is Σ d_output · output, of which d_output is the gradient.
    """
    moved = values.copy()
    moved[place] += by
    arrays = {name: trace[name] for name in (*forward(trace), *of_loss(trace))}
    parameters = dict(trace.parameters)
    if of in parameters:
        parameters[of] = Scalar.of(float(moved))
    else:
        arrays[of] = moved
    worker = FloatWorker(CPU, DTYPES["float64"], parameters, sizes, arrays)
    with np.errstate(all="ignore"):
        for rule in later:
            worker.work(rule)
    if "loss" in trace:
        return float(np.asarray(worker.arrays["loss"]))
    return float((np.asarray(worker.arrays["output"]) * trace["d_output"]).sum())
