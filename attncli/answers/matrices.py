"""One matrix as it stands on a page: its name, its labels and its cells, and which part of a step it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in one cell, in the spelling of claims, and where."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Span:
    """Which rows or columns a part of a long matrix has, from `start` up to and without `end`, of `total`."""

    start: int
    end: int
    total: int


@dataclass(frozen=True, slots=True)
class Table:
    """One matrix of a page: the name in its corner, its labels and its cells; a part of it where spans say so.

    `starts` are where its rows begin, each with its label: a row may have nothing else.
    `again` says that these are numbers which stand before already: the decimals of a matrix of closed forms.
    """

    name: str
    at: int
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    starts: tuple[int, ...]
    cells: tuple[tuple[Written, ...], ...]
    down: Span | None = None
    across: Span | None = None
    again: bool = False

    def shape(self, row: Sequence[Written]) -> tuple[int, int]:
        """Rows and columns of the whole matrix, of which the table may be a part, going by one of its rows."""
        down, across = len(self.cells), len(row)
        if self.down and self.down.end - self.down.start == down:
            down = self.down.total
        if self.across and self.across.end - self.across.start == across:
            across = self.across.total
        return down, across
