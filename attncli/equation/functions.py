"""The functions an equation may use, each with its meaning on arrays, floats, decimals and exact numbers.

How to add one is in docs/contributing.md; tests hold its tables together.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
REDUCTIONS = {"sum": "add", "max": "max"}


@dataclass(frozen=True, slots=True)
class Function:
    """One function in four worlds.

    `array(xp, *arrays)` on arrays of a namespace (Python floats may stand among the arguments);
    `scalar` on floats; `decimal` on Decimals, as a pocket calculator of 50 digits would;
    `exact` on Fractions (and infinities), None where the result is not rational.
    """

    array: Callable[..., Any]
    scalar: Callable[..., Any]
    decimal: Callable[..., Any]
    exact: Callable[..., Any]


def _plain(function: Callable[..., Any]) -> Function:
    """A function that Python's own numbers and arrays all understand, such as addition."""
    return Function(lambda xp, *arguments: function(*arguments), function, function, function)


def _add(*terms: Any) -> Any:
    return reduce(operator.add, terms)


def _and(*conditions: Any) -> Any:
    return reduce(operator.and_, conditions)


def _root(value: Fraction | float) -> Fraction | None:
    if not isinstance(value, Fraction) or value < 0:
        return None
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(top, bottom) if top**2 == value.numerator and bottom**2 == value.denominator else None


def _power(base: Any, exponent: Any) -> Any:
    if exponent == -math.inf:
        return Fraction(0) if base > 1 else None
    whole = isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent) <= 64
    return base**exponent.numerator if whole and (base != 0 or exponent >= 0) else None


def _exact_exp(value: Fraction | float) -> Fraction | None:
    return Fraction(0) if value == -math.inf else Fraction(1) if value == 0 else None


def _array_power(xp: Any, base: Any, power: Any) -> Any:
    """base ** power; a base that the format of the power cannot hold is taken through its logarithm instead."""
    if not hasattr(base, "dtype") and float(xp.asarray(base, dtype=power.dtype)) != base:
        return xp.exp(power * math.log(base))
    return base**power


def _decimal_tanh(value: Decimal) -> Decimal:
    if abs(value) > 100:
        return Decimal(1).copy_sign(value)
    if abs(value) < Decimal("1e-8"):  # the difference below would cancel; the next term is under 1e-48 of this
        return value - value**3 / 3 + 2 * value**5 / 15
    up, down = value.exp(), (-value).exp()
    return (up - down) / (up + down)


def _turn(value: Decimal) -> Decimal:
    """The same angle between -π and π, where the series below are short."""
    return value - (value / (2 * PI)).to_integral_value() * 2 * PI


def _series(term: Decimal, order: int, square: Decimal) -> Decimal:
    """The sum of a series whose terms go down by -x² / ((order + 1)(order + 2)) each."""
    total = term
    while abs(term) > Decimal("1e-60"):
        term *= -square / ((order + 1) * (order + 2))
        total, order = total + term, order + 2
    return total


def _decimal_sine(value: Decimal) -> Decimal:
    angle = _turn(value)
    return _series(angle, 1, angle * angle)


def _decimal_cosine(value: Decimal) -> Decimal:
    return _series(Decimal(1), 0, _turn(value) ** 2)


def _decimal_floor_div(value: Decimal, by: Decimal) -> Decimal:
    return (value / by).to_integral_value(ROUND_FLOOR)  # Decimal's own // rounds towards 0


def _decimal_mod(value: Decimal, by: Decimal) -> Decimal:
    return value - by * _decimal_floor_div(value, by)


def _share(part: Any, whole: Any) -> Any:
    """part / whole; where the whole is 0, as for a query that sees no key, so is every part, and it stays 0."""
    return part / whole if whole != 0 else part


def _array_share(xp: Any, part: Any, whole: Any) -> Any:
    return part / xp.where(whole == 0, xp.ones_like(whole), whole)


def _array_add_mask(xp: Any, score: Any, mask: Any) -> Any:
    return xp.where(mask == -math.inf, mask, score + mask)


