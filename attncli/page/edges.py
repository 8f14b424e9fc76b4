"""The two ends of what is long, for a terminal, which has no room for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

MOST = 40  # rows, or columns, that are shown whole
EDGE = 4  # of more, so many at either end
Item = TypeVar("Item")
LeftOut: TypeAlias = tuple[tuple[str, int], ...]  # "row" or "column", and how many there are in all


def ends(items: Sequence[Item]) -> Sequence[Item]:
    """All of few, the first and the last of many."""
    return items if len(items) <= MOST else [*items[:EDGE], *items[-EDGE:]]


def left_out(**counts: int) -> LeftOut:
    """Of which of these only the ends are there, by how many there are of each: `left_out(row=50, column=3)`."""
    return tuple((what, count) for what, count in counts.items() if count > MOST)
