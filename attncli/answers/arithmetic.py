"""Exact numbers as people write them, worked out to 50 digits: 7/10, 5/sqrt(3), 2√3,
e^(5/√3)/(e^(1/√3) + e^√3).
"""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass
from decimal import Context, Decimal

from attncli.english import shorten
from attncli.equation.functions import FUNCTIONS, WRITTEN_NAMES
from attncli.equation.rounding import DIGITS
from attncli.problem.text.compact_fractions import (
    COMPACT_FRACTION,
    FRACTION_SIGN,
    compact_fraction,
)
from attncli.problem.text.number_forms import Complaint, NumberError
from attncli.problem.text.numbers import BY_ZERO_HELP, TOO_LARGE_HELP

FUNCTION_NAMES = tuple(WRITTEN_NAMES)
_ASCII = dict.fromkeys("·×⋅", "*")
# This token stands between two factors without a sign, as in 2√3.
_IMPLIED = " "
_NUMBER = r"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_WORD = rf"\*\*|[-+*·×⋅/^()√]|{'|'.join(FUNCTION_NAMES)}|e(?![A-Za-z0-9])"
NUMBER_TOKEN = rf"(?:{COMPACT_FRACTION}|{_NUMBER})"
_TOKEN = re.compile(rf"\s*({NUMBER_TOKEN}|{_WORD})")
_ENDS_IN_FRACTION_SIGN = re.compile(rf"{FRACTION_SIGN}\Z")
_NUMBER_ALONE = re.compile(rf"\(\s*[-+]?\s*{NUMBER_TOKEN}\s*\)")
# In tokens, line by line: 2/1.5·10^3.
_POWER_OF_TEN_BELOW = re.compile(r"/\n(?:[-+]\n)*[0-9.]+\n\*\n10\n(?:\^|\*\*)\n")
# Blanks on both sides of e and of the sign leave one reading: 5 e - 3, as pages in LaTeX have it.
_E_IN_A_SUM = re.compile(r"\s+e\s+[-+]\s+\Z")
_POWER_OR_SUM = re.compile(r"\s*(?:\^|\*\*|[-+]\s*[0-9.])")
_POWER_SIGNS = ("^", "**")
_DIGITS = tuple("0123456789.")
# So many parentheses, signs and powers may stand inside one another.
DEEPEST = 40
_BY_ZERO = Complaint.BY_ZERO, BY_ZERO_HELP
_TOO_DEEP = (
    "is nested too deeply",
    f"{DEEPEST} parentheses, signs and powers inside one another are the most",
)
_BELOW_THE_LINE = (
    "can be read in two ways",
    "write * and parentheses: 1/(2*sqrt(3)), or (1/2)*sqrt(3)",
)
_IN_THE_POWER = (
    "can be read in two ways",
    "write * and parentheses: e^(5*sqrt(3)), or (e^5)*sqrt(3)",
)
_TOWER = "can be read in two ways", "write parentheses: 2^(3^2), or (2^3)^2"
_ROOT_OR_QUOTIENT = "can be read in two ways", "write parentheses: 2^(1/2), or (2^1)/2"
# Nobody writes a first power, so 2^1/2 is meant as a root, but every program reads a half of 2.
_FIRST_POWER = re.compile(r"[-+]*1")
_EXPONENT_OR_FACTOR = (
    "can be read as a product, or as a power of ten whose exponent is missing",
    "write 0.5*e for the product",
)
_UNDER_THE_ROOT = "can be read in two ways", "write * and parentheses: sqrt(3)*e, or sqrt(3*e)"
_POWER_OF_TEN = (
    "can be read in two ways",
    "write 5e-3 for a power of ten, or 5*e - 3 for a difference",
)
_POWER_OF_TEN_OR_QUOTIENT = (
    "can be read in two ways",
    "write parentheses: 2/(1.5*10^3), or (2/1.5)*10^3",
)
_PRODUCT_OR_REMARK = (
    "can be read as a product, or as a number and a remark on it",
    "write 2*(1 + e) for a product, and 1/3 = 0.333 for a number that is written twice",
)
# A calculation may lose so many digits on its way.
_SPARE_DIGITS = 10
# Of larger angles, too few digits are known.
_LARGEST_ANGLE = 10**9


