"""Finds long lists in the text of a problem and reads each in one go, with NumPy.

Only what is beyond doubt is read here: lists of numbers, plain words and short texts in quotes, as YAML and JSON have
them. Everything else is left where it stands, for the reader that knows what is wrong with it, and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from attncli.problem.digits import Text
from attncli.problem.lists import Lists
from attncli.problem.quick import quick_reader, read_matrix
from attncli.problem.tree import DASH, LONG
from attncli.problem.words import brackets_of, read_part
from attncli.records import dataclass

_STEP = 2**20  # characters looked at together, so that what is found on the way stays small
_NUMBER = re.compile(r"[^\s,\[\]]*[0-9][^\s,\[\]]*")
_INDENT = 100  # characters at most before the dash of a row
_AFTER = re.compile(rb"\s*(\n *[A-Za-z_][A-Za-z0-9_]*)?")  # after rows with dashes: nothing, or the next key
_OF_NUMBERS = b"0123456789+-.eE,[] \n"
_OF_WORDS = _OF_NUMBERS + b'ABCDFGHIJKLMNOPQRSTUVWXYZabcdfghijklmnopqrstuvwxyz_*/()"'
_BESIDE_NUMBERS, _BESIDE_WORDS = (bytes(sign not in known for sign in range(256)) for known in (_OF_NUMBERS, _OF_WORDS))


@dataclass(frozen=True, slots=True)
class Found:
    """A list of numbers, or of lists of them: its values, and where it stands.

    It is `dashed` where it begins with the dash of its first line. Where something is odd about it, its tree is in
    `lists`, and the values have no `shape`, if its rows are uneven.
    """

    value: NDArray[np.float64]
    start: int
    end: int
    lists: Lists | None = None
    shape: tuple[int, ...] | None = None
    dashed: bool = False

    def texts(self, text: str) -> NDArray[np.object_]:
        """Each number as it is written in this text, in the shape of the value."""
        return np.array(_NUMBER.findall(text, self.start, self.end), dtype=object).reshape(self.value.shape)


def find(text: str, *, strict: bool) -> Iterator[Found]:
    """The long lists of a text, in order; `strict` takes only what JSON has, too."""
    for start, end in _stretches(text, _BESIDE_WORDS):
        found = _first(text, start, end, strict)
        if found is None:  # of words and lists side by side, the lists may be numbers
            inner = (_first(text, *each, strict) for each in _stretches(text, _BESIDE_NUMBERS, start, end))
            yield from (each for each in inner if each)
        else:
            yield found


def _first(text: str, start: int, end: int, strict: bool) -> Found | None:
    """The list with which a stretch of the text begins; None where it is short, or anything else is odd about it."""
    first = text.find("[", start, end)
    if first < 0:
        return None
    stretch = text[first:end].encode("ascii")
    quick = quick_reader() if strict else None
    if quick and (read := read_matrix(stretch, quick)) and read[1] > LONG and _only_numbers(stretch[: read[1]]):
        return Found(read[0], first, first + read[1])
    part = np.frombuffer(stretch, dtype=np.uint8)
    del stretch  # which is as long as the part, of which `rows` are a copy
    rows = None if strict else _rows(part, text[max(first - _INDENT, 0) : first])
    if dashed := rows is not None:
        first, part = first - len(DASH), rows
    else:
        part = part[: _closed(part)]
    if len(part) <= LONG:
        return None
    read_lists = read_part(part, first, strict=strict)
    if read_lists is None:
        return None
    lists, shape = read_lists
    end = first + len(part) - dashed
    if shape and not len(lists.odd):
        return Found(lists.value.reshape(shape), first, end, dashed=dashed)
    return Found(lists.value, first, end, lists, shape, dashed)


def _only_numbers(rows_of_json: bytes) -> bool:
    """NumPy takes true for 1, and "1" too."""
    return not any(sign in rows_of_json for sign in (b'"', b"t", b"f", b"n"))


def _stretches(text: str, beside: bytes, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
    """Where nothing `beside` the characters of lists stands for long."""
    stop = len(text) if stop is None else stop
    last = start - 1
    for at in range(start, stop, _STEP):
        piece = text[at : min(at + _STEP, stop)].encode("latin-1", "replace").translate(beside)  # a byte for each
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
