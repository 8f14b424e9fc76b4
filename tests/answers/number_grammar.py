"""A grammar of the numbers of answers, written from docs/reference/answers.md: it imports nothing
of attncli.

`reading(text)` is what one spelling of a number says, worked out by mpmath letter by letter; texts
that this grammar refuses are no numbers, or can be read in several ways.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import mpmath

DIGITS = "0123456789"
BLANKS = " \u00a0\u2009"
FUNCTIONS = {
    "sqrt": mpmath.sqrt,
    "exp": mpmath.exp,
    "ln": mpmath.log,
    "tanh": mpmath.tanh,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
}
MINUS = "-−–"
TIMES = "*·×⋅"
OVERLINES = "\u0305\u0304"
DOT_ABOVE = "\u0307"
DASHES = "-−–—"
RAISED_SIGNS = "⁺⁻"
RAISED = RAISED_SIGNS + "⁰¹²³⁴⁵⁶⁷⁸⁹"
LOWERED = str.maketrans(RAISED, "+-0123456789")
FRACTION_SIGNS = {
    "½": Fraction(1, 2),
    "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
    "¼": Fraction(1, 4),
    "¾": Fraction(3, 4),
    "⅞": Fraction(7, 8),
}
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
RISEN = str.maketrans(SUBSCRIPTS, DIGITS)
WIDE = str.maketrans("０１２３４５６７８９．＋＊／（）", "0123456789.+*/()")
OTHER_SIGNS = str.maketrans("÷∕∗∙", "//*·")
DEEPEST = 40
LARGEST = mpmath.mpf("1.8e308")
SMALLEST = mpmath.mpf("1e-900")


class Refused(Exception):
    """No number, or one that can be read in several ways."""


class Beyond(Exception):
    """A calculation about which this grammar says nothing: its numbers are too large, too small or
    too near to 0.
    """


@dataclass(frozen=True)
class Reading:
    """A number, and half a unit of its last digit; 0 where it is exact."""

    value: mpmath.mpf
    half: Fraction


def reading(text: str) -> Reading | None:
    """What a text without = or ≈ says; None for a blank cell. Raises Refused or Beyond."""
    text = text.strip()
    if text in ("?", *DASHES) or not text.strip("_"):
        return None
    text = with_lowered_powers(text.translate(WIDE).translate(OTHER_SIGNS))
    text = with_plain_slashes(with_times_for_x(text))
    with mpmath.workdps(80):
        if is_minus_infinity(text):
            return Reading(-mpmath.inf, Fraction(0))
        decimal = signed_decimal(text)
        if decimal is not None:
            return decimal
        if text.endswith("%"):
            return hundredth(text[:-1].rstrip(BLANKS))
        if is_range_or_raised_point(text) or is_row(text) or is_date(text):
            raise Refused
        if has_lost_exponent(text):
            raise Refused
        letters = Letters(text)
        value = letters.sum(0)
        if not letters.at_end():
            raise Refused
        return Reading(in_size(value), Fraction(0))


def with_lowered_powers(text: str) -> str:
    """10^(-3) for 10⁻³, and (1 + e)^(2) for (1 + e)²; raised digits above a ⁄ stay."""
    lowered, at = "", 0
    while at < len(text):
        end = at
        while end < len(text) and text[end] in RAISED:
            end += 1
        run = text[at:end]
        if not run:
            lowered += text[at]
            at += 1
            continue
        digits = run[1:] if run[0] in RAISED_SIGNS else run
        is_whole_number = bool(digits) and not set(digits) & set(RAISED_SIGNS)
        has_base = at > 0 and not text[at - 1].isspace()
        is_numerator = text.startswith("⁄", end)
        is_power = is_whole_number and has_base and not is_numerator
        lowered += f"^({run.translate(LOWERED)})" if is_power else run
        at = end
    return lowered


def with_times_for_x(text: str) -> str:
    """1.5×10^3 for 1.5x10^3; any other x stays."""
    for at, letter in enumerate(text):
        if letter in "xX" and is_mantissa_before(text[:at]) and is_power_of_ten(text[at + 1 :]):
            text = f"{text[:at]}×{text[at + 1 :]}"
    return text


def with_plain_slashes(text: str) -> str:
    """1/3 for 1⁄3, which was ⅓ in the text that it was copied from; refused where it may have been
    more, as 11⁄3 may have been 1⅓, and where a power, a root or a quotient has one side of it.
    """
    pieces = text.split("⁄")
    said = pieces[0]
    for left, right in itertools.pairwise(pieces):
        above = left[len(left.rstrip(DIGITS)) :]
        below = right[: len(right) - len(right.lstrip(DIGITS))]
        before, after = left[: len(left) - len(above)], right[len(below) :]
        numbers = [above, below]
        are_whole = all(number and (number[0] != "0" or number == "0") for number in numbers)
        is_apart = (before or said == left) and not before.endswith(".") and below != "0"
        goes_on = after[:1] in (".", "e", "E") or (not after and right is not pieces[-1])
        if not (are_whole and is_apart) or goes_on:
            said += f"⁄{right}"
            continue
        for cut in range(1, len(above)):
            part = above[cut:]
            if part[0] != "0" and int(part) < int(below):
                raise Refused
        signed = before.rstrip(BLANKS + "+" + MINUS)
        if signed.endswith(("/", "√", "^", "**")) or after.lstrip(BLANKS).startswith(("^", "**")):
            raise Refused
        said += f"/{right}"
    return said


def is_mantissa_before(text: str) -> bool:
    text = text.rstrip()
    number = text[len(text.rstrip(DIGITS + ".")) :]
    whole, point, decimals = number.partition(".")
    if not number or "." in decimals:
        return False
    if whole in ("", "0"):
        return bool(point and decimals)
    return whole[0] != "0"


def is_power_of_ten(text: str) -> bool:
    """10^3, or 10-3 and 103, whose exponent may have been raised."""
    text = text.lstrip()
    after = text[2:].lstrip()
    digit = after[1:2] if after[:1] in (*MINUS,) else after[:1]
    return text.startswith("10") and (
        after.startswith(("^", "**")) or (digit != "" and digit in DIGITS)
    )


def has_lost_exponent(text: str) -> bool:
    """1.5×10−3 and 1.5×103, which were 1.5×10⁻³ and 1.5×10³ on the page that they were copied
    from.
    """
    return any(
        text.startswith("10", at) and is_lost_exponent(text[:at].rstrip(BLANKS), text[at + 2 :])
        for at in range(1, len(text))
    )


def is_lost_exponent(before: str, after: str) -> bool:
    """Whether a power of ten may stand where a 10 stands, between these two."""
    times = before[-1:]
    before = before[:-1].rstrip(BLANKS)
    start = len(before)
    while start and before[start - 1] in (*DIGITS, "."):
        start -= 1
    mantissa, front = before[start:], before[:start]
    whole, point, decimals = mantissa.partition(".")
    if not times or times not in TIMES or len(whole) != 1 or whole == "0" or "." in decimals:
        return False
    if front[-1:] in ("e", "E") or (front[-1:] in ("+", *MINUS) and front[-2:-1] in ("e", "E")):
        return False
    exponent = after.lstrip(BLANKS)
    has_minus = exponent[:1] in tuple(MINUS)
    if has_minus:
        digits = exponent[1:].lstrip(BLANKS)
        is_apart = after[0] in BLANKS and exponent[1:2] in tuple(BLANKS)
        if is_apart or (times == "*" and not point):
            return False
    else:
        digits = after
        if times == "*":
            return False
    count = len(digits) - len(digits.lstrip(DIGITS))
    if not 1 <= count <= 3 or digits[0] == "0":
        return False
    return not digits[count:].startswith((".", "^", "**"))


def is_minus_infinity(text: str) -> bool:
    if text[0] not in MINUS:
        return False
    rest = text[1:].strip(BLANKS).lower()
    return rest.removeprefix(".") in ("inf", "infinity") or rest == "∞"


def signed_decimal(text: str) -> Reading | None:
    """0.70, - 0.70, (-0.70), 7e-1, 7·10^-1: digits that say how precise they are; None for anything
    else.
    """
    sign, has_sign, is_in_parentheses = 1, False, False
    for _ in range(DEEPEST):
        if text[:1] in ("+", *MINUS):
            sign, has_sign = -sign if text[0] in MINUS else sign, True
            text = text[1:].lstrip(BLANKS)
        elif text[:1] == "(" and text[-1] == ")":
            is_in_parentheses = True
            text = text[1:-1].strip(BLANKS)
    mantissa, power = parts_of_scientific(text)
    number = plain(mantissa, 0)
    if number is None or number[1] != len(mantissa):
        return None
    if power and "e" in mantissa.lower():
        return None
    if is_in_parentheses and not has_sign:
        raise Refused  # in accounts, (0.70) is -0.70
    value, _, decimals = number
    exponent = int(power or 0)
    if abs(exponent) > 250 or abs(decimals) > 250:
        raise Beyond
    unit = Fraction(10) ** (exponent - decimals)
    value = sign * value * Fraction(10) ** exponent
    return Reading(mpmath.mpf(value.numerator) / value.denominator, unit / 2)


def hundredth(text: str) -> Reading:
    """A hundredth of digits that say how precise they are: 0.22 of the 22 of 22 %."""
    number = signed_decimal(text) if text else None
    if number is None:
        raise Refused
    return Reading(number.value / 100, number.half / 100)


def parts_of_scientific(text: str) -> tuple[str, str]:
    """(1.5, -3) of 1.5·10^(-3); no exponent where it is none."""
    for sign in TIMES:
        before, found, after = text.partition(sign)
        after = after.strip(BLANKS)
        if not found or not after.startswith("10"):
            continue
        after = after[2:].lstrip(BLANKS)
        for power in ("^", "**"):
            if after.startswith(power):
                exponent = after.removeprefix(power).strip(BLANKS)
                if exponent.startswith("(") and exponent.endswith(")"):
                    exponent = exponent[1:-1].strip(BLANKS)
                whole = exponent.replace("−", "-").replace("–", "-")
                if (
                    is_whole(whole.removeprefix("-").removeprefix("+"))
                    and whole.count("-") + whole.count("+") < 2
                ):
                    return before.strip(BLANKS), whole
    return text, ""


def is_whole(text: str) -> bool:
    return bool(text) and all(letter in DIGITS for letter in text)


def is_range_or_raised_point(text: str) -> bool:
    """3–5, from 3 to 5 or 3 minus 5; 0·5, a half as printers in Britain have it, or a product."""
    for sign, is_part in (("·", is_whole), ("–", is_plain)):
        left, found, right = text.partition(sign)
        unsigned = left[1:] if left[:1] in ("+", "-", "−") else left
        if found and is_part(unsigned) and is_part(right):
            return True
    return False


def is_row(text: str) -> bool:
    """12 -3, which are two numbers, or a difference."""
    words = text.translate(
        str.maketrans(dict.fromkeys(BLANKS, " ") | dict.fromkeys(MINUS, "-"))
    ).split(" ")
    words = [word for word in words if word]
    return len(words) > 1 and all(is_plain(word[1:] if word[0] in "+-" else word) for word in words)


def is_date(text: str) -> bool:
    """2024-1-31, and a text that begins so; none is meant as a difference."""
    parts = text.translate(str.maketrans(dict.fromkeys(MINUS, "-"))).split("-")
    if len(parts) < 3 or "√" in text:
        return False
    year, month, rest = parts[:3]
    is_year = len(year) == 4 and is_whole(year)
    is_month = len(month) in (1, 2) and is_whole(month)
    return is_year and is_month and is_whole(rest[:1])


def is_plain(text: str) -> bool:
    number = plain(text, 0)
    return number is not None and number[1] == len(text)


def plain(text: str, at: int) -> tuple[Fraction, int, int] | None:
    """(value, end, decimals) of digits, a point and an exponent from a place on; None where they
    begin no number.
    """
    start, end = at, at
    while end < len(text) and text[end] in DIGITS:
        end += 1
    whole = text[start:end]
    if len(whole) > 1 and whole[0] == "0":
        raise Refused
    decimals = ""
    if end < len(text) and text[end] == ".":
        point = end
        end += 1
        while end < len(text) and text[end] in DIGITS:
            end += 1
        decimals = text[point + 1 : end]
    if not whole and not decimals:
        return None
    exponent = ""
    if end < len(text) and text[end] in "eE":
        after = end + 1
        if after < len(text) and text[after] in "+-−–":
            after += 1
        first = after
        while after < len(text) and text[after] in DIGITS:
            after += 1
        if after > first:
            exponent = text[end + 1 : after].replace("−", "-").replace("–", "-")
            end = after
    if exponent and abs(int(exponent)) > 250:
        raise Beyond
    power = int(exponent or 0)
    value = Fraction(int(whole + decimals or "0")) * Fraction(10) ** (power - len(decimals))
    return value, end, len(decimals) - power


def recurring(text: str, at: int) -> tuple[Fraction, int] | None:
    """(value, end) of 0.(3), 0.16̅ or 0.1̇6̇; None where no recurring decimal begins."""
    end = at
    while end < len(text) and text[end] in DIGITS:
        end += 1
    whole = text[at:end]
    if not whole or end == len(text) or text[end] != ".":
        return None
    end += 1
    if text[end : end + 1] == "(":
        close = text.find(")", end)
        period = text[end + 1 : close] if close > 0 else ""
        return (value_of(whole, "", period), close + 1) if is_whole(period) else None
    digits, marks = "", ""
    while end < len(text) and text[end] in DIGITS:
        digits += text[end]
        end += 1
        mark = text[end : end + 1]
        is_mark = bool(mark) and mark in OVERLINES + DOT_ABOVE
        marks += mark if is_mark else " "
        end += is_mark
    if not marks.strip():
        return None
    first = len(marks) - len(marks.lstrip())
    under = marks[first:]
    is_barred = all(mark in OVERLINES for mark in under)
    is_dotted = under[0] == under[-1] == DOT_ABOVE and not under[1:-1].strip()
    if not (is_barred or is_dotted):
        raise Refused
    return value_of(whole, digits[:first], digits[first:]), end


def mixed(text: str, at: int) -> tuple[Fraction, int] | None:
    """(value, end) of ½, 1½ or 1¹⁄₂; None where none begins."""
    end = at
    while end < len(text) and text[end] in DIGITS:
        end += 1
    whole = text[at:end]
    if whole.startswith("0") and whole != "0":
        return None
    if text[end : end + 1] in FRACTION_SIGNS:
        return int(whole or 0) + FRACTION_SIGNS[text[end]], end + 1
    above, slash, below = text[end:].partition("⁄")
    below = below[: len(below) - len(below.lstrip(SUBSCRIPTS))]
    above = above.translate(LOWERED) if set(above) <= set(RAISED) else ""
    if not slash or not is_whole(above) or not below or below[0] == "₀":
        return None
    part = Fraction(int(above), int(below.translate(RISEN)))
    return int(whole or 0) + part, end + len(above) + 1 + len(below)


def value_of(whole: str, before: str, period: str) -> Fraction:
    if len(whole) > 1 and whole[0] == "0":
        raise Refused
    shift = 10 ** len(before)
    return Fraction(int(whole + before), shift) + Fraction(
        int(period), shift * (10 ** len(period) - 1)
    )


def in_size(value: mpmath.mpf) -> mpmath.mpf:
    if abs(value) > LARGEST or (value and abs(value) < SMALLEST):
        raise Beyond
    return value


class Letters:
    """Reads a calculation from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in BLANKS:
            self.at += 1

    def at_end(self) -> bool:
        self.skip()
        return self.at == len(self.text)

    def sees(self, letters: str) -> bool:
        self.skip()
        return self.at < len(self.text) and self.text[self.at] in letters

    def takes(self, word: str) -> bool:
        self.skip()
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def sum(self, depth: int) -> mpmath.mpf:
        value = self.product(depth)
        while self.sees("+" + MINUS):
            minus = self.text[self.at] in MINUS
            self.require_no_power_of_ten()
            self.at += 1
            other = self.product(depth)
            value = value - other if minus else value + other
        return value

    def require_no_power_of_ten(self) -> None:
        """Refuses 5e - 3, which may be a power of ten."""
        before = self.text[: self.at].rstrip(BLANKS)
        after = self.text[self.at + 1 :].lstrip(BLANKS)
        e = len(before) - 1
        around = (e - 1, e + 1, self.at - 1, self.at + 1)
        if all(at < len(self.text) and self.text[at] in BLANKS for at in around):
            return  # 5 e - 3
        times = before.removesuffix("e").rstrip(BLANKS)
        if (
            before.endswith("e")
            and times.endswith((*DIGITS, "."))
            and after.startswith((*DIGITS, "."))
        ):
            raise Refused

    def product(self, depth: int) -> mpmath.mpf:
        value, last = self.signed(depth)
        divides = False
        while True:
            if self.sees(TIMES) and not self.text.startswith("**", self.at):
                if divides and last in ("whole", "number") and self.sees_power_of_ten():
                    raise Refused  # 2/1.5·10^3
                self.at += 1
                other, last = self.signed(depth)
                value, divides = value * other, False
            elif self.sees("/"):
                self.at += 1
                other, last = self.signed(depth)
                if not other:
                    raise Refused
                value, divides = value / other, True
            elif kind := self.factor_without_sign(last):
                if divides or last == "power" or (last == "root" and kind != "root"):
                    raise Refused
                other, last = self.signed(depth)
                value, divides = value * other, False
            else:
                return value

    def sees_power_of_ten(self) -> bool:
        after = self.text[self.at + 1 :].lstrip(BLANKS)
        return after.startswith("10") and after[2:].lstrip(BLANKS).startswith(("^", "**"))

    def factor_without_sign(self, last: str) -> str:
        """What multiplies what ends there, without a sign: a root, a name or parentheses; empty for
        nothing.
        """
        self.skip()
        if self.at == len(self.text):
            return ""
        if self.text[self.at] == "√":
            return "root"
        if self.starts_name():
            if self.starts_name() == "e" and self.is_cut_off():
                raise Refused  # 0.5e
            return "name"
        if self.text[self.at] != "(":
            return ""
        if self.text[self.at - 1] in BLANKS or last not in ("whole", "fraction", "parentheses"):
            raise Refused  # 0.577 (1/√3), 0.5(1 + e)
        inside = self.text[self.at + 1 : self.closing()].strip(BLANKS)
        unsigned = (
            inside.removeprefix("+")
            .removeprefix("-")
            .removeprefix("−")
            .removeprefix("–")
            .lstrip(BLANKS)
        )
        recurs = recurring(unsigned, 0)
        part = mixed(unsigned, 0)
        ends = [found[1] for found in (recurs, part) if found]
        if is_plain(unsigned) or len(unsigned) in ends:
            raise Refused  # 2(3), 3(0.(3)), 2(½)
        return "parentheses"

    def is_cut_off(self) -> bool:
        """Whether an exponent is missing behind this e, as in 0.5e."""
        after = self.text[self.at + 1 :].lstrip(BLANKS)
        if self.text[self.at - 1] not in DIGITS + "." or after.startswith(("^", "**")):
            return False
        before = self.text[: self.at]
        number = before[len(before.rstrip(DIGITS + ".")) :]
        return "." in number

    def closing(self) -> int:
        depth = 0
        for at in range(self.at, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[at], 0)
            if not depth:
                return at
        raise Refused

    def starts_name(self) -> str:
        for name in FUNCTIONS:
            if self.text.startswith(name, self.at):
                return name
        after = self.text[self.at + 1 : self.at + 2]
        is_e = self.text.startswith("e", self.at) and not (after.isascii() and after.isalnum())
        return "e" if is_e else ""

    def signed(self, depth: int) -> tuple[mpmath.mpf, str]:
        """A factor, and what it ends with: a whole number, a fraction in one sign, another number,
        e, parentheses, a root or a power.
        """
        if depth > DEEPEST:
            raise Refused
        if self.sees("+" + MINUS):
            minus = self.text[self.at] in MINUS
            self.at += 1
            value, last = self.signed(depth + 1)
            return (-value if minus else value), last
        base, last = self.atom(depth)
        if not self.takes_power_sign():
            return base, last
        exponent, last = self.exponent(depth + 1)
        return power(base, exponent, is_exact=last[0] == "whole"), last[1]

    def takes_power_sign(self) -> bool:
        return self.takes("^") or self.takes("**")

    def exponent(self, depth: int) -> tuple[mpmath.mpf, tuple[str, str]]:
        """An exponent, what it ends with, and what the power ends with."""
        in_parentheses = self.sees("(")
        start = self.at
        value, last = self.signed_atom(depth)
        written = self.text[start : self.at].replace(" ", "").lstrip("+" + MINUS)
        if self.takes_power_sign():
            raise Refused  # 2^3^2
        if written == "1" and self.sees("/"):
            raise Refused  # 2^1/2
        return value, (last, last if in_parentheses else "power")

    def signed_atom(self, depth: int) -> tuple[mpmath.mpf, str]:
        if depth > DEEPEST:
            raise Refused
        if self.sees("+" + MINUS):
            minus = self.text[self.at] in MINUS
            self.at += 1
            value, last = self.signed_atom(depth + 1)
            return (-value if minus else value), last
        return self.atom(depth)

    def atom(self, depth: int) -> tuple[mpmath.mpf, str]:
        if depth > DEEPEST:
            raise Refused
        self.skip()
        if self.at == len(self.text):
            raise Refused
        if self.takes("√"):
            if self.sees("("):
                return root(self.parentheses(depth)), "parentheses"
            value, _ = self.atom(depth + 1)
            return root(value), "root"
        if self.sees("("):
            return self.parentheses(depth), "parentheses"
        if name := self.starts_name():
            self.at += len(name)
            if name == "e":
                return mpmath.e, "e"
            if not self.sees("("):
                raise Refused
            return call(name, self.parentheses(depth)), "parentheses"
        return self.number()

    def number(self) -> tuple[mpmath.mpf, str]:
        if found := recurring(self.text, self.at):
            value, self.at = found
            return mpmath.mpf(value.numerator) / value.denominator, "number"
        if found := mixed(self.text, self.at):
            value, self.at = found
            return mpmath.mpf(value.numerator) / value.denominator, "fraction"
        number = plain(self.text, self.at)
        if number is None:
            raise Refused
        spelled = self.text[self.at : number[1]]
        value, self.at = number[0], number[1]
        if self.at < len(self.text) and self.text[self.at] in (*DIGITS, "."):
            raise Refused
        return mpmath.mpf(value.numerator) / value.denominator, (
            "whole" if is_whole(spelled) else "number"
        )

    def parentheses(self, depth: int) -> mpmath.mpf:
        assert self.takes("(")
        value = self.sum(depth + 1)
        if not self.takes(")"):
            raise Refused
        return value


def root(value: mpmath.mpf) -> mpmath.mpf:
    if value and abs(value) < mpmath.mpf("1e-40"):
        raise Beyond
    if value < 0:
        raise Refused
    return mpmath.sqrt(value)


def call(name: str, value: mpmath.mpf) -> mpmath.mpf:
    if abs(value) > 300 or (name == "ln" and value and abs(value) < mpmath.mpf("1e-40")):
        raise Beyond
    if (name == "sqrt" and value < 0) or (name == "ln" and value <= 0):
        raise Refused
    return FUNCTIONS[name](value)


def power(base: mpmath.mpf, exponent: mpmath.mpf, *, is_exact: bool) -> mpmath.mpf:
    if base and abs(base) < mpmath.mpf("1e-40"):
        raise Beyond
    if abs(exponent) > 200 or (base and abs(mpmath.log(abs(base))) * abs(exponent) > 600):
        raise Beyond
    if not base and exponent <= 0:
        raise Refused
    if base < 0 and not is_exact:
        if abs(exponent - mpmath.nint(exponent)) < mpmath.mpf("1e-30"):
            raise Beyond
        raise Refused
    return mpmath.power(base, exponent)
