"""The decimals of exact numbers, to as many digits as are asked for."""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from attncli.equation.exact.numbers import E, Exact, ExactNumber, Monomial, terms_of
from attncli.equation.rounding import DIGITS

GUARD = 12  # digits by which a term may be off
MOST = 2000  # digits, at which terms that still cancel count as 0


def decimal_of(number: Exact | float, digits: int = DIGITS) -> Decimal:
    """The number to so many digits, however nearly its terms cancel; an infinity as one."""
    if isinstance(number, float):
        return Decimal(number)
    precision = digits + 2 * GUARD
    while True:
        with localcontext(_context(precision)):
            total, largest = _sum(number, precision)
        lost = largest.adjusted() - total.adjusted() if total else precision
        if not largest or lost <= precision - digits - GUARD or precision > MOST:
            with localcontext(_context(digits)):
                return +total
        precision *= 2


def float_of(number: Exact | float) -> float:
    """The nearest double; infinite where none is as large."""
    if isinstance(number, Fraction):
        try:
            return float(number)
        except OverflowError:
            return float("inf") if number > 0 else float("-inf")
    return float(decimal_of(number))


def sign_of(number: Exact) -> int:
    """-1, 0 or 1; of what is not 0, by its decimals."""
    value = decimal_of(number, 10)
    return (value > 0) - (value < 0)


def _context(digits: int) -> Context:
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


def _sum(number: Exact, precision: int) -> tuple[Decimal, Decimal]:
    """The sum of the terms, and the size of the largest: what can cancel."""
    values = [_term(monomial, share, precision) for monomial, share in terms_of(number).items()]
    return sum(values, Decimal(0)), max(map(abs, values), default=Decimal(0))


def _term(monomial: Monomial, share: Fraction, precision: int) -> Decimal:
    value = Decimal(share.numerator) / Decimal(share.denominator)
    for prime, part in monomial.roots:
        value *= _root(prime, part, precision)
    for base, exponent in monomial.powers:
        value *= _power(base, exponent, precision)
    if monomial.trig:
        value *= _cosine_or_sine(*monomial.trig, precision)
    for (name, argument), times in monomial.functions:
        value *= _OTHERS[name](argument, precision) ** times
    for divisor, times in monomial.divisors:
        value /= _divisor(divisor, precision) ** times
    return value


@lru_cache(maxsize=2**12)
def _divisor(divisor: ExactNumber, precision: int) -> Decimal:
    return decimal_of(divisor, precision)


@lru_cache(maxsize=2**12)
def _root(prime: int, exponent: Fraction, precision: int) -> Decimal:
    with localcontext(_context(precision)):
        if exponent == Fraction(1, 2):
            return Decimal(prime).sqrt()
        return (Decimal(prime).ln() * exponent.numerator / exponent.denominator).exp()


@lru_cache(maxsize=2**12)
def _power(base: Fraction, exponent: Exact, precision: int) -> Decimal:
    """base^exponent, whose digits before the point cost the power as many behind it."""
    more = precision + max(decimal_of(exponent, 5).adjusted(), 0) + 3
    with localcontext(_context(more)):
        logarithm = decimal_of(exponent, more)
        if base != E:
            logarithm *= (Decimal(base.numerator) / Decimal(base.denominator)).ln()
    with localcontext(_context(precision)):
        return logarithm.exp()


@lru_cache(maxsize=2**12)
def _tanh(argument: Exact, precision: int) -> Decimal:
    size = decimal_of(argument, 5).adjusted()
    more = precision + abs(size) + 3  # near 0, the difference below cancels
    with localcontext(_context(more)):
        value = decimal_of(argument, more)
        if abs(value) > 3 * precision:  # nearer to 1 than any digit that is asked for
            return Decimal(1).copy_sign(value)
        up, down = value.exp(), (-value).exp()
        return (up - down) / (up + down)


def _logarithm(argument: Exact, precision: int) -> Decimal:
    with localcontext(_context(precision)):
        return decimal_of(argument, precision).ln()


_OTHERS: dict[str, Callable[[Exact, int], Decimal]] = {"tanh": _tanh, "log": _logarithm}


@lru_cache(maxsize=2**12)
def _cosine_or_sine(name: str, angle: Exact, precision: int) -> Decimal:
    """The cosine or sine by the series of an angle halved until it is small, and doubled as often."""
    halvings = max(decimal_of(angle, 5).adjusted(), 0) * 4 + 8
    with localcontext(_context(precision + halvings)) as context:
        small = decimal_of(angle, precision + halvings) / 2**halvings
        cosine, sine, term, order = Decimal(1), small, small, 1
        while abs(term).adjusted() > -context.prec:
            term *= small / (order + 1)
            sign = -1 if order % 4 in (1, 2) else 1
            if order % 2:
                cosine += sign * term
            else:
                sine += sign * term
            order += 1
        for _ in range(halvings):
            cosine, sine = cosine * cosine - sine * sine, 2 * cosine * sine
    return cosine if name == "cos" else sine
