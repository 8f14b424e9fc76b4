"""Whole numbers whose digits stand in groups of three, 1 234 567: they can be several numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attncli.english import listed
from attncli.problem.text.decimal_commas import Doubt

_FIRST_GROUP = re.compile(r"[-+]?[1-9][0-9]{0,2}")
_NEXT_GROUP = re.compile(r"[0-9]{3}(?:[.,][0-9]+)?")
_THREE_DIGITS = re.compile(r"[1-9][0-9]{2}")


def doubtful_groups(rows: Sequence[tuple[int, str]]) -> Doubt | None:
    """The first number that can be several ones, as 1 234 567 and 1,234.5 can; None where all is
    clear.

    It is in doubt where all numbers of all rows can be groups of digits. Several rows of 100 to 999
    are a matrix: numbers of a column hardly ever begin with three digits each.
    """
    if not rows or not all(_is_grouped(_words(row)) for _, row in rows):
        return None
    words = [word for _, row in rows for word in _words(row)]
    if len(rows) > 1 and all(map(_THREE_DIGITS.fullmatch, words)):
        return None
    at, row = rows[0]
    groups = _first_number(_words(row))
    written = _sign_between(row).join(groups)
    number = "".join(groups).replace(",", ".")
    apart = ", ".join(groups)
    return Doubt(
        at + len(row) - len(row.lstrip()),
        f"{written} can be read as {number}, or as the numbers {listed(groups)}",
        f"write {number} for one number, or {apart} for {len(groups)}",
    )


def _words(row: str) -> list[str]:
    return row.split() if _sign_between(row) == " " else row.strip().split(",")


def _sign_between(row: str) -> str:
    """The sign that may stand between groups: a blank, and only where there is none a comma."""
    return " " if " " in row.strip() else ","


def _is_grouped(words: Sequence[str]) -> bool:
    """Whether these words can be the groups of numbers, each of which has two groups at least."""
    is_open = needs_more = False
    for word in words:
        if is_open and _NEXT_GROUP.fullmatch(word):
            needs_more = False
            # Decimals end a number.
            is_open = word.isdigit()
        elif not needs_more and _FIRST_GROUP.fullmatch(word):
            is_open = needs_more = True
        else:
            return False
    return not needs_more


def _first_number(words: Sequence[str]) -> list[str]:
    """The groups of the first number; it ends where only another one can begin."""
    groups = [words[0]]
    for word in words[1:]:
        last = groups[-1].lstrip("+-")
        if not last.isdigit():
            break
        if not _NEXT_GROUP.fullmatch(word):
            break
        groups.append(word)
    return groups
