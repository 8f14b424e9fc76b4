"""Whose answers are where: the rows of a manifest, and what two rows must not share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attncli.cli.csv_files import HELP_ON_MORE_CELLS, csv_rows
from attncli.english import listed
from attncli.errors import Place, did_you_mean, input_error
from attncli.problem.text.source import read_source
from attncli.system import path_here, without_last_separator

COLUMNS_OF_MANIFEST = ("student", "problem", "answers")
_HELP_ON_COLUMNS = f"the first line names the columns: {', '.join(COLUMNS_OF_MANIFEST)}"


@dataclass(frozen=True, slots=True)
class Submission:
    """The answers of one student: files by their paths, or what `attncli.check` takes.

    `more` has the further columns of the manifest. With an `error` there is nothing to check.
    """

    student: str
    problem: object
    answers: object
    more: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def read_manifest(path: str, folder: str | None = None) -> list[Submission]:
    """The rows of a manifest; what is wrong with one row is its `error`.

    Files are relative to the manifest. With `folder`, answers are there: under the path in the
    manifest, else under the name of the file alone. Raises AttncliError where the manifest itself
    cannot be read (exit 3 or 4).
    """
    source = read_source(path)
    rows = iter(csv_rows(source))
    head = next(rows, None)
    if head is None:
        raise input_error("the manifest is empty", place=Place(path, 1, 1), help=_HELP_ON_COLUMNS)
    names = [cell.strip() for cell in head.cells]
    lowered = [name.lower() for name in names]
    for name in COLUMNS_OF_MANIFEST:
        if lowered.count(name) != 1:
            message = (
                f"there are two columns {name}" if name in lowered else f"there is no column {name}"
            )
            raise input_error(
                message,
                place=head.place,
                help=did_you_mean(name, names, _HELP_ON_COLUMNS) if names else _HELP_ON_COLUMNS,
            )

    def found() -> Iterator[Submission]:
        for row in rows:
            cells = [cell.strip() for cell in row.cells]
            named = dict(zip(lowered, cells, strict=False))
            student, problem, answers = (named.get(name, "") for name in COLUMNS_OF_MANIFEST)
            more = {
                name: named.get(low, "")
                for name, low in zip(names, lowered, strict=True)
                if low not in COLUMNS_OF_MANIFEST
            }
            lacking = [name for name in COLUMNS_OF_MANIFEST if not named.get(name)]
            error = ""
            if lacking:
                error = f"line {row.place.line} of the manifest has no {listed(lacking)}"
            elif any(cells[len(names) :]):
                error = (
                    f"line {row.place.line} of the manifest has more cells than the first line:"
                    f" {HELP_ON_MORE_CELLS}"
                )
            yield Submission(
                student,
                problem and _at(problem, path),
                answers and _at(answers, path, folder),
                more,
                error,
            )

    return without_doubles(found())


def _at(name: str, manifest: str, folder: str | None = None) -> str:
    """Where a file of the manifest is."""
    name = path_here(name)
    if folder is None:
        # With a folder before it, no name is "-", which would be standard input.
        return os.path.join(os.path.dirname(manifest) or os.curdir, name)
    whole = os.path.join(folder, name)
    if os.path.exists(whole):
        return whole
    return os.path.join(folder, os.path.basename(name))


def without_doubles(submissions: Iterable[Submission]) -> list[Submission]:
    """The same, where a file that comes again is an error from the second time on."""
    first: dict[str, Submission] = {}
    checked = []
    for each in submissions:
        if isinstance(each.answers, str) and each.answers and not each.error:
            other = first.setdefault(os.path.realpath(each.answers), each)
            if other is not each:
                each = replace(
                    each, error=f"this file of answers is already that of {other.student}"
                )
        checked.append(each)
    return checked


def students_of(paths: Sequence[str]) -> list[str]:
    """A name for each file: that of the file without its suffix, or the whole path where two are
    alike.

    >>> students_of(["ada.yaml", "ben.yaml"]), students_of(["1/ada.yaml", "2/ada.yaml"])
    (['ada', 'ben'], ['1/ada.yaml', '2/ada.yaml'])
    """
    stems = [
        os.path.splitext(os.path.basename(without_last_separator(path)))[0] or path
        for path in paths
    ]
    return [
        stem if stems.count(stem) == 1 else path for stem, path in zip(stems, paths, strict=True)
    ]
