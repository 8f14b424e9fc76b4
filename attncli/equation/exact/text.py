"""Exact numbers as they are printed, and read from text: 5/√3, e^(5/√3)/(e^(1/√3) + e^√3), 2·√2 -
1/3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from attncli.equation.exact.functions import EULERS_NUMBER, ExactValue, evaluate_exactly
from attncli.equation.exact.numbers import (
    Divisors,
    Exact,
    ExactError,
    ExactNumber,
    Monomial,
    terms_of,
)
from attncli.equation.functions import WRITTEN_NAMES
from attncli.equation.nodes import Call, Expression, Name, Number, number_node, rewrite
from attncli.equation.notation import PLAIN
from attncli.equation.parser import EquationError, parse_expression
from attncli.equation.printer import write

LONGEST_TEXT = 100_000
# A divisor is taken so often as a factor of its own; a higher power is multiplied out.
MOST_TIMES = 20
_DECIMAL = re.compile(r"(\d+)\.(\d+)")
_ROOT = re.compile(r"√(\d+)")
_SIGNS_IN_PYTHON = str.maketrans({"^": "**", "·": "*", "−": "-", "√": "sqrt", "∞": "inf"})
_FUNCTION = "|".join(WRITTEN_NAMES)
_KNOWN = re.compile(rf"(?:\d+(?:\.\d+)?|{_FUNCTION}|inf|e|[-+*/() ])*")


def expression_of(number: Exact | float) -> Expression:
    """The number in its closed form; -inf where a mask hides."""
    return _Writer("ratio").number(number)


def text_of(number: ExactValue) -> str | None:
    """The closed form in ASCII, which `read_exact` reads back; None where there is none.

    >>> text_of(read_exact("sqrt(12) + 1/2")), text_of(Decimal("0.5"))
    ('2*sqrt(3) + 1/2', None)
    """
    return None if isinstance(number, Decimal) else write(expression_of(number), PLAIN)


class _Writer:
    """Writes numbers with fractions as `ratio`, or as `over` where they stand in an exponent."""

    def __init__(self, ratio: str) -> None:
        self.ratio = ratio

    def number(self, number: Exact | float, times: int = 1) -> Expression:
        """The number, each of its terms multiplied by a whole number.

        The product itself may be too long to be an exact number, so only its terms are made.
        """
        if isinstance(number, float):
            return Number(number, str(number))
        if not number:
            return number_node(0)
        groups = number.by_denominator() if isinstance(number, ExactNumber) else {(): number}
        parts: list[tuple[bool, Expression]] = []
        for divisors, above in groups.items():
            parts += self.quotient(above, divisors, times)
        return _summed(parts)

    def quotient(
        self, above: Exact, divisors: Divisors, times: int
    ) -> Iterator[tuple[bool, Expression]]:
        """The terms above a denominator, each with whether it is subtracted; all of them as one
        where there is one.
        """
        if not divisors:
            for monomial, share in terms_of(above).items():
                yield self.term(monomial, share * times)
            return
        content, numerator = (
            above.primitive() if isinstance(above, ExactNumber) else (above, Fraction(1))
        )
        # No numerator begins with a minus.
        if next(iter(terms_of(numerator).values())) < 0:
            content, numerator = -content, -numerator
        content *= times
        top = self.number(numerator, abs(content.numerator))
        bottom = self.divisors(content.denominator, divisors)
        line = "quotient" if self.ratio == "ratio" else self.ratio
        yield content < 0, Call(line, (top, bottom))

    def divisors(self, share: int, divisors: Divisors) -> Expression:
        """What a quotient is divided by: a single sum with the share in it, or powers of sums after
        it.
        """
        if [times for _, times in divisors] == [1]:
            return self.number(divisors[0][0], share)
        factors = [self.number(divisor) for divisor, _ in divisors]
        powers = [
            factor if times == 1 else Call("pow", (factor, number_node(times)))
            for factor, (_, times) in zip(factors, divisors, strict=True)
        ]
        return _product(share, powers)

    def term(self, monomial: Monomial, share: Fraction) -> tuple[bool, Expression]:
        """One term, and whether it is subtracted: 5/√3 has its root below, √3/2 above."""
        bottom = share.denominator
        above: list[Expression] = []
        below: list[Expression] = []
        if monomial.root > 1:
            root = Call("sqrt", (number_node(monomial.root),))
            if bottom % monomial.root == 0:
                bottom //= monomial.root
                below.append(root)
            else:
                above.append(root)
        if monomial.exponent:
            inside = _Writer("over").number(monomial.exponent)
            above.append(Name("e") if monomial.exponent == 1 else Call("e_to", (inside,)))
        left = _product(abs(share.numerator), above)
        return share < 0, (
            Call(self.ratio, (left, _product(bottom, below))) if below or bottom > 1 else left
        )


def _product(number: int, factors: list[Expression]) -> Expression:
    """A whole number before its factors; 1 is left out where there are any."""
    before = [number_node(number)] if number != 1 or not factors else []
    parts = (*before, *factors)
    return parts[0] if len(parts) == 1 else Call("multiple", parts)


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


def read_exact(text: str) -> ExactValue:
    """The number that a closed form says, or -inf; in decimals what has none here, such as 2^(1/3).

    Raises ExactError for what is no number.

    >>> read_exact("1/3"), read_exact("sqrt(4)"), read_exact("-inf")
    (Fraction(1, 3), Fraction(2, 1), -inf)
    """
    plain = _ROOT.sub(r"sqrt(\1)", text).translate(_SIGNS_IN_PYTHON).strip()
    if len(plain) > LONGEST_TEXT or not _KNOWN.fullmatch(plain):
        raise ExactError("not a closed form")
    for written, name in WRITTEN_NAMES.items():
        plain = plain.replace(written, name)
    plain = _DECIMAL.sub(_as_quotient, plain)
    try:
        expression = rewrite(parse_expression(plain), _factor_by_factor)
        found: ExactValue = evaluate_exactly(expression, {}, {}, _nowhere, {"e": EULERS_NUMBER})
    except (EquationError, RecursionError, MemoryError, TypeError, KeyError, ValueError) as error:
        raise ExactError("not a closed form") from error
    if isinstance(found, Decimal) and not found.is_finite():
        raise ExactError("it divides by zero, or is too large")
    if isinstance(found, float) and found != -math.inf:
        raise ExactError("not a closed form")
    return found


def _as_quotient(found: re.Match[str]) -> str:
    """A decimal as a quotient of whole numbers, since Python would take it for the nearest
    float.
    """
    whole, decimals = found.groups()
    above = (whole + decimals).lstrip("0") or "0"
    zeros = "0" * len(decimals)
    return f"({above}/1{zeros})"


def _factor_by_factor(node: Expression) -> Expression:
    """A quotient by a product or a power as quotients by its factors, as which exact numbers keep
    them.
    """
    match node:
        case Call("div", (above, Call("mul", factors))):
            return reduce(
                lambda left, factor: _factor_by_factor(Call("div", (left, factor))), factors, above
            )
        case Call(
            "div",
            (above, Call("pow", (base, Number(value=Fraction(denominator=1, numerator=times))))),
        ) if 1 < times <= MOST_TIMES:
            return reduce(lambda left, factor: Call("div", (left, factor)), [base] * times, above)
        case _:
            return node


def _nowhere(name: str, index: tuple[int, ...]) -> Exact:
    raise ExactError(f"{name} is not known")
