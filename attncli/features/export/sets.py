"""The set that a problem is from, as `attncli generate` writes it: its number there, and how many
decimals were asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from attncli.cli.classes.manifest import file_of, manifest_rows
from attncli.errors import AttncliError
from attncli.marking.scheme import HELP_IF_EMPTY
from attncli.problem.text.nodes import MappingNode
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import read_source
from attncli.problem.text.tree import read_tree
from attncli.problem.text.values import Value, read_integer

_COLUMNS = ("student", "problem", "answers")


class PlaceInSet(NamedTuple):
    """Whose problem it is: the number on the list, and the name."""

    number: str
    student: str

    def neutral(self, title: str) -> str:
        """The title without the name, which is nobody else's business: Attention 07."""
        before = title.removesuffix(self.student)
        before = before.rstrip(":– ")
        still_names = self.student in before
        if still_names or not before:
            before = "Attention"
        return f"{before} {self.number}"


def place_in_set(file: str) -> PlaceInSet | None:
    """Where a problem stands in the manifest of the folder above its own; None for one of no
    set.
    """
    return _places(_folder_of_set(file)).get(os.path.realpath(file))


def decimals_of_set(file: str) -> int | None:
    """How many decimals the set of a problem asks for, if marking.yaml says so.

    Raises AttncliError (exit 3) where it cannot be read.
    """
    folder = _folder_of_set(file)
    path = os.path.join(folder, "marking.yaml")
    is_of_set = place_in_set(file) is not None
    if not is_of_set or not os.path.isfile(path):
        return None
    errors, root = read_tree(read_source(path), example=HELP_IF_EMPTY)
    errors.stop()
    if not isinstance(root, MappingNode) or "decimals" not in root.values:
        return None
    value = Value(root.values["decimals"], "decimals", Reading(errors))
    number = read_integer(value, least=1, help="write decimals: 2")
    errors.stop()
    return number


def _folder_of_set(file: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(file)))


@cache
def _places(folder: str) -> Mapping[str, PlaceInSet]:
    return dict(_read_places(os.path.join(folder, "manifest.csv")))


def _read_places(manifest: str) -> Iterator[tuple[str, PlaceInSet]]:
    if not os.path.isfile(manifest):
        return
    try:
        rows = [*manifest_rows(manifest, _COLUMNS)]
    except AttncliError:
        # It is a file of somebody else that has the same name.
        return
    digits = max(2, len(str(len(rows))))
    for number, row in enumerate(rows, start=1):
        problem = file_of(row.cells["problem"], manifest)
        place = PlaceInSet(f"{number:0{digits}}", row.cells["student"])
        yield os.path.realpath(problem), place
