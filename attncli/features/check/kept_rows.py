"""Keeps each row when it is done, beside the results, so that a run that is killed can go on where it was.

Results are written as a whole, at the end. Until then the rows stand in a file of their own, `.results.csv.partial`,
each on a line, as JSON. `--resume` reads them, and the end of a run removes them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from attncli.features.check.marking import Marked
from attncli.features.check.results import row_of_json
from attncli.problem.array_formats import strict_json


def file_of_rows(output: str) -> str:
    """Where the rows stand that are kept for these results."""
    folder, name = os.path.split(os.path.realpath(output))
    return os.path.join(folder, f".{name}.partial")


def kept_rows(output: str) -> Iterator[Marked]:
    """The rows that a run kept which was killed; a line that was cut off is none."""
    try:
        with open(file_of_rows(output), "rb") as stream:
            lines = stream.read().split(b"\n")
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            row: Any = strict_json(line)
            yield row_of_json(row)


class KeptRows:
    """The rows of a run so far; where they cannot be kept, it goes on without that."""

    def __init__(self, output: str, *, goes_on: bool) -> None:
        """For these results. A run that `goes_on` adds to the rows of the one before, which another removes."""
        self._path = file_of_rows(output)
        self._descriptor: int | None = None
        if not goes_on:
            self.remove()

    def add(self, rows: Iterable[Marked]) -> None:
        """Keep more rows, as soon as all that belongs to them is done."""
        lines = "".join(f"{json.dumps(each.to_dict())}\n" for each in rows)
        with contextlib.suppress(OSError):
            if self._descriptor is None:
                # Marks are no one else's business.
                self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                lines = f"\n{lines}"  # what stands there may end in a line that was cut off
            os.write(self._descriptor, lines.encode())

    def remove(self) -> None:
        """Remove them all."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        with contextlib.suppress(OSError):
            os.unlink(self._path)
