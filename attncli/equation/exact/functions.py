"""The functions of equations on exact numbers, in closed form where they have one, and one cell worked out in them.

The rows of `equation/functions.py` name these functions. -inf, which a mask puts in, stays a float.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from attncli.equation.exact.decimals import sign_of
from attncli.equation.exact.numbers import (
    ONE,
    E,
    Exact,
    ExactError,
    ExactNumber,
    Monomial,
    is_negative,
    is_zero,
    quotient,
)
from attncli.equation.functions import FUNCTIONS, PRINTED_AS
from attncli.equation.nodes import Expression, Number
from attncli.equation.substitution import Arithmetic, evaluate_cell

MOST_BITS = 10_000  # of a whole number, about 3,000 digits
MOST_DIVISOR = 10**5  # up to which prime factors are looked for

EULERS_NUMBER = ExactNumber({Monomial(powers=((E, Fraction(1)),)): Fraction(1)})


def root(number: Exact) -> Exact:
    """√number; raises ExactError where that has no closed form."""
    return power(number, Fraction(1, 2))


def power(base: Exact, exponent: Exact | float) -> Exact:
    """base^exponent, of a base above 0 where the exponent is no whole number."""
    if isinstance(exponent, float):
        return _nothing(exponent)
    if base == EULERS_NUMBER:
        return exponential(exponent)
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return _whole_power(base, int(exponent))
    if isinstance(base, ExactNumber):
        return _power_of_root(base, exponent)
    if base < 0 or (base == 0 and sign_of(exponent) < 0):
        raise ExactError(f"{base} has no such power")
    if base in (0, 1):
        return base
    if isinstance(exponent, Fraction):
        return _roots(base.numerator, exponent) * _roots(base.denominator, -exponent)
    whole = exponent.terms.get(ONE, Fraction(0))
    irrational = exponent - whole
    return power(base, whole) * ExactNumber({Monomial(powers=((base, irrational),)): Fraction(1)})


def exponential(exponent: Exact | float) -> Exact:
    """e^exponent."""
    if isinstance(exponent, float):
        return _nothing(exponent)
    return Fraction(1) if exponent == 0 else ExactNumber({Monomial(powers=((E, exponent),)): Fraction(1)})


def tanh(argument: Exact) -> Exact:
    """tanh(argument), which stays as it is."""
    if is_negative(argument):
        return -tanh(-argument)
    return Fraction(0) if argument == 0 else ExactNumber({Monomial(functions=((("tanh", argument), 1),)): Fraction(1)})


def logarithm(number: Exact) -> Exact:
    """ln number, which stays as it is; of the base of a softmax, and so of a number above 1."""
    if not isinstance(number, Fraction) or number < 1:
        raise ExactError("its logarithm has no closed form here")
    return Fraction(0) if number == 1 else ExactNumber({Monomial(functions=((("log", number), 1),)): Fraction(1)})


def cosine(angle: Exact) -> Exact:
    if angle == 0:
        return Fraction(1)
    return ExactNumber({Monomial(trig=("cos", -angle if is_negative(angle) else angle)): Fraction(1)})


def sine(angle: Exact) -> Exact:
    if is_negative(angle):
        return -sine(-angle)
    return Fraction(0) if angle == 0 else ExactNumber({Monomial(trig=("sin", angle)): Fraction(1)})


def _nothing(exponent: float) -> Fraction:
    """What -inf is the exponent of."""
    assert exponent == -math.inf
    return Fraction(0)


def _whole_power(base: Exact, exponent: int) -> Exact:
    if isinstance(base, Fraction):
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base not in (0, 1, -1) and size * abs(exponent) > MOST_BITS:
            raise ExactError(f"{base}^{exponent} has more than 3,000 digits")
        return base**exponent
    if abs(exponent) > 64:
        raise ExactError("powers above 64 of a sum are not multiplied out")
    result: Exact = Fraction(1)
    for _ in range(abs(exponent)):
        result = result * base
    return result if exponent >= 0 else quotient(Fraction(1), result)


def _power_of_root(base: ExactNumber, exponent: Exact) -> Exact:
    """A power of a number such as 2·√3: of its fraction, and of its roots."""
    if len(base.terms) == 1 and isinstance(exponent, Fraction):
        ((monomial, share),) = base.terms.items()
        if monomial == Monomial(monomial.roots):
            powers = (power(Fraction(prime), times * exponent) for prime, times in monomial.roots)
            return reduce(lambda one, other: one * other, powers, power(share, exponent))
    raise ExactError("only fractions, their roots and e have powers with a closed form here")


def _roots(number: int, exponent: Fraction) -> Exact:
    """number^exponent as a fraction times roots of primes."""
    result: Exact = Fraction(1)
    for prime, times in _factors(number):
        whole, part = divmod(times * exponent, 1)
        result = result * _whole_power(Fraction(prime), int(whole))
        if part:
            result = result * ExactNumber({Monomial(roots=((prime, part),)): Fraction(1)})
    return result


@lru_cache(maxsize=2**10)
def _factors(number: int) -> tuple[tuple[int, int], ...]:
    """The prime factors, and how often each is there."""
    found: list[tuple[int, int]] = []
    left, divisor = number, 2
    while divisor <= MOST_DIVISOR and divisor * divisor <= left:
        times = 0
        while left % divisor == 0:
            left, times = left // divisor, times + 1
        found += [(divisor, times)] * bool(times)
        divisor += 1 if divisor == 2 else 2
    half = math.isqrt(left)
    if left <= MOST_DIVISOR**2:
        found += [(left, 1)] * (left > 1)
    elif half * half == left and half <= MOST_DIVISOR**2:
        found.append((half, 2))
    else:
        raise ExactError(f"a root of {number} has no closed form here: its factors are too large to be found")
    return tuple(found)


def add(*terms: Any) -> Any:
    hidden = [term for term in terms if term == -math.inf]
    return hidden[0] if hidden else reduce(operator.add, terms)


def subtract(one: Any, other: Any) -> Any:
    return one if one == -math.inf else one - other


def share(part: Any, whole: Any) -> Any:
    """part / whole, and part where the whole is 0, which a sum of quotients may be without looking like it."""
    return part if is_zero(whole) else quotient(part, whole)


def absolute(value: Exact) -> Exact:
    return -value if sign_of(value) < 0 else value


def largest(*values: Any) -> Any:
    seen = [value for value in values if value != -math.inf]
    return reduce(lambda one, other: other if sign_of(other - one) > 0 else one, seen) if seen else -math.inf


def _function(name: str) -> Callable[..., Any]:
    """What a function is on exact numbers; TypeError for what only stands in headlines."""
    row = FUNCTIONS.get(PRINTED_AS.get(name, name))
    if row is None:
        raise TypeError(f"cannot work {name}")
    found: Callable[..., Any] = globals()[row.exact] if row.exact else row.rational
    return found


def evaluate_exactly(
    expression: Expression,
    place: Mapping[str, int],
    sizes: Mapping[str, int],
    number: Callable[[str, tuple[int, ...]], Exact | float],
    scalars: Mapping[str, Exact | float],
) -> Any:
    """One cell's exact value from `number(name, indices)`: a Fraction, an ExactNumber, or -inf where a mask hides.

    Raises ExactError for what has no closed form here, and ZeroDivisionError.
    """

    def constant(number: Number) -> Any:
        if number.value is None:
            raise TypeError(f"cannot work {number!r}")
        return number.value

    def apply(function: str, *arguments: Any) -> Any:
        found = _function(function)(*arguments)
        if found is None:  # where a row has only a function of fractions
            raise ExactError(f"{function} has no closed form here")
        return found

    return evaluate_cell(expression, place, sizes, number, scalars, Arithmetic(Fraction, constant, apply))
