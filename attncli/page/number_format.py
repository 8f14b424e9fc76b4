"""How numbers are printed: rounded half up, whole numbers whole; one by one, or all those of a matrix at once."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from attncli.equation.nodes import Number
from attncli.equation.rounding import round_half_up
from attncli.problem.numbers import as_decimal, as_exact, is_plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FLOAT_DIGITS = 15  # significant ones that a float64 always keeps
SCIENTIFIC = Decimal(10) ** FLOAT_DIGITS  # from here on, not even the digits before the point are all known
SAFE = 1e9  # units of the last decimal; up to here binary rounding is right where a number is not near a tie
NEAR_TIE = 1e-4  # of such a unit
NEAR_WHOLE = 1e-12  # in relation; a number that is not whole and nearer than this may be so in 15 digits
NO_NUMBERS = ("inf", "-inf", "nan")


def format_number(value: float, precision: int) -> str:
    """The value at `precision` decimals, rounded half up; a whole number without decimals.

    A float is taken as the decimal of 15 significant digits that it stands for, so that 0.1 + 0.2 is 0.3 and noise in
    the last bit turns no tie; where more are asked for, as its shortest spelling.
    """
    if not math.isfinite(value):
        return str(float(value))
    scaled = abs(value) * 10.0**precision
    whole = round(value)
    if scaled < SAFE and abs(scaled % 1 - 0.5) > NEAR_TIE and abs(value - whole) > NEAR_WHOLE * abs(whole):
        return f"{value:z.{precision}f}"
    digits = f"{value:.{FLOAT_DIGITS - 1}e}"
    if abs(whole) >= 10**FLOAT_DIGITS and _rounds_plainly(digits.partition(".")[2][: FLOAT_DIGITS - 1], precision):
        return f"{value:.{precision}e}"
    decimal = Decimal(digits)
    if decimal.adjusted() + precision >= FLOAT_DIGITS and abs(decimal) < SCIENTIFIC:
        decimal = Decimal(repr(float(value)))
    return format_decimal(decimal, precision)


def _rounds_plainly(decimals: str, precision: int) -> bool:
    """Whether a mantissa of these decimals is neither whole, nor at a tie, nor one that is rounded up to ten."""
    kept, rest = decimals[:precision], decimals[precision:]
    return bool(rest.strip("0")) and rest.rstrip("0") != "5" and bool(kept.strip("9"))


def format_decimal(decimal: Decimal, precision: int) -> str:
    """A decimal at `precision` decimals; where not even those before the point are all known, times a power of ten."""
    if not decimal.is_finite():
        return str(float(decimal))
    if abs(decimal) >= SCIENTIFIC:
        mantissa = decimal.scaleb(-decimal.adjusted())
        return f"{_decimals(mantissa, precision)}e+{decimal.adjusted()}"
    return _decimals(decimal, precision)


def _decimals(decimal: Decimal, precision: int) -> str:
    if decimal == decimal.to_integral_value():
        return str(int(decimal))
    return f"{round_half_up(decimal, precision):f}"


def format_rows(matrix: NDArray[Any], precision: int) -> list[list[str]]:
    """What `format_number` makes of each number of a matrix, row by row; equal texts are one and the same object.

    Where binary rounding is sure to give the same digits, NumPy rounds, and each text is made once.
    """
    import numpy as np

    values = matrix.astype(np.float64)
    sure = surely_rounded(values, precision)
    texts = np.empty(values.shape, dtype=object)
    rounded, place = np.unique(np.round(values[sure], precision) + 0.0, return_inverse=True)  # + 0.0: no -0.000
    spelled = [f"{number:.{precision}f}" for number in rounded.tolist()]
    texts[sure] = np.array(spelled, dtype=object)[place]
    others, place = np.unique(values[~sure], return_inverse=True)
    spelled = [format_number(number, precision) for number in others.tolist()]
    texts[~sure] = np.array(spelled, dtype=object)[place]
    rows: list[list[str]] = texts.tolist()
    return rows


def surely_rounded(values: NDArray[np.float64], precision: int) -> NDArray[np.bool_]:
    """Where binary rounding gives the right digits: neither large, nor near a tie, nor whole or nearly so."""
    import numpy as np

    with np.errstate(all="ignore"):
        scaled = np.abs(values) * 10.0**precision
        whole = np.rint(values)
        sure: NDArray[np.bool_] = scaled < SAFE
        sure &= np.abs(scaled % 1 - 0.5) > NEAR_TIE
        sure &= np.abs(values - whole) > NEAR_WHOLE * np.abs(whole)
    return sure


@lru_cache(maxsize=2**16)
def number_node(text: str) -> Number:
    """A printed number as a node of an equation, which knows exactly what its text says."""
    if text in NO_NUMBERS:
        return Number(None if text == "nan" else float(text), text)
    return Number(Fraction(text) if is_plain(text) else as_exact(text), text)


def printed_value(number: Number) -> Decimal:
    """What a printed number says, to 50 digits."""
    text = number.text
    return Decimal(text) if text in NO_NUMBERS or is_plain(text) else as_decimal(text)
