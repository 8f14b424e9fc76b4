"""Mistakes that give some of the wrong numbers of a solution, and not the others: for marks alone.

A diagnosis names what gives all numbers of a step, or nearly all. Who puts one of these numbers
right must not lose the name by that, nor who makes a slip beside the mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

import numpy as np

from attncli.answers.model import Claim
from attncli.features.check.causes.given_number import misread_and_mistaken, misreadings
from attncli.features.check.causes.nearly_given import (
    CELLS_FOR_TWO_MISTAKES,
    cells_nearly_given,
    nearly_given_by_one,
)
from attncli.features.check.cell_values import CellIndex, CellValues
from attncli.features.check.diagnosis import (
    MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE,
    mistakes_by_chance,
)
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.no_work import is_pattern
from attncli.features.check.rounded_between import RoundedBetween
from attncli.features.check.trials import (
    GivenCells,
    Reproduction,
    Trial,
    Trials,
    decimals_of,
    trials_of,
)
from attncli.features.check.verdicts import Judgement, rounds_to
from attncli.mistakes.forward import roundings_of
from attncli.mistakes.model import each_of

# One number is a slip, whatever else explains it, unless the mistake shows elsewhere.
FEWEST_CELLS = 2
# In a solution with more, the work would take too long.
MOST_WRONG_CELLS = 60
# Of mistakes beside a number that was read wrongly, so many are tried: those that give the most.
MOST_MISREAD_BESIDE = 12
# Of these, so many may have given what was put right.
MOST_PUT_RIGHT_BESIDE = 3


@dataclass(slots=True)
class PartialMistake:
    """The `cells` that a mistake gives, or two made together; it is `likely` if they are no chance.
    So many of its parts are `slips`, as a number that was read wrongly is.
    """

    cells: set[WrongCell] = field(default_factory=set)
    likely: bool = False
    slips: int = 0

    @classmethod
    def of(cls, trial: Trial) -> PartialMistake:
        return cls(slips=sum(mistake.is_slip for mistake in trial.each))


@dataclass(frozen=True, slots=True)
class GivenByMistake:
    """A mistake that gives some of the wrong cells, with its equations: what it `makes` of cells
    that are not wrong, and the wrong ones that are `left` in steps where it gives others.
    """

    trial: Trial
    values: CellValues
    makes: Mapping[WrongCell, Claim]
    left: Mapping[str, tuple[CellIndex, ...]]


def partial_mistakes(
    judgement: Judgement,
    wrong: Mapping[str, tuple[CellIndex, ...]],
    explained: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, PartialMistake]:
    """For each known mistake, and each number that was read wrongly from the problem, the wrong
    cells that it gives. Steps that were left out may be rounded on the way. In steps that are
    `explained` no two of them are sought; those that explain one may show in others.
    """
    if sum(map(len, wrong.values())) > MOST_WRONG_CELLS:
        return {}
    trials = trials_of(judgement)
    readings = {step: [*_readings(trials, step)] for step in wrong}
    found: dict[str, PartialMistake] = {}
    for trial, nearly in _near_in_steps(trials, wrong):
        partly = found.setdefault(trial.mistake.name, PartialMistake.of(trial))
        _add(partly, trials, trial, nearly, readings, trials.of_mistakes)
    for trial, nearly in _misread_in_steps(trials, wrong, FEWEST_CELLS):
        unexplained = _unexplained(trial, nearly, explained)
        partly = PartialMistake.of(trial)
        _add(partly, trials, trial, unexplained, readings, misreadings(trials))
        found[trial.mistake.name] = partly
    both: dict[str, PartialMistake] = {}
    for names in explained.values():
        of_two = [name for name in names if len(each_of(name)) > 1]
        both.update((name, PartialMistake(likely=True)) for name in of_two)
    for step, cells in wrong.items():
        if step in explained or len(cells) < CELLS_FOR_TWO_MISTAKES:
            continue
        if not _leaves_few(found, step, cells):
            both.update(_two_mistakes(trials, step, cells, readings[step]))
    for step, cells in wrong.items():
        _add_to_both(both, trials, step, cells, readings[step])
    for name, partly in both.items():
        # A number that was read wrongly shows also where the mistake does not.
        if partly.slips:
            alone = [found[one].cells for one in each_of(name) if one in found]
            partly.cells.update(*alone)
    return found | both


def _unexplained(
    trial: Trial,
    cells: Mapping[str, tuple[CellIndex, ...]],
    explained: Mapping[str, Sequence[str]],
) -> dict[str, tuple[CellIndex, ...]]:
    """The cells of steps that no other mistake explains."""
    name = trial.mistake.name
    return {step: of for step, of in cells.items() if name in explained.get(step, (name,))}


def _near_in_steps(
    trials: Trials, wrong: Mapping[str, tuple[CellIndex, ...]]
) -> Iterator[tuple[Trial, dict[str, tuple[CellIndex, ...]]]]:
    """The mistakes that nearly give some of the wrong cells, and which: the others need not be
    worked out in all ways.
    """
    tried = [trial for trial in trials.of_mistakes if not trial.mistake.of_own]
    found: dict[Trial, dict[str, tuple[CellIndex, ...]]] = {trial: {} for trial in tried}
    for step, cells in wrong.items():
        for trial, given in cells_nearly_given(trials, tried, step, cells):
            found[trial][step] = given
    for trial, nearly in found.items():
        if nearly:
            yield trial, nearly


def _misread_in_steps(
    trials: Trials, wrong: Mapping[str, tuple[CellIndex, ...]], least: int
) -> Iterator[tuple[Trial, dict[str, tuple[CellIndex, ...]]]]:
    """The numbers read wrongly from the problem that nearly give half of the wrong cells of a step,
    or more, but so many at `least`; and which.
    """
    found: dict[Trial, dict[str, tuple[CellIndex, ...]]] = {}
    for step, cells in wrong.items():
        fewest = max(least, _half_of(cells))
        tried = misreadings(trials)
        for trial, given in nearly_given_by_one(trials, tried, step, cells, fewest):
            of_trial = found.setdefault(trial, {})
            of_trial[step] = given
    yield from found.items()


def _likeliest_beside(
    trials: Trials, wrong: Mapping[str, tuple[CellIndex, ...]]
) -> Iterator[tuple[Trial, dict[str, tuple[CellIndex, ...]]]]:
    """The numbers read wrongly beside a mistake that nearly give the most cells of a step."""
    for step, cells in wrong.items():
        for trial, nearly in _misread_beside(trials, step, cells)[:MOST_PUT_RIGHT_BESIDE]:
            yield trial, {step: nearly}


def given_by_mistakes(
    judgement: Judgement,
    wrong: Mapping[str, tuple[CellIndex, ...]],
    read: Judgement | None = None,
) -> Iterator[GivenByMistake]:
    """The known mistakes that give some of the wrong cells: by what is written before these, or in
    the solution to `read` in its place. Two of them may be one mistake, rounded in two ways.
    """
    trials = trials_of(read or judgement)
    readings = {step: [*_readings(trials, step)] for step in wrong}
    # Others of a number that was read wrongly may have been put right.
    alone = chain(_near_in_steps(trials, wrong), _misread_in_steps(trials, wrong, 1))
    # So many pairs are made that some give any weights, if all before these were put right.
    beside = () if read else _likeliest_beside(trials, wrong)
    for trial, nearly in chain(alone, beside):
        makes: dict[WrongCell, Claim] = {}
        in_full: dict[WrongCell, Claim] = {}
        left: dict[str, tuple[CellIndex, ...]] = {}
        is_given = False
        unrounded = trials.by(trial, trials.within_precision)
        for step in trial.affected:
            by = unrounded
            if step in nearly:
                ways = _ways(trials, trial, step, nearly[step], readings[step])
                most = max(ways, key=lambda way: len(way.cells))
                if not most.cells:
                    continue
                is_given, by = True, most.by
                left[step] = tuple(cell for cell in wrong[step] if cell not in most.cells)
            makes.update(_made_in(judgement, step, by))
            in_full.update(_made_in(judgement, step, unrounded))
        if is_given:
            yield GivenByMistake(trial, unrounded.values, makes, left)
        # Who gives these numbers rounded on the way may have worked out others in full.
        if is_given and in_full != makes:
            yield GivenByMistake(trial, unrounded.values, in_full, {})


def _made_in(
    judgement: Judgement, step: str, by: Reproduction
) -> Iterator[tuple[WrongCell, Claim]]:
    """What a mistake would make of cells of a step that are not wrong."""
    for index, claim in _made_of_others(judgement, step, by).items():
        yield (step, index), claim


def _leaves_few(
    found: Mapping[str, PartialMistake], step: str, cells: tuple[CellIndex, ...]
) -> bool:
    """Whether a mistake that was likely made leaves so few of these cells that they cost no more as
    slips than two mistakes do together.
    """
    wanted = {(step, cell) for cell in cells}
    left = [len(wanted - partly.cells) for partly in found.values() if partly.likely]
    return any(number < CELLS_FOR_TWO_MISTAKES for number in left)


def _two_mistakes(
    trials: Trials, step: str, cells: tuple[CellIndex, ...], readings: Sequence[Reproduction]
) -> Iterator[tuple[str, PartialMistake]]:
    """The mistakes that likely give three or more of the wrong cells of a step together; and where
    most of a step is wrong, a mistake and a number read wrongly that give most of these.
    """
    if not trials.leaves_out(step):
        return
    of_two = trials.of_two(step)
    near = [*nearly_given_by_one(trials, of_two, step, cells, CELLS_FOR_TWO_MISTAKES)]
    yield from _likely_of(trials, of_two, step, near, readings)
    beside = _misread_beside(trials, step, cells)
    tried = misread_and_mistaken(trials, step) if beside else ()
    yield from _likely_of(trials, tried, step, beside[:MOST_MISREAD_BESIDE], readings)


def _misread_beside(
    trials: Trials, step: str, cells: tuple[CellIndex, ...]
) -> list[tuple[Trial, tuple[CellIndex, ...]]]:
    """Where most of a step is wrong, the numbers read wrongly beside a mistake that nearly give
    half of the wrong cells, and which; those that give the most come first.
    """
    is_mostly_wrong = 2 * len(cells) > trials.judgement.steps[step].size
    if not is_mostly_wrong or not trials.leaves_out(step):
        return []
    pairs = misread_and_mistaken(trials, step)
    fewest = max(CELLS_FOR_TWO_MISTAKES, _half_of(cells))
    near = nearly_given_by_one(trials, pairs, step, cells, fewest)
    return sorted(near, key=lambda found: len(found[1]), reverse=True)


def _likely_of(
    trials: Trials,
    pairs: Sequence[Trial],
    step: str,
    near: Sequence[tuple[Trial, tuple[CellIndex, ...]]],
    readings: Sequence[Reproduction],
) -> Iterator[tuple[str, PartialMistake]]:
    """Those of some `near` pairs, of all that are tried, that likely give three or more cells."""
    for trial, nearly in near:
        partly = PartialMistake.of(trial)
        _add(partly, trials, trial, {step: nearly}, {step: readings}, pairs)
        if partly.likely and len(partly.cells) >= CELLS_FOR_TWO_MISTAKES:
            yield trial.mistake.name, partly


def _half_of(cells: tuple[CellIndex, ...]) -> int:
    """How many cells are half of these, or one more."""
    return math.ceil(len(cells) / 2)


def _add_to_both(
    both: Mapping[str, PartialMistake],
    trials: Trials,
    step: str,
    cells: tuple[CellIndex, ...],
    readings: Sequence[Reproduction],
) -> None:
    """Add the cells of a step that two mistakes give which were likely made in another one."""
    if not both or not trials.leaves_out(step):
        return
    tried = [trial for trial in trials.of_two(step) if trial.mistake.name in both]
    for trial, nearly in cells_nearly_given(trials, tried, step, cells):
        partly = both[trial.mistake.name]
        for way in _ways(trials, trial, step, nearly, readings):
            partly.cells.update((step, cell) for cell in way.cells)


def _add(
    partly: PartialMistake,
    trials: Trials,
    trial: Trial,
    wrong: Mapping[str, tuple[CellIndex, ...]],
    readings: Mapping[str, Sequence[Reproduction]],
    tried: Sequence[Trial],
) -> None:
    """Add those of these wrong cells that a mistake gives; `tried` are all that are tried as it
    is.
    """
    given: dict[str, GivenCells] = {}
    number = 0
    for step in trial.affected.keys() & wrong.keys():
        if trial.mistake.name in coarse_roundings(trials.judgement, step):
            continue
        ways = [*_ways(trials, trial, step, wrong[step], readings[step])]
        for way in ways:
            partly.cells.update((step, cell) for cell in way.cells)
        most = max(ways, key=lambda way: len(way.cells))
        makes = _made_of_others(trials.judgement, step, most.by)
        # Numbers that are all alike are a sign of nothing.
        if not is_pattern(trials.judgement, step, makes):
            telling = _without_coarse(trials.judgement, step, most.cells)
            given[step] = GivenCells(telling, most.by, makes)
            number += len(most.cells)
    if number >= FEWEST_CELLS:
        by_chance = mistakes_by_chance(trials, given, tried)
        partly.likely |= by_chance < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE


def _made_of_others(judgement: Judgement, step: str, by: Reproduction) -> dict[CellIndex, Claim]:
    """What a mistake would make of the cells that are not wrong, where that is another number.

    They say as much for the mistake as those that it gives: who puts a number right must not lose
    what explains the others.
    """
    found = {}
    for index, cell in np.ndenumerate(judgement.steps[step]):
        claim = cell.given
        if claim is None or cell.verdict == "wrong":
            continue
        number = by.number(step, index)
        other = judgement.answers.steps[step].another(index, number)
        if other is not None and not rounds_to(number, claim):
            found[index] = other
    return found


def _ways(
    trials: Trials,
    trial: Trial,
    step: str,
    wrong: tuple[CellIndex, ...],
    readings: Sequence[Reproduction],
) -> Iterator[GivenCells]:
    """The wrong cells of a step that a mistake gives, by each reading, of which the last one leaves
    the most room.
    """
    *others, widest = [trials.by(trial, plain) for plain in readings]
    # So many numbers may have been read wrongly that room for rounding would tell little.
    if others and trial.has_slip:
        widest = others.pop()
    known = set[CellIndex]()
    for by in others:
        given = tuple(cell for cell in wrong if by.gives(step, cell))
        known.update(given)
        yield GivenCells(given, by)
    # To show that numbers are within it takes long.
    yield GivenCells(tuple(c for c in wrong if c in known or widest.gives(step, c)), widest)


def _without_coarse(
    judgement: Judgement, step: str, given: tuple[CellIndex, ...]
) -> tuple[CellIndex, ...]:
    """The cells without those with few decimals: such numbers are often the same by chance."""
    cells = judgement.steps[step]
    return tuple(index for index in given if not cells[index].looks_too_coarse)


def coarse_roundings(judgement: Judgement, step: str) -> set[str]:
    """The names of roundings that give a step fewer decimals than were asked for: no mistakes in a
    marking.
    """
    claims = judgement.answers.steps[step].claims
    were_asked = any(claim.half_as_written is not None for claim in claims)
    return roundings_of(step) if were_asked else set()


def _readings(trials: Trials, step: str) -> Iterator[Reproduction]:
    """How the numbers of a step may have come about from those before it."""
    values = trials.judgement.values
    if not trials.leaves_out(step):
        yield trials.within_precision
        return
    decimals = decimals_of(values, step)
    # Of ways that give as many numbers, the first one counts: it leaves the least room to chance.
    yield trials.rounded_on_the_way(decimals)
    yield trials.rounded_on_the_way(decimals + 1)
    yield trials.within_precision
    yield RoundedBetween(values, 0.5 * 0.1**decimals)
