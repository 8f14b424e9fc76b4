"""The rows of a manifest: whose files are where."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from attncli.cli.csv_files import HELP_ON_MORE_CELLS, Row, csv_rows
from attncli.cli.files import is_same_file
from attncli.english import listed
from attncli.errors import Place, did_you_mean, file_error, input_error, usage_error
from attncli.problem.text.source import read_source
from attncli.system import path_here, quoted

Item = TypeVar("Item")


class ManifestRow(NamedTuple):
    """A row: its cells by the columns that were asked for, and `more` by the names of the others.

    `error` says what is wrong with this row alone.
    """

    cells: Mapping[str, str]
    more: Mapping[str, str]
    error: str


def manifest_rows(path: str, columns: Sequence[str]) -> Iterator[ManifestRow]:
    """The rows of a manifest with these columns, in any order and among others.

    A row that lacks a cell, or has more than the first line, is an error of its own. Raises
    AttncliError where the manifest itself cannot be read (exit 3 or 4).
    """
    _require_no_folder(path)
    source = read_source(path)
    rows = iter(csv_rows(source))
    help = f"the first line names the columns: {', '.join(columns)}"
    head = next(rows, None)
    if head is None:
        raise input_error("the manifest is empty", place=Place(path, 1, 1), help=help)
    names = [cell.strip() for cell in head.cells]
    for column in columns:
        _require_once(column, names, head.place, help)
    for row in rows:
        yield _manifest_row(row, names, columns)


def _require_no_folder(path: str) -> None:
    """Raises AttncliError (exit 4) for the folder of a set, which has its manifest in it."""
    inside = os.path.join(path, "manifest.csv")
    if os.path.isfile(inside):
        help = f"write --batch {quoted(inside)}"
        raise file_error(f"cannot read {path}: it is a folder, not a file", help=help)


def _require_once(column: str, names: list[str], place: Place, help: str) -> None:
    found = [name.lower() for name in names].count(column)
    if found == 1:
        return
    message = f"there are two columns {column}" if found else f"there is no column {column}"
    raise input_error(message, place=place, help=did_you_mean(column, names, help))


def _manifest_row(row: Row, names: Sequence[str], columns: Sequence[str]) -> ManifestRow:
    cells = [cell.strip() for cell in row.cells]
    named = dict(zip([name.lower() for name in names], cells, strict=False))
    asked = {column: named.get(column, "") for column in columns}
    more = {name: named.get(name.lower(), "") for name in names if name.lower() not in columns}
    lacking = [column for column, cell in asked.items() if not cell]
    line = f"line {row.place.line} of the manifest"
    error = ""
    if lacking:
        error = f"{line} has no {listed(lacking)}"
    elif any(cells[len(names) :]):
        error = f"{line} has more cells than the first line: {HELP_ON_MORE_CELLS}"
    return ManifestRow(asked, more, error)


def file_of(name: str, manifest: str, folder: str | None = None) -> str:
    """Where a file of the manifest is: beside it; with `folder` there, under its path in the
    manifest, else under the name of the file alone.
    """
    name = path_here(name)
    if folder is None:
        # With a folder before it, no name is "-", which would be standard input.
        return os.path.join(os.path.dirname(manifest) or os.curdir, name)
    whole = os.path.join(folder, name)
    if os.path.exists(whole):
        return whole
    return os.path.join(folder, os.path.basename(name))


def earlier_with_same(items: Sequence[Item], key: Callable[[Item], str | None]) -> dict[int, Item]:
    """By the number of an item the first one that has the same key; a key of None is like no
    other.

    >>> earlier_with_same(["a", "b", "A"], str.lower)
    {2: 'a'}
    """
    first: dict[str, Item] = {}
    found = {}
    for number, each in enumerate(items):
        known = key(each)
        if known is None:
            continue
        if known in first:
            found[number] = first[known]
        first.setdefault(known, each)
    return found


def require_folder(folder: str | None, what: str) -> None:
    """Raises AttncliError (exit 4) where the folder of -d, with `what` is read there, is none."""
    if folder is not None and not os.path.isdir(folder):
        message = f"-d {folder}: there is no such folder"
        raise file_error(message, help=f"name the folder with {what}")


def require_none_of(output: str | None, files: Iterable[str]) -> None:
    """Raises AttncliError (exit 2) where the results would be written over what is read."""
    if output is None or output == "-":
        return
    for file in {*files} - {""}:
        if is_same_file(output, file):
            message = f"-o {output} would write over {file}"
            raise usage_error(message, help="give the output another name")
