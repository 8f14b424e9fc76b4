"""Matrices whose rows have brackets of their own: ⎡ 1 2 ⎤ above ⎣ 3 4 ⎦, [1 2] above [3 4], and
tables with bars between their cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple, NoReturn

from attncli.english import shorten
from attncli.problem.text.latex_numbers import from_latex
from attncli.problem.text.nodes import PastedList
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import as_float
from attncli.problem.text.pasted.cells import cells_of, list_of, table_of, write_points
from attncli.problem.text.pasted.grammar import Cell, CellRow, CellTable, PastedRow, rows_below
from attncli.problem.text.pasted.text import PastedText, require_not_turned

_OPENING, _CLOSING = "⎡⎢⎣⎛⎜⎝┌└╭╰", "⎤⎥⎦⎞⎟⎠┐┘╮╯"
_BARS = "|│┃"
_OPEN, _CLOSE = rf"[{_OPENING}{_BARS}\[(]", rf"[{_CLOSING}{_BARS}\])]"
_INSIDE = rf"[^{_OPENING}{_CLOSING}\[\]\n]"
# A row in brackets, which no others are in.
_ROW = re.compile(
    rf"(?P<before>[^{_OPENING}{_CLOSING}{_BARS}\[\]()\n]*)(?P<open>{_OPEN})"
    rf"(?P<inside>{_INSIDE}*)(?P<close>{_CLOSE})(?P<behind>[^{_OPENING}{_CLOSING}{_BARS}\[\]()\n]*)"
)
_DRAWN_SIGN = re.compile(rf"[{_OPENING}{_CLOSING}]")
_NAME = re.compile(r"\s*(?:[A-Za-z_][\w^{}ᵀ']*\s*(?::=|[=≈:])\s*)?")
_ANY_BRACKET = re.compile(r"[\[\]()]")
_MAY_BE_NAME = re.compile(r"\s*(?:[^\W\d][^,;]*)?")
_NAME_APART = re.compile(r"\s*(?:[^\W\d][^,;]*[\s:=])?")
_NOTHING_BEHIND = re.compile(r"[\s,;.]*")
# A rule below the head of a table, such as |---|:-:|, +---+---+ or ├───┼───┤.
_RULE = re.compile(r"\s*[|+│├╞╟┌└┬┴]?(?:\s*:?[-=─═━]{2,}:?\s*[|+│┼╪┤╡╢┐┘┬┴]?)+\s*")
_SHORT_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_BAR_OF_RULE = re.compile(r"[|+│┼╪]")
# One of its first two lines has a bracket or a bar: nobody looks through a long text for it.
_BEGIN = re.compile(rf"\s*(?=[^\n]*(?:\n\s*[^\n]*)?[{_OPENING}{_CLOSING}{_BARS}\[(])(?!\s*\[\s*\[)")
_BAR = re.compile(rf"(?:\\.|[^\\{_BARS}])*")
# The edge of a table that has bars only beside its rows.
_FRAME = re.compile(r"\s*[┌└├╭╰+](?:[-─═━]+[┐┘┤╮╯+])\s*")
_ESCAPED = re.compile(r"\\.")
_BLANK_BEFORE_ROOT = re.compile(r"(?<=[0-9]) +(?=sqrt\()")
_EMPHASIS = re.compile(r"(\*\*|__|`)(.*)\1")
_MATH = re.compile(r"\$`?(.*?)`?\$")
_BETWEEN_WORDS = re.compile(rf"[\s,;{_OPENING}{_CLOSING}{_BARS}\[\]()]+")
_BRACKET_OR_BAR = re.compile(rf"[{_BARS}\[\]()]")
_NUMBER_IN_BRACKETS = re.compile(r"[\[(]\s*[-−]?[0-9.√½¼¾]")
_SIGNS_OF_NO_LABEL = re.compile(r"[×·*/÷√{}\\]")
# In parentheses, a number alone may be negative, as accounts have it.
_SEVERAL = re.compile(r"\S\s*[\s,;]\s*\S")


class _BracketedRow(NamedTuple):
    """A line with a row in brackets: what stands before it, in it and behind it."""

    at: int
    found: re.Match[str]

    @property
    def inside(self) -> PastedRow:
        return PastedRow.of(self.found["inside"], self.at + self.found.start("inside"))

    @property
    def before(self) -> str:
        return self.found["before"].strip()


def drawn_at(text: str, start: int) -> re.Match[str] | None:
    """The beginning of rows that have brackets of their own, or of a table with bars; None where
    none begin there.
    """
    begin = _BEGIN.match(text, start)
    if begin is None:
        return None
    lines = [line for _, line in _lines_of(text, start)]
    return begin if _is_drawn(lines) else None


def _is_drawn(lines: Sequence[str]) -> bool:
    if any(_DRAWN_SIGN.search(line) for line in lines) or _has_bars(lines):
        return True
    has_head = len(lines) > 1 and not _ANY_BRACKET.search(lines[0])
    rows = [_ROW.fullmatch(line) for line in lines[has_head:]]
    if not all(row and _is_row(row) for row in rows):
        return False
    # [1 2] alone is a list, and of a page the only row has a name, or names above it.
    return len(rows) > 1 or has_head or any(row and row["before"].strip() for row in rows)


def _has_bars(lines: Sequence[str]) -> bool:
    if lines[0].lstrip()[0] in _BARS:
        return True
    # The head of a table may have no bar before it.
    return any(_RULE.fullmatch(line) and _BAR_OF_RULE.search(line) for line in islice(lines, 2))


def _is_row(row: re.Match[str]) -> bool:
    """Whether brackets may be those of a row, and not of one number: (1), or sqrt(2)."""
    if row["open"] + row["close"] not in ("[]", "()") or not _NOTHING_BEHIND.fullmatch(
        row["behind"]
    ):
        return False
    if row["open"] == "(":
        return (
            _NAME_APART.fullmatch(row["before"]) is not None
            and _SEVERAL.search(row["inside"]) is not None
        )
    return _MAY_BE_NAME.fullmatch(row["before"]) is not None


def read_drawn(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The matrix of a text of such rows."""
    lines = _lines_of(text.text, begin.start())
    rules = _rules(lines)
    rows = [line for number, (_, line) in enumerate(lines) if number not in rules]
    # A rule that is cut by bars is that of a table, also where one of its rows has only one cell.
    has_columns = any(_is_cut_by_bars(lines[number][1]) for number in rules)
    if rows and (has_columns or all(map(_is_cut_by_bars, rows))):
        return list_of(text, _table_with_bars(text, lines), rank)
    return list_of(text, _bracketed(text, lines), rank)


