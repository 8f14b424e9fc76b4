"""Collects what is wrong with a file, so that one reading tells up to twenty problems at once and counts the others."""

from __future__ import annotations

from typing import NoReturn

from attncli.errors import COUNTED, AttncliError, Exit
from attncli.problem.nodes import Node
from attncli.problem.source import Source

TOLD = 20


class Report:
    """The problems found so far in one source; `exit_code` is what they end in.

    `root` is the tree of a source that is a whole problem, for a value whose meaning hangs on another key.
    """

    def __init__(self, source: Source, exit_code: Exit = Exit.INPUT) -> None:
        self.source = source
        self.root: Node | None = None
        self._exit_code = exit_code
        self._errors: list[AttncliError] = []
        self._count = 0

    @property
    def count(self) -> int:
        """How many problems there are so far."""
        return self._count

    def add(self, message: str, *, at: int, help: str, path: str = "") -> None:
        """Note one problem at an offset of the text; the thousandth ends the reading."""
        self.place(AttncliError(self._exit_code, message, help=help), at=at, path=path)

    def place(self, error: AttncliError, *, at: int, path: str) -> None:
        """Note an error that was found elsewhere, such as a file that is not there, at the spot that led to it."""
        self._count += 1
        if self._count <= TOLD:
            place = self.source.place(at)
            self._errors.append(AttncliError(error.exit_code, error.message, path=path, place=place, help=error.help))
        if self._count == COUNTED:
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
        raise AttncliError(
            first.exit_code, first.message, path=first.path, place=first.place, help=first.help,
            more=tuple(others), untold=self._count - len(self._errors),
        )  # fmt: skip


class Unheard(Report):
    """Counts what is wrong, and tells nobody: for a look at a value that is read again, aloud, where it is wrong."""

    def place(self, error: AttncliError, *, at: int, path: str) -> None:
        self._count += 1
