"""Many numbers out of their digits at once: eight digits are one step of arithmetic on 64-bit integers.

A number of at most 15 digits without an exponent is a whole number below 2^53 divided by a power of ten of at most
10^15: both are doubles, so that their quotient is the double nearest to the number. Others are left to Python.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from attncli.problem.numbers import as_float

Text = NDArray[np.uint8]
Places = NDArray[np.int32]
_CHUNK = 2**14  # numbers worked at once: what is made of them stays in a core's own cache
_DIGITS, _WORD = 15, 8
_POWERS = 10.0 ** np.arange(_DIGITS + 1)
_WHOLE_POWERS = 10 ** np.arange(_DIGITS + 1, dtype=np.uint64)
_NOWHERE = 2**31 - 1
STEP = 2**20  # characters
_ZEROS = 0x3030303030303030  # eight times the digit 0
_KEPT = np.array([(2**64 - 1) ^ (2 ** (64 - 8 * kept) - 1) for kept in range(_WORD + 1)], dtype=np.uint64)
_FILLED = np.array([_ZEROS, *((_ZEROS & (2 ** (64 - 8 * kept) - 1)) for kept in range(1, _WORD + 1))], dtype=np.uint64)


def pieces(text: Text) -> Iterator[tuple[int, Text]]:
    """A text, some of it at a time, so that what is found on the way stays small: where a piece begins, and it."""
    return ((at, text[at : at + STEP]) for at in range(0, len(text), STEP))


def places_of(cells: NDArray[np.bool_], start: int = 0) -> Places:
    """Where it is true, counted from `start`, in half the memory that NumPy takes."""
    return np.flatnonzero(cells).astype(np.int32) + np.int32(start)


def read_numbers(text: Text, starts: Places, ends: Places) -> tuple[NDArray[np.float64], list[int]]:
    """The double nearest to each number between these places; and which are none, or 0 only nearly, and so 0 here.

    Numbers are as Python reads them: whoever allows less looks at them before.
    """
    if len(text) < 2 * _WORD:
        text = np.pad(text, (0, 2 * _WORD - len(text)))
    words = np.ndarray((len(text) - _WORD + 1,), np.dtype("<u8"), text.data, strides=(1,))
    points = np.concatenate([*(places_of(piece == ord("."), at) for at, piece in pieces(text)), [np.int32(_NOWHERE)]])
    value, odd = np.empty(len(starts)), []
    for at in range(0, len(starts), _CHUNK):
        run = slice(at, at + _CHUNK)
        found, sure = _chunk(text, words, points, starts[run], ends[run])
        for place in np.flatnonzero(~sure):
            try:
                found[place] = _alone(text, int(starts[at + place]), int(ends[at + place]))
            except ValueError:
                found[place] = 0.0
                odd.append(at + int(place))
        value[run] = found
    return value, odd


def _chunk(
    text: Text, words: NDArray[np.uint64], points: Places, starts: Places, ends: Places
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The numbers, and of which it is sure that they are right."""
    first = text[starts]
    negative = first == ord("-")
    begins = starts + (negative | (first == ord("+")))
    point = points[np.searchsorted(points, starts)]
    has_point = point < ends
    point = np.where(has_point, point, ends)
    before, behind = point - begins, ends - point - has_point
    sure = (before + behind <= _DIGITS) & (before + behind > 0) & (before <= _WORD) & (starts >= 2 * _WORD)
    before, behind = np.where(sure, before, 0), np.where(sure, behind, 0)
    if before.max() > 1:
        whole, fine = _word(words, np.where(sure, point, 2 * _WORD), before)
    else:
        digit = np.where(before, text[point - 1], np.uint8(ord("0"))) - np.uint8(ord("0"))
        whole, fine = digit.astype(np.uint64), digit <= 9
    sure &= fine
    for skipped in (_WORD, 0):
        digits = np.clip(behind - skipped, 0, _WORD)
        if skipped == 0 or digits.any():
            part, fine = _word(words, np.where(sure, ends - skipped, 2 * _WORD), digits)
            sure &= fine
            whole = whole * _WHOLE_POWERS[digits] + part
    value = whole.astype(np.float64) / _POWERS[behind]
    return np.where(negative, -value, value) + 0.0, sure  # -0 is 0


def _word(
    words: NDArray[np.uint64], ends: NDArray[np.int64], digits: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The whole number of up to eight digits that end at these places, and whether they are digits."""
    word = (words[ends - _WORD] & _KEPT[digits]) | _FILLED[digits]
    wrong = ((word + np.uint64(0x4646464646464646)) | (word - np.uint64(_ZEROS))) & np.uint64(0x8080808080808080)
    word = ((word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(10 * 2**8 + 1)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(100 * 2**16 + 1)) >> np.uint64(16)
    return ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(10000 * 2**32 + 1)) >> np.uint64(32), wrong == 0


def _alone(text: Text, start: int, end: int) -> float:
    """One number by itself; ValueError for what is none, too large, or too small to be told from 0."""
    word = text[start:end].tobytes().decode("latin-1")
    value = float(word)
    if value == 0 or value in (np.inf, -np.inf):
        return as_float(word)
    return value
