"""The matrix of a step: its labels, and its numbers as they are printed, shaded or set off where
they are hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.equation.nodes import Expression, Name
from attncli.page.document import Cell, Grid, LazyCells, Shading
from attncli.page.printer import Printer, format_number, format_rows
from attncli.page.relation import rounded_cells
from attncli.tracing.model import Step, Trace, hidden_beside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.page.colors.scale import Scale

# A matrix with more cells is no picture.
MOST_CELLS_OF_A_PICTURE = 2**18
# So many numbers are formatted together.
NUMBERS_FORMATTED_AT_ONCE = 2**16


def grid(printer: Printer, step: Step, heatmap: bool = False) -> Grid:
    """The matrix of a step; a vector over queries or keys is a column, another a row."""
    rows, names, heads = _rows(step)
    left = printer.left_out_of(row=len(rows), column=len(heads))
    shaded = heatmap and not step.rule.given
    scale = _scale(printer.trace, step) if shaded else None
    if left and shaded and heads and step.value.size <= MOST_CELLS_OF_A_PICTURE:
        return _picture(printer, step)
    closed: tuple[tuple[Expression, ...], ...] = ()
    rounded: Collection[tuple[int, ...]] = ()
    if not left:
        closed, rounded = _closed_forms(printer, step)

    def cells(part: slice = slice(None)) -> Iterator[tuple[Cell, ...]]:
        """The rows, with some of their columns."""
        hidden = hidden_cells(printer.trace, step)
        has_extras = heatmap or closed or left
        if step.value.ndim > 1 and not has_extras and _is_worked_out(printer, step):
            shape = (len(rows), len(heads))
            by_rows = step.value.reshape(shape)[:, part]
            unseen = hidden.reshape(shape)[:, part]
            yield from _plain_cells(by_rows, unseen, printer.precision)
            return
        shades = scale.shades(step.value.astype(np.float64)) if scale else None
        columns: list[tuple[int, ...]] = [()]
        if heads:
            columns = [(place,) for place in printer.ends_or_all(range(len(heads)))]
        for row in printer.ends_or_all(rows):
            indices = [(*row, *column) for column in columns[part]]
            yield tuple(_cell(printer, step, index, hidden, shades, rounded) for index in indices)

    made = LazyCells(cells) if printer.is_large else tuple(cells())
    return Grid(
        Name(step.rule.symbol),
        tuple(printer.ends_or_all(names)),
        tuple(printer.ends_or_all(heads)),
        made,
        closed,
        left,
        step=step.name,
        shading=_shading(scale, printer.precision) if scale else None,
    )


def _is_worked_out(printer: Printer, step: Step) -> bool:
    """Whether its numbers are printed as floats are: not as given, nor exactly, nor left blank."""
    if step.written is not None or step.exact is not None:
        return False
    return not printer.shows_all_digits(step) and step.name not in printer.blank


def _picture(printer: Printer, step: Step) -> Grid:
    """The whole matrix of which a terminal would show the ends, with a shade in every cell."""
    whole = grid(replace(printer, only_ends=False), step, heatmap=True)
    return whole._replace(closed=(), picture="rows" if step.name == "weights" else "matrix")


def _cell(
    printer: Printer,
    step: Step,
    index: tuple[int, ...],
    hidden: NDArray[np.bool_],
    shades: NDArray[np.float64] | None,
    rounded: Collection[tuple[int, ...]],
) -> Cell:
    if step.name in printer.blank:
        return Cell("")
    unseen = bool(hidden[index])
    shade: float | None = None
    if shades is not None and not unseen and np.isfinite(shades[index]):
        shade = float(shades[index])
    text = printer.text(step, index)
    return Cell(text, shade, unseen, index in rounded)


def _plain_cells(
    matrix: NDArray[Any], hidden: NDArray[np.bool_], precision: int
) -> Iterator[tuple[Cell, ...]]:
    """Cells with nothing but a text and whether they are hidden, row by row; alike ones are mostly
    the same object.
    """
    columns = max(1, matrix.shape[1])
    rows = max(1, NUMBERS_FORMATTED_AT_ONCE // columns)
    for top in range(0, len(matrix), rows):
        seen: dict[str, Cell] = {}
        unseen: dict[str, Cell] = {}
        texts = format_rows(matrix[top : top + rows], precision)
        for row, out in zip(texts, hidden[top : top + rows], strict=True):
            cells = [seen.get(text) or seen.setdefault(text, Cell(text)) for text in row]
            for place in np.flatnonzero(out).tolist():
                text = row[place]
                cells[place] = unseen.get(text) or unseen.setdefault(text, Cell(text, hidden=True))
            yield tuple(cells)


def _rows(step: Step) -> tuple[list[tuple[int, ...]], tuple[str, ...], tuple[str, ...]]:
    """Where the rows of a matrix are in the array of a step, their labels, and those of the
    columns.
    """
    shape, labels = step.shape, step.labels
    if not shape:
        return [()], ("",), ()
    if len(shape) == 1:
        [axis] = step.rule.axis_names
        if axis in ("query", "key"):
            # A number for each token is a column.
            return [(row,) for row in range(len(labels[0]))], labels[0], ()
        return [()], ("",), labels[0]
    # Of pairs of a query and a key, each is a row.
    rows = list(np.ndindex(shape[:-1]))
    names = tuple(step.row_label(row) for row in rows)
    return rows, names, labels[-1]


def _closed_forms(
    printer: Printer, step: Step
) -> tuple[tuple[tuple[Expression, ...], ...], Collection[tuple[int, ...]]]:
    """The closed forms to stand beside the matrix, and the cells whose decimals are not all of
    theirs.
    """
    if step.exact is None:
        return (), ()
    # Few pages have closed forms, and what works with them takes a while to import.
    from attncli.page.worked.closed_forms import closed_forms

    closed = closed_forms(printer, step)
    if not closed:
        return (), ()
    return closed, rounded_cells(printer, step)


def hidden_cells(trace: Trace, step: Step) -> NDArray[np.bool_]:
    """The cells that a mask hides, from the mask on."""
    names = list(trace.steps)
    masked = "mask" in names and names.index(step.name) >= names.index("mask")
    of_pairs = step.rule.axis_names[-2:] == ("query", "key")
    hidden = None
    if masked and of_pairs:
        hidden = hidden_beside(trace.steps, step)
    if hidden is None:
        return np.zeros(step.shape, dtype=bool)
    return hidden


def _scale(trace: Trace, step: Step) -> Scale | None:
    """What shades stand for in the matrix; None where all numbers would have the same one."""
    # Few pages have shades.
    from attncli.page.colors.scale import scale_of

    values = step.value.astype(np.float64)
    hidden = hidden_cells(trace, step)
    shown = values[~hidden]
    scale = scale_of(trace, step.name, shown)
    return scale if scale.low < scale.high else None


def _shading(scale: Scale, precision: int) -> Shading:
    def printed(number: float | None) -> str:
        return "" if number is None else format_number(number, precision)

    low, high = printed(scale.low), printed(scale.high)
    return Shading(low, high, scale.signed, printed(scale.least), printed(scale.most))
