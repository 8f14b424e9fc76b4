"""Numbers as people write them: read exactly, never guessed, and printed again in one canonical
form.

Besides decimals these are fractions and roots: 1/3, -2/5, sqrt(2), -sqrt(2)/2, 2*sqrt(3),
1/sqrt(2). What people write otherwise and can mean in one way only becomes one of these: ½, 1/√2,
2^3, 1.5×10³.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import isinf, isqrt
from typing import NamedTuple

from attncli.english import shorten
from attncli.equation.rounding import DIGITS
from attncli.problem.text.not_a_number import why_not_a_number
from attncli.problem.text.number_forms import (
    AMOUNT,
    LONGEST_NUMBER,
    LOOK_LIKE,
    MINUS_INFINITY,
    UNSIGNED,
    Complaint,
    NumberError,
    as_problems_spell,
    fraction_or_root,
    is_plain,
)
from attncli.problem.text.number_signs import TIMES, in_keyboard_signs

# The numbers of so many texts are remembered: a page asks for the same ones again and again.
_NUMBERS_KEPT = 2**14
# What to do about these complaints, wherever the number stands.
TOO_LARGE_HELP = "the largest number is about 1.8e308"
BY_ZERO_HELP = "write a number other than 0 after the /"
# A decimal is written without a power of ten if its first digit has one of these.
LEAST_PLAIN_POWER, MOST_PLAIN_POWER = -6, 15
# These dashes before digits are a minus; a word processor writes the others for a hyphen, too.
_MINUS_SIGNS = str.maketrans("−–", "--")
_MINUS_INFINITIES = ("-∞", "-inf", "-Inf")
# Word processors write these for quotation marks.
QUOTED = re.compile(r"[“„”‘‚’]([^“„”‘‚’]+)[“”‘’]")
_MATH = re.compile(r"\$([^$\\]+)\$")
# A superscript loses its place where it is copied: 1×10-3.
_POWER_OF_TEN_ON_THE_LINE = re.compile(rf"({AMOUNT})\s*[{TIMES}]\s*10\s*([-+][0-9]{{1,3}})")
_PRODUCT = re.compile(rf"({AMOUNT})\s*[*×xX]\s*({UNSIGNED})")
_CONSTANTS = {"e": 2.718281828459045, "π": 3.141592653589793, "pi": 3.141592653589793}


class Surd(NamedTuple):
    """A fraction, or one times the root of another: coefficient · √radicand; a fraction alone has
    the radicand 1.
    """

    coefficient: Fraction
    radicand: Fraction

    @property
    def rational(self) -> Fraction | None:
        """The number as a fraction, or None where its root is irrational."""
        root = Fraction(isqrt(self.radicand.numerator), isqrt(self.radicand.denominator))
        return self.coefficient * root if root * root == self.radicand else None

    @property
    def decimal(self) -> Decimal:
        """The number to 50 digits."""
        with localcontext(prec=DIGITS + 5):
            under = Decimal(self.radicand.numerator) / Decimal(self.radicand.denominator)
            value = (
                under.sqrt() * self.coefficient.numerator / Decimal(self.coefficient.denominator)
            )
        with localcontext(prec=DIGITS):
            return +value

    def __float__(self) -> float:
        exact = self.rational
        if exact is None:
            return float(self.decimal)
        try:
            return exact.numerator / exact.denominator
        except OverflowError:
            return float("inf")

    def __str__(self) -> str:
        """In one spelling: lowest terms, and a whole number under the root."""
        exact = self.rational
        if exact is not None:
            return str(exact)
        coefficient = self.coefficient / self.radicand.denominator
        times, by = abs(coefficient.numerator), coefficient.denominator
        root = f"sqrt({self.radicand.numerator * self.radicand.denominator})"
        written = "-" if coefficient < 0 else ""
        if times != 1:
            written += f"{times}*"
        written += root
        if by != 1:
            written += f"/{by}"
        return written


def as_float(text: str) -> float:
    """The nearest double; NumberError for what is no number, too large, or too small to be told
    from 0.
    """
    return _parsed(text)[0]


def as_spelled(text: str) -> str:
    """A number in the spelling of problems, which all that calculates with it can read: 1/2 for ½;
    NumberError as for `as_float`.

    >>> as_spelled("0.50"), as_spelled("−½"), as_spelled("2√3"), as_spelled("2^-1")
    ('0.50', '-1/2', '2*sqrt(3)', '1/2')
    """
    _parsed(text)
    return _spelled(text)


@lru_cache(_NUMBERS_KEPT)
def _spelled(text: str) -> str:
    """The same for a text that may be no number: NumberError says why."""
    if text in MINUS_INFINITY or is_plain(text) or len(text) > LONGEST_NUMBER:
        return text
    if fraction_or_root(text):
        return text
    meant = _unwrapped(text.strip()).translate(_MINUS_SIGNS)
    if meant in _MINUS_INFINITIES:
        return "-inf"
    if is_plain(meant):
        return meant
    is_explained = why_not_a_number(meant)[1] != LOOK_LIKE
    spelled = "" if is_explained else as_problems_spell(meant)
    if spelled:
        return spelled
    if not is_explained and _are_numbers(words := re.split(r"\s+|、", text)):
        message = f"{shorten(text)} is more than one number"
        raise NumberError(message, f"put a comma between numbers: {', '.join(words)}")
    help = "" if is_explained else _help_with_calculation(meant)
    if help:
        raise NumberError(f"{shorten(text)} {Complaint.NO_NUMBER}", help)
    raise NumberError(*why_not_a_number(text))


def _help_with_calculation(text: str) -> str:
    """What to write for 5*2, 1x10-2, e or π, which answers can have; empty for anything else."""
    number = in_keyboard_signs(text)
    if found := _POWER_OF_TEN_ON_THE_LINE.fullmatch(number):
        return f"write {found[1]}e{found[2]}"
    if found := _PRODUCT.fullmatch(number):
        return f"write {canonical(str(Decimal(found[1]) * Decimal(found[2])))}"
    constant = _CONSTANTS.get(number.lstrip("+-").lower())
    if constant is None:
        return ""
    sign = "-" if number.startswith("-") else ""
    return f"write {sign}{constant}"


def _unwrapped(text: str) -> str:
    """A number without the quotation marks of a word processor or the dollars of LaTeX around
    it.
    """
    found = QUOTED.fullmatch(text) or _MATH.fullmatch(text)
    return found[1].strip() if found else text


def _are_numbers(words: list[str]) -> bool:
    """Whether these are several numbers, between which a comma may be missing."""
    try:
        return len(words) > 1 and bool([*map(_parsed, words)])
    except NumberError:
        return False


@lru_cache(_NUMBERS_KEPT)
def _parsed(written: str) -> tuple[float, Surd | None]:
    """The nearest double, with the fraction or root where that is how the number is written."""
    text = _spelled(written)
    if text in MINUS_INFINITY:
        return float("-inf"), None
    if len(text) > LONGEST_NUMBER:
        raise NumberError(
            f"{shorten(text)} {Complaint.TOO_LONG}",
            f"a number has at most {LONGEST_NUMBER} characters",
        )
    surd = None
    if is_plain(text):
        value = float(text)
        is_zero = value == 0 and not re.search("[1-9]", re.split("[eE]", text)[0])
    else:
        surd = _read_fraction_or_root(text)
        value = float(surd)
        is_zero = surd.coefficient * surd.radicand == 0
    if isinf(value):
        raise NumberError(f"{shorten(text)} {Complaint.TOO_LARGE}", TOO_LARGE_HELP)
    if value == 0 and not is_zero:
        raise NumberError(
            f"{shorten(text)} {Complaint.TOO_SMALL}", "write 0, or use larger numbers"
        )
    # -0 is 0: a minus before a zero would be printed all the way down.
    return value + 0.0, surd


def as_exact(text: str) -> Fraction | None:
    """The number exactly, or None for an irrational root and for -inf; NumberError as for
    `as_float`.

    >>> as_exact("0.1"), as_exact("sqrt(4)"), as_exact("sqrt(2)")
    (Fraction(1, 10), Fraction(2, 1), None)
    """
    value, surd = _parsed(text)
    if isinf(value):
        return None
    if value == 0:
        # 0e999999999 is not to be multiplied out.
        return Fraction(0)
    return Fraction(_spelled(text)) if surd is None else surd.rational


def as_decimal(text: str) -> Decimal:
    """The number exactly where it is a decimal, to 50 digits where it is not; NumberError as for
    `as_float`.
    """
    value, surd = _parsed(text)
    if isinf(value):
        return Decimal("-Infinity")
    if value == 0:
        return Decimal(0)
    return Decimal(_spelled(text)) if surd is None else surd.decimal


@lru_cache(_NUMBERS_KEPT)
def canonical(text: str) -> str:
    """The same number in its one spelling: 1.0 → 1, 0.50 → 0.5, 1e3 → 1000, 2/4 → 1/2, sqrt(4) → 2.

    A root is written with a whole number under it, `sqrt(1/2)` as `sqrt(2)/2`. No digit is lost.
    """
    value, surd = _parsed(text)
    if isinf(value):
        return "-inf"
    if value == 0:
        return "0"
    return _canonical_decimal(Decimal(_spelled(text))) if surd is None else str(surd)


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
    has_plain_power = LEAST_PLAIN_POWER <= lead <= MOST_PLAIN_POWER
    is_readable = has_plain_power or len(plain) <= len(powered)
    unsigned = plain if is_readable else powered
    return f"-{unsigned}" if sign else unsigned


def _read_fraction_or_root(text: str) -> Surd:
    """A fraction or root in the spelling of problems; NumberError for a division by zero, or the
    root of a negative number.
    """
    found = fraction_or_root(text)
    assert found is not None, text
    part = found.groupdict()
    try:
        coefficient = Fraction(part["times"] or 1) / Fraction(part.get("by") or 1)
        radicand = Fraction(part.get("radicand") or 1) / Fraction(part.get("under") or 1)
        if part.get("over"):
            # This holds: a / √r = (a / r) · √r.
            coefficient /= radicand
    except ZeroDivisionError:
        raise NumberError(f"{shorten(text)} {Complaint.BY_ZERO}", BY_ZERO_HELP) from None
    if radicand < 0:
        raise NumberError(
            f"{shorten(text)} {Complaint.NEGATIVE_ROOT}",
            "the number under a root must be 0 or greater",
        )
    return Surd(-coefficient if part.get("sign") == "-" else coefficient, radicand)
