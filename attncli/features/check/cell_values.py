"""The values of a solution's cells: the true one, and the one by the solution's own numbers, which
is what the equation gives with the cells written before it, and the steps left out.

Values are decimals that are right to 50 digits. Those of the solution are worked out a whole step
at a time. Where a mistake is tried, the equations of some steps are others, and most mistakes are
ruled out by a cell or two: there each cell is worked out when it is first asked for, with no more
than these digits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Answers, Claim
from attncli.equation.evaluator import Evaluator
from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import Place
from attncli.equation.intervals import Interval, outwards
from attncli.equation.nodes import Expression, Number, Ref, names_used, rewrite
from attncli.equation.rounding import DIGITS
from attncli.equation.substitution import as_decimal_constant, decimal_value, substitute
from attncli.features.check.reachability import CellEquation, Ranges
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.text.numbers import as_decimal
from attncli.tracing.model import Trace

CellIndex = tuple[int, ...]
# An array of Decimal.
Decimals = NDArray[np.object_]
# Half a unit of a number without decimals.
HALF_A_UNIT = Decimal("0.5")
# Rounding errors add up, and our pages print closed forms by 50 digits that are right. Seven more
# digits cost no time: the three words of a Decimal have room for 57.
_WORKING_DIGITS = DIGITS + 7


def ref_to(name: str, index: CellIndex) -> Ref:
    """A cell of a step, as it stands in the equation of another cell."""
    return Ref(name, tuple(map(str, index)))


def cell_of(ref: Ref) -> CellIndex:
    """Which cell of its step that is."""
    return tuple(int(str(at)) for at in ref.indices)


@dataclass(slots=True)
class CellValues:
    """For every cell of a solution its true value, its value by what is written before it, and its
    own equation.

    With `changed` equations, a step that no change has `moved` is that of the values `before` the
    change.
    """

    trace: Trace
    answers: Answers
    before: CellValues | None = None
    moved: frozenset[str] = frozenset()
    _trees: dict[tuple[str, CellIndex], Expression] = field(default_factory=dict)
    _ranges: dict[Ref, Interval] = field(default_factory=dict)
    _true: dict[tuple[str, CellIndex], Decimal] = field(default_factory=dict)
    _own: dict[tuple[str, CellIndex], Decimal] = field(default_factory=dict)
    _true_steps: dict[str, Decimals] = field(default_factory=dict)
    _own_steps: dict[str, Decimals] = field(default_factory=dict)
    _undefined: dict[str, NDArray[np.bool_] | None] = field(default_factory=dict)
    _sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    _scalars: dict[str, Decimal] = field(default_factory=dict)
    _numbers: dict[str, Number] = field(default_factory=dict)
    _after_answers: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        answered = {name for name, answer in self.answers.steps.items() if not answer.blank}
        self._after_answers = steps_after(self.trace, answered)
        for name, given in self.trace.parameters.items():
            if isinstance(given, Scalar):
                self._scalars[name] = as_decimal(given.written)
                self._numbers[name] = decimal_node(self._scalars[name])

    def changed(self, trace: Trace, changes: Collection[str]) -> CellValues:
        """The values of the same solution, by a trace with these steps changed."""
        return CellValues(
            trace, self.answers, self, frozenset(changes) | steps_after(trace, changes)
        )

    def with_answers(self, answers: Answers, changed: Collection[str]) -> CellValues:
        """The values of another solution, in which only these steps are written otherwise. What the
        problem says is known already, and so is what follows in steps that are not after these.
        """
        moved = steps_after(self.trace, changed)
        own_steps = {name: cells for name, cells in self._own_steps.items() if name not in moved}
        return CellValues(
            self.trace,
            answers,
            _true_steps=self._true_steps,
            _own_steps=own_steps,
            _sizes=self._sizes,
        )

    def _unmoved(self, name: str) -> CellValues | None:
        """The values that have worked this step out already, if it is none that has moved."""
        return None if name in self.moved else self.before

    # One cell

    def true(self, name: str, index: CellIndex) -> Decimal:
        """What the cell is, from what the problem gives."""
        if before := self._unmoved(name):
            return before.true(name, index)
        if self.before is None:
            return cast("Decimal", self.true_step(name)[index])
        if (name, index) not in self._true:
            step = self.trace.steps.get(name)
            given = step is None or step.rule.given
            if given:
                self._true[name, index] = self.true_step(name)[index]
            else:
                self._true[name, index] = self.from_equation(name, index, self.true)
        return self._true[name, index]

    def follows_answers(self, name: str) -> bool:
        """Whether the solution has a number of any step that this one is worked out from."""
        return name in self._after_answers

    def own(self, name: str, index: CellIndex) -> Decimal:
        """What the cell comes to by what is written before it, exactly as that stands; NaN where
        that divides by 0.

        A sum that is written as 0 because it is small divides nothing.
        """
        if before := self._unmoved(name):
            return before.own(name, index)
        if self.before is None:
            return cast("Decimal", self.own_step(name)[index])
        if not self.follows_answers(name):
            return self.true(name, index)
        if (name, index) not in self._own:
            undefined = self._divides_by_rounded_zero(name)
            if undefined is not None and undefined[index]:
                self._own[name, index] = Decimal("NaN")
            else:
                self._own[name, index] = self.from_equation(name, index, self._as_written)
        return self._own[name, index]

    def _as_written(self, name: str, index: CellIndex) -> Decimal:
        claim = self.written(name, index)
        if claim is not None:
            return claim.value
        return self.own(name, index) if name in self.trace.steps else self.true(name, index)

    def written(self, name: str, index: CellIndex) -> Claim | None:
        """What stands for a cell in the solution, or else in the problem; None for what is in
        neither.
        """
        answer = self.answers.steps.get(name)
        if answer is not None and answer.cells[index] is not None:
            return cast("Claim", answer.cells[index])
        step = self.trace.steps.get(name)
        if step is None or not step.rule.given:
            return None
        value = self.true(name, index)
        return Claim(format(value, "f"), value, Decimal(0))

    def from_equation(
        self, name: str, index: CellIndex, read: Callable[[str, CellIndex], Decimal]
    ) -> Decimal:
        """What a cell comes to, to 50 digits, from the numbers that `read` finds."""
        expression = self.trace.steps[name].rule.equation.expression
        return decimal_value(
            expression, self._place(name, index), self._sizes_of(name), read, self._scalars
        )

    # Whole steps

    def true_step(self, name: str) -> Decimals:
        """What all cells of a step or of a parameter are, from what the problem gives."""
        if before := self._unmoved(name):
            return before.true_step(name)
        if name not in self._true_steps:
            step = self.trace.steps.get(name)
            if step is None:
                matrix = self.trace.parameters[name]
                assert isinstance(matrix, Matrix)
                found = _given(matrix.written, matrix.value)
            elif step.rule.given:
                found = _given(step.written, step.value)
            else:
                found = self._from_equation_of_step(name, self.true_step)
            self._true_steps[name] = found
        return self._true_steps[name]

    def own_step(self, name: str) -> Decimals:
        """What all cells of a step come to by what is written before them, as `own` has it."""
        if before := self._unmoved(name):
            return before.own_step(name)
        if not self.follows_answers(name):
            return self.true_step(name)
        if name not in self._own_steps:
            found = self._from_equation_of_step(name, self._step_as_written)
            if (undefined := self._divides_by_rounded_zero(name)) is not None:
                found[undefined] = Decimal("NaN")
            self._own_steps[name] = found
        return self._own_steps[name]

    def _step_as_written(self, name: str) -> Decimals:
        answer = self.answers.steps.get(name)
        if answer is None or answer.blank:
            return self.own_step(name)
        blank = answer.cells == None  # noqa: E711 - cell by cell
        found = _CLAIMED_OR_OTHER(answer.cells, None if not blank.any() else self.own_step(name))
        return cast("Decimals", np.asarray(found, dtype=object))

    def _divides_by_rounded_zero(self, name: str) -> NDArray[np.bool_] | None:
        """The cells of a step that divide by a sum which is written as 0, though it is not; None
        where none does.
        """
        if name not in self._undefined:
            self._undefined[name] = self._find_divisions_by_rounded_zero(name)
        return self._undefined[name]

    def _find_divisions_by_rounded_zero(self, name: str) -> NDArray[np.bool_] | None:
        answer = self.answers.steps.get("row_sum")
        if answer is None or not self.trace.steps[name].rule.divides_rows:
            return None
        zero = np.zeros(answer.cells.shape, dtype=bool)
        for index, claim in np.ndenumerate(answer.cells):
            if claim is not None and claim.value == 0:
                zero[index] = self.true("row_sum", index) != 0
        return self._as_cells_of(name, zero) if zero.any() else None

    def _as_cells_of(self, name: str, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What is so of rows, cell by cell of a step that divides by their sums."""
        step = self.trace.steps[name]
        own = step.rule.target.letters
        of_rows = self.trace.steps["row_sum"].rule.target.letters
        summed = tuple(axis for axis, letter in enumerate(of_rows) if letter not in own)
        shape = [
            size if letter in of_rows else 1 for letter, size in zip(own, step.shape, strict=True)
        ]
        return np.broadcast_to(rows.any(axis=summed).reshape(shape), step.shape)

    def _from_equation_of_step(self, name: str, read: Callable[[str], Decimals]) -> Decimals:
        step = self.trace.steps[name]
        equation = step.rule.equation
        own_sizes = dict(zip(equation.target.letters, step.shape, strict=True))
        sizes = self._sizes_of(name) | own_sizes
        arrays = {read_name: read(read_name) for read_name in names_used(equation.expression)}
        scalars = cast("Any", self._scalars)
        with localcontext(Context(prec=_WORKING_DIGITS, traps=[])):
            evaluator = _DecimalEvaluator(np, arrays, scalars, sizes, object)
            result = evaluator.result(equation)
        return cast("Decimals", np.array(result, dtype=object))

    # Equations of cells, as trees

    def equation(self, name: str, index: CellIndex) -> CellEquation:
        """What this cell is worked out from, in the numbers of the solution wherever it has
        them.
        """
        return CellEquation(self._tree(name, index), self._range)

    def equation_of(self, tree: Expression, ranges: Ranges) -> CellEquation:
        """An equation made of any cells: each as it was written, given or worked out, but for those
        with `ranges`.
        """

        def put(node: Expression) -> Expression:
            if not isinstance(node, Ref) or node in ranges:
                return node
            return self.read(node.name, cell_of(node))

        def range_of(ref: Ref) -> Interval:
            return ranges[ref] if ref in ranges else self._range(ref)

        return CellEquation(rewrite(tree, put), range_of)

    def tree(
        self, name: str, index: CellIndex, read: Callable[[str, CellIndex], Expression]
    ) -> Expression:
        """A cell's own equation with `read` for every cell of a step that it names."""
        expression = self.trace.steps[name].rule.equation.expression
        return substitute(
            expression, self._place(name, index), self._sizes_of(name), read, self._numbers
        )

    def read(self, name: str, index: CellIndex) -> Expression:
        """A cell that another one reads: as it was written, as it is given, or worked out from what
        was written.
        """
        if before := self._unmoved(name):
            return before.read(name, index)
        answer = self.answers.steps.get(name)
        claim = answer.cells[index] if answer is not None else None
        if claim is not None:
            ref = ref_to(name, index)
            if ref not in self._ranges:
                self._ranges[ref] = self._range_of_claim(name, index, claim)
            return ref
        if name in self.trace.steps and not self.trace.steps[name].rule.given:
            return self._tree(name, index)
        return decimal_node(self.true(name, index))

    def _tree(self, name: str, index: CellIndex) -> Expression:
        if before := self._unmoved(name):
            return before._tree(name, index)
        if (name, index) not in self._trees:
            self._trees[name, index] = self.tree(name, index, self.read)
        return self._trees[name, index]

    def _range(self, ref: Ref) -> Interval:
        before = self._unmoved(ref.name)
        return self._ranges[ref] if before is None else before._range(ref)

    def _range_of_claim(self, name: str, index: CellIndex, claim: Claim) -> Interval:
        if self._is_unrounded(name, index, claim):
            return Interval.at(float(claim.value))
        return interval(claim)

    def _is_unrounded(self, name: str, index: CellIndex, claim: Claim) -> bool:
        """Whether a number has just been copied from the problem, or has no decimals where a whole
        number comes out.
        """
        if self.trace.steps[name].rule.given:
            return claim.value == self.true(name, index)
        half = claim.half_written
        if half < HALF_A_UNIT:
            return False
        own = self.own(name, index)
        if own == claim.value:
            return True
        return self.equation(name, index).exact and own == own.to_integral_value()

    def _place(self, name: str, index: CellIndex) -> Place:
        return dict(zip(self.trace.steps[name].rule.target.letters, index, strict=True))

    def _sizes_of(self, name: str) -> dict[str, int]:
        if before := self._unmoved(name):
            return before._sizes_of(name)
        if name not in self._sizes:
            self._sizes[name] = self.trace.sizes(self.trace.steps[name].rule.equation)
        return self._sizes[name]


