"""Mistakes that give some of the wrong numbers of a solution, and not the others: for marks alone.

A diagnosis names what gives all numbers of a step, or nearly all. Who puts one of these numbers
right must not lose the name by that, nor who makes a slip beside the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosis import Reproduction, Trials, decimals_of, leaves_out
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.verdicts import Judgement

# One number is a slip, whatever else explains it.
FEWEST_CELLS = 2
# In a solution with more, the work would take too long.
MOST_WRONG_CELLS = 100


def partial_mistakes(
    judgement: Judgement, wrong: Mapping[str, tuple[CellIndex, ...]]
) -> dict[str, frozenset[WrongCell]]:
    """For each known mistake the wrong cells that it gives, if these are two or more. Steps that
    were left out may be rounded on the way.
    """
    if sum(map(len, wrong.values())) > MOST_WRONG_CELLS:
        return {}
    trials = Trials(judgement)
    found: dict[str, set[WrongCell]] = {}
    for trial in trials.of_mistakes:
        if trial.mistake.of_own:
            continue
        for step in trial.affected.keys() & wrong.keys():
            for plain in _readings(trials, step):
                by = trials.by(trial, plain)
                given = {(step, cell) for cell in wrong[step] if by.gives(step, cell)}
                found.setdefault(trial.mistake.name, set()).update(given)
    return {name: frozenset(cells) for name, cells in found.items() if len(cells) >= FEWEST_CELLS}


def _readings(trials: Trials, step: str) -> Iterator[Reproduction]:
    """How the numbers of a step may have come about from those before it."""
    yield trials.within_precision
    values = trials.judgement.values
    if leaves_out(values, step):
        decimals = decimals_of(values, step)
        yield trials.rounded_on_the_way(decimals)
        yield trials.rounded_on_the_way(decimals + 1)
