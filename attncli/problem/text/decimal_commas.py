"""Decimals that are written with a comma: YAML and JSON read [0,7, 0,2] as four numbers, where two
may be meant.

In cells that something else keeps apart, as tabs in 0,7→0,2, a comma can only be that of a decimal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attncli.english import listed
from attncli.problem.text.nodes import Leaf, ListNode, Node, PastedList
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value

# This stands after the comma of 0,(3).
_RECURRING = r"[0-9]*\([0-9]+\)|[0-9\u0304\u0305\u0307]+"
_WITH_COMMA = rf"[-+−–]?[0-9]+,(?:[0-9]+(?:[eE][-+]?[0-9]+)?|{_RECURRING})"
DECIMAL = re.compile(_WITH_COMMA)
# Answers may be in percent: 22,5 %.
_DECIMAL_CELL = re.compile(rf"(?:{_WITH_COMMA})(?:\s*%)?")
_PERCENT = re.compile(r"(?<=[0-9])\s*%\s*\Z")
# A number such as 1.000,5.
_GROUPED_BY_POINT = r"[-+−–]?[1-9][0-9]{0,2}\.[0-9]{3},[0-9]+"
# Numbers such as 1,000.5 and 1,000,000.
_GROUPED_BY_COMMA = r"[-+−–]?[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+\.[0-9]+|(?:,[0-9]{3}){2,})"
_GROUPED = re.compile(rf"{_GROUPED_BY_POINT}|{_GROUPED_BY_COMMA}")
# A number with a comma inside, which can also separate two numbers.
PAIR = re.compile(rf"{_WITH_COMMA}|{_GROUPED_BY_POINT}|{_GROUPED_BY_COMMA}")
# A comma between numbers has a blank beside it, as opposed to that of a decimal.
_BETWEEN_NUMBERS = re.compile(r"\s+,?\s*|,\s+")
# 1,500 may be 1.5, and it may be fifteen hundred.
ONE_GROUP = re.compile(r"[-+−–]?[1-9][0-9]{0,2},[0-9]{3}")
_ROW = re.compile(r"\[([^\[\]]+)\]")
_REMARK = re.compile(r"(?:^|(?<=\s))#[^\n]*")
# A help line shows so many numbers of a row.
_MOST_NUMBERS_SHOWN = 4
# Matrices of more characters are written by programs, which do not mistake a point.
_LONGEST_TYPED_MATRIX = 2000
_SPACED_NUMBER = re.compile(r"\d, ")
# 0,33 is likely a decimal: behind a comma without a blank, a whole number rarely has two digits.
_LIKELY_DECIMAL = re.compile(r"[-+−–]?[0-9]+,[0-9]{2,}")
_CLOSE_PAIR = re.compile(r"(?<![\d.,])[-+]?\d+,\d+(?![\d.]|,\S)")


class Doubt(NamedTuple):
    """What can be read in two ways, as 0,7 can: where the first such is, and what to say of it."""

    at: int
    message: str
    help: str


def doubtful_commas(rows: Iterable[tuple[int, str]]) -> Doubt | None:
    """The first comma that can be read in two ways in a matrix, as in [0,7, 0,2]; None where all
    are clear.

    A row is the place and the text between its brackets. The commas of a matrix are in doubt where,
    in each of its rows, some have a blank beside them and some have none, and those without a blank
    are between two whole numbers, no two of them next to each other, and equally many in all rows;
    so both readings make rows of one length. In a single row, every number must be such a pair: [1,
    2,3, 4] only lacks a blank.
    """
    found: list[tuple[int, str, list[str]]] = []
    shapes = set()
    for at, row in rows:
        numbers = _BETWEEN_NUMBERS.split(_REMARK.sub("", row).strip())
        decimals = [number for number in numbers if "," in number]
        shapes.add((len(numbers), len(decimals)))
        if (
            len(numbers) < 2
            or not decimals
            or len(shapes) > 1
            or not all(map(PAIR.fullmatch, decimals))
        ):
            return None
        found = [*found[:1], (at, row, numbers)]
    if not found:
        return None
    at, row, numbers = found[0]
    decimals = [number for number in numbers if "," in number]
    if len(found) == 1 and len(decimals) < len(numbers):
        return None
    return _doubt(
        at + row.index(decimals[0]), decimals[0], numbers, _apart(numbers, ", ").split(", ")
    )


def doubtful_pairs(rows: Iterable[tuple[int, str]]) -> Doubt | None:
    """The first comma of rows that semicolons make, 1,5; 2, which can be that of a decimal, or make
    a row of two.
    """
    found = [(at + len(row) - len(row.lstrip()), _PERCENT.sub("", row).strip()) for at, row in rows]
    decimals = [(at, row) for at, row in found if PAIR.fullmatch(row)]
    others = [row for _, row in found if not PAIR.fullmatch(row)]
    if not decimals or any(re.search(r"[\s,]", row) for row in others):
        return None
    at, first = decimals[0]
    help = (
        f"write {_with_point(first)}, with a point, or {_apart([first], ', ')}, with a blank after"
        " the comma"
    )
    return Doubt(at, _readings(first), help)


def are_grouped_decimals(rows: Sequence[tuple[int, str]]) -> bool:
    """Whether each row can be a number, and some only one such as 1.000,5 or 1,000.5."""
    if not all(PAIR.fullmatch(row.strip()) for _, row in rows):
        return False
    return any(_GROUPED.fullmatch(row.strip()) for _, row in rows)


def with_points(cells: Iterable[str]) -> dict[str, str]:
    """Those of a matrix's cells that are decimals with a comma, with the point they are to have.

    0,7 becomes 0.7. None has where it could be a mistake: where a point stands in another cell, or
    all can be numbers with a comma between their thousands, as 1,500 can.
    """
    found = {cell for cell in cells if "," in cell or "." in cell}
    if not all(map(_DECIMAL_CELL.fullmatch, found)):
        return {}
    if all(map(ONE_GROUP.fullmatch, found)):
        return {}
    return {cell: _with_point(cell) for cell in found}


def _readings(decimal: str) -> str:
    numbers = _apart([decimal], ",").split(",")
    several = "the two numbers" if len(numbers) == 2 else "the numbers"
    return f"{decimal} can be read as {_with_point(decimal)}, or as {several} {listed(numbers)}"


def _doubt(at: int, first: str, decimals: list[str], apart: list[str]) -> Doubt:
    return Doubt(
        at,
        _readings(first),
        f"write {_list(map(_with_point, decimals))}, with a point in each decimal, "
        f"or {_list(apart)}, with a blank after each comma",
    )


def report_doubtful_commas(value: Value) -> bool:
    """Report lists of numbers whose commas can be read in two ways; whether they can."""
    doubt = doubtful_commas(_rows(value.node, value.errors.source.text))
    if doubt:
        value.wrong(doubt.message, doubt.help, at=doubt.at)
    return doubt is not None


def comma_advice(text: str, start: int, end: int) -> str:
    """What to add to the help where too many entries stand in this part of a text, as decimal
    commas make them; empty where nothing is suspect.

    In [1, 1,5] two numbers stand closer together than the others, and were meant as 1.5; and so may
    all be in [[0,33], [0,67]], though not in [[1,0], [0,1]].
    """
    if end - start > _LONGEST_TYPED_MATRIX:
        return ""
    written = text[start:end]
    rows = [row.strip() for row in _ROW.findall(written)]
    if rows and all(map(_LIKELY_DECIMAL.fullmatch, rows)):
        numbers = rows[0].replace(",", " and ")
        return f"; {rows[0]} is read as {numbers}: write {_with_point(rows[0])} for a decimal"
    if not _SPACED_NUMBER.search(written):
        return ""
    for found in _CLOSE_PAIR.finditer(written):
        begins_row = written[: found.start()].endswith("[")
        ends_row = written[found.end() :][:1] in ("", "]")
        if not (begins_row and ends_row):
            return f"; decimals are written with a point: {_with_point(found[0])}"
    return ""


def comma_advice_for(reading: Reading, *names: str) -> str:
    """Advice for the first of these arrays that seems to be written with decimal commas."""
    text, at = reading.errors.source.text, reading.places
    for name in names:
        end = min((place for place in at.values() if place > at[name]), default=len(text))
        if advice := comma_advice(text, at[name], end):
            return advice
    return ""


def _rows(node: Node, text: str) -> Iterator[tuple[int, str]]:
    """The rows of nested lists, each with its place and the text between its brackets."""
    # The commas of a pasted list were looked at when it was read.
    if not isinstance(node, ListNode) or isinstance(node, PastedList):
        return
    if node.numbers is not None:
        yield from ((node.at + row.start(1), row[1]) for row in _ROW.finditer(node.numbers.text))
    elif node.items and all(isinstance(item, Leaf) for item in node.items):
        first, last = node.items[0], node.items[-1]
        assert isinstance(last, Leaf)
        yield first.at, text[first.at : last.at + len(last.text)]
    else:
        for item in node.items:
            yield from _rows(item, text)


def _with_point(decimal: str) -> str:
    """The number with a point and without signs between its thousands: 1000.5 for 1.000,5."""
    if "." not in decimal:
        return decimal.replace(",", "." if decimal.count(",") == 1 else "")
    point = max(decimal.rfind("."), decimal.rfind(","))
    whole = decimal[:point].replace(".", "").replace(",", "")
    return f"{whole}.{decimal[point + 1 :]}"


def _apart(numbers: Iterable[str], between: str) -> str:
    """The numbers with a blank after each comma: 0, 7."""
    return between.join(
        re.sub("^0+(?=[0-9])", "", part) for number in numbers for part in number.split(",")
    )


def _list(numbers: Iterable[str]) -> str:
    return f"[{listed([*numbers], last='', most=_MOST_NUMBERS_SHOWN)}]"
