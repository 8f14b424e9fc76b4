"""The sheets of a workbook of live formulas: titles, widths of columns, heights of rows, pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING

from attncli.english import shorten
from attncli.equation.notation import UNICODE
from attncli.equation.shapes import product_text
from attncli.escaping import label
from attncli.page.document import (
    Formula,
    Heading,
    Paragraph,
    SheetMatrix,
    Workbook,
    formula,
    plain,
)
from attncli.render.cells import text_width
from attncli.render.xlsx.limits import MADE
from attncli.render.xlsx.matrix_writer import MatrixWriter
from attncli.render.xlsx.places import Placed, Places, first_row, height, rows_of_text
from attncli.render.xlsx.styles import Styles

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

# Widths of columns, in characters.
_NARROWEST_LABELS = 10
_NARROWEST_NUMBERS = 8
_WIDEST_COLUMN = 30
_WIDTH_OF_OTHERS = 8.43
# A longer label has several lines, or is shortened.
_WIDEST_HEAD = 16
_LONGEST_LABEL = 80
# So many characters does a cell show of a number.
_LONGEST_NUMBER = 11
# The labels of a matrix with more columns stay where they are when somebody scrolls.
_MOST_COLUMNS_UNFROZEN = 10
# The line above a heading goes over so many columns at least.
_FEWEST_COLUMNS_RULED = 8

# A4 between its margins, and a row of it, in pixels.
_PAGE_SHORT_SIDE, _PAGE_LONG_SIDE = 640, 960
_ROW_IN_PIXELS = 20.4
# A row, and each more line of a label, with room for tall letters, in points.
_ROW_IN_POINTS = 15
_MORE_LINE_IN_POINTS = 17
_A4 = 9


def formula_workbook(title: str, book: Workbook) -> bytes:
    """The file of a workbook of formulas.

    Raises AttncliError (exit 2) where a formula is longer than Excel can read.
    """
    import xlsxwriter

    stream = BytesIO()
    file = xlsxwriter.Workbook(stream, {"in_memory": True})
    file.set_properties({"title": title[:255], "created": MADE})
    file.set_calc_mode("auto")
    styles = Styles(file, book.precision)
    places = Places(book)
    # Formulas name sheets, so these are there before the first formula is.
    pages = [file.add_worksheet(name) for name in places.sheet_names]
    for sheet, page in enumerate(pages):
        name = places.sheet_names[sheet]
        shown = title if sheet == 0 and title else name
        _SheetWriter(page, sheet, places, styles).write(shown)
    file.close()
    return stream.getvalue()


class _SheetWriter:
    """Writes one sheet: its blocks one below the other."""

    def __init__(self, page: Worksheet, sheet: int, places: Places, styles: Styles) -> None:
        self.page = page
        self.sheet = sheet
        self.places = places
        self.styles = styles
        self.blocks = places.sheets[sheet]
        self.matrices = [block for _, block in self.blocks if isinstance(block, SheetMatrix)]
        self.columns = max((len(matrix.keys[0]) for matrix in self.matrices), default=1)

    def write(self, title: str) -> None:
        """Write all of the sheet."""
        self.page.write_string(0, 0, shorten(label(title), 200), self.styles["title"])
        self.page.set_row(0, 28)
        self.page.hide_gridlines(2)
        label_width, number_width = self._set_widths()
        extra = self._set_heights(label_width, number_width)
        self._set_pages(label_width, number_width, extra)
        numbers = MatrixWriter(self.page, self.sheet, self.places, self.styles)
        for placed in self.blocks:
            self._write_block(placed, numbers)

    def _write_block(self, placed: Placed, numbers: MatrixWriter) -> None:
        row, block = placed
        match block:
            case Heading():
                self._write_heading(row, block)
            case Paragraph(text=said, kind=kind):
                for line, part in enumerate(rows_of_text(plain(said)), row):
                    self.page.write_string(line, 0, part, self.styles[kind])
            case Formula(equation=equation, shapes=shapes):
                said_formula = formula(equation, UNICODE)
                if shapes:
                    said_formula += f"     {product_text(shapes)}"
                self.page.write_string(row, 0, said_formula, self.styles["formula"])
            case SheetMatrix():
                self._write_labels(row, block)
                numbers.write(block, first_row(row, block), self._style_of_numbers(block))

    def _write_heading(self, row: int, heading: Heading) -> None:
        said = heading.text
        if heading.number:
            said = f"{heading.number}. {said}"
        self.page.write_string(row, 0, said, self.styles["heading"])
        for column in range(1, max(self.columns, _FEWEST_COLUMNS_RULED) + 1):
            self.page.write_blank(row, column, None, self.styles["rule"])

    def _write_labels(self, row: int, matrix: SheetMatrix) -> None:
        for column, name in enumerate(matrix.columns, 1):
            self.page.write_string(row, column, _label(name), self.styles["column"])
        for down, name in enumerate(matrix.rows, first_row(row, matrix)):
            self.page.write_string(down, 0, _label(name), self.styles["row"])

    def _style_of_numbers(self, matrix: SheetMatrix) -> str:
        if not matrix.given:
            return "number"
        # Somebody who fills in needs all digits of what is given.
        if self.places.blank or self._digits(matrix) <= _NARROWEST_NUMBERS:
            return "given"
        return "rounded"

    def _digits(self, matrix: SheetMatrix) -> int:
        """How many characters the longest number of a matrix has."""
        entry = self.places.book.entry
        return max(len(f"{entry(key).value:.15g}") for keys in matrix.keys for key in keys)

    # Widths, heights and pages

    def _set_widths(self) -> tuple[float, float]:
        """Make columns as wide as what stands in them: that of labels, and each other one."""
        names = [name for matrix in self.matrices for name in matrix.rows]
        labels = max((text_width(_label(name)) for name in names), default=0)
        label_width = min(max(_NARROWEST_LABELS, labels + 3), _WIDEST_COLUMN)
        self.page.set_column(0, 0, label_width)
        longest = 0
        if self.places.blank:
            given = [self._digits(matrix) for matrix in self.matrices if matrix.given]
            longest = max(given, default=0)
            shift = self.places.shift(self.sheet)
            self.page.set_column(shift, 3 * shift, None, None, {"hidden": True})
        head_names = [name for matrix in self.matrices for name in matrix.columns]
        heads = max((text_width(_label(name)) for name in head_names), default=0)
        number_width = max(
            _NARROWEST_NUMBERS,
            self.places.book.precision + 6,
            min(longest, _LONGEST_NUMBER) + 2,
            min(heads + 2, _WIDEST_HEAD),
        )
        number_width = min(number_width, _WIDEST_COLUMN)
        self.page.set_column(1, self.columns, number_width)
        return label_width, number_width

    def _set_heights(self, label_width: float, number_width: float) -> Mapping[int, float]:
        """Make rows as high as their labels; by how many lines which rows are higher than others.

        LibreOffice without a window makes no row higher for a text of several lines.
        """
        extra: dict[int, float] = {}
        for placed in self.blocks:
            for row, lines in _extra_lines(placed, label_width, number_width):
                if lines:
                    extra[row] = lines
        for row, lines in extra.items():
            self.page.set_row(row, _ROW_IN_POINTS + _MORE_LINE_IN_POINTS * lines)
        return extra

    def _set_pages(
        self, label_width: float, number_width: float, extra: Mapping[int, float]
    ) -> None:
        """Say how the sheet is printed: as wide as a page, with no matrix torn apart."""
        self.page.set_paper(_A4)
        self.page.fit_to_pages(1, 0)
        across, down = _PAGE_SHORT_SIDE, _PAGE_LONG_SIDE
        if self.columns > _MOST_COLUMNS_UNFROZEN:
            self.page.freeze_panes(0, 1)
            self.page.set_landscape()
            across, down = down, across
        others = max(0, _FEWEST_COLUMNS_RULED - self.columns)
        width = _pixels(label_width) + self.columns * _pixels(number_width)
        width += others * _pixels(_WIDTH_OF_OTHERS)
        rows_on_a_page = down / _ROW_IN_PIXELS * max(1, width / across)
        self.page.set_h_pagebreaks(list(_page_breaks(self.blocks, extra, rows_on_a_page)))


def _label(name: str) -> str:
    return shorten(label(name), _LONGEST_LABEL)


def _extra_lines(
    placed: Placed, label_width: float, number_width: float
) -> Iterator[tuple[int, float]]:
    """By how many lines the rows of a block are higher than others, with columns of such widths."""
    row, block = placed
    match block:
        case Heading():
            yield row, 0.5
        case SheetMatrix(rows=rows, columns=columns):
            heads = [_more_lines(name, number_width - 2) for name in columns]
            yield row, max(heads, default=0)
            for down, name in enumerate(rows, first_row(row, block)):
                yield down, _more_lines(name, label_width - 4)
        case Paragraph() | Formula():
            pass


def _more_lines(name: str, room: float) -> int:
    """How many lines a label has besides the first, nearly, with room for so many characters."""
    shown = _label(name)
    lines_by_words = len(wrap(shown, int(room)))
    lines_by_width = ceil(text_width(shown) / room)
    return max(lines_by_words, lines_by_width) - 1


def _page_breaks(
    blocks: Sequence[Placed], extra: Mapping[int, float], most: float
) -> Iterator[int]:
    """The rows with which printed pages begin, each of so many rows at most.

    So no matrix is torn, or apart from its heading.
    """
    if not blocks:
        return
    begins = []
    for before, after in pairwise(blocks):
        if isinstance(before.block, SheetMatrix):
            begins.append(after.row)
    last = blocks[-1]
    page = 0
    for begin, end in pairwise([*begins, last.row + height(last.block)]):
        higher = sum(lines for row, lines in extra.items() if page <= row < end)
        if end - page + higher > most:
            yield begin
            page = begin


def _pixels(characters: float) -> float:
    """How wide a column of so many characters is."""
    return 7 * characters + 5
