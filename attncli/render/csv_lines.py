"""Rows of cells as lines of text that a spreadsheet opens: numbers with all digits, and text that
stays text.

A spreadsheet takes a cell that begins with = for a formula, even one in quotes. So text that could
be one gets an apostrophe before it. All text is in quotes, because some countries' spreadsheets
also cut lines at semicolons.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TypeAlias

from attncli.escaping import visible

Value: TypeAlias = str | int | float
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def lines(rows: Iterable[Sequence[Value | None]], separator: str = ",") -> Iterator[str]:
    """The lines of a table, each with its newline; None is an empty cell.

    >>> "".join(lines([("token", "a"), ("=1+1", 0.5)]))
    '"token","a"\\n"\\'=1+1",0.5\\n'
    """
    buffer = StringIO()
    writer = csv.writer(
        buffer, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
    )
    for row in rows:
        writer.writerow(
            [safe(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row]
        )
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def safe(text: str) -> str:
    """What a person wrote, on one line, as a cell that no spreadsheet takes for a formula."""
    return visible(f"'{text}" if text.startswith(_FORMULA) else text)


def original(cell: str) -> str:
    """The text that `safe` made a cell of, if it only put an apostrophe before it."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