def _add_mask(score: Any, mask: Any) -> Any:
    """score + mask, where -inf hides whatever the score is: an infinite one, too, that would make it NaN."""
    return mask if mask == -math.inf else score + mask


def _array_where(xp: Any, condition: Any, yes: Any, no: Any) -> Any:
    like = next((branch for branch in (yes, no) if hasattr(branch, "dtype")), None)
    dtype = like.dtype if like is not None else None
    yes, no = (branch if hasattr(branch, "dtype") else xp.asarray(branch, dtype=dtype) for branch in (yes, no))
    return xp.where(condition, yes, no)


def _maximum(*values: Any) -> Any:
    """The largest, or NaN where one is, as arrays have it."""
    unknown = [value for value in values if value != value]
    return unknown[0] if unknown else max(values)


def _array_finite(xp: Any, value: Any) -> Any:
    return xp.where(value == -math.inf, xp.zeros_like(value), value)


def _finite(value: Any) -> Any:
    """The value, and 0 for -inf: what a row without any visible key is shifted by."""
    return value.__class__(0) if value == -math.inf else value


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition else no


FUNCTIONS: dict[str, Function] = {
    "add": _plain(_add),
    "sub": _plain(operator.sub),
    "neg": _plain(operator.neg),
    "mul": _plain(operator.mul),
    "div": _plain(operator.truediv),
    "pow": Function(_array_power, operator.pow, operator.pow, _power),
    "share": Function(_array_share, _share, _share, _share),
    "add_mask": Function(_array_add_mask, _add_mask, _add_mask, _add_mask),
    "sqrt": Function(lambda xp, x: xp.sqrt(x), math.sqrt, Decimal.sqrt, _root),
    "exp": Function(lambda xp, x: xp.exp(x), math.exp, Decimal.exp, _exact_exp),
    "log": Function(lambda xp, x: xp.log(x), math.log, Decimal.ln, lambda x: Fraction(0) if x == 1 else None),
    "tanh": Function(lambda xp, x: xp.tanh(x), math.tanh, _decimal_tanh, lambda x: Fraction(0) if x == 0 else None),
    "sin": Function(lambda xp, x: xp.sin(x), math.sin, _decimal_sine, lambda x: Fraction(0) if x == 0 else None),
    "cos": Function(lambda xp, x: xp.cos(x), math.cos, _decimal_cosine, lambda x: Fraction(1) if x == 0 else None),
    "abs": Function(lambda xp, x: xp.abs(x), abs, abs, abs),
    "floor_div": Function(lambda xp, x, by: x // by, operator.floordiv, _decimal_floor_div, operator.floordiv),
    "mod": Function(lambda xp, x, by: x % by, operator.mod, _decimal_mod, operator.mod),
    "max": Function(lambda xp, *values: reduce(xp.maximum, values), _maximum, _maximum, _maximum),
    "finite": Function(_array_finite, _finite, _finite, _finite),
    "le": _plain(operator.le),
    "lt": _plain(operator.lt),
    "ge": _plain(operator.ge),
    "gt": _plain(operator.gt),
    "eq": _plain(operator.eq),
    "and_": _plain(_and),
    "where": Function(_array_where, _choose, _choose, _choose),
}

# Matrix forms: they stand in headlines (S = Q K^T), which are printed and never evaluated.
MATRIX_FORMS = frozenset(
    {"matmul", "transpose", "transposed", "hadamard", "softmax", "row_sums", "column_sums", "row_maxima", "rotate",
     "stack", "join", "diagonal"}
)  # fmt: skip
# Forms of what is printed already: fractions, roots and powers of e as they stand in a number, and terms left out.
PRINTED_FORMS = frozenset(
    {"ratio", "over", "quotient", "multiple", "e_to", "left_out", "comes_to", "comes_near", "nearly", "equally"}
)
PRINTED_AS = {"ratio": "div", "over": "div", "quotient": "div", "multiple": "mul", "e_to": "exp"}  # what they mean

# Of how many of its first arguments a single 0 makes the result 0, whatever the others are: 0·√2, 0 / √2.
ZERO_WINS = {"mul": 2, "div": 1, "share": 1}
