"""Mistakes that give some of the wrong numbers of a solution, and not the others: for marks alone.

A diagnosis names what gives all numbers of a step, or nearly all. Who puts one of these numbers
right must not lose the name by that, nor who makes a slip beside the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosis import (
    MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE,
    Reproduction,
    Trials,
    decimals_of,
    leaves_out,
    mistakes_by_chance,
)
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.verdicts import JudgedCell, Judgement
from attncli.mistakes.forward import roundings_of

# One number is a slip, whatever else explains it.
FEWEST_CELLS = 2
# In a solution with more, the work would take too long.
MOST_WRONG_CELLS = 100


@dataclass(slots=True)
class PartialMistake:
    """The `cells` that a mistake gives; it is `likely` if those of a step are no chance."""

    cells: set[WrongCell] = field(default_factory=set)
    likely: bool = False


def partial_mistakes(
    judgement: Judgement, wrong: Mapping[str, tuple[CellIndex, ...]]
) -> dict[str, PartialMistake]:
    """For each known mistake the wrong cells that it gives, if these are two or more. Steps that
    were left out may be rounded on the way.
    """
    if sum(map(len, wrong.values())) > MOST_WRONG_CELLS:
        return {}
    trials = Trials(judgement)
    found: dict[str, PartialMistake] = {}
    for trial in trials.of_mistakes:
        if trial.mistake.of_own:
            continue
        for step in trial.affected.keys() & wrong.keys():
            if trial.mistake.name in coarse_roundings(judgement, step):
                continue
            for plain in _readings(trials, step):
                by = trials.by(trial, plain)
                given = tuple(cell for cell in wrong[step] if by.gives(step, cell))
                partly = found.setdefault(trial.mistake.name, PartialMistake())
                partly.cells.update((step, cell) for cell in given)
                # Zeros alone are a sign of nothing.
                if len(given) >= FEWEST_CELLS and not is_nothing_but_zeros(judgement, step):
                    by_chance = mistakes_by_chance(trials, step, given, by)
                    partly.likely |= by_chance < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE
    return {name: partly for name, partly in found.items() if len(partly.cells) >= FEWEST_CELLS}


def is_nothing_but_zeros(judgement: Judgement, name: str) -> bool:
    """Whether every number that was written in a step is 0, and not all of them should be."""
    cells = cast("list[JudgedCell]", judgement.steps[name].ravel().tolist())
    claims = [cell.given for cell in cells if cell.given is not None]
    return not any(claim.value for claim in claims) and any(cell.expected for cell in cells)


def coarse_roundings(judgement: Judgement, step: str) -> set[str]:
    """The names of roundings that give a step fewer decimals than were asked for: no mistakes in a
    marking.
    """
    claims = judgement.answers.steps[step].claims
    were_asked = any(claim.half_as_written is not None for claim in claims)
    return roundings_of(step) if were_asked else set()


def _readings(trials: Trials, step: str) -> Iterator[Reproduction]:
    """How the numbers of a step may have come about from those before it."""
    yield trials.within_precision
    values = trials.judgement.values
    if leaves_out(values, step):
        decimals = decimals_of(values, step)
        yield trials.rounded_on_the_way(decimals)
        yield trials.rounded_on_the_way(decimals + 1)
