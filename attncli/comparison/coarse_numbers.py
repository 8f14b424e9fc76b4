"""Numbers that have fewer digits than their format: they were rounded on the way, and no mistake is
known from them within the tolerance of the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.english import count
from attncli.tracing.comparison import Comparison, Operand

# Digits of a binary number in formats that programs calculate in, the coarsest first.
FORMATS = {3: "float8_e5m2", 4: "float8_e4m3", 8: "bfloat16", 11: "float16"}
# So few numbers may be short by chance.
FEWEST_NUMBERS = 8


def coarse_numbers(comparison: Comparison) -> Iterator[str]:
    """A sentence where the first step that differs has few digits on one side, and the mistakes are
    to be sought within as much.
    """
    first = comparison.first
    if first is None or first.name not in comparison.b.arrays:
        return
    for side, other in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        digits = _digits(side, first.name)
        # Where both are short, the problem has short numbers.
        if digits is None or _binary_digits(other.arrays[first.name]) <= digits:
            continue
        numbers = count(side.arrays[first.name].size, "number")
        tolerance = 2.0**-digits
        yield (
            f"The {numbers} of {first.name} {side.phrase} have at most {digits} binary digits, as"
            f" {FORMATS[digits]} has, so they were rounded on the way. With a tolerance of"
            f" {tolerance:g} ({_option(tolerance)}), mistakes are known within that."
        )


def _option(tolerance: float) -> str:
    return f"--tolerance {tolerance:g}"


def _digits(side: Operand, name: str) -> int | None:
    """The digits of the coarsest format that holds all numbers of a step, if their own format has
    more; None where there is none.
    """
    array = side.arrays[name]
    if side.trace is not None or array.size < FEWEST_NUMBERS:
        return None
    needed = _binary_digits(array)
    if needed == 0:
        return None
    own = round(-np.log2(side.dtype.epsilon)) + 1
    fitting = [digits for digits in FORMATS if needed <= digits < own]
    return fitting[0] if fitting else None


def _binary_digits(array: NDArray[Any]) -> int:
    """The most digits that a finite number of these has as a binary one, without zeros at the
    end; 0 where there is none.
    """
    finite = np.abs(array[np.isfinite(array) & (array != 0)]).astype(np.float64)
    if not finite.size:
        return 0
    mantissa, _ = np.frexp(finite)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = whole & -whole
    return 53 - int(np.log2(lowest.min()))
