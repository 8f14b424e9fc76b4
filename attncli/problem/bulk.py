"""Finds long lists of numbers in the text of a problem and reads each in one go, with NumPy.

Only what is beyond doubt is read here: rows of equal length with numbers of YAML and JSON in them, and nothing else.
Everything else is left where it stands, for the reader that knows what is wrong with it, and where.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attncli.problem.digits import Places, Text, read_numbers

LONG = 2**14  # characters; a shorter list is read as fast with all the others
_LONGEST = 400  # characters of a number
_STEP = 2**20  # characters looked at together, so that what is found on the way stays small
_DEEPEST = 4
_OPEN, _COMMA, _CLOSE = (ord(sign) for sign in "[,]")
_INDENT = 100  # characters at most before the dash of a row
_OTHERS = bytes(sign not in b"0123456789+-.eE,[] \n" for sign in range(256))
_FORBIDDEN = 2
_BETWEEN = np.full((3, 3), _FORBIDDEN, dtype=np.uint8)  # how many numbers stand between two signs, in the order [ , ]
_BETWEEN[[0, 0, 1, 1], [1, 2, 1, 2]] = 1
_BETWEEN[[0, 1, 2, 2], [0, 0, 1, 2]] = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A list of numbers, or lists of lists of them: its values, where it stands, and where each number does."""

    value: NDArray[np.float64]
    start: int
    end: int
    starts: Places
    ends: Places


def find(text: str, *, strict: bool) -> Iterator[Found]:
    """The long lists of numbers of a text, in order; `strict` takes only what JSON has, too."""
    data = np.frombuffer(text.encode("latin-1", "replace"), dtype=np.uint8)  # a byte for each character
    for start, end in _stretches(data):
        opens = np.flatnonzero(data[start:end] == _OPEN)
        if not len(opens):
            continue
        start += int(opens[0])
        rows = None if strict else _rows(data, start, end)
        if rows is not None:
            start, part = rows
        else:
            part = data[start : start + _closed(data[start:end])]
        found = _read(part, start, strict) if len(part) > LONG else None
        if found is not None:
            yield found if rows is None else replace(found, end=found.end - 1)


def _stretches(data: Text) -> Iterator[tuple[int, int]]:
    """Where only digits, signs, commas, brackets and blanks stand for long."""
    pieces = ((at, data[at : at + _STEP].tobytes().translate(_OTHERS)) for at in range(0, len(data), _STEP))
    others = [np.flatnonzero(np.frombuffer(piece, dtype=bool)) + at for at, piece in pieces]
    edges = np.concatenate([[-1], *others, [len(data)]])
    for place in np.flatnonzero(np.diff(edges) > LONG):
        yield int(edges[place]) + 1, int(edges[place + 1])


def _rows(data: Text, start: int, end: int) -> tuple[int, Text] | None:
    """A list under a key with a line for each row, - [1, 2], as the same in brackets; and where its first dash is."""
    line = data[max(start - _INDENT, 0) : start].tobytes()
    _, colon, indent = line.rpartition(b":\n")
    if not colon or indent != b" " * (len(indent) - 2) + b"- ":
        return None
    brackets = np.flatnonzero((data[start:end] == _OPEN) | (data[start:end] == _CLOSE)) + start
    depth = np.cumsum(np.where(data[brackets] == _OPEN, 1, -1))
    closes = brackets[depth == 0]
    opens = np.append(start, brackets[1:][depth[:-1] == 0])
    before = np.frombuffer(b"\n" + indent, dtype=np.uint8)
    if len(opens) != len(closes) or (opens[1:] - closes[:-1] != len(before) + 1).any():
        return None
    if any((data[opens[1:] - len(before) + place] != sign).any() for place, sign in enumerate(before)):
        return None
    if data[closes[-1] + 1 : end].tobytes().strip():
        return None
    first = start - 2
    part = np.append(data[first : closes[-1] + 1], np.uint8(_CLOSE))
    part[opens - 2 - first] = _COMMA
    part[0] = _OPEN
    return first, part


