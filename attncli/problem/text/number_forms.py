"""The forms of numbers in problems, and what people write otherwise and mean in one way only."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction

from attncli.problem.text.compact_fractions import (
    compact_fraction,
    with_slashes,
)
from attncli.problem.text.number_signs import TIMES, in_keyboard_signs, with_exponent
from attncli.problem.text.recurring_decimals import (
    recurring,
)

# It stands where a number is still to be written.
BLANK = "_"
MINUS_INFINITY = ("-inf", "-.inf", "-.Inf", "-.INF", "-Infinity")
LONGEST_NUMBER = 400
PLAIN = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
UNSIGNED = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
AMOUNT = rf"[-+]?{UNSIGNED}"
_ROOT = rf"sqrt\(\s*(?P<radicand>{AMOUNT})(?:\s*/\s*(?P<under>{AMOUNT}))?\s*\)"
_UNNAMED_ROOT = rf"sqrt\({AMOUNT}(?:/{AMOUNT})?\)"
FORMS = (
    rf"(?P<times>{AMOUNT})\s*/\s*(?P<by>{AMOUNT})",
    rf"(?P<sign>[-+]?)(?:(?P<times>{UNSIGNED})\s*\*\s*)?{_ROOT}(?:\s*/\s*(?P<by>{AMOUNT}))?",
    rf"(?P<times>{AMOUNT})\s*/\s*(?P<over>{_ROOT})",
)
EXAMPLES = "3, -0.5, 1e3, 1/3 or sqrt(2)"
LOOK_LIKE = f"write a number such as {EXAMPLES}"
_WHOLE_POWER = re.compile(
    rf"(?P<sign>[-+]?)(?P<base>{AMOUNT})(?:\^|\*\*)(?P<open>\()?(?P<exponent>[-+]?[0-9]{{1,2}})(?(open)\))"
)
_ROOT_SIGN = re.compile(r"√\s*(?:(?=\()|([0-9]+(?:\.[0-9]+)?))")
# 2 √3 may be two numbers.
_TIMES_ROOT = re.compile(rf"(?<=[0-9])(?:\s*[{TIMES}]\s*)?(?=sqrt\()")
# Fractions in LaTeX become (-1)/2 and 1/(2).
_AMOUNT_IN_PARENTHESES = re.compile(
    rf"(?<![0-9a-z.)^*])\(({AMOUNT}|[-+]?(?:{AMOUNT}\*)?{_UNNAMED_ROOT})\)(?![(0-9.^]|\*\*)"
)
_PRODUCT_BELOW = re.compile(
    rf"(?P<above>{AMOUNT})/\((?P<times>{AMOUNT})\*sqrt\((?P<radicand>{AMOUNT})\)\)"
)
# Other blanks may stand between two numbers.
_BLANKS_BESIDE_SIGN = re.compile(rf"\s*([-+{TIMES}/^()])\s*")
_IN_PARENTHESES = re.compile(r"([-+]?)\((.*)\)")
# What is longer is no help.
_LONGEST_FRACTION = 40


class Complaint(StrEnum):
    """What is wrong with a number, in words that follow its text, in files and on live pages."""

    NO_NUMBER = "is not a number"
    TOO_LONG = "is too long for a number"
    TOO_LARGE = "is too large"
    TOO_SMALL = "is too small: it would become 0"
    BY_ZERO = "divides by zero"
    NEGATIVE_ROOT = "is the root of a negative number"
    RECURRING = "is a recurring decimal"
    WITHOUT_END = "leaves open which digits follow"
    DASH = "has a dash that is not the minus sign of the keyboard"


class NumberError(ValueError):
    """A text that is no number attncli reads; `help` says what to write instead."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def is_plain(text: str) -> bool:
    """Whether the text is a number of YAML 1.2 or JSON, as opposed to a fraction or a root.

    >>> is_plain("1e3"), is_plain("1/3")
    (True, False)
    """
    return PLAIN.fullmatch(text) is not None


def fraction_or_root(text: str) -> re.Match[str] | None:
    return next((found for form in FORMS if (found := re.fullmatch(form, text.strip()))), None)


def as_problems_spell(text: str) -> str:
    """The spelling in a problem of what answers spell otherwise: 3/2 for 1½, 1.5e3 for 1.5×10³.

    Empty where it has none, or not just one.
    """
    number = _BLANKS_BESIDE_SIGN.sub(r"\1", in_keyboard_signs(text.strip()))
    while (inside := _IN_PARENTHESES.fullmatch(number)) and _is_balanced(inside[2]):
        number = "".join(inside.groups())
    if recurring(number) is not None:
        return ""
    number = with_slashes(with_exponent(number))
    number = _ROOT_SIGN.sub(lambda root: f"sqrt({root[1]})" if root[1] else "sqrt", number)
    number = _TIMES_ROOT.sub("*", number)
    if below := _PRODUCT_BELOW.fullmatch(number):
        return _with_root_above(*map(Fraction, below.groups()))
    number = _AMOUNT_IN_PARENTHESES.sub(r"\1", number)
    fraction = compact_fraction(number)
    if fraction is None:
        fraction = whole_power(number)
    if fraction is not None:
        number = str(fraction)
    return number if is_plain(number) or fraction_or_root(number) else ""


def _is_balanced(text: str) -> bool:
    """Whether each parenthesis in it has its partner in it: not so in -1)/(2."""
    depth = 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def _with_root_above(above: Fraction, times: Fraction, radicand: Fraction) -> str:
    """1*sqrt(3)/6 for 1/(2*sqrt(3)); empty where it divides by zero, or has no root."""
    if radicand <= 0 or not times:
        return ""
    coefficient = above / (times * radicand)
    return f"{coefficient.numerator}*sqrt({radicand})/{coefficient.denominator}"


def whole_power(text: str) -> Fraction | None:
    """The number that 2^3 or 2^(-1) is; None for anything else, and for one with many digits."""
    found = _WHOLE_POWER.fullmatch(text)
    if found is None or len(found["base"]) > _LONGEST_FRACTION:
        return None
    base, exponent = Fraction(found["base"]), int(found["exponent"])
    if not base and exponent < 0:
        return None
    power = base**exponent
    if len(str(power)) > _LONGEST_FRACTION:
        return None
    return -power if found["sign"] == "-" else power
