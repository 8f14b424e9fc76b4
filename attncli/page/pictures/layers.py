"""Where the boxes of a flow chart stand: in levels, with few crossings, near what they join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice, pairwise
from statistics import fmean
from typing import NamedTuple, TypeAlias

# Between two boxes side by side.
BETWEEN_BOXES = 26.0
# The room of an arrow that passes by a box.
LANE_WIDTH = 30.0
# No arrow leaves or reaches a box nearer to its corners.
CORNER = 8
# Around all boxes, so that their lines are seen whole.
MARGIN = 1
SWEEPS = 12
# How much more than a box an arrow that passes by wants its place, so that it is straight; and
# boxes one below the other, so that they stand in a column.
WEIGHT_OF_PASSING_ARROWS, WEIGHT_OF_COLUMNS = 8.0, 4.0

# A box by its name, or an arrow that passes through a level.
Spot: TypeAlias = str | tuple[str, str, int]
Order: TypeAlias = list[list[Spot]]


@dataclass(frozen=True)
class Layout:
    """The level of each box from the top, and its middle; where each arrow passes other levels."""

    levels: Mapping[str, int]
    middles: Mapping[Spot, float]
    arrows: tuple[tuple[str, str, tuple[tuple[int, float], ...]], ...]
    width: float

    def offset(self, source: str, target: str, width: float, most: float, *, out: bool) -> float:
        """How far from the middle of its box an arrow begins or ends.

        So the arrows of one box are side by side, in the order of where they go.
        """
        box = source if out else target
        ends: list[tuple[float, str, str]] = []
        for begin, end, between in self.arrows:
            here, there = (begin, end) if out else (end, begin)
            if here != box:
                continue
            if between:
                _, passing = between[0 if out else -1]
            else:
                passing = self.middles[there]
            ends.append((passing, begin, end))
        in_order = [(begin, end) for _, begin, end in sorted(ends)]
        from_middle = in_order.index((source, target)) - (len(ends) - 1) / 2
        return from_middle * min(most, (width - 2 * CORNER) / len(ends))


def lay_out(widths: Mapping[str, float], inputs: Mapping[str, Sequence[str]]) -> Layout:
    """The places of boxes of these widths.

    `inputs` are those that each is reached from, in an order that has no way back.

    >>> layout = lay_out({"Q": 10, "K": 10, "S": 20}, {"Q": [], "K": [], "S": ["Q", "K"]})
    >>> layout.levels
    {'Q': 0, 'K': 0, 'S': 1}
    """
    levels = _levels(inputs)
    order: Order = [[] for _ in range(max(levels.values()) + 1)]
    for name in inputs:
        order[levels[name]].append(name)
    pairs: list[tuple[str, str]] = []
    for target, sources in inputs.items():
        for source in sources:
            pairs.append((source, target))
    joints: list[tuple[Spot, Spot]] = []
    for source, target in pairs:
        between: list[Spot] = []
        for level in _passed(levels, source, target):
            spot = (source, target, level)
            order[level].append(spot)
            between.append(spot)
        joints += pairwise([source, *between, target])
    order = _with_few_crossings(order, joints)
    wide: dict[Spot, float] = {}
    for spots in order:
        for each in spots:
            wide[each] = widths[each] if isinstance(each, str) else LANE_WIDTH
    middles = _middles(order, joints, wide, _columns(levels, inputs))
    left = min(middles[spot] - wide[spot] / 2 for spot in middles) - MARGIN
    for spot_to_move in middles:
        middles[spot_to_move] -= left
    right = max(middles[spot] + wide[spot] / 2 for spot in middles) + MARGIN
    arrows: list[tuple[str, str, tuple[tuple[int, float], ...]]] = []
    for source, target in pairs:
        passing: list[tuple[int, float]] = []
        for level in _passed(levels, source, target):
            passing.append((level, middles[source, target, level]))
        arrows.append((source, target, tuple(passing)))
    return Layout(levels, middles, tuple(arrows), right)


def _passed(levels: Mapping[str, int], source: str, target: str) -> range:
    """The levels that an arrow passes through."""
    return range(levels[source] + 1, levels[target])


def _levels(inputs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The longest way to each box.

    One that nothing leads to stands right above the first that it leads to.
    """
    levels: dict[str, int] = {}
    for name, sources in inputs.items():
        below = [levels[source] for source in sources]
        levels[name] = 1 + max(below, default=-1)
    for name, sources in inputs.items():
        if sources:
            continue
        above: list[int] = []
        for other, read in inputs.items():
            if name in read:
                above.append(levels[other])
        levels[name] = min(above, default=1) - 1
    return levels