def _lines_of(text: str, start: int) -> list[tuple[int, str]]:
    found = []
    at = start
    for line in text[start:].split("\n"):
        if line.strip():
            found.append((at, line))
        at += len(line) + 1
    return found


def _is_cut_by_bars(line: str) -> bool:
    """Whether bars stand between the cells of a line, | 1 | 2 |, and not only around them."""
    inner = _ESCAPED.sub("", line).strip()
    if inner[:1] in (*_BARS,):
        inner = inner[1:]
    if inner[-1:] in (*_BARS,):
        inner = inner[:-1]
    return any(bar in inner for bar in _BARS)


def _rules(lines: Sequence[tuple[int, str]]) -> list[int]:
    """Which of these lines are rules; one with a single dash in a cell only below the first."""
    return [
        number
        for number, (_, line) in enumerate(lines)
        if _RULE.fullmatch(line) or (number == 1 and _SHORT_RULE.fullmatch(line))
    ]


def _table_with_bars(text: PastedText, lines: Sequence[tuple[int, str]]) -> CellTable:
    rules = _rules(lines)
    first_at, first = lines[0]
    if 1 in rules and _NUMBER_IN_BRACKETS.search(first):
        _raise_no_row(text, first_at, first)
    rows = [
        _cells_between_bars(at, line)
        for number, (at, line) in enumerate(lines)
        if number not in rules
    ]
    table = table_of(text, rows)
    write_points(table.rows)
    return table


