"""A matrix for a terminal: labels outside the brackets, points under points, blocks of columns that fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from attncli.page.document import Cell, Digits, Grid
from attncli.records import dataclass
from attncli.render.columns import BLANK, caption, decimals_alone, pointed, split
from attncli.render.shades import HIDDEN, LEGEND, background, foreground, mark, needs_legend
from attncli.render.table.line import Line, cell_len
from attncli.render.table.script import Script

GAP = 2  # between columns
BETWEEN = "  {}  "  # a sign between closed forms and their decimals
PIPE = 76  # columns that closed forms and decimals may take together where there is no width
EVEN = 5  # columns narrower than this are widened to their widest neighbour: a matrix reads as a square


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a matrix, every text already padded to the column's width."""

    head: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.cells[0])  # no sign of a number is wide


def grid_lines(grid: Grid, script: Script, room: int | None, color: bool, *, captions: bool = True) -> list[Line]:
    """The matrix as lines, in blocks of columns no wider than `room` where one column alone is not.

    Numbers are printed whole at any width: `room` decides how many columns stand side by side, no more. Closed forms
    stand before their decimals, ≈ between them, or above them where there is no room for both. `captions` say which
    columns of all are in a block.
    """
    if not grid.closed:
        return _matrix(grid, script, room, color, captions)
    closed, decimals = _closed(grid, script), _matrix(grid, script, None, color)
    left, right = (max(line.cell_len for line in lines) for lines in (closed, decimals))
    side = cell_len(_side(grid, script)[0])
    relation = BETWEEN.format(script.text("≈" if grid.rounded else "="))
    if left + right - side + len(relation) - 1 > (room or PIPE):
        return [*closed, Line(), *_matrix(decimals_alone(grid), script, room, color)]
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


def _closed(grid: Grid, script: Script) -> list[Line]:
    """The matrix of the closed forms."""
    heads = grid.columns or ("",) * len(grid.closed[0])
    columns = []
    for head, forms in zip(heads, zip(*grid.closed, strict=True), strict=True):
        spelled = [script.formula(form) for form in forms]
        width = max(cell_len(script.label(head)), *map(len, spelled), 1)
        label = script.label(head)
        cells = tuple(text.rjust(width) for text in spelled)
        columns.append(_Column(" " * (width - cell_len(label)) + label, cells))
    return _block(_side(grid, script), columns, None)


def _side(grid: Grid, script: Script) -> list[str]:
    """The name over the labels of the rows, all as wide."""
    return _padded([script.formula(grid.name), *map(script.label, grid.rows)])


def _matrix(grid: Grid, script: Script, room: int | None, color: bool, captions: bool = True) -> list[Line]:
    """The matrix of the decimals."""
    side = _side(grid, script)
    if grid.digits is not None:
        return _digits(grid.digits, side, [script.label(name) for name in grid.columns], room)
    coloured = color and any(cell.shade is not None for row in grid.cells for cell in row)
    columns = [_column(grid, place, script, color, signs=not coloured) for place in range(len(grid.cells[0]))]
    even = min(EVEN, max(column.width for column in columns))
    columns = [_widened(column, even) for column in columns]
    left = cell_len(side[0]) + 3  # a space, the bracket, and the brackets' inner space is the columns' gap
    blocks = split([column.width + GAP for column in columns], room and room - left - 2)
    lines: list[Line] = []
    for number, (start, end) in enumerate(blocks):
        if number:
            lines.append(Line())
        if len(blocks) > 1 and captions:
            lines.append(Line(caption("column", start, end, len(columns)), "dim"))
        lines += _block(side, columns[start:end], [row[start:end] for row in grid.cells] if color else None)
    if needs_legend(grid):
        lines += [Line(), Line(f"{'without a colour:' if coloured else HIDDEN} {LEGEND}", "dim")]
    return lines


