"""The files of a set of problems: for each student a problem, a worksheet, answers to fill in and a
key; and a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from attncli.answers.blank import blank_answers
from attncli.features.generate.roster import Student
from attncli.features.generate.search import Found
from attncli.page.view import View
from attncli.page.worksheet import answer_key, blank_steps, worksheet
from attncli.render import FORMATS, pieces
from attncli.render.csv_lines import lines

# Of these, the sheets are in the formats that there are.
FORMATS_OF_SHEETS = ("latex", "markdown", "html")
COLUMNS_OF_MANIFEST = ("student", "problem", "answers")


def files_of(
    student: Student, found: Found, asked: Sequence[str]
) -> Iterator[tuple[str, Iterator[str]]]:
    """The files of one student, by their paths in the folder of the set.

    A sheet has room for every step, and says which of them are asked for. A key shows every step.
    """
    yield _problem(student), iter([found.text])
    to_fill_in = blank_answers(found.trace, asked)
    yield _answers(student), iter([to_fill_in])
    shown = View(precision=found.audit.decimals)
    blank = blank_steps(found.trace)
    only_these: Sequence[str] = ()
    if len(asked) < len(blank):
        only_these = asked
    without_numbers = replace(shown, blank=frozenset(blank))
    sheet = worksheet(found.trace, without_numbers, only_these)
    key = answer_key(found.trace, shown, found.audit)
    for format in FORMATS_OF_SHEETS:
        if format not in FORMATS:
            continue
        suffix = FORMATS[format].suffixes[0]
        yield f"worksheets/{student.file}{suffix}", pieces(sheet, format)
        yield f"keys/{student.file}{suffix}", pieces(key, format)


def manifest(students: Sequence[Student]) -> Iterator[str]:
    """Which files are whose, as `attncli check --batch` reads it."""
    rows = [(student.name, _problem(student), _answers(student)) for student in students]
    return lines([COLUMNS_OF_MANIFEST, *rows])


def _problem(student: Student) -> str:
    return f"problems/{student.file}.yaml"


def _answers(student: Student) -> str:
    return f"answers/{student.file}.yaml"
