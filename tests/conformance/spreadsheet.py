"""A small spreadsheet: the cells of an .xlsx file, and their formulas worked out as the manual of
Excel says.

It knows the functions that workbooks of attncli use. A minus before a number binds tighter than a
power, and text in a cell is no number: SUM and MAX of cells skip it, and arithmetic with it is an
error, #VALUE! in Excel.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*")|(?P<cells>(?:'[^']+'!)?\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)(?![\w(])"""
    r"|(?P<number>\d+(?:\.\d*)?(?:E[-+]?\d+)?)|(?P<name>[A-Z]+)|(?P<sign><=|>=|<>|[-+*/^<>=(),]))"
)
_HIDDEN = "−∞"
_BINDS = {"=": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "+": 2, "-": 2, "*": 3, "/": 3, "^": 4}


class Written(str):
    """A formula as it stands in the file, B3*2."""


class Cells(list):
    """The values of a range of cells, row by row."""


class Spreadsheet:
    """The sheets of a file by name: formulas, B3*2, and values; `cached` are the results that the
    file has.
    """

    def __init__(self, file: Path | bytes) -> None:
        self.cells: dict[tuple[str, str], Any] = {}
        self.cached: dict[tuple[str, str], Any] = {}
        self.names: list[str] = []
        self._lines: dict[str, dict[int, list[tuple[str, str]]]] = {}
        self._known: dict[tuple[str, str], Any] = {}
        with ZipFile(BytesIO(file) if isinstance(file, bytes) else file) as archive:
            shared = [
                "".join(piece.text or "" for piece in entry.iter(f"{_MAIN}t"))
                for entry in ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            ]
            book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
            for number, sheet in enumerate(book.iter(f"{_MAIN}sheet"), 1):
                self.names.append(sheet.attrib["name"])
                self._read(archive.read(f"xl/worksheets/sheet{number}.xml"), self.names[-1], shared)

    def _read(self, xml: bytes, name: str, shared: list[str]) -> None:
        lines = self._lines[name] = {}
        for cell in ElementTree.fromstring(xml).iter(f"{_MAIN}c"):
            written, value = cell.find(f"{_MAIN}f"), cell.findtext(f"{_MAIN}v")
            if value is None:
                continue
            kind, key = cell.attrib.get("t"), (name, cell.attrib["r"])
            result = (
                shared[int(value)]
                if kind == "s"
                else value
                if kind in ("str", "e")
                else float(value)
            )
            self.cached[key] = result
            self.cells[key] = result if written is None else Written(written.text)
            lines.setdefault(int(re.sub(r"\D", "", key[1])), []).append(key)

    def set(self, key: tuple[str, str], value: Any) -> None:
        """Type something into a cell."""
        self.cells[key] = value
        self._known.clear()

    def value(self, key: tuple[str, str]) -> Any:
        """What a cell comes to; None for an empty one."""
        if key not in self._known:
            found = self.cells.get(key)
            self._known[key] = (
                _Formula(found, key[0], self).value() if isinstance(found, Written) else found
            )
        return self._known[key]

    def formula(self, text: str, sheet: str) -> Any:
        """What a formula comes to that stands in no cell, as one of a conditional format."""
        return _Formula(text, sheet, self).value()

    def rows(self, step: int) -> list[list[tuple[str, str]]]:
        """The cells of a step by its number, row by row, on all sheets that have it."""
        return [row for name in self.names for row in self._rows_below(name, f"{step}. ")]

    def rows_below(self, heading: str) -> list[list[tuple[str, str]]]:
        """The cells of the first matrix below a line that begins so."""
        return next(rows for name in self.names if (rows := list(self._rows_below(name, heading))))

    def _rows_below(self, name: str, heading: str) -> Iterator[list[tuple[str, str]]]:
        lines = self._lines[name]
        start = next(
            (
                row
                for row in lines
                if str(self.cells.get((name, f"A{row}"), "")).startswith(heading)
            ),
            None,
        )
        began = False
        for row in range(start, max(lines) + 1) if start else ():
            keys = [key for key in lines.get(row, ()) if not re.fullmatch(r"A\d+", key[1])]
            if keys and all(self._is_number(key) for key in keys):
                began = True
                yield keys
            elif began:
                return

    def _is_number(self, key: tuple[str, str]) -> bool:
        return (
            isinstance(self.cells[key], Written)
            or self.cached[key] == _HIDDEN
            or isinstance(self.cached[key], float)
        )


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLUMNS = [*_LETTERS, *(first + second for first in _LETTERS[:4] for second in _LETTERS)]