@dataclass(frozen=True, slots=True)
class Calculation:
    """What a calculation comes to, to 50 digits, and its spelling in ASCII with every sign.

    Of 2√3 these are 3.4641… and 2*sqrt(3).
    """

    value: Decimal
    text: str


def work_out(text: str) -> Calculation | None:
    """A calculation with + - * / ^ ( ) √ e and the functions that people write, such as ln, worked
    out; None for what is none.

    A factor may follow another without a sign, as in 2√3 and 2 tanh(2). Raises NumberError where
    that can be read in two ways, is nested too deeply, divides by zero, takes a root of a negative
    number, or grows beyond all bounds.
    """
    with decimal.localcontext(_context()):
        try:
            tokens = _tokens(text)
            calculator = _Calculator(tokens)
            value = calculator.sum(0)
            if calculator.rest:
                return None
            if _POWER_OF_TEN_BELOW.search("\n".join(tokens)):
                raise _Refused(*_POWER_OF_TEN_OR_QUOTIENT)
            return Calculation(Context(prec=DIGITS).plus(value), "".join(calculator.read))
        except _Unreadable:
            return None
        except _Refused as refused:
            message, help = refused.args
        except decimal.DivisionByZero:
            message, help = _BY_ZERO
        except decimal.Overflow:
            message, help = Complaint.TOO_LARGE, TOO_LARGE_HELP
        except decimal.DecimalException:
            message, help = (
                "cannot be worked out",
                "roots, powers and logarithms need positive numbers",
            )
    raise NumberError(f"{shorten(text)} {message}", help)


def _tokens(text: str) -> list[str]:
    """What the text consists of, from left to right; raises _Unreadable for what no calculation has
    in it.
    """
    found: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _Unreadable
        token, before = _ASCII.get(match[1], match[1]), found[-1] if found else ""
        if token in _POWER_SIGNS and before in FUNCTION_NAMES:
            raise _Refused(
                f"has a power between {before} and its argument",
                f"write the power behind the parentheses, as in {before}(2)^3",
            )
        if token == "e" and _looks_cut_off(text, match, before):
            raise _Refused(*_EXPONENT_OR_FACTOR)
        if token == "(" and _may_multiply_parentheses(before):
            _require_product(text, match, before)
            found.append(_IMPLIED)
        elif token in ("√", "e", *FUNCTION_NAMES) and _is_factor(before):
            found.append(_IMPLIED)
        elif _is_number(token):
            _require_sign(text, match, found)
            if token.startswith(_DIGITS) and _is_after_e(found):
                _require_sum(text, match)
        found.append(token)
        at = match.end()
    return found


def _looks_cut_off(text: str, e: re.Match[str], before: str) -> bool:
    """Whether an exponent is missing after this e, as in 0.5e: 0.5 e, 0.5e^2 and 3e are
    products.
    """
    if "." not in before or not before.endswith(_DIGITS):
        return False
    has_exponent = "e" in before.lower()
    is_apart = e.start() < e.start(1)
    goes_on = _POWER_OR_SUM.match(text, e.end()) is not None
    return not (has_exponent or is_apart or goes_on)


def _is_number(token: str) -> bool:
    return token.startswith(_DIGITS) or compact_fraction(token) is not None


def _is_factor(token: str) -> bool:
    """Whether a root, a function or e after this token is multiplied with it."""
    return token in (")", "e") or _is_number(token)


def _may_multiply_parentheses(token: str) -> bool:
    """Whether a parenthesis after this token is a factor or a remark."""
    ends_in_fraction_sign = _ENDS_IN_FRACTION_SIGN.search(token) is not None
    return token == ")" or token.endswith(_DIGITS) or ends_in_fraction_sign


