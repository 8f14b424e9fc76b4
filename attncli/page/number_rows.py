"""The numbers of a step as JSON, row by row, so that no more than a row of them is ever text in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.tracing.plain import plain_values

LARGE = 2**12  # numbers; fewer are written as fast without further packages
_LARGEST_WHOLE = 2.0**49  # below it a whole number has at most 15 digits
_HIDDEN = np.finfo(np.float64).min  # stands for -Infinity on the way, where a row has no such number itself
_WHOLE = re.compile(rb"(?<![-0-9.])([0-9]{1,15})[.]0(?=[,\]])")


@dataclass(frozen=True, slots=True, eq=False)
class NumberRows:
    """An array as nested lists: whole numbers as integers, infinities and NaN as words, all others to the last bit."""

    array: NDArray[Any]
    fast: Callable[[NDArray[np.float64]], bytes] | None

    @classmethod
    def of(cls, array: NDArray[Any]) -> NumberRows:
        """The rows of an array; those of a large one are written by orjson, where it is installed."""
        return cls(array, _fast_writer() if array.size >= LARGE else None)

    def rows(self) -> Iterator[NumberRows] | str:
        """The arrays inside this one, or of a row its text."""
        if self.array.ndim > 1:
            return (NumberRows(row, self.fast) for row in self.array)
        row = self.array.astype(np.float64)
        return (self.fast and _quick(row, self.fast)) or json.dumps(plain_values(row), allow_nan=False)


def _quick(row: NDArray[np.float64], write: Callable[[NDArray[np.float64]], bytes]) -> str | None:
    """The text of a row by a writer that knows neither infinities nor that 1.0 is 1; None where that is not enough."""
    hidden = row == -np.inf
    if hidden.any():
        if (row == _HIDDEN).any():
            return None
        row = np.where(hidden, _HIDDEN, row)
    whole = row == np.floor(row)
    if not np.isfinite(row).all() or (whole & (np.abs(row) >= _LARGEST_WHOLE) & ~hidden).any():
        return None
    text = write(row)
    if hidden.any():
        text = text.replace(repr(float(_HIDDEN)).replace("+", "").encode(), b'"-Infinity"')
    if whole.any():
        text = _WHOLE.sub(rb"\1", text)
    return text.decode("ascii")


@lru_cache
def _fast_writer() -> Callable[[NDArray[np.float64]], bytes] | None:
    try:
        import orjson
    except ImportError:
        return None
    return lambda row: orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY)
