"""A matrix for a terminal: labels outside the brackets, points under points, blocks of columns that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TypeVar

from attncli.page.document import EDGE, Cell, Grid, LeftOut
from attncli.render.columns import BLANK, caption, decimals_alone, split
from attncli.render.shading import HIDDEN, LEGEND, background, foreground, mark, needs_legend
from attncli.render.table.line import Line, cell_len
from attncli.render.table.script import Script
from attncli.render.table.wrapping import wrap

GAP = 2  # between columns
AROUND = 3  # a space and the brackets; the blanks inside them are as wide as the gap between two columns
LABEL = 6  # labels are not folded to less
BETWEEN = "  {}  "  # a sign between closed forms and their decimals
PIPE = 76  # columns that closed forms and decimals may take together where there is no width
EVEN = 5  # columns narrower than this are widened to their widest neighbour: a matrix reads as a square
LOOKS = {"right": "green", "carried": "cyan", "rounding": "yellow", "wrong": "bold red", "missing": "magenta"}
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a matrix: its label, its numbers with blanks behind them so that points stand under points, and how
    wide it is.
    """

    head: str
    cells: Sequence[str]
    width: int


@dataclass(frozen=True, slots=True)
class Side:
    """What stands left of a matrix: its name over the labels of the rows, all as wide; a label may take some lines."""

    name: str
    labels: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        return cell_len(self.name)


def matrix_lines(grid: Grid, script: Script, room: int | None, color: bool) -> Iterator[Line]:
    """The matrix as lines, in blocks of columns no wider than `room` where one column alone is not.

    Numbers are printed whole at any width: `room` decides how many columns stand side by side, no more. Closed forms
    stand before their decimals, ≈ between them, or above them where there is no room for both.
    """
    grid = replace(grid, cells=tuple(grid.cells))
    if grid.left_out:
        grid = _with_dots(grid, script)
    if not grid.closed:
        yield from _decimals(grid, script, room, color)
        return
    closed, decimals = list(_closed(grid, script, None)), list(_decimals(grid, script, None, color))
    left, right = (max(line.cell_len for line in lines) for lines in (closed, decimals))
    side = _side(grid, script).width
    relation = BETWEEN.format(script.text("≈" if grid.rounded else "="))
    if left + right - side + len(relation) - 1 > (room or PIPE):
        yield from _closed(grid, script, room)
        yield Line()
        yield from _decimals(decimals_alone(grid), script, room, color)
        return
    middle = len(grid.rows) // 2 + len(grid.rows) % 2
    for place, (line, beside) in enumerate(zip_longest(closed, decimals, fillvalue=Line())):
        if place > len(grid.rows):  # a legend
            yield beside
            continue
        line.pad_right(left - line.cell_len)
        sign = relation if place == middle else " " * len(relation)
        both = Line.assemble(line, sign, beside.part(side + 1))
        both.rstrip()
        yield both


def left_out_text(left_out: LeftOut) -> str:
    """Which rows and columns are not there."""
    gone = " and ".join(caption(what, EDGE, count - EDGE, count) for what, count in left_out)
    return f"without {gone}; --all shows all"


def _with_dots(grid: Grid, script: Script) -> Grid:
    """The matrix with dots between its ends."""
    gone, dots = dict(grid.left_out), Cell(script.text("…"))
    cells, names, heads = grid.cells, grid.rows, grid.columns
    if "column" in gone:
        cells, heads = [_around(row, dots) for row in cells], _around(heads, "…")
    if "row" in gone:
        cells, names = _around(cells, (dots,) * len(cells[0])), _around(names, "…")
    return replace(grid, rows=names, columns=heads, cells=cells)


def _around(items: Sequence[Item], between: Item) -> tuple[Item, ...]:
    return (*items[:EDGE], between, *items[EDGE:])


def _closed(grid: Grid, script: Script, room: int | None) -> Iterator[Line]:
    """The matrix of the closed forms."""
    columns = []
    for head, forms in zip(grid.columns or ("",), zip(*grid.closed, strict=True), strict=True):
        cells, label = [script.formula(form) for form in forms], script.label(head)
        columns.append(Column(label, cells, max(cell_len(label), *map(len, cells), 1)))
    return _blocks(grid, script, columns, room, None)


def _decimals(grid: Grid, script: Script, room: int | None, color: bool) -> Iterator[Line]:
    """The matrix of the decimals."""
    coloured = color and any(cell.shade is not None for row in grid.cells for cell in row)
    heads = grid.columns or ("",)
    columns = [
        _column(script.label(head), cells, script, color, signs=not coloured)
        for head, cells in zip(heads, zip(*grid.cells, strict=True), strict=True)
    ]
    even = min(EVEN, max(column.width for column in columns))
    columns = [replace(column, width=max(even, column.width)) for column in columns]
    yield from _blocks(grid, script, columns, room, grid.cells if color else None)
    if needs_legend(grid):
        legend = Line(f"{'without a colour:' if coloured else HIDDEN} {LEGEND}", "dim")
        yield Line()
        yield from [legend] if room is None else wrap(legend, max(room, 1))


