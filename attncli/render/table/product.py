"""A product of matrices for a terminal: all of them side by side, the labels at the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.page.document import Grid, Product
from attncli.render.table.matrix import WIDTH_OF_A_PIPE, matrix_lines
from attncli.render.table.styled_line import Line

# It stands around a sign between two matrices.
SIGN_GAP = "  "


def product_lines(product: Product, room: int | None, color: bool) -> list[Line]:
    """The product as lines, centred on one line; none where they are wider than `room`.

    Arrows show the row and the column that meet in one cell, which are coloured too.
    """
    marked = product.marked()
    labelled = list(matrix_lines(_labelled(marked), None, color))
    # What follows the result is its legend.
    end = len(product.result.rows) + 1
    result = labelled[:end]
    parts = [*_factors(marked, color), ("=", result)]
    together = _side_by_side(parts)
    width = max(line.cell_len for line in together)
    if width > (room or WIDTH_OF_A_PIPE):
        return []
    return together + labelled[end:]


def _factors(marked: Product, color: bool) -> Iterator[tuple[str, list[Line]]]:
    """The sign before each factor and its lines, with arrows of the row and column that meet."""
    row, column = marked.meeting or (None, None)
    last = len(marked.factors) - 1
    for place, (sign, factor) in enumerate(marked.operands):
        if not isinstance(factor, Grid):
            yield sign, [Line(write(factor.expression, UNICODE))]
            continue
        row_here = row if place == 0 else None
        column_here = column if place == last else None
        rows = _arrow("→", len(factor.rows), row_here)
        columns = _arrow("↓", len(factor.columns), column_here)
        with_arrows = factor._replace(rows=rows, columns=columns)
        yield sign, _bare(with_arrows, color)


def _side_by_side(parts: Sequence[tuple[str, list[Line]]]) -> list[Line]:
    """Each part after its sign, all centred on the line in the middle."""
    height = max(len(lines) for _, lines in parts)
    together = [Line() for _ in range(height)]
    for sign, lines in parts:
        width = max(line.cell_len for line in lines)
        # A letter stands where the signs stand.
        above = height // 2 if len(lines) == 1 else (height - len(lines)) // 2
        for at, line in enumerate(together):
            if sign:
                shown = sign if at == height // 2 else " "
                line.append(SIGN_GAP + shown + SIGN_GAP)
            is_beside = 0 <= at - above < len(lines)
            found = lines[at - above] if is_beside else Line()
            line.append(found)
            line.pad_right(width - found.cell_len)
    for line in together:
        line.rstrip()
    return together


def _bare(grid: Grid, color: bool) -> list[Line]:
    """A matrix without labels, its name over the bracket; or beside it, where there are arrows."""
    name, *lines = matrix_lines(grid, None, color)
    side = 0 if any((*grid.rows, *grid.columns)) else len(write(grid.name, UNICODE)) + 1
    return [name, *(line.part(side) for line in lines)]


def _arrow(sign: str, count: int, at: int | None) -> tuple[str, ...]:
    """Labels of so many rows or columns, all empty but one."""
    return tuple(sign if place == at else "" for place in range(count))


def _labelled(product: Product) -> Grid:
    """The result, with arrows at the labels of the row and the column that meet."""
    if product.meeting is None:
        return product.result
    row, column = product.meeting
    rows = list(product.result.rows)
    columns = list(product.result.columns)
    rows[row] += " →"
    columns[column] += " ↓"
    return product.result._replace(rows=tuple(rows), columns=tuple(columns))
