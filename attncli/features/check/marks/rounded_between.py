"""Numbers that are as they should be if the steps that were left out were rounded on the way.

Who works on paper rounds each step, also those that are not written. How that was done is not to be
seen: half up, half to even, to more decimals. So each number of such a step may be anywhere within
half a unit of what it comes to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from attncli.equation.intervals import Interval
from attncli.equation.nodes import Expression, Ref, walk
from attncli.features.check.cell_values import (
    CellIndex,
    CellValues,
    cell_of,
    interval,
    ref_to,
)
from attncli.features.check.diagnosis import leaves_out
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where


def rounded_between(judgement: Judgement) -> dict[str, set[CellIndex]]:
    """The wrong cells of each step that rounding on the way explains."""
    found = {}
    for name, cells in judgement.steps.items():
        wrong = indices_where(cells, "wrong")
        rule = judgement.trace.steps[name].rule
        if rule.given or not wrong or not leaves_out(judgement.values, name):
            continue
        explained = set()
        for index in wrong:
            if _is_explained(judgement.values, name, index, cells[index]):
                explained.add(index)
        if explained:
            found[name] = explained
    return found


def _is_explained(values: CellValues, name: str, index: CellIndex, cell: JudgedCell) -> bool:
    claim = cell.given
    if claim is None or claim.exact or not math.isfinite(cell.own):
        return False
    between = _Between(values, float(claim.half))
    tree = between.tree(name, index)
    try:
        equation = values.equation_of(tree, between.ranges_of(tree))
    # An equation of positions or of truths has no range.
    except TypeError:
        return False
    return equation.reaches(interval(claim))


@dataclass(frozen=True)
class _Between:
    """The steps that were left out, each number with `half` a unit of room."""

    values: CellValues
    half: float
    _found: dict[Ref, Interval] = field(default_factory=dict)

    def tree(self, name: str, index: CellIndex) -> Expression:
        """The equation of a cell over the cells of other steps."""

        def read(other: str, at: CellIndex) -> Expression:
            if other in self.values.trace:
                return ref_to(other, at)
            return self.values.read(other, at)

        return self.values.tree(name, index, read)

    def ranges_of(self, tree: Expression) -> dict[Ref, Interval]:
        """Where those cells of an equation may lie that were left out."""
        refs = [node for node in walk(tree) if isinstance(node, Ref)]
        return {ref: self._range(ref) for ref in refs if self._is_left_out(ref)}

    def _is_left_out(self, ref: Ref) -> bool:
        if self.values.trace.steps[ref.name].rule.given:
            return False
        return self.values.written(ref.name, cell_of(ref)) is None

    def _range(self, ref: Ref) -> Interval:
        if ref not in self._found:
            self._found[ref] = self._worked(ref)
        return self._found[ref]

    def _worked(self, ref: Ref) -> Interval:
        own = float(self.values.own(ref.name, cell_of(ref)))
        if not math.isfinite(own):
            return Interval.at(own)
        tree = self.tree(ref.name, cell_of(ref))
        exact = self.values.equation_of(tree, self.ranges_of(tree)).range
        rule = self.values.trace.steps[ref.name].rule
        is_exact = exact.width == 0 and own == math.floor(own)
        if rule.is_copy or rule.only_hides or is_exact:
            return exact
        return Interval(exact.low - self.half, exact.high + self.half)
