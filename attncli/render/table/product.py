"""A product of matrices for a terminal: all of them side by side, the labels at the result."""

from __future__ import annotations

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.page.document import Grid, Product
from attncli.render.table.line import Line
from attncli.render.table.matrix import PIPE, matrix_lines

GAP = "  "  # around a sign between two matrices


def product_lines(product: Product, room: int | None, color: bool) -> list[Line]:
    """The product as lines, centred on one line; none where they are wider than `room`.

    Arrows show the row and the column that meet in one cell, which are coloured too.
    """
    marked = product.marked()
    row, column = product.meeting or (None, None)
    last = len(product.factors) - 1
    parts: list[tuple[str, list[Line]]] = []
    for place, (sign, factor) in enumerate(marked.operands):
        rows = _arrow("→", len(factor.rows), row if place == 0 else None)
        columns = _arrow("↓", len(factor.columns), column if place == last else None)
        parts.append((sign, _bare(factor._replace(rows=rows, columns=columns), color)))
    count, labelled = len(product.result.rows), list(matrix_lines(_labelled(marked), None, color))
    result, legend = labelled[: count + 1], labelled[count + 1 :]
    parts.append(("=", result))
    height = max(len(lines) for _, lines in parts)
    together = [Line() for _ in range(height)]
    for sign, lines in parts:
        width, above = max(line.cell_len for line in lines), (height - len(lines)) // 2
        for at, line in enumerate(together):
            if sign:
                middle = at == height // 2
                line.append(GAP + (sign if middle else " ") + GAP)
            found = lines[at - above] if 0 <= at - above < len(lines) else Line()
            line.append(found)
            line.pad_right(width - found.cell_len)
    for line in together:
        line.rstrip()
    fits = max(line.cell_len for line in together) <= (room or PIPE)
    return [*together, *legend] if fits else []


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
    rows = (f"{label} →" if place == row else label for place, label in enumerate(product.result.rows))
    columns = (f"{label} ↓" if place == column else label for place, label in enumerate(product.result.columns))
    return product.result._replace(rows=tuple(rows), columns=tuple(columns))
