"""A step that is a product of matrices, beside these: [Q]·[Kᵀ] = [S]; and of one cell, the row and
the column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from attncli.attention.registry import in_symbols
from attncli.equation.nodes import Call, Expression, Name
from attncli.equation.shapes import product_factors
from attncli.page.document import MOST_ROWS_SHOWN, Block, Cell, Grid, Math, Paragraph, Product
from attncli.page.grid import grid
from attncli.page.printer import Printer
from attncli.problem.parts.axes import LEADING
from attncli.tracing.model import Step
from attncli.tracing.slices import cut_trace

# A matrix with more rows or columns does not stand beside others.
LARGEST = 16


def beside_factors(printer: Printer, step: Step, result: Grid) -> Block:
    """The matrix of a step with the matrices that it is the product of; alone where it is none, or
    is large.
    """
    found = _operands(printer, step)
    if (
        not found
        or not found.small
        or printer.blank
        or result.closed
        or found.has_closed_forms(printer)
    ):
        return result
    result = result._replace(cells=tuple(result.cells))
    return Product(found.factors(printer), result, (result,), found.added(printer))


def meeting(printer: Printer, step: Step, index: tuple[int, ...]) -> Iterator[Block]:
    """Of a cell of a product, the row and the column that meet in it, marked in the matrices where
    these are small.

    Nothing where the step is no product, or where the row is so long that the worked line alone is
    easier to read.
    """
    leading = [letter for letter in step.rule.target.letters if letter in LEADING]
    here = replace(printer, trace=cut_trace(printer.trace, dict(zip(leading, index, strict=False))))
    step = here.trace.steps[step.name]
    found = _operands(here, step)
    if not found or found.longest > MOST_ROWS_SHOWN:
        return
    row, column = index[len(leading) :]
    factors, added = found.factors(here, row, column), found.added(here, row, column)
    cell = _matrix(here, step, (row,), (column,))
    one_cell: Block = Product(factors, cell, factors, added)
    if found.small:
        result = grid(here, step)
        result = result._replace(cells=tuple(result.cells), closed=())
        one_cell = Product(
            found.factors(here), result, (one_cell,), found.added(here), (row, column)
        )
    first, last = factors[0], factors[-1]
    rows, columns = f'"{first.rows[0]}"', f'"{last.columns[0]}"'
    yield Paragraph(
        (f"Row {rows} of ", Math(first.name), f" times column {columns} of ", Math(last.name), ":")
    )
    yield one_cell


class _Operands(NamedTuple):
    """A step that is a product; the steps that are multiplied, each with whether it is transposed;
    what is added.
    """

    step: Step
    multiplied: tuple[tuple[Step, bool], ...]
    others: tuple[Step, ...]

    @property
    def small(self) -> bool:
        """Whether none of them is too large to stand beside others."""
        steps = (self.step, *(each for each, _ in self.multiplied), *self.others)
        return max(size for each in steps for size in each.shape) <= LARGEST

    @property
    def longest(self) -> int:
        """How many rows the longest matrix has that a row is multiplied with."""
        return max(each.shape[turned] for each, turned in self.multiplied[1:])

    def has_closed_forms(self, printer: Printer) -> bool:
        return any(
            grid(printer, each).closed
            for each in (*(each for each, _ in self.multiplied), *self.others)
        )

    def factors(
        self, printer: Printer, row: int | None = None, column: int | None = None
    ) -> tuple[Grid, ...]:
        """The matrices, of the first one only a row, and of the last only a column, if they are
        asked for.
        """
        last = len(self.multiplied) - 1
        return tuple(
            _matrix(
                printer,
                each,
                (row,) if row is not None and not place else None,
                (column,) if column is not None and place == last else None,
                turned=turned,
            )
            for place, (each, turned) in enumerate(self.multiplied)
        )

    def added(
        self, printer: Printer, row: int | None = None, column: int | None = None
    ) -> tuple[Grid, ...]:
        """What is added to the product, or to one cell of it."""
        columns = None if column is None else (column,)
        return tuple(
            _matrix(printer, each, None if row is None or len(each.shape) == 1 else (row,), columns)
            for each in self.others
        )


def _operands(printer: Printer, step: Step) -> _Operands | None:
    """What is multiplied and added; None where the step is no product of matrices."""
    form, steps = step.rule.matrix_form, printer.trace.steps
    factors = product_factors(form) if form and not step.rule.given else ()
    names = [name for name, _ in factors] + _added(form)
    found = [steps[name] for name in names if name in steps]
    multiplied, others = found[: len(factors)], tuple(found[len(factors) :])
    if (
        not factors
        or len(found) < len(names)
        or any(len(each.shape) != 2 for each in (step, *multiplied))
    ):
        return None
    if any(each.shape not in (step.shape, step.shape[1:]) for each in others):
        return None
    return _Operands(
        step, tuple(zip(multiplied, (turned for _, turned in factors), strict=True)), others
    )


def _added(form: Expression | None) -> list[str]:
    """What is added to a product: b_Q in X @ W_Q + b_Q."""
    match form:
        case Call(function="add", arguments=(_, *others)):
            return [each.name if isinstance(each, Name) else "" for each in others]
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
    shape, labels = (
        ((1, *step.shape), (("",), *step.labels))
        if len(step.shape) == 1
        else (step.shape, step.labels)
    )
    name: Expression = Name(step.rule.symbol)
    if turned:
        name, shape, labels = in_symbols(Call("transposed", (name,))), shape[::-1], labels[::-1]
    rows, columns = (
        range(shape[0]) if rows is None else rows,
        range(shape[1]) if columns is None else columns,
    )

    def cell(row: int, column: int) -> Cell:
        place = (column, row) if turned else (row, column)
        return Cell(printer.text(step, place[-len(step.shape) :]))

    cells = tuple(tuple(cell(row, column) for column in columns) for row in rows)
    whole = not turned and len(cells) == shape[0] and len(columns) == shape[1]
    names, heads = (
        tuple(labels[0][row] for row in rows),
        tuple(labels[1][column] for column in columns),
    )
    return Grid(name, names, heads, cells, step=step.name if whole else "")
