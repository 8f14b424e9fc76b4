"""Exact numbers as expressions, as they are printed: 5/√3, e^(5/√3)/(e^(1/√3) + e^√3), 2·√2 - 1/3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import reduce
from itertools import groupby

from attncli.equation.exact.numbers import Closed, Exact, terms_of
from attncli.equation.exact.units import E, Under, Unit
from attncli.equation.nodes import Call, Expression, Name, Number, whole
from attncli.equation.notation import PLAIN
from attncli.equation.printer import write


def expression_of(number: Exact | float) -> Expression:
    """The number in its closed form; -inf where a mask hides."""
    return _Writer("ratio").number(number)


def text_of(number: Exact | float) -> str:
    """The closed form in ASCII, which `read_closed` reads back."""
    return write(expression_of(number), PLAIN)


class _Writer:
    """Writes numbers with fractions as `ratio`, or as `over` where they stand in an exponent."""

    def __init__(self, ratio: str) -> None:
        self.ratio = ratio

    def number(self, number: Exact | float) -> Expression:
        if isinstance(number, float):
            return Number(number, str(number))
        if not number:
            return whole(0)
        groups = number.by_denominator() if isinstance(number, Closed) else {(): number}
        return _summed(part for under, above in groups.items() for part in self.quotient(above, under))

    def quotient(self, above: Exact, under: Under) -> Iterator[tuple[bool, Expression]]:
        """The terms above a denominator, each with whether it is subtracted; all of them as one where there is one."""
        if not under:
            yield from (self.term(unit, share) for unit, share in terms_of(above).items())
            return
        content, numerator = above.primitive() if isinstance(above, Closed) else (above, Fraction(1))
        if next(iter(terms_of(numerator).values())) < 0:  # no numerator begins with a minus
            content, numerator = -content, -numerator
        top, bottom = abs(content.numerator) * numerator, self.divisors(content.denominator, under)
        line = "quotient" if self.ratio == "ratio" else self.ratio
        yield content < 0, Call(line, (self.number(top), bottom))

    def divisors(self, share: int, under: Under) -> Expression:
        """What a quotient is divided by: a single sum with the share in it, or powers of sums after it."""
        if [times for _, times in under] == [1]:
            return self.number(share * under[0][0])
        factors = [self.number(divisor) for divisor, _ in under]
        powers = [
            factor if times == 1 else Call("pow", (factor, whole(times)))
            for factor, (_, times) in zip(factors, under, strict=True)
        ]
        return _product(share, powers)

    def term(self, unit: Unit, share: Fraction) -> tuple[bool, Expression]:
        """One term, and whether it is subtracted: 5/√3 has its root below, √3/2 above."""
        top, bottom = abs(share.numerator), share.denominator
        above: list[Expression] = []
        below: list[Expression] = []
        for degree, under_root in _by_degree(unit):
            if degree == 2 and bottom % under_root == 0:
                bottom //= under_root
                below.append(Call("sqrt", (whole(under_root),)))
            elif degree == 2:
                above.append(Call("sqrt", (whole(under_root),)))
            else:
                above.append(Call("pow", (whole(under_root), Call("over", (whole(1), whole(degree))))))
        above += self.factors(unit)
        left = _product(top, above)
        return share < 0, Call(self.ratio, (left, _product(bottom, below))) if below or bottom > 1 else left

    def factors(self, unit: Unit) -> Iterator[Expression]:
        exponents = _Writer("over")
        for base, exponent in unit.powers:
            inside = exponents.number(exponent)
            if base != E:
                yield Call("pow", (self.number(base), inside))
            else:
                yield Name("e") if exponent == 1 else Call("e_to", (inside,))
        turn = ((*unit.turn, 1),) if unit.turn else ()
        for name, argument, times in (*turn, *unit.others):
            called = Call(name, (self.number(argument),))
            yield called if times == 1 else Call("pow", (called, whole(times)))


def _by_degree(unit: Unit) -> Iterator[tuple[int, int]]:
    """The roots by degree, each with the whole number under it: 2^(1/2)·3^(1/2) is the second root of 6."""
    by_degree = sorted(unit.roots, key=lambda root: root[1].denominator)
    for degree, roots in groupby(by_degree, key=lambda root: root[1].denominator):
        yield degree, reduce(lambda product, root: product * root[0] ** root[1].numerator, roots, 1)


def _product(number: int, factors: list[Expression]) -> Expression:
    """A whole number before its factors; 1 is left out where there are any."""
    before = [whole(number)] if number != 1 or not factors else []
    parts = (*before, *factors)
    if len(parts) == 1:
        return parts[0]
    digits_meet = any(isinstance(part, Call) and _begins_with_a_digit(part) for part in parts[1:])
    return Call("mul" if digits_meet else "multiple", parts)


def _begins_with_a_digit(power: Call) -> bool:
    return power.function == "pow" and isinstance(power.arguments[0], Number)


def _summed(terms: Iterable[tuple[bool, Expression]]) -> Expression:
    """a - b + c."""
    total: Expression | None = None
    for negative, term in terms:
        if total is None:
            total = Call("neg", (term,)) if negative else term
        else:
            total = _joined(total, term, "sub" if negative else "add")
    assert total is not None
    return total


def _joined(total: Expression, term: Expression, sign: str) -> Expression:
    if sign == "add" and isinstance(total, Call) and total.function == "add":
        return Call("add", (*total.arguments, term))
    return Call(sign, (total, term))
