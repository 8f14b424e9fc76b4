"""Exact numbers as people write them, worked out to 50 digits: 7/10, 5/sqrt(3), 2√3, e^(5/√3)/(e^(1/√3) + e^√3)."""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass
from decimal import Context, Decimal

from attncli.answers.tokens import BESIDE, CALLED, tokens
from attncli.english import shorten
from attncli.equation.decimals import DIGITS
from attncli.equation.functions import FUNCTIONS
from attncli.problem.misread import NumberError

_POWER_OF_TEN = re.compile(r"[0-9.]e(?:\s+[-+]\s*|[-+]\s+)[0-9]")  # or e, and a number that is added: 5e - 3
_DEEPEST = 40  # parentheses, signs and powers inside one another
_BY_ZERO = "divides by zero", "write another number under the line"
_TOO_DEEP = "is nested too deeply", f"{_DEEPEST} parentheses, signs and powers inside one another are the most"
_TWO_WAYS = "can be read in two ways", "say which with * and parentheses: 1/(2*sqrt(3)), or (1/2)*sqrt(3)"
_ELSEWHERE = {"ln": "log"}  # what equations call it
_SPARE = 10  # digits that a calculation may lose on its way
_FARTHEST = 10**9  # an angle of which enough digits are known


@dataclass(frozen=True, slots=True)
class Calculation:
    """What a calculation comes to, to 50 digits, and its spelling in ASCII with every sign: 2*sqrt(3)."""

    value: Decimal
    text: str


def work_out(text: str) -> Calculation | None:
    """A calculation with + - * / ^ ( ) √ sqrt exp ln tanh sin cos and e, worked out; None for what is none.

    A factor may follow another without a sign, as in 2√3 and 2 tanh(2). Raises NumberError where that can be read in
    two ways, is nested too deeply, divides by zero, takes a root of a negative number, or grows beyond all bounds.
    """
    cut = tokens(text)
    if cut is None:
        return None
    with decimal.localcontext(_context()):
        reading = _Reading(cut)
        try:
            value = reading.sum(0)
            if reading.rest:
                return None
            if _POWER_OF_TEN.search(text):
                raise _TwoWays
            if value.is_finite():
                return Calculation(Context(prec=DIGITS).plus(value), "".join(reading.read))
            message, help = _BY_ZERO  # 0^-1
        except _Unreadable:
            return None
        except _TwoWays:
            message, help = _TWO_WAYS
        except _TooDeep:
            message, help = _TOO_DEEP
        except decimal.DivisionByZero:
            message, help = _BY_ZERO
        except decimal.Overflow:
            message, help = "is too large", "numbers go up to about 1.8e308"
        except decimal.DecimalException:
            message, help = "cannot be worked out", "roots, powers and logarithms are taken of positive numbers"
    raise NumberError(f"{shorten(text)} {message}", help)


def _context() -> Context:
    return Context(prec=DIGITS + _SPARE, traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow])


class _Unreadable(Exception):
    """What stands there is no calculation."""


class _TwoWays(Exception):
    """Readers would not agree on what is meant: 1/2√3, e^5√3."""


class _TooDeep(Exception):
    """More stands inside one another than is read."""


class _Reading:
    """Reads tokens from left to right, and works out what it has read in the context of decimals at hand."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens[::-1]
        self.read: list[str] = []  # in ASCII

    def sum(self, depth: int) -> Decimal:
        value = self.product(depth)
        while sign := self.taken("+", "-"):
            other = self.product(depth)
            value = value + other if sign == "+" else value - other
        return value

    def product(self, depth: int) -> Decimal:
        value, before = self.signed(depth), ""
        while sign := self.taken("*", "/", BESIDE):
            if sign == BESIDE and before == "/":
                raise _TwoWays
            other, before = self.signed(depth), sign
            if sign == "/" and not other:  # also 0/0, which decimals take for another kind of mistake
                raise decimal.DivisionByZero
            value = value / other if sign == "/" else value * other
        return value

    def signed(self, depth: int) -> Decimal:
        if depth > _DEEPEST:
            raise _TooDeep
        if sign := self.taken("-", "+"):
            value = self.signed(depth + 1)
            return value.copy_negate() if sign == "-" else value
        base = self.atom(depth)
        if not self.taken("^", "**"):
            return base
        enclosed = self.rest[-1:] == ["("]
        power = base ** self.signed(depth + 1)  # -2^2 is -(2^2), and 2^3^2 is 2^(3^2)
        if self.rest[-1:] == [BESIDE] and not enclosed:
            raise _TwoWays
        return power

    def atom(self, depth: int) -> Decimal:
        if depth > _DEEPEST:
            raise _TooDeep
        if not self.rest:
            raise _Unreadable
        token = self.rest.pop()
        if token == "√":
            if self.rest[-1:] == ["("]:
                token = "sqrt"
            else:
                self.read.append("sqrt(")
                value = self.atom(depth + 1).sqrt()
                self.read.append(")")
                return value
        self.read.append(token)
        if token == "e":
            return Decimal(1).exp()
        if token in ("(", *CALLED):
            if token != "(" and not self.taken("("):
                raise _Unreadable
            value = self.sum(depth + 1)
            if not self.taken(")"):
                raise _Unreadable
            return value if token == "(" else _called(token, value)
        if token[0] in "0123456789.":
            return decimal.getcontext().create_decimal(token)
        raise _Unreadable

    def taken(self, *signs: str) -> str:
        """The next token, if it is one of these."""
        if not self.rest or self.rest[-1] not in signs:
            return ""
        token = self.rest.pop()
        self.read.append("*" if token == BESIDE else token)
        return token


def _called(function: str, value: Decimal) -> Decimal:
    if function in ("sin", "cos") and abs(value) > _FARTHEST:
        raise NumberError(f"{function} of {shorten(f'{value:g}')} cannot be worked out", "angles go up to 1e9")
    if function == "ln" and not value:
        raise decimal.InvalidOperation
    result: Decimal = FUNCTIONS[_ELSEWHERE.get(function, function)].decimal(value)
    return result
