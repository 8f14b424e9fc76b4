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
from attncli.page.colors import LEGEND, background, ramp_of
from attncli.page.document import Cell, Grid
from attncli.render.cells import HIDDEN_SIGN, SHADE_SIGNS, mark, shades_are
from attncli.render.table.styled_line import Line, cell_len

# Where there is no width.
WIDTH_OF_A_PIPE = 80
# A longer label of a row is cut off.
WIDEST_LABEL = 12
# Characters of a picture.
NARROWEST_PICTURE = 8
# Blanks between two labels of columns.
BETWEEN_LABELS = 2
NARROWEST_CELL_OF_A_MAP = 4


def map_lines(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """A small matrix as shades, each cell as wide as the widest label where that has room."""
    names = [_cut(label(row)) for row in grid.rows]
    heads = [_cut(label(head)) for head in grid.columns]
    name = write(grid.name, UNICODE)
    side = max(map(cell_len, (name, *names)))
    free = (room or WIDTH_OF_A_PIPE) - side - BETWEEN_LABELS
    widest = max(NARROWEST_CELL_OF_A_MAP, *(cell_len(head) + 1 for head in heads))
    width = max(1, min(widest, free // len(heads)))
    over = _thinned(heads, width, free, between=1)
    yield Line.assemble((name.ljust(side), "bold"), "  ", (over.rstrip(), "cyan"))
    signed = grid.shading is not None and grid.shading.signed
    lines: list[Line] = []
    for shown, row in zip(names, grid.cells, strict=True):
        line = Line.assemble((shown + " " * (side - cell_len(shown)), "cyan"), "  ")
        # A blank tells neighbours of one shade apart.
        drawn = max(1, width - 1)
        between = ""
        for cell in row:
            line.append(between)
            line.append(*_drawn(cell, 1.0, drawn, signed=signed, color=color))
            between = " " * (width - drawn)
        lines.append(line)
    yield from _with_legend(lines, grid, room, signed=signed, color=color)


def _with_legend(
    lines: Sequence[Line], grid: Grid, room: int | None, *, signed: bool, color: bool
) -> Iterator[Line]:
    """The rows of a map, and what its shades are: behind the last one if there is room."""
    if grid.shading is None:
        yield from lines
        return
    said = shades_are(grid.shading, lambda text: write_number(text, UNICODE))
    if any(cell.hidden for row in grid.cells for cell in row):
        said += f"; {HIDDEN_SIGN} {LEGEND}"
    legend = legend_of_shades(said, signed=signed, color=color)
    *before, last = lines
    yield from before
    together = Line.assemble(last, " " * 3, legend)
    # Labels of two columns a letter count twice; shades and the legend have one.
    labels = max(map(cell_len, (label(row) for row in grid.rows)))
    if labels + len(together.plain) <= (room or WIDTH_OF_A_PIPE):
        yield together
        return
    yield last
    yield Line()
    yield from legend.wrapped(max(room or WIDTH_OF_A_PIPE, 1))


def picture_lines(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """The labels of some columns, a line for each row or for some together, and what shades mean.

    Where one character a cell is still too wide, it stands for the largest of a square of cells.
    Shades of weights go up to the largest of their row, because all weights of a long row are
    small.
    """
    names = [_cut(label(row)) for row in grid.rows]
    name = write(grid.name, UNICODE)
    side = max(map(cell_len, (name, *names)))
    free = max((room or WIDTH_OF_A_PIPE) - side - BETWEEN_LABELS, NARROWEST_PICTURE)
    columns = len(grid.columns)
    together = ceil(columns / free)
    width = 2 if 2 * columns <= free else 1
    cells = [cell for row in grid.cells for cell in row]
    signed = grid.shading is not None and grid.shading.signed
    most = 1.0
    heads = _thinned([label(head) for head in grid.columns[::together]], width, free)
    yield Line.assemble((name.ljust(side), "bold"), "  ", (heads, "cyan"))
    for top in range(0, len(names), together):
        rows = grid.cells[top : top + together]
        if grid.picture == "rows":
            most = max(_shade(cell) for row in rows for cell in row)
        blanks = " " * (side - cell_len(names[top]))
        line = Line.assemble((names[top] + blanks, "cyan"), "  ")
        for left in range(0, columns, together):
            square = [cell for row in rows for cell in row[left : left + together]]
            darkest = max(square, key=_shade)
            line.append(*_drawn(darkest, most, width, signed=signed, color=color))
        yield line
    yield Line()
    said = "from 0 to the largest of the row"
    if grid.picture != "rows" and grid.shading is not None:
        said = shades_are(grid.shading, lambda text: write_number(text, UNICODE))
    if any(cell.hidden for cell in cells):
        said += f"; {HIDDEN_SIGN} {LEGEND}"
    for line in (legend_of_shades(said, signed=signed, color=color), _of_digits(together)):
        yield from line.wrapped(max(room or WIDTH_OF_A_PIPE, 1))


def _shade(cell: Cell) -> float:
    return -1.0 if cell.shade is None else cell.shade


def _drawn(cell: Cell, most: float, width: int, *, signed: bool, color: bool) -> tuple[str, str]:
    """The characters of a cell, and their style; the shade `most` is the last one."""
    if cell.shade is None:
        character = HIDDEN_SIGN if cell.hidden else " "
        return character * width, "dim"
    shade = cell.shade / most if most > 0 else 1.0
    if color:
        return " " * width, _style(shade, signed=signed)
    return mark(Cell(cell.text, shade)) * width, ""


def _style(shade: float, *, signed: bool) -> str:
    # Most terminals are dark.
    return "on rgb({},{},{})".format(*background(shade, ramp_of(signed=signed).night))


def _cut(text: str) -> str:
    """A label that is no wider than WIDEST_LABEL."""
    if cell_len(text) <= WIDEST_LABEL:
        return text
    cut = text[: WIDEST_LABEL - 1]
    while cell_len(cut) > WIDEST_LABEL - 1:
        cut = cut[:-1]
    return f"{cut}…"


def _thinned(heads: Sequence[str], width: int, room: int, between: int = BETWEEN_LABELS) -> str:
    """The labels of the columns that have room, each over the first character of its own column."""
    line = ""
    for place, head in enumerate(map(_cut, heads)):
        at = place * width
        there = cell_len(line)
        if (not there or at >= there + between) and at + cell_len(head) <= room:
            line += " " * (at - there) + head
    return line


def legend_of_shades(said: str, *, signed: bool, color: bool) -> Line:
    """The shades from the first to the last, and what they stand for."""
    ramp: list[str | Line | tuple[str, str]] = [SHADE_SIGNS]
    if color:
        last = len(SHADE_SIGNS) - 1
        ramp = [("  ", _style(part / last, signed=signed)) for part in range(len(SHADE_SIGNS))]
    return Line.assemble(*ramp, (f" {said}", "dim"))


def _of_digits(together: int) -> Line:
    """That there are no digits, and of how many cells a character is."""
    said = "There is no room for digits; --all shows them."
    if together > 1:
        cells = f"{count(together, 'row')} by {count(together, 'column')}"
        said = f"Each character is the largest of {cells}. {said}"
    return Line(said, "dim")
