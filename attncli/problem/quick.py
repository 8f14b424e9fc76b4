"""Reads a long matrix of JSON row by row with orjson, where the extra `fast` is installed: three times as fast.

It takes only what is strictly JSON, and tells nothing of what is odd: all of that is left to other readers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Loads = Callable[[bytes], Any]
_OPEN = re.compile(rb"\[[ \n]*\[")
_NEXT = re.compile(rb"[ \n]*,[ \n]*\[")
_CLOSE = re.compile(rb"[ \n]*\]")
_TINY = re.compile(rb"[eE]-[0-9]{3}")
_SHORT = 100  # characters: where there is a comma in each so many, no number has 200, nor a value that needs them
_COMMA = ord(",")


@lru_cache
def quick_reader() -> Loads | None:
    """What reads a row, or None where it is not installed."""
    try:
        import orjson
    except ImportError:
        return None
    loads: Loads = orjson.loads
    return loads


def read_matrix(part: bytes, loads: Loads) -> tuple[NDArray[np.float64], int] | None:
    """The matrix with which a text of digits, signs, commas, brackets and blanks begins, and how far it reaches.

    None for anything else, and where a number may be too long, too large, or too small to be told from 0.
    """
    found = _OPEN.match(part)
    if found is None:
        return None
    rows: list[NDArray[np.float64]] = []
    at, width = found.end() - 1, 0
    while True:
        end = part.find(b"]", at) + 1
        text = part[at:end]
        try:
            row = loads(text)
            width = width or len(row)
            if not width or len(row) != width:
                return None
            numbers = np.fromiter(row, np.float64, width)
        except (ValueError, OverflowError):
            return None
        if not numbers.all() and _TINY.search(text):
            return None
        rows.append(numbers)
        following = _NEXT.match(part, end)
        if following is None:
            break
        at = following.end() - 1
    closing = _CLOSE.match(part, end)
    if closing is None or not _no_long_number(part, closing.end()):
        return None
    value = np.array(rows)
    value += 0.0  # -0 is 0
    return (value, closing.end()) if np.isfinite(value).all() else None


def _no_long_number(part: bytes, end: int) -> bool:
    whole = np.frombuffer(part, np.uint8, end // _SHORT * _SHORT).reshape(-1, _SHORT)
    return bool((whole <= _COMMA).any(axis=1).all())  # blanks, and signs of which a number has no two in a row
