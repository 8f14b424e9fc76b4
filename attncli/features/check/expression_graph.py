"""A tree laid out as a list of steps, each node that stands in it several times worked out once; values and slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from attncli.equation.error_bounds import slopes
from attncli.equation.functions import FUNCTIONS
from attncli.equation.intervals import ONE, ZERO, Interval, add
from attncli.equation.nodes import Call, Expression, Number, Ref

Box = Mapping[Ref, Interval]  # what each variable may be
Point = Mapping[Ref, float]


@dataclass(frozen=True, slots=True)
class Tape:
    """The nodes of a tree, each after its arguments, the tree itself last; `arguments` are the places of those."""

    nodes: tuple[Expression, ...]
    arguments: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: Expression) -> Tape:
        """Raises TypeError for a node that has no range."""
        nodes: list[Expression] = []
        arguments: list[tuple[int, ...]] = []
        known: dict[int | Ref, int] = {}  # by the node itself, which may stand in the tree in many places

        def place(node: Expression) -> int:
            key = node if isinstance(node, Ref) else id(node)
            if key not in known:
                if not isinstance(node, Number | Ref | Call):
                    raise TypeError(f"no range of {node!r}")
                inner = tuple(map(place, node.arguments)) if isinstance(node, Call) else ()
                nodes.append(node)
                arguments.append(inner)
                known[key] = len(nodes) - 1
            return known[key]

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
        return any(count > 1 for count, vary in zip(used, varies, strict=True) if vary)

    def ranges(self, box: Box) -> list[Interval]:
        """Where every node may lie."""
        found: list[Interval] = []
        for node, inner in zip(self.nodes, self.arguments, strict=True):
            if isinstance(node, Call):
                of = FUNCTIONS[node.function].interval
                if of is None:
                    raise TypeError(f"no range of {node!r}")
                found.append(of(*[found[each] for each in inner]))
            else:
                found.append(box[node] if isinstance(node, Ref) else Interval.at(literal(node)))
        return found

    def slopes(self, ranges: list[Interval]) -> dict[Ref, Interval]:
        """How fast the tree changes with each variable, where its nodes lie in these ranges: backwards from the end."""
        rates: list[Interval | None] = [None] * len(self.nodes)
        rates[-1] = ONE
        for at in reversed(range(len(self.nodes))):
            node, rate = self.nodes[at], rates[at]
            if rate is None or not isinstance(node, Call):
                continue
            grown = slopes(node.function, [ranges[each] for each in self.arguments[at]], rate)
            for each, grow in zip(self.arguments[at], grown, strict=True):
                if grow != ZERO:
                    before = rates[each]
                    rates[each] = grow if before is None else add(before, grow)
        return {node: rate or ZERO for node, rate in zip(self.nodes, rates, strict=True) if isinstance(node, Ref)}

    def value(self, point: Point) -> float:
        """What the tree is at one point; NaN where that is nothing."""
        found: list[float] = []
        for node, inner in zip(self.nodes, self.arguments, strict=True):
            if isinstance(node, Call):
                try:
                    found.append(float(FUNCTIONS[node.function].scalar(*[found[each] for each in inner])))
                except (ArithmeticError, ValueError):
                    return math.nan
            else:
                found.append(point[node] if isinstance(node, Ref) else literal(node))
        return found[-1]


def literal(node: Expression) -> float:
    """The value of a number as it is printed."""
    assert isinstance(node, Number)
    return float(node.value) if node.value is not None else float(node.text)
