"""A matrix for a terminal: labels outside the brackets, points under points, blocks of columns that
fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, zip_longest
from typing import NamedTuple, TypeAlias

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label
from attncli.page.colors import LEGEND, background, foreground, ramp_of
from attncli.page.document import Cell, Grid
from attncli.page.ends import ROWS_AT_EACH_END
from attncli.render.cells import (
    BLANK_NUMBER,
    HIDDEN_SIGN,
    caption,
    chunks,
    decimals_alone,
    has_sign_of_hidden,
    mark,
    shades_are,
    split,
    with_dots,
)
from attncli.render.table.styled_line import Line, cell_len

# Between columns.
COLUMN_GAP = 2
# A space and the brackets. The blanks inside are as wide as the gap between two columns.
AROUND_MATRIX = 3
# Labels are not folded to less.
NARROWEST_LABEL = 6
# A sign stands here, between closed forms and their decimals.
BETWEEN_FORMS = "  {}  "
# Closed forms and decimals are together no wider where there is no width.
WIDTH_OF_A_PIPE = 76
# Columns narrower than this are as wide as the widest of them: a matrix reads as a square.
EVEN_WIDTH = 5
# Fractions and roots, in Unicode and in ASCII.
_SIGN_OF_FORM = re.compile(r"[/√]|sqrt")
SIGNS_OF_VERDICTS = {
    "right": "green",
    "carried": "cyan",
    "rounding": "yellow",
    "wrong": "bold red",
    "missing": "magenta",
}
# The spelling of so many numbers is remembered.
MOST_SPELLED = 2**16
# It writes a printed number in what the encoding has.
Spell: TypeAlias = Callable[[str], str]


@dataclass(slots=True)
class Column:
    """A column of a matrix: its label, how many characters its numbers have before the point and
    from it on, whether signs stand behind them, and how wide all of that is.

    A fraction has no point, so where there is one, all numbers of the column end together; the
    `longest` of them says how wide they are.
    """

    head: str
    before: int = 0
    after: int = 0
    longest: int = 0
    end_together: bool = False
    signs: bool = False
    width: int = 0


class Side(NamedTuple):
    """What stands left of a matrix: its name over the labels of the rows, all as wide; a label may
    take some lines.
    """

    name: str
    labels: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        return cell_len(self.name)


def matrix_lines(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """The matrix as lines, in blocks of columns no wider than `room` where one column alone is not.

    Numbers are printed whole at any width: `room` decides how many columns stand side by side, no
    more. Closed forms stand before their decimals, ≈ between them, or above them where there is no
    room for both.
    """
    grid = grid.loaded()
    if grid.picture:
        # Few pages have it, and it takes a while to import.
        from attncli.render.table.picture import map_lines, picture_lines

        if grid.picture == "map":
            yield from map_lines(grid, room, color)
            return
        yield from picture_lines(grid, room, color)
        return
    if grid.left_out:
        grid = with_dots(grid)
    if not grid.closed:
        yield from _decimals(grid, room, color)
        return
    closed = list(_closed(grid, None))
    decimals = list(_decimals(grid, None, color))
    left = max(line.cell_len for line in closed)
    # What follows the rows is the legend.
    right = max(line.cell_len for line in decimals[: len(grid.rows) + 1])
    # The labels stand once, left of the closed forms.
    labels = _side(grid).width + 1
    relation = BETWEEN_FORMS.format("≈" if grid.rounded else "=")
    if left + len(relation) + right - labels > (room or WIDTH_OF_A_PIPE):
        yield from _closed(grid, room)
        yield Line()
        yield from _decimals(decimals_alone(grid), room, color)
        return
    middle = (len(grid.rows) + 1) // 2
    for place, (line, beside) in enumerate(zip_longest(closed, decimals, fillvalue=Line())):
        if place > len(grid.rows):
            # It is the legend of the decimals.
            yield beside
            continue
        line.pad_right(left - line.cell_len)
        sign = relation if place == middle else " " * len(relation)
        both = Line.assemble(line, sign, beside.part(labels))
        both.rstrip()
        yield both


def _closed(grid: Grid, room: int | None) -> Iterator[Line]:
    """The matrix of the closed forms."""
    forms = []
    for row in grid.closed:
        forms.append([write(form, UNICODE) for form in row])
    heads = [label(head) for head in grid.columns or ("",)]
    columns = []
    for head, texts in zip(heads, zip(*forms, strict=True), strict=True):
        width = max(cell_len(head), *map(len, texts), 1)
        columns.append(Column(head, width=width))
    for start, end, side, before in _runs(grid, columns, room):
        yield from before
        own = columns[start:end]
        rows = (Line(_joined(row[start:end], own)) for row in forms)
        yield from _block(side, own, rows)


def _decimals(grid: Grid, room: int | None, color: bool) -> Iterator[Line]:
    """The matrix of the decimals."""
    columns = [Column(label(head)) for head in grid.columns or ("",)]
    # Of a matrix with few decimals, many are alike.
    spell = lru_cache(MOST_SPELLED)(lambda text: write_number(text, UNICODE))
    legend = False
    for rows in chunks(grid.cells):
        legend |= has_sign_of_hidden(rows)
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
            _measure(column, cells, spell, color)
    for column in columns:
        if grid.shading and color:
            column.signs = False
        _set_width(column)
    even = min(EVEN_WIDTH, max(column.width for column in columns))
    for column in columns:
        column.width = max(even, column.width)
    for start, end, side, before in _runs(grid, columns, room):
        yield from before
        own = columns[start:end]
        cells_of_run = grid.cells if len(own) == len(columns) else grid.block(start, end)
        signed = grid.shading is not None and grid.shading.signed
        yield from _block(side, own, _rows(cells_of_run, own, spell, color, signed))
    line = _legend(grid, hidden=legend, color=color)
    if line is not None:
        yield Line()
        yield from [line] if room is None else line.wrapped(max(room, 1))


def _legend(grid: Grid, *, hidden: bool, color: bool) -> Line | None:
    """What shades and the sign of hidden cells mean; None where there are neither."""
    if grid.shading is None:
        return Line(f"{HIDDEN_SIGN} {LEGEND}", "dim") if hidden else None
    # Few pages have shades.
    from attncli.render.table.picture import legend_of_shades

    said = shades_are(grid.shading, lambda text: write_number(text, UNICODE))
    if hidden:
        sign = "without a colour:" if color else HIDDEN_SIGN
        said += f"; {sign} {LEGEND}"
    return legend_of_shades(said, signed=grid.shading.signed, color=color)


def _set_width(column: Column) -> None:
    """Room for the label, the digits and the signs behind them; the label stands over the
    digits.
    """
    if column.signs and column.head:
        column.head += "  "
    if column.end_together:
        column.after = 0
        digits = column.longest
    else:
        digits = column.before + column.after
    if column.signs:
        digits += 2
    column.width = max(cell_len(column.head), digits)


def _measure(column: Column, cells: Sequence[Cell], spell: Spell, color: bool) -> None:
    """Make the column wide enough for these cells."""
    # In a large matrix the same cell stands in many places.
    different = {id(cell): cell for cell in cells}
    for cell in different.values():
        number = _number(cell, spell)
        whole, point, rest = number.partition(".")
        after = len(point) + len(rest)
        column.longest = max(column.longest, len(number))
        column.end_together = column.end_together or _SIGN_OF_FORM.search(number) is not None
        column.before = max(column.before, len(whole))
        column.after = max(column.after, after)
        if mark(cell, shaded=not color):
            column.signs = True


def _number(cell: Cell, spell: Spell) -> str:
    return spell(cell.text) if cell.text else BLANK_NUMBER


def _rows(
    cells: Iterable[Sequence[Cell]],
    columns: Sequence[Column],
    spell: Spell,
    color: bool,
    signed: bool,
) -> Iterator[Line]:
    """The numbers of each row, points under points."""
    for rows in chunks(cells):
        spelled = []
        for column, of_column in zip(columns, zip(*rows, strict=True), strict=True):
            spelled.append(_spelled(column, of_column, spell, color))
        for row, texts in zip(rows, zip(*spelled, strict=True), strict=True):
            line = Line(_joined(texts, columns))
            if color:
                _paint(line, columns, row, signed)
            yield line


def _spelled(column: Column, cells: Sequence[Cell], spell: Spell, color: bool) -> list[str]:
    """The numbers of a column, with blanks and signs behind them."""
    texts = {}
    # In a large matrix the same cell stands in many places.
    different = {id(cell): cell for cell in cells}
    for key, cell in different.items():
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
    """A number and its sign: that of what is hidden belongs to the number, shades are a column."""
    if not cell.hidden:
        return f"{number} {sign or ' '}"
    width = len(number) + 2
    return f"{number.rstrip()} {sign}".ljust(width)


def _joined(texts: Iterable[str], columns: Sequence[Column]) -> str:
    padded = [text.rjust(column.width) for text, column in zip(texts, columns, strict=True)]
    return (" " * COLUMN_GAP).join(padded)


def _runs(
    grid: Grid, columns: Sequence[Column], room: int | None
) -> Iterator[tuple[int, int, Side, list[Line]]]:
    """Which columns stand side by side, no wider than `room`; what stands left of them, and what is
    said before.
    """
    widest = max(column.width for column in columns)
    side = _side(grid, room, widest)
    widths = [column.width + COLUMN_GAP for column in columns]
    runs = split(widths, room and room - side.width - AROUND_MATRIX)
    total = dict(grid.left_out).get("column", len(columns))
    left_out = total - len(columns)
    for start, end in runs:
        before = []
        if start > 0:
            before.append(Line())
        if len(runs) > 1:
            # Dots, which follow the first columns, stand for all those between the ends.
            first = start + left_out if start > ROWS_AT_EACH_END else start
            last = end + left_out if end > ROWS_AT_EACH_END else end
            before.append(Line(caption("column", first, last, total), "dim"))
        yield start, end, side, before


def _block(side: Side, columns: Sequence[Column], rows: Iterable[Line]) -> Iterator[Line]:
    """Columns side by side."""
    heads = []
    for column in columns:
        blanks = column.width - cell_len(column.head)
        heads.append(" " * blanks + column.head)
    above = (" " * COLUMN_GAP).join(heads)
    head = Line.assemble((side.name, "bold"), (f"   {above}", "cyan"))
    head.rstrip()
    yield head
    last_row = len(side.labels)
    for place, numbers in enumerate(rows):
        first, *others = side.labels[place]
        opening, closing = _brackets(place, last_row, last=not others)
        yield Line.assemble((first, "cyan"), f" {opening} ", numbers, f" {closing}")
        # The other lines of a long label have nothing beside them.
        nothing = " " * numbers.cell_len
        for number, rest in enumerate(others, 1):
            opening, closing = _brackets(place or 1, last_row, last=number == len(others))
            yield Line.assemble((rest, "cyan"), f" {opening} {nothing} {closing}")


def _paint(numbers: Line, columns: Sequence[Column], cells: Sequence[Cell], signed: bool) -> None:
    at = 0
    for column, cell in zip(columns, cells, strict=True):
        end = at + column.width
        look = _look(cell, signed)
        if look:
            numbers.stylize(look, at, end)
        at = end + COLUMN_GAP


def _look(cell: Cell, signed: bool) -> str:
    if cell.marked:
        return "bold reverse"
    if cell.verdict is not None:
        return SIGNS_OF_VERDICTS[cell.verdict]
    if cell.hidden:
        return "dim"
    if cell.shade is None:
        return ""
    # Most terminals are dark.
    back = background(cell.shade, ramp_of(signed=signed).night)
    front = foreground(back)
    return "rgb({},{},{}) on rgb({},{},{})".format(*front, *back)


def _brackets(place: int, count: int, *, last: bool) -> tuple[str, str]:
    """Those of a row of so many; `last` where it is the last of its lines."""
    if count == 1:
        return "[", "]"
    if place == 0:
        return "⎡", "⎤"
    if last and place == count - 1:
        return "⎣", "⎦"
    return "⎢", "⎥"


def _side(grid: Grid, room: int | None = None, widest: int = 0) -> Side:
    """The labels of the rows, folded where they leave no room for the `widest` column."""
    name = write(grid.name, UNICODE)
    left = None
    if room is not None:
        left = max(room - AROUND_MATRIX - COLUMN_GAP - widest, NARROWEST_LABEL, cell_len(name))
    labels = [_folded(label(row), left) for row in grid.rows]
    width = max(map(cell_len, (name, *chain.from_iterable(labels))))
    padded = []
    for pieces in labels:
        padded.append(tuple(_padded(piece, width) for piece in pieces))
    return Side(_padded(name, width), tuple(padded))


def _folded(label: str, width: int | None) -> tuple[str, ...]:
    """The label in lines no wider than this."""
    if width is None or cell_len(label) <= width:
        return (label,)
    return tuple(piece.plain for piece in Line(label).wrapped(width))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
