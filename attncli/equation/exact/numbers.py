"""Exact numbers and their arithmetic: sums of fractions times irrational factors, of which equal ones have equal terms.

A number is a Fraction where it is rational, and else an ExactNumber: a sum of terms, each a fraction times a Monomial.
5/√3·e^(1/√3) + 1 has the terms 5/3 times √3·e^(1/√3), and 1 times ONE.

Why equal numbers have equal terms: roots of whole numbers are linearly independent over the fractions (Besicovitch),
and powers of e with different algebraic exponents are so over both (Lindemann and Weierstrass; cosines and sines are
such powers). So a number made of these alone is 0 only if no term is left. What that leaves open, such as tanh in an
exponent, is compared as it is written.

Quotients that are divided by powers of the same sums become one, n/d + m/d^2 = (n·d + m)/d^2, and what cancels is left
out: so the gradients through a softmax, which is divided by one sum, stay as short as they are on paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias, Union

MOST_TERMS = 1000
E = Fraction(0)  # stands for the base e, since no power of 0 is a factor
HALF = Fraction(1, 2)

Exact: TypeAlias = Union[Fraction, "ExactNumber"]
Operand: TypeAlias = Exact | int
Term: TypeAlias = "tuple[Monomial, Fraction]"
Terms: TypeAlias = "Mapping[Monomial, Fraction]"
Divisors: TypeAlias = "tuple[tuple[ExactNumber, int], ...]"  # sums that something is divided by, each with how often
Called: TypeAlias = "tuple[str, Exact]"  # a function of one number, such as cos 1
Powers: TypeAlias = "tuple[tuple[Any, Any], ...]"  # of bases, each with its exponent


class ExactError(ValueError):
    """Numbers that cannot be written exactly here, or become too large."""


@dataclass(frozen=True, slots=True)
class Monomial:
    """A product of irrational factors, in the only way in which it can be written.

    `roots` are primes with exponents between 0 and 1, in order; `powers` bases with irrational exponents (of the base
    `E`, any but 0); `trig` is at most one cos or sin of an angle; `functions` stay as they are (tanh), each with its
    argument and how often it is a factor; `divisors` are the sums that it is all divided by, each with how often.
    """

    roots: tuple[tuple[int, Fraction], ...] = ()
    powers: tuple[tuple[Fraction, Exact], ...] = ()
    trig: Called | None = None
    functions: tuple[tuple[Called, int], ...] = ()
    divisors: Divisors = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.roots, self.powers, self.trig, self.functions, self.divisors)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def order(self) -> tuple[Any, ...]:
        """By which monomials can be sorted, whatever is in them."""
        return (
            self.roots,
            tuple((base, order_of(exponent)) for base, exponent in self.powers),
            (self.trig[0], order_of(self.trig[1])) if self.trig else (),
            tuple((name, order_of(argument), times) for (name, argument), times in self.functions),
            tuple((order_of(divisor), times) for divisor, times in self.divisors),
        )

    def times(self, other: Monomial) -> Iterator[Term]:
        """The product, as monomials with the fractions they are multiplied by: cos 1·cos 1 is 1/2·cos 2 + 1/2."""
        if self == ONE or other == ONE:
            yield (other if self == ONE else self), Fraction(1)
            return
        whole, roots = _roots(self, other)
        powers = _multiplied_powers(self.powers, other.powers, Fraction)
        functions = _multiplied_powers(self.functions, other.functions, lambda called: (called[0], order_of(called[1])))
        divisors = _multiplied_powers(self.divisors, other.divisors, order_of)
        monomial = Monomial(roots, powers, None, functions, divisors)
        for trig, share in _trig_product(self.trig, other.trig):
            yield replace(monomial, trig=trig), whole * share

    def inverse(self) -> tuple[Monomial, Fraction] | None:
        """1 / monomial, as a monomial and a fraction; None where it is no such product."""
        if self.trig or self.divisors:
            return None
        share = Fraction(1)
        for prime, _ in self.roots:
            share /= prime
        roots = tuple((prime, 1 - exponent) for prime, exponent in self.roots)
        powers = tuple((base, -exponent) for base, exponent in self.powers)
        functions = tuple((called, -times) for called, times in self.functions)
        return Monomial(roots, powers, None, functions), share


ONE = Monomial()


def order_of(number: Exact) -> tuple[Any, ...]:
    """By which exact numbers are sorted, not by their size: the same for the same terms in any order."""
    if isinstance(number, Fraction):
        return ((ONE.order, number),) if number else ()
    return tuple(sorted((monomial.order, share) for monomial, share in number.terms.items()))


def is_negative(number: Exact) -> bool:
    """Whether of x and -x it is the one that is written -x, in an odd or even function's argument."""
    order = order_of(number)
    return bool(order) and order[0][1] < 0


