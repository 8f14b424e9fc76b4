"""Files of comma-separated values, for people who open them in a spreadsheet: no cell of them is ever a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from attncli.errors import Place, input_error
from attncli.problem.source import Source

_DELIMITERS = ",;\t"
# A spreadsheet takes such text for a formula. The apostrophe before it says that it is text.
_FORMULA = re.compile(r"'*\s*[=+\-@＝＋－＠]|'*[\t\r\n]")


class Row(NamedTuple):
    """The cells of a line, and the place where it ends."""

    cells: tuple[str, ...]
    place: Place


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as a file: numbers as they are, None as an empty cell, and text that is never a formula.

    >>> csv_text([["student", "marks"], ["=cmd()", 7.5]])
    "student,marks\\n'=cmd(),7.5\\n"
    """
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_guarded(cell) for cell in row] for row in rows)
    return stream.getvalue()


def csv_rows(source: Source) -> Iterator[Row]:
    """The rows of a file that are not empty, with the text of each cell, as it was before `csv_text` guarded it.

    Commas, semicolons or tabs part the cells: what is most frequent in the first line. Raises AttncliError (exit 3)
    where a quotation mark is not closed, or a cell is too long to be one.
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
            help = "put text with commas or quotation marks in quotation marks, and double those inside it"
            raise input_error(f"this line cannot be read: {error}", place=place, help=help) from None
        if any(cell.strip() for cell in cells):
            yield Row(tuple(map(_unguarded, cells)), _place(source, lines, reader.line_num))


def _place(source: Source, lines: Sequence[str], number: int) -> Place:
    return Place(source.name, number, 1, lines[min(number, len(lines)) - 1])


def _guarded(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
