"""Whether a cell can come out as written, when the numbers it is worked out from lie anywhere within what they claim.

A cell's sentence is a tree over variables, each with its interval. Where every variable stands in it once, the range
of the tree is exact. Where one stands in it several times, as a score in a softmax, slopes tell which ends of its
interval lead to the least and to the greatest value. A climb looks for a place that gives what is written; where there
seems to be none, the intervals are halved until ranges show that there is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from attncli.equation.intervals import ANYTHING, Interval
from attncli.equation.nodes import Expression, Ref
from attncli.features.check.expression_graph import Box, Point, Tape

HALVINGS = 100  # boxes looked at before it is left open whether a cell can be reached
STEPS = 12  # of a climb
SHORTER = (1.0, 0.5, 0.2)  # of the way to a corner


def range_of(tree: Expression, box: Box) -> Interval:
    """Where the tree may lie: never less than that, and no more where each variable stands in it once."""
    return Tape.of(tree).ranges(box)[-1]


def can_reach(tree: Expression, box: Box, target: Interval, *, in_doubt: bool = False) -> bool:
    """Whether some place in the box gives a value within the target; `in_doubt` is what is said if that stays open."""
    tape = Tape.of(tree)
    ranges = tape.ranges(box)
    if not ranges[-1].meets(target):
        return False
    if ranges[-1] != ANYTHING and not tape.repeats:
        return True
    first = _look(tape, box, target)
    if first.found or not first.open:
        return first.found
    if any(_climbs(tape, box, start, target) for start in first.corners):
        return True
    boxes = first.open
    for _ in range(HALVINGS):
        if not boxes:
            return False
        looked = _look(tape, boxes.pop(0), target)
        if looked.found:
            return True
        boxes += looked.open
    return in_doubt and bool(boxes)


@dataclass(frozen=True, slots=True)
class _Looked:
    """Whether the target is surely reached in a box, or else the halves of it that may still reach it."""

    found: bool
    open: list[Box]
    corners: tuple[Point, ...] = ()


def _look(tape: Tape, box: Box, target: Interval) -> _Looked:
    slopes = tape.slopes(tape.ranges(box))
    lowest, highest = dict(box), dict(box)
    for variable, slope in slopes.items():
        if rising := slope.sign:
            ends = (Interval.at(box[variable].low), Interval.at(box[variable].high))
            lowest[variable], highest[variable] = ends if rising > 0 else ends[::-1]
    least, most = tape.ranges(lowest)[-1], tape.ranges(highest)[-1]
    if not Interval(least.low, most.high).meets(target):
        return _Looked(False, [])
    corners = tuple({variable: end.middle for variable, end in place.items()} for place in (lowest, highest, box))
    known = [value for corner in corners if not math.isnan(value := tape.value(corner))]
    if known and Interval(min(known), max(known)).meets(target):  # all between them is reached, too
        return _Looked(True, [])
    still = [variable for variable in box if lowest[variable].width > 0]
    if not still:
        return _Looked(False, [])
    widest = max(still, key=lambda variable: _weight(slopes.get(variable, ANYTHING), box[variable]))
    middle = box[widest].middle
    halves = (Interval(box[widest].low, middle), Interval(middle, box[widest].high))
    return _Looked(False, [{**box, widest: half} for half in halves], corners)


def _weight(slope: Interval, interval: Interval) -> float:
    return max(abs(slope.low), abs(slope.high)) * interval.width


def _climbs(tape: Tape, box: Box, start: Point, target: Interval) -> bool:
    """Whether going uphill, or downhill, from a place leads to the target, or past it."""
    here, value = start, tape.value(start)
    if math.isnan(value):
        return False
    up = value < target.low
    for _ in range(STEPS):
        better = next(_ahead(tape, box, here, value, up), None)
        if better is None:
            return False
        here, value = better
        if value >= target.low if up else value <= target.high:
            return True
    return False


def _ahead(tape: Tape, box: Box, here: Point, value: float, up: bool) -> Iterator[tuple[Point, float]]:
    """Better places on the way to the corner that the slopes at this place point to."""
    slopes = tape.slopes(tape.ranges({variable: Interval.at(number) for variable, number in here.items()}))
    corner: dict[Ref, float] = dict(here)
    for variable, slope in slopes.items():
        if slope.middle:
            rising = (slope.middle > 0) == up
            corner[variable] = box[variable].high if rising else box[variable].low
    for part in SHORTER:
        place = {variable: number + part * (corner[variable] - number) for variable, number in here.items()}
        found = tape.value(place)
        if found > value if up else found < value:
            yield place, found
