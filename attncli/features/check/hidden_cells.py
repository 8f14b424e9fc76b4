"""What a solution writes in a way of its own. Where a mask hides a key: nothing where the number is
0, or −∞ before the step in which the mask is applied. And numbers that were written otherwise than
they were meant, such as weights in percent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import MINUS_INFINITY, Answer, Answers, CellOfStep, Claim
from attncli.features.check.cell_values import CellIndex, CellValues, steps_after
from attncli.features.check.verdicts import Judgement
from attncli.tracing.model import Trace

# Said of the numbers of a step.
MASKED_BEFORE = "the mask was applied before its step"
_NOTHING = Claim("0", Decimal(0), Decimal(0))


def with_hidden_filled(trace: Trace, answers: Answers) -> Answers:
    """The answers with 0 where a mask hides a key and nothing was written, or −∞ in the mask and in
    the masked scores; only in rows that have all other numbers.
    """
    if "masked" not in trace:
        return answers
    hidden_in = {
        name: np.isneginf(trace["masked"]) for name in ("masked", *steps_after(trace, {"masked"}))
    }
    if "mask" in trace:
        # All heads may have one mask.
        hidden_in["mask"] = np.isneginf(trace["mask"])
    steps = {}
    for name, answer in answers.steps.items():
        cells = answer.cells
        hidden = hidden_in.get(name)
        if hidden is not None and hidden.shape == cells.shape:
            cells = _filled(cells, hidden, trace[name])
        steps[name] = Answer(name, cells)
    return replace(answers, steps=steps)


def _filled(
    cells: NDArray[np.object_], hidden: NDArray[np.bool_], numbers: NDArray[np.float64]
) -> NDArray[np.object_]:
    found = cells.copy()
    for row in np.ndindex(cells.shape[:-1]):
        blank = np.array([claim is None for claim in cells[row]])
        is_read = blank.any() and not blank.all() and bool(hidden[row][blank].all())
        for at in np.flatnonzero(blank) if is_read else ():
            number = numbers[row][at]
            if number == 0:
                found[(*row, at)] = _NOTHING
            elif np.isneginf(number):
                found[(*row, at)] = MINUS_INFINITY
    found.setflags(write=False)
    return found


def masked_before(judgement: Judgement) -> dict[str, tuple[CellIndex, ...]]:
    """The cells of each step that say −∞ where a mask hides a key, though the mask is not applied
    yet.
    """
    trace = judgement.trace
    if "masked" not in trace:
        return {}
    found = {}
    for name in judgement.steps:
        if "masked" in steps_after(trace, {name}) and trace[name].shape == trace["masked"].shape:
            cells = tuple(_hidden_in(judgement, name))
            if cells:
                found[name] = cells
    return found


def _hidden_in(judgement: Judgement, name: str) -> Iterator[CellIndex]:
    masked = judgement.trace["masked"]
    for index, claim in np.ndenumerate(judgement.answers.steps[name].cells):
        says_hidden = claim is not None and cast("Claim", claim).value == -np.inf
        number = judgement.trace[name][index]
        if says_hidden and np.isneginf(masked[index]) and np.isfinite(number):
            yield index


def without_hidden(judgement: Judgement, hidden: Mapping[str, tuple[CellIndex, ...]]) -> Judgement:
    """The solution as if nothing was written there: the other numbers tell what was done."""
    if not hidden:
        return judgement
    blank: dict[CellOfStep, None] = {}
    steps = dict(judgement.steps)
    for name, of_step in hidden.items():
        cells = steps[name].copy()
        for index in of_step:
            blank[name, index] = None
            cells[index] = replace(cells[index], verdict="missing", given=None)
        steps[name] = cells
    values = CellValues(judgement.trace, judgement.answers.with_claims(blank))
    return replace(judgement, values=values, steps=steps)


def without_meant(judgement: Judgement) -> Judgement:
    """The solution without verdicts on numbers that were written otherwise than they were meant:
    nothing else need explain these.
    """
    steps = dict(judgement.steps)
    for cells_of_steps in judgement.meant.values():
        for name, of_step in cells_of_steps.items():
            cells = steps[name].copy()
            for index in of_step:
                cells[index] = replace(cells[index], verdict="missing", given=None)
            steps[name] = cells
    return replace(judgement, steps=steps) if judgement.meant else judgement
