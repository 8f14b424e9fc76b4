"""The decimals of exact numbers, to as many digits as are asked for."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from attncli.equation.exact.numbers import Exact, ExactNumber, Monomial, terms_of
from attncli.equation.rounding import DIGITS

# A term may be off in so many of its last digits.
GUARD_DIGITS = 12
# Terms that still cancel with so many digits count as 0.
MOST_DIGITS = 2000
# No larger power of e is worked out by multiplying, so that none overflows.
LARGEST_POWER = 10**15


def decimal_of(number: Exact | Decimal | float, digits: int = DIGITS) -> Decimal:
    """The number to so many digits, however nearly its terms cancel; an infinity as one.

    >>> from attncli.equation.exact.text import read_exact
    >>> decimal_of(read_exact("sqrt(2)"), digits=10)
    Decimal('1.414213562')
    """
    if isinstance(number, float | Decimal):
        with localcontext(_context(digits)):
            return +Decimal(number)
    precision = digits + 2 * GUARD_DIGITS
    while True:
        with localcontext(_context(precision)):
            total, largest = _sum(number, precision)
        lost = largest.adjusted() - total.adjusted() if total else precision
        is_sure = not largest or lost <= precision - digits - GUARD_DIGITS
        if is_sure or precision > MOST_DIGITS:
            with localcontext(_context(digits)):
                return +total
        precision *= 2


def float_of(number: Exact | Decimal | float) -> float:
    """The nearest double; infinite where none is as large."""
    if isinstance(number, Fraction):
        try:
            return float(number)
        except OverflowError:
            return float("inf") if number > 0 else float("-inf")
    return float(decimal_of(number))


def sign_of(number: Exact) -> int:
    """-1, 0 or 1; of what is not 0, by its decimals.

    >>> from attncli.equation.exact.text import read_exact
    >>> sign_of(read_exact("sqrt(2) - sqrt(3)"))
    -1
    """
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
    if monomial.root != 1:
        value *= Decimal(monomial.root).sqrt()
    if monomial.exponent:
        value *= _exponential(monomial.exponent, precision)
    for divisor, times in monomial.divisors:
        value /= _divisor(divisor, precision) ** times
    return value


@lru_cache(maxsize=2**12)
def _divisor(divisor: ExactNumber, precision: int) -> Decimal:
    return decimal_of(divisor, precision)


@lru_cache(maxsize=2**12)
def _exponential(exponent: Exact, precision: int) -> Decimal:
    """e^exponent; e^(7/2 - 5·√3) is the seventh power of e^(1/2) over the fifth one of e^√3."""
    terms = terms_of(exponent)
    with localcontext(_context(precision)):
        if not all(_is_root(monomial, share) for monomial, share in terms.items()):
            # Digits of the exponent before its point cost the power as many behind it.
            more = precision + max(decimal_of(exponent, 5).adjusted(), 0) + 3
            return decimal_of(exponent, more).exp()
        power = Decimal(1)
        for monomial, share in terms.items():
            power *= _power(monomial.root, share, precision)
        return power


def _is_root(monomial: Monomial, share: Fraction) -> bool:
    """Whether a term is √root times a fraction, and e to it a power that is worked out as one."""
    if monomial.exponent or monomial.divisors:
        return False
    return abs(share.numerator) <= LARGEST_POWER


def _power(root: int, share: Fraction, precision: int) -> Decimal:
    """e^(share·√root).

    A power of 2,000 digits takes a fiftieth of the time of e to a number. A problem of whole scores
    needs one such number for all powers of them.
    """
    # Digits of the power are lost for those behind the point.
    more = precision + len(str(share.numerator)) + 3
    base = _exponential_of_part(root, share.denominator, more)
    with localcontext(_context(more)):
        return base**share.numerator


@lru_cache(maxsize=2**8)
def _exponential_of_part(root: int, denominator: int, precision: int) -> Decimal:
    """e^(√root/denominator)."""
    with localcontext(_context(precision + 3)):
        return (Decimal(root).sqrt() / denominator).exp()
