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
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.marks.shared_graph import SharedGraph

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
    graph: SharedGraph, ref: Ref, cells: Sequence[WrongCell], room: float = ROOM
) -> FittingNumber | None:
    """The number that gives all of these cells in the place of one that they read, with so much
    `room` in halves of a unit; None if there is none.

    Each cell grows or falls with the number, as sums, products and shares do.
    """
    readers = _Readers.of(graph, ref, cells)
    middle = graph.number(ref)
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
    """The cells that read the number: what they come to by another one, and what was written."""

    results: Callable[[float], list[float]]
    claims: Sequence[Claim]

    @classmethod
    def of(cls, graph: SharedGraph, ref: Ref, cells: Sequence[WrongCell]) -> _Readers:
        steps = graph.values.answers.steps
        claims = [cast("Claim", steps[name].cells[index]) for name, index in cells]
        return cls(graph.by_number(ref, cells), claims)

    def off_each(self, number: float) -> list[float]:
        """How far each of them is above what was written."""
        found = zip(self.results(number), self.claims, strict=True)
        return [_off(result, claim) for result, claim in found]

    def off(self, number: float) -> float:
        """How far off the one is that is most off."""
        return _most_off(self.off_each(number))


def _off(result: float, claim: Claim) -> float:
    """How far a result is above what was written, in halves of a unit."""
    if math.isnan(result):
        return math.inf
    # A half of hundreds of decimals is 0 as a float.
    half = float(claim.half) or sys.float_info.min
    return (result - float(claim.value)) / half
