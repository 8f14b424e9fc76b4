"""Drawn texts of numbers in problems against a grammar written apart: the same number, or an error
of both.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

import attncli
from attncli.cli.input import change
from attncli.cli.overrides import Overrides
from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.matrix import Scalar
from attncli.problem.model import Problem
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import as_decimal, as_exact, as_float

PIECES = (
    "0",
    "1",
    "2",
    "10",
    "0.5",
    ".5",
    "5.",
    "1e3",
    "010",
    "1/3",
    "sqrt(2)",
    "sqrt( 2 / 3 )",
    "2*",
    "/2",
    "/sqrt(3)",
    "-",
    "+",
    "*",
    "/",
    " ",
    "(",
    ")",
    "0.(3)",
    "0.1(6)",
    "0.333…",
    "0.577(1)",
    "2(3)",
    "1 1/2",
    "0.5 0.5",
    "√2",
    "·",
    "−",
    ",",
    "_",
    "e",
    "sqrt",
    "3̅",
)
RIGHT = (
    "1/3",
    "-2/5",
    "4 / 8",
    "1.5/2",
    "sqrt(2)",
    "-sqrt(2)/2",
    "2*sqrt(3)",
    "1/sqrt(2)",
    "sqrt(1/2)",
    "2√3",
    "1/√2",
    "−1/3",
    "(-1)/2",
    "0.5",
    "-1e-3",
)

# of doubles, rounded
SMALLEST, LARGEST = mpmath.mpf(2) ** -1075, mpmath.mpf(2) ** 1024 - mpmath.mpf(2) ** 970


def drawn(draw: random.Random) -> str:
    if draw.random() < 0.3:
        return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 4)))
    text = draw.choice(RIGHT)
    for _ in range(draw.randrange(3)):
        at = draw.randint(0, len(text))
        text = text[:at] + draw.choice(("", draw.choice(PIECES))) + text[at + draw.randrange(2) :]
    return text


class Letters:
    """Exact numbers as docs/reference/input.md has them: a fraction, or a root with what multiplies
    and divides it.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def takes(self, sign: str) -> bool:
        start = self.at
        self.skip()
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        self.at = start
        return False

    def skip(self) -> None:
        while self.text[self.at : self.at + 1] == " ":
            self.at += 1

    def amount(self) -> Fraction | None:
        """Digits, and a point between digits; with a sign, and no exponent."""
        found = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?").match(self.text, self.at)
        if found is None or re.match("0[0-9]", found[0].lstrip("+-")):
            return None
        self.at = found.end()
        return Fraction(found[0])

    def number(self) -> mpmath.mpf | None:
        """The whole text as a fraction or a root; None for neither."""
        sign = 1
        times = self.amount()
        if times is None:
            times = Fraction(1)
            sign = -1 if self.text.startswith("-", self.at) else 1
            self.at += self.text[self.at : self.at + 1] in ("+", "-")
            under = self.root()
        elif self.takes("*"):
            self.skip()
            under = self.root()
        elif self.takes("/"):
            self.skip()
            below = self.amount()
            if below is None:
                under = self.root()
                return (
                    self.ended(ratio(times, under and mpmath.sqrt(under)))
                    if under is not None
                    else None
                )
            return self.ended(ratio(times, below))
        else:
            return None
        if under is None:
            return None
        below = Fraction(1)
        if self.takes("/"):
            self.skip()
            found = self.amount()
            if found is None:
                return None
            below = found
        return self.ended(sign * ratio(times, below) * mpmath.sqrt(under))

    def root(self) -> mpmath.mpf | None:
        if not self.text.startswith("sqrt(", self.at):
            return None
        self.at += len("sqrt(")
        self.skip()
        over, under = self.amount(), Fraction(1)
        if over is None:
            return None
        if self.takes("/"):
            self.skip()
            found = self.amount()
            if found is None:
                return None
            under = found
        return ratio(over, under) if self.takes(")") and under and over / under >= 0 else None

    def ended(self, value: mpmath.mpf | None) -> mpmath.mpf | None:
        return value if self.at == len(self.text) else None


def ratio(above: Fraction, below: object) -> mpmath.mpf:
    if not below:
        return mpmath.nan
    over = mpmath.mpf(above.numerator) / above.denominator
    under = (
        mpmath.mpf(below.numerator) / below.denominator if isinstance(below, Fraction) else below
    )
    return over / under


def said(text: str) -> mpmath.mpf | None:
    """What the grammar says; None for no number."""
    stripped = in_letters(text.strip())
    if is_decimal(text) or is_decimal(stripped):
        text = text if is_decimal(text) else stripped
        value = mpmath.mpf(text)
        fits = not value or SMALLEST < abs(value) < LARGEST
        return value if fits else None
    value = Letters(stripped).number()
    return None if value is None or mpmath.isnan(value) else value


