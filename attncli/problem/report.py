"""Collects what is wrong with a file, so that one reading tells up to twenty problems at once."""

from __future__ import annotations

from typing import NoReturn

from attncli.errors import AttncliError, Exit
from attncli.problem.source import Source

LIMIT = 20


class Report:
    """The problems found so far in one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._errors: list[AttncliError] = []

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong so far."""
        return not self._errors

    @property
    def count(self) -> int:
        """How many problems there are so far."""
        return len(self._errors)

    def add(self, message: str, *, at: int, help: str, path: str = "", exit_code: Exit = Exit.INPUT) -> None:
        """Note one problem at an offset of the text; the twentieth ends the reading."""
        place = self.source.place(at)
        self._errors.append(AttncliError(exit_code, message, path=path, place=place, help=help))
        if len(self._errors) == LIMIT:
            self.stop()

    def fail(self, message: str, *, at: int, help: str, path: str = "") -> NoReturn:
        """Note a problem after which nothing more can be read, and end the reading."""
        self.add(message, at=at, path=path, help=help)
        self.stop()
        raise AssertionError("unreachable: there is a problem to stop for")

    def stop(self) -> None:
        """Raise the first problem in the order of the file, the others as its `more`; nothing if clean."""
        if not self._errors:
            return
        first, *others = sorted(self._errors, key=lambda e: (e.place.line, e.place.column) if e.place else (0, 0))
        first.more = tuple(others)
        raise first