class _DecimalEvaluator(Evaluator):
    """Works out an equation on arrays of Decimals."""

    def constant(self, number: Number) -> Any:
        return as_decimal_constant(number)

    def positions(self, letter: str) -> Decimals:
        return np.array([Decimal(at) for at in range(self.sizes[letter])], dtype=object)

    def apply(self, function: str, *operands: Any) -> Any:
        return np.asarray(_cell_by_cell(function, len(operands))(*operands), dtype=object)

    def apply_to_scalars(self, function: str, *values: Any) -> Any:
        return FUNCTIONS[function].decimal(*values)

    def total(self, array: Any, axis: int) -> Any:
        return np.asarray(np.add.reduce(array, axis=axis), dtype=object)

    def largest(self, array: Any, axis: int) -> Any:
        return np.asarray(_cell_by_cell("max", 2).reduce(array, axis=axis), dtype=object)


@cache
def _cell_by_cell(function: str, operands: int) -> np.ufunc:
    # NumPy adds and multiplies objects with Python's own operators, and faster.
    if operands == 2 and function in ("add", "mul"):
        return np.add if function == "add" else np.multiply
    return cast("np.ufunc", np.frompyfunc(FUNCTIONS[function].decimal, operands, 1))


# The number that stands in a cell, and where it is blank, the other one.
_CLAIMED_OR_OTHER = np.frompyfunc(
    lambda claim, other: other if claim is None else claim.value, 2, 1
)


