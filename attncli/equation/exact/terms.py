"""Sums of terms, each a unit with its fraction, and quotients by such sums: what the arithmetic of exact numbers is.

Quotients that are divided by powers of the same sums become one, n/d + m/d^2 = (n·d + m)/d^2, and what cancels is left
out: so the gradients through a softmax, which is divided by one sum, stay as short as they are on paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from attncli.equation.exact.units import Under, Unit, order_of

if TYPE_CHECKING:
    from attncli.equation.exact.numbers import Closed

MOST_TERMS = 1000
Term: TypeAlias = "tuple[Unit, Fraction]"
Terms: TypeAlias = "Mapping[Unit, Fraction]"


class ExactError(ValueError):
    """Numbers that have no closed form here, or too large a one."""


def collected(terms: Iterable[Term]) -> Terms:
    """The terms with like ones added up, and quotients as short as they can be; raises ExactError for too many."""
    found = _added(terms)
    return _simplified(found) if any(unit.under for unit in found) else found


def products(some: Terms, others: Terms) -> Iterator[Term]:
    """Each term of a sum times each of another."""
    for one, a in some.items():
        for other, b in others.items():
            for unit, share in one.times(other):
                yield unit, share * a * b


def by_divisors(terms: Terms) -> dict[Under, Terms]:
    """The numerators of its quotients by what they are divided by; under () what is divided by nothing."""
    groups: dict[Under, dict[Unit, Fraction]] = {}
    for unit, share in terms.items():
        groups.setdefault(unit.under, {})[replace(unit, under=()) if unit.under else unit] = share
    return {**groups}


def over_all(groups: Mapping[Under, Terms]) -> tuple[Under, Terms]:
    """The sum of quotients as a single one: its divisors, and its numerator."""
    often: dict[Closed, int] = {}
    for under in groups:
        for divisor, times in under:
            often[divisor] = max(often.get(divisor, 0), times)
    numerator: list[Term] = []
    for under, above in groups.items():
        own = dict(under)
        missing = tuple((divisor, times - own.get(divisor, 0)) for divisor, times in often.items())
        numerator += multiplied(above, missing).items()
    return tuple(sorted(often.items(), key=lambda part: order_of(part[0]))), _added(numerator)


def multiplied(terms: Terms, factors: Under) -> Terms:
    """The sum times each factor, as often as it says."""
    for factor, times in factors:
        for _ in range(times):
            terms = _added(products(terms, factor.terms))
    return terms


def _added(terms: Iterable[Term]) -> Terms:
    found: dict[Unit, Fraction] = {}
    for unit, share in terms:
        found[unit] = found.get(unit, Fraction(0)) + share
    found = {unit: share for unit, share in found.items() if share}
    if len(found) > MOST_TERMS:
        raise ExactError(f"a number has more than {MOST_TERMS:,} terms")
    return found


def _simplified(terms: Terms) -> Terms:
    """A single quotient for each set of divisors, and no divisor that cancels."""
    alike: dict[frozenset[Closed], dict[Under, Terms]] = {}
    for under, above in by_divisors(terms).items():
        alike.setdefault(frozenset(divisor for divisor, _ in under), {})[under] = above
    total: list[Term] = []
    for divisors, groups in alike.items():
        for under, above in [over_all(groups)] if divisors and _is_small(groups) else groups.items():
            left, numerator = _cancelled(under, above)
            total += ((replace(unit, under=left) if left else unit, share) for unit, share in numerator.items())
    return _added(total)


def _is_small(groups: Mapping[Under, Terms]) -> bool:
    """Whether the quotients can become one with no more terms than a number may have."""
    often = [sum(times for _, times in under) for under in groups]
    widest = max(len(divisor.terms) for under in groups for divisor, _ in under)
    longest = max(len(above) for above in groups.values())
    return bool(longest * widest ** (max(often) - min(often)) <= MOST_TERMS)


def _cancelled(under: Under, above: Terms) -> tuple[Under, Terms]:
    """The quotient without the divisors that its numerator is a multiple of."""
    left = dict(under)
    for divisor in left:
        while left[divisor] and (multiple := _multiple(above, divisor.terms)):
            above, left[divisor] = multiple, left[divisor] - 1
    return tuple((divisor, times) for divisor, times in left.items() if times), above


def _multiple(above: Terms, below: Terms) -> Terms | None:
    """The single term by which `below` is multiplied in `above`, if it is."""
    if len(above) != len(below):
        return None
    first = min(above, key=lambda unit: unit.order)
    for unit, share in below.items():
        inverse = unit.inverse()
        if inverse is None:
            continue
        times = _added(products({first: above[first]}, {inverse[0]: inverse[1] / share}))
        if len(times) == 1 and _added(products(below, times)) == above:
            return times
    return None
