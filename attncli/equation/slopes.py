"""How fast each function of an equation changes with each of its arguments, where these are anywhere in a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from attncli.equation.intervals import ANYTHING, RANGES, Interval, div, mul, neg, power, sub

ONE, ZERO = Interval.at(1.0), Interval.at(0.0)


def _each_other(*values: Interval) -> Iterator[Interval]:
    for place in range(len(values)):
        others = (*values[:place], *values[place + 1 :])
        yield mul(*others) if others else ONE


def _maximum(*values: Interval) -> Iterator[Interval]:
    for place, value in enumerate(values):
        others = [other for at, other in enumerate(values) if at != place]
        if all(value.low >= other.high for other in others):
            yield ONE
        else:
            yield ZERO if any(other.low > value.high for other in others) else Interval(0.0, 1.0)


def _quotient(part: Interval, whole: Interval) -> list[Interval]:
    if whole.low == whole.high == 0:
        return [ONE, ZERO]
    return [div(ONE, whole), neg(div(part, mul(whole, whole)))]


def _bell(value: Interval) -> Interval:
    tanh = RANGES["tanh"](value)
    ends = [1 - end * end for end in (tanh.low, tanh.high)]
    return Interval(max(min(ends), 0.0), 1.0 if 0 in tanh else max(ends))


# The slopes of each function along each of its arguments.
PARTIALS: dict[str, Callable[..., list[Interval]]] = {
    "add": lambda *terms: [ONE] * len(terms),
    "sub": lambda *_: [ONE, neg(ONE)],
    "neg": lambda _: [neg(ONE)],
    "mul": lambda *values: list(_each_other(*values)),
    "div": _quotient,
    "share": _quotient,
    "sqrt": lambda value: [div(Interval.at(0.5), RANGES["sqrt"](value))],
    "exp": lambda value: [RANGES["exp"](value)],
    "tanh": lambda value: [_bell(value)],
    "pow": lambda base, exponent: [
        mul(exponent, power(base, sub(exponent, ONE))),
        mul(power(base, exponent), Interval(math.log(base.low), math.log(base.high)) if base.low > 0 else ANYTHING),
    ],
    "max": lambda *values: list(_maximum(*values)),
    "add_mask": lambda score, mask: [ZERO, ZERO] if mask.high == -math.inf else [ONE, ONE],
    "finite": lambda value: [ZERO if value.high == -math.inf else ONE],
    "abs": lambda value: [ONE if value.low >= 0 else neg(ONE) if value.high <= 0 else Interval(-1.0, 1.0)],
    "log": lambda value: [div(ONE, value)],
    "sin": lambda value: [RANGES["cos"](value)],
    "cos": lambda value: [neg(RANGES["sin"](value))],
}
