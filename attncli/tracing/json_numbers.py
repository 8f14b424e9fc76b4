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

# From here on, not every whole number is a double.
ABOVE_ALL_WHOLE_DOUBLES = 2**53
_WORDS_OF_INFINITIES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def json_values(array: NDArray[Any]) -> Any:
    """Nested lists; whole numbers as integers, infinities and NaN as words.

    >>> json_values(np.array([[2.0, 0.5], [-np.inf, np.nan]]))
    [[2, 0.5], ['-Infinity', 'NaN']]
    """
    if array.dtype != np.float64:
        array = array.astype(np.float64)
    values = array.tolist()
    is_finite = np.isfinite(array)
    is_small = np.abs(array) < ABOVE_ALL_WHOLE_DOUBLES
    is_whole = array == np.floor(array)
    has_integers = (is_whole & is_small).any()
    # Most arrays have nothing to be looked at, and lists take long.
    if is_finite.all() and not has_integers:
        return values
    return _words(values)


def _words(value: Any) -> Any:
    if isinstance(value, list):
        return [_words(part) for part in value]
    if value != value:
        return "NaN"
    if value in _WORDS_OF_INFINITIES:
        return _WORDS_OF_INFINITIES[value]
    # No whole number has the sign of -0.0.
    is_minus_zero = value == 0 and math.copysign(1, value) < 0
    if is_minus_zero or not value.is_integer() or abs(value) >= ABOVE_ALL_WHOLE_DOUBLES:
        return value
    return int(value)


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
    if isinstance(value, list):
        return [_floats(part) for part in value]
    return float(value)
