"""What a student is told of answers that could not be checked: no path of the teacher's, and
nothing about a problem that is broken.
"""

from __future__ import annotations

from typing import NamedTuple

from attncli.errors import AttncliError, Exit


class Told(NamedTuple):
    """What is wrong, and what to do about it."""

    said: str
    help: str = ""


ASK = "ask your teacher"
BY_TEACHER = Told("something else than your answers is at fault", ASK)


def told_of(error: AttncliError, answers: str) -> Told:
    """The error in the file of answers by its line alone, since the student has the file by another
    path; of any other file, that it is none of the student's.

    A help that names a command is for the teacher.
    """
    place = error.place
    if place is not None and place.file == answers:
        help = "" if "attncli" in error.help else error.help
        return Told(f"line {place.line}: {error}", help)
    if error.exit_code == Exit.FILE and answers in error.message:
        return Told("there is no file with them that can be read", f"hand it in again, or {ASK}")
    return BY_TEACHER
