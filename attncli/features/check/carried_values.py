"""What a cell is by a solution's own numbers: its equation with the cells written before it, and the steps left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from attncli.answers.model import Answers, Claim
from attncli.equation.intervals import Interval, outwards
from attncli.equation.nodes import Expression, Ref, rewrite
from attncli.features.check.cell_equations import Cell, CellEquations, after
from attncli.features.check.leaves import given, number, refs
from attncli.problem.model import Matrix
from attncli.tracing.model import Trace

Box = Mapping[Ref, Interval]
WHOLE = Decimal("0.5")  # half a unit of a number without decimals


@dataclass(frozen=True, slots=True)
class Sentence:
    """A cell's own tree, and for each written cell in it what that one may be."""

    tree: Expression
    box: Box

    @property
    def sharp(self) -> bool:
        """Whether nothing that is written in it has been rounded, so that it comes to one number only."""
        return all(range.width == 0 for range in self.box.values())


@dataclass(slots=True)
class Sentences:
    """The sentences of a solution's cells, and the true value of every cell to 50 digits.

    Those of a trace with changed equations take what no change has `moved` from those of the trace `before`.
    """

    trace: Trace
    answers: Answers
    before: Sentences | None = None
    moved: frozenset[str] = frozenset()
    _trees: dict[tuple[str, Cell], Expression] = field(default_factory=dict)
    _true: dict[tuple[str, Cell], Decimal] = field(default_factory=dict)
    _own: dict[tuple[str, Cell], Decimal] = field(default_factory=dict)
    _boxes: dict[Ref, Interval] = field(default_factory=dict)
    equations: CellEquations = field(init=False)
    _after_answers: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.equations = CellEquations(self.trace)
        self._after_answers = after(self.trace, {name for name, one in self.answers.steps.items() if not one.blank})

    def changed(self, trace: Trace, changes: Collection[str]) -> Sentences:
        """The sentences of the same solution, to a trace with these steps changed."""
        return Sentences(trace, self.answers, self, frozenset(changes) | after(trace, changes))

    def _unmoved(self, name: str) -> Sentences | None:
        """The sentences that have worked this step out already, if it is none that has moved."""
        return None if name in self.moved else self.before

    def of(self, name: str, index: Cell) -> Sentence:
        """What this cell is worked out from, in the numbers of the solution wherever it has them."""
        tree = self._tree(name, index)
        return Sentence(tree, {ref: self._box(ref) for ref in refs(tree)})

    def _box(self, ref: Ref) -> Interval:
        before = self._unmoved(ref.name)
        return self._boxes[ref] if before is None else before._box(ref)

    def settled(self, tree: Expression, box: Box) -> Sentence:
        """A sentence made of any cells: each as it was written, given or worked out; `box` has what is none."""

        def settle(node: Expression) -> Expression:
            if not isinstance(node, Ref) or node in box:
                return node
            return self.read(node.name, tuple(int(str(at)) for at in node.indices))

        settled = rewrite(tree, settle)
        return Sentence(settled, {ref: box[ref] if ref in box else self._box(ref) for ref in refs(settled)})

    def written(self, name: str, index: Cell) -> Claim | None:
        """What stands for a cell in the solution, or else in the problem; None for what is in neither."""
        answer = self.answers.steps.get(name)
        if answer is not None and answer.cells[index] is not None:
            return cast("Claim", answer.cells[index])
        step = self.trace.steps.get(name)
        if step is None or not step.rule.given:
            return None
        value = self.true(name, index)
        return Claim(format(value, "f"), value, Decimal(0))

    def own(self, name: str, index: Cell) -> Decimal:
        """What the cell comes to by what is written before it, exactly as that stands; NaN where that divides by 0.

        A sum that is written as 0 because it is small divides nothing.
        """
        if before := self._unmoved(name):
            return before.own(name, index)
        if name not in self._after_answers:  # nothing before it was written
            return self.true(name, index)
        if (name, index) not in self._own:
            self._own[name, index] = self._carried(name, index)
        return self._own[name, index]

    def _carried(self, name: str, index: Cell) -> Decimal:
        if self.trace.steps[name].rule.divides_rows and self._divides_by_rounded_zero(name, index):
            return Decimal("NaN")
        return self.equations.decimal(name, index, self._as_it_stands)

    def _as_it_stands(self, name: str, index: Cell) -> Decimal:
        claim = self.written(name, index)
        if claim is not None:
            return claim.value
        return self.own(name, index) if name in self.trace.steps else self.true(name, index)

    def _divides_by_rounded_zero(self, name: str, index: Cell) -> bool:
        claim = self.written("row_sum", index[:-1])
        return claim is not None and claim.value == 0 and self.true("row_sum", index[:-1]) != 0

    def true(self, name: str, index: Cell) -> Decimal:
        """What the cell is, from what the problem gives."""
        if before := self._unmoved(name):
            return before.true(name, index)
        if (name, index) not in self._true:
            self._true[name, index] = self._work(name, index)
        return self._true[name, index]

    def _work(self, name: str, index: Cell) -> Decimal:
        step = self.trace.steps.get(name)
        if step is None:
            return self._parameter(name, index)
        if step.rule.given:
            return given(step.written, step.value, index)
        return self.equations.decimal(name, index, self.true)

    def _parameter(self, name: str, index: Cell) -> Decimal:
        matrix = self.trace.parameters[name]
        assert isinstance(matrix, Matrix)
        return given(matrix.written, matrix.value, index)

    def _tree(self, name: str, index: Cell) -> Expression:
        if before := self._unmoved(name):
            return before._tree(name, index)
        if (name, index) not in self._trees:
            self._trees[name, index] = self.equations.tree(name, index, self.read)
        return self._trees[name, index]

    def read(self, name: str, index: Cell) -> Expression:
        """A cell that another one reads: as it was written, as it is given, or worked out from what was written."""
        if before := self._unmoved(name):
            return before.read(name, index)
        answer = self.answers.steps.get(name)
        claim = answer.cells[index] if answer is not None else None
        if claim is not None:
            ref = Ref(name, tuple(map(str, index)))
            exact = self._is_unrounded(name, index, claim)
            self._boxes[ref] = Interval.at(float(claim.value)) if exact else interval(claim)
            return ref
        if name in self.trace.steps and not self.trace.steps[name].rule.given:
            return self._tree(name, index)
        return number(self.true(name, index))

    def _is_unrounded(self, name: str, index: Cell, claim: Claim) -> bool:
        """Whether a number has just been copied from the problem, or has no decimals where a whole number comes out."""
        if self.trace.steps[name].rule.given:
            return claim.value == self.true(name, index)
        if claim.half < WHOLE:
            return False
        own = self.own(name, index)
        return own == claim.value or (self.of(name, index).sharp and own == own.to_integral_value())


def interval(claim: Claim) -> Interval:
    """The numbers that a claim stands for: those that round to it, or itself where it is exact."""
    if claim.exact:
        return Interval.at(float(claim.value))
    return outwards(float(claim.value - claim.half), float(claim.value + claim.half))