def _columns(
    levels: Mapping[str, int], inputs: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """Boxes that belong one below the other, by each of them.

    Such a box is the only one that the box above leads to, and whatever else right above leads to
    it is given.
    """
    readers = Counter(chain.from_iterable(inputs.values()))
    found: dict[str, list[str]] = {}
    for name, sources in inputs.items():
        above = [each for each in sources if inputs[each] and levels[each] == levels[name] - 1]
        column = [name]
        if len(above) == 1 and readers[above[0]] == 1:
            column = found[above[0]]
            column.append(name)
        found[name] = column
    return {name: column for name, column in found.items() if len(column) > 1}


def _with_few_crossings(order: Order, joints: Sequence[tuple[Spot, Spot]]) -> Order:
    """Each level in the order of what it is joined with, up and down; the best of all tries."""
    best = order
    fewest = _crossings(order, joints)
    for sweep in range(SWEEPS):
        is_even = sweep % 2 == 0
        order = _swept(order, joints, down=is_even)
        found = _crossings(order, joints)
        if found < fewest:
            best, fewest = order, found
    return best


def _swept(order: Order, joints: Sequence[tuple[Spot, Spot]], *, down: bool) -> Order:
    """Each level in the order of the level before it."""
    order = [list(level) for level in order]
    numbers = range(len(order))
    for number in numbers if down else reversed(numbers):
        other = number - 1 if down else number + 1
        beside = order[other] if other in numbers else []
        places = {spot: place for place, spot in enumerate(beside)}
        own = {spot: place for place, spot in enumerate(order[number])}
        key = partial(_mean, places=places, joints=joints, own=own)
        order[number] = sorted(order[number], key=key)
    return order


def _mean(
    spot: Spot,
    places: Mapping[Spot, float],
    joints: Sequence[tuple[Spot, Spot]],
    own: Mapping[Spot, float],
) -> float:
    """The mean place of what a spot is joined with; its own where that is nothing."""
    joined = _joined(spot, joints)
    found = [places[other] for other in joined if other in places]
    if not found:
        return own[spot]
    return fmean(found)


def _joined(spot: Spot, joints: Sequence[tuple[Spot, Spot]]) -> Iterator[Spot]:
    for begin, end in joints:
        if spot == begin:
            yield end
        elif spot == end:
            yield begin


def _crossings(order: Order, joints: Sequence[tuple[Spot, Spot]]) -> int:
    """How many pairs of arrows cross."""
    places = {spot: place for level in order for place, spot in enumerate(level)}
    level_of = {spot: number for number, level in enumerate(order) for spot in level}
    crossings = 0
    for (begin, end), (other_begin, other_end) in combinations(joints, 2):
        if level_of[begin] != level_of[other_begin]:
            continue
        above = places[begin] - places[other_begin]
        below = places[end] - places[other_end]
        if above * below < 0:
            crossings += 1
    return crossings


def _middles(
    order: Order,
    joints: Sequence[tuple[Spot, Spot]],
    wide: Mapping[Spot, float],
    columns: Mapping[str, Sequence[str]],
) -> dict[Spot, float]:
    """The middle of each spot: as near as there is room to the mean of what it is joined with.

    An arrow that passes by boxes wants one place for all of its spots, and wants it more than boxes
    do, so that it is straight. So does a column of boxes.
    """
    middles: dict[Spot, float] = {}
    weights: dict[Spot, float] = {}
    for level in order:
        for spot in level:
            weights[spot] = 1.0
            if spot in columns:
                weights[spot] = WEIGHT_OF_COLUMNS
            elif isinstance(spot, tuple):
                weights[spot] = WEIGHT_OF_PASSING_ARROWS
        middles |= _spaced(level, dict.fromkeys(level, 0.0), wide, weights)
    lanes: dict[tuple[str, str], list[Spot]] = {}
    for spot in middles:
        if isinstance(spot, tuple):
            lanes.setdefault(spot[:2], []).append(spot)
    for sweep in range(4 * SWEEPS):
        middle = fmean(middles.values())
        for level in order if sweep % 2 else order[::-1]:
            wanted: dict[Spot, float] = {}
            for spot in level:
                if isinstance(spot, tuple):
                    source, target, _ = spot
                    lane = [source, *lanes[source, target]]
                    wanted[spot] = _outermost([middles[each] for each in lane], middle)
                elif spot in columns:
                    wanted[spot] = _mean_of_column(columns[spot], middles, joints)
                else:
                    wanted[spot] = _mean(spot, middles, joints, middles)
            middles |= _spaced(level, wanted, wide, weights)
    return middles


def _outermost(places: Sequence[float], middle: float) -> float:
    """The one place of an arrow that passes by boxes: below its own box, or farther from the
    middle, so that it is straight, and no box stands in its way.
    """
    return max(places) if fmean(places) > middle else min(places)


def _mean_of_column(
    column: Sequence[str], middles: Mapping[Spot, float], joints: Sequence[tuple[Spot, Spot]]
) -> float:
    """The mean place of what the boxes of a column are joined with, besides each other."""
    outside = {spot: place for spot, place in middles.items() if spot not in column}
    means: list[float] = []
    for name in column:
        found = [outside[other] for other in _joined(name, joints) if other in outside]
        if found:
            means.append(fmean(found))
    return fmean(means) if means else middles[column[0]]


def _spaced(
    level: Sequence[Spot],
    wanted: Mapping[Spot, float],
    wide: Mapping[Spot, float],
    weights: Mapping[Spot, float],
) -> dict[Spot, float]:
    """The places nearest to those wanted, by squares, at which the spots of a level do not overlap.

    Without the room that all before it take, no spot may stand left of the one before. Neighbours
    that would do so become one block, which stands at the mean of what they want.
    """
    room = [0.0]
    for one, other in pairwise(level):
        between = (wide[one] + wide[other]) / 2 + BETWEEN_BOXES
        room.append(room[-1] + between)
    blocks: list[_Neighbours] = []
    for spot, before in zip(level, room, strict=True):
        block = _Neighbours(wanted[spot] - before, weights[spot], 1)
        while blocks and blocks[-1].mean > block.mean:
            block = block.joined(blocks.pop())
        blocks.append(block)
    middles = {}
    spots = zip(level, room, strict=True)
    for block in blocks:
        for spot, before in islice(spots, block.number):
            middles[spot] = block.mean + before
    return middles


class _Neighbours(NamedTuple):
    """Spots that stand as near to each other as they may, and the mean of what they want."""

    mean: float
    weight: float
    number: int

    def joined(self, other: _Neighbours) -> _Neighbours:
        weight = self.weight + other.weight
        mean = (self.mean * self.weight + other.mean * other.weight) / weight
        return _Neighbours(mean, weight, self.number + other.number)
