"""Exact numbers and their arithmetic: sums of fractions times units, of which equal ones have equal terms.

Roots of whole numbers are linearly independent over the fractions (Besicovitch), and powers of e with different
algebraic exponents are so over both (Lindemann and Weierstrass; cosines and sines are such powers). So a number made of
these alone is 0 only if no term is left. What that leaves open, such as tanh in an exponent, is compared as written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import TypeAlias, Union

from attncli.equation.exact.terms import (
    ExactError,
    Terms,
    by_divisors,
    collected,
    multiplied,
    over_all,
    products,
)
from attncli.equation.exact.units import ONE, Under, Unit, is_negative

Exact: TypeAlias = Union[Fraction, "Closed"]
Operand: TypeAlias = Exact | int


@dataclass(frozen=True, slots=True)
class Closed:
    """An irrational number: units with the fractions they are multiplied by, none of these 0, in order of mention.

    Made by arithmetic, not directly: it takes fractions, whole numbers and other exact ones, and gives a Fraction
    wherever the result is one. Two are equal that have the same terms, in whatever order.
    """

    terms: Terms
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(frozenset(self.terms.items())))

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Operand) -> Exact:
        return _exact(collected((*self.terms.items(), *terms_of(other).items())))

    def __neg__(self) -> Exact:
        return Closed({unit: -share for unit, share in self.terms.items()})

    def __sub__(self, other: Operand) -> Exact:
        return self + -other

    def __rsub__(self, other: Operand) -> Exact:
        return -self + other

    def __mul__(self, other: Operand) -> Exact:
        return _product(self, other)

    def __truediv__(self, other: Operand) -> Exact:
        return quotient(self, other)

    def __rtruediv__(self, other: Operand) -> Exact:
        return quotient(other, self)

    def __radd__(self, other: Operand) -> Exact:
        return _exact(collected((*terms_of(other).items(), *self.terms.items())))

    def __rmul__(self, other: Operand) -> Exact:
        return _product(other, self)

    def primitive(self) -> tuple[Fraction, Closed]:
        """The number as a fraction times one whose fractions are whole, without a common divisor."""
        shares = self.terms.values()
        content = Fraction(gcd(*(share.numerator for share in shares)), lcm(*(share.denominator for share in shares)))
        if is_negative(self):
            content = -content
        if content == 1:
            return content, self
        return content, Closed({unit: share / content for unit, share in self.terms.items()})

    def by_denominator(self) -> dict[Under, Exact]:
        """The numerators of its quotients by what they are divided by; under () what is divided by nothing."""
        return {under: _exact(above) for under, above in by_divisors(self.terms).items()}


def terms_of(number: Operand) -> Terms:
    """The terms of any exact number; none of 0."""
    if isinstance(number, Closed):
        return number.terms
    return {ONE: Fraction(number)} if number else {}


def quotient(above: Operand, below: Operand) -> Exact:
    """above / below; raises ZeroDivisionError, and ExactError for a quotient by a sum of different quotients."""
    if not isinstance(below, Closed):
        return _product(above, 1 / Fraction(below))
    if len(below.terms) == 1:
        ((unit, share),) = below.terms.items()
        if (inverse := unit.inverse()) is not None:
            return _product(above, Closed({inverse[0]: inverse[1] / share}))
    groups = below.by_denominator()
    if len(groups) > 1:
        raise ExactError("a quotient by a sum of quotients has no closed form here")
    ((under, numerator),) = groups.items()
    if under:
        return quotient(_product(above, _exact(multiplied({ONE: Fraction(1)}, under))), numerator)
    content, divisor = below.primitive()
    return _product(above, Closed({Unit(under=((divisor, 1),)): 1 / content}))


def is_zero(number: Exact) -> bool:
    """Whether a number is 0, quotients and all."""
    if not isinstance(number, Closed):
        return number == 0
    groups = by_divisors(number.terms)
    return any(groups) and not over_all(groups)[1]


def _product(one: Operand, other: Operand) -> Exact:
    if not isinstance(one, Closed):
        return _exact({unit: one * share for unit, share in terms_of(other).items()} if one else {})
    if not isinstance(other, Closed):
        return _product(other, one)
    return _exact(collected(products(one.terms, other.terms)))


def _exact(terms: Terms) -> Exact:
    if not terms:
        return Fraction(0)
    return terms[ONE] if len(terms) == 1 and ONE in terms else Closed(terms)
