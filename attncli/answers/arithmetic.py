"""Exact numbers as people write them, worked out to 50 digits: 7/10, 5/sqrt(3), e^(5/√3)/(e^(1/√3) + e^√3)."""

from __future__ import annotations

import re
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow

from attncli.english import shorten
from attncli.equation.decimals import DIGITS
from attncli.problem.misread import NumberError

_TOKEN = re.compile(r"\s*(?:((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|(\*\*|[-+*/^()√]|sqrt|exp|e\b))")
_DEEPEST = 40  # parentheses, signs and powers inside one another
_BY_ZERO = "divides by zero", "write another number under the line"
_SPARE = 10  # digits that a calculation may lose on its way


def work_out(text: str) -> Decimal | None:
    """The value of a calculation with + - * / ^ ( ) sqrt, √, exp and e; None for what is none.

    Raises NumberError where it divides by zero, takes a root of a negative number, or grows beyond all bounds.
    """
    tokens = _tokens(text)
    if tokens is None:
        return None
    context = Context(prec=DIGITS + _SPARE, traps=[InvalidOperation, DivisionByZero, Overflow])
    reading = _Reading(tokens, context)
    try:
        value = reading.sum(0)
        if reading.rest:
            return None
        if value.is_finite():
            return Context(prec=DIGITS).plus(value)
        message, help = _BY_ZERO  # 0^-1
    except _Unreadable:
        return None
    except DivisionByZero:
        message, help = _BY_ZERO
    except Overflow:
        message, help = "is too large", "numbers go up to about 1.8e308"
    except DecimalException:
        message, help = "cannot be worked out", "roots and powers are taken of positive numbers"
    raise NumberError(f"{shorten(text)} {message}", help)


class _Unreadable(Exception):
    """What stands there is no calculation."""


def _tokens(text: str) -> list[str] | None:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        tokens.append(found[1] or found[2])
        at = found.end()
    return tokens


class _Reading:
    """Reads tokens from left to right, and works out what it has read."""

    def __init__(self, tokens: list[str], context: Context) -> None:
        self.rest = tokens[::-1]
        self.context = context

    def sum(self, depth: int) -> Decimal:
        value = self.product(depth)
        while sign := self.taken("+", "-"):
            other = self.product(depth)
            value = self.context.add(value, other) if sign == "+" else self.context.subtract(value, other)
        return value

    def product(self, depth: int) -> Decimal:
        value = self.signed(depth)
        while sign := self.taken("*", "/"):
            other = self.signed(depth)
            value = self.context.multiply(value, other) if sign == "*" else self.context.divide(value, other)
        return value

    def signed(self, depth: int) -> Decimal:
        if depth > _DEEPEST:
            raise _Unreadable
        if sign := self.taken("-", "+"):
            value = self.signed(depth + 1)
            return value.copy_negate() if sign == "-" else value
        base = self.atom(depth)
        if not self.taken("^", "**"):
            return base
        return self.context.power(base, self.signed(depth + 1))  # -2^2 is -(2^2), and 2^3^2 is 2^(3^2)

    def atom(self, depth: int) -> Decimal:
        if depth > _DEEPEST or not self.rest:
            raise _Unreadable
        token = self.rest.pop()
        if token == "√":
            return self.atom(depth + 1).sqrt(self.context)
        if token == "e":
            return Decimal(1).exp(self.context)
        if token in ("sqrt", "exp", "("):
            if token != "(" and not self.taken("("):
                raise _Unreadable
            value = self.sum(depth + 1)
            if not self.taken(")"):
                raise _Unreadable
            return value.sqrt(self.context) if token == "sqrt" else value.exp(self.context) if token == "exp" else value
        if token[0] in "0123456789.":
            return self.context.create_decimal(token)
        raise _Unreadable

    def taken(self, *signs: str) -> str:
        """The next token, if it is one of these."""
        return self.rest.pop() if self.rest and self.rest[-1] in signs else ""
