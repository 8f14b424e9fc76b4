"""The grammar of pasted rows: a text has rows, a row has cells, and a cell may be 1 / 3.

rows = row (line end row)*  or  row (";" row)*
row  = cell (separator cell)*, where a comma, a semicolon, a tab or a gap separates
cell = quoted text, or words, with blanks where one begins or ends with an operator

What separates is sought in the outline of a text, where all is hidden that separates nothing: what
stands in quotes, and the blanks in a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

# A row as it is written: where it begins, and its text.
Piece: TypeAlias = tuple[int, str]
_QUOTED = r'"[^"\n]*"'
# A remark, with the blanks before it. A # may also begin an error of a spreadsheet.
_REMARK = r"(?:(?<![^\S\n])[^\S\n]++)?#(?!N/A|DIV/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)[^\n]*"
_QUOTED_OR_REMARK = re.compile(rf"{_QUOTED}|{_REMARK}")
_BRACKET = re.compile(rf"{_QUOTED}|{_REMARK}|(?P<bracket>[\[\]])")
# Blanks that break no line stand between groups of three digits.
_HIDDEN = re.compile(rf"{_QUOTED}|(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{{3}}(?![0-9]))")
_BLANKS = r"[^\S\t\n]++"
# 1 / 3 and sqrt( 2 ) are one number, and so is 22 %.
_BESIDE_OPERATOR = re.compile(
    rf"(?<=[/*(]){_BLANKS}(?=[^\s,;])|(?<=[^\s,;]){_BLANKS}(?=[/*()])"
    rf"|(?<=[0-9.]){_BLANKS}(?=%(?:[\s,;]|\Z))"
)
_INDENTATION = re.compile(r"[^\S\t\n]*")
_GAP = re.compile(r"\S(?=(\s++\S))")
SEPARATOR = re.compile(r"[\s,;]")
_WORD = re.compile(r"\S+")
_BEGUN_WORD = re.compile(r"[^\s,;]\S*")
_THOUSANDS_BY_COMMA = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_IN_QUOTES = re.compile(r"(['\"]).*\1", re.DOTALL)


class Cell(NamedTuple):
    """What a cell says, without quotes around it, and where it is."""

    at: int
    text: str
    is_quoted: bool = False


CellRow: TypeAlias = list[Cell]


class CellTable(NamedTuple):
    """The rows of a matrix, and the names that stood beside them and above its columns."""

    rows: list[CellRow]
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PastedRow:
    """A row, or what may hold several: where it begins, its text with blanks in place of remarks,
    and its outline, which is as long.
    """

    at: int
    text: str
    outline: str

    @classmethod
    def of(cls, text: str, at: int = 0) -> PastedRow:
        """The row of a text that stands at a place."""
        without_remarks, outline = _outlined(text)
        return cls(at, without_remarks, _BESIDE_OPERATOR.sub(_hide, outline))

    @property
    def piece(self) -> Piece:
        return self.at, self.text

    @property
    def is_blank(self) -> bool:
        return not self.outline.strip()

    @property
    def gaps(self) -> list[str]:
        """What stands between two signs that do not touch, and these two: "1  2", ", 2"."""
        return [found[0] + found[1] for found in _GAP.finditer(self.outline)]

    @property
    def is_separated(self) -> bool:
        """Whether anything separates cells in it."""
        return bool(SEPARATOR.search(self.outline.strip()))

    @property
    def can_only_be_several(self) -> bool:
        """Whether what stands between semicolons can only be several numbers: 1 2, or 1,2,3, but
        not 1,5.
        """
        if self.gaps:
            return True
        return self.outline.count(",") > 1 and not _THOUSANDS_BY_COMMA.fullmatch(self.text.strip())

    def split(self, sign: str) -> list[PastedRow]:
        """What stands between separators, or between line ends."""
        parts = []
        start = 0
        for outline in self.outline.split(sign):
            parts.append(self._part(start, start + len(outline)))
            start += len(outline) + len(sign)
        return parts

    def without_indentation(self) -> PastedRow:
        """The row without blanks before it: a tab may end an empty cell."""
        blanks = _INDENTATION.match(self.outline)
        return self._part(blanks.end() if blanks else 0, len(self.text))

    def cells(self, separator: str) -> CellRow:
        """The cells of the row, which are apart by gaps if the sign is empty: a comma then belongs
        to its number, but not at the end.
        """
        if not separator:
            words = _WORD.finditer(self.outline.rstrip().removesuffix(","))
            return [self._part(*word.span())._cell() for word in words]
        if self.is_blank:
            return []
        return [part._cell() for part in self.split(separator)]

    def _part(self, start: int, end: int) -> PastedRow:
        return PastedRow(self.at + start, self.text[start:end], self.outline[start:end])

    def _cell(self) -> Cell:
        """The row as one cell; an empty one is where it begins, and not where it ends."""
        text = self.text.strip()
        at = self.at + (self.text.index(text) if text else 0)
        is_quoted = text.startswith('"')
        if _IN_QUOTES.fullmatch(text):
            text = text[1:-1].strip()
        return Cell(at, text, is_quoted)


def rows_below(lines: Iterable[PastedRow]) -> list[PastedRow]:
    """Those of these rows that have anything in them."""
    return [line for line in lines if not line.is_blank]


def brackets(text: str, start: int) -> Iterator[re.Match[str]]:
    """The brackets of a text from a place on, found one by one: only as many as are asked for."""
    return (found for found in _BRACKET.finditer(text, start) if found["bracket"])


def first_word(text: str) -> Piece | None:
    """The first thing that neither separates nor is a remark, up to the next gap, and its place."""
    found = _BEGUN_WORD.search(_outlined(text)[1])
    return (found.start(), text[found.start() : found.end()]) if found else None


def _outlined(text: str) -> tuple[str, str]:
    """A text without its remarks, and with what stands in quotes or between digits hidden."""
    without_remarks = _QUOTED_OR_REMARK.sub(_blank_remark, text)
    return without_remarks, _HIDDEN.sub(_hide, without_remarks)


def _blank_remark(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " " * len(found[0])


def _hide(found: re.Match[str]) -> str:
    return "x" * len(found[0])
