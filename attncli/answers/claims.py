"""One cell of an answer to a claim: the number written there, and the precision that its digits
claim.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from attncli.answers.in_percent import hundredth
from attncli.answers.model import INFINITY, MINUS_INFINITY, Claim
from attncli.english import shorten
from attncli.equation.rounding import EXACTLY, round_half_up
from attncli.problem.text.compact_fractions import (
    COMPACT_FRACTION,
    compact_fraction,
    doubt_about_copied,
    with_slashes,
)
from attncli.problem.text.decimal_commas import DECIMAL
from attncli.problem.text.not_a_number import why_not_a_number
from attncli.problem.text.number_forms import Complaint, NumberError, is_plain
from attncli.problem.text.number_signs import DASHES, TIMES, in_keyboard_signs, with_exponent
from attncli.problem.text.numbers import QUOTED, TOO_LARGE_HELP

# A number has at most so many characters, as in a problem.
LONGEST_NUMBER = 400
LARGEST_NUMBER, SMALLEST_NUMBER = Decimal("1.8e308"), Decimal("1e-1000")
# Of larger powers of ten, no Decimal has one.
_LARGEST_EXPONENT = 10**6
_SIGNS_IN_ASCII = str.maketrans({"−": "-", "–": "-", "∞": "inf", "\u00a0": " ", "\u2009": " "})
BLANK = re.compile(r"_*|\?+|\.{3}|…|[-−–—]")
_IN_PARENTHESES = re.compile(r"\(\s*(.*?)\s*\)")
_POINT_OR_TIMES = re.compile(r"([-+−]?[0-9]+)·([0-9]+)")
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_MINUS_OR_TO = re.compile(rf"([-+−]?{_NUMBER})–({_NUMBER})")
# No other digit of the number may stand before the part that is looked at.
_BEFORE = r"(?<![0-9.eE])(?<![eE][-+−–])"
_MANTISSA = rf"{_BEFORE}(?P<mantissa>(?:\A[-−])?[1-9](?P<decimals>\.[0-9]*)?)"
_EXPONENT = r"(?P<exponent>[1-9][0-9]{0,2})(?![0-9.^])(?!\*\*)"
# 1.5×10−3: blanks on both sides of its sign would make it a difference, and 2*10-3 is one that
# people calculate.
_MINUS_LOST_EXPONENT = re.compile(
    rf"{_MANTISSA}\s*(?(decimals)[{TIMES}]|[·×⋅])\s*10(?:[-−–]\s*|\s+[-−–]){_EXPONENT}"
)
# 1.5×103: a * is typed, where ^ is typed too, so that 1.5*103 is a product.
_LOST_EXPONENT = re.compile(rf"{_MANTISSA}\s*[·×⋅]\s*10{_EXPONENT}")
# As programs, Python, LaTeX and people with a keyboard write it.
_INFINITY = re.compile(
    r"(?P<sign>[-+]?)\s*(?:(?:(?:np|numpy|math|torch)?\.)?inf(?:inity|inite)?|\\?infty|oo)",
    re.IGNORECASE,
)
# Cells in LaTeX have braces where digits follow an exponent without braces: 2^{1}0 for 2^10.
_WITHOUT_BRACES = re.compile(
    r"(?P<base>[0-9.]+|e|[a-z]*\([^()]*\))?"
    rf"\^\{{(?P<raised>[-+{DASHES}0-9])\}}\s*(?P<rest>[0-9]*\.?[0-9]+)?"
)
# sqrt{2}3 is a root without braces, of which TeX puts only the 2 below the line.
_ROOT_WITHOUT_BRACES = re.compile(
    rf"sqrt\{{(?P<under>[-+{DASHES}0-9])\}}\)*(?P<rest>[0-9]*\.?[0-9]+)"
)
# One of these stands between two spellings of one number.
_EQUALS = re.compile("[=≈]")
_HAS_COMPACT_FRACTION = re.compile(COMPACT_FRACTION)
_PERCENT = "%"
# Python prints a number of an array in this way.
_NUMPY = re.compile(r"(?:np|numpy)\.float(?:16|32|64)\((.*)\)")
_GENERAL_HELP = why_not_a_number("x")[1]
_FORMS_HELP = (
    "write a number such as 0.71, or an exact one such as 7/10, 5/sqrt(3) or e^(5/sqrt(3)); _"
    " leaves it blank"
)


# Many cells say the same, such as 0.000 and -inf.
@lru_cache(4096)
def read_claim(text: str) -> Claim | None:
    """What a cell claims, or None where it was left blank: empty, a line of underscores to write
    on, a dash or a question mark.

    A decimal claims the digits that are written: 0.70 is a number that rounds to it at two
    decimals, 0.7 one that does at one, 70 one that does at none, 7.0e3 one that is rounded to
    hundreds. 22 % is 0.22, with two decimals. A calculation, such as 7/10, claims to be exact, and
    so do -inf and inf. Of the same number written twice, 1/√3 ≈ 0.577, it claims the more precise.
    Raises NumberError for anything else.
    """
    written = text.strip()
    # Nearly every cell is a plain decimal.
    if len(written) <= LONGEST_NUMBER and is_plain(written):
        return _decimal_claim(written)
    if BLANK.fullmatch(written):
        return None
    if len(written) > LONGEST_NUMBER:
        raise NumberError(
            f"{shorten(written)} {Complaint.TOO_LONG}",
            f"a number has at most {LONGEST_NUMBER} characters",
        )
    if found := _NUMPY.fullmatch(written) or QUOTED.fullmatch(written):
        return read_claim(found[1])
    sides = [side.strip() for side in _EQUALS.split(written)]
    if all(map(BLANK.fullmatch, sides)):
        raise NumberError(*_why_not(written))
    claim = None
    for side in sides:
        claim = more_precise(claim, _read(side))
    return claim


def more_precise(one: Claim | None, other: Claim | None) -> Claim | None:
    """The more precise of two claims to the same number, the first of equals; of a blank and a
    claim, the claim.

    Raises NumberError where one of them is not within the precision of the other.
    """
    if one is None or other is None:
        return other if one is None else one
    fine, coarse = (other, one) if other.half < one.half else (one, other)
    if _agree(fine, coarse):
        return fine
    help = "correct one of the two, or leave one blank"
    if fine.value.is_finite() and not coarse.exact and fine.exact:
        places = -coarse.half.adjusted() - 1
        rounded = str(round_half_up(fine.value, places))
        help = f"{shorten(fine.text)} is {shorten(rounded)}: {help}"
    both = f"{shorten(one.text)} and {shorten(other.text)}"
    raise NumberError(f"{both} are not the same number", help)


def _agree(fine: Claim, coarse: Claim) -> bool:
    """Whether two claims to a number agree within the digits of the coarser one."""
    are_finite = fine.value.is_finite() and coarse.value.is_finite()
    if not are_finite:
        return fine.value == coarse.value
    slack = coarse.half or EXACTLY * max(Decimal(1), fine.value.copy_abs())
    return abs(fine.value - coarse.value) <= slack


def _read(spelled: str) -> Claim | None:
    """What one spelling of a number claims; None for a blank."""
    if BLANK.fullmatch(spelled):
        return None
    written = in_keyboard_signs(spelled)
    _require_braces(written)
    if help := doubt_about_copied(written):
        raise NumberError(f"{shorten(written)} can be read in several ways", help)
    written = with_slashes(written)
    _require_one_reading(written)
    written = written.translate(_SIGNS_IN_ASCII)
    if infinite := _INFINITY.fullmatch(written):
        return MINUS_INFINITY if infinite["sign"] == "-" else INFINITY
    if is_plain(written):
        return _decimal_claim(written)
    # Most solutions are in plain decimals, and need no arithmetic.
    from attncli.answers.arithmetic import DEEPEST, work_out

    number = _as_plain(written, DEEPEST)
    if is_plain(number):
        return _decimal_claim(number)
    if percentage := _percentage(written, DEEPEST):
        return percentage
    fraction = compact_fraction(number)
    if fraction is not None:
        worked = work_out(str(fraction))
    elif _is_misread(written):
        worked = None
    else:
        worked = work_out(written)
    if worked is None:
        message, help = _why_not(written)
        is_general = message == _not_a_number(written)
        raise NumberError(_not_a_number(spelled) if is_general else message, help)
    # Numbers such as e^(-9999) are told from 0 nowhere else.
    negligible = worked.value.adjusted() < SMALLEST_NUMBER.adjusted()
    value = Decimal(0) if negligible else _sized(worked.value, written)
    has_fraction = _HAS_COMPACT_FRACTION.search(written) is not None
    return Claim(worked.text, value, half=Decimal(0), written=spelled if has_fraction else "")


def _as_plain(written: str, deepest: int) -> str:
    """The number without what says nothing: -0.70 for - 0.70, (-0.70) and -(0.70), and 1.5e3 for
    1.5 * 10^3.

    Raises NumberError for (0.70), which accounts have for -0.70.
    """
    signs, number = _peeled(written, deepest)
    number = with_exponent(number)
    if not is_plain(number) and compact_fraction(number) is None:
        return written
    if written.startswith("(") and not signs and is_plain(number):
        raise NumberError(*_why_not(f"({number})"))
    sign = "-" if signs.count("-") % 2 else ""
    return sign + number


def _percentage(written: str, deepest: int) -> Claim | None:
    """What 22 % claims: 0.22, as precise as it was written; None for anything else."""
    if not written.endswith(_PERCENT):
        return None
    number = _as_plain(written.removesuffix(_PERCENT).rstrip(), deepest)
    if not is_plain(number):
        return None
    claim = _decimal_claim(str(hundredth(_decimal(number))))
    return replace(claim, written=f"{number} {_PERCENT}")


def _peeled(written: str, deepest: int) -> tuple[str, str]:
    """The signs before a number, in or before parentheses, and the number."""
    signs = ""
    for _ in range(deepest):
        if written.startswith(("+", "-")):
            signs += written[0]
            written = written[1:].lstrip()
        elif inside := _IN_PARENTHESES.fullmatch(written):
            written = inside[1]
        else:
            break
    return signs, written


def _require_braces(written: str) -> None:
    """Raises NumberError for 10^-1, 2^10 and \\sqrt23 in LaTeX, which takes no more than the first
    sign behind the ^ or the root.
    """
    if root := _ROOT_WITHOUT_BRACES.search(written):
        under, rest = root["under"], root["rest"]
        help = rf"write \sqrt{{{under}{rest}}}"
        if under.isdigit():
            help += rf", or \sqrt{{{under}}}*{rest}"
        message = rf"\sqrt{under}{rest} has a root without braces"
        raise NumberError(message, help)
    found = _WITHOUT_BRACES.search(written)
    if found is None:
        return
    base, raised, rest = found["base"] or "", found["raised"], found["rest"]
    in_latex = _WITHOUT_BRACES.sub(
        lambda power: power[0].replace("{", "").replace("}", ""), written
    )
    if rest is None:
        help = "write braces around all of it, as in 10^{-1}"
    elif raised.isdigit():
        help = f"write {base}^{{{raised}{rest}}}, or {base}^{{{raised}}}*{rest}"
    else:
        sign = "+" if raised == "+" else "-"
        help = f"write {base}^{{{sign}{rest}}}"
    raise NumberError(f"{shorten(in_latex)} has an exponent without braces", help)


def _require_one_reading(written: str) -> None:
    """Raises NumberError for 0·5, 3–5 and 1.5×10−3, whose signs mean different things to different
    readers.
    """
    if found := _POINT_OR_TIMES.fullmatch(written):
        decimal, product = f"{found[1]}.{found[2]}", f"{found[1]}*{found[2]}"
        readings, help = f"as {decimal} or as a product", f"write {decimal}, or {product}"
    elif found := _MINUS_OR_TO.fullmatch(written):
        readings = f"as {found[1]} minus {found[2]}, or as a range"
        help = f"write one number, or {found[1]} - {found[2]}"
    elif found := _MINUS_LOST_EXPONENT.search(written):
        power, difference = (
            f"{found['mantissa']}e-{found['exponent']}",
            f"{found['mantissa']}*10 - {found['exponent']}",
        )
        readings, help = f"as {power} or as {difference}", f"write {power}, or {difference}"
    elif found := _LOST_EXPONENT.search(written):
        power, product = (
            f"{found['mantissa']}e{found['exponent']}",
            f"{found['mantissa']}*10{found['exponent']}",
        )
        readings, help = f"as {power} or as {product}", f"write {power}, or {product}"
    else:
        return
    raise NumberError(f"{shorten(written)} can be read {readings}", help.replace("−", "-"))


def _decimal_claim(text: str) -> Claim:
    value = _sized(_decimal(text), text)
    return Claim(text, value, Decimal((0, (5,), _exponent(value) - 1)))


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    # Only infinities and NaN have no number as their exponent.
    assert isinstance(exponent, int)
    return exponent


def _decimal(text: str) -> Decimal:
    """A plain number, all its digits; one with a power of ten that no Decimal holds is as good as
    any too large.
    """
    digits, power, exponent = text.lower().partition("e")
    if not power:
        return Decimal(digits)
    held = min(int(exponent), _LARGEST_EXPONENT)
    held = max(held, -_LARGEST_EXPONENT)
    return Decimal(f"{digits}e{held}")


def _sized(value: Decimal, text: str) -> Decimal:
    """The value, if calculations can hold it; a zero has no sign."""
    if not value:
        return Decimal(
            (
                0,
                (0,),
                min(max(_exponent(value), SMALLEST_NUMBER.adjusted()), LARGEST_NUMBER.adjusted()),
            )
        )
    if value.copy_abs() > LARGEST_NUMBER:
        raise NumberError(f"{shorten(text)} {Complaint.TOO_LARGE}", TOO_LARGE_HELP)
    if value.adjusted() < SMALLEST_NUMBER.adjusted():
        raise NumberError(f"{shorten(text)} {Complaint.TOO_SMALL}", "write 0")
    return value


def _is_misread(text: str) -> bool:
    """Whether it is a number that is spelled otherwise, such as 010 or 2024-11-05: none to
    calculate with.
    """
    return "√" not in text and why_not_a_number(text) != (_not_a_number(text), _GENERAL_HELP)


def _not_a_number(text: str) -> str:
    return f"{shorten(text)} is not a number"


def _why_not(text: str) -> tuple[str, str]:
    """(message, help) for a text that is no claim."""
    number = text.removesuffix(_PERCENT).rstrip()
    if number != text and DECIMAL.fullmatch(number):
        return (
            f"{shorten(text)} has a decimal comma",
            f"write {number.replace(',', '.')} {_PERCENT}",
        )
    message, help = why_not_a_number(text)
    return message, _FORMS_HELP if help == _GENERAL_HELP else help
