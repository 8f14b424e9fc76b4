"""Names of rows and columns beside the numbers of a pasted table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attncli.english import count, shorten
from attncli.problem.text.nodes import TRUTHS, Leaf, PastedList
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import as_float
from attncli.problem.text.pasted.grammar import Cell, CellRow, CellTable, PastedRow
from attncli.problem.text.pasted.text import PastedText
from attncli.problem.text.values import Value

_NUMBER_WORDS = ("nan", "inf", "infinity", "na", "n/a", "none", "null")
# These may be 0, 1, 10 and 0.5.
_LETTERS_AS_DIGITS = re.compile(r"[-+]?(?:[Ool.]+|[OolI0-9]*[.,][OolI0-9]+)")
_NAME_AND_NUMBERS = re.compile('"-+')
# Such a text may be a number, or stands for one.
_MAY_BE_NUMBER = re.compile(
    r"|[-+]?\.?(?:inf|infinity|nan)|[_~]|true|false|.*[\d∞√].*", re.IGNORECASE | re.DOTALL
)


def name_in(value: Value) -> Value | None:
    """The first name of a row or a column in a pasted table, whose first row or column has names
    only.
    """
    if not isinstance(value.node, PastedList) or value.node.numbers is not None:
        return None
    rows = [[*row.items] for row in value.items]
    in_order = [cell for row in rows for cell in row]
    if not all(isinstance(cell.node, Leaf) for cell in in_order):
        return None
    texts = [*map(_texts, rows)]
    if without_names(texts).rows == texts:
        return None
    return next((cell for cell in in_order if _is_name(cell.text)), None)


def _texts(row: list[Value]) -> CellRow:
    return [Cell(cell.node.at, cell.text) for cell in row]


def without_names(rows: list[CellRow]) -> CellTable:
    """The rows of a table without its first line, where that has names only, and without a column
    of names.

    Names may look like numbers in a table as attncli writes it: there they are in quotes, and
    nothing else is.
    """
    if not rows:
        return CellTable(rows)
    first = [cell.text for cell in rows[0]]
    may_be_head = bool(first) and (not first[0] or _is_name(first[0]))
    if may_be_head and _has_quoted_names(rows):
        return _named(rows[1:], first)
    # The corner of a table is empty.
    has_corner = bool(first) and not first[0]
    head = first if _are_names(first[1:] if has_corner else first) else []
    below = rows[1:] if head else rows
    if all(len(row) > 1 for row in below) and _are_names([row[0].text for row in below]):
        table = _named(below, head)
    else:
        table = CellTable(below, (), tuple(head))
    return table if table.rows else CellTable(rows)


def _named(rows: list[CellRow], head: list[str]) -> CellTable:
    """The same rows without their names; above these, the head may have a corner."""
    below = [row[1:] for row in rows]
    width = max(map(len, below), default=0)
    has_corner = len(head) == width + 1
    return CellTable(
        below, tuple(row[0].text for row in rows), tuple(head[1:] if has_corner else head)
    )


def named_rows(text: PastedText, rows: list[CellRow]) -> CellTable:
    """The rows without names. Raises what is wrong where a column may have a name and no number, or
    a number and no name: then the first column may count the rows.
    """
    table = without_names(rows)
    if len(table.rows) == len(rows):
        return table
    first = table.rows[0]
    names = len(list(filter(None, table.column_names)))
    if names < len(first):
        message = "this column has no name, and may only count the rows"
        help = (
            "leave it out, in pandas with to_csv(…, index=False), or give it a name if it belongs"
            " to the matrix"
        )
        raise text.error(message, help, first[0].at)
    if names > len(first) and not text.of_file:
        message = f"there are {count(names, 'name')} above {count(len(first), 'column')}"
        raise text.error(
            message, "write a number below each name, or leave out the names", rows[0][0].at
        )
    return table


def other_order(names: tuple[str, ...], labels: Sequence[str], what: str) -> str:
    """What is wrong where names are those of the tokens in another order; empty where they are not.

    >>> other_order(("love", "I"), ("I", "love"), "rows")
    'its rows are called love, I, in another order than I, love'
    >>> other_order(("q1", "q2"), ("I", "love"), "rows")
    ''
    """
    if sorted(names) != sorted(labels) or list(names) == list(labels):
        return ""
    said = shorten(", ".join(names))
    meant = shorten(", ".join(labels))
    return f"its {what} are called {said}, in another order than {meant}"


def is_head(first: PastedRow, second: PastedRow) -> bool:
    """Whether the first row has a name for each column of the second."""
    separator = next((sign for sign in "\t;," if sign in second.outline), "")
    names = [cell.text for cell in first.cells(separator)]
    return _are_names(names) and len(names) >= len(second.cells(separator))


def _has_quoted_names(rows: list[CellRow]) -> bool:
    """Whether the first row and the first column are in quotes, and nothing else."""
    head, *below = map(_quotes_of, rows)
    return "-" not in head and bool(below) and all(map(_NAME_AND_NUMBERS.fullmatch, below))


def _quotes_of(row: CellRow) -> str:
    """A quotation mark for each cell in quotes, and a dash for each other one."""
    return "".join('"' if cell.is_quoted else "-" for cell in row)


def _are_names(words: list[str]) -> bool:
    """Whether these are words, some of which may be signs, as tokens are: I, love, [SEP]."""
    has_name = any(map(_is_name, words))
    return has_name and all(_is_name(word) or _is_sign(word) for word in words)


def _is_sign(cell: str) -> bool:
    return not _MAY_BE_NUMBER.fullmatch(cell)


def _is_name(cell: str) -> bool:
    if not cell[:1].isalpha() or cell in TRUTHS or cell.lower() in _NUMBER_WORDS:
        return False
    # A root begins with a letter, too, and sqrt(2), is one with a slip.
    if _LETTERS_AS_DIGITS.fullmatch(cell) or cell.startswith("sqrt("):
        return False
    try:
        as_float(cell)
    except NumberError:
        return True
    return False
