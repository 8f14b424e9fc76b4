"""Arrays as nested lists of plain numbers, with words for those that JSON has not, and back
again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.problem.matrix import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INFINITIES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def json_values(array: NDArray[Any]) -> Any:
    """Nested lists; whole numbers as integers, infinities and NaN as words."""
    if array.dtype != np.float64:
        array = array.astype(np.float64)
    plain = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2**53)
    if np.isfinite(array).all() and not plain.any():
        return array.tolist()
    return _words(array.tolist())


def _words(value: Any) -> Any:
    if isinstance(value, list):
        return [_words(part) for part in value]
    if value != value:
        return "NaN"
    if value in _INFINITIES:
        return _INFINITIES[value]
    is_whole = (
        value.is_integer() and abs(value) < 2**53 and (value != 0 or math.copysign(1, value) > 0)
    )
    # but -0.0, whose sign no whole number has
    return int(value) if is_whole else value


def json_number(value: float) -> Any:
    """A single number as `json_values` has it."""
    return _words(float(value))


def json_float(value: float) -> float | str:
    """A float, or the word that stands for what JSON has no number for."""
    return value if math.isfinite(value) else str(_words(value))


def array_of(value: Any) -> NDArray[np.float64]:
    """The array that `json_values` wrote."""
    return read_only(np.array(_floats(value), dtype=np.float64))


def _floats(value: Any) -> Any:
    return [_floats(part) for part in value] if isinstance(value, list) else float(value)
