"""Whose function is where: the rows of a manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from attncli.cli.classes.manifest import ManifestRow, earlier_with_same, file_of, manifest_rows
from attncli.testing.targets import place_and_name

COLUMNS_OF_MANIFEST = ("student", "function")


@dataclass(frozen=True, slots=True)
class StudentFunction:
    """The function of one student, by its file and its name.

    `more` has the further columns of the manifest. With an `error` there is nothing to test.
    `number` is that of the row, from 1 on.
    """

    student: str
    file: str
    name: str
    more: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    number: int = field(default=0, compare=False)

    @property
    def function(self) -> str:
        """The function as it is named on a command line: answers/ada.py:attention."""
        return f"{self.file}:{self.name}" if self.file else ""

    @property
    def shown(self) -> str:
        """The same without the folder, which is none of the student's: ada.py:attention."""
        return f"{os.path.basename(self.file)}:{self.name}"


def read_manifest(path: str, folder: str | None, name: str) -> list[StudentFunction]:
    """The rows of a manifest; what is wrong with one row is its `error`.

    A function is `FILE.py:NAME`, or a file alone, in which it is called `name`. Files are relative
    to the manifest, or in `folder` as `file_of` says. Raises AttncliError where the manifest itself
    cannot be read (exit 3 or 4).
    """
    rows = manifest_rows(path, COLUMNS_OF_MANIFEST)
    submissions = [
        replace(_submission(row, path, folder, name), number=number)
        for number, row in enumerate(rows, start=1)
    ]
    for number, other in earlier_with_same(submissions, _known_by).items():
        error = f"this function is already that of {other.student}"
        submissions[number] = replace(submissions[number], error=error)
    return submissions


def _submission(row: ManifestRow, manifest: str, folder: str | None, name: str) -> StudentFunction:
    written = row.cells["function"]
    place, own_name = place_and_name(written)
    file = file_of(place, manifest, folder) if place else ""
    return StudentFunction(
        row.cells["student"], file, own_name.strip() or name, row.more, row.error
    )


def _known_by(submission: StudentFunction) -> str | None:
    if submission.error or not submission.file:
        return None
    return f"{os.path.realpath(submission.file)}:{submission.name}"
