"""A matrix for a terminal: labels outside the brackets, points under points, blocks of columns that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, zip_longest
from typing import NamedTuple, TypeAlias

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label
from attncli.page.colors import LEGEND, background, foreground
from attncli.page.document import EDGE, Cell, Grid
from attncli.render.cells import (
    BLANK,
    HIDDEN,
    caption,
    chunks,
    decimals_alone,
    has_sign_of_hidden,
    mark,
    split,
    with_dots,
)
from attncli.render.table.line import Line, cell_len

GAP = 2  # between columns
AROUND = 3  # a space and the brackets; the blanks inside them are as wide as the gap between two columns
LABEL = 6  # labels are not folded to less
BETWEEN = "  {}  "  # a sign between closed forms and their decimals
PIPE = 76  # columns that closed forms and decimals may take together where there is no width
EVEN = 5  # columns narrower than this are widened to their widest neighbour: a matrix reads as a square
LOOKS = {"right": "green", "carried": "cyan", "rounding": "yellow", "wrong": "bold red", "missing": "magenta"}
SPELLED = 2**16  # numbers whose spelling is remembered
Spell: TypeAlias = Callable[[str], str]  # a printed number in what the encoding has


@dataclass(slots=True)
class Column:
    """A column of a matrix: its label, how many characters its numbers have before the point and from it on, whether
    signs stand behind them, and how wide all of that is.
    """

    head: str
    before: int = 0
    after: int = 0
    signs: bool = False
    width: int = 0


class Side(NamedTuple):
    """What stands left of a matrix: its name over the labels of the rows, all as wide; a label may take some lines."""

    name: str
    labels: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        return cell_len(self.name)


def matrix_lines(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """The matrix as lines, in blocks of columns no wider than `room` where one column alone is not.

    Numbers are printed whole at any width: `room` decides how many columns stand side by side, no more. Closed forms
    stand before their decimals, ≈ between them, or above them where there is no room for both.
    """
    grid = grid.loaded()
    if grid.picture:
        from attncli.render.table.picture import picture_lines  # which few pages have

        yield from picture_lines(grid, room, color)
        return
    if grid.left_out:
        grid = with_dots(grid)
    if not grid.closed:
        yield from _decimals(grid, room, color)
        return
    closed, decimals = list(_closed(grid, None)), list(_decimals(grid, None, color))
    left, right = (max(line.cell_len for line in lines) for lines in (closed, decimals))
    side = _side(grid).width
    relation = BETWEEN.format("≈" if grid.rounded else "=")
    if left + right - side + len(relation) - 1 > (room or PIPE):
        yield from _closed(grid, room)
        yield Line()
        yield from _decimals(decimals_alone(grid), room, color)
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


def _closed(grid: Grid, room: int | None) -> Iterator[Line]:
    """The matrix of the closed forms."""
    forms = [[write(form, UNICODE) for form in row] for row in grid.closed]
    columns = []
    for head, texts in zip(map(label, grid.columns or ("",)), zip(*forms, strict=True), strict=True):
        columns.append(Column(head, width=max(cell_len(head), *map(len, texts), 1)))
    for start, end, side, before in _runs(grid, columns, room):
        yield from before
        rows = (Line(_joined(row[start:end], columns[start:end])) for row in forms)
        yield from _block(side, columns[start:end], rows)


def _decimals(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """The matrix of the decimals."""
    columns = [Column(label(head)) for head in grid.columns or ("",)]
    # Of a matrix with few decimals, many are alike.
    spell = lru_cache(SPELLED)(lambda text: write_number(text, UNICODE))
    shaded = legend = False
    for rows in chunks(grid.cells):
        shaded = shaded or (color and any(cell.shade is not None for row in rows for cell in row))
        legend = legend or has_sign_of_hidden(rows)
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
            _measure(column, cells, spell, color)
    for column in columns:
        column.signs = column.signs and not shaded
        column.head += "  " if column.head and column.signs else ""  # the label stands over the digits, not the signs
        column.width = max(cell_len(column.head), column.before + column.after + 2 * column.signs)
    even = min(EVEN, max(column.width for column in columns))
    for column in columns:
        column.width = max(even, column.width)
    for start, end, side, before in _runs(grid, columns, room):
        yield from before
        matrix = grid.cells if end - start == len(columns) else grid.block(start, end)
        yield from _block(side, columns[start:end], _rows(matrix, columns[start:end], spell, color))
    if legend:
        line = Line(f"{'without a colour:' if shaded else HIDDEN} {LEGEND}", "dim")
        yield Line()
        yield from [line] if room is None else line.wrapped(max(room, 1))


def _measure(column: Column, cells: Sequence[Cell], spell: Spell, color: bool) -> None:
    """Make the column wide enough for these cells."""
    # in a large matrix the same cell stands in many places
    for cell in {id(cell): cell for cell in cells}.values():
        whole, point, rest = _number(cell, spell).partition(".")
        column.before = max(column.before, len(whole))
        column.after = max(column.after, len(point) + len(rest))
        column.signs = column.signs or bool(mark(cell, shaded=not color))


def _number(cell: Cell, spell: Spell) -> str:
    return spell(cell.text) if cell.text else BLANK


def _rows(cells: Iterable[Sequence[Cell]], columns: Sequence[Column], spell: Spell, color: bool) -> Iterator[Line]:
    """The numbers of each row, points under points."""
    for rows in chunks(cells):
        spelled = (
            _spelled(column, its_cells, spell, color)
            for column, its_cells in zip(columns, zip(*rows, strict=True), strict=True)
        )
        for row, texts in zip(rows, zip(*spelled, strict=True), strict=True):
            line = Line(_joined(texts, columns))
            if color:
                _paint(line, columns, row)
            yield line


def _spelled(column: Column, cells: Sequence[Cell], spell: Spell, color: bool) -> list[str]:
    """The numbers of a column, with blanks and signs behind them."""
    texts = {}
    for key, cell in {id(cell): cell for cell in cells}.items():
        number = _number(cell, spell)
        _, point, rest = number.partition(".")
        blanks = column.after - len(point + rest)
        number += " " * blanks
        if column.signs:
            sign = mark(cell, shaded=not color)
            number = _marked(number, sign, cell)
        texts[key] = number
    return [texts[id(cell)] for cell in cells]


def _marked(number: str, sign: str, cell: Cell) -> str:
    """The sign of what is hidden belongs to the number, however few decimals that has; shades stand in a column."""
    return f"{number.rstrip()} {sign}".ljust(len(number) + 2) if cell.hidden else f"{number} {sign or ' '}"


def _joined(texts: Iterable[str], columns: Sequence[Column]) -> str:
    return (" " * GAP).join([text.rjust(column.width) for text, column in zip(texts, columns, strict=True)])


def _runs(grid: Grid, columns: Sequence[Column], room: int | None) -> Iterator[tuple[int, int, Side, list[Line]]]:
    """Which columns stand side by side, no wider than `room`; what stands left of them, and what is said before."""
    side = _side(grid, room, max(column.width for column in columns))
    runs = split([column.width + GAP for column in columns], room and room - side.width - AROUND)
    total = dict(grid.left_out).get("column", len(columns))
    for start, end in runs:
        before = [Line()] * (start > 0)
        if len(runs) > 1:  # dots, which follow the first columns, stand for all those between the ends
            first, last = (place + (total - len(columns)) * (place > EDGE) for place in (start, end))
            before.append(Line(caption("column", first, last, total), "dim"))
        yield start, end, side, before


def _block(side: Side, columns: Sequence[Column], rows: Iterable[Line]) -> Iterator[Line]:
    """Columns side by side."""
    heads = []
    for column in columns:
        blanks = column.width - cell_len(column.head)
        heads.append(" " * blanks + column.head)
    above = (" " * GAP).join(heads)
    head = Line.assemble((side.name, "bold"), (f"   {above}", "cyan"))
    head.rstrip()
    yield head
    last_row = len(side.labels)
    for place, numbers in enumerate(rows):
        first, *others = side.labels[place]
        opening, closing = _brackets(place, last_row, last=not others)
        yield Line.assemble((first, "cyan"), f" {opening} ", numbers, f" {closing}")
        # the other lines of a long label have nothing beside them
        nothing = " " * numbers.cell_len
        for number, rest in enumerate(others, 1):
            opening, closing = _brackets(place or 1, last_row, last=number == len(others))
            yield Line.assemble((rest, "cyan"), f" {opening} {nothing} {closing}")


def _paint(numbers: Line, columns: Sequence[Column], cells: Sequence[Cell]) -> None:
    at = 0
    for column, cell in zip(columns, cells, strict=True):
        if look := _look(cell):
            numbers.stylize(look, at, at + column.width)
        at += column.width + GAP


def _look(cell: Cell) -> str:
    if cell.marked:
        return "bold reverse"
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


def _side(grid: Grid, room: int | None = None, widest: int = 0) -> Side:
    """The labels of the rows, folded where they leave no room for the `widest` column."""
    name, whole = write(grid.name, UNICODE), [label(row) for row in grid.rows]
    left = None if room is None else max(room - AROUND - GAP - widest, LABEL, cell_len(name))
    labels = [(label,) if left is None or cell_len(label) <= left else _folded(label, left) for label in whole]
    width = max(map(cell_len, (name, *chain.from_iterable(labels))))
    return Side(_padded(name, width), tuple(tuple(_padded(piece, width) for piece in label) for label in labels))


def _folded(label: str, width: int) -> tuple[str, ...]:
    return tuple(piece.plain for piece in Line(label).wrapped(width))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
