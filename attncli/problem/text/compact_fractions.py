"""Fractions that are spelled as one number: ½, 1½ and 0.(3)."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from attncli.problem.text.number_signs import RAISED_DIGITS
from attncli.problem.text.recurring_decimals import RECURRING, recurring

# A numerator above a denominator, in one sign or in raised and lowered digits: ½ and ¹⁄₂.
FRACTION_SIGN = rf"(?:[¼½¾⅐-⅞↉]|[{RAISED_DIGITS}]+⁄[₁-₉][₀-₉]*)"
_WHOLE_NUMBER = "(?:0|[1-9][0-9]*)"
MIXED_NUMBER = rf"{_WHOLE_NUMBER}?{FRACTION_SIGN}"
COMPACT_FRACTION = rf"(?:{RECURRING}|{MIXED_NUMBER})"
_MIXED_NUMBER = re.compile(rf"(?P<sign>[-+]?)(?P<whole>{_WHOLE_NUMBER})?(?P<part>{FRACTION_SIGN})")


def compact_fraction(text: str) -> Fraction | None:
    """The number that is spelled so, 3/2 for 1½ and 1/3 for 0.(3); None for any other text."""
    found = _MIXED_NUMBER.fullmatch(text)
    if found is None:
        return recurring(text)
    above, below = unicodedata.normalize("NFKC", found["part"]).split("⁄")
    value = int(found["whole"] or 0) + Fraction(int(above), int(below))
    return -value if found["sign"] == "-" else value