def _cells_between_bars(at: int, line: str) -> CellRow:
    inner = line.strip()
    start = at + line.index(inner)
    if inner[0] in _BARS:
        inner, start = inner[1:], start + 1
    cells = []
    while True:
        found = _BAR.match(inner)
        assert found is not None, "even nothing matches"
        written = found[0]
        place = start + len(written) - len(written.lstrip())
        cells.append(Cell(place, _plain(written.strip())))
        start += len(written) + 1
        inner = inner[len(written) + 1 :]
        if not inner.strip():
            return cells


def _plain(cell: str) -> str:
    """A cell without what only shows how it looks in Markdown."""
    while emphasis := _EMPHASIS.fullmatch(cell):
        cell = emphasis[2]
    formula = _MATH.fullmatch(cell)
    return _BLANK_BEFORE_ROOT.sub("", from_latex(formula[1])) if formula else cell


def _bracketed(text: PastedText, lines: Sequence[tuple[int, str]]) -> CellTable:
    """The rows between brackets; names beside all of them, and above them, are none of them."""
    rows: list[_BracketedRow] = []
    rules = _rules(lines)
    for number, (at, line) in enumerate(lines):
        if number in rules or _FRAME.fullmatch(line):
            continue
        if found := _ROW.fullmatch(line):
            rows.append(_BracketedRow(at, found))
        elif rows or _DRAWN_SIGN.search(line) or _SIGNS_OF_NO_LABEL.search(line):
            _raise_no_row(text, at, line)
        else:
            _require_names(text, at, line)
    if not any(row.found["inside"].strip() for row in rows):
        _raise_no_row(text, *lines[0])
    for row in rows:
        if not _NOTHING_BEHIND.fullmatch(row.found["behind"]):
            word = row.found["behind"].strip()
            at = row.at + row.found.start("behind")
            help = "write one matrix alone, and put a second one under a key of its own"
            raise text.error(f"{shorten(word)} does not belong behind a row", help, at)
    names = _names_beside(text, rows)
    inside = rows_below(row.inside for row in rows)
    return cells_of(text, inside)._replace(row_names=names)


def _require_names(text: PastedText, at: int, line: str) -> None:
    """Raises what is wrong where a line above the rows is a row without brackets, or the name of
    another matrix.
    """
    require_not_turned(text, line, at)
    words = _BETWEEN_WORDS.split(line.strip())
    # A label may be in brackets, as [SEP] is.
    if _BRACKET_OR_BAR.search(line) and any(map(_is_number, words)):
        _raise_no_row(text, at, line)
    # Names begin with that of the matrix, or of a column.
    if not line.lstrip()[0].isalpha() and any(map(_is_number, words)):
        said = shorten(" ".join(words))
        message = f"{said} can be read as a row of the matrix, or as names above its columns"
        help = f"write [{said}] for a row, or leave it out if these are names"
        raise text.error(message, help, at + line.index(line.strip()))


def _is_number(word: str) -> bool:
    try:
        as_float(word)
    except NumberError:
        return False
    return True


def _names_beside(text: PastedText, rows: Sequence[_BracketedRow]) -> tuple[str, ...]:
    """The names before the rows; none where there is only the name of the matrix before one."""
    filled = [row for row in rows if row.found["inside"].strip()]
    # Q = before one of the rows is the name of the matrix.
    are_named = all(row.before and not row.before.endswith("=") for row in filled)
    if are_named and (len(filled) > 1 or filled[0].before[0].isalpha()):
        require_not_turned(text, filled[0].before, filled[0].at)
        return tuple(row.before.rstrip(":") for row in filled)
    for row in rows:
        require_not_turned(text, row.found["before"], row.at)
        if row.before and not _NAME.fullmatch(row.found["before"]):
            word = shorten(row.before)
            message = f"{word} stands before only one of the rows, as a factor does"
            help = "write the matrix alone, or a name before each row"
            raise text.error(message, help, row.at + row.found["before"].index(row.before))
    return ()


def _raise_no_row(text: PastedText, at: int, line: str) -> NoReturn:
    word = line.strip()
    message = f"{shorten(word)} is no row of a matrix"
    help = "write one matrix alone, each row in brackets on a line of its own"
    raise text.error(message, help, at + line.index(word))
