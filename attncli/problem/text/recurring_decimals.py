"""Decimals whose last digits recur: 0.(3), 0.16̅ and 0.1̇42857̇ as fractions."""

from __future__ import annotations

import re
from fractions import Fraction

# These signs combine with the digit before them.
LINE_ABOVE, DOT_ABOVE = "\u0305", "\u0307"
MARKS_ABOVE = f"\u0304{LINE_ABOVE}{DOT_ABOVE}"
_LINE_ABOVE_DIGIT = f"[\u0304{LINE_ABOVE}]"
_WHOLE_NUMBER = "(?:0|[1-9][0-9]*)"
RECURRING = (
    rf"{_WHOLE_NUMBER}\.(?:"
    r"\([0-9]+\)"
    rf"|[0-9]*(?:[0-9]{_LINE_ABOVE_DIGIT})+"
    rf"|[0-9]*[0-9]{DOT_ABOVE}(?:[0-9]*[0-9]{DOT_ABOVE})?"
    r")"
)
_RECURRING = re.compile(rf"(?P<sign>[-+]?)(?P<number>{RECURRING})")
_RECURRING_MARK = re.compile(f"[(){MARKS_ABOVE}]")


def recurring(text: str) -> Fraction | None:
    """The number that a recurring decimal is, 1/3 for 0.(3); None for any other text.

    Digits recur under a line, from one dot to the other, or in parentheses that follow the point.
    Parentheses after other decimals, as in 0.1(6), are none: there, physicists write how uncertain
    the last digits are.

    >>> recurring("0.1(6)"), recurring("0.(3)")
    (None, Fraction(1, 3))
    """
    found = _RECURRING.fullmatch(text)
    if found is None:
        return None
    whole, decimals = found["number"].split(".")
    mark = _RECURRING_MARK.search(decimals)
    assert mark is not None
    first = mark.start() if mark[0] == "(" else mark.start() - 1
    before, period = decimals[:first], _RECURRING_MARK.sub("", decimals[first:])
    value = with_period(f"{whole}.{before}", period)
    return -value if found["sign"] == "-" else value


def with_period(decimal: str, period: str) -> Fraction:
    """The number that begins with this decimal, after which some digits recur: 1/6 for 0.1 and
    6.
    """
    whole, _, before = decimal.partition(".")
    scale = 10 ** len(before)
    return Fraction(int(f"{whole}{before}"), scale) + Fraction(
        int(period), scale * (10 ** len(period) - 1)
    )
