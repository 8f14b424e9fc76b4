"""Whether a cell can come out as written, when the numbers it is worked out from lie anywhere
within what they claim.

A cell's equation is an expression over variables, each with its range. Where every variable stands
in it once, the range of the expression is exact. Where one stands in it several times, as a score
in a softmax, slopes tell which ends of its range lead to the least and to the greatest value. A
climb looks for a place that gives what is written. Where there seems to be none, and it has to be
shown that there is none, the ranges are halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from attncli.equation.error_bounds import slopes
from attncli.equation.functions import FUNCTIONS
from attncli.equation.intervals import ANYTHING, ONE, ZERO, Interval, add
from attncli.equation.nodes import Call, Expression, Number, Ref

# What each variable may be.
Ranges = Mapping[Ref, Interval]
# What each variable is, at one place within the ranges.
Point = Mapping[Ref, float]
# After so many parts of the ranges it is left open whether a cell can be reached.
HALVINGS = 100
# So many nodes are worked out to show that numbers of one solution cannot be reached: for some ten
# cells of a small problem, in about a second.
NODES_IN_PARTS = 200_000
# A cell takes no more than one in so many of those that are left: one that has a long equation
# leaves some for the others.
CELLS_THAT_SHARE = 10
STEPS_OF_A_CLIMB = 12
# Each step tries so much of the way to a corner, and the first that leads higher is taken.
PARTS_OF_THE_WAY = (1.0, 0.5, 0.2)


@dataclass(frozen=True, slots=True)
class ExpressionGraph:
    """An expression as a list of nodes, each after its arguments, so that one used several times is
    worked out once.

    The last node is the expression itself; `arguments` has, for every node, the places of its
    arguments in the list.
    """

    nodes: tuple[Expression, ...]
    arguments: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: Expression) -> ExpressionGraph:
        """Raises TypeError for a node that has no range."""
        nodes: list[Expression] = []
        arguments: list[tuple[int, ...]] = []
        # By the node itself: one node may stand in many places of the tree.
        known: dict[int, int] = {}
        # By its name and indices: several nodes may write the same cell.
        cells: dict[Ref, int] = {}

        def place(node: Expression) -> int:
            at = known.get(id(node))
            if at is None:
                at = cells.get(node) if isinstance(node, Ref) else None
                if at is None:
                    at = listed(node)
                known[id(node)] = at
            return at

        def listed(node: Expression) -> int:
            if not isinstance(node, Number | Ref | Call):
                raise TypeError(f"no range of {node!r}")
            inner = tuple(map(place, node.arguments)) if isinstance(node, Call) else ()
            nodes.append(node)
            arguments.append(inner)
            if isinstance(node, Ref):
                cells[node] = len(nodes) - 1
            return len(nodes) - 1

        place(tree)
        return cls(tuple(nodes), tuple(arguments))

    @property
    def repeats(self) -> bool:
        """Whether anything that may vary is used more than once."""
        varies = [isinstance(node, Ref) for node in self.nodes]
        used = [0] * len(self.nodes)
        for at, inner in enumerate(self.arguments):
            varies[at] = varies[at] or any(varies[each] for each in inner)
            for each in inner:
                used[each] += 1
        times_used = zip(used, varies, strict=True)
        return any(times > 1 for times, may_vary in times_used if may_vary)

    def node_ranges(self, ranges: Ranges) -> list[Interval]:
        """Where every node may lie."""
        found: list[Interval] = []
        for node, inner in zip(self.nodes, self.arguments, strict=True):
            if isinstance(node, Call):
                of = FUNCTIONS[node.function].interval
                found.append(of(*[found[each] for each in inner]))
            else:
                found.append(ranges[node] if isinstance(node, Ref) else Interval.at(_number(node)))
        return found

    def slopes(self, node_ranges: list[Interval]) -> dict[Ref, Interval]:
        """How fast the tree changes with each variable, where its nodes lie in these ranges:
        backwards from the end.
        """
        rates: list[Interval | None] = [None] * len(self.nodes)
        rates[-1] = ONE
        for at in reversed(range(len(self.nodes))):
            node, rate = self.nodes[at], rates[at]
            if rate is None or not isinstance(node, Call):
                continue
            grown = slopes(node.function, [node_ranges[each] for each in self.arguments[at]], rate)
            for each, grow in zip(self.arguments[at], grown, strict=True):
                if grow != ZERO:
                    before = rates[each]
                    rates[each] = grow if before is None else add(before, grow)
        return {
            node: rate or ZERO
            for node, rate in zip(self.nodes, rates, strict=True)
            if isinstance(node, Ref)
        }

    def value(self, point: Point) -> float:
        """What the tree is at one point; NaN where that is nothing."""
        found: list[float | bool] = []
        for node, inner in zip(self.nodes, self.arguments, strict=True):
            if isinstance(node, Ref):
                found.append(point[node])
                continue
            if not isinstance(node, Call):
                found.append(_number(node))
                continue
            operands = [found[each] for each in inner]
            try:
                result = FUNCTIONS[node.function].scalar(*operands)
                # Conditions are joined by `and`, which takes no numbers.
                found.append(result if isinstance(result, bool) else float(result))
            except (ArithmeticError, ValueError):
                return math.nan
        return float(found[-1])


def _number(node: Expression) -> float:
    """The value of a number as it is printed."""
    assert isinstance(node, Number)
    return float(node.value) if node.value is not None else float(node.text)


@dataclass(slots=True)
class Effort:
    """How many nodes may still be worked out to show that numbers of a solution are out of reach.

    A limit for each cell would not do: the more heads and rows a problem has, the more cells there
    are, and the longer are their equations.
    """

    nodes: int = NODES_IN_PARTS


@dataclass(frozen=True)
class CellEquation:
    """The equation of one cell with numbers put in; `range_of` says what each written cell in it
    may be.
    """

    tree: Expression
    range_of: Callable[[Ref], Interval]

    @property
    def exact(self) -> bool:
        """Whether nothing that is written in it has been rounded, so that it comes to one number
        only.
        """
        return all(range.width == 0 for range in self.ranges.values())

    @cached_property
    def graph(self) -> ExpressionGraph:
        """The tree, each part of it once."""
        return ExpressionGraph.of(self.tree)

    @cached_property
    def ranges(self) -> Ranges:
        """What each written cell may be, in the order in which they stand in the tree."""
        return {node: self.range_of(node) for node in self.graph.nodes if isinstance(node, Ref)}

    def with_ranges(self, ranges: Ranges) -> CellEquation:
        """The same equation where some of its cells may be something else."""
        other = CellEquation(self.tree, self.range_of)
        # The graph stays, with all that is kept of it: only the ranges are others.
        vars(other).update(graph=self.graph, ranges={**self.ranges, **ranges})
        return other

    @cached_property
    def range(self) -> Interval:
        """Where the cell may lie: never less than that, and no more where each variable stands in
        its tree once.
        """
        return self.graph.node_ranges(self.ranges)[-1]

    def reaches(self, target: Interval) -> bool:
        """Whether a place within the ranges is found that gives a value within the target.

        Of 0.58 and 0.3 as written, 0.58 may be 0.575 to 0.585, and 0.3 may be 0.25 to 0.35. So
        0.58·0.3 reaches 0.15, which is 0.145 to 0.155, and does not reach 0.21.
        """
        return self._look_for(target).found

    def may_reach(self, target: Interval, effort: Effort) -> bool:
        """Whether there is such a place, or the `effort` does not show that there is none."""
        first = self._look_for(target)
        return first.found or not self._is_out_of_reach(first.open, target, effort)

    def _look_for(self, target: Interval) -> _Search:
        """Whether a corner of the ranges, or a climb from there, gives a value within the target.

        Only what halves the ranges has to do is left open.
        """
        if not self.range.meets(target):
            return _Search(False, [])
        if self.range != ANYTHING and not self.graph.repeats:
            return _Search(True, [])
        first = _search(self.graph, self.ranges, target)
        if not first.open:
            return first
        if any(_can_climb(self.graph, self.ranges, start, target) for start in first.corners):
            return _Search(True, [])
        return first

    def _is_out_of_reach(self, parts: list[Ranges], target: Interval, effort: Effort) -> bool:
        """Whether none of these parts of the ranges, halved again and again, has such a place."""
        waiting = list(parts)
        nodes = len(self.graph.nodes)
        halvings = min(HALVINGS, effort.nodes // CELLS_THAT_SHARE // nodes)
        for _ in range(halvings):
            if not waiting:
                break
            effort.nodes -= nodes
            searched = _search(self.graph, waiting.pop(0), target)
            if searched.found:
                return False
            waiting += searched.open
        return not waiting


@dataclass(frozen=True, slots=True)
class _Search:
    """Whether the target is surely reached within ranges, or else the halves of them that may still
    reach it.
    """

    found: bool
    open: list[Ranges]
    corners: tuple[Point, ...] = ()


def _middles(ranges: Ranges) -> dict[Ref, float]:
    return {variable: interval.middle for variable, interval in ranges.items()}


def _search(graph: ExpressionGraph, ranges: Ranges, target: Interval) -> _Search:
    slopes = graph.slopes(graph.node_ranges(ranges))
    lowest, highest = dict(ranges), dict(ranges)
    for variable, slope in slopes.items():
        low = Interval.at(ranges[variable].low)
        high = Interval.at(ranges[variable].high)
        if slope.sign > 0:
            lowest[variable], highest[variable] = low, high
        elif slope.sign < 0:
            lowest[variable], highest[variable] = high, low
    least = graph.node_ranges(lowest)[-1]
    most = graph.node_ranges(highest)[-1]
    if not Interval(least.low, most.high).meets(target):
        return _Search(False, [])
    corners = (_middles(lowest), _middles(highest), _middles(ranges))
    values = [graph.value(corner) for corner in corners]
    known = [value for value in values if not math.isnan(value)]
    # An equation has no gaps, so all between the two ends is reached, too.
    if known and Interval(min(known), max(known)).meets(target):
        return _Search(True, [])
    still = [variable for variable in ranges if lowest[variable].width > 0]
    if not still:
        return _Search(False, [])

    def weight(variable: Ref) -> float:
        """How much of the range of the cell this variable makes, at most."""
        slope = slopes.get(variable, ANYTHING)
        return max(abs(slope.low), abs(slope.high)) * ranges[variable].width

    heaviest = max(still, key=weight)
    whole = ranges[heaviest]
    halves = (Interval(whole.low, whole.middle), Interval(whole.middle, whole.high))
    return _Search(False, [{**ranges, heaviest: half} for half in halves], corners)


def _can_climb(graph: ExpressionGraph, ranges: Ranges, start: Point, target: Interval) -> bool:
    """Whether going uphill, or downhill, from a place leads to the target, or past it."""
    here, value = start, graph.value(start)
    if math.isnan(value):
        return False
    up = value < target.low
    for _ in range(STEPS_OF_A_CLIMB):
        better = next(_uphill(graph, ranges, here, value, up), None)
        if better is None:
            return False
        here, value = better
        arrived = value >= target.low if up else value <= target.high
        if arrived:
            return True
    return False


def _uphill(
    graph: ExpressionGraph, ranges: Ranges, here: Point, value: float, up: bool
) -> Iterator[tuple[Point, float]]:
    """Better places on the way to the corner that the slopes at this place point to."""
    exactly_here = {variable: Interval.at(number) for variable, number in here.items()}
    slopes = graph.slopes(graph.node_ranges(exactly_here))
    corner: dict[Ref, float] = dict(here)
    for variable, slope in slopes.items():
        if slope.middle:
            rising = (slope.middle > 0) == up
            corner[variable] = ranges[variable].high if rising else ranges[variable].low
    for part in PARTS_OF_THE_WAY:
        place = {
            variable: number + part * (corner[variable] - number)
            for variable, number in here.items()
        }
        found = graph.value(place)
        is_better = found > value if up else found < value
        if is_better:
            yield place, found