def _roots(one: Monomial, other: Monomial) -> tuple[Fraction, tuple[tuple[int, Fraction], ...]]:
    exponents = dict(one.roots)
    whole = Fraction(1)
    for prime, exponent in other.roots:
        total = exponents.pop(prime, Fraction(0)) + exponent
        if total >= 1:
            whole, total = whole * prime, total - 1
        if total:
            exponents[prime] = total
    return whole, tuple(sorted(exponents.items()))


def _multiplied_powers(one: Powers, other: Powers, order: Callable[[Any], Any]) -> Any:
    """The powers of both, those of one base with the sum of their exponents, sorted by an order of bases."""
    if not one or not other:
        return one or other
    exponents = dict(one)
    for base, exponent in other:
        exponents[base] = exponents[base] + exponent if base in exponents else exponent
    found = [(base, total) for base, total in exponents.items() if total != 0]
    return tuple(sorted(found, key=lambda power: order(power[0])))


def _trig_product(one: Called | None, other: Called | None) -> Iterator[tuple[Called | None, Fraction]]:
    """The product of two cosines or sines as a sum of single ones."""
    if one is None or other is None:
        yield one or other, Fraction(1)
        return
    (first, a), (second, b) = one, other
    if first == second:
        yield from _trig_terms("cos", a - b, HALF)
        yield from _trig_terms("cos", a + b, HALF if first == "cos" else -HALF)
    else:
        sine, cosine = (a, b) if first == "sin" else (b, a)
        yield from _trig_terms("sin", sine + cosine, HALF)
        yield from _trig_terms("sin", sine - cosine, HALF)


def _trig_terms(name: str, angle: Exact, share: Fraction) -> Iterator[tuple[Called | None, Fraction]]:
    """A cosine or sine in its one spelling: of no negative angle, and nothing for sin 0."""
    if angle == 0:
        if name == "cos":
            yield None, share
        return
    if is_negative(angle):
        angle, share = -angle, share if name == "cos" else -share
    yield (name, angle), share


