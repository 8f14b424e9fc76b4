"""Exact numbers and their arithmetic: sums of fractions times units, of which equal ones have equal terms.

Roots of whole numbers are linearly independent over the fractions (Besicovitch), and powers of e with different
algebraic exponents are so over both (Lindemann and Weierstrass; cosines and sines are such powers). So a number made of
these alone is 0 only if no term is left. What that leaves open, such as tanh in an exponent, is compared as written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import TypeAlias, Union

from attncli.equation.closed.unit import ONE, Unit, is_negative
from attncli.records import dataclass, field

MOST_TERMS = 1000
Exact: TypeAlias = Union[Fraction, "Closed"]
Operand: TypeAlias = Exact | int


class ExactError(ValueError):
    """Numbers that have no closed form here, or too large a one."""


@dataclass(frozen=True, slots=True)
class Closed:
    """An irrational number: units with the fractions they are multiplied by, none of these 0, in order of mention.

    Made by arithmetic, not directly: it takes fractions, whole numbers and other exact ones, and gives a Fraction
    wherever the result is one. Two are equal that have the same terms, in whatever order.
    """

    terms: Mapping[Unit, Fraction]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(frozenset(self.terms.items())))

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Operand) -> Exact:
        return _collected((*self.terms.items(), *terms_of(other).items()))

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
        return _collected((*terms_of(other).items(), *self.terms.items()))

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

    def by_denominator(self) -> dict[Closed | None, Exact]:
        """The numerators of its quotients by their denominators; under None what is divided by nothing."""
        groups: dict[Closed | None, dict[Unit, Fraction]] = {}
        for unit, share in self.terms.items():
            above = Unit(unit.roots, unit.powers, unit.turn, unit.others) if unit.under else unit
            groups.setdefault(unit.under, {})[above] = share
        return {under: _exact(terms) for under, terms in groups.items()}


def terms_of(number: Operand) -> Mapping[Unit, Fraction]:
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
    if under is not None:
        return quotient(above * under, numerator)
    content, divisor = below.primitive()
    return _product(above, Closed({Unit(under=divisor): 1 / content}))


def is_zero(number: Exact) -> bool:
    """Whether a number is 0, quotients and all."""
    if not isinstance(number, Closed):
        return number == 0
    groups = number.by_denominator()
    if not any(groups):
        return False
    total: Exact = Fraction(0)
    for under, numerator in groups.items():
        for other in groups:
            if other is not None and other != under:
                numerator = numerator * other
        total = total + numerator
    return total == 0


def _product(one: Operand, other: Operand) -> Exact:
    if not isinstance(one, Closed):
        return _exact({unit: one * share for unit, share in terms_of(other).items()} if one else {})
    if not isinstance(other, Closed):
        return _product(other, one)
    return _collected(
        (unit, share * a * b)
        for first, a in one.terms.items()
        for second, b in other.terms.items()
        for unit, share in first.times(second)
    )


def _collected(terms: Iterable[tuple[Unit, Fraction]]) -> Exact:
    """The sum of terms, in which like ones come together and quotients that come out are what they come to."""
    found: dict[Unit, Fraction] = {}
    for unit, share in terms:
        found[unit] = found.get(unit, Fraction(0)) + share
    found = {unit: share for unit, share in found.items() if share}
    if len(found) > MOST_TERMS:
        raise ExactError(f"a number has more than {MOST_TERMS:,} terms")
    whole = _exact(found)
    return _without_whole_quotients(whole) if isinstance(whole, Closed) else whole


def _without_whole_quotients(number: Closed) -> Exact:
    """The number with every quotient left out whose numerator is a multiple of its denominator."""
    if not any(unit.under for unit in number.terms):
        return number
    groups = number.by_denominator()
    found = {under: _multiple(above, under) for under, above in groups.items() if under is not None}
    multiples = {under: multiple for under, multiple in found.items() if multiple is not None}
    if not multiples:
        return number
    left = _exact({unit: share for unit, share in number.terms.items() if unit.under not in multiples})
    return sum(multiples.values(), left)


def _multiple(above: Exact, below: Closed) -> Exact | None:
    """The single term by which `below` is multiplied in `above`, if it is."""
    terms = terms_of(above)
    if len(terms) != len(below.terms):
        return None
    first = min(terms, key=lambda unit: unit.order)
    for unit, share in below.terms.items():
        inverse = unit.inverse()
        if inverse is None:
            continue
        times = _product(Closed({first: terms[first]}), Closed({inverse[0]: inverse[1] / share}))
        if len(terms_of(times)) == 1 and _product(below, times) == above:
            return times
    return None


def _exact(terms: Mapping[Unit, Fraction]) -> Exact:
    if not terms:
        return Fraction(0)
    return terms[ONE] if len(terms) == 1 and ONE in terms else Closed(terms)
