"""Digits that were cut off in place of being rounded: 0.66 for 0.667."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from typing import cast

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where, rounds_to

CUT_OFF = "you cut the digits off"
# The same, told to a teacher.
WERE_CUT_OFF = "the digits were cut off"
# So many numbers have to be cut off, and none rounded up. One that is a unit too small has many
# reasons.
FEWEST_CUT_OFF = 3
# The same where other steps were rounded.
FEWEST_IN_ONE_STEP = 4
_DIGITS = Context(prec=60)


@dataclass(frozen=True, slots=True)
class CutDigits:
    """The cells whose digits were cut off, each with its step, in the order of work."""

    cells: tuple[tuple[str, CellIndex], ...]
    said: str = CUT_OFF


def cut_off(judgement: Judgement) -> CutDigits | None:
    """The cells whose digits were cut off, if that is so all over the solution, or in a
    step with more of them; else None.

    A number tells cutting from rounding only if rounding would make it larger: 0.667 does, 0.663
    does not.
    """
    found: list[tuple[str, CellIndex]] = []
    in_one_step: list[tuple[str, CellIndex]] = []
    all_were = True
    for name in judgement.steps:
        cut, was_rounded_up = _cut_in(judgement, name)
        found += cut
        if was_rounded_up:
            all_were = False
        elif len(cut) >= FEWEST_IN_ONE_STEP and not _any_wrong(judgement, name):
            in_one_step += cut
    if not all_were:
        found = in_one_step
    if len(found) < FEWEST_CUT_OFF or not _cost_something(judgement, found):
        return None
    return CutDigits(tuple(found))


def _any_wrong(judgement: Judgement, name: str) -> bool:
    """Whether a number of a step is wrong: then its digits say little."""
    return bool(indices_where(judgement.steps[name], "wrong"))


def _cut_in(judgement: Judgement, name: str) -> tuple[list[tuple[str, CellIndex]], bool]:
    """The cells of a step whose digits were cut off, and whether one was rounded up."""
    cells = judgement.steps[name]
    found: list[tuple[str, CellIndex]] = []
    if judgement.trace.steps[name].rule.given:
        return found, False
    was_rounded_up = False
    for place, cell in enumerate(cells.flat):
        how = _written(cast("JudgedCell", cell))
        was_rounded_up |= how == "rounded up"
        if how == "cut off":
            found.append((name, _index(cells.shape, place)))
    return found, was_rounded_up


def _cost_something(judgement: Judgement, found: list[tuple[str, CellIndex]]) -> bool:
    """Whether one of these numbers is not as good as a rounded one."""
    return any(judgement.steps[name][index].verdict == "rounding" for name, index in found)


def _index(shape: tuple[int, ...], place: int) -> CellIndex:
    index: list[int] = []
    for length in reversed(shape):
        place, at = divmod(place, length)
        index.insert(0, at)
    return tuple(index)


def _written(cell: JudgedCell) -> str:
    """`cut off`, `rounded up`, or nothing where the number does not tell, or is another one."""
    claim = cell.given
    if claim is None or claim.exact or not claim.value.is_finite():
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
