"""The students who get a problem, by their names or only by number, and what their files are
called.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attncli.cli.csv_files import HELP_ON_MORE_CELLS, Row, csv_rows
from attncli.english import shorten
from attncli.errors import Place, input_error
from attncli.file_names import file_names
from attncli.problem.text.source import Source

MOST_STUDENTS = 10_000
_LONGEST = 200  # characters of a name
# characters of a name in that of a file
_LONGEST_FILE = 40
_HEADS = ("student", "name")


class Student(NamedTuple):
    """A student: the name, what the name of each file is without its suffix, and what the numbers
    are drawn by.
    """

    name: str
    file: str
    key: str


def numbered(count: int) -> list[Student]:
    """Students without names: student-01, student-02, …"""
    digits = max(2, len(str(count)))
    names = (f"student-{number:0{digits}}" for number in range(1, count + 1))
    return [Student(name, name, str(number)) for number, name in enumerate(names, start=1)]


def read_roster(source: Source) -> list[Student]:
    """The students of a list of names, one in each line, or of a CSV file with a column called
    student or name.

    A list without such a column has one cell in each line, so no name is cut at a comma that is not
    in quotation marks. A file has the number and the name of its student, with letters and digits
    of any script: 07-ada-lovelace. So no two files have the same name, not even where capitals do
    not count. Raises AttncliError (exit 3) for a name twice, and for a line with more cells than
    there are columns.
    """
    rows = list(csv_rows(source))
    head = rows[0].cells if rows else ()
    column = next((at for at, cell in enumerate(head) if cell.strip().lower() in _HEADS), None)
    lines = _names(rows, 0, 1) if column is None else _names(rows[1:], column, len(head))
    names: dict[str, Place] = {}
    for name, place in lines:
        if len(name) > _LONGEST:
            raise input_error(
                f"{shorten(name)} is no name",
                place=place,
                help=f"{_LONGEST} characters are the most",
            )
        if name in names:
            message = f"{shorten(name)} is in line {names[name].line} already"
            raise input_error(
                message, place=place, help="write something behind one of the two, such as a number"
            )
        names[name] = place
    if not 0 < len(names) <= MOST_STUDENTS:
        help = f"write a name in each line, of at most {MOST_STUDENTS:,} students"
        raise input_error(
            f"there are {len(names):,} names" if names else "there is no name",
            help=help,
            place=Place(source.name, 1, 1),
        )
    digits = max(2, len(str(len(names))))
    wanted = (f"{at:0{digits}}-{_file(name)}".rstrip("-") for at, name in enumerate(names, start=1))
    return [Student(name, file, name) for name, file in zip(names, file_names(wanted), strict=True)]


def _names(rows: Sequence[Row], column: int, columns: int) -> Iterator[tuple[str, Place]]:
    """The cell of each row in this column, with its place; AttncliError (exit 3) where it is blank
    or was cut.
    """
    for row in rows:
        if any(cell.strip() for cell in row.cells[columns:]):
            help = HELP_ON_MORE_CELLS
            if columns == 1:
                help += ", or name the columns in the first line, one of them student"
            message = f"this line has {len(row.cells)} cells, not {columns}"
            raise input_error(message, place=row.place, help=help)
        name = " ".join(row.cells[column].split()) if column < len(row.cells) else ""
        if not name:
            raise input_error(
                "this line has no name", place=row.place, help="write a name, or remove the line"
            )
        yield unicodedata.normalize("NFC", name), row.place


def _file(name: str) -> str:
    """The letters and digits of a name, with hyphens for all else."""
    kept = "".join(sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in name.lower())
    return "-".join(kept.split())[:_LONGEST_FILE].strip("-")
