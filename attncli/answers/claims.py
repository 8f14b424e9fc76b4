"""One cell of an answer to a claim: the number written there, and the precision that its digits claim."""

from __future__ import annotations

import re
from decimal import Decimal

from attncli.answers.arithmetic import work_out
from attncli.answers.model import Claim
from attncli.english import shorten
from attncli.problem.misread import NumberError, why_not_a_number
from attncli.problem.numbers import is_plain

LONGEST = 400  # characters of one number, as in a problem
LARGEST, SMALLEST = Decimal("1.8e308"), Decimal("1e-1000")
_FAR = 10**6
_SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "⋅": "*", "∞": "inf", "\u00a0": " ", "\u2009": " "})
_BLANK = re.compile(r"_*")
_MINUS_INFINITY = re.compile(r"-\s*\.?inf(?:inity)?", re.IGNORECASE)
_SCIENTIFIC = re.compile(r"([-+]?[0-9.]+)\s*\*\s*10\s*(?:\^|\*\*)\s*(?:([-+]?[0-9]+)|\(\s*([-+]?[0-9]+)\s*\))")
_BARE_ROOT = re.compile(r"√\s*([0-9.]+)")
_PERCENT = re.compile(r"([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*%")
_GENERAL = why_not_a_number("x")[1]
_FORMS = "write a number such as 0.71, or an exact one such as 7/10, 5/sqrt(3) or e^(5/sqrt(3)); null leaves it blank"


def read_claim(text: str, at: int = 0) -> Claim | None:
    """What a cell claims, or None where it was left blank: empty, or a line of underscores to write on.

    A decimal claims the digits that are written: 0.70 is a number that rounds to it at two decimals, 0.7 one that does
    at one, 70 one that does at none, 7.0e3 one that is rounded to hundreds. A calculation, such as 7/10, claims to be
    exact, and so does -inf. Raises NumberError for anything else.
    """
    written = text.strip().translate(_SIGNS)
    if _BLANK.fullmatch(written):
        return None
    if len(written) > LONGEST:
        raise NumberError(f"{shorten(written)} is too long for a number", f"{LONGEST} characters are the most")
    if _MINUS_INFINITY.fullmatch(written):
        return Claim("-inf", Decimal("-Infinity"), Decimal(0), at)
    if found := _SCIENTIFIC.fullmatch(written):
        written = f"{found[1]}e{found[2] or found[3]}"
    if is_plain(written):
        value = _sized(_decimal(written), written)
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int)
        return Claim(written, value, Decimal((0, (5,), exponent - 1)), at)
    if _is_misread(written):
        raise NumberError(*_why_not(written))
    worked = work_out(written)
    if worked is None:
        raise NumberError(*_why_not(written))
    spelled = re.sub(r"\s+", "", _BARE_ROOT.sub(r"sqrt(\1)", written).replace("√(", "sqrt("))
    return Claim(spelled, _sized(worked, written), Decimal(0), at)


def _decimal(text: str) -> Decimal:
    """A plain number, all its digits; one with a power of ten that no Decimal holds is as good as any too large."""
    digits, power, exponent = text.lower().partition("e")
    return Decimal(f"{digits}e{max(min(int(exponent), _FAR), -_FAR)}" if power else digits)


def _sized(value: Decimal, text: str) -> Decimal:
    """The value, if calculations can hold it; a zero has no sign."""
    if not value:
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int)
        return Decimal((0, (0,), min(max(exponent, SMALLEST.adjusted()), LARGEST.adjusted())))
    if value.copy_abs() > LARGEST:
        raise NumberError(f"{shorten(text)} is too large", "numbers go up to about 1.8e308")
    if value.adjusted() < SMALLEST.adjusted():
        raise NumberError(f"{shorten(text)} is too small to be told from 0", "write 0")
    return value


def _is_misread(text: str) -> bool:
    """Whether it is a number that is spelled otherwise, such as 010 or 2024-11-05: none to calculate with."""
    return "√" not in text and why_not_a_number(text) != (_not_a_number(text), _GENERAL)


def _not_a_number(text: str) -> str:
    return f"{shorten(text)} is not a number"


def _why_not(text: str) -> tuple[str, str]:
    """(message, help) for a text that is no claim."""
    if found := _PERCENT.fullmatch(text):
        return _not_a_number(text), f"write {Decimal(found[1]).scaleb(-2):f}"
    if text.lower().lstrip("+-.") in ("inf", "infinity"):
        return f"{shorten(text)} is not allowed here", "numbers are finite; only -inf is not, where a mask hides a key"
    message, help = why_not_a_number(text)
    return message, _FORMS if help == _GENERAL else help