def _require_sign(text: str, number: re.Match[str], found: list[str]) -> None:
    """Raises _Refused where a number follows a factor without a sign: (1 + e)2, 1/3 1."""
    before = found[-1] if found else ""
    is_apart = number.start() < number.start(1)
    # Digits behind digits are one number, spelled wrongly: 01, 1.2.3.
    goes_on = before.endswith(_DIGITS) and number[1].startswith(_DIGITS) and not is_apart
    if goes_on or not _is_factor(before):
        return
    left, right = text[: number.start()], text[number.start(1) :]
    help = f"write {shorten(f'{left}*{right}')} for a product"
    if is_apart:
        help += ", or one number"
    elif before == ")" and not _is_exponent(found):
        help += f", or {shorten(f'{left}^{right}')} for a power"
    raise _Refused(f"has no sign between {before} and {number[1]}", help)


def _is_exponent(found: list[str]) -> bool:
    """Whether the parentheses that these tokens end with stand behind a sign of powers."""
    depth, at = 0, len(found)
    while at:
        at -= 1
        depth += {")": 1, "(": -1}.get(found[at], 0)
        if not depth:
            break
    return at > 0 and found[at - 1] in _POWER_SIGNS


def _is_after_e(found: list[str]) -> bool:
    """Whether these tokens end with 5e -, in which e may stand for a power of ten."""
    return (
        found[-3:-1] == [_IMPLIED, "e"] and found[-1] in ("+", "-") and found[-4].endswith(_DIGITS)
    )


def _require_sum(text: str, number: re.Match[str]) -> None:
    """Raises _Refused where the e before a number may be a power of ten: 5e - 3. In 5 e - 3 it is
    Euler's number.
    """
    if not _E_IN_A_SUM.search(text[: number.start(1)]):
        raise _Refused(*_POWER_OF_TEN)


def _require_product(text: str, opening: re.Match[str], before: str) -> None:
    """Raises _Refused where a parenthesis may begin a remark: 0.577 (1/√3), √2(1.41). In 2(1 + e)
    it is a factor.
    """
    is_apart = opening.start() < opening.start(1)
    is_number_alone = _NUMBER_ALONE.match(text, opening.start(1)) is not None
    follows_factor = not before.endswith(_DIGITS) or before.isdigit()
    if is_apart or is_number_alone or not follows_factor:
        raise _Refused(*_PRODUCT_OR_REMARK)


