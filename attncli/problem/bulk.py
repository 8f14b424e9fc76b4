"""Finds long lists of numbers in the text of a problem and reads each in one go, with NumPy.

Only what is beyond doubt is read here: rows of equal length with numbers of YAML and JSON in them, and nothing else.
Everything else is left where it stands, for the reader that knows what is wrong with it, and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from attncli.problem.digits import Places, Text, read_numbers
from attncli.problem.quick import quick_reader, read_matrix
from attncli.problem.tree import LONG
from attncli.records import dataclass

_LONGEST = 400  # characters of a number
_STEP = 2**20  # characters looked at together, so that what is found on the way stays small
_DEEPEST = 4
_OPEN, _COMMA, _CLOSE = (ord(sign) for sign in "[,]")
_NUMBER = re.compile(r"[^\s,\[\]]*[0-9][^\s,\[\]]*")
_DASH = "- "
_INDENT = 100  # characters at most before the dash of a row
_OTHERS = bytes(sign not in b"0123456789+-.eE,[] \n" for sign in range(256))
_FORBIDDEN = 2
_BETWEEN = np.full((3, 3), _FORBIDDEN, dtype=np.uint8)  # how many numbers stand between two signs, in the order [ , ]
_BETWEEN[[0, 0, 1, 1], [1, 2, 1, 2]] = 1
_BETWEEN[[0, 1, 2, 2], [0, 0, 1, 2]] = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A list of numbers, or of lists of them: its values, and where it stands."""

    value: NDArray[np.float64]
    start: int
    end: int

    def texts(self, text: str) -> NDArray[np.object_]:
        """Each number as it is written in this text, in the shape of the value."""
        return np.array(_NUMBER.findall(text, self.start, self.end), dtype=object).reshape(self.value.shape)


def find(text: str, *, strict: bool) -> Iterator[Found]:
    """The long lists of numbers of a text, in order; `strict` takes only what JSON has, too."""
    quick = quick_reader() if strict else None
    for start, end in _stretches(text):
        first = text.find("[", start, end)
        if first < 0:
            continue
        stretch = text[first:end].encode("ascii")
        if quick and (read := read_matrix(stretch, quick)) and read[1] > LONG:
            yield Found(read[0], first, first + read[1])
            continue
        part = np.frombuffer(stretch, dtype=np.uint8)
        rows = None if strict else _rows(part, text[max(first - _INDENT, 0) : first])
        if rows is not None:
            first, part = first - len(_DASH), rows
        else:
            part = part[: _closed(part)]
        value = _read(part, strict) if len(part) > LONG else None
        if value is not None:
            yield Found(value, first, first + len(part) - (rows is not None))


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where only digits, signs, commas, brackets and blanks stand for long."""
    last = -1
    for at in range(0, len(text), _STEP):
        piece = text[at : at + _STEP].encode("latin-1", "replace").translate(_OTHERS)  # a byte for each character
        others = np.append(last, np.flatnonzero(np.frombuffer(piece, dtype=bool)) + at)
        for place in np.flatnonzero(np.diff(others) > LONG):
            yield int(others[place]) + 1, int(others[place + 1])
        last = int(others[-1])
    if len(text) - last > LONG:
        yield last + 1, len(text)


def _brackets(part: Text) -> tuple[Places, Places]:
    """Where brackets stand, and how many are open after each."""
    found = [_where((piece == _OPEN) | (piece == _CLOSE), at) for at, piece in _pieces(part)]
    brackets = np.concatenate(found)
    return brackets, np.cumsum(np.where(part[brackets] == _OPEN, 1, -1), dtype=np.int32)


def _rows(part: Text, before: str) -> Text | None:
    """A list under a key with a line for each row, - [1, 2], as the same in brackets; `before` is what it follows."""
    _, colon, indent = before.rpartition(":\n")
    if not colon or indent != " " * (len(indent) - len(_DASH)) + _DASH:
        return None
    brackets, depth = _brackets(part)
    closes = brackets[depth == 0]
    opens = np.append(np.int32(0), brackets[1:][depth[:-1] == 0])
    between = np.frombuffer(f"\n{indent}".encode(), dtype=np.uint8)
    if len(opens) != len(closes) or (opens[1:] - closes[:-1] != len(between) + 1).any():
        return None
    if any((part[opens[1:] - len(between) + place] != sign).any() for place, sign in enumerate(between)):
        return None
    if part[closes[-1] + 1 :].tobytes().strip():
        return None
    dash = len(_DASH)
    whole = np.empty(int(closes[-1]) + 1 + dash + 1, dtype=np.uint8)
    whole[dash:-1] = part[: closes[-1] + 1]
    whole[opens] = _COMMA  # which is where the dash stands
    whole[:dash], whole[-1] = (_OPEN, ord(" ")), _CLOSE
    return whole


def _closed(part: Text) -> int:
    """How far the bracket with which the part begins reaches; 0 where it is not closed."""
    brackets, depth = _brackets(part)
    ends = np.flatnonzero(depth == 0)
    return int(brackets[ends[0]]) + 1 if len(ends) else 0


def _read(part: Text, strict: bool) -> NDArray[np.float64] | None:
    """The numbers of a part, from bracket to bracket; None where there is anything odd about them."""
    signs, starts, ends = _tokens(part)
    kinds = (part[signs] != _OPEN).astype(np.uint8) + (part[signs] == _CLOSE)
    between = _BETWEEN[kinds[:-1], kinds[1:]]
    filled = _where(between == 1)
    if between.max() == _FORBIDDEN or len(starts) != len(filled) or (ends - starts).max() > _LONGEST:
        return None
    if (signs[filled] >= starts).any() or (starts >= signs[filled + 1]).any():
        return None
    shape = _shape(kinds)
    del signs, filled, kinds, between
    if shape is None or not _are_numbers(part, starts, ends, strict):
        return None
    value = read_numbers(part, starts, ends)
    return None if value is None else value.reshape(shape)


def _pieces(part: Text) -> Iterator[tuple[int, Text]]:
    return ((at, part[at : at + _STEP]) for at in range(0, len(part), _STEP))


def _where(cells: NDArray[np.bool_], start: int = 0) -> Places:
    """The places of what is true, in half the memory that NumPy takes."""
    return np.flatnonzero(cells).astype(np.int32) + np.int32(start)


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
    exponents = np.concatenate([_where((piece | 32) == ord("e"), at) for at, piece in _pieces(part)])
    return not (part[exponents - 1] == ord(".")).any()
