"""A matrix for a terminal: labels outside the brackets, points under points, blocks of columns that fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text

from attncli.equation.notation import UNICODE
from attncli.equation.write import write, write_number
from attncli.page.document import Cell, Grid
from attncli.render.columns import caption, pointed, split
from attncli.render.labels import label
from attncli.render.shades import HIDDEN, LEGEND, background, foreground, mark, needs_legend

GAP = 2  # between columns
EVEN = 5  # columns narrower than this are widened to their widest neighbour: a matrix reads as a square


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a matrix, every text already padded to the column's width."""

    head: Text
    cells: tuple[Text, ...]


def grid_lines(grid: Grid, room: int | None, color: bool) -> list[Text]:
    """The matrix as lines, in blocks of columns no wider than `room` where one column alone is not.

    Numbers are printed whole at any width: `room` decides how many columns stand side by side, no more.
    """
    corner = Text(write(grid.name, UNICODE), "bold")
    side = _padded([corner, *(Text(label(name), "cyan") for name in grid.rows)])
    columns = [_column(grid, place, color) for place in range(len(grid.cells[0]))]
    even = min(EVEN, max(column.head.cell_len for column in columns))
    columns = [_widened(column, even) for column in columns]
    left = side[0].cell_len + 3  # a space, the bracket, and the brackets' inner space is the columns' gap
    blocks = split([column.head.cell_len + GAP for column in columns], room and room - left - 2)
    lines: list[Text] = []
    for number, (start, end) in enumerate(blocks):
        if number:
            lines.append(Text())
        if len(blocks) > 1:
            lines.append(Text(caption("column", start, end, len(columns)), "dim"))
        lines += _block(side, columns[start:end])
    if needs_legend(grid):
        lines += [Text(), Text(f"{HIDDEN} {LEGEND}", "dim")]
    return lines


def _column(grid: Grid, place: int, color: bool) -> _Column:
    cells = [row[place] for row in grid.cells]
    numbers = pointed([write_number(cell.text, UNICODE) for cell in cells])
    marks = [mark(cell, shaded=not color) for cell in cells]
    if any(marks):
        numbers = [f"{number} {sign or ' '}" for number, sign in zip(numbers, marks, strict=True)]
    head = Text(label(grid.columns[place]) if grid.columns else "", "cyan")
    if any(marks) and head:
        head.append("  ")  # the label stands over the digits, not over the marks
    width = max(head.cell_len, len(numbers[0]))
    head.pad_left(width - head.cell_len)
    styled = (Text(number.rjust(width), _look(cell, color)) for number, cell in zip(numbers, cells, strict=True))
    return _Column(head, tuple(styled))


def _widened(column: _Column, width: int) -> _Column:
    more = max(width - column.head.cell_len, 0)
    for text in (column.head, *column.cells):
        text.pad_left(more)
    return column


def _look(cell: Cell, color: bool) -> str | Style:
    if cell.hidden:
        return "dim"
    if cell.shade is None or not color:
        return ""
    back = background(cell.shade)
    front = foreground(back)
    return Style.parse("rgb({},{},{}) on rgb({},{},{})".format(*front, *back))


def _block(side: Sequence[Text], columns: Sequence[_Column]) -> list[Text]:
    gap = " " * GAP
    lines = []
    if any(column.head.plain.strip() for column in columns):
        lines.append(Text.assemble(side[0], "   ", Text(gap).join(column.head for column in columns)))
    else:
        lines.append(side[0])
    count = len(side) - 1
    for place in range(count):
        opening, closing = _brackets(place, count)
        numbers = Text(gap).join(column.cells[place] for column in columns)
        lines.append(Text.assemble(side[place + 1], f" {opening} ", numbers, f" {closing}"))
    for line in lines:
        line.rstrip()
    return lines


def _brackets(place: int, count: int) -> tuple[str, str]:
    if count == 1:
        return "[", "]"
    if place == 0:
        return "⎡", "⎤"
    return ("⎣", "⎦") if place == count - 1 else ("⎢", "⎥")


def _padded(texts: Sequence[Text]) -> list[Text]:
    width = max(text.cell_len for text in texts)
    for text in texts:
        text.pad_right(width - text.cell_len)
    return list(texts)
