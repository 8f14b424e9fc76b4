"""The curves that networks bend numbers with, in arrays, in floats and in 50 decimals: sigmoid,
softplus, the error function, and what is made of these.

Each works where a naive formula would overflow, or lose all digits.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803"
)
# From here on, all digits of the error function are those of 1, in doubles and in 50 decimals.
ONE_IN_DOUBLES, ONE_IN_DECIMALS = 6.0, Decimal(12)
# The rational functions by which W. J. Cody computes the error function, and 1 less it, in three
# parts ("Rational Chebyshev approximations for the error function", 1969): the numbers above and
# below, from the highest power down.
NEAR = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
BETWEEN = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
FAR = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242e0,
        1.87295284992346725e0,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)
# Where one part ends and the next begins.
FIRST_END, SECOND_END = 0.46875, 4.0


def array_sigmoid(xp: Any, x: Any) -> Any:
    """1 / (1 + e^-x); nothing overflows, because only e to numbers below 0 is taken."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x < 0, small, xp.ones_like(small)) / (1 + small)


def sigmoid(x: float) -> float:
    small = math.exp(-abs(x))
    return (small if x < 0 else 1.0) / (1 + small)


def decimal_sigmoid(x: Decimal) -> Decimal:
    small = (-abs(x)).exp()
    return (small if x < 0 else 1) / (1 + small)


def array_softplus(xp: Any, x: Any) -> Any:
    """ln(1 + e^x), which is x itself where x is large."""
    return xp.log1p(xp.exp(-xp.abs(x))) + xp.where(x < 0, xp.zeros_like(x), x)


def softplus(x: float) -> float:
    return math.log1p(math.exp(-abs(x))) + max(x, 0.0)


def decimal_softplus(x: Decimal) -> Decimal:
    small = (-abs(x)).exp()
    # 1 + small would lose the digits of a small number.
    if small < Decimal("1e-20"):
        logarithm = small - small * small / 2 + small**3 / 3
    else:
        logarithm = (1 + small).ln()
    return logarithm + max(x, Decimal(0))


def array_erf(xp: Any, x: Any) -> Any:
    """The error function, 2/√π times the area under e^(-t²) from 0 to x."""
    size = xp.abs(x)
    near = x * _ratio(NEAR, size * size)
    # A part is worked out for every number, so none may be 0 or too large for it.
    middle = xp.where(size < FIRST_END, xp.full_like(size, FIRST_END), size)
    middle = xp.where(middle > ONE_IN_DOUBLES, xp.full_like(size, ONE_IN_DOUBLES), middle)
    bell = xp.exp(-middle * middle)
    between = bell * _ratio(BETWEEN, middle)
    inverse = 1 / (middle * middle)
    far = bell / middle * (1 / math.sqrt(math.pi) - inverse * _ratio(FAR, inverse))
    rest = xp.where(middle <= SECOND_END, between, far)
    beyond = xp.where(x < 0, rest - 1, 1 - rest)
    found = xp.where(size <= FIRST_END, near, beyond)
    return xp.where(x != x, x, found)


def _ratio(part: tuple[tuple[float, ...], tuple[float, ...]], at: Any) -> Any:
    above, below = part
    return _polynomial(above, at) / _polynomial(below, at)


def _polynomial(factors: tuple[float, ...], at: Any) -> Any:
    total: Any = factors[0]
    for factor in factors[1:]:
        total = total * at + factor
    return total


def decimal_erf(x: Decimal) -> Decimal:
    """By the series whose terms are all above 0, so that none is lost: 2/√π · e^(-x²) · Σ 2^n
    x^(2n+1) / (1·3·…·(2n+1)).
    """
    if abs(x) > ONE_IN_DECIMALS:
        return Decimal(1).copy_sign(x)
    square = x * x
    term = total = abs(x)
    odd = 1
    while term > Decimal("1e-60") * total:
        odd += 2
        term = term * 2 * square / odd
        total += term
    found = 2 / PI.sqrt() * (-square).exp() * total
    return min(found, Decimal(1)).copy_sign(x)


def array_gelu(xp: Any, x: Any) -> Any:
    """x times the share of the normal distribution below x."""
    return x * (1 + array_erf(xp, x / math.sqrt(2))) / 2


def gelu(x: float) -> float:
    # 1 + erf would lose all digits far below 0.
    return x * math.erfc(-x / math.sqrt(2)) / 2


def decimal_gelu(x: Decimal) -> Decimal:
    return x * (1 + decimal_erf(x / Decimal(2).sqrt())) / 2


def array_phi(xp: Any, x: Any) -> Any:
    """The density of the normal distribution, e^(-x²/2) / √(2π)."""
    return xp.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def phi(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def decimal_phi(x: Decimal) -> Decimal:
    return (-x * x / 2).exp() / (2 * PI).sqrt()
