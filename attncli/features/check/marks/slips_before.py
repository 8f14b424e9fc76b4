"""A slip in one number that is not written, such as one of Q, which shows in a row of the scores.

It is one slip, however many numbers follow from it. Who writes the number down has one, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from attncli.answers.model import Claim
from attncli.equation.intervals import Interval
from attncli.equation.nodes import Expression, Ref, rewrite, walk
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of, interval, ref_to
from attncli.features.check.reachability import CellEquation
from attncli.features.check.single_cell_errors import MOST_NUMBERS_READ, cell_text
from attncli.features.check.verdicts import Judgement, indices_where

# One wrong number is a slip of its own.
FEWEST_CELLS = 2
# In a step with more, something else is wrong, and the work would take too long.
MOST_CELLS = 40
# Less than this is no effect.
LEAST_EFFECT = 1e-9
_CHANGED = "changed"
# By how much a number is changed to see what it gives.
_APART = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class SlipBefore:
    """The `cell` of a step that is not written, such as Q[1][0]: with another number in it, these
    `cells` of a `step` are as they were written.

    It is `sure` if all others that are worked out from it, and are not wrong, are as they were
    written, too. Where they deny it, it still excuses: who mends a number loses no marks. In
    `denied_by` is what it would make of these others.
    """

    cell: str
    step: str
    cells: tuple[CellIndex, ...]
    denied_by: Mapping[CellIndex, float]

    @property
    def sure(self) -> bool:
        return not self.denied_by


def slips_before(
    judgement: Judgement, wrong: Mapping[str, tuple[CellIndex, ...]], fewest: int = FEWEST_CELLS
) -> Iterator[SlipBefore]:
    """The numbers not written, each of which alone gives two or more of the wrong cells, or the
    `fewest` that count.
    """
    steps = judgement.trace.steps
    for step, cells in wrong.items():
        # What was copied wrong from the problem follows from no other number.
        if steps[step].rule.given:
            continue
        if not fewest <= len(cells) <= MOST_CELLS:
            continue
        yield from _slips_in(judgement, step, cells, fewest)


def _slips_in(
    judgement: Judgement, step: str, cells: tuple[CellIndex, ...], fewest: int
) -> Iterator[SlipBefore]:
    """Those that give wrong cells of one step."""
    follow = tuple(indices_where(judgement.steps[step], "right", "carried"))
    # What a wrong cell is worked out from may be read by a right one alone.
    worked_from = _worked_from(judgement, step, cells + follow)
    all_reading = _read_by(worked_from, cells + follow)
    for ref, wrong in _read_by(worked_from, cells).items():
        reading = all_reading[ref]
        # If most of a step is wrong otherwise, a row of it may look like a slip. What is right
        # counts, too: who puts a number of the row right has no more slips than before.
        is_much = 2 * len(reading) >= len(cells)
        if not is_much or len(wrong) < fewest:
            continue
        slip = _Slip(judgement.values, step, ref)
        if slip.gives(wrong):
            others = reading[len(wrong) :]
            # With another number, these would be others, too.
            denied = () if slip.gives(reading) else others
            yield SlipBefore(slip.name, step, wrong, slip.results(wrong, denied))


def is_one_slip(judgement: Judgement, step: str, cells: tuple[CellIndex, ...]) -> bool:
    """Whether one other number, in the place of one that all these cells read, may give all of
    them: one that is written, given or neither.
    """
    if judgement.trace.steps[step].rule.given:
        return False
    values = judgement.values
    read = [refs_of(named_tree(values, step, cell)) for cell in cells]
    by_all = set.intersection(*read)
    # To try so many would take too long.
    if len(by_all) > MOST_NUMBERS_READ:
        return True
    return any(_Slip(values, step, ref).gives(cells) for ref in by_all)


def _worked_from(
    judgement: Judgement, step: str, cells: Sequence[CellIndex]
) -> dict[CellIndex, list[Ref]]:
    """For each of these cells, the numbers that are not written and that it is worked out from:
    those that it reads, and by way of them any that another cell reads, as a weight is worked out
    from the other exponentials of its row.
    """
    direct = {cell: _unwritten(judgement, step, cell) for cell in cells}
    any_read = set[Ref]().union(*direct.values())
    by_way = {}
    for ref in any_read:
        read = _unwritten(judgement, ref.name, cell_of(ref))
        by_way[ref] = read & any_read
    found = {}
    for cell, refs in direct.items():
        further = [by_way[ref] for ref in refs]
        found[cell] = sorted(refs.union(*further), key=cell_text)
    return found


def _read_by(
    worked_from: Mapping[CellIndex, Sequence[Ref]], cells: Sequence[CellIndex]
) -> dict[Ref, tuple[CellIndex, ...]]:
    """For each number, those of these cells that are worked out from it."""
    found: dict[Ref, tuple[CellIndex, ...]] = {}
    for cell in cells:
        for ref in worked_from[cell]:
            found[ref] = (*found.get(ref, ()), cell)
    return found


def _unwritten(judgement: Judgement, step: str, cell: CellIndex) -> set[Ref]:
    """The numbers that a cell reads, and that are not written."""
    values = judgement.values
    found = set()
    for ref in refs_of(named_tree(values, step, cell)):
        # What the problem gives stands there, too.
        if values.written(ref.name, cell_of(ref)) is None:
            found.add(ref)
    return found


def refs_of(tree: Expression) -> set[Ref]:
    """The cells that an expression reads."""
    return {node for node in walk(tree) if isinstance(node, Ref)}


def named_tree(values: CellValues, step: str, cell: CellIndex) -> Expression:
    """The equation of a cell over the cells of steps by their names."""
    steps = values.trace.steps

    def read(other: str, at: CellIndex) -> Expression:
        if other in steps:
            return ref_to(other, at)
        return values.read(other, at)

    return values.tree(step, cell, read)


def _changed(ref: Ref) -> Ref:
    """What stands for a number in an equation that has another one in its place."""
    return Ref(ref.name, (*ref.indices, _CHANGED))


def _equation_with(
    values: CellValues, step: str, cell: CellIndex, ref: Ref, number: float
) -> CellEquation:
    """The equation of a cell with another number in the place of one that it reads, also by way of
    what is not written.
    """

    def put(node: Expression) -> Expression:
        if not isinstance(node, Ref) or node.name not in values.trace.steps:
            return node
        if node == ref:
            return _changed(ref)
        is_given = values.trace.steps[node.name].rule.given
        if is_given or values.written(node.name, cell_of(node)) is not None:
            return node
        return rewrite(named_tree(values, node.name, cell_of(node)), put)

    tree = rewrite(named_tree(values, step, cell), put)
    return values.equation_of(tree, {_changed(ref): Interval.at(number)})


@dataclass(frozen=True, slots=True)
class _Slip:
    """Another number in the place of one that a step reads, and the equations of its cells, as far
    as they are known.
    """

    values: CellValues
    step: str
    ref: Ref
    known: dict[CellIndex, CellEquation] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The cell, or the one that it is copied from: K[0][1] for K_T[1][0]."""
        tree = self.ref
        while self.values.trace.steps[tree.name].rule.is_copy:
            source = named_tree(self.values, tree.name, cell_of(tree))
            if not isinstance(source, Ref) or source.name not in self.values.trace.steps:
                break
            tree = source
        return cell_text(tree)

    def gives(self, cells: tuple[CellIndex, ...]) -> bool:
        """Whether one and the same other number gives all of these cells."""
        change = self._change(cells)
        if not change:
            return False
        other = self._right + change
        for cell in cells:
            claim = self._claim(cell)
            if not self._equation(cell, other).reaches(interval(claim)):
                return False
        return True

    def results(
        self, cells: tuple[CellIndex, ...], others: Sequence[CellIndex]
    ) -> dict[CellIndex, float]:
        """What the number that gives some cells makes of others."""
        number = self._right + self._change(cells)
        return {cell: self._result(cell, number) for cell in others}

    @property
    def _right(self) -> float:
        index = cell_of(self.ref)
        claim = self.values.written(self.ref.name, index)
        return float(claim.value if claim else self.values.own(self.ref.name, index))

    def _change(self, cells: tuple[CellIndex, ...]) -> float:
        """How far off the number would have to be, as near as the digits of the cells say: a whole
        number where all of its step are. 0 if that says nothing.
        """
        least, most = -math.inf, math.inf
        for cell in cells:
            results = [self._result(cell, self._right + apart) for apart in _APART]
            effect = abs(results[1] - results[0])
            if not LEAST_EFFECT < effect < math.inf:
                continue
            claim = self._claim(cell)
            ends = [float(claim.value + way * claim.half) for way in (-1, 1)]
            changes = [_change_for(end, results) for end in ends]
            least = max(least, min(changes))
            most = min(most, max(changes))
        change = (least + most) / 2
        if not math.isfinite(change):
            return 0.0
        return float(round(change)) if self._is_whole else change

    @property
    def _is_whole(self) -> bool:
        """Whether all numbers of the step are whole."""
        numbers = self.values.own_step(self.ref.name).astype(float)
        return bool((numbers == numbers.round()).all())

    def _result(self, cell: CellIndex, number: float) -> float:
        """What a cell comes to with another number."""
        equation = self._equation(cell, number)
        point = {ref: range.middle for ref, range in equation.ranges.items()}
        return equation.graph.value(point)

    def _equation(self, cell: CellIndex, number: float) -> CellEquation:
        if cell not in self.known:
            self.known[cell] = _equation_with(self.values, self.step, cell, self.ref, number)
        # To make an equation takes longer than to put another number into it.
        another = Interval.at(number)
        return self.known[cell].with_ranges({_changed(self.ref): another})

    def _claim(self, cell: CellIndex) -> Claim:
        return cast("Claim", self.values.answers.steps[self.step].cells[cell])


def _change_for(result: float, results: list[float]) -> float:
    """By how much a number has to change for a result; `results` are what it gives if it is changed
    by 0, 1 and 2.

    A number that is added, multiplied or divided by gives (a x + b) / (c x + d). Three results say
    what that is: the cross-ratio of four of them is that of their numbers.
    """
    first, second, third = results
    from_first = (result - first) * (third - second)
    from_third = (third - result) * (second - first)
    total = from_first + from_third
    return 2 * from_first / total if total else math.inf