def in_letters(text: str) -> str:
    """The text with what people write for the same: a minus sign, √2 for sqrt(2), 2√2 and 2·√2 for
    2*√2, and parentheses around all of it.
    """
    text = re.sub(r"\s*([-+*/·()])\s*", r"\1", text.replace("−", "-").strip())
    while re.fullmatch(r"[-+]?\([^()]*(\([^()]*\)[^()]*)*\)", text):
        inside = text[text.index("(") + 1 : -1]
        # (2) may be -2, as accounts have it.
        if re.fullmatch(r"[0-9.]+(e[0-9]+)?", inside) and text[0] == "(":
            return text
        text = text[: text.index("(")] + inside
    text = re.sub(r"√([0-9]+(?:\.[0-9]+)?|(?=\())", lambda found: root(found[1]), text)
    text = re.sub(r"(?<=[0-9])[·*]?(?=sqrt)", "*", text)
    amount = r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
    under = rf"sqrt\({amount}(?:/{amount})?\)"
    below = re.fullmatch(rf"({amount})/\(({amount})\*sqrt\(({amount})\)\)", text)
    if below:
        # a/(b√c) = a√c/(bc)
        above, times, radicand = map(Fraction, below.groups())
        if not times or radicand <= 0:
            return ""
        quotient = above / (times * radicand)
        return f"{quotient.numerator}*sqrt({radicand})/{quotient.denominator}"
    alone = rf"(?<![0-9a-z.)*^])\(({amount}|[-+]?(?:{amount}\*)?{under})\)(?![(0-9.])"
    return re.sub(alone, r"\1", text)


def root(under: str) -> str:
    return f"sqrt({under})" if under else "sqrt"


def is_decimal(text: str) -> bool:
    found = re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,9})?", text)
    return found is not None and not re.match("0[0-9]", text.lstrip("+-"))


def near(one: mpmath.mpf, other: mpmath.mpf) -> bool:
    return abs(one - other) <= mpmath.mpf(10) ** -45 * max(1, abs(other))


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
def test_drawn_texts_are_what_the_grammar_says_or_errors_of_both(seed: int) -> None:
    draw = random.Random(seed)
    numbers = refused = 0
    for _ in range(2000):
        text = drawn(draw)
        with mpmath.workdps(60):
            expected = said(text)
            try:
                found: Decimal | None = as_decimal(text)
            except NumberError:
                found = None
            agree = (
                found is None
                if expected is None
                else found is not None and near(mpmath.mpf(str(found)), expected)
            )
            assert agree, f"{text!r}: attncli reads {found}, the grammar says {expected}"
            exact = as_exact(text) if found is not None else None
            assert exact is None or near(mpmath.mpf(exact.numerator) / exact.denominator, expected)
        numbers += expected is not None
        refused += expected is None
    assert numbers > 300
    assert refused > 300


KEYS = {"Q": [[1]], "K": [[1]], "V": [[1]]}


def in_yaml(text: str) -> Problem:
    quoted = text if is_decimal(text) else json.dumps(text)
    return loads(f"Q: [[1]]\nK: [[1]]\nV: [[1]]\nscale: {quoted}\n".encode(), "p.yaml")


def in_json(text: str) -> Problem:
    number = json.loads(text) if is_json_number(text) else text
    return loads(json.dumps(KEYS | {"scale": number}).encode(), "p.json")


def in_python(text: str) -> Problem:
    return attncli.problem(**KEYS, scale=float(text) if is_decimal(text) else text)


def as_option(text: str) -> Problem:
    return change(attncli.problem(**KEYS), Overrides(scale=text))


def is_json_number(text: str) -> bool:
    try:
        return isinstance(json.loads(text), int | float)
    except ValueError:
        return False


FORMS: tuple[Callable[[str], Problem], ...] = (in_yaml, in_json, in_python, as_option)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(6))
def test_a_text_means_the_same_wherever_a_problem_has_it(seed: int) -> None:
    draw = random.Random(f"forms {seed}")
    looked_at = 0
    for _ in range(150):
        text = drawn(draw).strip()
        is_word = text in ("", "_", "e", "none") or not text.strip("_")
        # JSON has no .5, and + before no number
        if is_word or (is_decimal(text) and not is_json_number(text)):
            continue
        expected = said(text)
        for form in FORMS:
            try:
                scale = form(text).scale
            except AttncliError:
                scale = None
            assert scale is None or isinstance(scale, Scalar)
            found = None if scale is None else scale.value
            wanted = None if expected is None else as_float(text)
            assert found == wanted, f"{text!r}, {form.__name__}: {found}, and not {wanted}"
        looked_at += 1
    assert looked_at > 80
