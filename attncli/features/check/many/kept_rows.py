"""Keeps each row when it is done, beside the results, so that a run that is killed can go on where
it was.

Results are written as a whole, at the end. Until then the rows stand in a file of their own,
`.results.csv.partial`, each on a line, as JSON. `--resume` reads them, and the end of a run removes
them.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any

from attncli import system
from attncli.errors import AttncliError
from attncli.features.check.many.result_row import Marked
from attncli.features.check.many.results_read_back import row_of_json
from attncli.problem.arrays.stored import strict_json
from attncli.problem.files import read_bytes

# The first line of the rows of a run that did not go on from the results which stood there.
_ANEW = b'"anew"'


def file_of_rows(output: str) -> str:
    """Where the rows stand that are kept for these results."""
    folder, name = os.path.split(os.path.realpath(output))
    return os.path.join(folder, f".{name}.partial")


def kept_rows(output: str) -> Iterator[Marked]:
    """The rows that a run kept which was killed; a line that was cut off or damaged is none.

    There are none where no regular file has the name, or where it is too large to be read.
    """
    try:
        data = read_bytes(file_of_rows(output))
    except AttncliError:
        return
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            row: Any = strict_json(line)
            yield row_of_json(row)


def began_anew(output: str) -> bool:
    """Whether the rows that are kept are of a run that did not go on from the results beside
    them.
    """
    try:
        return _ANEW in read_bytes(file_of_rows(output)).split(b"\n")
    except AttncliError:
        return False


class KeptRows:
    """The rows of a run so far; where they cannot be kept, it goes on without that."""

    def __init__(self, output: str, *, goes_on: bool) -> None:
        """For these results. A run that `goes_on` adds to the rows of the one before, which another
        removes.
        """
        self._output = output
        self._path = file_of_rows(output)
        self._head = b"" if goes_on else _ANEW
        self._descriptor: int | None = None
        if not goes_on:
            self.remove()

    @property
    def name(self) -> str:
        """The name of the file, which stands beside the results: .results.csv.partial."""
        return os.path.basename(self._path)

    def add(self, rows: Iterable[Marked]) -> None:
        """Keep more rows, as soon as all that belongs to them is done."""
        lines = "".join(f"{json.dumps(each.to_dict())}\n" for each in rows)
        with contextlib.suppress(OSError):
            if self._descriptor is None:
                self._descriptor = _opened(self._path)
            # What stands there may end in a line that was cut off, by a kill or by a full disk.
            _write_all(self._descriptor, self._head + f"\n{lines}".encode())
            self._head = b""

    @property
    def has_rows(self) -> bool:
        """Whether there are rows from which --resume can go on."""
        return next(kept_rows(self._output), None) is not None

    def remove(self) -> None:
        """Remove them all."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        with contextlib.suppress(OSError):
            os.unlink(self._path)


def _opened(path: str) -> int:
    """The descriptor of a regular file of that name, to add to it; OSError for anything else, such
    as a link.
    """
    # Marks are no one else's business.
    descriptor = os.open(path, system.ADDING, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError("it is not a file")


def _write_all(descriptor: int, data: bytes) -> None:
    """Write it all, though the system may take it in pieces."""
    while data:
        data = data[os.write(descriptor, data) :]
