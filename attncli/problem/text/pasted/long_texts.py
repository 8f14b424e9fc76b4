"""Long texts of plain numbers, which are read in one go."""

from __future__ import annotations

import re

from attncli.problem.limits import ELEMENT_LIMIT
from attncli.problem.text.building import LONG_TEXT
from attncli.problem.text.decimal_commas import are_grouped_decimals, doubtful_commas
from attncli.problem.text.grouped_digits import doubtful_groups
from attncli.problem.text.nodes import PastedList
from attncli.problem.text.pasted.grammar import PastedRow, Piece, rows_below
from attncli.problem.text.pasted.names import is_head
from attncli.problem.text.pasted.text import PastedText

_FIRST_ROW = re.compile(r"^[ \t]*[-+.0-9][^\n]*", re.MULTILINE)
_SEPARATORS_TO_BLANKS = str.maketrans("\t,;", "   ")
_PLAIN_NUMBERS = re.compile(r"[-+.0-9eE\s]*")
# The pattern begins with the 0, so that it is found quickly.
_LEADING_ZERO = re.compile(r"0(?<![0-9.eE].)(?<![eE][+-].)[0-9]")
# A number of more characters is not read with all others in one go.
_LONGEST_NUMBER = 200


def in_one_go(text: PastedText) -> PastedList | None:
    """The rows of a long text of plain numbers, as one array; None where anything in it is unusual,
    or wrong.
    """
    first = _FIRST_ROW.search(text.text) if text.step and len(text.text) >= LONG_TEXT else None
    if first is None or not _may_stand_above(text, first):
        return None
    start = first.start()
    numbers = text.text[start:]
    blanks = numbers.translate(_SEPARATORS_TO_BLANKS)
    if not _PLAIN_NUMBERS.fullmatch(blanks) or _LEADING_ZERO.search(blanks):
        return None
    sign = "".join(sign for sign in ",;\t" if sign in numbers)
    rows = [*enumerate(numbers.rstrip().split("\n"))]
    if len(sign) > 1 or _are_in_doubt(text, rows, sign):
        return None
    words = [row.split() for row in blanks.rstrip().split("\n")]
    if not _are_even(words, rows, sign):
        return None
    # This one needs NumPy.
    from attncli.problem.text.long_lists import NumberRows

    try:
        return PastedList(text.at, numbers=NumberRows.of(words, blanks.rjust(len(text.text))))
    except ValueError:
        return None


def _may_stand_above(text: PastedText, first: re.Match[str]) -> bool:
    """Whether above the first row of numbers there is nothing, or in a file the names of its
    columns.
    """
    above = rows_below(PastedRow.of(text.text[: first.start()]).split("\n"))
    if not above:
        return True
    return text.of_file and len(above) == 1 and is_head(above[0], PastedRow.of(first[0]))


def _are_in_doubt(text: PastedText, rows: list[Piece], sign: str) -> bool:
    """Whether anything in these rows may be read in two ways."""
    is_line = len(rows) == 1
    if (sign == ";" and is_line) or (sign == "," and text.of_tabs):
        return True
    if are_grouped_decimals(rows):
        return True
    return bool(doubtful_commas(rows) or doubtful_groups(rows))


def _are_even(words: list[list[str]], rows: list[Piece], sign: str) -> bool:
    """Whether all rows have equally many numbers, one between two signs, and none is too long."""
    width = len(words[0])
    if not width or width * len(words) > ELEMENT_LIMIT:
        return False
    if any(len(row) != width for row in words):
        return False
    if sign:
        signs = (row.count(sign) for _, row in rows)
        if any(number != width - 1 for number in signs):
            return False
    return all(len(word) <= _LONGEST_NUMBER for row in words for word in row)
