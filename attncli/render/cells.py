"""The cells of a matrix, for every format: which stand side by side, and their marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from attncli.equation.nodes import Call
from attncli.page.document import ROWS_AT_EDGE, Cell, Grid, Item, LeftOut, Product

AT_ONCE = 2**16  # cells
GAP = 2  # digits between columns
# digits that brackets, and a sign between two matrices, take
AROUND = 5
# room for a number that is to be written in
BLANK = "______"
BLOCKS = "░▒▓█"
HIDDEN = "·"
# for rows and columns that are left out
DOTS = "…"
# a blank speaks for itself
VERDICTS = {"right": "✓", "carried": "»", "rounding": "≈", "wrong": "✗", "missing": ""}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def chunks(rows: Iterable[Sequence[Item]]) -> Iterator[list[Sequence[Item]]]:
    """The rows of a matrix, some at a time: what is made of them on the way takes little memory
    then.
    """
    remaining = iter(rows)
    for first in remaining:
        yield [first, *islice(remaining, AT_ONCE // max(1, len(first)))]


def split(
    widths: Sequence[float], room: float | None, most: int | None = None
) -> list[tuple[int, int]]:
    """Cut columns into runs (start, end), as long as fits: one at least, `most` at most, no wider
    than `room`.
    """
    runs, start, used = [], 0, 0.0
    for place, width in enumerate(widths):
        full = (room is not None and used + width > room) or place - start == most
        if place > start and full:
            runs.append((start, place))
            start, used = place, 0.0
        used += width
    return [*runs, (start, len(widths))]


def caption(what: str, start: int, end: int, total: int) -> str:
    """columns 1–7 of 20, or column 8 of 20; columns 5–1,996 of 2,000."""
    return (
        f"{what} {end:,} of {total:,}"
        if end - start == 1
        else f"{what}s {start + 1:,}–{end:,} of {total:,}"
    )


def left_out_text(left_out: LeftOut) -> str:
    """Which rows and columns are not there: left out: rows 5–46 of 50; --all shows all."""
    gone = [caption(what, ROWS_AT_EDGE, count - ROWS_AT_EDGE, count) for what, count in left_out]
    return f"left out: {' and '.join(gone)}; --all shows all"


def with_dots(grid: Grid) -> Grid:
    """The matrix with dots between its ends."""
    gone, dots = dict(grid.left_out), Cell(DOTS)
    if "column" in gone:
        wide = tuple(_around(row, dots) for row in grid.cells)
        grid = grid._replace(columns=_around(grid.columns, DOTS), cells=wide)
    if "row" in gone:
        between = (dots,) * len(grid.cells[0])
        grid = grid._replace(rows=_around(grid.rows, DOTS), cells=_around(grid.cells, between))
    return grid


def _around(items: Sequence[Item], between: Item) -> tuple[Item, ...]:
    return (*items[:ROWS_AT_EDGE], between, *items[ROWS_AT_EDGE:])


def decimals_alone(grid: Grid) -> Grid:
    """The matrix without its closed forms, which stand above it, and with the sign between them
    after its name.
    """
    return grid._replace(
        closed=(), name=Call("nearly" if grid.rounded else "equally", (grid.name,))
    )


def product_width(product: Product) -> int:
    """About how many digits wide the matrices of a product are side by side, the labels of the
    result among them.
    """
    grids = (*product.factors, *product.added, product.result)
    columns = [column for grid in grids for column in zip(*grid.cells, strict=True)]
    numbers = sum(max(len(cell.text) for cell in column) + GAP for column in columns)
    return numbers + len(grids) * AROUND + max(map(len, product.result.rows))


def mark(cell: Cell, *, shaded: bool = True) -> str:
    """The sign after a number: a verdict, what a mask hides (unless -inf says so), or its shade
    without colour.
    """
    if cell.verdict is not None:
        return VERDICTS[cell.verdict]
    if cell.hidden:
        return "" if cell.text == "-inf" else HIDDEN
    if cell.shade is None or not shaded:
        return ""
    return BLOCKS[min(int(max(cell.shade, 0.0) * len(BLOCKS)), len(BLOCKS) - 1)]


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
