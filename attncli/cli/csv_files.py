"""Reads files of comma-separated values that people, spreadsheets or attncli wrote."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attncli.errors import Place, input_error
from attncli.problem.text.source import Source
from attncli.render.csv_lines import original

_DELIMITERS = ",;\t"
HELP_ON_MORE_CELLS = "put text with commas, semicolons or tabs in quotation marks"


class Row(NamedTuple):
    """The cells of a line, and the place where it ends."""

    cells: tuple[str, ...]
    place: Place


def csv_rows(source: Source) -> Iterator[Row]:
    """The rows of a file that are not empty, with the text of each cell as it was before
    `spreadsheet.safe` changed it.

    Commas, semicolons or tabs part the cells: what is most frequent in the first line. Raises
    AttncliError (exit 3) where a quotation mark is not closed, or a cell is too long to be one.
    """
    lines = source.text.split("\n")
    delimiter = max(_DELIMITERS, key=lines[0].count)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            place = _place(source, lines, reader.line_num)
            help = (
                "put text with commas or quotation marks in quotation marks, and double those"
                " inside it"
            )
            raise input_error(
                f"this line cannot be read: {error}", place=place, help=help
            ) from None
        if any(cell.strip() for cell in cells):
            yield Row(tuple(map(original, cells)), _place(source, lines, reader.line_num))


def _place(source: Source, lines: Sequence[str], number: int) -> Place:
    return Place(source.name, number, 1, lines[min(number, len(lines)) - 1])