def _given(written: NDArray[np.object_] | None, value: NDArray[Any]) -> Decimals:
    """An array that a problem gives, as it was written there."""
    found = np.empty(value.size, dtype=object)
    if written is None:
        found[:] = [Decimal(repr(number)) for number in value.astype(float).ravel().tolist()]
    else:
        found[:] = [as_decimal(str(text)) for text in written.flat]
    return cast("Decimals", found.reshape(value.shape))


def decimal_node(value: Decimal) -> Number:
    """A number as a leaf of an equation."""
    if not value.is_finite():
        return Number(float(value), str(value))
    exact = Fraction(value)
    # A whole number may be a position, which has no decimal point.
    text = str(exact) if exact.denominator == 1 else str(value)
    return Number(exact, text)


def interval(claim: Claim) -> Interval:
    """The numbers that a claim stands for: those that round to it, or itself where it is exact.

    >>> from attncli.answers.claims import read_claim
    >>> interval(read_claim("0.58"))
    Interval(low=0.5749999999999998, high=0.5850000000000001)
    """
    if claim.exact:
        return Interval.at(float(claim.value))
    return outwards(float(claim.value - claim.half), float(claim.value + claim.half))


def steps_after(trace: Trace, names: Collection[str]) -> frozenset[str]:
    """The steps that are worked out from any of these, directly or by way of others."""
    found: set[str] = set()
    for step in trace.steps.values():
        if any(read in names or read in found for read in step.rule.inputs):
            found.add(step.name)
    return frozenset(found)
