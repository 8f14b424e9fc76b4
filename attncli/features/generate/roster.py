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
from attncli.features.generate.sizes import MOST_PROBLEMS
from attncli.file_names import file_names
from attncli.problem.text.source import Source

# How many characters a name may have, and how many of them are in the name of a file.
LONGEST_NAME = 200
LONGEST_NAME_IN_FILE = 40
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
    column = _column_of_names(head)
    if column is None:
        lines = _names(rows, 0, 1)
    else:
        lines = _names(rows[1:], column, len(head))
    places: dict[str, Place] = {}
    for name, place in lines:
        if len(name) > LONGEST_NAME:
            what = f"{shorten(name)} is no name"
            help = f"{LONGEST_NAME} characters are the most"
            raise input_error(what, place=place, help=help)
        if name in places:
            what = f"{shorten(name)} is in line {places[name].line} already"
            help = "write something behind one of the two, such as a number"
            raise input_error(what, place=place, help=help)
        places[name] = place
    if not 0 < len(places) <= MOST_PROBLEMS:
        what = "there is no name"
        if places:
            what = f"there are {len(places):,} names"
        help = f"write a name in each line, of at most {MOST_PROBLEMS:,} students"
        raise input_error(what, help=help, place=Place(source.name, 1, 1))
    return _with_files(list(places))


def _column_of_names(head: Sequence[str]) -> int | None:
    for column, cell in enumerate(head):
        if cell.strip().lower() in _HEADS:
            return column
    return None


def _names(rows: Sequence[Row], column: int, columns: int) -> Iterator[tuple[str, Place]]:
    """The cell of each row in this column, with its place; AttncliError (exit 3) where it is blank
    or was cut.
    """
    for row in rows:
        beyond = row.cells[columns:]
        if any(cell.strip() for cell in beyond):
            help = HELP_ON_MORE_CELLS
            if columns == 1:
                help += ", or name the columns in the first line, one of them student"
            message = f"this line has {len(row.cells)} cells, not {columns}"
            raise input_error(message, place=row.place, help=help)
        name = ""
        if column < len(row.cells):
            name = " ".join(row.cells[column].split())
        if not name:
            help = "write a name, or remove the line"
            raise input_error("this line has no name", place=row.place, help=help)
        yield unicodedata.normalize("NFC", name), row.place


def _with_files(names: Sequence[str]) -> list[Student]:
    """Students by these names, with what their files are called: 07-ada-lovelace."""
    digits = max(2, len(str(len(names))))
    wanted = []
    for number, name in enumerate(names, start=1):
        file = f"{number:0{digits}}-{_file(name)}"
        wanted.append(file.rstrip("-"))
    files = file_names(wanted)
    return [Student(name, file, name) for name, file in zip(names, files, strict=True)]


def _file(name: str) -> str:
    """The letters and digits of a name, with hyphens for all else."""
    kept = ""
    for sign in name.lower():
        is_kept = unicodedata.category(sign)[0] in "LMN"
        kept += sign if is_kept else " "
    joined = "-".join(kept.split())
    return joined[:LONGEST_NAME_IN_FILE].strip("-")
