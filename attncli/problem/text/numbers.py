"""Numbers as people write them: read exactly, never guessed, and printed again in one canonical
form.

Besides decimals these are fractions and roots: 1/3, -2/5, sqrt(2), -sqrt(2)/2, 2*sqrt(3),
1/sqrt(2). What people write otherwise and can mean in one way only becomes one of these: ½, 1/√2,
2^3, 1.5×10³.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import isinf, isqrt, prod
from typing import NamedTuple, TypeAlias

from attncli.english import shorten
from attncli.equation.rounding import DIGITS
from attncli.problem.text.compact_fractions import (
    FRACTION_SIGN,
    compact_fraction,
    doubt_about_copied,
    with_slashes,
)
from attncli.problem.text.number_signs import DASHES, TIMES, in_keyboard_signs, with_exponent
from attncli.problem.text.recurring_decimals import (
    MARKS_ABOVE,
    RECURRING,
    recurring,
    with_period,
)

# It stands where a number is still to be written.
BLANK = "_"
MINUS_INFINITY = ("-inf", "-.inf", "-.Inf", "-.INF", "-Infinity")
LONGEST_NUMBER = 400
PLAIN = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_THOUSANDS = (
    # People write these between groups of three digits, besides points and commas.
    "[\\s\u00a0\u2007\u2009\u202f'’]"
)
# The numbers of so many texts are remembered: a page asks for the same ones again and again.
_NUMBERS_KEPT = 2**14
_UNSIGNED = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
_AMOUNT = rf"[-+]?{_UNSIGNED}"
_ROOT = rf"sqrt\(\s*(?P<radicand>{_AMOUNT})(?:\s*/\s*(?P<under>{_AMOUNT}))?\s*\)"
_UNNAMED_ROOT = rf"sqrt\({_AMOUNT}(?:/{_AMOUNT})?\)"
FORMS = (
    rf"(?P<times>{_AMOUNT})\s*/\s*(?P<by>{_AMOUNT})",
    rf"(?P<sign>[-+]?)(?:(?P<times>{_UNSIGNED})\s*\*\s*)?{_ROOT}(?:\s*/\s*(?P<by>{_AMOUNT}))?",
    rf"(?P<times>{_AMOUNT})\s*/\s*(?P<over>{_ROOT})",
)
EXAMPLES = "3, -0.5, 1e3, 1/3 or sqrt(2)"
# What to do about these complaints, wherever the number stands.
TOO_LARGE_HELP = "the largest number is about 1.8e308"
BY_ZERO_HELP = "write a number other than 0 after the /"
_LOOK_LIKE = f"write a number such as {EXAMPLES}"
# 1,500 may be 1.5, and fifteen hundred; 2,5 can only be a decimal.
GROUPED = r"[-+]?[1-9]\d{0,2},\d{3}"
WITH_COMMA = r"[-+]?\d*,\d+(e[-+]?\d+)?"
WITHOUT_END = r"([-+]?[\d.,]*\d[.,]?)\s*(?:\.{3}|…)"
# A decimal is written without a power of ten if its first digit has one of these.
LEAST_PLAIN_POWER, MOST_PLAIN_POWER = -6, 15
_WHOLE_POWER = re.compile(
    rf"(?P<sign>[-+]?)(?P<base>{_AMOUNT})(?:\^|\*\*)(?P<open>\()?(?P<exponent>[-+]?[0-9]{{1,2}})(?(open)\))"
)
# These dashes before digits are a minus; a word processor writes the others for a hyphen, too.
_MINUS_SIGNS = str.maketrans("−–", "--")
_MINUS_INFINITIES = ("-∞", "-inf", "-Inf")
_ROOT_SIGN = re.compile(r"√\s*(?:(?=\()|([0-9]+(?:\.[0-9]+)?))")
# 2 √3 may be two numbers.
_TIMES_ROOT = re.compile(rf"(?<=[0-9])(?:\s*[{TIMES}]\s*)?(?=sqrt\()")
# Fractions in LaTeX become (-1)/2 and 1/(2).
_AMOUNT_IN_PARENTHESES = re.compile(
    rf"(?<![0-9a-z.)^*])\(({_AMOUNT}|[-+]?(?:{_AMOUNT}\*)?{_UNNAMED_ROOT})\)(?![(0-9.^]|\*\*)"
)
_PRODUCT_BELOW = re.compile(
    rf"(?P<above>{_AMOUNT})/\((?P<times>{_AMOUNT})\*sqrt\((?P<radicand>{_AMOUNT})\)\)"
)
# Other blanks may stand between two numbers.
_BLANKS_BESIDE_SIGN = re.compile(rf"\s*([-+{TIMES}/^()])\s*")
_MARK_ABOVE = re.compile(f"[{MARKS_ABOVE}]")
_IN_PARENTHESES = re.compile(r"([-+]?)\((.*)\)")
# What is longer is no help.
_LONGEST_FRACTION = 40
_SHORT_POWER = r"([0-9]{1,2}|\([0-9]{1,2}\))"
_DIGITS = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
# Word processors write these for quotation marks.
QUOTED = re.compile(r"[“„”‘‚’]([^“„”‘‚’]+)[“”‘’]")
_MATH = re.compile(r"\$([^$\\]+)\$")
# A superscript loses its place where it is copied: 1×10-3.
_POWER_OF_TEN_ON_THE_LINE = re.compile(rf"({_AMOUNT})\s*[{TIMES}]\s*10\s*([-+][0-9]{{1,3}})")
_PRODUCT = re.compile(rf"({_AMOUNT})\s*[*×xX]\s*({_UNSIGNED})")
_CONSTANTS = {"e": 2.718281828459045, "π": 3.141592653589793, "pi": 3.141592653589793}
_UNOPENED_HELP = "write a ( for each ), or leave it out"
_Help: TypeAlias = Callable[[re.Match[str]], str]


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


def is_plain(text: str) -> bool:
    """Whether the text is a number of YAML 1.2 or JSON, as opposed to a fraction or a root.

    >>> is_plain("1e3"), is_plain("1/3")
    (True, False)
    """
    return PLAIN.fullmatch(text) is not None


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
    if _fraction_or_root(text):
        return text
    meant = _unwrapped(text.strip()).translate(_MINUS_SIGNS)
    if meant in _MINUS_INFINITIES:
        return "-inf"
    if is_plain(meant):
        return meant
    is_explained = why_not_a_number(meant)[1] != _LOOK_LIKE
    spelled = "" if is_explained else _as_problems_spell(meant)
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
    found = _fraction_or_root(text)
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


def _fraction_or_root(text: str) -> re.Match[str] | None:
    return next((found for form in FORMS if (found := re.fullmatch(form, text.strip()))), None)


def _as_problems_spell(text: str) -> str:
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
        fraction = _whole_power(number)
    if fraction is not None:
        number = str(fraction)
    return number if is_plain(number) or _fraction_or_root(number) else ""


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


def _whole_power(text: str) -> Fraction | None:
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


def why_not_a_number(text: str) -> tuple[str, str]:
    """(message, help) for a text outside the grammar of numbers.

    >>> why_not_a_number("0,5")
    ('0,5 has a decimal comma', 'write 0.5')
    """
    shown = shorten(text)
    if reason := _reason(text):
        message, help = reason
        return message.format(shown), help
    if copied := doubt_about_copied(text):
        return f"{shown} can be read in several ways", copied
    # 1 1⁄2 is read in two ways for the same reason as 1 1/2.
    in_ascii = text if text.isascii() else with_slashes(in_keyboard_signs(text))
    if in_ascii != text and (reason := _reason(in_ascii)):
        message, help = reason
        return message.format(shown), help
    unclosed = text.count("(") - text.count(")")
    if unclosed > 0:
        closed = f"{text.strip()}{')' * unclosed}"
        return f"{shown} has a parenthesis that nothing closes", _help_with_closed(closed)
    if unclosed < 0:
        return f"{shown} has a parenthesis that nothing opens", _UNOPENED_HELP
    return f"{shown} {Complaint.NO_NUMBER}", _LOOK_LIKE


def _reason(text: str) -> tuple[str, str] | None:
    """(message, help) of the first pattern that the text has; the message has {} for the text."""
    for pattern, message, help in _REASONS:
        if found := re.fullmatch(pattern, text.strip(), re.ASCII | re.IGNORECASE):
            return message, help(found)
    return None


def _help_with_closed(text: str) -> str:
    """Help with 0.(3, closed as 0.(3): the fraction that it is."""
    if _fraction_or_root(text):
        return f"write {shorten(text)}"
    _, help = why_not_a_number(text)
    return "write a ) for each (" if help == _LOOK_LIKE else help


class DecimalComma(NamedTuple):
    """A number with a comma in it, which was split there: where it begins, and what to say about
    it.
    """

    at: int
    message: str
    help: str


def decimal_comma(text: str, at: int, number: str) -> DecimalComma | None:
    """The 0,07 that the 07 at this place of a text is the end of; None where no digits and a comma
    stand before it.
    """
    before = re.search(r"[-+]?[0-9]{1,9},\Z", text[max(at - 12, 0) : at])
    if not before or not re.fullmatch(r"[0-9]{1,40}|[0-9]{0,40}\([0-9]{1,40}\)", number):
        return None
    message, help = why_not_a_number(f"{before[0]}{number}")
    whole = re.sub("^0+(?=.)", "", number)
    return DecimalComma(
        at - len(before[0]), message, f"{help}; two numbers are written {before[0]} {whole}"
    )


def _fixed(help: str) -> _Help:
    return lambda found: help


def _write(meant: Callable[[re.Match[str]], str]) -> _Help:
    """Help that says what to write: the text that was `meant`."""
    return lambda found: f"write {shorten(meant(found))}"


def _decimal(found: re.Match[str]) -> str:
    """Help with 0x10: the same number in decimal."""
    sign, prefix, digits = found.groups()
    base = {"x": 16, "o": 8, "b": 2}[prefix.lower()]
    if len(digits) > 15:
        return _LOOK_LIKE
    try:
        return f"write {sign}{int(digits, base)}"
    except ValueError:
        return _LOOK_LIKE


def _with_minus(found: re.Match[str]) -> str:
    """Help with a dash: the same number with the minus sign of the keyboard."""
    number = re.sub(rf"[{DASHES}]\s*", "-", found[0])
    if is_plain(number):
        return f"write {number}"
    spelled = _as_problems_spell(number)
    if spelled:
        return f"write {spelled}"
    return "write the minus sign of the keyboard, as in -1"


def _with_point(decimal: str) -> str:
    return decimal.replace(",", ".").removesuffix(".")


def _in_lowest_terms(found: re.Match[str]) -> str:
    """Help with 0.(3): the fraction that it is."""
    fraction = recurring(found[0].replace(",", "."))
    return _LOOK_LIKE if fraction is None else f"write {fraction}"


def _with_one_meaning(found: re.Match[str]) -> str:
    """Help with 0.1(6): 1/6, whose last digits recur, or 0.1, whose last digit is uncertain, or the
    product.
    """
    number, in_parentheses = _with_point(found[1]), found[2]
    product = (Decimal(number) * int(in_parentheses)).normalize()
    said = f"{number} if it is uncertain, {product:f} for the product"
    if "." not in number:
        return f"write {said}"
    sign, unsigned = ("-", number[1:]) if number[0] == "-" else ("", number.lstrip("+"))
    return (
        f"write {sign}{with_period(unsigned, in_parentheses)} if the {in_parentheses} recurs,"
        f" {said}"
    )


def _with_period_at_end(found: re.Match[str]) -> str:
    """Help with 2.3̅4, whose line ends too early, and with 3̅, which has no point before it."""
    sign, written = found[1], _with_point(found[2])
    number = _MARK_ABOVE.sub("", written)
    whole, _, decimals = written.partition(".")
    mark = _MARK_ABOVE.search(decimals)
    if not is_plain(number):
        return _LOOK_LIKE
    if mark is None or _MARK_ABOVE.search(whole):
        return f"write {sign}{number}, or a fraction such as 1/3 for digits that recur"
    first = mark.start() - 1
    period = _MARK_ABOVE.sub("", decimals[first:])
    value = with_period(f"{whole or 0}.{decimals[:first]}", period)
    return f"write {sign}{value} if {period} recurs, or {sign}{number}"


def _as_product(found: re.Match[str]) -> str:
    """Help with (1)(2), a product, and with 0.1(6)(7), of which digits may recur."""
    number, in_parentheses = found[1], re.findall(r"[\d./]+", found[2])
    try:
        factors = [*map(Fraction, in_parentheses)]
    except (ValueError, ZeroDivisionError):
        return _LOOK_LIKE
    if number.endswith("."):
        # In 0.(1)(6), the 1 recurs before it is multiplied.
        factors[0] = with_period(number, in_parentheses[0])
    elif number:
        factors.append(Fraction(number))
    help = f"write {prod(factors)} for the product, or one of the numbers"
    digits = "".join(in_parentheses)
    if "." not in number or not digits.isdigit():
        return help
    return f"{help}, or {with_period(number, digits)} if {digits} recurs"


def _as_power_of_power(found: re.Match[str]) -> str:
    """Help with 2^3^2: both numbers that it can be."""
    sign, base, *powers = found.groups()
    first, second = (power.strip("()") for power in powers)
    above = _whole_power(f"{base}^{int(first) ** int(second)}")
    below = _whole_power(f"{base}^{int(first) * int(second)}")
    if above is None or below is None:
        return _LOOK_LIKE
    if above == below:
        return f"write {sign}{above}, which both readings give"
    return (
        f"write {sign}{above} for {sign}{base}^({first}^{second}), or {sign}{below} for"
        f" {sign}({base}^{first})^{second}"
    )


def _as_sum_or_product(found: re.Match[str]) -> str:
    """Help with 1 1/2 and 1 ½: one and a half, or a half."""
    sign, whole, written = found[1], int(found[2]), found[3]
    part = compact_fraction(written)
    if part is None:
        above, below = map(int, written.split("/"))
        if not below:
            return _LOOK_LIKE
        part = Fraction(above, below)
    return (
        f"write {sign}{whole + part} for the mixed number, or {sign}{whole * part} for the product"
    )


def _with_digits_together(found: re.Match[str]) -> str:
    """Help with 1 000, which may be two numbers, unlike 1'000 and 1 000,5."""
    number = re.sub(_THOUSANDS, "", found[0]).replace(",", ".")
    help = f"write {shorten(number)}"
    words = found[0].split()
    if len(words) > 1 and all(map(is_plain, words)):
        help += f", or with a comma between numbers {', '.join(words)}"
    return help


_REASONS: tuple[tuple[str, str, _Help], ...] = (
    (r"|~|null", "there is no number here", _fixed("write a number, such as 0")),
    (r"true|false|yes|no|on|off", "{} is a truth value, not a number", _fixed("write 1 or 0")),
    (r"[-+]?\.?nan", "{} is not a number", _fixed("a matrix can hold only finite numbers")),
    (
        r"[-+−]?(\.?inf(inity)?|∞)",
        "{} is not allowed here",
        _fixed("only a mask can hold an infinity: -inf, which hides a key"),
    ),
    (r"\d{4}-\d\d?-\d\d?.*", "{} is a date, not a number", _fixed(_LOOK_LIKE)),
    (
        r"[-+]?[\d_]*\d_[\d_.]*",
        "{} is not a number: it has a separator between its digits",
        _write(lambda found: found[0].replace("_", "")),
    ),
    (
        r"[-+]?\d+(:\d+)+(\.\d*)?",
        "{} is not a number",
        _fixed("attncli does not read hours and minutes; " + _LOOK_LIKE),
    ),
    (r"([-+]?)0([xob])([0-9a-f]+)", "{} is not a decimal number", _decimal),
    (
        r"([-+]?)0+(\d.*)",
        "{} has a leading zero",
        _write(lambda found: found[1] + found[2]),
    ),
    (
        r"[-+]?\d{1,3}((,\d{3})+\.\d*|(,\d{3}){2,})",
        "{} is not a number: it has a separator between its digits",
        _write(lambda found: found[0].replace(",", "")),
    ),
    (
        r"[-+]?\d{1,3}((\.\d{3})+,\d*|(\.\d{3}){2,})",
        "{} is not a number: it has a separator between its digits",
        _write(lambda found: found[0].replace(".", "").replace(",", ".")),
    ),
    (
        GROUPED,
        "{} has a comma inside the number",
        lambda found: (
            f"write {found[0].replace(',', '.')} for a decimal, or {found[0].replace(',', '')}"
        ),
    ),
    (
        WITH_COMMA,
        "{} has a decimal comma",
        _write(lambda found: found[0].replace(",", ".")),
    ),
    (
        r"[-+]?\d+,(\(\d+\)|[\d\u0304\u0305\u0307]*[\u0304\u0305\u0307])",
        "{} has a decimal comma",
        _in_lowest_terms,
    ),
    (rf"[-+]?{RECURRING}", f"{{}} {Complaint.RECURRING}", _in_lowest_terms),
    (
        r"([-+]?(?:\d{1,60}[.,]?|\d{0,60}[.,]\d{1,60}))\s*\((\d{1,60})\)",
        "{} can be read in several ways",
        _with_one_meaning,
    ),
    (
        rf"(?=.*[{MARKS_ABOVE}])([-+]?)((?:[\d.,]|(?<=\d)[{MARKS_ABOVE}]){{1,99}})",
        "{} has a line or a dot above digits that cannot recur",
        _with_period_at_end,
    ),
    (
        r"(|\d{1,60}\.?\d{0,60}|\.\d{1,60})((?:\s*\(\s*\d{1,60}(?:[./]\d{1,60})?\s*\)){2,9})",
        "{} can be read in several ways",
        _as_product,
    ),
    (
        rf"([-+]?)([0-9]{{1,9}})(?:\^|\*\*){_SHORT_POWER}(?:\^|\*\*){_SHORT_POWER}",
        "{} can be read in two ways",
        _as_power_of_power,
    ),
    (
        r"\(\s*((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*\)",
        "{} can be read in two ways",
        lambda found: (
            f"write {shorten(found[1])}, or -{shorten(found[1])}, which accounts have in"
            " parentheses"
        ),
    ),
    (
        r"(?:\.{3}|…).*",
        "{} leaves out numbers",
        _fixed("write all of them; where MATLAB breaks a row with ..., leave out the dots"),
    ),
    (
        WITHOUT_END,
        f"{{}} {Complaint.WITHOUT_END}",
        lambda found: (
            f"write {shorten(_with_point(found[1]))}, or a fraction such as 1/3 for digits that"
            " recur"
        ),
    ),
    (
        rf"([-+]?)(\d{{1,60}})\s+(\d{{1,60}}\s*/\s*\d{{1,60}}|{FRACTION_SIGN})",
        "{} can be read in two ways",
        _as_sum_or_product,
    ),
    (rf".*[{DASHES}].*", f"{{}} {Complaint.DASH}", _with_minus),
    (
        rf"[-+]?\d{{1,3}}({_THOUSANDS}\d{{3}})+([.,]\d*)?",
        "{} is not a number: it has a separator between its digits",
        _with_digits_together,
    ),
    (
        rf"{_DIGITS}(?:\s+{_DIGITS})+",
        "{} is more than one number",
        lambda found: f"put a comma between numbers: {', '.join(shorten(found[0], 60).split())}",
    ),
    (r"([-+]?\d*\.?\d+)\s*%", "{} is not a number", lambda found: f"write {shorten(found[1])}/100"),
    (
        r"(?:np|numpy)\.float\d+\((.*)\)",
        "{} is not a plain number",
        lambda found: (
            f"write {shorten(found[1])}; in Python, .tolist() makes plain numbers of an array"
        ),
    ),
    (
        r".*\(\s*\).*",
        "{} has nothing between its parentheses",
        _fixed(
            "write a number there, as in sqrt(2); digits that recur are a fraction, such as 1/3"
        ),
    ),
    (
        r"([-+]?)(?:sqrt|root)\s*[\[{]?\s*(\d+\.?\d*)\s*[\]}]?",
        "{} is not a number",
        _write(lambda found: f"{found[1]}sqrt({found[2]})"),
    ),
    (
        r"([-+]?\d+)\s*//\s*(\d+)",
        "{} is not a number",
        lambda found: f"write {found[1]}/{found[2]} for the fraction, as Julia means it",
    ),
    (r"([-+]?(?:\d+\.?\d*|\.\d+))f", "{} is not a number", _write(lambda found: found[1])),
    (
        r"([-+]?(?:\d+\.?\d*|\.\d+))d([-+]?\d{1,3})",
        "{} is not a number",
        _write(lambda found: f"{found[1]}e{found[2]}"),
    ),
    (
        r"#[A-Z0/]+[!?]?",
        "{} is an error of a spreadsheet, not a number",
        _fixed("mend its formula, or write a number"),
    ),
    (
        r"(?=.*[\d.+-]|[ol]\Z)[-+]?[\d.ol/]*[ol][\d.ol/]*",
        "{} has a letter in place of a digit",
        _write(lambda found: re.sub("[oO]", "0", re.sub("[lL]", "1", found[0]))),
    ),
)
