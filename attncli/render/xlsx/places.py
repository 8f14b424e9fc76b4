"""Where everything stands in a workbook, which is decided before a cell is written.

Formulas read cells of any sheet, so every place is known first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap
from typing import NamedTuple, TypeAlias

from attncli.equation.notation import Notation
from attncli.equation.spreadsheet_notation import SPREADSHEET
from attncli.page.document import (
    CellKey,
    Formula,
    Heading,
    Paragraph,
    SheetMatrix,
    Workbook,
    plain,
)
from attncli.render.xlsx.limits import LONGEST_SHEET_NAME, require_room

SheetBlock: TypeAlias = Heading | Paragraph | Formula | SheetMatrix

# The title of a sheet, and an empty row below it.
_ROWS_OF_TITLE = 2
# A longer sentence goes on in the next row.
_CHARACTERS_ON_A_ROW = 100
# A sheet to fill in has at least so many columns before those that are hidden.
_FEWEST_COLUMNS_SHOWN = 12
_NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\']")


class Spot(NamedTuple):
    """Where a cell is: the sheet, and the row and the column counted from 0."""

    sheet: int
    row: int
    column: int


class Placed(NamedTuple):
    """A block of a sheet, and the row at which it begins."""

    row: int
    block: SheetBlock


class Places:
    """The place of every block and of every number of a workbook.

    A sheet to fill in has two hidden copies of its matrices beside them: the key, which is worked
    out from what is given, and what follows from the reader's own numbers. They are on the same
    sheet, since the colours of a cell may depend on no other sheet in older programs and in Google
    Sheets.
    """

    def __init__(self, book: Workbook) -> None:
        self.book = book
        self.spots: dict[CellKey, Spot] = {}
        # The names of arrays to fill in, of those that are given, and of those in which text is −∞.
        self.blank: set[str] = set()
        self.typed: set[str] = set()
        self.hidable: set[str] = set()
        self.sheet_names = [_sheet_name(sheet.title) for sheet in book.sheets]
        self.sheets = [list(self._place(number)) for number in range(len(book.sheets))]

    def _place(self, sheet: int) -> Iterator[Placed]:
        """The blocks of a sheet one below the other, with their rows."""
        row = _ROWS_OF_TITLE
        after_matrix = False
        for block in self.book.sheets[sheet].blocks:
            if isinstance(block, Heading) and not after_matrix:
                # A matrix leaves a row free, and nothing else does.
                row += 1
            after_matrix = isinstance(block, SheetMatrix)
            yield Placed(row, block)
            if isinstance(block, SheetMatrix):
                self._note_matrix(sheet, row, block)
            row += height(block)

    def _note_matrix(self, sheet: int, row: int, matrix: SheetMatrix) -> None:
        names = {name for keys in matrix.keys for name, _ in keys}
        if matrix.blank:
            self.blank |= names
        elif matrix.given:
            self.typed |= names
        if matrix.may_hide:
            self.hidable |= names
        top = first_row(row, matrix)
        for down, keys in enumerate(matrix.keys, top):
            for across, key in enumerate(keys, 1):
                self.spots[key] = Spot(sheet, down, across)
        require_room(top + len(matrix.keys), len(matrix.keys[0]) + 1)

    def shift(self, sheet: int) -> int:
        """How many columns a hidden copy is beside what it is a copy of."""
        blocks = self.book.sheets[sheet].blocks
        widths = [len(block.keys[0]) + 1 for block in blocks if isinstance(block, SheetMatrix)]
        return max([_FEWEST_COLUMNS_SHOWN, *widths]) + 1

    def spot(self, key: CellKey, *, of_key: bool = False) -> Spot:
        """Where a number stands, or where the hidden key has it."""
        spot = self.spots[key]
        name, _ = key
        if not of_key or name in self.typed:
            return spot
        return spot._replace(column=spot.column + self.shift(spot.sheet))

    def notation(self, sheet: int, *, of_key: bool = False) -> Notation:
        """The notation of formulas on a sheet, whose cells are addresses: B34, 'Head 0'!B3:D3."""

        def cell(name: str, indices: tuple[str, ...]) -> str:
            # An index is one place, 2, or several, 0:3.
            ends = [index.split(":") for index in indices]
            first = tuple(int(places[0]) for places in ends)
            last = tuple(int(places[-1]) for places in ends)
            start = self.spot((name, first), of_key=of_key)
            end = self.spot((name, last), of_key=of_key)
            found = address(start)
            if start != end:
                found += f":{address(end)}"
            return self._on_sheet(sheet, start, found)

        def scalar(name: str) -> str:
            spot = self.spots[name, ()]
            return self._on_sheet(sheet, spot, address(spot, fixed=True))

        return replace(SPREADSHEET, cell=cell, name=scalar)

    def _on_sheet(self, sheet: int, spot: Spot, found: str) -> str:
        if spot.sheet == sheet:
            return found
        return f"'{self.sheet_names[spot.sheet]}'!{found}"


def first_row(row: int, matrix: SheetMatrix) -> int:
    """The row of the first numbers of a matrix that begins in this row: below its heads, if any."""
    return row + 1 if matrix.columns else row


def height(block: SheetBlock) -> int:
    """How many rows a block takes; a matrix leaves one free below it."""
    match block:
        case SheetMatrix(rows=rows):
            return first_row(0, block) + len(rows) + 1
        case Paragraph(text=said):
            return len(rows_of_text(plain(said)))
        case Heading() | Formula():
            return 1


def rows_of_text(said: str) -> list[str]:
    """A sentence as the texts of rows."""
    return wrap(said, _CHARACTERS_ON_A_ROW) or [""]


def address(spot: Spot, *, fixed: bool = False) -> str:
    """B34, or $B$34, which stays the same where a formula is copied."""
    from xlsxwriter.utility import xl_rowcol_to_cell

    found: str = xl_rowcol_to_cell(spot.row, spot.column, row_abs=fixed, col_abs=fixed)
    return found


def _sheet_name(title: str) -> str:
    """The title as Excel allows it for a sheet."""
    return _NOT_IN_SHEET_NAMES.sub(" ", title)[:LONGEST_SHEET_NAME].strip()