def _digits(digits: Digits, side: Sequence[str], heads: Sequence[str], room: int | None) -> list[Line]:
    """A large matrix."""
    parts = digits.widths()
    widths = [max(cell_len(head), before + after) for head, (before, after) in zip(heads, parts, strict=True)]
    even = min(EVEN, max(widths))
    widths = [max(even, width) for width in widths]
    left = cell_len(side[0]) + 3
    blocks = split([width + GAP for width in widths], room and room - left - 2)
    rooms = [(width, after) for width, (_, after) in zip(widths, parts, strict=True)]
    count = len(side) - 1
    lines: list[Line] = []
    for number, (start, end) in enumerate(blocks):
        lines += [Line()] * (number > 0)
        if len(blocks) > 1:
            lines.append(Line(caption("column", start, end, len(widths)), "dim"))
        columns = zip(heads[start:end], widths[start:end], strict=True)
        names = (" " * GAP).join(" " * (width - cell_len(head)) + head for head, width in columns)
        lines.append(Line.assemble((side[0], "bold"), ("   " + names, "cyan")))
        rows = digits.lines([""] * count, " " * GAP, rooms[start:end], slice(start, end))
        for place, (label, numbers) in enumerate(zip(side[1:], rows, strict=True)):
            opening, closing = _brackets(place, count)
            lines.append(Line.assemble((label, "cyan"), f" {opening} {numbers[GAP:-1]} {closing}"))
    return lines


def _column(grid: Grid, place: int, script: Script, color: bool, *, signs: bool) -> _Column:
    """One column; in a coloured heat map nothing stands behind a number, so that every cell is as wide as it."""
    cells = [row[place] for row in grid.cells]
    numbers = pointed([script.number(cell.text) if cell.text else BLANK for cell in cells])
    marks = [mark(cell, shaded=not color) if signs else "" for cell in cells]
    head = script.label(grid.columns[place]) if grid.columns else ""
    if any(marks):
        numbers = [_marked(number, sign, cell) for number, sign, cell in zip(numbers, marks, cells, strict=True)]
        head += "  " if head else ""  # the label stands over the digits, not over the marks
    width = max(cell_len(head), len(numbers[0]))
    return _Column(" " * (width - cell_len(head)) + head, tuple(number.rjust(width) for number in numbers))


def _marked(number: str, sign: str, cell: Cell) -> str:
    """The sign of what is hidden belongs to the number, however few decimals that has; shades stand in a column."""
    return f"{number.rstrip()} {sign}".ljust(len(number) + 2) if cell.hidden else f"{number} {sign or ' '}"


def _widened(column: _Column, width: int) -> _Column:
    more = " " * (width - column.width)
    return _Column(more + column.head, tuple(more + cell for cell in column.cells)) if more else column


LOOKS = {"right": "green", "carried": "cyan", "rounding": "yellow", "wrong": "bold red", "missing": "magenta"}


def _look(cell: Cell) -> str:
    if cell.verdict is not None:
        return LOOKS[cell.verdict]
    if cell.hidden:
        return "dim"
    if cell.shade is None:
        return ""
    back = background(cell.shade)
    front = foreground(back)
    return "rgb({},{},{}) on rgb({},{},{})".format(*front, *back)


def _block(side: Sequence[str], columns: Sequence[_Column], colored: Sequence[Sequence[Cell]] | None) -> list[Line]:
    """One block of columns as lines; `colored` are its cells where they have looks."""
    gap = " " * GAP
    heads = gap.join(column.head for column in columns)
    lines = [Line.assemble((side[0], "bold"), ("   " + heads if heads.strip() else "", "cyan"))]
    count = len(side) - 1
    for place in range(count):
        opening, closing = _brackets(place, count)
        numbers = Line(gap.join([column.cells[place] for column in columns]))
        if colored:
            _paint(numbers, columns, colored[place])
        lines.append(Line.assemble((side[place + 1], "cyan"), f" {opening} ", numbers, f" {closing}"))
    for line in lines:
        line.rstrip()
    return lines


def _paint(numbers: Line, columns: Sequence[_Column], cells: Sequence[Cell]) -> None:
    at = 0
    for column, cell in zip(columns, cells, strict=True):
        if look := _look(cell):
            numbers.stylize(look, at, at + column.width)
        at += column.width + GAP


def _brackets(place: int, count: int) -> tuple[str, str]:
    if count == 1:
        return "[", "]"
    if place == 0:
        return "⎡", "⎤"
    return ("⎣", "⎦") if place == count - 1 else ("⎢", "⎥")


def _padded(texts: Sequence[str]) -> list[str]:
    width = max(map(cell_len, texts))
    return [text + " " * (width - cell_len(text)) for text in texts]
