"""What a fraction is multiplied by in a term of an exact number: 5/√3·e^(1/√3) is 5/3 times the unit √3·e^(1/√3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from attncli.equation.exact.numbers import Closed, Exact

Factors: TypeAlias = "Iterator[tuple[Unit, Fraction]]"
Under: TypeAlias = "tuple[tuple[Closed, int], ...]"
E = Fraction(0)  # stands for the base e, since no power of 0 is a factor
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of irrational factors, in the only way in which it can be written.

    `roots` are primes with exponents between 0 and 1, in order; `powers` bases with irrational exponents (of the base
    `E`, any but 0); `turn` is at most one cos or sin of an angle; `others` are functions that stay as they are (tanh),
    each with its argument and how often it is a factor; `under` are the sums that it is all divided by, each with how
    often.
    """

    roots: tuple[tuple[int, Fraction], ...] = ()
    powers: tuple[tuple[Fraction, Exact], ...] = ()
    turn: tuple[str, Exact] | None = None
    others: tuple[tuple[str, Exact, int], ...] = ()
    under: Under = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.roots, self.powers, self.turn, self.others, self.under)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def order(self) -> tuple[Any, ...]:
        """By which units can be sorted, whatever is in them."""
        return (
            self.roots,
            tuple((base, order_of(exponent)) for base, exponent in self.powers),
            (self.turn[0], order_of(self.turn[1])) if self.turn else (),
            tuple((name, order_of(argument), times) for name, argument, times in self.others),
            tuple((order_of(divisor), times) for divisor, times in self.under),
        )

    def times(self, other: Unit) -> Factors:
        """The product, as units with the fractions they are multiplied by: cos 1·cos 1 is 1/2·cos 2 + 1/2."""
        if self == ONE or other == ONE:
            yield (other if self == ONE else self), Fraction(1)
            return
        whole, roots = _roots(self, other)
        unit = Unit(roots, _powers(self, other), None, _others(self, other), _under(self, other))
        for turn, share in _turns(self.turn, other.turn):
            yield replace(unit, turn=turn), whole * share

    def inverse(self) -> tuple[Unit, Fraction] | None:
        """1 / unit, as a unit and a fraction; None where it is no such product."""
        if self.turn or self.under:
            return None
        share = Fraction(1)
        for prime, _ in self.roots:
            share /= prime
        roots = tuple((prime, 1 - exponent) for prime, exponent in self.roots)
        powers = tuple((base, -exponent) for base, exponent in self.powers)
        return Unit(roots, powers, None, tuple((name, inside, -times) for name, inside, times in self.others)), share


ONE = Unit()


def order_of(number: Exact) -> tuple[Any, ...]:
    """By which exact numbers are sorted, not by their size: the same for the same terms in any order."""
    if isinstance(number, Fraction):
        return ((ONE.order, number),) if number else ()
    return tuple(sorted((unit.order, share) for unit, share in number.terms.items()))


def is_negative(number: Exact) -> bool:
    """Whether of x and -x it is the one that is written -x, in an odd or even function's argument."""
    order = order_of(number)
    return bool(order) and order[0][1] < 0


def _roots(one: Unit, other: Unit) -> tuple[Fraction, tuple[tuple[int, Fraction], ...]]:
    exponents = dict(one.roots)
    whole = Fraction(1)
    for prime, exponent in other.roots:
        total = exponents.pop(prime, Fraction(0)) + exponent
        if total >= 1:
            whole, total = whole * prime, total - 1
        if total:
            exponents[prime] = total
    return whole, tuple(sorted(exponents.items()))


def _powers(one: Unit, other: Unit) -> tuple[tuple[Fraction, Exact], ...]:
    exponents = dict(one.powers)
    for base, exponent in other.powers:
        exponents[base] = exponents[base] + exponent if base in exponents else exponent
    return tuple(sorted(((base, total) for base, total in exponents.items() if total != 0), key=lambda pair: pair[0]))


def _under(one: Unit, other: Unit) -> Under:
    if not one.under or not other.under:
        return one.under or other.under
    often = dict(one.under)
    for divisor, times in other.under:
        often[divisor] = often.get(divisor, 0) + times
    return tuple(sorted(often.items(), key=lambda part: order_of(part[0])))


def _others(one: Unit, other: Unit) -> tuple[tuple[str, Exact, int], ...]:
    often = {(name, argument): times for name, argument, times in one.others}
    for name, argument, times in other.others:
        often[name, argument] = often.get((name, argument), 0) + times
    found = ((name, argument, times) for (name, argument), times in often.items() if times)
    return tuple(sorted(found, key=lambda part: (part[0], order_of(part[1]))))


def _turns(
    one: tuple[str, Exact] | None, other: tuple[str, Exact] | None
) -> Iterator[tuple[tuple[str, Exact] | None, Fraction]]:
    """The product of two cosines or sines as a sum of single ones."""
    if one is None or other is None:
        yield one or other, Fraction(1)
        return
    (first, a), (second, b) = one, other
    if first == second:
        yield from _turned("cos", a - b, HALF)
        yield from _turned("cos", a + b, HALF if first == "cos" else -HALF)
    else:
        sine, cosine = (a, b) if first == "sin" else (b, a)
        yield from _turned("sin", sine + cosine, HALF)
        yield from _turned("sin", sine - cosine, HALF)


def _turned(name: str, angle: Exact, share: Fraction) -> Iterator[tuple[tuple[str, Exact] | None, Fraction]]:
    """A cosine or sine in its one spelling: of no negative angle, and nothing for sin 0."""
    if angle == 0:
        if name == "cos":
            yield None, share
        return
    if is_negative(angle):
        angle, share = -angle, share if name == "cos" else -share
    yield (name, angle), share