@dataclass(frozen=True, slots=True)
class ExactNumber:
    """An irrational number: monomials with the fractions they are multiplied by, none of these 0, in order of mention.

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
        return ExactNumber({monomial: -share for monomial, share in self.terms.items()})

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

    def primitive(self) -> tuple[Fraction, ExactNumber]:
        """The number as a fraction times one whose fractions are whole, without a common divisor."""
        shares = self.terms.values()
        content = Fraction(gcd(*(share.numerator for share in shares)), lcm(*(share.denominator for share in shares)))
        if is_negative(self):
            content = -content
        if content == 1:
            return content, self
        return content, ExactNumber({monomial: share / content for monomial, share in self.terms.items()})

    def by_denominator(self) -> dict[Divisors, Exact]:
        """The numerators of its quotients by what they are divided by; under () what is divided by nothing."""
        return {divisors: _exact(above) for divisors, above in by_divisors(self.terms).items()}


def terms_of(number: Operand) -> Terms:
    """The terms of any exact number; none of 0."""
    if isinstance(number, ExactNumber):
        return number.terms
    return {ONE: Fraction(number)} if number else {}


def quotient(above: Operand, below: Operand) -> Exact:
    """above / below; raises ZeroDivisionError, and ExactError for a quotient by a sum of different quotients."""
    if not isinstance(below, ExactNumber):
        return _product(above, 1 / Fraction(below))
    if len(below.terms) == 1:
        ((monomial, share),) = below.terms.items()
        if (inverse := monomial.inverse()) is not None:
            return _product(above, ExactNumber({inverse[0]: inverse[1] / share}))
    groups = below.by_denominator()
    if len(groups) > 1:
        raise ExactError("a quotient by a sum of quotients has no closed form here")
    ((divisors, numerator),) = groups.items()
    if divisors:
        return quotient(_product(above, _exact(multiplied({ONE: Fraction(1)}, divisors))), numerator)
    content, divisor = below.primitive()
    return _product(above, ExactNumber({Monomial(divisors=((divisor, 1),)): 1 / content}))


def is_zero(number: Exact) -> bool:
    """Whether a number is 0, quotients and all."""
    if not isinstance(number, ExactNumber):
        return number == 0
    groups = by_divisors(number.terms)
    return any(groups) and not over_all(groups)[1]


def _product(one: Operand, other: Operand) -> Exact:
    if not isinstance(one, ExactNumber):
        return _exact({monomial: one * share for monomial, share in terms_of(other).items()} if one else {})
    if not isinstance(other, ExactNumber):
        return _product(other, one)
    return _exact(collected(products(one.terms, other.terms)))


def _exact(terms: Terms) -> Exact:
    if not terms:
        return Fraction(0)
    return terms[ONE] if len(terms) == 1 and ONE in terms else ExactNumber(terms)


def collected(terms: Iterable[Term]) -> Terms:
    """The terms with like ones added up, and quotients as short as they can be; raises ExactError for too many."""
    found = _added(terms)
    return _simplified(found) if any(monomial.divisors for monomial in found) else found


def products(some: Terms, others: Terms) -> Iterator[Term]:
    """Each term of a sum times each of another."""
    for one, a in some.items():
        for other, b in others.items():
            for monomial, share in one.times(other):
                yield monomial, share * a * b


def by_divisors(terms: Terms) -> dict[Divisors, Terms]:
    """The numerators of its quotients by what they are divided by; under () what is divided by nothing."""
    groups: dict[Divisors, dict[Monomial, Fraction]] = {}
    for monomial, share in terms.items():
        above = replace(monomial, divisors=()) if monomial.divisors else monomial
        groups.setdefault(monomial.divisors, {})[above] = share
    return {**groups}


def over_all(groups: Mapping[Divisors, Terms]) -> tuple[Divisors, Terms]:
    """The sum of quotients as a single one: its divisors, and its numerator."""
    often: dict[ExactNumber, int] = {}
    for divisors in groups:
        for divisor, times in divisors:
            often[divisor] = max(often.get(divisor, 0), times)
    numerator: list[Term] = []
    for divisors, above in groups.items():
        own = dict(divisors)
        missing = tuple((divisor, times - own.get(divisor, 0)) for divisor, times in often.items())
        numerator += multiplied(above, missing).items()
    return tuple(sorted(often.items(), key=lambda part: order_of(part[0]))), _added(numerator)


def multiplied(terms: Terms, factors: Divisors) -> Terms:
    """The sum times each factor, as often as it says."""
    for factor, times in factors:
        for _ in range(times):
            terms = _added(products(terms, factor.terms))
    return terms


def _added(terms: Iterable[Term]) -> Terms:
    found: dict[Monomial, Fraction] = {}
    for monomial, share in terms:
        found[monomial] = found.get(monomial, Fraction(0)) + share
    found = {monomial: share for monomial, share in found.items() if share}
    if len(found) > MOST_TERMS:
        raise ExactError(f"a number has more than {MOST_TERMS:,} terms")
    return found


def _simplified(terms: Terms) -> Terms:
    """A single quotient for each set of divisors, and no divisor that cancels."""
    alike: dict[frozenset[ExactNumber], dict[Divisors, Terms]] = {}
    for divisors, above in by_divisors(terms).items():
        alike.setdefault(frozenset(divisor for divisor, _ in divisors), {})[divisors] = above
    total: list[Term] = []
    for bases, groups in alike.items():
        for divisors, above in [over_all(groups)] if bases and _is_small(groups) else groups.items():
            left, numerator = _cancelled(divisors, above)
            total += (
                (replace(monomial, divisors=left) if left else monomial, share) for monomial, share in numerator.items()
            )
    return _added(total)


def _is_small(groups: Mapping[Divisors, Terms]) -> bool:
    """Whether the quotients can become one with no more terms than a number may have."""
    often = [sum(times for _, times in divisors) for divisors in groups]
    widest = max(len(divisor.terms) for divisors in groups for divisor, _ in divisors)
    longest = max(len(above) for above in groups.values())
    return bool(longest * widest ** (max(often) - min(often)) <= MOST_TERMS)


def _cancelled(divisors: Divisors, above: Terms) -> tuple[Divisors, Terms]:
    """The quotient without the divisors that its numerator is a multiple of."""
    left = dict(divisors)
    for divisor in left:
        while left[divisor] and (multiple := _multiple(above, divisor.terms)):
            above, left[divisor] = multiple, left[divisor] - 1
    return tuple((divisor, times) for divisor, times in left.items() if times), above


def _multiple(above: Terms, below: Terms) -> Terms | None:
    """The single term by which `below` is multiplied in `above`, if it is.

    Were it so, the first term of `above` would come of one of the terms of `below`: each of them is tried.
    """
    if len(above) != len(below):
        return None
    first = min(above, key=lambda monomial: monomial.order)
    for monomial, share in below.items():
        inverse = monomial.inverse()
        if inverse is None:
            continue
        times = _added(products({first: above[first]}, {inverse[0]: inverse[1] / share}))
        if len(times) == 1 and _added(products(below, times)) == above:
            return times
    return None
