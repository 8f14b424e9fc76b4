"""How a matrix can be pasted: each spelling has a module, and its entry here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from attncli.problem.text.nodes import PastedList
from attncli.problem.text.pasted.brackets import CALL_BEGIN, LIST_BEGIN, read_call, read_list
from attncli.problem.text.pasted.lines import read_lines
from attncli.problem.text.pasted.text import PastedText


class Spelling(NamedTuple):
    """One way to write a matrix: what it begins with, and who reads the whole text then, where a
    list of this rank is wanted.
    """

    begin: re.Pattern[str]
    read: Callable[[PastedText, re.Match[str], int], PastedList]


SPELLINGS = (
    Spelling(LIST_BEGIN, read_list),
    Spelling(CALL_BEGIN, read_call),
)
_ABOVE = re.compile(r"(?:\s|#[^\n]*\n)*+")
# W_Q = [1 2; 3 4]
_NAME = re.compile(r"[A-Za-z_]\w*\s*=(?!=)\s*", re.ASCII)


def behind_name(text: str) -> int:
    """Where a matrix begins: behind its name, if it has one, and behind remarks above it."""
    start = _end_of(_ABOVE, text, 0)
    return _end_of(_NAME, text, start)


def spelling_at(text: str, start: int) -> tuple[Spelling, re.Match[str]] | None:
    """The spelling that begins at this place, and its beginning; None for rows on lines."""
    for spelling in SPELLINGS:
        if begin := spelling.begin.match(text, start):
            return spelling, begin
    return None


def read_pasted(text: PastedText, rank: int, *, may_be_one: bool = False) -> PastedList | None:
    """The lists of a whole text; None for a number alone, unless that `may_be_one`.

    np.array([[1, 2]]) means [[1, 2]], and so does W = [1 2].
    """
    start = behind_name(text.text)
    if found := spelling_at(text.text, start):
        spelling, begin = found
        return spelling.read(text, begin, rank)
    # In a file, k=1,k=2 are names of columns.
    if "=" in text.text[:start] and not text.of_file:
        text = replace(text, text=text.text[start:].rjust(len(text.text)))
    return read_lines(text, rank, may_be_one=may_be_one)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Where a part of a text ends that may stand there."""
    found = pattern.match(text, start)
    return found.end() if found else start
