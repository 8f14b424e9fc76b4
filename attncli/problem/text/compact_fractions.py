"""Fractions that are spelled as one number: ½, 1½ and 0.(3), and 1⁄3, which was ⅓ before it was
copied.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from attncli.problem.text.number_signs import DASHES, RAISED_DIGITS
from attncli.problem.text.recurring_decimals import RECURRING, recurring

# A numerator above a denominator, in one sign or in raised and lowered digits: ½ and ¹⁄₂.
FRACTION_SIGN = rf"(?:[¼½¾⅐-⅞↉]|[{RAISED_DIGITS}]+⁄[₁-₉][₀-₉]*)"
_WHOLE_NUMBER = "(?:0|[1-9][0-9]*)"
MIXED_NUMBER = rf"{_WHOLE_NUMBER}?{FRACTION_SIGN}"
COMPACT_FRACTION = rf"(?:{RECURRING}|{MIXED_NUMBER})"
_MIXED_NUMBER = re.compile(rf"(?P<sign>[-+]?)(?P<whole>{_WHOLE_NUMBER})?(?P<part>{FRACTION_SIGN})")

# Programs that copy ⅓ as plain text write 1⁄3, and 11⁄3 for 1⅓.
_COPIED = re.compile(
    r"(?<![0-9.⁄])(?P<above>0|[1-9][0-9]{0,18})⁄(?P<below>[1-9][0-9]{0,18})(?![0-9.⁄eE])"
)
_SIGNS_AND_BLANKS = f"+-{DASHES} \t\u00a0\u2009"
_BIND = ("/", "√", "^", "**")
_BINDS_AFTER = re.compile(r"\s*(?:\^|\*\*)")
_WHAT_BINDS = "write / and parentheses: e^(2/3), or (e^2)/3"


def compact_fraction(text: str) -> Fraction | None:
    """The number that is spelled so, 3/2 for 1½ and 1/3 for 0.(3); None for any other text."""
    found = _MIXED_NUMBER.fullmatch(text)
    if found is None:
        return recurring(text)
    above, below = unicodedata.normalize("NFKC", found["part"]).split("⁄")
    value = int(found["whole"] or 0) + Fraction(int(above), int(below))
    return -value if found["sign"] == "-" else value


def with_slashes(text: str) -> str:
    """1/3 for each 1⁄3."""
    return _COPIED.sub(r"\g<above>/\g<below>", text)


def doubt_about_copied(text: str) -> str:
    """The help with a 1⁄3 that can be read in several ways: 11⁄3 and e^2⁄3; empty where none
    can.
    """
    for found in _COPIED.finditer(text):
        mixed_numbers = _mixed_numbers(found["above"], int(found["below"]))
        if mixed_numbers:
            quotient = f"{found['above']}/{found['below']} for the quotient"
            return f"write {', or '.join([quotient, *mixed_numbers])}"
        binds_before = text[: found.start()].rstrip(_SIGNS_AND_BLANKS).endswith(_BIND)
        binds_after = _BINDS_AFTER.match(text, found.end())
        if binds_before or binds_after:
            return _WHAT_BINDS
    return ""


def _mixed_numbers(digits: str, below: int) -> list[str]:
    """4/3 for 1 1/3, where the digits above a 3 are 11: every way to take some of them for a whole
    number.
    """
    said = []
    # No numerator of a mixed number has more digits than its denominator.
    first = max(1, len(digits) - len(str(below)))
    for end in range(first, len(digits)):
        whole, above = digits[:end], digits[end:]
        is_part = above[0] != "0" and int(above) < below
        if is_part:
            said.append(f"{int(whole) + Fraction(int(above), below)} for {whole} {above}/{below}")
    return said
