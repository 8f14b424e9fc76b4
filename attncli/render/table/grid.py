"""A matrix for a terminal: labels outside the brackets, points under points, blocks of columns that fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from attncli.page.document import Cell, Digits, Grid
from attncli.render.columns import BLANK, decimals_alone, pointed
from attncli.render.shades import HIDDEN, LEGEND, mark, needs_legend
from attncli.render.table.block import GAP, Column, block, bracketed, divided, headed, side_of
from attncli.render.table.line import Line, cell_len
from attncli.render.table.script import Script
from attncli.render.table.wrapping import wrap

BETWEEN = "  {}  "  # a sign between closed forms and their decimals
PIPE = 76  # columns that closed forms and decimals may take together where there is no width
EVEN = 5  # columns narrower than this are widened to their widest neighbour: a matrix reads as a square


def grid_lines(grid: Grid, script: Script, room: int | None, color: bool) -> list[Line]:
    """The matrix as lines, in blocks of columns no wider than `room` where one column alone is not.

    Numbers are printed whole at any width: `room` decides how many columns stand side by side, no more. Closed forms
    stand before their decimals, ≈ between them, or above them where there is no room for both.
    """
    if not grid.closed:
        return _matrix(grid, script, room, color)
    closed, decimals = _closed(grid, script, None), _matrix(grid, script, None, color)
    left, right = (max(line.cell_len for line in lines) for lines in (closed, decimals))
    side = side_of(grid, script).width
    relation = BETWEEN.format(script.text("≈" if grid.rounded else "="))
    if left + right - side + len(relation) - 1 > (room or PIPE):
        return [*_closed(grid, script, room), Line(), *_matrix(decimals_alone(grid), script, room, color)]
    middle = len(grid.rows) // 2 + len(grid.rows) % 2
    lines = []
    for place, (line, beside) in enumerate(zip_longest(closed, decimals, fillvalue=Line())):
        if place > len(grid.rows):  # a legend
            lines.append(beside)
            continue
        line.pad_right(left - line.cell_len)
        sign = relation if place == middle else " " * len(relation)
        lines.append(Line.assemble(line, sign, beside.part(side + 1)))
        lines[-1].rstrip()
    return lines


def _closed(grid: Grid, script: Script, room: int | None) -> list[Line]:
    """The matrix of the closed forms."""
    heads = grid.columns or ("",) * len(grid.closed[0])
    columns = []
    for head, forms in zip(heads, zip(*grid.closed, strict=True), strict=True):
        spelled = [script.formula(form) for form in forms]
        width = max(cell_len(script.label(head)), *map(len, spelled), 1)
        label = script.label(head)
        cells = tuple(text.rjust(width) for text in spelled)
        columns.append(Column(" " * (width - cell_len(label)) + label, cells))
    return _lines(grid, script, columns, room, None)


def _matrix(grid: Grid, script: Script, room: int | None, color: bool) -> list[Line]:
    """The matrix of the decimals."""
    if grid.digits is not None:
        return _digits(grid, grid.digits, script, room)
    coloured = color and any(cell.shade is not None for row in grid.cells for cell in row)
    columns = [_column(grid, place, script, color, signs=not coloured) for place in range(len(grid.cells[0]))]
    even = min(EVEN, max(column.width for column in columns))
    columns = [_widened(column, even) for column in columns]
    lines = _lines(grid, script, columns, room, grid.cells if color else None)
    if needs_legend(grid):
        legend = Line(f"{'without a colour:' if coloured else HIDDEN} {LEGEND}", "dim")
        lines += [Line(), *([legend] if room is None else wrap(legend, max(room, 1)))]
    return lines


def _lines(
    grid: Grid, script: Script, columns: Sequence[Column], room: int | None, colored: Sequence[Sequence[Cell]] | None
) -> list[Line]:
    """The columns in blocks that fit."""
    lines: list[Line] = []
    widths = [column.width for column in columns]
    side = side_of(grid, script, room, max(widths))
    for start, end, before in divided(grid, side, widths, room):
        lines += [*before, *block(side, columns[start:end], colored and [row[start:end] for row in colored])]
    return lines


def _digits(grid: Grid, digits: Digits, script: Script, room: int | None) -> list[Line]:
    """A large matrix."""
    heads = [script.label(name) for name in grid.columns]
    parts = digits.widths()
    widths = [max(cell_len(head), before + after) for head, (before, after) in zip(heads, parts, strict=True)]
    even = min(EVEN, max(widths))
    widths = [max(even, width) for width in widths]
    rooms = [(width, after) for width, (_, after) in zip(widths, parts, strict=True)]
    side = side_of(grid, script, room, max(widths))
    lines: list[Line] = []
    for start, end, before in divided(grid, side, widths, room):
        lines += before
        columns = zip(heads[start:end], widths[start:end], strict=True)
        names = (" " * GAP).join(" " * (width - cell_len(head)) + head for head, width in columns)
        lines.append(headed(side, names))
        rows = digits.lines([""] * len(side.labels), " " * GAP, rooms[start:end], slice(start, end))
        for place, numbers in enumerate(rows):
            lines += bracketed(side, place, Line(numbers[GAP:-1]))
    return lines


def _column(grid: Grid, place: int, script: Script, color: bool, *, signs: bool) -> Column:
    """One column; in a coloured heat map nothing stands behind a number, so that every cell is as wide as it."""
    cells = [row[place] for row in grid.cells]
    numbers = pointed([script.number(cell.text) if cell.text else BLANK for cell in cells])
    marks = [mark(cell, shaded=not color) if signs else "" for cell in cells]
    head = script.label(grid.columns[place]) if grid.columns else ""
    if any(marks):
        numbers = [_marked(number, sign, cell) for number, sign, cell in zip(numbers, marks, cells, strict=True)]
        head += "  " if head else ""  # the label stands over the digits, not over the marks
    width = max(cell_len(head), len(numbers[0]))
    return Column(" " * (width - cell_len(head)) + head, tuple(number.rjust(width) for number in numbers))


def _marked(number: str, sign: str, cell: Cell) -> str:
    """The sign of what is hidden belongs to the number, however few decimals that has; shades stand in a column."""
    return f"{number.rstrip()} {sign}".ljust(len(number) + 2) if cell.hidden else f"{number} {sign or ' '}"


def _widened(column: Column, width: int) -> Column:
    more = " " * (width - column.width)
    return Column(more + column.head, tuple(more + cell for cell in column.cells)) if more else column
