"""The functions of equations on exact numbers, and one cell worked out in them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from attncli.equation.exact.decimals import sign_of
from attncli.equation.exact.numbers import Exact, is_zero, quotient
from attncli.equation.exact.powers import cosine, exponential, logarithm, power, root, sine, tanh
from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Expression, Number
from attncli.equation.substitution import worked_out


def _add(*terms: Any) -> Any:
    hidden = [term for term in terms if term == -math.inf]
    return hidden[0] if hidden else reduce(operator.add, terms)


def _maximum(*values: Any) -> Any:
    seen = [value for value in values if value != -math.inf]
    return reduce(lambda one, other: other if sign_of(other - one) > 0 else one, seen) if seen else -math.inf


def _share(part: Any, whole: Any) -> Any:
    return part if is_zero(whole) else quotient(part, whole)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {name: function.exact for name, function in FUNCTIONS.items()} | {
    "add": _add,
    "sub": lambda one, other: one if one == -math.inf else one - other,
    "add_mask": _add,
    "div": quotient,
    "share": _share,
    "pow": power,
    "sqrt": root,
    "exp": exponential,
    "log": logarithm,
    "tanh": tanh,
    "sin": sine,
    "cos": cosine,
    "abs": lambda value: -value if sign_of(value) < 0 else value,
    "max": _maximum,
    "finite": lambda value: Fraction(0) if value == -math.inf else value,
    **dict.fromkeys(("ratio", "over", "quotient"), quotient),  # as they are printed
    "multiple": lambda *factors: reduce(operator.mul, factors),
    "e_to": exponential,
}


def work_exactly(
    expression: Expression,
    place: Mapping[str, int],
    sizes: Mapping[str, int],
    number: Callable[[str, tuple[int, ...]], Exact | float],
    scalars: Mapping[str, Exact | float],
) -> Any:
    """One cell's exact value from `number(name, indices)`: a Fraction, a Closed, or -inf where a mask hides.

    Raises ExactError for what has no closed form here, and ZeroDivisionError.
    """

    def constant(number: Number) -> Any:
        if number.value is None:
            raise TypeError(f"cannot work {number!r}")
        return number.value

    def apply(function: str, *arguments: Any) -> Any:
        if function not in _FUNCTIONS:
            raise TypeError(f"cannot work {function}")
        return _FUNCTIONS[function](*arguments)

    return worked_out(expression, place, sizes, number, scalars, Fraction, constant, apply)
