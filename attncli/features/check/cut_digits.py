"""Digits that were cut off in place of being rounded: 0.66 for 0.667.

Who cuts off the digits everywhere makes mistakes as well. They show only where each number is read
as it was written, 0.66 as all from 0.66 to 0.67: what a mistake gives is rarely rounded to a number
that was cut off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from typing import cast

import numpy as np

from attncli.answers.model import Answers, CellOfStep, Claim
from attncli.features.check.cell_values import CellIndex, CellValues
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.rounded_between import ExplainedByRounding
from attncli.features.check.verdicts import (
    JudgedCell,
    Judgement,
    Solution,
    indices_where,
    judge_answers,
    rounds_to,
)
from attncli.mistakes.catalogue import changes_of

CUT_OFF = "the digits were cut off"
# So many numbers have to be cut off, and none rounded up. One that is a unit too small has many
# reasons.
FEWEST_CUT_OFF = 3
# The same where other steps were rounded.
FEWEST_IN_ONE_STEP = 4
# The digits of a step say nothing if more of its numbers are wrong: the others may be, too.
MOST_WRONG = 1
_DIGITS = Context(prec=60)
# So near to each other, two numbers are one that doubles cannot tell apart.
_NEARLY = Decimal("1e-9")


def cut_off(solution: Solution, diagnoses: Sequence[Diagnosis]) -> tuple[CellOfStep, ...] | None:
    """The cells whose digits were cut off, in the order of work, if that is so all over the
    solution, or in a step with more of them; else None.

    A number tells cutting from rounding only if rounding would make it larger: 0.667 does, 0.663
    does not. One that a likely mistake gives as it was written tells nothing: there, only the
    right number would have been cut off. Nor does one that follows from steps that were left out,
    if rounding these gives it.
    """
    judgement = solution.of_all
    if solution.read_as_cut is not None:
        return tuple(_right_if_cut(judgement, solution.read_as_cut))
    found: list[CellOfStep] = []
    in_one_step: list[CellOfStep] = []
    all_were = True
    between = ExplainedByRounding(judgement)
    for name in judgement.steps:
        wrong = len(indices_where(judgement.steps[name], "wrong"))
        if wrong > MOST_WRONG:
            continue
        of_mistakes = _of_mistakes(judgement, name, diagnoses)
        cut, was_rounded_up = _cut_in(between, name, of_mistakes)
        found += cut
        if was_rounded_up:
            all_were = False
        elif len(cut) >= FEWEST_IN_ONE_STEP and not wrong:
            in_one_step += cut
    if not all_were:
        found = in_one_step
    if len(found) < FEWEST_CUT_OFF or not _cost_something(judgement, found):
        return None
    return tuple(found)


def _right_if_cut(judgement: Judgement, cut: Judgement) -> Iterator[CellOfStep]:
    """The cells that are off by one in the last digit, and no error if that was cut off."""
    for name, index, _ in judgement.cells_that_are("rounding"):
        if cut.steps[name][index].verdict in ("right", "carried"):
            yield name, index


def _of_mistakes(judgement: Judgement, name: str, diagnoses: Sequence[Diagnosis]) -> set[CellIndex]:
    """The cells of a step that likely mistakes give as they were written: all, if a known mistake
    was made in it, since the others may be slips.
    """
    given: set[CellIndex] = set()
    for found in diagnoses:
        if found.step != name:
            continue
        if not found.likely or found.error is not None:
            continue
        given.update(found.cells)
        is_known = bool(changes_of(found.mistakes[0], judgement.trace))
        if found.whole or is_known:
            all_cells = np.ndindex(judgement.steps[name].shape)
            given.update(all_cells)
            given.difference_update(found.slips)
    return given


def _cut_in(
    between: ExplainedByRounding, name: str, of_mistakes: Collection[CellIndex]
) -> tuple[list[CellOfStep], bool]:
    """The cells of a step whose digits were cut off, and whether one was rounded up; without those
    that mistakes give, or rounding on the way.
    """
    cells = between.judgement.steps[name]
    found: list[CellOfStep] = []
    if between.judgement.trace.steps[name].rule.given:
        return found, False
    was_rounded_up = False
    for index, cell in np.ndenumerate(cells):
        if index in of_mistakes:
            continue
        how = _written(cast("JudgedCell", cell))
        if not how or between.explains(name, index):
            continue
        was_rounded_up |= how == "rounded up"
        if how == "cut off":
            found.append((name, index))
    return found, was_rounded_up


def _cost_something(judgement: Judgement, found: list[CellOfStep]) -> bool:
    """Whether one of these numbers is not as good as a rounded one."""
    return any(judgement.steps[name][index].verdict == "rounding" for name, index in found)


def _written(cell: JudgedCell) -> str:
    """`cut off`, `rounded up`, or nothing where the number does not tell, or is another one."""
    claim = cell.given
    if claim is None or claim.exact or not claim.value.is_finite() or cell.from_right:
        return ""
    for number in (cell.own, cell.expected):
        exact = Decimal(repr(number))
        if exact.is_finite() and (how := _how_written(exact, claim)):
            return how
    return ""


def _how_written(exact: Decimal, claim: Claim) -> str:
    half = claim.half_written
    with localcontext(_DIGITS):
        unit = 2 * half
        cut = (exact / unit).to_integral_value(ROUND_DOWN) * unit
        if abs(exact - cut) <= half or claim.printed_double:
            return ""
        if claim.value == cut:
            return "cut off"
        if abs(claim.value) > abs(cut) and rounds_to(exact, claim):
            return "rounded up"
    return ""


# A whole solution, read so


@dataclass(frozen=True, slots=True, eq=False)
class CutReading:
    """The verdicts on a solution whose digits were cut off, and what explains its errors."""

    judgement: Judgement
    diagnoses: tuple[Diagnosis, ...]


def cut_reading(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> CutReading | None:
    """The solution read as cut off, if that explains three or more of the numbers that are left
    over otherwise, and none says that it was rounded; else None.
    """
    if not _may_be_cut_off(judgement):
        return None
    cut = judge_answers(judgement.trace, _as_cut(judgement.values))
    if any(_was_rounded(judgement, cut, *cell) for cell in _filled(judgement)):
        return None
    of_cut = diagnose(cut)
    between = ExplainedByRounding(judgement)
    # What was rounded on the way is off by as much, and was not cut off.
    left = {cell for cell in _unexplained(judgement, diagnoses) if not between.explains(*cell)}
    left_of_cut = _unexplained(cut, of_cut)
    if len(left) - len(left_of_cut) < FEWEST_CUT_OFF:
        return None
    return CutReading(cut, of_cut)


def _may_be_cut_off(judgement: Judgement) -> bool:
    """Whether a number is a unit too small, as if it were cut off."""
    for name, index in _filled(judgement):
        cell = cast("JudgedCell", judgement.steps[name][index])
        if cell.verdict == "rounding" and _is_cut_off(cell):
            return True
    return False


def _filled(judgement: Judgement) -> Iterator[CellOfStep]:
    for name, cells in judgement.steps.items():
        if judgement.trace.steps[name].rule.given:
            continue
        for index, cell in np.ndenumerate(cells):
            if cast("JudgedCell", cell).given is not None:
                yield name, index


def _was_rounded(judgement: Judgement, cut: Judgement, name: str, index: CellIndex) -> bool:
    """Whether a number that is no error is one if it was cut off."""
    cell = cast("JudgedCell", judgement.steps[name][index])
    if cell.verdict == "right":
        return not _is_cut_off(cell)
    if cell.verdict != "carried":
        return False
    return cut.steps[name][index].verdict not in ("right", "carried")


def _is_cut_off(cell: JudgedCell) -> bool:
    """Whether a number is the right one cut off, or what follows from those before it."""
    claim = cast("Claim", cell.given)
    if claim.exact or claim.printed_double or not claim.value.is_finite():
        return True
    half = claim.half_written
    unit = 2 * half
    for number in (cell.expected, cell.own):
        exact = Decimal(repr(number))
        if not exact.is_finite():
            continue
        with localcontext(_DIGITS):
            if (exact / unit).to_integral_value(ROUND_DOWN) * unit == claim.value:
                return True
            # A double may be a little less than what it stands for.
            if abs(exact - claim.value) <= _NEARLY * max(Decimal(1), abs(exact)):
                return True
    return False


def _unexplained(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> set[CellOfStep]:
    """The numbers that are not right, and that no likely mistake gives."""
    left = set[CellOfStep]()
    for name, index in _filled(judgement):
        if judgement.steps[name][index].verdict in ("wrong", "rounding"):
            left.add((name, index))
    for found in diagnoses:
        if found.likely and found.error is None:
            left -= _given_by(judgement, found)
    return left


def _given_by(judgement: Judgement, found: Diagnosis) -> set[CellOfStep]:
    """What a mistake gives of a step: all but the slips beside it, if it gives the whole."""
    cells: Collection[CellIndex] = found.cells
    if found.whole:
        cells = {*np.ndindex(judgement.steps[found.step].shape)} - {*found.slips}
    return {(found.step, index) for index in cells}


def _as_cut(values: CellValues) -> Answers:
    """The answers, with each number in the middle of those that are cut off to it."""
    cut: dict[CellOfStep, Claim] = {}
    for name, answer in values.answers.steps.items():
        if values.trace.steps[name].rule.given:
            continue
        for index, claim in np.ndenumerate(answer.cells):
            if isinstance(claim, Claim) and not _is_exact(values, name, index, claim):
                cut[name, index] = _cut_claim(claim)
    return values.answers.with_claims(cut)


def _is_exact(values: CellValues, name: str, index: CellIndex, claim: Claim) -> bool:
    """Whether it has no more digits, so that none can have been cut off."""
    return claim.value in (values.true(name, index), values.own(name, index))


def _cut_claim(claim: Claim) -> Claim:
    if claim.exact or claim.printed_double or not claim.value.is_finite():
        return claim
    half = claim.half_written
    # It has fewer decimals than were asked for.
    if half > claim.half:
        return claim
    if not claim.value:
        return replace(claim, half=max(claim.half, 2 * half))
    return replace(claim, value=claim.value + half.copy_sign(claim.value))
