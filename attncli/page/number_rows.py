"""The numbers of a step as JSON, some rows at a time, so that no more than these are ever text in memory."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.page.numerals import AT_ONCE, row_texts
from attncli.tracing.json_numbers import json_values

LARGE = 2**12  # numbers; fewer are written as fast one by one
_LARGEST_WHOLE = 2.0**49  # below it a whole number has at most 15 digits
_HIDDEN = np.finfo(np.float64).min  # stands for -Infinity on the way, where no row has such a number itself
_WHOLE = re.compile(rb"(?<![-0-9.])([0-9]{1,15})[.]0(?=[,\]])")
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class NumberRows:
    """An array as nested lists: whole numbers as integers, infinities and NaN as words, all others to the last bit.

    `write` makes the text of each row of a matrix.
    """

    array: NDArray[Any]
    write: Callable[[Doubles], list[str]]

    @classmethod
    def of(cls, array: NDArray[Any]) -> NumberRows:
        """The rows of an array; those of a large one are written by orjson, where it is installed."""
        if array.size < LARGE:
            return cls(array, _one_by_one)
        fast = _fast_writer()
        return cls(array, _together if fast is None else lambda rows: _quick(rows, fast))

    def rows(self) -> Iterator[NumberRows] | Iterator[str] | str:
        """The arrays inside this one, of a matrix the texts of its rows, or of a row its text."""
        if self.array.ndim > 2:
            return (NumberRows(part, self.write) for part in self.array)
        return self._texts() if self.array.ndim == 2 else self.write(_doubles(self.array[np.newaxis]))[0]

    def _texts(self) -> Iterator[str]:
        at_once = max(1, AT_ONCE // max(self.array.shape[1], 1))
        for top in range(0, len(self.array), at_once):
            yield from self.write(_doubles(self.array[top : top + at_once]))


def _doubles(rows: NDArray[Any]) -> Doubles:
    return np.ascontiguousarray(rows, dtype=np.float64)


def _one_by_one(rows: Doubles) -> list[str]:
    return [json.dumps(json_values(row), allow_nan=False) for row in rows]


_together = row_texts if sys.byteorder == "little" else _one_by_one


def _quick(rows: Doubles, write: Callable[[Doubles], bytes]) -> list[str]:
    """The texts by a writer that knows neither infinities nor that 1.0 is 1; by our own where that is not enough."""
    if not (rows == np.floor(rows)).any() and not np.isnan(rows).any():  # infinities are whole
        return [write(row).decode("ascii") for row in rows]
    return [_corrected(row, write) or _together(row[np.newaxis])[0] for row in rows]


def _corrected(row: Doubles, write: Callable[[Doubles], bytes]) -> str | None:
    """The same for a row with whole numbers, or -inf; None where it needs more than that."""
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
        text = text.replace(write(np.array([_HIDDEN]))[1:-1], b'"-Infinity"')  # e308 or e+308, by its version
    return (_WHOLE.sub(rb"\1", text) if whole.any() else text).decode("ascii")


@lru_cache
def _fast_writer() -> Callable[[Doubles], bytes] | None:
    try:
        import orjson
    except ImportError:
        return None
    return lambda row: orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY)
