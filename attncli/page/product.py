"""A step that is a product of matrices, beside these: [Q]·[Kᵀ] = [S]; and of one cell, the row and
the column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from attncli.attention.registry import in_symbols
from attncli.equation.nodes import Call, Expression, Name
from attncli.equation.shapes import product_factors
from attncli.page.document import Block, Cell, Factor, Grid, Math, Paragraph, Product
from attncli.page.ends import LONGEST_SIDE_BESIDE_OTHERS, too_many_rows
from attncli.page.grid import grid
from attncli.page.printer import Printer
from attncli.problem.parts.axes import LEADING
from attncli.tracing.model import Step
from attncli.tracing.slices import cut_trace


def beside_factors(
    printer: Printer, step: Step, result: Grid, known: Collection[str] = ()
) -> Block:
    """The matrix of a step with the matrices that it is the product of; alone where it is none, or
    is large.

    Of those that the page has shown before, which are `known`, there is only the letter.
    """
    if printer.blank or result.closed:
        return result
    found = _operands(printer, step)
    if not found or not found.small or found.has_closed_forms(printer):
        return result
    result = result._replace(cells=tuple(result.cells))
    factors: list[Factor] = []
    added: list[Factor] = []
    for (each, _), matrix in zip(found.multiplied, found.factors(printer), strict=True):
        factors.append(Math(matrix.name) if each.name in known else matrix)
    for each, matrix in zip(found.others, found.added(printer), strict=True):
        added.append(Math(matrix.name) if each.name in known else matrix)
    return Product(tuple(factors), result, (result,), tuple(added))


def meeting(printer: Printer, step: Step, index: tuple[int, ...]) -> Iterator[Block]:
    """Of a cell of a product, the row and the column that meet in it, marked in the matrices where
    these are small.

    Nothing where the step is no product, or where the row is so long that the worked line alone is
    easier to read.
    """
    leading = [letter for letter in step.rule.target.letters if letter in LEADING]
    place = dict(zip(leading, index, strict=False))
    here = replace(printer, trace=cut_trace(printer.trace, place))
    if step.name not in here.trace:
        # Of what has one number for each head, a head has no matrix.
        return
    step = here.trace.steps[step.name]
    found = _operands(here, step)
    if not found or too_many_rows(found.longest):
        return
    row, column = index[len(leading) :]
    factors = found.factors(here, row, column)
    added = found.added(here, row, column)
    cell = _matrix(here, step, (row,), (column,))
    one_cell: Block = Product(factors, cell, factors, added)
    if found.small:
        result = grid(here, step)
        result = result._replace(cells=tuple(result.cells), closed=())
        whole_factors = found.factors(here)
        whole_added = found.added(here)
        one_cell = Product(whole_factors, result, (one_cell,), whole_added, (row, column))
    first, last = factors[0], factors[-1]
    begin = f'Row "{first.rows[0]}" of '
    times = f' times column "{last.columns[0]}" of '
    yield Paragraph((begin, Math(first.name), times, Math(last.name), ":"))
    yield one_cell


class _Operands(NamedTuple):
    """A step that is a product; the steps that are multiplied, each with whether it is transposed;
    what is added.
    """

    step: Step
    multiplied: tuple[tuple[Step, bool], ...]
    others: tuple[Step, ...]

    @property
    def read(self) -> tuple[Step, ...]:
        """The steps that are multiplied, and those that are added."""
        factors = [each for each, _ in self.multiplied]
        return (*factors, *self.others)

    @property
    def small(self) -> bool:
        """Whether none of them is too large to stand beside others."""
        longest_sides = [max(each.shape) for each in (self.step, *self.read)]
        return max(longest_sides) <= LONGEST_SIDE_BESIDE_OTHERS

    @property
    def longest(self) -> int:
        """How many rows the longest matrix has that a row is multiplied with."""
        return max(each.shape[turned] for each, turned in self.multiplied[1:])

    def has_closed_forms(self, printer: Printer) -> bool:
        return any(grid(printer, each).closed for each in self.read)

    def factors(
        self, printer: Printer, row: int | None = None, column: int | None = None
    ) -> tuple[Grid, ...]:
        """The matrices, of the first one only a row, and of the last only a column, if they are
        asked for.
        """
        last = len(self.multiplied) - 1
        found: list[Grid] = []
        for place, (each, turned) in enumerate(self.multiplied):
            rows = _only(row) if place == 0 else None
            columns = _only(column) if place == last else None
            found.append(_matrix(printer, each, rows, columns, turned=turned))
        return tuple(found)

    def added(
        self, printer: Printer, row: int | None = None, column: int | None = None
    ) -> tuple[Grid, ...]:
        """What is added to the product, or to one cell of it."""
        found: list[Grid] = []
        columns = _only(column)
        for each in self.others:
            rows = _only(row)
            if len(each.shape) == 1:
                # A bias is one row, which is added to every row.
                rows = None
            found.append(_matrix(printer, each, rows, columns))
        return tuple(found)


def _only(place: int | None) -> tuple[int] | None:
    """The one row or column that is asked for; None where all are."""
    return None if place is None else (place,)


def _operands(printer: Printer, step: Step) -> _Operands | None:
    """What is multiplied and added; None where the step is no product of matrices."""
    form = step.rule.matrix_form
    steps = printer.trace.steps
    factors = product_factors(form) if form and not step.rule.given else ()
    if not factors:
        return None
    names = [name for name, _ in factors] + _added(form)
    if not all(name in steps for name in names):
        return None
    multiplied = [(steps[name], turned) for name, turned in factors]
    others = tuple(steps[name] for name in names[len(factors) :])
    matrices = [step, *(each for each, _ in multiplied)]
    if any(len(each.shape) != 2 for each in matrices):
        return None
    for each in others:
        is_row = each.shape == step.shape[1:]
        if not is_row and each.shape != step.shape:
            return None
    return _Operands(step, tuple(multiplied), others)


def _added(form: Expression | None) -> list[str]:
    """What is added to a product: b_Q in X @ W_Q + b_Q."""
    match form:
        case Call(function="add", arguments=(_, *others)):
            return [each.name if isinstance(each, Name) else "" for each in others]
        case _:
            return []


def _matrix(
    printer: Printer,
    step: Step,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    *,
    turned: bool = False,
) -> Grid:
    """Some rows and columns of a step, or all, with nothing but their numbers; `turned` is its
    transpose.

    A vector is a row.
    """
    shape, labels = step.shape, step.labels
    if len(shape) == 1:
        shape, labels = (1, *shape), (("",), *labels)
    name: Expression = Name(step.rule.symbol)
    if turned:
        name = in_symbols(Call("transposed", (name,)))
        shape, labels = shape[::-1], labels[::-1]
    if rows is None:
        rows = range(shape[0])
    if columns is None:
        columns = range(shape[1])

    def cell(row: int, column: int) -> Cell:
        place = (column, row) if turned else (row, column)
        return Cell(printer.text(step, place[-len(step.shape) :]))

    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        cells.append(tuple(cell(row, column) for column in columns))
    names = tuple(labels[0][row] for row in rows)
    heads = tuple(labels[1][column] for column in columns)
    is_whole = (len(rows), len(columns)) == shape
    whole = step.name if is_whole else ""
    return Grid(name, names, heads, tuple(cells), step=whole, turned=turned)
