"""Numbers that are as they should be if the steps that were left out were rounded on the way.

Who works on paper rounds each step, also those that are not written. How that was done is not to be
seen: half up, half to even, to more decimals, or not at all. So each number of such a step lies
between what it comes to and what that is rounded, and is the same one wherever it is read.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from attncli.answers.model import Claim
from attncli.equation.intervals import ZERO, Interval, add
from attncli.equation.nodes import Call, Expression, Ref, rewrite
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of, interval, ref_to
from attncli.features.check.reachability import CellEquation
from attncli.features.check.trials import (
    leaves_out,
)
from attncli.features.check.verdicts import (
    JudgedCell,
    Judgement,
    indices_where,
    is_coarse_as_before,
    rounds_to,
)
from attncli.tracing.model import Trace

# In units: so near to a half, a number may be rounded either way.
NEAR_A_HALF = 1e-9
# One decimal more is a unit of so many parts.
PARTS_OF_A_UNIT = 10
_ROUNDED = "rounded"


def rounded_between(judgement: Judgement) -> dict[str, set[CellIndex]]:
    """The wrong cells of each step that rounding on the way explains."""
    found = {}
    between = ExplainedByRounding(judgement)
    for name, cells in judgement.steps.items():
        explained = set()
        for index in indices_where(cells, "wrong"):
            if not between.explains(name, index):
                continue
            # As coarse as what it follows from, it was not rounded as was asked.
            cell = cells[index]
            if not is_coarse_as_before(judgement.values, judgement.steps, name, index, cell):
                explained.add(index)
        if explained:
            found[name] = explained
    return found


@dataclass(frozen=True)
class ExplainedByRounding:
    """What rounding the steps that were left out explains in a solution."""

    judgement: Judgement
    # By half a unit of what is written.
    _readings: dict[float, RoundedBetween] = field(default_factory=dict)

    def explains(self, name: str, index: CellIndex) -> bool:
        """Whether a number is as it was written if steps before it were left out, and rounded."""
        values = self.judgement.values
        if values.trace.steps[name].rule.given or not leaves_out(values, name):
            return False
        cell = cast("JudgedCell", self.judgement.steps[name][index])
        claim = cell.given
        if claim is None or claim.exact or not math.isfinite(cell.own):
            return False
        half = float(claim.half)
        reading = self._readings.setdefault(half, RoundedBetween(values, half))
        return reading.gives(name, index, claim)


@dataclass(frozen=True)
class RoundedBetween:
    """The steps that were left out, each number off by what rounding to `half` a unit does to it.

    What is written was read as it stands, or before it was rounded. `before` is the same without
    the changes by which the values have moved.
    """

    values: CellValues
    half: float
    before: RoundedBetween | None = None
    # Where each number lies that is read, and how far each rounding may be off.
    _ranges: dict[Ref, Interval] = field(default_factory=dict)
    # Each number as an equation over what is written and the roundings on the way to it.
    _trees: dict[Ref, Expression] = field(default_factory=dict)
    _equations: dict[Ref, CellEquation] = field(default_factory=dict)

    def gives(self, name: str, index: CellIndex, claim: Claim | None = None) -> bool:
        """Whether a cell may be as it was written, or as another claim has it."""
        if claim is None:
            claim = cast("Claim", self.values.answers.steps[name].cells[index])
        # Who rounds a step first has other numbers to begin with.
        if self.values.trace.steps[name].rule.given:
            return rounds_to(self.values.true(name, index), claim)
        target = interval(claim)
        # An equation of positions or of truths has no range.
        try:
            # Most mistakes are ruled out by where the numbers lie that are read.
            cell = ref_to(name, index)
            if not self._equation(cell).range.meets(target):
                return False
            return CellEquation(self._tree_of(cell), self._range).reaches(target)
        except TypeError:
            return False

    def number(self, name: str, index: CellIndex) -> Decimal:
        """What a cell comes to if nothing is rounded."""
        return self.values.own(name, index)

    def width(self, name: str, index: CellIndex) -> float:
        """How far apart the numbers are, at most, that a cell may be."""
        if self.values.trace.steps[name].rule.given:
            return 0.0
        return self._equation(ref_to(name, index)).range.width

    def changed(self, trace: Trace, changes: Collection[str]) -> RoundedBetween:
        """The same for a trace with these steps changed."""
        return RoundedBetween(self.values.changed(trace, changes), self.half, self)

    def _unmoved(self, ref: Ref) -> RoundedBetween | None:
        """The reading that has this number already, if no change has moved it."""
        return None if ref.name in self.values.moved else self.before

    def _equation(self, ref: Ref) -> CellEquation:
        """A cell over the numbers that it reads, as if each were off by itself."""
        if ref not in self._equations:
            tree = self.values.tree(ref.name, cell_of(ref), self._read)
            self._equations[ref] = CellEquation(tree, self._range)
        return self._equations[ref]

    def _read(self, name: str, index: CellIndex) -> Expression:
        return ref_to(name, index) if name in self.values.trace else self.values.read(name, index)

    def _tree_of(self, ref: Ref) -> Expression:
        """A cell over what is written and the roundings on the way to it: a number that is read in
        several places is off there by the same.
        """

        def put(node: Expression) -> Expression:
            return self._tree(node) if isinstance(node, Ref) else node

        return rewrite(self._equation(ref).tree, put)

    def _tree(self, ref: Ref) -> Expression:
        if before := self._unmoved(ref):
            return before._tree(ref)
        if ref not in self._trees:
            self._trees[ref] = self._worked(ref)
        return self._trees[ref]

    def _worked(self, ref: Ref) -> Expression:
        if self.values.written(ref.name, cell_of(ref)) is not None:
            return ref
        tree = self._tree_of(ref)
        rounding = _rounding_of(ref)
        if self._range(rounding) == ZERO:
            return tree
        return Call("add", (tree, rounding))

    def _range(self, ref: Ref) -> Interval:
        if before := self._unmoved(ref):
            return before._range(ref)
        if ref not in self._ranges:
            self._ranges[ref] = self._found(ref)
        return self._ranges[ref]

    def _found(self, ref: Ref) -> Interval:
        """Where a number lies, or how far a rounding may be off."""
        if _ROUNDED in ref.indices:
            number = Ref(ref.name, ref.indices[:-1])
            return self._room_of_rounding(number)
        claim = self.values.written(ref.name, cell_of(ref))
        if claim is not None:
            return self._before_it_was_written(ref, claim)
        exact = self._equation(ref).range
        return add(exact, self._range(_rounding_of(ref)))

    def _before_it_was_written(self, ref: Ref, claim: Claim) -> Interval:
        """A number as it was written, or what it was before that."""
        index, values = cell_of(ref), [claim.value]
        for number in (self.values.own(ref.name, index), self.values.true(ref.name, index)):
            if number.is_finite() and rounds_to(number, claim):
                values.append(number)
        return Interval(float(min(values)), float(max(values)))

    def _room_of_rounding(self, ref: Ref) -> Interval:
        """What rounding adds to a number, with as many decimals or one more: nothing where there is
        nothing to round.
        """
        rule = self.values.trace.steps[ref.name].rule
        exact = self._equation(ref).range
        if rule.is_copy or rule.only_hides or not math.isfinite(exact.width):
            return ZERO
        unit = 2 * self.half
        # Of so large a number, as an exponential may be, rounding changes nothing.
        if not math.isfinite(max(abs(exact.low), abs(exact.high)) / unit):
            return ZERO
        least = math.floor(exact.low / unit + 0.5 - NEAR_A_HALF)
        most = math.floor(exact.high / unit + 0.5 + NEAR_A_HALF)
        if least != most:
            return Interval(-self.half, self.half)
        down, up = least * unit - exact.high, least * unit - exact.low
        if max(abs(down), abs(up)) <= NEAR_A_HALF * unit:
            return ZERO
        with_more_decimals = self.half / PARTS_OF_A_UNIT
        return Interval(min(down, -with_more_decimals), max(up, with_more_decimals))


def _rounding_of(ref: Ref) -> Ref:
    """What rounding adds to a number."""
    return Ref(ref.name, (*ref.indices, _ROUNDED))
