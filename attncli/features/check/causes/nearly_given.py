"""Mistakes that nearly give wrong numbers: the others need not be worked out in all ways in which
steps that were left out may have been rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from attncli.answers.model import Answers, Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.rough_values import Floats
from attncli.features.check.trials import Trial, Trials, decimals_of

# Two mistakes explain no fewer: so many pairs can be made that one gives any two numbers.
CELLS_FOR_TWO_MISTAKES = 3
# By so many halves of a unit, rounding on the way may put a number off, or by this share of it:
# that of an exponential is larger.
UNITS_NEAR = 30
SHARE_NEAR = 0.01
# By so many more than between numbers that were rounded in several ways.
UNITS_NEAR_A_PAIR = 4


def cells_nearly_given(
    trials: Trials, tried: Sequence[Trial], step: str, cells: tuple[CellIndex, ...]
) -> Iterator[tuple[Trial, tuple[CellIndex, ...]]]:
    """The mistakes that nearly give some of these cells, however the steps that were left out were
    rounded: of the others, the rounding need not be known.
    """
    near: dict[int, tuple[CellIndex, ...]] = {}
    for trial in tried:
        numbers = trials.roughly(trial, step)
        key = id(numbers)
        if key not in near:
            near[key] = tuple(_nearly_given(trials.judgement.answers, step, cells, numbers))
        if near[key]:
            yield trial, near[key]


def nearly_given_by_one(
    trials: Trials,
    tried: Sequence[Trial],
    step: str,
    cells: tuple[CellIndex, ...],
    fewest: int,
) -> Iterator[tuple[Trial, tuple[CellIndex, ...]]]:
    """The mistakes that nearly give so many of these cells or more: one for each set that come to
    the same numbers. Most are ruled out by what rounding on the way does to them.
    """
    decimals = decimals_of(trials.judgement.values, step)
    seen = set[tuple[int, ...]]()
    for trial, nearly in cells_nearly_given(trials, tried, step, cells):
        if len(nearly) < fewest:
            continue
        readings = [trials.roughly(trial, step, on) for on in (None, decimals, decimals + 1)]
        key = tuple(map(id, readings))
        if key in seen:
            continue
        seen.add(key)
        given = tuple(cell for cell in nearly if _is_between(trials, step, cell, readings))
        if len(given) >= fewest:
            yield trial, given


def _is_between(
    trials: Trials, step: str, cell: CellIndex, readings: Sequence[Floats | None]
) -> bool:
    """Whether a cell is among these numbers, or two units away from them."""
    claim = cast("Claim", trials.judgement.answers.steps[step].cells[cell])
    numbers = [float(each[cell]) for each in readings if each is not None]
    if len(numbers) < len(readings) or not claim.value.is_finite():
        return True
    room = UNITS_NEAR_A_PAIR * float(claim.half)
    return min(numbers) - room <= float(claim.value) <= max(numbers) + room


def _nearly_given(
    answers: Answers, step: str, cells: tuple[CellIndex, ...], numbers: Floats | None
) -> Iterator[CellIndex]:
    """The cells that are off by no more than rounding on the way may put them; all of them where
    the numbers are not known.
    """
    for cell in cells:
        claim = cast("Claim", answers.steps[step].cells[cell])
        if numbers is None or not claim.value.is_finite():
            yield cell
            continue
        written = float(claim.value)
        apart = abs(float(numbers[cell]) - written)
        near = max(UNITS_NEAR * float(claim.half), SHARE_NEAR * abs(written))
        if apart <= near:
            yield cell
