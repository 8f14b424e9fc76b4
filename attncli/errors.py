"""The one error people see: what is wrong, where it stands, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from io import UnsupportedOperation

# These options name a folder to write to.
_OF_FOLDERS = ("-d", "--feedback", "--export")
# What has more characters is no misspelt name, and to be compared with one would take long.
_LONGEST_WORD_COMPARED = 100
# With so many errors the reading of a file ends, which else could take minutes.
MOST_ERRORS_COUNTED = 1000


class Exit(IntEnum):
    """Exit codes of the command line; `docs/reference/exit-codes-and-errors.md` explains each."""

    OK = 0
    DIFFERENCE = 1
    USAGE = 2
    INPUT = 3
    FILE = 4
    MISSING = 5
    FAULT = 70
    INTERRUPTED = 130
    UNREAD = 141


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a text file, lines and columns counted from 1, with the line that stands there."""

    file: str
    line: int
    column: int
    source: str = ""


class AttncliError(Exception):
    """Something the person can mend.

    `path` names the value inside the problem (`W_Q[1][0]`), `place` the spot in the file, `help`
    what to do. `more` holds further errors found in the same run, so that one reading of a file
    reports many; `untold` is how many were found besides.
    """

    def __init__(
        self,
        exit_code: Exit,
        message: str,
        *,
        path: str = "",
        place: Place | None = None,
        help: str = "",
        more: tuple[AttncliError, ...] = (),
        untold: int = 0,
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.message = message
        self.path = path
        self.place = place
        self.help = help
        self.more = more
        self.untold = untold
        if help:
            # It is the last line of a traceback in Python.
            self.add_note(f"help: {help}")

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def usage_error(message: str, *, help: str = "") -> AttncliError:
    """Wrong use of the command line (exit 2)."""
    return AttncliError(Exit.USAGE, message, help=help)


def input_error(
    message: str, *, path: str = "", place: Place | None = None, help: str = ""
) -> AttncliError:
    """Something wrong in the problem that was given (exit 3)."""
    return AttncliError(Exit.INPUT, message, path=path, place=place, help=help)


def file_error(message: str, *, help: str = "") -> AttncliError:
    """A file or stream that cannot be read or written (exit 4)."""
    return AttncliError(Exit.FILE, message, help=help)


def missing_error(message: str, *, help: str = "") -> AttncliError:
    """An optional package or a device that is not there (exit 5)."""
    return AttncliError(Exit.MISSING, message, help=help)


def unwritable(name: str, why: str, option: str = "-o", *, mend: str = "") -> AttncliError:
    """A file or stream, called `name` by the person, that cannot be written (exit 4).

    `option` says where to; `mend` is what helps besides another place.
    """
    what = "FOLDER" if option in _OF_FOLDERS else "FILE"
    elsewhere = f"write to another place with {option} {what}"
    help = f"{mend}, or {elsewhere}" if mend else elsewhere
    return file_error(f"cannot write {name}: {why}", help=help)


def reason(error: Exception) -> str:
    """What the operating system, or Python before it, says is wrong with a file: "no such file or
    directory".
    """
    if isinstance(error, UnsupportedOperation):
        # What stands in for a closed stream refuses in words of its own.
        return "it is closed"
    # Each Python says it in words of its own.
    if isinstance(error, ValueError):
        if isinstance(error, UnicodeError):
            return "its name has a character that no file's name can have here"
        return (
            "it is closed"
            if "closed" in str(error)
            else "a file's name cannot hold a NUL character"
        )
    if isinstance(error, RuntimeError):
        # Python's pathlib says so of a link to itself, with the whole path.
        return "too many levels of symbolic links"
    words = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return words if words[:2].isupper() else words[:1].lower() + words[1:]


def did_you_mean(word: str, known: list[str], otherwise: str, *, cutoff: float = 0.6) -> str:
    """A help line: the nearest known word, or `otherwise` where none is near; `cutoff` as for
    `nearest`.
    """
    near = nearest(word, known, cutoff=cutoff)
    return f"did you mean {near}?" if near else otherwise


def nearest(word: str, known: list[str], *, cutoff: float = 0.6) -> str:
    """The known word that this one is a misspelling of, or "".

    `cutoff` is how near it must be, from 0 to 1 as difflib counts; with 0.75, text is no misspelt
    context. The beginning of a word, of three letters or more, is near at 0.6.
    """
    if len(word) > _LONGEST_WORD_COMPARED:
        return ""
    from difflib import get_close_matches

    lowered, typed = {name.lower(): name for name in known}, word.lower()
    near = get_close_matches(typed, lowered, n=1, cutoff=cutoff)
    if not near and len(typed) > 2:
        near = [
            name
            for name in get_close_matches(typed, lowered, n=3, cutoff=0.6)
            if name.startswith(typed)
        ]
    return lowered[near[0]] if near else ""
