"""The errors that are found in a text, collected so that many are reported at once."""

from __future__ import annotations

from typing import NoReturn

from attncli.english import count, either, listed
from attncli.errors import MOST_ERRORS_COUNTED, AttncliError, Exit
from attncli.problem.text.source import Source

# So many errors are reported at once; the others are counted.
MOST_ERRORS_SHOWN = 20


class ErrorCollector:
    """The errors found so far in one source, whose exit code is `exit_code`.

    Up to twenty are reported at once, the others are counted: `errors.add(…)` notes one, and
    `errors.stop()` raises all.
    """

    def __init__(self, source: Source, exit_code: Exit = Exit.INPUT) -> None:
        self.source = source
        self.exit_code = exit_code
        self._errors: list[AttncliError] = []
        self._count = 0
        # How many numbers are still to be written, by key.
        self._blanks: dict[str, int] = {}
        # The path of the first of these, and where it is.
        self._first_blank = ("", 0)

    @property
    def count(self) -> int:
        """How many problems there are so far."""
        return self._count + sum(self._blanks.values())

    def add(self, message: str, *, at: int, help: str, path: str = "") -> None:
        """Note one problem at an offset of the text; the thousandth ends the reading."""
        self.add_error(AttncliError(self.exit_code, message, help=help), at=at, path=path)

    def leave_blank(self, path: str, *, at: int) -> None:
        """Note a number that is still to be written; all of them together are one problem."""
        if not self._blanks:
            self._first_blank = path, at
        key = path.partition("[")[0]
        self._blanks[key] = self._blanks.get(key, 0) + 1

    def add_error(self, error: AttncliError, *, at: int, path: str) -> None:
        """Note an error that was found elsewhere, such as a file that is not there, at the place
        that led to it.

        A file that several keys name is one problem.
        """
        if any(
            known.message == error.message and known.exit_code == Exit.FILE
            for known in self._errors
        ):
            return
        self._count += 1
        if self._count <= MOST_ERRORS_SHOWN:
            place = self.source.place(at) if self.source.name else None
            self._errors.append(
                AttncliError(
                    error.exit_code, error.message, path=path, place=place, help=error.help
                )
            )
        if self._count == MOST_ERRORS_COUNTED:
            self.stop()

    def fail(self, message: str, *, at: int, help: str, path: str = "") -> NoReturn:
        """Note a problem after which nothing more can be read, and end the reading."""
        self.add(message, at=at, path=path, help=help)
        self.stop()
        raise AssertionError("unreachable: there is a problem to stop for")

    def stop(self) -> None:
        """Raise the first problem in the order of the file, the others as its `more`; nothing if
        clean.
        """
        if self._blanks:
            path, at = self._first_blank
            where = listed([f"{number:,} in {key}" for key, number in self._blanks.items()])
            number, self._blanks = sum(self._blanks.values()), {}
            message = f"{count(number, 'number')} {either(number, 'is', 'are')} still to be written"
            self.add(message, at=at, path=path, help=f"write a number for each _: {where}")
        if not self._errors:
            return
        first, *others = sorted(
            self._errors, key=lambda e: (e.place.line, e.place.column) if e.place else (0, 0)
        )
        raise AttncliError(
            first.exit_code,
            first.message,
            path=first.path,
            place=first.place,
            help=first.help,
            more=tuple(others),
            untold=self._count - len(self._errors),
        )
