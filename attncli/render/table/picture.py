"""A heat map of a matrix that is too long for its digits: one or two characters a cell, or one for
some cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from attncli.english import count
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label
from attncli.page.colors import LEGEND, background
from attncli.page.document import Cell, Grid
from attncli.render.cells import BLOCKS, HIDDEN, mark
from attncli.render.table.line import Line, cell_len

PIPE = 80  # where there is no width
# characters of the label of a row; longer ones are cut off
LABEL = 12
NARROWEST = 8  # characters of a picture
# blanks between two labels of columns
APART = 2


def picture_lines(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """The labels of some columns, a line for each row or for some together, and what the shades
    mean.

    Where one character a cell is still too wide, it stands for the largest of a square of cells.
    Shades of weights go up to the largest of their row, because all weights of a long row are
    small.
    """
    names = [_cut(label(row)) for row in grid.rows]
    name = write(grid.name, UNICODE)
    side = max(map(cell_len, (name, *names)))
    free = max((room or PIPE) - side - APART, NARROWEST)
    together = ceil(len(grid.columns) / free)
    width = 2 if 2 * len(grid.columns) <= free else 1
    shades = [cell for row in grid.cells for cell in row if cell.shade is not None]
    low, high = (edge(shades, key=_shade, default=Cell("0", 0.0)) for edge in (min, max))
    span = _shade(low), _shade(high)
    heads = _thinned([label(head) for head in grid.columns[::together]], width, free)
    yield Line.assemble((name.ljust(side), "bold"), "  ", (heads, "cyan"))
    for top in range(0, len(names), together):
        rows = grid.cells[top : top + together]
        if grid.picture == "rows":
            span = 0.0, max(_shade(cell) for row in rows for cell in row)
        line = Line.assemble((names[top] + " " * (side - cell_len(names[top])), "cyan"), "  ")
        for left in range(0, len(grid.columns), together):
            square = [cell for row in rows for cell in row[left : left + together]]
            line.append(*_drawn(max(square, key=_shade), *span, width, color=color))
        yield line
    yield Line()
    edges = [write_number(cell.text, UNICODE) for cell in (low, high)]
    shades_are = (
        "from 0 to the largest of the row"
        if grid.picture == "rows"
        else f"from {edges[0]} to {edges[1]}"
    )
    hidden = (
        f"; {HIDDEN} {LEGEND}" if any(cell.hidden for row in grid.cells for cell in row) else ""
    )
    for said in _legend(shades_are + hidden, together, color=color):
        yield from said.wrapped(max(room or PIPE, 1))


def _shade(cell: Cell) -> float:
    return -1.0 if cell.shade is None else cell.shade


def _drawn(cell: Cell, low: float, high: float, width: int, *, color: bool) -> tuple[str, str]:
    """The characters of a cell, and their style."""
    if cell.shade is None:
        return (HIDDEN if cell.hidden else " ") * width, "dim"
    shade = (cell.shade - low) / (high - low) if high > low else 1.0
    if color:
        return " " * width, "on rgb({},{},{})".format(*background(shade))
    return mark(Cell(cell.text, shade)) * width, ""


def _cut(text: str) -> str:
    """A label that is no wider than LABEL."""
    if cell_len(text) <= LABEL:
        return text
    cut = text[: LABEL - 1]
    while cell_len(cut) > LABEL - 1:
        cut = cut[:-1]
    return f"{cut}…"


def _thinned(heads: Sequence[str], width: int, room: int) -> str:
    """The labels of the columns that have room, each over the first character of its own column."""
    line = ""
    for place, head in enumerate(map(_cut, heads)):
        at = place * width
        there = cell_len(line)
        if (not there or at >= there + APART) and at + cell_len(head) <= room:
            line += " " * (at - there) + head
    return line


def _legend(shades_are: str, together: int, *, color: bool) -> Iterator[Line]:
    """What the shades mean, and that there are no digits."""
    if color:
        ramp: list[str | Line | tuple[str, str]] = [
            ("  ", "on rgb({},{},{})".format(*background(part / (len(BLOCKS) - 1))))
            for part in range(len(BLOCKS))
        ]
    else:
        ramp = [BLOCKS]
    yield Line.assemble(*ramp, (f" {shades_are}", "dim"))
    cells = count(together, "row") + " by " + count(together, "column")
    merged = f"Each character is the largest of {cells}. " if together > 1 else ""
    yield Line(f"{merged}There is no room for digits; --all shows them.", "dim")
