"""The files of a set of problems: for each student a problem, a worksheet, answers to fill in and a
key; and a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from attncli.answers.blank import blank_answers
from attncli.features.generate.roster import COLUMNS_OF_MANIFEST, Student
from attncli.features.generate.search import Found
from attncli.features.generate.sizes import USUAL_MARKS
from attncli.marking.sheet import SheetSteps, room_for, to_fill_in
from attncli.marking.sheet_marks import SheetMarks
from attncli.page.document import Document
from attncli.page.view import View
from attncli.page.worksheet import FIELDS, answer_key, compact_key, worksheet
from attncli.render import FORMATS, pieces
from attncli.render.bundles import FORMATS_OF_BUNDLES, BundledPages
from attncli.render.csv_lines import lines
from attncli.render.latex.escape import lacks_letters

# Of these, the sheets are in the formats that there are.
FORMATS_OF_SHEETS = ("latex", "markdown", "html")


class Sheets(NamedTuple):
    """How the worksheets of a set are: of how many marks, whether their titles have the names of
    students, whether they explain the steps, and whether they are compact.
    """

    marks: SheetMarks = SheetMarks(USUAL_MARKS)
    named: bool = False
    explain: bool = False
    compact: bool = False

    def fields(self, student: Student, format: str) -> tuple[str, ...]:
        """What there is room for at the top of a sheet: for the name where the title lacks it."""
        is_left_out = format == "latex" and lacks_letters(student.name)
        if self.named and not is_left_out:
            return tuple(field for field in FIELDS if field != "Name")
        return tuple(FIELDS)


class ClassFiles:
    """The sheets of a class in one file, and the keys, in each format that can be printed."""

    def __init__(self, title: str) -> None:
        """No student yet; `title` is that of the problems."""
        self._files: dict[tuple[str, str], BundledPages] = {}
        for format in FORMATS_OF_BUNDLES:
            if format not in FORMATS:
                continue
            self._files["sheets", format] = BundledPages(format, title)
            keys = BundledPages(format, f"Keys: {title}", on_new_paper=False)
            self._files["keys", format] = keys

    def add(self, student: Student, name: str, format: str, document: Document) -> None:
        """Add a page of a student to the `sheets` or the `keys`, if there is a file of the
        format.
        """
        if file := self._files.get((name, format)):
            file.add(student.number, student.name, document)

    def files(
        self, engine: Callable[[str], bytes] | None
    ) -> Iterator[tuple[str, Iterable[str | bytes]]]:
        """The files, by their names; with an engine of TeX, those of LaTeX as PDF, too."""
        for (name, format), file in self._files.items():
            yield f"{name}{FORMATS[format].suffixes[0]}", file.pieces()
            if engine is not None and format == "latex":
                yield f"{name}.pdf", [engine("".join(file.pieces()))]


def files_of(
    student: Student, found: Found, asked: Sequence[str], sheets: Sheets, whole: ClassFiles
) -> Iterator[tuple[str, Iterator[str]]]:
    """The files of one student, by their paths in the folder of the set; the sheet and the key also
    go to the files of the `whole` class.

    A sheet has room for every step, and says which of them are asked for. A key shows every step.
    """
    yield _problem(student), iter([found.text])
    yield _answers(student), iter([blank_answers(found.trace, asked)])
    shown = View(precision=found.audit.decimals)
    steps = SheetSteps(tuple(asked), room_for(found.trace, asked))
    without_numbers = replace(
        shown,
        detail="rows" if sheets.explain else "brief",
        blank=frozenset(steps.room),
        explains=sheets.explain,
    )
    worth = steps.worth(found.trace, sheets.marks)
    key = answer_key(found.trace, shown, found.audit)
    # All keys in one file are to be printed: each is as short as its sheet.
    brief_key = compact_key(found.trace, shown)
    for format in FORMATS_OF_SHEETS:
        if format not in FORMATS:
            continue
        suffix = FORMATS[format].suffixes[0]
        sheet = worksheet(
            found.trace,
            without_numbers,
            steps.only,
            fields=sheets.fields(student, format),
            compact=sheets.compact,
            worth=worth,
        )
        whole.add(student, "sheets", format, sheet)
        whole.add(student, "keys", format, brief_key)
        saved = to_fill_in(found.trace, steps, f"{student.file}.yaml", is_named=True)
        single = replace(sheet, to_fill_in=saved)
        yield f"worksheets/{student.file}{suffix}", pieces(single, format)
        yield f"keys/{student.file}{suffix}", pieces(key, format)


def manifest(students: Sequence[Student]) -> Iterator[str]:
    """Which files are whose, as `attncli check --batch` reads it, and what else the list says of
    them.
    """
    first, *_ = students
    rows: list[Sequence[str]] = [(*COLUMNS_OF_MANIFEST, *first.more)]
    for student in students:
        own = (student.name, _problem(student), _answers(student))
        rows.append((*own, *student.more.values()))
    return lines(rows)


def _problem(student: Student) -> str:
    return f"problems/{student.file}.yaml"


def _answers(student: Student) -> str:
    return f"answers/{student.file}.yaml"
