"""The functions of equations on exact numbers, and one cell worked out in them.

The rows of `equation/functions.py` name these functions. -inf, which a mask puts in, stays a float.
What has no closed form here, such as a cosine, or one that is too long for anybody to read, goes on
as a Decimal of 50 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, TypeAlias

from attncli.equation.exact.decimals import decimal_of, sign_of
from attncli.equation.exact.numbers import (
    Exact,
    ExactError,
    ExactNumber,
    Monomial,
    check_length,
    is_zero,
    length_of,
    quotient,
    terms_of,
    total,
)
from attncli.equation.functions import FUNCTIONS, PRINTED_AS
from attncli.equation.nodes import Expression, Number
from attncli.equation.rounding import DIGITS
from attncli.equation.substitution import Arithmetic, evaluate_cell

# A sum is multiplied out up to this power.
MOST_POWER = 64
# Under a root, factors are looked for up to this one: more would take too long.
MOST_DIVISOR = 10**4

# A closed form, decimals where there is none, or -inf.
ExactValue: TypeAlias = Exact | Decimal | float

EULERS_NUMBER = ExactNumber({Monomial(exponent=Fraction(1)): Fraction(1)})


def root(number: Exact) -> Exact:
    """√number, of a fraction.

    >>> from attncli.equation.exact.text import text_of
    >>> text_of(root(Fraction(12)))
    '2*sqrt(3)'
    """
    if not isinstance(number, Fraction) or number < 0:
        raise ExactError("only fractions have a root with a closed form here")
    above, inside = _without_squares(number.numerator)
    below, divided = _without_squares(number.denominator)
    return Fraction(above, below * divided) * _root(inside) * _root(divided)


def power(base: Exact, exponent: Exact | float) -> Exact:
    """base^exponent: of e, of anything to a whole number, and of a fraction to half of one.

    >>> from attncli.equation.exact.text import text_of
    >>> text_of(power(Fraction(1, 2), Fraction(3, 2)))
    '1/(2*sqrt(2))'
    """
    if base == EULERS_NUMBER or isinstance(exponent, float):
        return exponential(exponent)
    if not isinstance(exponent, Fraction) or exponent.denominator > 2:
        raise ExactError("only e has such a power in closed form here")
    whole = math.floor(exponent)
    found = _whole_power(base, whole)
    return found if whole == exponent else found * root(base)


def exponential(exponent: Exact | float) -> Exact:
    """e^exponent, of fractions and roots; 0 where -inf is the exponent.

    >>> from attncli.equation.exact.text import text_of
    >>> text_of(exponential(Fraction(1, 2))), exponential(float("-inf"))
    ('e^(1/2)', Fraction(0, 1))
    """
    if isinstance(exponent, float):
        return Fraction(0)
    if exponent == 0:
        return Fraction(1)
    if any(monomial.exponent or monomial.divisors for monomial in terms_of(exponent)):
        raise ExactError("an exponent has only fractions and roots in closed form here")
    return ExactNumber({Monomial(exponent=exponent): Fraction(1)})


def _whole_power(base: Exact, exponent: int) -> Exact:
    if isinstance(base, Fraction):
        if base not in (0, 1, -1):
            check_length(length_of(base) * abs(exponent))
        return base**exponent
    if abs(exponent) > MOST_POWER:
        raise ExactError(f"powers of a sum above {MOST_POWER} are not multiplied out")
    result: Exact = Fraction(1)
    for _ in range(abs(exponent)):
        result = result * base
    return result if exponent >= 0 else quotient(Fraction(1), result)


def _root(number: int) -> Exact:
    return Fraction(1) if number == 1 else ExactNumber({Monomial(number): Fraction(1)})


@lru_cache(maxsize=2**10)
def _without_squares(number: int) -> tuple[int, int]:
    """The whole numbers a and b of √number = a·√b, where no square divides b: 2 and 3 of 12."""
    if number == 0:
        return 0, 1
    outside, inside, left, factor = 1, 1, number, 2
    while factor**3 <= left and factor < MOST_DIVISOR:
        while left % factor == 0:
            left //= factor
            if inside % factor == 0:
                inside, outside = inside // factor, outside * factor
            else:
                inside *= factor
        factor += 1
    half = math.isqrt(left)
    if half * half == left:
        return outside * half, inside
    if factor**3 <= left:
        raise ExactError(
            f"a root of {number} has no closed form here: its factors are too large to be found"
        )
    # What is left is a prime, or two different ones, neither of which is in `inside`.
    return outside, inside * left


def add(*terms: Any) -> Any:
    if -math.inf in terms:
        return -math.inf
    if any(isinstance(term, ExactNumber) for term in terms):
        return total(*terms)
    return reduce(_plus, terms)


def _plus(one: Any, other: Any) -> Any:
    found = one + other
    # Each sum is checked before another denominator makes the next one longer.
    check_length(length_of(found))
    return found


def subtract(one: Any, other: Any) -> Any:
    return one if one == -math.inf else one - other


def share(part: Any, whole: Any) -> Any:
    """part / whole, and part where the whole is 0, which a sum of quotients may be without looking
    like it.
    """
    return part if is_zero(whole) else quotient(part, whole)


def absolute(value: Exact) -> Exact:
    return -value if sign_of(value) < 0 else value


def largest(*values: Any) -> Any:
    seen = [value for value in values if value != -math.inf]
    return (
        reduce(lambda one, other: other if sign_of(other - one) > 0 else one, seen)
        if seen
        else -math.inf
    )


def smallest(*values: Any) -> Any:
    if -math.inf in values:
        return -math.inf
    return reduce(lambda one, other: other if sign_of(other - one) < 0 else one, values)


def relu(value: Any) -> Any:
    return largest(Fraction(0), value)


def evaluate_exactly(
    expression: Expression,
    place: Mapping[str, int],
    sizes: Mapping[str, int],
    number: Callable[[str, tuple[int, ...]], ExactValue],
    scalars: Mapping[str, ExactValue],
) -> Any:
    """One cell's value from `number(name, indices)`: in closed form, in decimals where it has none,
    or -inf.

    What is divided by 0 is an infinity or NaN in decimals, as in floating point.
    """
    with localcontext(Context(prec=DIGITS, traps=[])):
        return evaluate_cell(
            expression, place, sizes, number, scalars, Arithmetic(Fraction, _constant, _apply)
        )


def _constant(number: Number) -> Any:
    if number.value is None:
        raise TypeError(f"cannot work {number!r}")
    return number.value


def _apply(name: str, *arguments: Any) -> Any:
    """A function of exact numbers; in decimals where one of these is so, or the result has no
    closed form.
    """
    row = FUNCTIONS.get(PRINTED_AS.get(name, name))
    if row is None:
        raise TypeError(f"cannot work {name}")
    if not any(isinstance(argument, Decimal) or argument == math.inf for argument in arguments):
        function: Callable[..., Any] = globals()[row.exact] if row.exact else row.rational
        try:
            found = function(*arguments)
            if isinstance(found, Fraction):
                check_length(length_of(found))
            # None says that the function is not rational here.
            if found is not None:
                return found
        except (
            ExactError,
            ZeroDivisionError,
            OverflowError,
            TypeError,
        ):
            # This happens with -inf, and where irrational numbers are compared.
            pass
    found = row.decimal(*(_as_decimal(argument) for argument in arguments))
    return -math.inf if found == -math.inf else found


def _as_decimal(number: Any) -> Any:
    """A number to 50 digits; truth values stay."""
    return number if isinstance(number, bool) else decimal_of(number)
