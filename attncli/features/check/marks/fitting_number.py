"""The number from which others follow: what may have stood where a cell has another one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from attncli.answers.model import Claim
from attncli.equation.intervals import Interval
from attncli.equation.nodes import Expression, Ref, rewrite
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of
from attncli.features.check.marks.slips_before import named_tree
from attncli.features.check.reachability import ExpressionGraph

# How many halves of a unit cells may be off: those that they are worked out from are rounded, too.
ROOM = 2.0
# How far off the number is looked for, in powers of 2 of its own size.
_POWERS = range(-4, 7)
# Each turn leaves so much of where the number may be.
_GOLDEN = (math.sqrt(5) - 1) / 2
_TURNS = 45
_CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class FittingNumber:
    """About the number that gives some cells. It is `open` if all larger ones, or all smaller ones,
    give them as well: weights of 1 and 0 only say that one score was far above the others.
    """

    value: float
    open: bool


def fitting_number(
    values: CellValues, ref: Ref, step: str, cells: Sequence[CellIndex]
) -> FittingNumber | None:
    """The number that gives all of these cells of a step in the place of one that it reads; None if
    there is none.

    Each cell grows or falls with the number, as sums, products and shares do.
    """
    readers = [_cell_that_reads(values, ref, step, cell) for cell in cells]

    def off(number: float) -> float:
        return max(reader.off(number) for reader in readers)

    written = values.written(ref.name, cell_of(ref))
    assert written is not None
    middle = float(written.value)
    size = max(1.0, abs(middle))
    apart = [size * 2.0**power for power in _POWERS]
    tried = [*(middle - each for each in reversed(apart)), middle, *(middle + e for e in apart)]
    with np.errstate(all="ignore"):
        offs = [off(number) for number in tried]
        nearest = offs.index(min(offs))
        least, most = tried[max(0, nearest - 1)], tried[min(len(tried) - 1, nearest + 1)]
        found = _least(off, least, most)
        if off(found) > ROOM:
            return None
    return FittingNumber(found, open=min(offs[0], offs[-1]) <= ROOM)


def _least(off: Callable[[float], float], least: float, most: float) -> float:
    """Where between two numbers a function is least, that first falls and then grows."""
    for _ in range(_TURNS):
        reach = _GOLDEN * (most - least)
        if off(most - reach) <= off(least + reach):
            most = least + reach
        else:
            least = most - reach
    return (least + most) / 2


@dataclass(frozen=True, slots=True)
class _CellThatReads:
    """A cell that reads the number, by its equation, and what was written in it."""

    graph: ExpressionGraph
    others: dict[Ref, float]
    changed: Ref
    claim: Claim

    def off(self, number: float) -> float:
        """How far off the cell is with a number, in halves of a unit."""
        result = self.graph.value(self.others | {self.changed: number})
        if math.isnan(result):
            return math.inf
        # A half of hundreds of decimals is 0 as a float.
        half = float(self.claim.half) or sys.float_info.min
        return abs(result - float(self.claim.value)) / half


def _cell_that_reads(values: CellValues, ref: Ref, step: str, cell: CellIndex) -> _CellThatReads:
    changed = Ref(ref.name, (*ref.indices, _CHANGED))

    def put(node: Expression) -> Expression:
        if not isinstance(node, Ref) or node.name not in values.trace.steps:
            return node
        if node == ref:
            return changed
        is_given = values.trace.steps[node.name].rule.given
        if is_given or values.written(node.name, cell_of(node)) is not None:
            return node
        return rewrite(named_tree(values, node.name, cell_of(node)), put)

    tree = rewrite(named_tree(values, step, cell), put)
    equation = values.equation_of(tree, {changed: Interval.at(0.0)})
    others = {read: range.middle for read, range in equation.ranges.items()}
    claim = cast("Claim", values.answers.steps[step].cells[cell])
    return _CellThatReads(equation.graph, others, changed, claim)
