"""Tables as an .xlsx file, by XlsxWriter: numbers are numbers, and text is text, whatever it begins
with.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from attncli.english import shorten
from attncli.escaping import visible
from attncli.page.document import TableSheet
from attncli.render.xlsx.limits import LONGEST_TEXT, MADE, require_room

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

# widths of columns, in characters
_NARROW, _WIDE = 8, 60


def table_workbook(title: str, sheets: Sequence[TableSheet]) -> bytes:
    """The file. The names of a sheet's only table stay where they are when somebody scrolls, and
    have filters.
    """
    import xlsxwriter

    stream = BytesIO()
    file = xlsxwriter.Workbook(stream, {"in_memory": True})
    file.set_properties({"title": title[:255], "created": MADE})
    head = file.add_format({"bold": True, "bottom": 1, "quote_prefix": True})
    # so that it stays text if somebody edits it
    text = file.add_format({"quote_prefix": True})
    for sheet in sheets:
        page = file.add_worksheet(sheet.title)
        row, widths = 0, dict[int, int]()
        for table in sheet.tables:
            for down, cells in enumerate(table, row):
                require_room(down + 1, len(cells))
                for column, cell in enumerate(cells):
                    widths[column] = max(
                        widths.get(column, _NARROW), _written(page, down, column, cell, text)
                    )
            for column, cell in enumerate(table[0]):
                _written(page, row, column, cell, head)
            row += len(table) + 1
        for column, width in widths.items():
            page.set_column(column, column, min(width + 2, _WIDE))
        page.set_paper(9)  # A4
        page.set_landscape()
        page.fit_to_pages(1, 0)
        if len(sheet.tables) == 1:
            (table,) = sheet.tables
            page.freeze_panes(1, 1)
            page.autofilter(0, 0, len(table) - 1, len(table[0]) - 1)
    file.close()
    return stream.getvalue()


def _written(page: Worksheet, row: int, column: int, cell: str | float | None, form: Format) -> int:
    """Write a cell; how many characters it has."""
    if cell is None or cell == "":
        return 0
    if not isinstance(cell, str):
        page.write_number(row, column, cell)
        return len(f"{cell:g}")
    shown = visible(cell)
    page.write_string(
        row,
        column,
        shown if len(shown) <= LONGEST_TEXT else shorten(shown, LONGEST_TEXT // 2),
        form,
    )
    return len(shown)
