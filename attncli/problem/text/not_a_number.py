"""Why a text is no number, and what to write for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import NamedTuple, TypeAlias

from attncli.english import shorten
from attncli.problem.text.compact_fractions import (
    FRACTION_SIGN,
    compact_fraction,
    doubt_about_copied,
    with_slashes,
)
from attncli.problem.text.number_forms import (
    LOOK_LIKE,
    Complaint,
    as_problems_spell,
    fraction_or_root,
    is_plain,
    whole_power,
)
from attncli.problem.text.number_signs import DASHES, in_keyboard_signs
from attncli.problem.text.recurring_decimals import (
    MARKS_ABOVE,
    RECURRING,
    recurring,
    with_period,
)

_THOUSANDS = (
    # People write these between groups of three digits, besides points and commas.
    "[\\s\u00a0\u2007\u2009\u202f'’]"
)
# 1,500 may be 1.5, and fifteen hundred; 2,5 can only be a decimal.
GROUPED = r"[-+]?[1-9]\d{0,2},\d{3}"
WITH_COMMA = r"[-+]?\d*,\d+(e[-+]?\d+)?"
WITHOUT_END = r"([-+]?[\d.,]*\d[.,]?)\s*(?:\.{3}|…)"
_MARK_ABOVE = re.compile(f"[{MARKS_ABOVE}]")
_SHORT_POWER = r"([0-9]{1,2}|\([0-9]{1,2}\))"
_DIGITS = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
_UNOPENED_HELP = "write a ( for each ), or leave it out"
_Help: TypeAlias = Callable[[re.Match[str]], str]


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
    return f"{shown} {Complaint.NO_NUMBER}", LOOK_LIKE


def _reason(text: str) -> tuple[str, str] | None:
    """(message, help) of the first pattern that the text has; the message has {} for the text."""
    for pattern, message, help in _REASONS:
        if found := re.fullmatch(pattern, text.strip(), re.ASCII | re.IGNORECASE):
            return message, help(found)
    return None


def _help_with_closed(text: str) -> str:
    """Help with 0.(3, closed as 0.(3): the fraction that it is."""
    if fraction_or_root(text):
        return f"write {shorten(text)}"
    _, help = why_not_a_number(text)
    return "write a ) for each (" if help == LOOK_LIKE else help


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
        return LOOK_LIKE
    try:
        return f"write {sign}{int(digits, base)}"
    except ValueError:
        return LOOK_LIKE


def _with_minus(found: re.Match[str]) -> str:
    """Help with a dash: the same number with the minus sign of the keyboard."""
    number = re.sub(rf"[{DASHES}]\s*", "-", found[0])
    if is_plain(number):
        return f"write {number}"
    spelled = as_problems_spell(number)
    if spelled:
        return f"write {spelled}"
    return "write the minus sign of the keyboard, as in -1"


def _with_point(decimal: str) -> str:
    return decimal.replace(",", ".").removesuffix(".")


def _in_lowest_terms(found: re.Match[str]) -> str:
    """Help with 0.(3): the fraction that it is."""
    fraction = recurring(found[0].replace(",", "."))
    return LOOK_LIKE if fraction is None else f"write {fraction}"


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
        return LOOK_LIKE
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
        return LOOK_LIKE
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
    above = whole_power(f"{base}^{int(first) ** int(second)}")
    below = whole_power(f"{base}^{int(first) * int(second)}")
    if above is None or below is None:
        return LOOK_LIKE
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
            return LOOK_LIKE
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
    (r"\d{4}-\d\d?-\d\d?.*", "{} is a date, not a number", _fixed(LOOK_LIKE)),
    (
        r"[-+]?[\d_]*\d_[\d_.]*",
        "{} is not a number: it has a separator between its digits",
        _write(lambda found: found[0].replace("_", "")),
    ),
    (
        r"[-+]?\d+(:\d+)+(\.\d*)?",
        "{} is not a number",
        _fixed("attncli does not read hours and minutes; " + LOOK_LIKE),
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
