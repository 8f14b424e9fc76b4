"""The number from which others follow: what may have stood where a cell has another one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from attncli.answers.model import Claim
from attncli.equation.nodes import Ref
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.marks.slips_before import changed, equation_with

# How many halves of a unit cells may be off: those that they are worked out from are rounded, too.
ROOM = 2.0
# How far off the number is looked for, in powers of 2 of its own size.
_POWERS = range(-4, 7)
# Each turn leaves so much of where the number may be.
_GOLDEN = (math.sqrt(5) - 1) / 2
_TURNS = 80
# Two numbers are as near, in halves of a unit.
_AS_NEAR = 0.001


@dataclass(frozen=True, slots=True)
class FittingNumber:
    """About the number that gives some cells. It is `open` if all larger ones, or all smaller ones,
    give them as well: weights of 1 and 0 only say that one score was far above the others.
    """

    value: float
    open: bool


def fitting_number(
    values: CellValues, ref: Ref, cells: Sequence[WrongCell], room: float = ROOM
) -> FittingNumber | None:
    """The number that gives all of these cells in the place of one that they read, with so much
    `room` in halves of a unit; None if there is none.

    Each cell grows or falls with the number, as sums, products and shares do.
    """
    readers = _Readers([_cell_that_reads(values, ref, *cell) for cell in cells])
    written = values.written(ref.name, cell_of(ref))
    right = values.own(ref.name, cell_of(ref)) if written is None else written.value
    middle = float(right)
    size = max(1.0, abs(middle))
    apart = [size * 2.0**power for power in _POWERS]
    tried = [*(middle - each for each in reversed(apart)), middle, *(middle + e for e in apart)]
    with np.errstate(all="ignore"):
        off_each = [readers.off_each(number) for number in tried]
        if not any(_may_fit_between(*both, room) for both in pairwise(off_each)):
            return None
        offs = [_most_off(each) for each in off_each]
        nearest = offs.index(min(offs))
        least, most = tried[max(0, nearest - 1)], tried[min(len(tried) - 1, nearest + 1)]
        found, off = _least(readers.off, least, most)
        if off > room:
            return None
    return FittingNumber(found, open=min(offs[0], offs[-1]) <= room)


def _may_fit_between(of_first: Sequence[float], of_second: Sequence[float], room: float) -> bool:
    """Whether all cells may be right with a number between two others, with which they are so far
    off: each is above with one of them, and below with the other.
    """
    for ends in zip(of_first, of_second, strict=True):
        is_above = min(ends) > room
        is_below = max(ends) < -room
        if is_above or is_below:
            return False
    return True


def _most_off(off_each: Sequence[float]) -> float:
    return max(map(abs, off_each))


def _least(off: Callable[[float], float], least: float, most: float) -> tuple[float, float]:
    """Where between two numbers a function is least that first falls and then grows, and what it is
    there: nothing, or what the last turns leave.
    """
    first, second = most - _GOLDEN * (most - least), least + _GOLDEN * (most - least)
    at_first, at_second = off(first), off(second)
    for _ in range(_TURNS):
        if abs(at_first - at_second) <= _AS_NEAR:
            break
        if at_first <= at_second:
            most, second, at_second = second, first, at_first
            first = most - _GOLDEN * (most - least)
            at_first = off(first)
        else:
            least, first, at_first = first, second, at_second
            second = least + _GOLDEN * (most - least)
            at_second = off(second)
    return min((at_first, first), (at_second, second))[::-1]


@dataclass(frozen=True, slots=True)
class _Readers:
    """The cells that read the number."""

    cells: Sequence[_CellThatReads]

    def off_each(self, number: float) -> list[float]:
        """How far each of them is above what was written."""
        return [cell.off(number) for cell in self.cells]

    def off(self, number: float) -> float:
        """How far off the one is that is most off."""
        return _most_off(self.off_each(number))


@dataclass(frozen=True, slots=True)
class _CellThatReads:
    """A cell that reads the number, by its equation, and what was written in it."""

    result: Callable[[float], float]
    claim: Claim

    def off(self, number: float) -> float:
        """How far the cell is above what was written with a number, in halves of a unit."""
        result = self.result(number)
        if math.isnan(result):
            return math.inf
        # A half of hundreds of decimals is 0 as a float.
        half = float(self.claim.half) or sys.float_info.min
        return (result - float(self.claim.value)) / half


def _cell_that_reads(values: CellValues, ref: Ref, step: str, cell: CellIndex) -> _CellThatReads:
    equation = equation_with(values, step, cell, ref, 0.0)
    point = {read: range.middle for read, range in equation.ranges.items()}
    claim = cast("Claim", values.answers.steps[step].cells[cell])
    return _CellThatReads(equation.graph.function_of(changed(ref), point), claim)
