"""Rows of many numbers as lists in JSON, put together from words of eight characters with NumPy.

The text of a number is what `repr` gives: its shortest digits (`shortest.py`) with a point among them, or as 1.5e-07.
Here it stands in four words, with nothing (NUL) in the places it does not need, and all of these are taken out at once.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from numpy.typing import NDArray

from attncli.page.shortest import Doubles, Words, digits
from attncli.tracing.json_numbers import json_values

AT_ONCE = 2**13  # numbers, so that what is made of them stays in the cache
_WIDTH = 32  # characters of the four words; the longest text has 24, and two stand behind it
_BEFORE = 6  # of them before the digits, as in -0.000
_LEAST, _MOST = -324, 15  # exponents of numbers that are not whole
_FIXED = -4  # the least exponent that is written with zeros before the digits
_BETWEEN, _LAST = ", ", "]\n"
_FIRST = np.uint64(0x0101010101010101)
_OF_TWO, _OF_FOUR, _OF_EIGHT = (np.uint64(mask) for mask in (0x000F000F000F000F, 0x0000007F0000007F, 0xFFFFFFFF))


def row_texts(rows: Doubles) -> list[str]:
    """Each of these rows as a list: whole numbers as integers, infinities and NaN as words, all others as `repr`."""
    width = rows.shape[1]
    values = np.ascontiguousarray(rows).reshape(-1)
    words, odd = _records(values, width)
    if len(odd):
        found, place = np.unique(values[odd].view(np.uint64), return_inverse=True)
        texts = json.dumps(json_values(found.view(np.float64)), allow_nan=False)[1:-1].split(", ")
        last = odd % width == width - 1
        for these, behind in ((~last, _BETWEEN), (last, _LAST)):
            table = np.array([f"{text}{behind}".encode() for text in texts], f"S{_WIDTH}")
            words[odd[these]] = table.view(np.uint64).reshape(-1, 4)[place[these]]
    lines = words.tobytes().translate(None, b"\0").decode("ascii").split("\n")
    return [f"[{line}" for line in lines[:-1]]


def _records(values: Doubles, width: int) -> tuple[Words, NDArray[np.intp]]:
    """Four words for each number, with its text and what comes behind it; and which are still to be written."""
    number, exponent, sure = digits(values)
    with np.errstate(invalid="ignore"):
        sure &= values != np.floor(values)
    form = np.clip(exponent, _LEAST, _MOST)
    form -= _LEAST
    form *= 2
    form += np.signbit(values)
    upper = number // np.uint64(10**8)
    number -= upper * np.uint64(10**8)
    first = upper // np.uint64(10**8)
    upper -= first * np.uint64(10**8)
    first |= np.uint64(ord("0"))
    second, third = _eight(upper), _eight(number)
    sure &= (exponent >= _FIXED) | (second != 0) | (third != 0)  # 5e-07 has no point
    kept = _kept(second | (third != 0).astype(np.uint64) << np.uint64(56))
    second |= kept
    third |= _kept(third)
    # Where the digits before the point stand, and one farther on those behind it.
    near = (first << np.uint64(48) | second << np.uint64(56), second >> np.uint64(8) | third << np.uint64(56))
    far = (first << np.uint64(56), second, third)
    before, behind, around, ends = _forms()
    words = np.empty((len(values), 4), np.uint64)
    for place, digit in enumerate((*near, third >> np.uint64(8))):
        digit &= before[place][form]
        digit |= far[place] & behind[place][form]
        digit |= around[place][form]
        words[:, place] = digit
    words[:, 3] = around[3][form]
    words[width - 1 :: width, 3] = ends[form[width - 1 :: width]]
    return words, np.flatnonzero(~sure)


def _eight(number: Words) -> Words:
    """The eight digits of a number below 10^8, one in each byte, the first in the lowest."""
    for power, factor, shift, mask in (
        (10**4, 109951163, 40, _OF_EIGHT),
        (10**2, 10486, 20, _OF_FOUR),
        (10, 103, 10, _OF_TWO),
    ):
        upper = number * np.uint64(factor)
        upper >>= np.uint64(shift)
        upper &= mask
        number = number - upper * np.uint64(power)
        number <<= np.uint64(32 if power == 10**4 else 16 if power == 10**2 else 8)
        number |= upper
    return number


def _kept(number: Words) -> Words:
    """The bits that make characters of digits, for all up to the last that is not 0."""
    kept = number | number >> np.uint64(8)
    kept |= kept >> np.uint64(16)
    kept |= kept >> np.uint64(32)
    kept += _FIRST * np.uint64(0x7F)
    kept >>= np.uint64(7)
    kept &= _FIRST
    kept *= np.uint64(ord("0"))
    return kept


@cache
def _forms() -> tuple[Words, Words, Words, Words]:
    """For each exponent and sign: the places of digits before the point and behind, all else, and that at the end.

    The first three have a row for each word.
    """
    before, behind, around, ends = [], [], [], []
    for exponent in range(_LEAST, _MOST + 1):
        digits_before = 1 if exponent < _FIXED else _WIDTH if exponent < 0 else exponent + 1
        point = _BEFORE + digits_before
        upto = bytes(255 if _BEFORE <= place < point else 0 for place in range(_WIDTH))
        after = bytes(255 if place > point else 0 for place in range(_WIDTH))
        power = f"e-{-exponent:02d}" if exponent < _FIXED else ""
        zeros = f"0.{'0' * (-exponent - 1)}" if _FIXED <= exponent < 0 else ""
        for sign in ("", "-"):
            start = f"{sign}{zeros}".encode().ljust(point, b"\0")[: _WIDTH - 8] + b"."
            text = start[: _WIDTH - 8].ljust(_WIDTH - 8, b"\0")
            before.append(upto)
            behind.append(after)
            around.append(text + f"{power}{_BETWEEN}".encode().ljust(8, b"\0"))
            ends.append(f"{power}{_LAST}".encode().ljust(8, b"\0"))
    forms = (np.frombuffer(b"".join(each), "<u8").astype(np.uint64) for each in (before, behind, around))
    first, second, third = (np.ascontiguousarray(each.reshape(-1, 4).T) for each in forms)
    return first, second, third, np.frombuffer(b"".join(ends), "<u8")