def _context() -> Context:
    return Context(
        prec=DIGITS + _SPARE_DIGITS,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


class _Unreadable(Exception):
    """What stands there is no calculation."""


class _Refused(Exception):
    """A calculation that is not worked out, as 1/2√3, of which readers would not agree what is
    meant; its arguments are the message and the help.
    """


class _Calculator:
    """Reads tokens from left to right, and works out what it has read in the context of decimals at
    hand.
    """

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens[::-1]
        # What was read so far, in ASCII.
        self.read: list[str] = []

    def sum(self, depth: int) -> Decimal:
        value = self.product(depth)
        while sign := self.take("+", "-"):
            other = self.product(depth)
            value = value + other if sign == "+" else value - other
        return value

    def product(self, depth: int) -> Decimal:
        value, before = self.signed(depth), ""
        while sign := self.take("*", "/", _IMPLIED):
            if sign == _IMPLIED and before == "/":
                raise _Refused(*_BELOW_THE_LINE)
            other, before = self.signed(depth), sign
            # Decimals take 0/0 for another kind of mistake than 1/0.
            if sign == "/" and not other:
                raise decimal.DivisionByZero
            value = value / other if sign == "/" else value * other
        return value

    def signed(self, depth: int) -> Decimal:
        if depth > DEEPEST:
            raise _Refused(*_TOO_DEEP)
        if sign := self.take("-", "+"):
            value = self.signed(depth + 1)
            return value.copy_negate() if sign == "-" else value
        base = self.atom(depth)
        if not self.take(*_POWER_SIGNS):
            return base
        # -2^2 is -(2^2).
        power = base ** self.exponent(depth + 1)
        # 0^-1 is infinite, and no error in decimals.
        if not power.is_finite():
            raise decimal.DivisionByZero
        return power

    def exponent(self, depth: int) -> Decimal:
        """What follows a ^: a number, or whatever stands in parentheses.

        Raises _Refused where readers or programs do not agree what it is: 2^3^2, 2^1/2, e^5√3.
        """
        in_parentheses = self.rest[-1:] == ["("]
        before = self.rest[:]
        value = self.signed_atom(depth)
        exponent = before[len(self.rest) :][::-1]
        following = self.rest[-1:]
        if following and following[0] in _POWER_SIGNS:
            raise _Refused(*_TOWER)
        if following == ["/"] and _FIRST_POWER.fullmatch("".join(exponent)):
            raise _Refused(*_ROOT_OR_QUOTIENT)
        if following == [_IMPLIED] and not in_parentheses:
            raise _Refused(*_IN_THE_POWER)
        return value

    def signed_atom(self, depth: int) -> Decimal:
        if depth > DEEPEST:
            raise _Refused(*_TOO_DEEP)
        if sign := self.take("-", "+"):
            value = self.signed_atom(depth + 1)
            return value.copy_negate() if sign == "-" else value
        return self.atom(depth)

    def atom(self, depth: int) -> Decimal:
        if depth > DEEPEST:
            raise _Refused(*_TOO_DEEP)
        if not self.rest:
            raise _Unreadable
        token = self.rest.pop()
        if token == "√":
            if self.rest[-1:] == ["("]:
                token = "sqrt"
            else:
                return self.root(depth + 1)
        fraction = compact_fraction(token)
        if fraction is not None:
            self.read.append(f"({fraction})")
            return Decimal(fraction.numerator) / fraction.denominator
        self.read.append(token)
        if token == "e":
            return Decimal(1).exp()
        if token in ("(", *FUNCTION_NAMES):
            if token != "(" and not self.take("("):
                raise _without_parentheses(token, self.rest)
            value = self.sum(depth + 1)
            if not self.take(")"):
                raise _Unreadable
            return value if token == "(" else _apply(token, value)
        if token[0] in "0123456789.":
            return decimal.getcontext().create_decimal(token)
        raise _Unreadable

    def root(self, depth: int) -> Decimal:
        """The root of what follows a √ without parentheses: of a number or of e, and of nothing
        behind it.
        """
        self.read.append("sqrt(")
        value = self.atom(depth).sqrt()
        self.read.append(")")
        goes_on = self.rest[-1:] == [_IMPLIED] and self.rest[-2] != "√"
        if goes_on:
            raise _Refused(*_UNDER_THE_ROOT)
        return value

    def take(self, *signs: str) -> str:
        """The next token, if it is one of these."""
        if not self.rest or self.rest[-1] not in signs:
            return ""
        token = self.rest.pop()
        self.read.append("*" if token == _IMPLIED else token)
        return token


def _without_parentheses(function: str, rest: list[str]) -> Exception:
    """The error for ln 2, whose argument has no parentheses, and may go on: ln 2 + 1."""
    argument = rest[-1] if rest else ""
    if argument not in ("e", "√", *FUNCTION_NAMES) and not argument.startswith(_DIGITS):
        return _Unreadable()
    return _Refused(
        f"has no parentheses after {function}",
        f"put its argument in parentheses, as in {function}(2)",
    )


def _apply(written: str, value: Decimal) -> Decimal:
    function = FUNCTIONS[WRITTEN_NAMES[written]]
    if function.of_angle and abs(value) > _LARGEST_ANGLE:
        raise NumberError(
            f"{written} of {shorten(f'{value:g}')} cannot be worked out", "angles go up to 1e9"
        )
    result: Decimal = function.decimal(value)
    # The logarithm of 0 is infinite, and no error in decimals.
    if not result.is_finite():
        raise decimal.InvalidOperation
    return result
