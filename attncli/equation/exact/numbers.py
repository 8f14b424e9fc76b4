"""Exact numbers and their arithmetic: sums of fractions times irrational factors, of which equal
ones have equal terms.

A number is a Fraction where it is rational, and else an ExactNumber: a sum of terms, each a
fraction times a Monomial. 5/√3·e^(1/√3) + 1 has the terms 5/3 times √3·e^(1/√3), and 1 times ONE.

Why equal numbers have equal terms: roots of whole numbers without square factors are linearly
independent over the fractions (Besicovitch), and powers of e with different algebraic exponents are
so over both (Lindemann and Weierstrass). So a number made of these alone is 0 only if no term is
left.

Quotients that are divided by powers of the same sums become one, n/d + m/d^2 = (n·d + m)/d^2, and
what cancels is left out: so the gradients through a softmax, which is divided by one sum, stay as
short as they are on paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import gcd, lcm
from typing import Any, TypeAlias, Union

# Nobody reads a longer number. The smallest double has fewer characters.
MOST_CHARACTERS = 400
# A sum on the way to a number may have so many terms, of which some may come together.
MOST_TERMS = 64

Exact: TypeAlias = Union[Fraction, "ExactNumber"]
Operand: TypeAlias = Exact | int
Term: TypeAlias = "tuple[Monomial, Fraction]"
Terms: TypeAlias = "Mapping[Monomial, Fraction]"
# Sums that something is divided by, each with how often.
Divisors: TypeAlias = "tuple[tuple[ExactNumber, int], ...]"


_TOO_MANY = f"a sum has more than {MOST_TERMS} terms"


class ExactError(ValueError):
    """Numbers that have no closed form here, or one that is too long."""


@dataclass(frozen=True, slots=True)
class Monomial:
    """√root · e^exponent / divisors, in the only way in which it can be written.

    The root is a whole number without square factors, the exponent a sum of fractions and roots,
    and the divisors are the sums that it is all divided by, each with how often. `length` is about
    how many characters it has without these.
    """

    root: int = 1
    exponent: Exact = Fraction(0)
    divisors: Divisors = ()
    length: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        root = 3 + _digits(self.root) if self.root > 1 else 0
        exponent = 5 + length_of(self.exponent) if self.exponent else 0
        object.__setattr__(self, "length", root + exponent)
        object.__setattr__(self, "_hash", hash((self.root, self.exponent, self.divisors)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def order(self) -> tuple[Any, ...]:
        """By which monomials can be sorted, whatever is in them."""
        divisors = tuple((order_of(divisor), times) for divisor, times in self.divisors)
        return self.root, order_of(self.exponent), divisors

    def times(self, other: Monomial) -> Term:
        """The product, as a monomial with the whole number it is multiplied by: √6·√2 is 2·√3."""
        common = gcd(self.root, other.root)
        root = self.root * other.root // common**2
        exponent = self.exponent + other.exponent
        divisors = dict(self.divisors)
        for divisor, often in other.divisors:
            before = divisors.get(divisor, 0)
            divisors[divisor] = before + often
        return Monomial(root, exponent, _sorted(divisors)), Fraction(common)

    def inverse(self) -> Term | None:
        """1 / monomial, as a monomial and a fraction; None where it is a quotient."""
        if self.divisors:
            return None
        # 1/√3 is √3/3.
        return Monomial(self.root, -self.exponent), Fraction(1, self.root)


ONE = Monomial()


def _digits(whole: int) -> int:
    """About how many digits a whole number has."""
    return 1 + whole.bit_length() * 3 // 10


def length_of(number: Exact) -> int:
    """About how many characters a number has as it is written."""
    if isinstance(number, ExactNumber):
        return number.length
    above = _digits(number.numerator)
    if number.denominator == 1:
        return above
    return above + 1 + _digits(number.denominator)


def check_length(length: int) -> None:
    """Raises ExactError for so many characters."""
    if length > MOST_CHARACTERS:
        raise ExactError(f"a number has more than {MOST_CHARACTERS} characters")


def order_of(number: Exact) -> tuple[Any, ...]:
    """By which exact numbers are sorted, not by their size: the same for the same terms in any
    order.
    """
    return tuple(sorted((monomial.order, share) for monomial, share in terms_of(number).items()))


def is_negative(number: Exact) -> bool:
    """Whether of x and -x it is the one that is written -x.

    >>> from attncli.equation.exact.text import read_exact
    >>> is_negative(read_exact("-sqrt(3)")), is_negative(read_exact("1 - sqrt(3)"))
    (True, False)
    """
    order = order_of(number)
    return bool(order) and order[0][1] < 0


def _sorted(divisors: Mapping[ExactNumber, int]) -> Divisors:
    if len(divisors) < 2:
        return tuple(divisors.items())
    return tuple(sorted(divisors.items(), key=lambda part: order_of(part[0])))


@dataclass(frozen=True, slots=True)
class ExactNumber:
    """An irrational number: monomials with the fractions they are multiplied by, none of these 0,
    in order of mention.

    Made by arithmetic, not directly: it takes fractions, whole numbers and other exact ones, and
    gives a Fraction wherever the result is one. Two are equal that have the same terms, in whatever
    order. ExactError where it is too long: `length` is about how many characters it has as it is
    written.

    >>> from attncli.equation.exact.text import read_exact
    >>> root = read_exact("sqrt(2)")
    >>> root * root, root + root == read_exact("sqrt(8)")
    (Fraction(2, 1), True)
    """

    terms: Terms
    length: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        length = 0
        written: set[Divisors] = set()
        for monomial, share in self.terms.items():
            length += 3 + monomial.length + length_of(share)
            if monomial.divisors in written:
                continue
            written.add(monomial.divisors)
            length += sum(5 + divisor.length for divisor, _ in monomial.divisors)
        check_length(length)
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "_hash", hash(frozenset(self.terms.items())))

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Operand) -> Exact:
        return total(self, other)

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
        return total(other, self)

    def __rmul__(self, other: Operand) -> Exact:
        return _product(other, self)

    def primitive(self) -> tuple[Fraction, ExactNumber]:
        """The number as a fraction times one whose fractions are whole, without a common
        divisor.
        """
        shares = self.terms.values()
        above = gcd(*(share.numerator for share in shares))
        below = lcm(*(share.denominator for share in shares))
        content = Fraction(above, below)
        if is_negative(self):
            content = -content
        if content == 1:
            return content, self
        terms = {monomial: share / content for monomial, share in self.terms.items()}
        return content, ExactNumber(terms)

    def by_denominator(self) -> dict[Divisors, Exact]:
        """The numerators of its quotients by what they are divided by; under () what is divided by
        nothing.
        """
        return {divisors: _exact(above) for divisors, above in _by_divisors(self.terms).items()}


def terms_of(number: Operand) -> Terms:
    """The terms of any exact number; none of 0."""
    if isinstance(number, ExactNumber):
        return number.terms
    return {ONE: Fraction(number)} if number else {}


def total(*numbers: Operand) -> Exact:
    """The sum."""
    terms = chain.from_iterable(terms_of(number).items() for number in numbers)
    return _exact(_collected(terms))


def quotient(above: Operand, below: Operand) -> Exact:
    """above / below; raises ZeroDivisionError, and ExactError for a quotient by a sum of different
    quotients.

    >>> from attncli.equation.exact.text import read_exact, text_of
    >>> text_of(quotient(Fraction(3), read_exact("sqrt(3)")))
    'sqrt(3)'
    """
    if not isinstance(below, ExactNumber):
        return _product(above, 1 / Fraction(below))
    if len(below.terms) == 1:
        ((monomial, share),) = below.terms.items()
        inverse = monomial.inverse()
        if inverse is not None:
            inverted, factor = inverse
            return _product(above, ExactNumber({inverted: factor / share}))
    groups = below.by_denominator()
    if len(groups) > 1:
        raise ExactError("a quotient by a sum of quotients has no closed form here")
    ((divisors, numerator),) = groups.items()
    if divisors:
        denominator = _exact(_multiplied({ONE: Fraction(1)}, divisors))
        return quotient(_product(above, denominator), numerator)
    content, divisor = below.primitive()
    return _product(above, ExactNumber({Monomial(divisors=((divisor, 1),)): 1 / content}))


def is_zero(number: Exact) -> bool:
    """Whether a number is 0, quotients and all.

    >>> from attncli.equation.exact.text import read_exact
    >>> is_zero(read_exact("1/(1 + sqrt(2)) + 1 - sqrt(2)"))
    True
    """
    if not isinstance(number, ExactNumber):
        return number == 0
    groups = _by_divisors(number.terms)
    return any(groups) and not _over_all(groups)[1]


def _product(one: Operand, other: Operand) -> Exact:
    if one == 0:
        return Fraction(0)
    if not isinstance(one, ExactNumber):
        terms = {monomial: one * share for monomial, share in terms_of(other).items()}
        return _exact(terms)
    if not isinstance(other, ExactNumber):
        return _product(other, one)
    return _exact(_collected(_products(one.terms, other.terms)))


def _exact(terms: Terms) -> Exact:
    if not terms:
        return Fraction(0)
    return terms[ONE] if len(terms) == 1 and ONE in terms else ExactNumber(terms)


def _collected(terms: Iterable[Term]) -> Terms:
    """The terms with like ones added up, and quotients as short as they can be; raises ExactError
    for too many.
    """
    found = _added(terms)
    has_quotients = any(monomial.divisors for monomial in found)
    return _simplified(found) if has_quotients else found


def _products(some: Terms, others: Terms) -> Iterator[Term]:
    """Each term of a sum times each of another."""
    # A good part of so many products would have to come together.
    if len(some) * len(others) > MOST_TERMS * 4:
        raise ExactError(_TOO_MANY)
    for one, a in some.items():
        for other, b in others.items():
            monomial, share = one.times(other)
            yield monomial, share * a * b


def _by_divisors(terms: Terms) -> dict[Divisors, Terms]:
    """The numerators of its quotients by what they are divided by; under () what is divided by
    nothing.
    """
    groups: dict[Divisors, dict[Monomial, Fraction]] = {}
    for monomial, share in terms.items():
        above = replace(monomial, divisors=()) if monomial.divisors else monomial
        group = groups.setdefault(monomial.divisors, {})
        group[above] = share
    return {**groups}


def _over_all(groups: Mapping[Divisors, Terms]) -> tuple[Divisors, Terms]:
    """The sum of quotients as a single one: its divisors, and its numerator."""
    often: dict[ExactNumber, int] = {}
    for divisors in groups:
        for divisor, times in divisors:
            known = often.get(divisor, 0)
            often[divisor] = max(known, times)
    numerator: list[Term] = []
    for divisors, above in groups.items():
        own = dict(divisors)
        missing = []
        for divisor, times in often.items():
            has = own.get(divisor, 0)
            missing.append((divisor, times - has))
        numerator += _multiplied(above, tuple(missing)).items()
    return _sorted(often), _added(numerator)


def _multiplied(terms: Terms, factors: Divisors) -> Terms:
    """The sum times each factor, as often as it says."""
    for factor, times in factors:
        for _ in range(times):
            terms = _added(_products(terms, factor.terms))
    return terms


def _added(terms: Iterable[Term]) -> Terms:
    found: dict[Monomial, Fraction] = {}
    for monomial, share in terms:
        found[monomial] = found.get(monomial, Fraction(0)) + share
    found = {monomial: share for monomial, share in found.items() if share}
    if len(found) > MOST_TERMS:
        raise ExactError(_TOO_MANY)
    return found


def _simplified(terms: Terms) -> Terms:
    """A single quotient for each set of divisors, and no divisor that cancels."""
    alike: dict[frozenset[ExactNumber], dict[Divisors, Terms]] = {}
    for divisors, above in _by_divisors(terms).items():
        bases = frozenset(divisor for divisor, _ in divisors)
        group = alike.setdefault(bases, {})
        group[divisors] = above
    total: list[Term] = []
    for bases, groups in alike.items():
        becomes_one = bases and _is_small(groups)
        quotients = [_over_all(groups)] if becomes_one else list(groups.items())
        for divisors, above in quotients:
            total += _over(*_cancelled(divisors, above))
    return _added(total)


def _over(divisors: Divisors, above: Terms) -> Iterator[Term]:
    """The terms of a numerator, each divided by these sums."""
    for monomial, share in above.items():
        yield replace(monomial, divisors=divisors) if divisors else monomial, share


def _is_small(groups: Mapping[Divisors, Terms]) -> bool:
    """Whether the quotients can become one with no more terms than a number may have."""
    powers = []
    widest = 0
    for divisors in groups:
        powers.append(sum(times for _, times in divisors))
        widest = max(widest, *(len(divisor.terms) for divisor, _ in divisors))
    longest = max(len(above) for above in groups.values())
    # A numerator is multiplied by as many divisors as it has fewer than the others.
    missing = max(powers) - min(powers)
    terms: int = longest * widest**missing
    return terms <= MOST_TERMS


def _cancelled(divisors: Divisors, above: Terms) -> tuple[Divisors, Terms]:
    """The quotient without the divisors that its numerator is a multiple of."""
    left = []
    for divisor, times in divisors:
        while times:
            multiple = _multiple(above, divisor.terms)
            if not multiple:
                break
            above = multiple
            times -= 1
        if times:
            left.append((divisor, times))
    return tuple(left), above


def _multiple(above: Terms, below: Terms) -> Terms | None:
    """The single term by which `below` is multiplied in `above`, if it is.

    Were it so, the first term of `above` would come of one of the terms of `below`: each of them is
    tried.
    """
    if len(above) != len(below):
        return None
    first = min(above, key=lambda monomial: monomial.order)
    for monomial, share in below.items():
        inverse = monomial.inverse()
        if inverse is None:
            continue
        inverted, factor = inverse
        times = _added(_products({first: above[first]}, {inverted: factor / share}))
        if len(times) != 1:
            continue
        # The products are of different monomials, since the terms of `below` are.
        products = dict(_products(below, times))
        if products == above:
            return times
    return None