def _column(head: str, cells: Sequence[Cell], script: Script, color: bool, *, signs: bool) -> Column:
    """One column; in a coloured heat map nothing stands behind a number, so that every cell is as wide as it."""
    distinct = {id(cell): cell for cell in cells}  # in a large matrix the same cell stands in many places
    numbers = {key: script.number(cell.text) if cell.text else BLANK for key, cell in distinct.items()}
    parts = {key: number.partition(".") for key, number in numbers.items()}
    before = max(len(whole) for whole, _, _ in parts.values())
    after = max(len(point + rest) for _, point, rest in parts.values())
    marks = {key: mark(cell, shaded=not color) if signs else "" for key, cell in distinct.items()}
    wide = before + after
    for key, (_, point, rest) in parts.items():
        numbers[key] += " " * (after - len(point + rest))
    if any(marks.values()):
        for key, cell in distinct.items():
            numbers[key] = _marked(numbers[key], marks[key], cell)
        head += "  " if head else ""  # the label stands over the digits, not over the marks
        wide += 2
    return Column(head, [numbers[id(cell)] for cell in cells], max(cell_len(head), wide))


def _marked(number: str, sign: str, cell: Cell) -> str:
    """The sign of what is hidden belongs to the number, however few decimals that has; shades stand in a column."""
    return f"{number.rstrip()} {sign}".ljust(len(number) + 2) if cell.hidden else f"{number} {sign or ' '}"


def _blocks(
    grid: Grid, script: Script, columns: Sequence[Column], room: int | None, colored: Sequence[Sequence[Cell]] | None
) -> Iterator[Line]:
    """The columns in blocks that are no wider than `room`; `colored` are the cells where they have looks."""
    side = _side(grid, script, room, max(column.width for column in columns))
    runs = split([column.width + GAP for column in columns], room and room - side.width - AROUND)
    total = dict(grid.left_out).get("column", len(columns))
    for start, end in runs:
        if start:
            yield Line()
        if len(runs) > 1:  # dots, which follow the first columns, stand for all those between the ends
            first, last = (place + (total - len(columns)) * (place > EDGE) for place in (start, end))
            yield Line(caption("column", first, last, total), "dim")
        yield from _block(side, columns[start:end], colored and [row[start:end] for row in colored])


def _block(side: Side, columns: Sequence[Column], colored: Sequence[Sequence[Cell]] | None) -> Iterator[Line]:
    """Columns side by side."""
    gap, widths = " " * GAP, [column.width for column in columns]
    heads = gap.join(" " * (column.width - cell_len(column.head)) + column.head for column in columns)
    head = Line.assemble((side.name, "bold"), ("   " + heads if heads.strip() else "", "cyan"))
    head.rstrip()
    yield head
    for place, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
        numbers = Line(gap.join(map(str.rjust, row, widths)))
        if colored:
            _paint(numbers, widths, colored[place])
        first, *others = side.labels[place]
        opening, closing = _brackets(place, len(side.labels), last=not others)
        yield Line.assemble((first, "cyan"), f" {opening} ", numbers, f" {closing}")
        for number, rest in enumerate(others, 1):  # of a long label: beside it is nothing
            opening, closing = _brackets(place or 1, len(side.labels), last=number == len(others))
            yield Line.assemble((rest, "cyan"), f" {opening} {' ' * numbers.cell_len} {closing}")


def _paint(numbers: Line, widths: Sequence[int], cells: Sequence[Cell]) -> None:
    at = 0
    for width, cell in zip(widths, cells, strict=True):
        if look := _look(cell):
            numbers.stylize(look, at, at + width)
        at += width + GAP


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


def _brackets(place: int, count: int, *, last: bool) -> tuple[str, str]:
    """Those of a row of so many; `last` where it is the last of its lines."""
    if count == 1:
        return "[", "]"
    if place == 0:
        return "⎡", "⎤"
    return ("⎣", "⎦") if last and place == count - 1 else ("⎢", "⎥")


def _side(grid: Grid, script: Script, room: int | None = None, widest: int = 0) -> Side:
    """The labels of the rows, folded where they leave no room for the `widest` column."""
    name, whole = script.formula(grid.name), [script.label(row) for row in grid.rows]
    left = None if room is None else max(room - AROUND - GAP - widest, LABEL, cell_len(name))
    labels = [(label,) if left is None or cell_len(label) <= left else _folded(label, left) for label in whole]
    width = max(map(cell_len, (name, *chain.from_iterable(labels))))
    return Side(_padded(name, width), tuple(tuple(_padded(piece, width) for piece in label) for label in labels))


def _folded(label: str, width: int) -> tuple[str, ...]:
    return tuple(piece.plain for piece in wrap(Line(label), width))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
