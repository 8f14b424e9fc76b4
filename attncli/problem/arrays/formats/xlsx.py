"""Cells of an .xlsx workbook, by their range: Sheet1!A1:C3. What the file has as results of
formulas is read.

The XML is read piece by piece, no further than the range goes, and no further than a spreadsheet
would write. A document type, with which a file could define entities that grow without end, is
refused.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, product
from math import isfinite
from typing import IO, NamedTuple, NoReturn
from xml.parsers import expat

from attncli.english import grouped, listed, shorten
from attncli.errors import did_you_mean
from attncli.problem.arrays.archives import Archive
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.formats.csv import as_array, truth_among_numbers
from attncli.problem.arrays.stored import MOST_NAMES_COMPARED, StoredArray
from attncli.problem.limits import PACKED_LIMIT
from attncli.problem.text.decimal_commas import with_points
from attncli.problem.text.nodes import TRUTHS
from attncli.problem.text.number_forms import NumberError, is_plain
from attncli.problem.text.numbers import as_spelled

RANGE_KEY = "range"
_RANGE_EXAMPLE = "range: Sheet1!A1:C3"
_SAVE_AGAIN_HELP = "open it in a spreadsheet, and save it as .xlsx"
_RANGE = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^'!][^!]*)!)?\$?(?P<left>[A-Za-z]{1,3})\$?(?P<top>[1-9]\d{0,6})"
    r"(?::\$?(?P<right>[A-Za-z]{1,3})\$?(?P<bottom>[1-9]\d{0,6}))?"
)
_ADDRESS, _ROW = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})"), re.compile(r"[1-9][0-9]{0,6}")
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS = 2**20, 2**14, 2**18
# All spreadsheets have these formats of dates.
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_NOT_OF_DATES = re.compile(r'"[^"]*"|\\.|\[[^\[\]]*\]|_.|\*.|General', re.IGNORECASE)
# A text has a character that XML lacks in this form.
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
# So many bytes of XML are parsed at once.
_BYTES_PARSED_AT_ONCE = 2**16
# These are limits of XML. A cell has 32,767 characters.
_MOST_ELEMENTS, _MOST_LEVELS, _LONGEST_TAG, _LONGEST_TEXT = 2**20, 64, 2**20, 2**15
# An .xls file begins so, and what has a password, too.
_OLD_WORKBOOK_BEGIN = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A tag, its attributes, and the tags that it is in.
_Start = Callable[[str, Mapping[str, str], Sequence[str]], None]
_Text = Callable[[str, Sequence[str]], None]


class _Range(NamedTuple):
    """The cells from a row and a column to others, counted from 1; of the only sheet where none is
    named.
    """

    sheet: str
    top: int
    left: int
    bottom: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.bottom - self.top + 1, self.right - self.left + 1


_EVERYWHERE = _Range("", 1, 1, _MOST_ROWS, _MOST_COLUMNS)


@dataclass(slots=True)
class _SheetCell:
    """What the XML says of a cell: its type, whether it has a formula or looks like a date, and its
    text.
    """

    type: str
    style: int
    text: str = ""
    formula: bool = False

    @property
    def is_text(self) -> bool:
        """Whether a text stands in it, and no number, truth value or error."""
        return self.type not in ("n", "", "b", "e")


class _Enough(Exception):
    """Nothing that follows is asked for."""


def read(stream: IO[bytes], file: str, name: str, *, single: bool = False) -> StoredArray:
    """The cells of a range, which stands for the name of an array."""
    wanted = _read_range(name)
    with _opened(stream, file) as book:
        sheets = book.sheets()
        sheet, part = _chosen(wanted.sheet, sheets, file)
        cells = book.cells(part, wanted)
        texts = _shared_texts(book, cells)
        dates = book.date_styles() if any(cell.style for cell in cells.values()) else frozenset()
        points = with_points(_text(cell, texts) for cell in cells.values() if cell.is_text)
        rows, columns = range(wanted.top, wanted.bottom + 1), range(wanted.left, wanted.right + 1)
        places = {
            place: f"{sheet}!{_letters(place[1])}{place[0]} in {file}"
            for place in product(rows, columns)
        }
        found = [
            _number(cells.get(place), where, texts, dates, points)
            for place, where in places.items()
        ]
        if (at := truth_among_numbers(found)) is not None:
            message = f"{[*places.values()][at]} is a truth value, and others are numbers"
            raise ArrayError(message, "write 1 or 0 there, or choose other cells", key=RANGE_KEY)
        return as_array(found).reshape(wanted.shape)


def rows_of_text(stream: IO[bytes], file: str, sheet: str) -> list[dict[int, str]]:
    """The texts and numbers of the sheet of this name, or else of the first, by column in each row
    that is not empty.

    Raises ArrayError where the file is no workbook.
    """
    with _opened(stream, file) as book:
        sheets = book.sheets()
        part = sheets.get(sheet) or next(iter(sheets.values()))
        cells = book.cells(part, _EVERYWHERE)
        texts = _shared_texts(book, cells)
        rows: dict[int, dict[int, str]] = {}
        for (row, column), cell in sorted(cells.items()):
            text = cell.text
            if cell.type == "s":
                text = texts.get(int(text), "")
            rows.setdefault(row, {})[column] = _ESCAPED.sub(_unescaped, text)
        return [*rows.values()]


def _shared_texts(book: _Book, cells: Mapping[tuple[int, int], _SheetCell]) -> dict[int, str]:
    """The texts that these cells name by their numbers."""
    numbers = {int(cell.text) for cell in cells.values() if cell.type == "s"}
    return book.shared_texts(numbers)


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


@contextmanager
def _opened(stream: IO[bytes], file: str) -> Iterator[_Book]:
    archive = Archive(file, ".xlsx", _SAVE_AGAIN_HELP)
    is_old = stream.read(len(_OLD_WORKBOOK_BEGIN)) == _OLD_WORKBOOK_BEGIN
    stream.seek(0)
    if is_old:
        raise archive.unreadable("it is an .xls file, or it has a password")
    with archive.opened(stream) as opened:
        yield _Book(archive, opened)


def names(stream: IO[bytes], file: str) -> list[str]:
    """Raises ArrayError: a workbook has ranges."""
    raise ArrayError(
        f"{file} is a workbook", f"name its cells in a problem: {{file: {file}, {_RANGE_EXAMPLE}}}"
    )


def dtype(stream: IO[bytes], file: str, name: str) -> str:
    """That of all numbers in a spreadsheet."""
    return "float64"


def _read_range(text: str) -> _Range:
    if not text:
        raise ArrayError(
            "which cells of the workbook is not said", f"name them: {_RANGE_EXAMPLE}", key="file"
        )
    found = _RANGE.fullmatch(text.strip().removeprefix("="))
    if not found:
        raise ArrayError(
            f"{shorten(text)} is no range of cells",
            f"write {_RANGE_EXAMPLE}, or {RANGE_KEY}: A1:C3",
            key=RANGE_KEY,
        )
    sheet = found["sheet"] or ""
    sheet = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
    columns = sorted((_column(found["left"]), _column(found["right"] or found["left"])))
    rows = sorted((int(found["top"]), int(found["bottom"] or found["top"])))
    if columns[1] > _MOST_COLUMNS or rows[1] > _MOST_ROWS:
        raise ArrayError(
            f"{shorten(text)} is outside of any sheet", "the last cell is XFD1048576", key=RANGE_KEY
        )
    cells = (rows[1] - rows[0] + 1) * (columns[1] - columns[0] + 1)
    if cells > _MOST_CELLS:
        message = (
            f"{shorten(text)} has {grouped(cells)} cells, and {grouped(_MOST_CELLS)} is the most"
        )
        raise ArrayError(message, "save the numbers as .csv, or with numpy.save", key=RANGE_KEY)
    return _Range(sheet, rows[0], columns[0], rows[1], columns[1])


def _chosen(name: str, sheets: Mapping[str, str], file: str) -> tuple[str, str]:
    """The sheet of this name, whatever its capitals, or the only one, and the part of the archive
    that it is.
    """
    shown = [*islice(sheets, MOST_NAMES_COMPARED)]
    there = listed([shorten(sheet) for sheet in shown], most=12)
    if not name:
        if len(sheets) == 1:
            return next(iter(sheets.items()))
        raise ArrayError(
            f"{file} has {len(sheets)} sheets",
            f"name one of {there}: {_RANGE_EXAMPLE}",
            key=RANGE_KEY,
        )
    for sheet, part in sheets.items():
        if sheet.lower() == name.lower():
            return sheet, part
    help = did_you_mean(name, shown, f"it has {there}")
    raise ArrayError(f"{file} has no sheet {shorten(name)}", help, key=RANGE_KEY)


def _number(
    cell: _SheetCell | None,
    where: str,
    texts: Mapping[int, str],
    dates: Collection[int],
    points: Mapping[str, str],
) -> str:
    """The text of a number or a truth value; ArrayError for anything else. `points`: texts with a
    decimal comma.
    """
    if cell is None:
        help = (
            "write a number there, or choose other cells; of merged cells, only the first has the"
            " number"
        )
        raise ArrayError(f"{where} is empty", help, key=RANGE_KEY)
    if cell.formula and not cell.text:
        raise ArrayError(
            f"{where} is a formula without a result",
            f"{_SAVE_AGAIN_HELP}: that adds the results",
            key=RANGE_KEY,
        )
    if cell.type == "e":
        raise ArrayError(
            f"{where} is the error {shorten(cell.text)}", "mend its formula", key=RANGE_KEY
        )
    if cell.type == "b":
        return "true" if cell.text == "1" else "false"
    is_number = not cell.is_text and is_plain(cell.text)
    if cell.type == "d" or (is_number and cell.style in dates):
        help = (
            "a spreadsheet makes a date of 1/2: write =1/2 there, or 0.5, and format the cell as a"
            " number"
        )
        raise ArrayError(f"{where} is a date", help, key=RANGE_KEY)
    if not is_number:
        text = _text(cell, texts)
        return _number_in_text(points.get(text, text), where)
    value = float(cell.text)
    if not isfinite(value):
        raise ArrayError(
            f"{where} is too large for a number",
            "the largest number is about 1.8e308",
            key=RANGE_KEY,
        )
    return repr(value)


def _text(cell: _SheetCell, texts: Mapping[int, str]) -> str:
    """The text that stands in a cell, with signs as numbers have them elsewhere."""
    text = texts.get(int(cell.text), "") if cell.type == "s" else cell.text
    return text.strip()


def _number_in_text(text: str, where: str) -> str:
    try:
        if text not in TRUTHS:
            return as_spelled(text)
    except NumberError as error:
        said = f"the text {shorten(text)}, and no number" if text else "empty"
        help = (
            error.help
            if re.search(r"[0-9]", text)
            else "write a number there, or choose other cells"
        )
        raise ArrayError(f"{where} is {said}", help, key=RANGE_KEY) from None
    return text


@dataclass
class _Book:
    """The parts of a workbook that are read."""

    archive: Archive
    zip: zipfile.ZipFile
    # So many bytes may still be unpacked, and so many elements begin.
    _bytes: int = field(default=PACKED_LIMIT)
    _elements: int = field(default=_MOST_ELEMENTS)

    def sheets(self) -> dict[str, str]:
        """The parts of the sheets by their names, in order; those that only hold a chart are not
        told apart.
        """
        found: list[tuple[str, str]] = []
        parts: dict[str, str] = {}

        def sheet(tag: str, attributes: Mapping[str, str], _: Sequence[str]) -> None:
            if tag == "sheet":
                id = next(
                    (
                        value
                        for name, value in attributes.items()
                        if name.rpartition(":")[2] == "id"
                    ),
                    "",
                )
                found.append((attributes.get("name", ""), id))

        def relation(tag: str, attributes: Mapping[str, str], _: Sequence[str]) -> None:
            if tag == "Relationship":
                target = posixpath.join("/xl", attributes.get("Target", ""))
                parts[attributes.get("Id", "")] = posixpath.normpath(target)[1:]

        self._read("xl/workbook.xml", sheet)
        self._read("xl/_rels/workbook.xml.rels", relation)
        if not found:
            raise self.archive.unreadable("it has no sheets")
        return {name: parts.get(id, "") for name, id in found}

    def cells(self, part: str, wanted: _Range) -> dict[tuple[int, int], _SheetCell]:
        """The cells of a range that are not empty, by row and column.

        A row or a cell without an address follows the one before it.
        """
        found: dict[tuple[int, int], _SheetCell] = {}
        now: list[_SheetCell] = []
        row = column = 0

        def start(tag: str, attributes: Mapping[str, str], _: Sequence[str]) -> None:
            nonlocal row, column
            address = attributes.get("r", "")
            if tag == "row":
                if address and not _ROW.fullmatch(address):
                    raise self.archive.unreadable(f"a row has the number {shorten(address)}")
                row, column = int(address or row + 1), 0
            elif tag == "c":
                now.clear()
                place = _ADDRESS.fullmatch(address)
                if address and not place:
                    raise self.archive.unreadable(f"a cell has the address {shorten(address)}")
                if not address and not row:
                    raise self.archive.unreadable("a cell is in no row")
                row, column = (int(place[2]), _column(place[1])) if place else (row, column + 1)
                if row > wanted.bottom:
                    raise _Enough
                if row >= wanted.top and wanted.left <= column <= wanted.right:
                    style = attributes.get("s", "0")
                    now.append(
                        _SheetCell(attributes.get("t", ""), int(style) if style.isdigit() else 0)
                    )
                    found[row, column] = now[0]
            elif tag == "f" and now:
                now[0].formula = True

        def text(data: str, inside: Sequence[str]) -> None:
            if now and inside[-1] in ("v", "t"):
                now[0].text = self._joined(now[0].text, data)

        self._read(part, start, text)
        return {place: cell for place, cell in found.items() if cell.text or cell.formula}

    def shared_texts(self, wanted: Collection[int]) -> dict[int, str]:
        """Some of the texts that all sheets share, by number."""
        found: dict[int, str] = {}
        if not wanted:
            return found
        last = -1

        def start(tag: str, attributes: Mapping[str, str], _: Sequence[str]) -> None:
            nonlocal last
            if tag == "si":
                last += 1
                if last > max(wanted):
                    raise _Enough

        def text(data: str, inside: Sequence[str]) -> None:
            # An rPh says how a text is pronounced.
            if inside[-1] == "t" and "rPh" not in inside and last in wanted:
                found[last] = self._joined(found.get(last, ""), data)

        self._read("xl/sharedStrings.xml", start, text)
        return found

    def date_styles(self) -> frozenset[int]:
        """The styles, by their number, with which a number is shown as a date or a time."""
        own: set[str] = set()
        formats: list[str] = []

        def start(tag: str, attributes: Mapping[str, str], inside: Sequence[str]) -> None:
            if tag == "numFmt" and re.search(
                "[dmyhs]", _NOT_OF_DATES.sub("", attributes.get("formatCode", "")), re.I
            ):
                own.add(attributes.get("numFmtId", ""))
            elif tag == "xf" and inside[-1] == "cellXfs":
                formats.append(attributes.get("numFmtId", "0"))

        self._read("xl/styles.xml", start)
        known = {*map(str, _DATES)} | own
        return frozenset(style for style, format in enumerate(formats) if format in known)

    def _read(self, part: str, start: _Start, text: _Text | None = None) -> None:
        """Hand all elements and texts of a part to these functions, until one of them has
        enough.
        """
        entry = next((each for each in self.zip.infolist() if each.filename == part), None)
        if entry is None:
            raise self.archive.unreadable(f"it has no {shorten(part) or 'part for this sheet'}")
        self.archive.require_readable(entry)
        inside = [""]

        def begin(tag: str, attributes: Mapping[str, str]) -> None:
            self._elements -= 1
            if self._elements < 0:
                raise self._too_large(f"{grouped(_MOST_ELEMENTS)} elements")
            if len(inside) > _MOST_LEVELS:
                raise self.archive.unreadable(
                    f"its elements are nested more than {_MOST_LEVELS} deep"
                )
            tag = tag.rpartition(":")[2]
            start(tag, attributes, inside)
            inside.append(tag)

        def end(tag: str) -> None:
            inside.pop()

        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse_types
        parser.StartElementHandler, parser.EndElementHandler = begin, end
        if text:
            parser.CharacterDataHandler = lambda data: text(data, inside)
        try:
            with self.zip.open(entry) as stream:
                handed = 0
                while piece := stream.read(_BYTES_PARSED_AT_ONCE):
                    self._bytes -= len(piece)
                    if self._bytes < 0:
                        raise self._too_large(f"{PACKED_LIMIT // 2**20} MiB")
                    parser.Parse(piece, False)
                    handed += len(piece)
                    # With each piece more, it begins from there again.
                    if handed - parser.CurrentByteIndex > _LONGEST_TAG:
                        raise self.archive.unreadable("it is damaged")
                parser.Parse(b"", True)
        except _Enough:
            pass

    def _joined(self, text: str, more: str) -> str:
        if len(text) + len(more) > _LONGEST_TEXT:
            raise self.archive.unreadable("a cell has more text than a cell can hold")
        return text + more

    def _too_large(self, most: str) -> ArrayError:
        return ArrayError(
            f"{self.archive.file} unpacks to more than {most}", "save the sheet as .csv"
        )

    def _refuse_types(self, *_: object) -> NoReturn:
        raise self.archive.unreadable("it declares a document type, as no spreadsheet does")


def _column(letters: str) -> int:
    found = 0
    for letter in letters.upper():
        found = 26 * found + ord(letter) - ord("A") + 1
    return found


def _letters(column: int) -> str:
    found = ""
    while column:
        column, rest = divmod(column - 1, 26)
        found = chr(ord("A") + rest) + found
    return found
