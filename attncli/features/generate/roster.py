"""The students who get a problem, by their names or only by number, and what their files are
called.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from attncli.cli.csv_files import HELP_ON_MORE_CELLS, Row, csv_rows
from attncli.english import as_written, shorten
from attncli.errors import AttncliError, Place, input_error
from attncli.features.generate.sizes import MOST_PROBLEMS
from attncli.file_names import file_names
from attncli.problem.text.source import Source
from attncli.render.csv_lines import lines as csv_lines

# How many characters a name may have, and how many of them are in the name of a file.
LONGEST_NAME = 200
LONGEST_NAME_IN_FILE = 40
_HEADS = ("student", "name", "student name", "full name", "name of student")
# Two columns that are a name together, as the lists of a university have them.
_FIRST_NAMES = ("first name", "firstname", "given name", "forename", "vorname", "prénom", "nombre")
_LAST_NAMES = ("last name", "lastname", "surname", "family name", "nachname", "nom", "apellidos")
# Nobody is called so: it is what a column has.
_HEADS_OF_OTHERS = (
    *_FIRST_NAMES,
    *_LAST_NAMES,
    *("matriculation", "matriculation number", "matrikelnummer", "student number", "student id"),
    *("id", "id number", "number", "no", "no.", "email", "e-mail", "mail", "email address"),
    *("username", "user name", "login", "group", "class", "course", "section"),
)
_NO_COLUMN = "no column is called student or name"
# The columns of a manifest that are not copied from a list of students.
COLUMNS_OF_MANIFEST = ("student", "problem", "answers")


class Student(NamedTuple):
    """A student: the name, what the name of each file is without its suffix, what the numbers are
    drawn by, the further cells on the list, such as an address, by their columns, and the number
    on the list.
    """

    name: str
    file: str
    key: str
    more: Mapping[str, str] = MappingProxyType({})
    # Where the name itself has none.
    number: str = ""

    def title_of(self, problem: str) -> str:
        """What a problem of this title is called that is for this student: Attention – Ada."""
        return f"{problem} – {self.name}"


class _Listed(NamedTuple):
    """What a line of a list says of a student, and where it stands."""

    name: str
    more: Mapping[str, str]
    place: Place


def numbered(count: int) -> list[Student]:
    """Students without names: student-01, student-02, …"""
    digits = max(2, len(str(count)))
    names = (f"student-{number:0{digits}}" for number in range(1, count + 1))
    return [Student(name, name, str(number)) for number, name in enumerate(names, start=1)]


def read_roster(source: Source) -> list[Student]:
    """The students of a list of names, one in each line, or of a CSV file with a column called
    student or name.

    A first name and a last name in two columns are a name, too. A list without such columns has one
    cell in each line, so no name is cut at a comma that is not in quotation marks. A file has the
    number and the name of its student, with letters and digits of any script: 07-ada-lovelace. So
    no two files have the same name, not even where capitals do not count. The other columns of a
    CSV file are kept; one without a name is left out.

    Raises AttncliError (exit 3) for a name twice, for a first line that has columns but none of
    names, for two columns of one name or one that a manifest has of its own, and for a line with
    more cells than there are columns.
    """
    rows = list(csv_rows(source))
    of_names = _columns_of_names(rows[0].cells) if rows else ()
    if of_names:
        head, *rows = rows
        lines = _lines(rows, _columns(head, of_names), of_names)
    else:
        _require_no_head(rows[:1])
        lines = _lines(rows, [""], (0,))
    found: dict[str, _Listed] = {}
    for line in lines:
        name = line.name
        if len(name) > LONGEST_NAME:
            what = f"{shorten(name)} is no name"
            help = f"{LONGEST_NAME} characters are the most"
            raise input_error(what, place=line.place, help=help)
        if name in found:
            what = f"{shorten(name)} is in line {found[name].place.line} already"
            help = "write something behind one of the two, such as a number"
            raise input_error(what, place=line.place, help=help)
        found[name] = line
    if not 0 < len(found) <= MOST_PROBLEMS:
        what = "there is no name"
        if found:
            what = f"there are {len(found):,} names"
        help = f"write a name in each line, of at most {MOST_PROBLEMS:,} students"
        raise input_error(what, help=help, place=Place(source.name, 1, 1))
    return _with_files([*found.values()])


def _columns_of_names(head: Sequence[str]) -> tuple[int, ...]:
    """The column of the names, or the two of which each has a part; none for a line without."""
    heads = [" ".join(cell.lower().split()) for cell in head]
    for number, each in enumerate(heads):
        if each in _HEADS:
            return (number,)
    parts = []
    for possible in (_FIRST_NAMES, _LAST_NAMES):
        parts += [number for number, each in enumerate(heads) if each in possible][:1]
    return tuple(parts) if len(parts) == len((_FIRST_NAMES, _LAST_NAMES)) else ()


def _require_no_head(rows: Sequence[Row]) -> None:
    """Raises AttncliError (exit 3) for a list whose first line names columns, but none of names, or
    has several cells.
    """
    for first in rows:
        cells = [cell.strip() for cell in first.cells if cell.strip()]
        is_one = len(cells) == 1
        if is_one and cells[0].lower() not in _HEADS_OF_OTHERS:
            return
        help = "write student above the column of the names, in the first line"
        if len(cells) > 1:
            help += f"; {HELP_ON_MORE_CELLS}"
        raise input_error(_NO_COLUMN, place=first.place, help=help)


def _columns(head: Row, of_names: Sequence[int]) -> list[str]:
    """What the further columns are called, each at its place; nothing where one is not copied. The
    parts of a name are copied, too.
    """
    names = [cell.strip() for cell in head.cells]
    if len(of_names) == 1:
        names[of_names[0]] = ""
    taken = [*COLUMNS_OF_MANIFEST]
    for number, name in enumerate(names):
        if not name:
            continue
        if name.lower() in taken:
            raise _taken(head, number, name)
        taken.append(name.lower())
    return names


def _taken(head: Row, number: int, name: str) -> AttncliError:
    what = f"there are two columns {as_written(name)}"
    if name.lower() in COLUMNS_OF_MANIFEST:
        what = f"the manifest has a column {as_written(name.lower())} of its own"
    others = [*head.cells]
    others[number] = f"{name} {number + 1}"
    line = "".join(csv_lines([others])).strip()
    return input_error(what, place=head.place, help=f"give this one another name: {line}")


def _lines(
    rows: Sequence[Row], columns: Sequence[str], of_names: Sequence[int]
) -> Iterator[_Listed]:
    """What each row says of a student; AttncliError (exit 3) where the name is blank or was cut."""
    for row in rows:
        beyond = row.cells[len(columns) :]
        if any(cell.strip() for cell in beyond):
            message = f"this line has {len(row.cells)} cells, not {len(columns)}"
            raise input_error(message, place=row.place, help=HELP_ON_MORE_CELLS)
        parts = [row.cells[number] for number in of_names if number < len(row.cells)]
        name = " ".join(" ".join(parts).split())
        if not name:
            help = "write a name, or remove the line"
            raise input_error("this line has no name", place=row.place, help=help)
        # A row may end early.
        cells = dict.fromkeys(filter(None, columns), "")
        for column, cell in zip(columns, row.cells, strict=False):
            if column:
                cells[column] = cell.strip()
        yield _Listed(unicodedata.normalize("NFC", name), cells, row.place)


def _with_files(lines: Sequence[_Listed]) -> list[Student]:
    """Students by these names, with what their files are called: 07-ada-lovelace."""
    digits = max(2, len(str(len(lines))))
    numbers = [f"{number:0{digits}}" for number, _ in enumerate(lines, start=1)]
    wanted = []
    for number, line in zip(numbers, lines, strict=True):
        file = f"{number}-{_file(line.name)}"
        wanted.append(file.rstrip("-"))
    files = file_names(wanted)
    return [
        Student(line.name, file, line.name, line.more, number)
        for number, line, file in zip(numbers, lines, files, strict=True)
    ]


def _file(name: str) -> str:
    """The letters and digits of a name, with hyphens for all else."""
    kept = ""
    for sign in name.lower():
        is_kept = unicodedata.category(sign)[0] in "LMN"
        kept += sign if is_kept else " "
    joined = "-".join(kept.split())
    return joined[:LONGEST_NAME_IN_FILE].strip("-")
