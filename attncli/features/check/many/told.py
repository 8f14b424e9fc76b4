"""What a student is told of answers that could not be checked: no path of the teacher's, and
nothing about a problem that is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

from attncli.cli.error_report import excerpt
from attncli.errors import AttncliError, Exit, Place
from attncli.page.document import Block, Paragraph, Verbatim


class Told(NamedTuple):
    """What is wrong, and what to do about it; `lines` are those of the student's file where it is,
    with a caret.
    """

    said: str
    help: str = ""
    lines: tuple[str, ...] = ()

    def blocks(self) -> Iterator[Block]:
        """The same on a page."""
        could_not = "These answers could not be checked"
        if not self.lines:
            yield Paragraph((f"{could_not}: {self.said}.",), "warning")
            if self.help:
                yield Paragraph((_as_sentence(self.help),))
            return
        yield Paragraph((f"{could_not}. This is to be mended in your file:",), "warning")
        sentence = _as_sentence(self.said)
        said = [*wrap(sentence, WIDEST_LINE)]
        if self.help:
            sentence = _as_sentence(self.help)
            said += wrap(sentence, WIDEST_LINE)
        yield Verbatim((*self.lines, *said))


ASK = "ask your teacher"
# Of what is said below a line of the file.
WIDEST_LINE = 76
# What stands in front of indices that count from 0, the last two of which are a row and a column.
_CELL = re.compile(r"\b(?P<name>\w+(?:\[\d+\])*?)\[(?P<row>\d+)\](?:\[(?P<column>\d+)\])?(?!\[)")
AS_TEXT = "hand in the numbers as plain text: type them, or save the file as .txt"
BY_TEACHER = Told("something else than your answers is at fault", ASK)


def told_of(error: AttncliError, answers: str) -> Told:
    """The error in the file of answers with its line alone, since the student has the file by
    another path; of any other file, that it is none of the student's.

    A help that names a command is for the teacher.
    """
    place = error.place
    if place is not None and place.file == answers:
        help = "" if "attncli" in error.help else error.help
        said = _with_rows(str(error))
        return Told(said, _with_rows(help), _lines_at(place))
    is_what = error.message.removeprefix(f"{answers} is ")
    if is_what != error.message and is_what.endswith("not text"):
        return Told(f"your file is {is_what}", AS_TEXT)
    if error.exit_code == Exit.FILE and answers in error.message:
        return Told("there is no file with them that can be read", f"hand it in again, or {ASK}")
    return BY_TEACHER


def _lines_at(place: Place) -> tuple[str, ...]:
    """Line 2, what stands there, and a caret; the number alone where it is blank."""
    number = f"Line {place.line}:"
    if not place.source.strip():
        return (number,)
    return (number, *excerpt(place))


def _as_sentence(said: str) -> str:
    end = "" if said.endswith("?") else "."
    return f"{said[0].upper()}{said[1:]}{end}"


def _with_rows(text: str) -> str:
    """scores, row 3, column 1 for scores[2][0]: students count from 1."""

    def said(found: re.Match[str]) -> str:
        row = f"{found['name']}, row {int(found['row']) + 1}"
        if found["column"] is None:
            return row
        return f"{row}, column {int(found['column']) + 1}"

    return _CELL.sub(said, text)