class _Formula:
    """One formula on a sheet, read from left to right."""

    def __init__(self, text: str, sheet: str, book: Spreadsheet) -> None:
        self.sheet, self.book, self.at = sheet, book, 0
        self.tokens: list[tuple[str, str]] = []
        end = 0
        while end < len(text):
            found = _TOKEN.match(text, end)
            assert found, f"{text!r} cannot be read from {text[end:]!r}"
            self.tokens.append((found.lastgroup or "", found[0].strip()))
            end = found.end()

    def value(self) -> Any:
        found = self.expression(0)
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return found

    def take(self, expected: str | None = None) -> tuple[str, str]:
        self.at += 1
        kind, token = self.tokens[self.at - 1]
        assert expected in (None, token), f"{token} instead of {expected}"
        return kind, token

    def next(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def expression(self, binding: int) -> Any:
        left = self.operand()
        while _BINDS.get(self.next(), 0) > binding:
            sign = self.take()[1]
            left = _operate(sign, left, self.expression(_BINDS[sign]))
        return left

    def operand(self) -> Any:
        kind, token = self.take()
        match kind:
            case "number":
                return float(token)
            case "text":
                return token[1:-1]
            case "cells":
                return self.cells(token)
            case "name":
                return self.call(token)
        if token == "-":  # before a power is taken
            return -_number(self.operand())
        assert token == "(", token
        found = self.expression(0)
        self.take(")")
        return found

    def cells(self, token: str) -> Any:
        sheet, _, area = token.rpartition("!")
        sheet, (start, _, end) = (
            sheet.strip("'") or self.sheet,
            area.replace("$", "").partition(":"),
        )
        assert sheet in self.book.names, sheet
        if not end:
            return self.book.value((sheet, start))
        (left, top), (right, bottom) = (
            re.fullmatch(r"([A-Z]+)(\d+)", each).groups() for each in (start, end)
        )  # type: ignore[union-attr]
        across = _COLUMNS[_COLUMNS.index(left) : _COLUMNS.index(right) + 1]
        return Cells(
            [self.book.value((sheet, f"{column}{row}")) for column in across]
            for row in range(int(top), int(bottom) + 1)
        )

    def call(self, name: str) -> Any:
        self.take("(")
        arguments = [] if self.next() == ")" else [self.expression(0)]
        while self.next() == ",":
            self.take()
            arguments.append(self.expression(0))
        self.take(")")
        return _FUNCTIONS[name](*arguments)


class ValueFault(ValueError):
    """#VALUE!: text, where a number is needed."""


def _number(value: Any) -> float:
    if value is None:
        return 0.0
    if isinstance(value, ValueFault):
        raise value
    if isinstance(value, Cells | str):
        raise ValueFault(f"#VALUE!: {value!r} is no number")
    return float(value)


def _operate(sign: str, left: Any, right: Any) -> Any:
    if (
        sign == "="
        and str in (type(left), type(right))
        and ValueFault not in (type(left), type(right))
    ):
        return left == right
    one, other = (
        value if isinstance(value, ValueFault) else _tried(_number, value)
        for value in (left, right)
    )
    fault = next((value for value in (one, other) if isinstance(value, ValueFault)), None)
    if fault:  # an IF may not take this branch
        return fault
    match sign:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case "/":
            return one / other if other else ValueFault("#DIV/0!")
        case "^":
            return one**other
    return {
        "=": one == other,
        "<": one < other,
        ">": one > other,
        "<=": one <= other,
        ">=": one >= other,
    }[sign]


def _tried(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return function(value)
    except ValueFault as fault:
        return fault


def _of_number(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda value: _tried(lambda each: function(_number(each)), value)


def _numbers(*arguments: Any) -> Iterator[float]:
    """All numbers: of cells, what is text or empty is skipped."""
    for argument in arguments:
        if isinstance(argument, Cells):
            yield from (each for row in argument for each in row if isinstance(each, float))
        else:
            yield _number(argument)


def _each(arguments: Sequence[Any]) -> list[Any]:
    areas = (argument if isinstance(argument, Cells) else [[argument]] for argument in arguments)
    return [each for area in areas for row in area for each in row]


def _known(values: Sequence[Any], function: Callable[[Sequence[Any]], bool]) -> Any:
    """What a function says of conditions; an error where one of them is an error."""
    return next((value for value in values if isinstance(value, ValueFault)), None) or function(
        values
    )


def _products(one: Cells, other: Cells | None = None) -> float:
    if other is None:
        return math.fsum(_numbers(one))
    assert [len(row) for row in one] == [len(row) for row in other]
    return math.fsum(a * b for a, b in zip(_numbers(one), _numbers(other), strict=True))


def _matrix_product(one: Cells, other: Cells) -> Cells:
    assert {len(row) for row in one} == {len(other)}
    return Cells(
        [
            math.fsum(a * row[at] for a, row in zip(line, other, strict=True))
            for at in range(len(other[0]))
        ]
        for line in one
    )


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "IF": lambda condition, yes, no=False: (
        condition if isinstance(condition, ValueFault) else yes if condition else no
    ),
    "ISTEXT": lambda value: isinstance(value, str),
    "ISNUMBER": lambda value: isinstance(value, float | int) and not isinstance(value, bool),
    "ISBLANK": lambda value: value is None,
    "ISERROR": lambda value: isinstance(value, ValueFault),
    "IFERROR": lambda value, other: other if isinstance(value, ValueFault) else value,
    "AND": lambda *values: _known(values, all),
    "OR": lambda *values: _known(values, any),
    "NOT": lambda value: _known([value], lambda values: not values[0]),
    "N": lambda value: value if isinstance(value, float) else 0.0,
    "COUNT": lambda *cells: float(sum(isinstance(each, float) for each in _each(cells))),
    "COUNTA": lambda *cells: float(sum(each is not None for each in _each(cells))),
    "SUM": lambda *cells: math.fsum(_numbers(*cells)),
    "MAX": lambda *cells: max(_numbers(*cells), default=0.0),
    "SUMPRODUCT": _products,
    "MMULT": _matrix_product,
    "INT": _of_number(math.floor),
    "MOD": lambda value, by: value - by * math.floor(value / by),
    "MIN": lambda *cells: min(_numbers(*cells), default=0.0),
    "ERF": _of_number(math.erf),
    "NORMSDIST": _of_number(lambda value: math.erfc(-value / math.sqrt(2)) / 2),
    "PI": lambda: math.pi,
    "EXP": _of_number(math.exp),
    "LN": _of_number(math.log),
    "SQRT": _of_number(math.sqrt),
    "TANH": _of_number(math.tanh),
    "SIN": _of_number(math.sin),
    "COS": _of_number(math.cos),
    "ABS": _of_number(abs),
}
