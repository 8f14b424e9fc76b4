"""Numbers and words in columns, for every format: how wide they are, where they are cut, what lines up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from attncli.equation.nodes import Call
from attncli.page.document import Grid, Item

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
AT_ONCE = 2**16  # cells
BLANK = "______"  # room for a number that is to be written in


def chunks(rows: Iterable[Sequence[Item]]) -> Iterator[list[Sequence[Item]]]:
    """The rows of a matrix, some at a time: what is made of them on the way takes little memory then."""
    remaining = iter(rows)
    for first in remaining:
        yield [first, *islice(remaining, AT_ONCE // max(1, len(first)))]


def split(widths: Sequence[float], room: float | None, most: int | None = None) -> list[tuple[int, int]]:
    """Cut columns into runs (start, end), as long as fits: one at least, `most` at most, no wider than `room`."""
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
    return f"{what} {end:,} of {total:,}" if end - start == 1 else f"{what}s {start + 1:,}–{end:,} of {total:,}"


def width(text: str) -> int:
    """How many columns of a fixed-width font the text takes, nearly: two for what East Asia writes wide."""
    return len(text) + sum(_width(character) - 1 for character in _NOT_ASCII.findall(text))


@cache
def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def decimals_alone(grid: Grid) -> Grid:
    """The matrix without its closed forms, which stand above it, and with the sign between them after its name."""
    return replace(grid, closed=(), name=Call("nearly" if grid.rounded else "equally", (grid.name,)))
