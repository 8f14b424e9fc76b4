"""The cells of a matrix, for every format: which stand side by side, and their marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from attncli.equation.nodes import Call
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.page.document import Cell, Grid, Item, LeftOut, Math, Product, Shading
from attncli.page.ends import ROWS_AT_EACH_END

# So many cells are written together.
CELLS_AT_ONCE = 2**16
# Between two columns, in digits.
COLUMN_GAP = 2
# Brackets, and a sign between two matrices, are as wide as so many digits.
AROUND_MATRIX = 5
# Room for a number that is to be written in.
BLANK_NUMBER = "______"
SHADE_SIGNS = "░▒▓█"
HIDDEN_SIGN = "·"
# They stand for rows and columns that are left out.
LEFT_OUT_DOTS = "…"
# A longer name in a table is broken over lines.
LONGEST_NAME = 36
# A blank that is missing speaks for itself.
VERDICT_SIGNS = {"right": "✓", "carried": "»", "rounding": "≈", "wrong": "✗", "missing": ""}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def chunks(rows: Iterable[Sequence[Item]]) -> Iterator[list[Sequence[Item]]]:
    """The rows of a matrix, some at a time: what is made of them takes little memory then."""
    remaining = iter(rows)
    for first in remaining:
        length = max(1, len(first))
        others = islice(remaining, CELLS_AT_ONCE // length)
        yield [first, *others]


def split(
    widths: Sequence[float], room: float | None, most: int | None = None
) -> list[tuple[int, int]]:
    """Cut columns into runs (start, end), as long as fits: one at least, `most` at most, no wider
    than `room`.
    """
    runs = []
    start = 0
    used = 0.0
    for place, width in enumerate(widths):
        is_wide = room is not None and used + width > room
        has_most = place - start == most
        if place > start and (is_wide or has_most):
            runs.append((start, place))
            start = place
            used = 0.0
        used += width
    return [*runs, (start, len(widths))]


def caption(what: str, start: int, end: int, total: int) -> str:
    """columns 1–7 of 20, or column 8 of 20; columns 5–1,996 of 2,000."""
    if end - start == 1:
        return f"{what} {end:,} of {total:,}"
    return f"{what}s {start + 1:,}–{end:,} of {total:,}"


def left_out_text(left_out: LeftOut) -> str:
    """Which rows and columns are not there: left out: rows 5–46 of 50; --all shows all."""
    gone = [
        caption(what, ROWS_AT_EACH_END, count - ROWS_AT_EACH_END, count) for what, count in left_out
    ]
    return f"left out: {' and '.join(gone)}; --all shows all"


def with_dots(grid: Grid) -> Grid:
    """The matrix with dots between its ends."""
    gone = dict(grid.left_out)
    dots = Cell(LEFT_OUT_DOTS)
    if "column" in gone:
        columns = _around(grid.columns, LEFT_OUT_DOTS)
        wide = tuple(_around(row, dots) for row in grid.cells)
        grid = grid._replace(columns=columns, cells=wide)
    if "row" in gone:
        rows = _around(grid.rows, LEFT_OUT_DOTS)
        between = (dots,) * len(grid.cells[0])
        grid = grid._replace(rows=rows, cells=_around(grid.cells, between))
    return grid


def _around(items: Sequence[Item], between: Item) -> tuple[Item, ...]:
    return (*items[:ROWS_AT_EACH_END], between, *items[ROWS_AT_EACH_END:])


def decimals_alone(grid: Grid) -> Grid:
    """The matrix without its closed forms, which stand above it, and with the sign between them
    after its name.
    """
    return grid._replace(
        closed=(), name=Call("nearly" if grid.rounded else "equally", (grid.name,))
    )


def product_width(product: Product) -> int:
    """About how many digits wide the matrices of a product are side by side.

    The labels of the result are among them.
    """
    width = max(map(len, product.result.rows))
    for letter in (*product.factors, *product.added):
        if isinstance(letter, Math):
            width += len(write(letter.expression, UNICODE)) + COLUMN_GAP
    for grid in product.matrices:
        width += AROUND_MATRIX
        for column in zip(*grid.cells, strict=True):
            longest = max(len(cell.text) for cell in column)
            width += longest + COLUMN_GAP
    return width


def mark(cell: Cell, *, shaded: bool = True) -> str:
    """The sign after a number: a verdict, what a mask hides (unless -inf says so), or its shade
    without colour.
    """
    if cell.verdict is not None:
        return VERDICT_SIGNS[cell.verdict]
    if cell.hidden:
        return "" if cell.text == "-inf" else HIDDEN_SIGN
    if cell.shade is None or not shaded:
        return ""
    last = len(SHADE_SIGNS) - 1
    place = int(max(cell.shade, 0.0) * len(SHADE_SIGNS))
    return SHADE_SIGNS[min(place, last)]


def shades_are(shading: Shading, spell: Callable[[str], str]) -> str:
    """What shades stand for: from 0 to 0.707; or from 1 to 3; beyond, up to 90."""
    said = f"from {spell(shading.low)} to {spell(shading.high)}"
    beyond: list[str] = []
    if shading.least:
        beyond.append(f"down to {spell(shading.least)}")
    if shading.most:
        beyond.append(f"up to {spell(shading.most)}")
    if beyond:
        said += f"; beyond, {' and '.join(beyond)}"
    return said


def has_sign_of_hidden(rows: Iterable[Sequence[Cell]]) -> bool:
    """Whether any cell carries the sign for hidden, which then has to be explained."""
    return any(cell.hidden and mark(cell) for row in rows for cell in row)


def text_width(text: str) -> int:
    """How many columns of a fixed-width font the text takes, nearly: two for what East Asia writes
    wide.
    """
    return len(text) + sum(_width(character) - 1 for character in _NOT_ASCII.findall(text))


@cache
def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