def _closed(data: Text) -> int:
    """How far the bracket with which the stretch begins reaches; 0 where it is not closed."""
    brackets = np.flatnonzero((data == _OPEN) | (data == _CLOSE))
    depth = np.cumsum(np.where(data[brackets] == _OPEN, 1, -1))
    ends = np.flatnonzero(depth == 0)
    return int(brackets[ends[0]]) + 1 if len(ends) else 0


def _read(part: Text, start: int, strict: bool) -> Found | None:
    """The numbers of a part that begins there, from bracket to bracket; None where there is anything odd about them."""
    signs, starts, ends = _tokens(part)
    kinds = (part[signs] != _OPEN).astype(np.uint8) + (part[signs] == _CLOSE)
    between = _BETWEEN[kinds[:-1], kinds[1:]]
    filled = np.flatnonzero(between == 1)
    if between.max() == _FORBIDDEN or len(starts) != len(filled) or (ends - starts).max() > _LONGEST:
        return None
    if not ((signs[filled] < starts) & (starts < signs[filled + 1])).all():
        return None
    shape = _shape(kinds)
    if shape is None or not _are_numbers(part, starts, ends, strict):
        return None
    value = read_numbers(part, starts, ends)
    if value is None:
        return None
    shift = np.int32(start)
    return Found(value.reshape(shape), start, start + len(part), starts + shift, ends + shift)


def _tokens(part: Text) -> tuple[Places, Places, Places]:
    """Where the brackets and commas stand, and where all that is neither they nor blank begins and ends."""
    signs, starts, ends = [], [], []
    for at in range(0, len(part), _STEP):
        piece = part[max(at - 1, 0) : at + _STEP]  # with the character before, on which a beginning depends
        shift = np.int32(max(at - 1, 0))
        separate = (piece == _COMMA) | (piece == _OPEN) | (piece == _CLOSE)
        word = ~(separate | (piece <= ord(" ")))
        signs.append(np.flatnonzero(separate[1 if at else 0 :]).astype(np.int32) + shift + np.int32(at > 0))
        starts.append(np.flatnonzero(word[1:] & ~word[:-1]).astype(np.int32) + shift + np.int32(1))
        ends.append(np.flatnonzero(word[:-1] & ~word[1:]).astype(np.int32) + shift + np.int32(1))
    return np.concatenate(signs), np.concatenate(starts), np.concatenate(ends)


def _shape(kinds: Text) -> tuple[int, ...] | None:
    """The shape by the order of brackets and commas; None where rows or matrices are not all alike."""
    brackets = np.flatnonzero(kinds != 1)
    opens = kinds[brackets] == 0
    apart = np.diff(brackets)  # 1 and the commas between
    depth = np.cumsum(np.where(opens, 1, -1))
    deepest = int(depth.max())
    row = opens[:-1] & ~opens[1:]
    if deepest > _DEEPEST or (depth[:-1][row] != deepest).any():
        return None
    if (apart[~row] != np.where(~opens[:-1] & opens[1:], 2, 1)[~row]).any():
        return None
    shape = []
    for outer in range(1, deepest):
        parents, children = (np.flatnonzero(opens & (depth == level)) for level in (outer, outer + 1))
        counts = np.diff(np.searchsorted(children, parents), append=0)
        counts[-1] = len(children) - np.searchsorted(children, parents[-1])
        if (counts != counts[0]).any():
            return None
        shape.append(int(counts[0]))
    widths = apart[row]
    return (*shape, int(widths[0])) if (widths == widths[0]).all() else None


def _are_numbers(part: Text, starts: Places, ends: Places, strict: bool) -> bool:
    """Whether NumPy, which reads whatever C reads, reads nothing that is no number here: 010, or in JSON +1 and 1."""
    first = part[starts]
    signed = (first == ord("-")) | (first == ord("+"))
    digit = starts + signed
    second = part[np.minimum(digit + 1, len(part) - 1)]
    leading = (part[digit] == ord("0")) & (second >= ord("0")) & (second <= ord("9"))
    if leading.any():
        return False
    if not strict:
        return True
    before = part[np.maximum(ends - 1, 0)]
    if (first == ord("+")).any() or (part[digit] == ord(".")).any() or (before == ord(".")).any():
        return False
    exponents = np.flatnonzero((part == ord("e")) | (part == ord("E")))
    return not (part[exponents - 1] == ord(".")).any()
