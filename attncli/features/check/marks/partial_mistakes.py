"""Mistakes that give some of the wrong numbers of a solution, and not the others: for marks alone.

A diagnosis names what gives all numbers of a step, or nearly all. Who puts one of these numbers
right must not lose the name by that, nor who makes a slip beside the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosis import (
    MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE,
    GivenCells,
    Reproduction,
    Trial,
    Trials,
    decimals_of,
    mistakes_by_chance,
)
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.no_work import is_pattern
from attncli.features.check.rounded_between import RoundedBetween
from attncli.features.check.verdicts import JudgedCell, Judgement
from attncli.mistakes.forward import roundings_of

# One number is a slip, whatever else explains it, unless the mistake shows elsewhere.
FEWEST_CELLS = 2
# In a solution with more, the work would take too long.
MOST_WRONG_CELLS = 60


@dataclass(slots=True)
class PartialMistake:
    """The `cells` that a mistake gives; it is `likely` if they are no chance."""

    cells: set[WrongCell] = field(default_factory=set)
    likely: bool = False


def partial_mistakes(
    judgement: Judgement, wrong: Mapping[str, tuple[CellIndex, ...]]
) -> dict[str, PartialMistake]:
    """For each known mistake the wrong cells that it gives. Steps that were left out may be rounded
    on the way.
    """
    if sum(map(len, wrong.values())) > MOST_WRONG_CELLS:
        return {}
    trials = Trials(judgement)
    readings = {step: [*_readings(trials, step)] for step in wrong}
    found: dict[str, PartialMistake] = {}
    for trial in trials.of_mistakes:
        name = trial.mistake.name
        if trial.mistake.of_own:
            continue
        partly = found.setdefault(name, PartialMistake())
        given: dict[str, GivenCells] = {}
        for step in trial.affected.keys() & wrong.keys():
            if name in coarse_roundings(judgement, step):
                continue
            ways = [*_ways(trials, trial, step, wrong[step], readings[step])]
            for way in ways:
                partly.cells.update((step, cell) for cell in way.cells)
            # Numbers that are all alike are a sign of nothing.
            if not is_pattern(judgement, step):
                most = max(ways, key=lambda way: len(way.cells))
                telling = _without_coarse(judgement, step, most.cells)
                given[step] = GivenCells(telling, most.by)
        number = sum(len(way.cells) for way in given.values())
        if number >= FEWEST_CELLS:
            by_chance = mistakes_by_chance(trials, given)
            partly.likely |= by_chance < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE
    return found


def _ways(
    trials: Trials,
    trial: Trial,
    step: str,
    wrong: tuple[CellIndex, ...],
    readings: Sequence[Reproduction],
) -> Iterator[GivenCells]:
    """The wrong cells of a step that a mistake gives, by each reading."""
    for plain in readings:
        by = trials.by(trial, plain)
        yield GivenCells(tuple(cell for cell in wrong if by.gives(step, cell)), by)


def _without_coarse(
    judgement: Judgement, step: str, given: tuple[CellIndex, ...]
) -> tuple[CellIndex, ...]:
    """The cells without those with few decimals: such numbers are often the same by chance."""
    cells = judgement.steps[step]
    return tuple(index for index in given if not cells[index].looks_too_coarse)


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
    if trials.leaves_out(step):
        decimals = decimals_of(values, step)
        yield trials.rounded_on_the_way(decimals)
        yield trials.rounded_on_the_way(decimals + 1)
        yield RoundedBetween(values, 0.5 * 0.1**decimals)
