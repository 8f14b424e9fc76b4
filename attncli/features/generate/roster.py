"""The students who get a problem, by their names or only by number, and what their files are called."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from attncli.cli.csv_files import Row, csv_rows
from attncli.english import shorten
from attncli.errors import Place, input_error
from attncli.problem.source import Source

MOST_STUDENTS = 10_000
_LONGEST = 200  # characters of a name
_LONGEST_FILE = 40  # characters of a name in that of a file
_HEADS = ("student", "name")


class Student(NamedTuple):
    """A student: the name, what the name of each file is without its suffix, and what the numbers are drawn by."""

    name: str
    file: str
    key: str


def numbered(count: int) -> list[Student]:
    """Students without names: student-01, student-02, …"""
    digits = max(2, len(str(count)))
    names = (f"student-{number:0{digits}}" for number in range(1, count + 1))
    return [Student(name, name, str(number)) for number, name in enumerate(names, start=1)]


def read_roster(source: Source) -> list[Student]:
    """The students of a list of names, one in each line, or of a CSV file with a column called student or name.

    A file has the number and the name of its student, with letters and digits of any script: 07-ada-lovelace. So no two
    files have the same name, not even where capitals do not count. Raises AttncliError (exit 3) for a name twice.
    """
    rows = list(csv_rows(source))
    column = next((at for at, cell in enumerate(rows[0].cells) if cell.strip().lower() in _HEADS), None) if rows else 0
    names: dict[str, Place] = {}
    for name, place in _names(rows[0 if column is None else 1 :], column or 0):
        if len(name) > _LONGEST:
            raise input_error(f"{shorten(name)} is no name", place=place, help=f"{_LONGEST} characters are the most")
        if name in names:
            message = f"{shorten(name)} is in line {names[name].line} already"
            raise input_error(message, place=place, help="write something behind one of the two, such as a number")
        names[name] = place
    if not 0 < len(names) <= MOST_STUDENTS:
        help = f"write a name in each line, of at most {MOST_STUDENTS:,} students"
        raise input_error(f"there are {len(names):,} names" if names else "there is no name", help=help,
                          place=Place(source.name, 1, 1))  # fmt: skip
    digits = max(2, len(str(len(names))))
    return [Student(name, f"{at:0{digits}}-{_file(name)}".rstrip("-"), name) for at, name in enumerate(names, start=1)]


def _names(rows: list[Row], column: int) -> Iterator[tuple[str, Place]]:
    for row in rows:
        name = " ".join(row.cells[column].split()) if column < len(row.cells) else ""
        if not name:
            raise input_error("this line has no name", place=row.place, help="write a name, or remove the line")
        yield unicodedata.normalize("NFC", name), row.place


def _file(name: str) -> str:
    """The letters and digits of a name, with hyphens for all else."""
    kept = "".join(sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in name.lower())
    return "-".join(kept.split())[:_LONGEST_FILE].strip("-")
