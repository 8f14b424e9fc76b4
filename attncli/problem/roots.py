"""Fractions and roots, the exact numbers of a problem: 1/3, -2/5, sqrt(2), -sqrt(2)/2, 2*sqrt(3), 1/sqrt(2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

from attncli.english import shorten
from attncli.equation.rounding import DIGITS
from attncli.problem.misread import NumberError, why_not_a_number

_AMOUNT = r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
_ROOT = rf"sqrt\(\s*(?P<radicand>{_AMOUNT})(?:\s*/\s*(?P<under>{_AMOUNT}))?\s*\)"
_FORMS = (
    rf"(?P<times>{_AMOUNT})\s*/\s*(?P<by>{_AMOUNT})",
    rf"(?P<sign>[-+]?)(?:(?P<times>{_AMOUNT})\s*\*\s*)?{_ROOT}(?:\s*/\s*(?P<by>{_AMOUNT}))?",
    rf"(?P<times>{_AMOUNT})\s*/\s*(?P<over>{_ROOT})",
)
_QUOTIENT = re.compile(r"([-+]?(?:0|[1-9][0-9]*))/(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Exact:
    """coefficient · √radicand; a fraction has the radicand 1."""

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
            value = under.sqrt() * self.coefficient.numerator / Decimal(self.coefficient.denominator)
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
        sign = "-" if coefficient < 0 else ""
        return sign + (f"{times}*" if times != 1 else "") + root + (f"/{by}" if by != 1 else "")


def as_quotient(text: str) -> float | None:
    """The nearest double of one whole number over another, most of what long lists of fractions hold; None for what
    needs more care.
    """
    found = _QUOTIENT.fullmatch(text)
    if found is None or found[2] == "0":
        return None
    try:
        return int(found[1]) / int(found[2])
    except OverflowError:
        return None


def read_exact(text: str) -> Exact:
    """A fraction or root; NumberError for anything else, a division by zero, or the root of a negative number."""
    found = next((found for form in _FORMS if (found := re.fullmatch(form, text.strip()))), None)
    if found is None:
        raise NumberError(*why_not_a_number(text))
    part = found.groupdict()
    try:
        coefficient = Fraction(part["times"] or 1) / Fraction(part.get("by") or 1)
        radicand = Fraction(part.get("radicand") or 1) / Fraction(part.get("under") or 1)
        if part.get("over"):
            coefficient /= radicand  # a / √r = (a / r) · √r
    except ZeroDivisionError:
        raise NumberError(f"{shorten(text)} divides by zero", "write another number under the line") from None
    if radicand < 0:
        raise NumberError(f"{shorten(text)} is the root of a negative number", "roots are taken of 0 and more")
    return Exact(-coefficient if part.get("sign") == "-" else coefficient, radicand)
