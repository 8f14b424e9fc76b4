"""Tables as an .xlsx file: numbers are numbers, and text is text, whatever it begins with."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from attncli.english import shorten
from attncli.escaping import visible
from attncli.page.document import TableSheet
from attncli.render.xlsx.limits import LONGEST_TEXT, MADE, require_room

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

TableCell: TypeAlias = str | int | float | None

# Widths of columns, in characters.
_NARROWEST_COLUMN, _WIDEST_COLUMN = 8, 60
_A4 = 9


def table_workbook(title: str, sheets: Sequence[TableSheet]) -> bytes:
    """The file of these tables.

    The names of a sheet's only table stay where they are when somebody scrolls, and have filters.
    """
    import xlsxwriter

    stream = BytesIO()
    file = xlsxwriter.Workbook(stream, {"in_memory": True})
    file.set_properties({"title": title[:255], "created": MADE})
    head_style = file.add_format({"bold": True, "bottom": 1, "quote_prefix": True})
    # It stays text if somebody edits it.
    text_style = file.add_format({"quote_prefix": True})
    for sheet in sheets:
        page = file.add_worksheet(sheet.title)
        row = 0
        widths: dict[int, int] = {}
        for table in sheet.tables:
            _write_table(page, row, table, text_style, widths)
            _write_row(page, row, table[0], head_style)
            row += len(table) + 1
        for column, width in widths.items():
            page.set_column(column, column, min(width + 2, _WIDEST_COLUMN))
        page.set_paper(_A4)
        page.set_landscape()
        page.fit_to_pages(1, 0)
        if len(sheet.tables) == 1:
            (table,) = sheet.tables
            page.freeze_panes(1, 1)
            page.autofilter(0, 0, len(table) - 1, len(table[0]) - 1)
    file.close()
    return stream.getvalue()


def _write_table(
    page: Worksheet,
    top: int,
    table: Sequence[Sequence[TableCell]],
    style: Format,
    widths: dict[int, int],
) -> None:
    """Write the rows of a table, and note how wide its columns have to be."""
    for row, cells in enumerate(table, top):
        require_room(row + 1, len(cells))
        for column, width in enumerate(_write_row(page, row, cells, style)):
            widths[column] = max(widths.get(column, _NARROWEST_COLUMN), width)


def _write_row(page: Worksheet, row: int, cells: Sequence[TableCell], style: Format) -> list[int]:
    """Write the cells of a row; how many characters each has."""
    return [_write_cell(page, row, column, cell, style) for column, cell in enumerate(cells)]


def _write_cell(page: Worksheet, row: int, column: int, cell: TableCell, style: Format) -> int:
    """Write a cell; how many characters it has."""
    if cell is None or cell == "":
        return 0
    if not isinstance(cell, str):
        page.write_number(row, column, cell)
        return len(f"{cell:g}")
    shown = visible(cell)
    length = len(shown)
    if length > LONGEST_TEXT:
        shown = shorten(shown, LONGEST_TEXT // 2)
    page.write_string(row, column, shown, style)
    return length
