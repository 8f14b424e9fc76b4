"""The cells of a solution as one graph: what several of them are worked out from is in it once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call, Expression, Number, Ref
from attncli.features.check.cell_values import CellValues, cell_of
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.marks.slips_before import named_tree

# What a node comes to: conditions are true or false.
_Result: TypeAlias = float | bool


@dataclass(frozen=True, slots=True)
class _Node:
    """A function of what stands at some places of the graph."""

    function: Callable[..., Any]
    arguments: tuple[int, ...]


@dataclass(eq=False)
class SharedGraph:
    """The cells of a solution, in floats. Where others read a cell, there stands what was written
    in it, or else its equation.

    A node comes after its arguments. So another number in the place of one changes nodes behind it,
    and no others.
    """

    values: CellValues
    _nodes: list[_Node | None] = field(default_factory=list)
    _results: list[_Result] = field(default_factory=list)
    _read_by: list[list[int]] = field(default_factory=list)
    _places: dict[WrongCell, int] = field(default_factory=dict)
    _equations: dict[WrongCell, int] = field(default_factory=dict)

    def by_number(self, ref: Ref, cells: Sequence[WrongCell]) -> Callable[[float], list[float]]:
        """What these cells come to by their equations, with another number in the place of one that
        they read; each is NaN where that is nothing.
        """
        changed = self._place((ref.name, cell_of(ref)))
        ends = [self._equation(cell) for cell in cells]
        between = self._between(changed, {*ends})

        def results(number: float) -> list[float]:
            found = self._results.copy()
            found[changed] = number
            for at, node in between:
                found[at] = _result(node, found)
            at_ends = [found[end] for end in ends]
            return [*map(float, at_ends)]

        return results

    def number(self, ref: Ref) -> float:
        """What stands in the place of a cell that others read."""
        return float(self._results[self._place((ref.name, cell_of(ref)))])

    def _between(self, changed: int, ends: Set[int]) -> list[tuple[int, _Node]]:
        """The nodes that read one, and that the ends are worked out from, in order."""
        behind = {changed}
        waiting = [changed]
        while waiting:
            new = set(self._read_by[waiting.pop()]) - behind
            behind |= new
            waiting += new
        found = []
        needed = {*ends}
        for at in sorted(behind - {changed}, reverse=True):
            node = self._nodes[at]
            if at in needed and node is not None:
                needed.update(node.arguments)
                found.append((at, node))
        return found[::-1]

    def _place(self, cell: WrongCell) -> int:
        """Where a cell stands that others read."""
        if cell not in self._places:
            claim = self.values.written(*cell)
            at = self._equation(cell) if claim is None else self._add(None, float(claim.value))
            self._places[cell] = at
        return self._places[cell]

    def _equation(self, cell: WrongCell) -> int:
        if cell not in self._equations:
            tree = named_tree(self.values, *cell)
            self._equations[cell] = self._add_tree(tree)
        return self._equations[cell]

    def _add_tree(self, tree: Expression) -> int:
        if isinstance(tree, Ref):
            cell = tree.name, cell_of(tree)
            return self._place(cell)
        if isinstance(tree, Number):
            exact = tree.text if tree.value is None else tree.value
            number = float(exact)
            return self._add(None, number)
        assert isinstance(tree, Call)
        function = FUNCTIONS[tree.function].scalar
        arguments = tuple(map(self._add_tree, tree.arguments))
        node = _Node(function, arguments)
        result = _result(node, self._results)
        at = self._add(node, result)
        for argument in arguments:
            self._read_by[argument].append(at)
        return at

    def _add(self, node: _Node | None, result: _Result) -> int:
        self._nodes.append(node)
        self._results.append(result)
        self._read_by.append([])
        return len(self._nodes) - 1


def _result(node: _Node, results: Sequence[_Result]) -> _Result:
    operands = [results[at] for at in node.arguments]
    try:
        result = node.function(*operands)
    except (ArithmeticError, ValueError):
        return math.nan
    # Conditions are joined by `and`, which takes no numbers.
    return result if isinstance(result, bool) else float(result)
