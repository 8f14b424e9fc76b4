"""The numbers that somebody may type on a live page, read by rules of their own, and drawn texts to
try them.

A number is a decimal with a point or a comma, a fraction, or a root, as `docs/reference/input.md`
says. Nothing here comes from attncli: a reader goes through the text sign by sign, and works in
fractions and in decimals of 60 digits.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

LONGEST = 400
# from half a unit above the largest double on, a number is too large
LARGEST = Fraction(2**1024 - 2**970)
SMALLEST = Fraction(1, 2**1075)  # half of the smallest double
INFINITIES = ("-inf", "-.inf", "-.Inf", "-.INF", "-Infinity")


class Fault(Exception):
    """What is no number, by a part of what the page says of it."""


class Root(NamedTuple):
    """times · √under."""

    times: Fraction
    under: Fraction


def number_typed(text: str) -> float:
    """The double nearest to what was typed; raises Fault."""
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not text:
        raise Fault("There is no number")
    if _has_thousands(text):
        raise Fault("is a decimal or has thousands")
    if text in INFINITIES:
        raise Fault("is not finite")
    if len(text) > LONGEST:
        raise Fault("is too long")
    found = _Reader(text).number()
    if found.times * found.under == 0:
        return 0.0
    if found.under == 1:
        return _double(found.times)
    with localcontext(prec=60):
        root = (Decimal(found.under.numerator) / Decimal(found.under.denominator)).sqrt()
        exact = root * found.times.numerator / Decimal(found.times.denominator)
    return _double(Fraction(exact))


def _has_thousands(text: str) -> bool:
    before, comma, after = text.lstrip("+-").partition(",")
    digits = before.isdecimal() and after.isdecimal() and len(text) - len(text.lstrip("+-")) < 2
    return (
        bool(comma)
        and digits
        and len(after) == 3
        and len(before) < 4
        and not before.startswith("0")
    )


def _fault(text: str) -> str:
    """What is said of a text that is no number."""
    if _recurs(text):
        return "is a recurring decimal"
    if _has_no_end(text):
        return "leaves open which digits follow"
    if any(dash in text for dash in "\N{EN DASH}\N{EM DASH}"):
        return "has a dash that is not the minus sign"
    return "is not a number"


def _recurs(text: str) -> bool:
    """Whether it is as 0.(3), with a point or a comma."""
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    whole, _, decimals = unsigned.replace(",", ".", 1).partition(".")
    is_whole = whole == "0" or (whole.isdecimal() and not whole.startswith("0"))
    in_parentheses = decimals.startswith("(") and decimals.endswith(")")
    return is_whole and in_parentheses and decimals[1:-1].isdecimal()


def _has_no_end(text: str) -> bool:
    """Whether it is as 0.33… or 0.33..., and only digits, points and commas stand before that."""
    for end in ("...", "\N{HORIZONTAL ELLIPSIS}"):
        if text.endswith(end):
            before = text.removesuffix(end).rstrip()
            unsigned = before[1:] if before[:1] in ("+", "-") else before
            begun = unsigned[:-1] if unsigned[-1:] in (".", ",") else unsigned
            return begun[-1:].isdecimal() and set(begun) <= set("0123456789.,")
    return False


def _double(exact: Fraction) -> float:
    if abs(exact) >= LARGEST:
        raise Fault("is too large")
    if abs(exact) <= SMALLEST:
        raise Fault("is too small")
    return exact.numerator / exact.denominator


class _Reader:
    """Reads a text from its beginning; `at` is the place that it has come to."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def number(self) -> Root:
        for form in (self.decimal, self.fraction, self.root, self.over_root):
            self.at = 0
            found = form()
            if found is not None and self.at == len(self.text):
                return self.checked(found)
        raise Fault(_fault(self.text))

    def checked(self, found: tuple[Fraction, ...]) -> Root:
        """Of factors, divisors, and what stands under the root and divides that."""
        times, by, under, under_by, below = found
        if 0 in (by, under_by):
            raise Fault("divides by zero")
        radicand = under / under_by
        if below and radicand == 0:
            raise Fault("divides by zero")
        if radicand < 0:
            raise Fault("is the root of a negative number")
        return Root(times / by / (radicand if below else 1), radicand)

    # --- the four forms; each gives the factor, its divisor, what is under the root, its divisor,
    # and if it is below

    def decimal(self) -> tuple[Fraction, ...] | None:
        sign = self.sign()
        before = self.whole()
        point = self.next(".,")
        after = self.digits() if point else ""
        if not after and (before is None or point == ","):
            return None
        power = self.power()
        if power is None or self.at < len(self.text):
            return None
        digits = Fraction(int((before or "") + after or "0"))
        shift = power - len(after)
        if digits == 0:
            return self.plain(Fraction(0))
        if abs(shift) > 5000:  # far beyond all doubles, whatever its digits
            raise Fault("is too large" if shift > 0 else "is too small")
        return self.plain(sign * digits * Fraction(10) ** shift)

    def fraction(self) -> tuple[Fraction, ...] | None:
        times = self.amount()
        by = self.after("/") if times is not None else None
        return (
            None
            if times is None or by is None
            else (times, by, Fraction(1), Fraction(1), Fraction(0))
        )

    def root(self) -> tuple[Fraction, ...] | None:
        start = self.at
        times = self.amount()
        if times is not None:
            self.blanks()
        if times is None or not self.next("*"):
            self.at = start
            times = Fraction(self.sign())
        else:
            self.blanks()
        under = self.under()
        if under is None:
            return None
        by = Fraction(1)
        if self.at < len(self.text):
            found = self.after("/")
            if found is None:
                return None
            by = found
        return times, by, *under, Fraction(0)

    def over_root(self) -> tuple[Fraction, ...] | None:
        times = self.amount()
        self.blanks()
        if times is None or not self.next("/"):
            return None
        self.blanks()
        under = self.under()
        return None if under is None else (times, Fraction(1), *under, Fraction(1))

    # --- parts

    def plain(self, value: Fraction) -> tuple[Fraction, ...]:
        one = Fraction(1)
        return value, one, one, one, Fraction(0)

    def under(self) -> tuple[Fraction, Fraction] | None:
        """What stands in sqrt(…), and its divisor."""
        if not self.text.startswith("sqrt(", self.at):
            return None
        self.at += len("sqrt(")
        self.blanks()
        radicand, by = self.amount(), Fraction(1)
        self.blanks()
        if radicand is not None and self.text[self.at : self.at + 1] == "/":
            found = self.after("/")
            if found is None:
                return None
            by = found
            self.blanks()
        return None if radicand is None or not self.next(")") else (radicand, by)

    def after(self, sign: str) -> Fraction | None:
        """The amount after a sign, with blanks around that."""
        self.blanks()
        if not self.next(sign):
            return None
        self.blanks()
        return self.amount()

    def amount(self) -> Fraction | None:
        sign, before = self.sign(), self.whole()
        if before is None:
            return None
        start = self.at
        after = self.digits() if self.next(".") else ""
        if not after:
            self.at = start
        return sign * Fraction(int(before + after), 10 ** len(after))

    def sign(self) -> int:
        return -1 if self.next("+-") == "-" else 1

    def whole(self) -> str | None:
        """Digits without a zero before them; None where there are none such."""
        start = self.at
        found = self.digits()
        if found and (found == "0" or found[0] != "0"):
            return found
        self.at = start
        return None

    def power(self) -> int | None:
        """The exponent of ten, 0 where there is none; None where it has no digits."""
        if not self.next("eE"):
            return 0
        sign, digits = self.sign(), self.digits()
        return sign * int(digits) if digits else None

    def digits(self) -> str:
        start = self.at
        while self.text[self.at : self.at + 1] in tuple("0123456789"):
            self.at += 1
        return self.text[start : self.at]

    def blanks(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def next(self, signs: str) -> str:
        """The next sign, if it is one of these."""
        found = self.text[self.at : self.at + 1]
        if not found or found not in signs:
            return ""
        self.at += 1
        return found


# --- drawn texts

GOOD = (
    "3",
    "-0.5",
    "2,5",
    "-12,75",
    ",5",
    ".5",
    "0,125",
    "1e3",
    "1e-3",
    "1,5e2",
    "1/3",
    "-2/7",
    "sqrt(2)",
    "2*sqrt(3)/5",
    "1/sqrt(2)",
    "sqrt(1/2)",
    "1e308",
    "1e-320",
    "123456789",
    "0",
    "-0",
    "5.",
    "\N{MINUS SIGN}4",
    " 7 ",
    "sqrt(9)",
)
BAD = (
    "2,5x",
    "10/0",
    "-3x",
    "1e999",
    "1e-400",
    "-",
    "1/",
    "1,500",
    "-12,345",
    "1,2,3",
    "2,",
    "1.5,2",
    "sqrt(-1)",
    "-inf",
    "1/sqrt(0)",
    "0/0",
    "sqrt(2",
    "nan",
    "007",
    "one",
    "1 2",
    "--1",
    "1e",
    "1.2.3",
    " ",
    "1,5/2",
    "0.(3)",
    "-1,(142857)",
    "0.333\N{HORIZONTAL ELLIPSIS}",
    "0,66...",
    "\N{EN DASH}2",
    "1" * 309,
    "9" * 401,
)
KEYS = "0123456789" * 2 + ".,,-/e*+ ()"


def drawn_text(chosen: random.Random) -> str:
    """A number, what is none, or one with a few keys too many, too few or wrong."""
    text = chosen.choice(GOOD if chosen.random() < 0.6 else BAD)
    for _ in range(chosen.choice((0, 0, 1, 2))):
        at = chosen.randint(0, len(text))
        end = at + chosen.choice((0, 0, 1))
        text = text[:at] + chosen.choice(("", *KEYS)) + text[end:]
    return text


def keystrokes(text: str, chosen: random.Random) -> Iterator[str]:
    """The keys that write a text, with a slip now and then that is taken back."""
    for sign in text:
        if chosen.random() < 0.1:
            yield chosen.choice(KEYS)
            yield "Backspace"
        yield sign


def texts_after(keys: list[str]) -> list[str]:
    """What stands in the field after each key, which begins empty."""
    text, found = "", []
    for key in keys:
        text = text[:-1] if key == "Backspace" else text + key
        found.append(text)
    return found
