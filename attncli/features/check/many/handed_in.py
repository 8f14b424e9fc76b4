"""The file that a student handed in, where it is not the one that the manifest names: the same name
with another ending.

A set has a file to fill in for each student, 05-ada.yaml. Who hands in 05-ada.txt leaves that one
blank.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from attncli.answers.remarks import is_blank
from attncli.errors import AttncliError, nearest
from attncli.problem.text.source import read_source

_COPIES_OF_EDITORS = frozenset({".bak", ".orig", ".swp", ".tmp"})
_ENDING = re.compile(r"\.[A-Za-z0-9]+")
# What a browser writes behind the name of a file that is there already.
_NUMBER_OF_COPY = re.compile(r" ?\([0-9]+\)$")


class FilesBeside:
    """What stands beside files that are to be read; each folder is looked at once."""

    def __init__(self, named: Iterable[object]) -> None:
        """Without the files that are `named`: they are somebody's answers, or a problem."""
        self._named = {os.path.realpath(file) for file in named if isinstance(file, str) and file}
        self._folders: dict[str, dict[str, list[str]]] = {}

    def instead_of(self, file: str) -> list[str]:
        """Those that differ from a file in their endings alone, and are filled in where it is blank
        or not there, in the order of their names.
        """
        others = self._others(file)
        if not others or not is_blank_or_lacking(file):
            return []
        return [other for other in others if not is_blank_or_lacking(other)]

    def of_nobody(self, folders: Collection[str]) -> list[str]:
        """The files in these folders that are filled in, and neither named nor of the same name as
        a named one.
        """
        stems = {_as_typed(os.path.splitext(file)[0]) for file in self._named}
        found = []
        for folder in sorted(folders):
            files = [file for each in self._files_in(folder).values() for file in each]
            for file in files:
                stem, _ = os.path.splitext(os.path.realpath(file))
                if _as_typed(stem) not in stems and not is_blank_or_lacking(file):
                    found.append(file)
        return found

    def _others(self, file: str) -> list[str]:
        folder, name = os.path.split(file)
        stem, _ = os.path.splitext(name)
        return self._files_in(folder).get(_as_typed(stem), [])

    def _files_in(self, folder: str) -> dict[str, list[str]]:
        if folder not in self._folders:
            self._folders[folder] = self._files_of(folder)
        return self._folders[folder]

    def _files_of(self, folder: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        try:
            names = sorted(os.listdir(folder or os.curdir))
        except OSError:
            return found
        for name in names:
            stem, ending = os.path.splitext(name)
            if not _ENDING.fullmatch(ending) or ending.lower() in _COPIES_OF_EDITORS:
                continue
            file = os.path.join(folder, name)
            if os.path.isfile(file) and os.path.realpath(file) not in self._named:
                found[_as_typed(stem)].append(file)
        return found


def _as_typed(name: str) -> str:
    """A name that another system wrote with its accents apart from their letters."""
    return unicodedata.normalize("NFC", name)


def near_names(files: Sequence[str], lacking: Sequence[str]) -> dict[str, str]:
    """For each of these files the one that it seems to be, if one of those that are `lacking` is
    called nearly so. A downloaded copy, 05-ada (1), is near, too.
    """
    stems = {_stem(file): file for file in lacking}
    found = {}
    for file in files:
        near = nearest(_NUMBER_OF_COPY.sub("", _stem(file)), [*stems])
        if near:
            found[file] = stems[near]
    return found


def _stem(file: str) -> str:
    stem, _ = os.path.splitext(os.path.basename(file))
    return _as_typed(stem)


def is_blank_or_lacking(file: str) -> bool:
    """Whether nothing was written into the place of a number, or there is no file."""
    if not os.path.exists(file):
        return True
    try:
        text = read_source(file).text
    except AttncliError:
        # What cannot be read is no blank: its row says why.
        return False
    return is_blank(text)
