"""A printed number as a node of a sentence, and what it says."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from attncli.equation.nodes import Number
from attncli.problem.numbers import as_decimal, as_exact, is_plain

NO_NUMBERS = ("inf", "-inf", "nan")


def printed(number: Number) -> Decimal:
    """What a printed number says, to 50 digits."""
    text = number.text
    return Decimal(text) if text in NO_NUMBERS or is_plain(text) else as_decimal(text)


@lru_cache(maxsize=2**16)
def literal(text: str) -> Number:
    """A printed number as a node that knows exactly what its text says."""
    if text in NO_NUMBERS:
        return Number(None if text == "nan" else float(text), text)
    return Number(Fraction(text) if is_plain(text) else as_exact(text), text)
