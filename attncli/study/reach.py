"""Whether a cell can come out as written, when the numbers it is worked out from lie anywhere within what they claim.

A cell's sentence is a tree over variables, each with its interval. Where every variable stands in it once, the range
of the tree is exact. Where one stands in it several times, as a score in a softmax, slopes tell which ends of its
interval lead to the least and to the greatest value; what is left undecided is halved until it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from attncli.equation.intervals import ANYTHING, RANGES, Interval, add, div, mul, neg, power, sub
from attncli.equation.tree import Call, Expression, Number, Ref, walk

Box = Mapping[Ref, Interval]  # what each variable may be
HALVINGS = 200  # boxes looked at before a cell counts as out of reach

_ONE, _ZERO = Interval.at(1.0), Interval.at(0.0)


@dataclass(frozen=True, slots=True)
class Dual:
    """A range, and how fast it changes with each variable; a variable that is not named changes nothing."""

    value: Interval
    slopes: Mapping[Ref, Interval] = field(default_factory=dict)


def value_at(tree: Expression, place: Mapping[Ref, float]) -> float:
    """What the tree is at one place; NaN where that is nothing."""
    found = range_of(tree, {variable: Interval.at(number) for variable, number in place.items()})
    return found.middle if math.isfinite(found.middle) or found.width == 0 else math.nan


def range_of(tree: Expression, box: Box) -> Interval:
    """Where the tree may lie: never less than that, and no more where each variable stands in it once."""
    match tree:
        case Number(value=value, text=text):
            return _literal(value, text)
        case Ref():
            return box[tree]
        case Call(function=function, arguments=arguments):
            return RANGES[function](*(range_of(argument, box) for argument in arguments))
    raise TypeError(f"no range of {tree!r}")


def can_reach(tree: Expression, box: Box, target: Interval) -> bool:
    """Whether some place in the box gives a value within the target."""
    often = Counter(node for node in walk(tree) if isinstance(node, Ref))
    whole = range_of(tree, box)
    if not whole.meets(target):
        return False
    if whole != ANYTHING and all(count == 1 for count in often.values()):
        return True
    boxes = [dict(box)]
    for _ in range(HALVINGS):
        if not boxes:
            return False
        found, rest = _look(tree, boxes.pop(0), target)
        if found:
            return True
        boxes += rest
    return False


def _look(tree: Expression, box: dict[Ref, Interval], target: Interval) -> tuple[bool, list[dict[Ref, Interval]]]:
    """Whether the target is surely reached within this box, or else the halves of it that may still reach it."""
    slopes = dual(tree, box).slopes
    lowest, highest = dict(box), dict(box)
    for variable, slope in slopes.items():
        rising = slope.sign
        if rising and variable in box:
            ends = (Interval.at(box[variable].low), Interval.at(box[variable].high))
            lowest[variable], highest[variable] = ends if rising > 0 else ends[::-1]
    least, most = range_of(tree, lowest), range_of(tree, highest)
    if not Interval(least.low, most.high).meets(target):
        return False, []
    points = [
        value_at(tree, {variable: end.middle for variable, end in place.items()}) for place in (lowest, highest, box)
    ]
    known = [point for point in points if not math.isnan(point)]
    if known and Interval(min(known), max(known)).meets(target):  # all between them is reached, too
        return True, []
    open_ones = [variable for variable in box if lowest[variable].width > 0]
    if not open_ones:
        return False, []
    widest = max(open_ones, key=lambda variable: _weight(slopes.get(variable, ANYTHING), box[variable]))
    middle = box[widest].middle
    halves = (Interval(box[widest].low, middle), Interval(middle, box[widest].high))
    return False, [{**box, widest: half} for half in halves]


def _weight(slope: Interval, interval: Interval) -> float:
    return max(abs(slope.low), abs(slope.high)) * interval.width


def dual(tree: Expression, box: Box) -> Dual:
    """The range of a tree and of its slopes, by the rules of differentiation."""
    match tree:
        case Number(value=value, text=text):
            return Dual(_literal(value, text))
        case Ref():
            return Dual(box[tree], {tree: _ONE})
        case Call(function=function, arguments=arguments):
            parts = [dual(argument, box) for argument in arguments]
            values = [part.value for part in parts]
            outer = PARTIALS[function](*values) if any(part.slopes for part in parts) else [_ZERO] * len(parts)
            slopes: dict[Ref, Interval] = {}
            for rate, part in zip(outer, parts, strict=True):
                for variable, slope in part.slopes.items():
                    grown = mul(rate, slope)
                    slopes[variable] = add(slopes[variable], grown) if variable in slopes else grown
            return Dual(RANGES[function](*values), slopes)
    raise TypeError(f"no slope of {tree!r}")


def _literal(value: object, text: str) -> Interval:
    number = float(value) if value is not None else float(text)  # type: ignore[arg-type]
    return Interval.at(number)


def _each_other(*values: Interval) -> Iterator[Interval]:
    for place in range(len(values)):
        others = (*values[:place], *values[place + 1 :])
        yield mul(*others) if others else _ONE


def _maximum(*values: Interval) -> Iterator[Interval]:
    for place, value in enumerate(values):
        others = [other for at, other in enumerate(values) if at != place]
        if all(value.low >= other.high for other in others):
            yield _ONE
        else:
            yield _ZERO if any(other.low > value.high for other in others) else Interval(0.0, 1.0)


def _quotient(part: Interval, whole: Interval) -> list[Interval]:
    if whole.low == whole.high == 0:
        return [_ONE, _ZERO]
    return [div(_ONE, whole), neg(div(part, mul(whole, whole)))]


def _bell(value: Interval) -> Interval:
    tanh = RANGES["tanh"](value)
    ends = [1 - end * end for end in (tanh.low, tanh.high)]
    return Interval(max(min(ends), 0.0), 1.0 if 0 in tanh else max(ends))


# The slopes of each function along each of its arguments.
PARTIALS: dict[str, Callable[..., list[Interval]]] = {
    "add": lambda *terms: [_ONE] * len(terms),
    "sub": lambda *_: [_ONE, neg(_ONE)],
    "neg": lambda _: [neg(_ONE)],
    "mul": lambda *values: list(_each_other(*values)),
    "div": _quotient,
    "share": _quotient,
    "sqrt": lambda value: [div(Interval.at(0.5), RANGES["sqrt"](value))],
    "exp": lambda value: [RANGES["exp"](value)],
    "tanh": lambda value: [_bell(value)],
    "pow": lambda base, exponent: [
        mul(exponent, power(base, sub(exponent, _ONE))),
        mul(power(base, exponent), Interval(math.log(base.low), math.log(base.high)) if base.low > 0 else ANYTHING),
    ],
    "max": lambda *values: list(_maximum(*values)),
    "add_mask": lambda score, mask: [_ZERO, _ZERO] if mask.high == -math.inf else [_ONE, _ONE],
    "finite": lambda value: [_ZERO if value.high == -math.inf else _ONE],
    "abs": lambda value: [_ONE if value.low >= 0 else neg(_ONE) if value.high <= 0 else Interval(-1.0, 1.0)],
    "sin": lambda value: [RANGES["cos"](value)],
    "cos": lambda value: [neg(RANGES["sin"](value))],
}
