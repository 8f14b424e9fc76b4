"""A workbook of live formulas as an .xlsx file, by XlsxWriter: formulas with their results, so that
previews show them.

Text is always written as text, and a label that begins with = stays one when somebody edits it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from math import ceil, inf, isfinite
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from attncli.english import shorten
from attncli.equation.nodes import Call, Expression, Number, Ref, walk
from attncli.equation.notation import UNICODE, Notation
from attncli.equation.printer import write
from attncli.equation.shapes import product_text
from attncli.equation.spreadsheet import HIDDEN, SPREADSHEET
from attncli.errors import missing_error
from attncli.escaping import label
from attncli.page.document import (
    Document,
    Formula,
    Heading,
    Key,
    Numbers,
    Paragraph,
    Workbook,
    formula,
    plain,
)
from attncli.render.cells import text_width
from attncli.render.xlsx.limits import LONGEST_SHEET_NAME, MADE, require_room, require_short
from attncli.render.xlsx.tables import table_workbook

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

# characters of a sentence on a line
_LINE = 100
# widths of columns, in characters
_LABEL, _NARROW, _WIDE, _USUAL = 10, 8, 30, 8.43
# longer labels have several lines, or are shortened
_WIDE_HEAD, _LONGEST_LABEL = 16, 80
# characters that a cell shows of a number
_LONGEST_NUMBER = 11
# of A4, between its margins, and of a row, in pixels
_PAGE, _LINE_HIGH = (640, 960), 20.4
# points: a row, and each more line of a label, with room for tall letters
_ROW_HIGH, _MORE_HIGH = 15, 17
# the labels of wider matrices stay where they are when somebody scrolls
_MANY_COLUMNS = 10
# what the name of a sheet cannot have
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")

_INK, _MUTED, _BLUE, _LINES = "#1F2937", "#6B7280", "#1D4ED8", "#D1D5DB"
_BASE = {"font_name": "Calibri", "font_size": 11, "font_color": _INK, "valign": "vcenter"}
# so that it stays text if somebody edits it
_TEXT = {"quote_prefix": True}
_FORMATS: Mapping[str, Mapping[str, Any]] = {
    "title": {**_TEXT, "bold": True, "font_size": 18},
    "heading": {**_TEXT, "bold": True, "font_size": 13, "top": 1, "top_color": _LINES},
    "rule": {"top": 1, "top_color": _LINES},
    "text": _TEXT,
    "note": {**_TEXT, "font_color": _BLUE},
    "warning": {**_TEXT, "font_color": "#B45309"},
    "formula": {**_TEXT, "font_name": "Cambria", "italic": True, "font_color": _MUTED},
    "row": {**_TEXT, "bold": True, "indent": 1, "text_wrap": True},
    "column": {
        **_TEXT,
        "bold": True,
        "align": "right",
        "valign": "bottom",
        "bottom": 1,
        "bottom_color": _LINES,
        "text_wrap": True,
    },
    "given": {"font_color": _BLUE, "align": "right", "bg_color": "#F3F7FF"},
    # given, with many digits
    "rounded": {"font_color": _BLUE, "align": "right", "bg_color": "#F3F7FF"},
    "number": {"align": "right"},
    "blank": {"align": "right", "border": 1, "border_color": _LINES, "bg_color": "#FFFDF3"},
}


_RIGHT = {"font_color": "#14532D", "bg_color": "#BBF7D0"}
_WRONG = {"font_color": "#7F1D1D", "bg_color": "#FECACA"}
# what follows from numbers that are not filled in yet
_NOTHING = "–"
# columns at least, under the line above a heading
_RULED = 8
# of a sheet to fill in at least, before those that are hidden
_SHOWN_COLUMNS = 12


class _Spot(NamedTuple):
    """Where a cell is: the sheet, and the row and the column counted from 0."""

    sheet: int
    row: int
    column: int


class _Placed(NamedTuple):
    """A block of a sheet, and the row at which it begins."""

    row: int
    block: Heading | Paragraph | Formula | Numbers


def require_writer() -> None:
    """Raises AttncliError (exit 5) where XlsxWriter is not installed."""
    if find_spec("xlsxwriter") is None:
        raise missing_error(
            "an .xlsx file needs XlsxWriter, which is not installed",
            help="pip install 'attncli[xlsx]'",
        )


def xlsx(document: Document) -> bytes:
    """The workbook of a page as a file. Raises AttncliError (exit 2) where a formula is longer than
    Excel can read.
    """
    require_writer()
    assert document.workbook is not None
    book = document.workbook()
    if isinstance(book, Workbook):
        return _Writer(document.title, book).file()
    return table_workbook(document.title, book)


@dataclass
class _Writer:
    """Places every matrix on its sheet first, since formulas read cells of any sheet, and then
    writes them.

    A sheet to fill in has two hidden copies of its matrices beside them: the key, which is worked
    out from what is given, and what follows from the reader's own numbers. They are on the same
    sheet, since the colours of a cell may depend on no other sheet in older programs and in Google
    Sheets.
    """

    title: str
    book: Workbook
    spots: dict[Key, _Spot] = field(default_factory=dict)
    blank: set[str] = field(default_factory=set)  # arrays to fill in
    typed: set[str] = field(default_factory=set)  # arrays that are given
    hidable: set[str] = field(default_factory=set)  # arrays in which text is −∞

    def file(self) -> bytes:
        import xlsxwriter

        stream = BytesIO()
        self.file_ = file = xlsxwriter.Workbook(stream, {"in_memory": True})
        file.set_properties({"title": self.title[:255], "created": MADE})
        file.set_calc_mode("auto")
        self.formats = {name: file.add_format({**_BASE, **form}) for name, form in _FORMATS.items()}
        for name in ("number", "rounded"):
            self.formats[name].set_num_format(_decimals(self.book.precision))
        self.whole = file.add_format({"num_format": "0"})
        self.right, self.wrong = file.add_format(_RIGHT), file.add_format(_WRONG)
        self.hidden = file.add_format({"font_color": _MUTED})
        placed = [[*self._place(number)] for number in range(len(self.book.sheets))]
        pages = [file.add_worksheet(name) for name in self.names]
        for number, (page, blocks) in enumerate(zip(pages, placed, strict=True)):
            self._sheet(page, number, blocks)
        file.close()
        return stream.getvalue()

    @cached_property
    def names(self) -> list[str]:
        """The names of the sheets, as Excel allows them."""
        return [
            _NOT_IN_NAMES.sub(" ", sheet.title)[:LONGEST_SHEET_NAME].strip()
            for sheet in self.book.sheets
        ]

    # --- where everything stands

    def _place(self, number: int) -> Iterator[_Placed]:
        """The blocks of a sheet one below the other, with their rows."""
        row, after_numbers = 2, False
        for block in self.book.sheets[number].blocks:
            if isinstance(block, Heading) and not after_numbers:  # which leave a row free
                row += 1
            after_numbers = isinstance(block, Numbers)
            yield _Placed(row, block)
            row += self._height(block)
            if isinstance(block, Numbers):
                top = row - len(block.rows) - 1
                names = {name for keys in block.keys for name, _ in keys}
                (self.blank if block.blank else self.typed if block.given else set[str]()).update(
                    names
                )
                self.hidable.update(names if block.may_hide else ())
                for down, keys in enumerate(block.keys):
                    for across, key in enumerate(keys):
                        self.spots[key] = _Spot(number, top + down, across + 1)
                require_room(top + len(block.keys), len(block.keys[0]) + 1)

    @staticmethod
    def _height(block: Heading | Paragraph | Formula | Numbers) -> int:
        match block:
            case Numbers(rows=rows, columns=columns):
                return bool(columns) + len(rows) + 1
            case Paragraph(text=said):
                return len(_lines(plain(said)))
        return 1

    def _shift(self, sheet: int) -> int:
        """How many columns a hidden copy is beside what it is a copy of."""
        blocks = self.book.sheets[sheet].blocks
        return (
            max(
                [
                    _SHOWN_COLUMNS,
                    *(len(block.keys[0]) + 1 for block in blocks if isinstance(block, Numbers)),
                ]
            )
            + 1
        )

    def _spot(self, key: Key, of_key: bool) -> _Spot:
        """Where a number stands, or where the key has it."""
        spot = self.spots[key]
        if not of_key or key[0] in self.typed:
            return spot
        return spot._replace(column=spot.column + self._shift(spot.sheet))

    def _notation(self, sheet: int, *, of_key: bool = False) -> Notation:
        """The notation of formulas on a sheet, whose cells are addresses."""

        def cell(name: str, indices: tuple[str, ...]) -> str:
            # an index is one place, 2, or several, 0:3
            ends = [index.split(":") for index in indices]
            first = tuple(int(places[0]) for places in ends)
            last = tuple(int(places[-1]) for places in ends)
            start = self._spot((name, first), of_key)
            end = self._spot((name, last), of_key)
            found = _address(start)
            if start != end:
                found += f":{_address(end)}"
            return self._on_sheet(sheet, start, found)

        def scalar(name: str) -> str:
            spot = self.spots[name, ()]
            return self._on_sheet(sheet, spot, _address(spot, fixed=True))

        return replace(SPREADSHEET, cell=cell, name=scalar)

    def _on_sheet(self, sheet: int, spot: _Spot, found: str) -> str:
        return found if spot.sheet == sheet else f"'{self.names[spot.sheet]}'!{found}"

    # --- what stands there

    def _sheet(self, page: Worksheet, number: int, blocks: list[_Placed]) -> None:
        title = (self.title or self.names[0]) if number == 0 else self.names[number]
        page.write_string(0, 0, shorten(label(title), 200), self.formats["title"])
        page.set_row(0, 28)
        page.hide_gridlines(2)
        page.set_paper(9)  # A4
        matrices = [block for _, block in blocks if isinstance(block, Numbers)]
        widest = max((len(each.keys[0]) for each in matrices), default=1)
        first, each = self._set_widths(page, number, matrices, widest)
        together = (
            _pixels(first) + widest * _pixels(each) + max(0, _RULED - widest) * _pixels(_USUAL)
        )
        page.fit_to_pages(1, 0)
        is_wide = widest > _MANY_COLUMNS
        if is_wide:
            page.freeze_panes(0, 1)
            page.set_landscape()
        across, down = _PAGE[::-1] if is_wide else _PAGE
        extra = {
            row: lines
            for block in blocks
            for row, lines in _extra_lines(block, first, each)
            if lines
        }
        for row, lines in extra.items():
            page.set_row(row, _ROW_HIGH + _MORE_HIGH * lines)
        page.set_h_pagebreaks(
            [*_page_breaks(blocks, extra, down / _LINE_HIGH * max(1, together / across))]
        )
        notation = self._notation(number)
        for row, block in blocks:
            match block:
                case Heading(text=said, number=step):
                    heading = f"{step}. {said}" if step else said
                    page.write_string(row, 0, heading, self.formats["heading"])
                    for column in range(1, max(widest, _RULED) + 1):
                        page.write_blank(row, column, None, self.formats["rule"])
                case Paragraph(text=said, kind=kind):
                    for line, part in enumerate(_lines(plain(said))):
                        page.write_string(row + line, 0, part, self.formats[kind])
                case Formula(equation=equation, shapes=shapes):
                    tail = f"     {product_text(shapes)}" if shapes else ""
                    page.write_string(
                        row, 0, formula(equation, UNICODE) + tail, self.formats["formula"]
                    )
                case Numbers():
                    self._numbers(page, row, block, notation)

    def _set_widths(
        self, page: Worksheet, sheet: int, matrices: list[Numbers], widest: int
    ) -> tuple[float, float]:
        """Make columns as wide as what stands in them; how wide that of labels is, and each other
        one.
        """
        labels = max(
            (text_width(_label(name)) for each in matrices for name in each.rows), default=0
        )
        first = min(max(_LABEL, labels + 3), _WIDE)
        page.set_column(0, 0, first)
        heads = max(
            (text_width(_label(name)) for each in matrices for name in each.columns), default=0
        )
        longest = (
            max((self._digits(each) for each in matrices if each.given), default=0)
            if self.blank
            else 0
        )
        if self.blank:
            shift = self._shift(sheet)
            page.set_column(shift, 3 * shift, None, None, {"hidden": True})
        numbers = max(_NARROW, self.book.precision + 6, min(longest, _LONGEST_NUMBER) + 2)
        each = min(max(numbers, min(heads + 2, _WIDE_HEAD)), _WIDE)
        page.set_column(1, widest, each)
        return first, each

    def _digits(self, matrix: Numbers) -> int:
        """How many characters the longest number of a matrix has."""
        return max(
            len(f"{self.book.entry(key).value:.15g}") for keys in matrix.keys for key in keys
        )

    def _numbers(self, page: Worksheet, row: int, matrix: Numbers, notation: Notation) -> None:
        """A matrix with its labels, from this row on."""
        for column, name in enumerate(matrix.columns, 1):
            page.write_string(row, column, _label(name), self.formats["column"])
        top = row + bool(matrix.columns)
        look = "number"
        # of which somebody who fills in needs all digits
        if matrix.given:
            look = "given" if self.blank or self._digits(matrix) <= _NARROW else "rounded"
        for down, (name, keys) in enumerate(zip(matrix.rows, matrix.keys, strict=True), top):
            page.write_string(down, 0, _label(name), self.formats["row"])
            for across, key in enumerate(keys, 1):
                if matrix.blank:
                    page.write_blank(down, across, None, self.formats["blank"])
                elif matrix.given or not self.blank:
                    self._cell(page, down, across, key, self.formats[look], notation)
                else:
                    # what is worked out for the reader is that of the key, whatever the reader
                    # filled in
                    found = f"={_address(self._spot(key, of_key=True))}"
                    page.write_formula(
                        down,
                        across,
                        found,
                        self.formats["number"],
                        _shown(self.book.entry(key).value),
                    )
        area = top, 1, top + len(matrix.rows) - 1, len(matrix.keys[0])
        if self.blank and (matrix.blank or not matrix.given):
            self._copies(page, area, matrix)
        self._condition(page, area, matrix)

    def _copies(self, page: Worksheet, area: tuple[int, int, int, int], matrix: Numbers) -> None:
        """The hidden copies of a matrix, and the colours of numbers that somebody fills in."""
        top, sheet = area[0], self.spots[matrix.keys[0][0]].sheet
        form, shift, key = (
            self.formats["number"],
            self._shift(sheet),
            self._notation(sheet, of_key=True),
        )
        own = self._notation(sheet)
        for down, keys in enumerate(matrix.keys, top):
            for across, each in enumerate(keys, 1):
                self._cell(page, down, across + shift, each, form, key)
                value, work = self.book.entry(each)
                if work is None or not matrix.blank:
                    continue
                page.write_formula(
                    down, across + 2 * shift, *self._following(each, work, own, form, value)
                )
        if matrix.blank:
            cell, right, follows = (_address(_Spot(0, top, 1 + copy * shift)) for copy in range(3))
            near = f"<={0.5 * 10**-self.book.precision * (1 + 1e-6)!r}"
            same = [f"IF(ISNUMBER({each}),ABS({cell}-{each}){near})" for each in (right, follows)]
            is_text = f'OR(ISTEXT({right}),{follows}="{HIDDEN}")'
            is_right = f"IF(ISNUMBER({cell}),OR({','.join(same)}),{is_text})"
            judged = f"NOT(OR(ISBLANK({cell}),ISERROR({right})))"
            green, red = f"=AND({judged},{is_right})", f"=AND({judged},NOT({is_right}))"
            page.conditional_format(
                *area, {"type": "formula", "criteria": green, "format": self.right}
            )
            page.conditional_format(
                *area, {"type": "formula", "criteria": red, "format": self.wrong}
            )

    def _following(
        self, key: Key, work: Expression, own: Notation, form: Format, value: float
    ) -> tuple[Any, ...]:
        """What follows from the reader's numbers, if all that it needs are numbers: formula, format
        and result.
        """
        found, shown = write(work, own), _shown(value)
        read = {
            node: None for node in walk(work) if isinstance(node, Ref) and node.name in self.blank
        }
        if read:
            counts = [
                f"{'COUNTA' if node.name in self.hidable else 'COUNT'}({write(node, own)})"
                for node in read
            ]
            lacks = f"{'+'.join(counts)}<{sum(map(_size, read))}"
            found, shown = f'IF({lacks},"{_NOTHING}",IFERROR({found},"{_NOTHING}"))', _NOTHING
        return _formula(found, key), form, shown

    def _cell(
        self, page: Worksheet, row: int, column: int, key: Key, form: Format, notation: Notation
    ) -> None:
        value, work = self.book.entry(key)
        shown = _shown(value)
        if work is None:
            if isinstance(shown, str):
                page.write_string(row, column, shown, form)
            else:
                page.write_number(row, column, shown, form)
            return
        page.write_formula(row, column, _formula(write(work, notation), key), form, shown)

    def _condition(self, page: Worksheet, area: tuple[int, int, int, int], matrix: Numbers) -> None:
        """What a matrix looks like as its numbers are: whole ones whole, what is hidden pale,
        weights in shades.
        """
        first = _address(_Spot(0, *area[:2]))
        if not matrix.given and not matrix.blank:
            whole = f"=AND(ISNUMBER({first}),ABS({first}-ROUND({first},0))<1E-12*(1+ABS({first})))"
            page.conditional_format(
                *area, {"type": "formula", "criteria": whole, "format": self.whole}
            )
        if matrix.may_hide and not matrix.blank:
            page.conditional_format(
                *area, {"type": "formula", "criteria": f"=ISTEXT({first})", "format": self.hidden}
            )
        if matrix.shares and not matrix.blank:
            page.conditional_format(
                *area,
                {
                    "type": "2_color_scale",
                    "min_type": "num",
                    "max_type": "num",
                    "min_value": 0,
                    "max_value": 1,
                    "min_color": "#FFFFFF",
                    "max_color": "#6FB1E8",
                },
            )


def _label(name: str) -> str:
    return shorten(label(name), _LONGEST_LABEL)


def _extra_lines(placed: _Placed, first: float, each: float) -> Iterator[tuple[int, float]]:
    """By how many lines the rows of a block are higher than others, with columns of such widths."""
    row, block = placed
    match block:
        case Heading():
            yield row, 0.5
        case Numbers(rows=rows, columns=columns):
            yield row, max((_more_lines(name, each - 2) for name in columns), default=0)
            for down, name in enumerate(rows, row + bool(columns)):
                yield down, _more_lines(name, first - 4)


def _more_lines(name: str, room: float) -> int:
    """How many lines a label has besides the first one, nearly, with room for so many characters on
    each.
    """
    shown = _label(name)
    return max(len(wrap(shown, int(room))), ceil(text_width(shown) / room)) - 1


def _page_breaks(blocks: list[_Placed], extra: Mapping[int, float], most: float) -> Iterator[int]:
    """The rows with which printed pages of so many rows begin, so that no matrix is torn, or apart
    from its heading.
    """
    begins = [
        row
        for (row, _), (_, before) in zip(blocks[1:], blocks, strict=False)
        if isinstance(before, Numbers)
    ]
    page = 0
    for begin, end in pairwise(
        [*begins, blocks[-1].row + _Writer._height(blocks[-1].block)] if blocks else []
    ):
        higher = sum(lines for row, lines in extra.items() if page <= row < end)
        if end - page + higher > most:
            yield begin
            page = begin


def _pixels(characters: float) -> float:
    """How wide a column is."""
    return 7 * characters + 5


def _shown(value: float) -> str | float:
    """A number as a spreadsheet has it."""
    return HIDDEN if value == -inf else value if isfinite(value) else "#NUM!"


def _size(cells: Ref) -> int:
    """How many cells an address means: 3 of B2:D2."""
    size = 1
    for index in cells.indices:
        match index:
            case Call("range", (Number(text=first), Number(text=last))):
                size *= int(last) - int(first) + 1
    return size


def _formula(written: str, key: Key) -> str:
    """What stands after = in a cell, if it is not too long."""
    require_short(written, f"{key[0]}[{', '.join(map(str, key[1]))}]")
    return f"={written}"


def _decimals(precision: int) -> str:
    return f"0.{'0' * precision}" if precision else "0"


def _lines(said: str) -> list[str]:
    return wrap(said, _LINE) or [""]


def _address(spot: _Spot, *, fixed: bool = False) -> str:
    """B34, or $B$34."""
    from xlsxwriter.utility import xl_rowcol_to_cell

    found: str = xl_rowcol_to_cell(spot.row, spot.column, row_abs=fixed, col_abs=fixed)
    return found
