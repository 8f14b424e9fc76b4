"""Digits that were cut off in place of being rounded: 0.66 for 0.667."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from typing import cast

import numpy as np

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.rounded_between import RoundingBetween
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where, rounds_to
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


@dataclass(frozen=True, slots=True)
class CutDigits:
    """The cells whose digits were cut off, each with its step, in the order of work."""

    cells: tuple[tuple[str, CellIndex], ...]
    said: str = CUT_OFF


def cut_off(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> CutDigits | None:
    """The cells whose digits were cut off, if that is so all over the solution, or in a
    step with more of them; else None.

    A number tells cutting from rounding only if rounding would make it larger: 0.667 does, 0.663
    does not. One that a likely mistake gives as it was written tells nothing: there, only the
    right number would have been cut off. Nor does one that follows from steps that were left out,
    if rounding these gives it.
    """
    found: list[tuple[str, CellIndex]] = []
    in_one_step: list[tuple[str, CellIndex]] = []
    all_were = True
    between = RoundingBetween(judgement)
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
    return CutDigits(tuple(found))


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
    between: RoundingBetween, name: str, of_mistakes: Collection[CellIndex]
) -> tuple[list[tuple[str, CellIndex]], bool]:
    """The cells of a step whose digits were cut off, and whether one was rounded up; without those
    that mistakes give, or rounding on the way.
    """
    cells = between.judgement.steps[name]
    found: list[tuple[str, CellIndex]] = []
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


def _cost_something(judgement: Judgement, found: list[tuple[str, CellIndex]]) -> bool:
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
    half = claim.half if claim.half_as_written is None else claim.half_as_written
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
