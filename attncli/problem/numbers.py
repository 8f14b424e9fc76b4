"""Numbers as people write them: read exactly, never guessed, and printed again in one canonical form."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import isinf

from attncli.english import shorten
from attncli.problem.misread import NumberError
from attncli.problem.roots import as_quotient, read_exact

__all__ = ["MINUS_INFINITY", "NumberError", "as_decimal", "as_exact", "as_float", "canonical", "is_plain"]

MINUS_INFINITY = ("-inf", "-.inf", "-.Inf", "-.INF", "-Infinity")
_LENGTH_LIMIT = 400
_PLAIN = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def is_plain(text: str) -> bool:
    """Whether the text is a number of YAML 1.2 or JSON, as opposed to a fraction or a root."""
    return _PLAIN.fullmatch(text) is not None


def as_float(text: str) -> float:
    """The nearest double; NumberError for what is no number, too large, or too small to be told from 0."""
    if text in MINUS_INFINITY:
        return float("-inf")
    if len(text) > _LENGTH_LIMIT:
        raise NumberError(f"{shorten(text)} is too long for a number", f"{_LENGTH_LIMIT} characters are the most")
    if is_plain(text):
        value = float(text)
        is_zero = value == 0 and not re.search("[1-9]", re.split("[eE]", text)[0])
    elif quotient := as_quotient(text):
        return quotient
    else:
        exact = read_exact(text)
        value = float(exact)
        is_zero = exact.coefficient * exact.radicand == 0
    if isinf(value):
        raise NumberError(f"{shorten(text)} is too large", "numbers go up to about 1.8e308")
    if value == 0 and not is_zero:
        raise NumberError(f"{shorten(text)} is too small to be told from 0", "write 0, or scale the numbers up")
    return value + 0.0  # -0 is 0: a minus before a zero would be printed all the way down


def as_exact(text: str) -> Fraction | None:
    """The number exactly, or None for an irrational root and for -inf; NumberError as for `as_float`."""
    value = as_float(text)
    if isinf(value):
        return None
    if value == 0:
        return Fraction(0)  # 0e999999999 is not to be multiplied out
    if is_plain(text):
        return Fraction(text)
    return read_exact(text).rational


def as_decimal(text: str) -> Decimal:
    """The number exactly where it is a decimal, to 50 digits where it is not; NumberError as for `as_float`."""
    value = as_float(text)
    if isinf(value):
        return Decimal("-Infinity")
    if value == 0:
        return Decimal(0)
    return Decimal(text) if is_plain(text) else read_exact(text).decimal


def canonical(text: str) -> str:
    """The same number in its one spelling: 1.0 → 1, 0.50 → 0.5, 1e3 → 1000, 2/4 → 1/2, sqrt(4) → 2.

    A root is written with a whole number under it, `sqrt(1/2)` as `sqrt(2)/2`. No digit is lost.
    """
    value = as_float(text)
    if isinf(value):
        return "-inf"
    if value == 0:
        return "0"
    return _canonical_decimal(Decimal(text)) if is_plain(text) else str(read_exact(text))


def _canonical_decimal(number: Decimal) -> str:
    """Digit by digit, because Decimal's own normalize() rounds."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits)).lstrip("0")
    exponent += len(figures) - len(figures := figures.rstrip("0"))
    lead = exponent + len(figures) - 1
    mantissa = figures[0] + ("." + figures[1:] if len(figures) > 1 else "")
    powered = f"{mantissa}e{lead:+d}"
    if exponent >= 0:
        plain = figures + "0" * exponent
    elif lead >= 0:
        plain = f"{figures[: lead + 1]}.{figures[lead + 1 :]}"
    else:
        plain = f"0.{'0' * (-lead - 1)}{figures}"
    readable = -7 < lead < 16 or len(plain) <= len(powered)
    return ("-" if sign else "") + (plain if readable else powered)
