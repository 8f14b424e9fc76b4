"""Finds long lists in the text of a problem and reads each in one go, with NumPy.

Only what is beyond doubt is read here: lists of numbers, plain words and short texts in quotes, as YAML and JSON have
them. Everything else is left where it stands, for the reader that knows what is wrong with it, and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attncli.problem.digits import Text
from attncli.problem.lists import Lists
from attncli.problem.nodes import DASH, LONG
from attncli.problem.quick import quick_reader, read_matrix
from attncli.problem.words import brackets_of, read_part

_STEP = 2**20  # characters looked at together, so that what is found on the way stays small
_INDENT = 100  # characters at most before the dash of a row
_AFTER = re.compile(rb"\s*(\n *[A-Za-z_][A-Za-z0-9_]*)?")  # after rows with dashes: nothing, or the next key
_OF_NUMBERS = b"0123456789+-.eE,[] \n"
_OF_WORDS = _OF_NUMBERS + b"ABCDFGHIJKLMNOPQRSTUVWXYZabcdfghijklmnopqrstuvwxyz_*/()\"'%~^"
_OTHER = b"?"  # what stands for a character that is not in ASCII, if none of these does
_BESIDE_NUMBERS, _BESIDE_WORDS, _BESIDE_ALL = (
    bytes(sign not in known for sign in range(256)) for known in (_OF_NUMBERS, _OF_WORDS, _OF_WORDS + _OTHER)
)


@dataclass(frozen=True, slots=True)
class Found:
    """A long list, and where it stands; it is `dashed` where it begins with the dash of its first line.

    `value` are its numbers, and `shape` is how they lie in lists; it is None where not all lists have equal lengths.
    Only where something is odd about it, all that was found of it is kept in `lists`.
    """

    value: NDArray[np.float64]
    shape: tuple[int, ...] | None
    start: int
    end: int
    dashed: bool = False
    lists: Lists | None = None


def find(text: str, *, strict: bool) -> Iterator[Found]:
    """The long lists of a text, in order; `strict` takes only what JSON has, too."""
    others = not text.isascii() and _OTHER.decode() not in text and text.replace("\n", "").isprintable()
    for start, end in _stretches(text, _BESIDE_ALL if others else _BESIDE_WORDS):
        found = _first(text, start, end, strict)
        if found is None:  # of words and lists side by side, the lists may be numbers
            inner = (_first(text, *each, strict) for each in _stretches(text, _BESIDE_NUMBERS, start, end))
            yield from (each for each in inner if each)
        else:
            yield found


def lists_of(found: Found, text: str, *, strict: bool) -> Lists:
    """All that stands in a list that was found in the text, which is read once more if it was not kept."""
    if found.lists is not None:
        return found.lists
    again = _whole(text, text.index("[", found.start), found.end, strict, dashes=found.dashed)
    assert again is not None, "what was found is there"
    return again[0]


def _first(text: str, start: int, end: int, strict: bool) -> Found | None:
    """The list with which a stretch of the text begins; None where it is short, or anything else is odd about it."""
    first = text.find("[", start, end)
    if first < 0:
        return None
    if strict and (quick := quick_reader()):
        stretch = text[first:end].encode("ascii", "replace")
        if (read := read_matrix(stretch, quick)) and read[1] > LONG and _only_numbers(stretch[: read[1]]):
            return Found(read[0], read[0].shape, first, first + read[1])
        del stretch
    whole = _whole(text, first, end, strict, dashes=not strict)
    if whole is None:
        return None
    lists, end, dashed = whole
    shape = lists.shape()
    start = first - len(DASH) * dashed
    if shape and not len(lists.odd):
        return Found(lists.value.reshape(shape), shape, start, end, dashed)
    return Found(lists.value, shape, start, end, dashed, lists)


def _whole(text: str, first: int, end: int, strict: bool, *, dashes: bool) -> tuple[Lists, int, bool] | None:
    """The lists that begin with a bracket, where they end, and whether they are the rows of a list with dashes, if
    `dashes` are looked for."""
    part = np.frombuffer(text[first:end].encode("ascii", "replace"), dtype=np.uint8)
    rows = _rows(part, text[max(first - _INDENT, 0) : first]) if dashes else None
    if dashed := rows is not None:
        first, part = first - len(DASH), rows
    else:
        part = part[: _closed(part)]
    lists = read_part(part, text, first, strict=strict) if len(part) > LONG else None
    return None if lists is None else (lists, first + len(part) - dashed, dashed)


def _only_numbers(rows_of_json: bytes) -> bool:
    """NumPy takes true for 1, and "1" too."""
    return not any(sign in rows_of_json for sign in (b'"', b"t", b"f", b"n"))


def _stretches(text: str, beside: bytes, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
    """Where nothing `beside` the characters of lists stands for long."""
    stop = len(text) if stop is None else stop
    last = start - 1
    for at in range(start, stop, _STEP):
        piece = text[at : min(at + _STEP, stop)].encode("ascii", "replace").translate(beside)  # a byte for each
        others = np.append(last, np.flatnonzero(np.frombuffer(piece, dtype=bool)) + at)
        for place in np.flatnonzero(np.diff(others) > LONG):
            yield int(others[place]) + 1, int(others[place + 1])
        last = int(others[-1])
    if stop - last > LONG:
        yield last + 1, stop


def _rows(part: Text, before: str) -> Text | None:
    """A list under a key with a line for each row, - [1, 2], as the same in brackets; `before` is what it follows."""
    _, colon, indent = before.rpartition(":\n")
    if not colon or indent != " " * (len(indent) - len(DASH)) + DASH:
        return None
    brackets, depth = brackets_of(part)
    closes = brackets[depth == 0]
    opens = np.append(np.int32(0), brackets[1:][depth[:-1] == 0])
    between = np.frombuffer(f"\n{indent}".encode(), dtype=np.uint8)
    if len(opens) != len(closes) or (opens[1:] - closes[:-1] != len(between) + 1).any():
        return None
    if any((part[opens[1:] - len(between) + place] != sign).any() for place, sign in enumerate(between)):
        return None
    if not _AFTER.fullmatch(part[closes[-1] + 1 :].tobytes()):
        return None
    dash = len(DASH)
    whole = np.empty(int(closes[-1]) + 1 + dash + 1, dtype=np.uint8)
    whole[dash:-1] = part[: closes[-1] + 1]
    whole[opens] = ord(",")  # which is where the dash stands
    whole[:dash], whole[-1] = (ord("["), ord(" ")), ord("]")
    return whole


def _closed(part: Text) -> int:
    """How far the bracket with which the part begins reaches; 0 where it is not closed."""
    brackets, depth = brackets_of(part)
    ends = np.flatnonzero(depth == 0)
    return int(brackets[ends[0]]) + 1 if len(ends) else 0
