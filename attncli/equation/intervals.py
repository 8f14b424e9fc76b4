"""Intervals of numbers, and what each function makes of them, where each argument may be anywhere
in a range.

Ends are rounded outwards, so that no number is lost. What is not known may be anything.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, nextafter

from attncli.equation import curves

# A higher whole power is taken through its logarithm, which is wider but quick.
MOST_FACTORS = 64


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`: from -1 to 2 in Interval(-1.0, 2.0), which has 0 in it, and
    whose square is from 0 to 4.
    """

    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def meets(self, other: Interval) -> bool:
        """Whether there is a number in both."""
        return self.low <= other.high and other.low <= self.high

    @property
    def middle(self) -> float:
        return self.low if self.low == self.high else self.low / 2 + self.high / 2

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def sign(self) -> int:
        """1 where no number is below 0, -1 where none is above, and 0 where there are both."""
        return 1 if self.low >= 0 else -1 if self.high <= 0 else 0

    @classmethod
    def at(cls, number: float) -> Interval:
        """Just this number."""
        return cls(number, number)


ANYTHING = Interval(-inf, inf)
# EVERY_NUMBER is each of these numbers, and ANYTHING is any one of them.
EVERY_NUMBER = Interval(-sys.float_info.max, sys.float_info.max)
ONE, ZERO = Interval.at(1.0), Interval.at(0.0)


def outwards(low: float, high: float) -> Interval:
    """The interval between two rounded numbers, widened by what rounding may have lost; anything
    where there is NaN.

    >>> outwards(0.1 + 0.2, 0.1 + 0.2)
    Interval(low=0.3, high=0.3000000000000001)
    """
    if math.isnan(low) or math.isnan(high):
        return ANYTHING
    below = nextafter(low, -inf)
    above = nextafter(high, inf)
    return Interval(below, above)


def hull(one: Interval, other: Interval) -> Interval:
    """What is in either, and between them.

    >>> hull(Interval(0.0, 1.0), Interval(3.0, 4.0))
    Interval(low=0.0, high=4.0)
    """
    low = min(one.low, other.low)
    high = max(one.high, other.high)
    return Interval(low, high)


def add(*terms: Interval) -> Interval:
    return outwards(sum(term.low for term in terms), sum(term.high for term in terms))


def sub(one: Interval, other: Interval) -> Interval:
    return outwards(one.low - other.high, one.high - other.low)


def neg(one: Interval) -> Interval:
    return Interval(-one.high, -one.low)


def mul(*factors: Interval) -> Interval:
    found = factors[0]
    for factor in factors[1:]:
        corners = product((found.low, found.high), (factor.low, factor.high))
        ends = [_product(one, other) for one, other in corners]
        low, high = min(ends), max(ends)
        is_point = found.width == 0 and factor.width == 0
        if is_point and all(end.is_integer() for end in ends):
            found = Interval(low, high)
        else:
            found = outwards(low, high)
    return found


def _product(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def div(one: Interval, other: Interval) -> Interval:
    """The quotients by every number but 0, towards which they grow beyond all bounds.

    >>> div(Interval(1.0, 2.0), Interval(0.0, 4.0)).high
    inf
    """
    if 0 in other:
        return _by_nearly_zero(one, other)
    dividends = (one.low, one.high)
    divisors = (other.low, other.high)
    ends = [above / below for above, below in product(dividends, divisors)]
    low = min(ends)
    high = max(ends)
    return outwards(low, high)


def _by_nearly_zero(one: Interval, other: Interval) -> Interval:
    if other.width == 0:
        return ANYTHING
    if one.low == one.high == 0:
        return one
    has_both_signs = other.low < 0 < other.high or one.low < 0 < one.high
    if has_both_signs:
        return EVERY_NUMBER
    above = one.low
    if one.low < 0:
        above = one.high
    below = other.high
    if other.high <= 0:
        below = other.low
    quotient = above / below
    nearest = outwards(quotient, quotient)
    grows_upwards = (one.low >= 0) == (other.high > 0)
    if grows_upwards:
        return Interval(nearest.low, inf)
    return Interval(-inf, nearest.high)


def share(part: Interval, whole: Interval) -> Interval:
    """part / whole, and part where the whole is just 0."""
    return part if whole.low == whole.high == 0 else div(part, whole)


def add_mask(score: Interval, mask: Interval) -> Interval:
    return mask if mask.high == -inf else add(score, mask)


def rising(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    """The range of a function that only grows."""
    return lambda one: outwards(_unbounded(function, one.low), _unbounded(function, one.high))


def _unbounded(function: Callable[[float], float], number: float) -> float:
    try:
        return function(number)
    except OverflowError:
        return inf


exp, tanh = rising(math.exp), rising(math.tanh)


def _valley(function: Callable[[float], float], lowest: float) -> Callable[[Interval], Interval]:
    """The range of a function that falls down to `lowest`, and grows from there."""

    def of(one: Interval) -> Interval:
        ends = [function(end) for end in (one.low, one.high)]
        if lowest in one:
            ends.append(function(lowest))
        return outwards(min(ends), max(ends))

    return of


def _with_limits(function: Callable[[float], float]) -> Callable[[float], float]:
    """A function of x times something that is 0 at -inf, and 1 at inf."""

    def of(x: float) -> float:
        if math.isinf(x):
            return max(x, 0.0)
        return function(x)

    return of


sigmoid, softplus, erf = rising(curves.sigmoid), rising(curves.softplus), rising(math.erf)
# Where their slope is 0, to the last digit of a double.
silu = _valley(_with_limits(lambda x: x * curves.sigmoid(x)), -1.2784645427610738)
gelu = _valley(_with_limits(curves.gelu), -0.7517915246935645)


def phi(one: Interval) -> Interval:
    """The density of the normal distribution, which is largest at 0."""
    size = absolute(one)
    return outwards(curves.phi(size.high), curves.phi(size.low))


def relu(one: Interval) -> Interval:
    """What is below 0 becomes 0."""
    return Interval(max(one.low, 0.0), max(one.high, 0.0))


def sqrt(one: Interval) -> Interval:
    """√; nothing below 0 has one."""
    low, high = max(one.low, 0.0), max(one.high, 0.0)
    return outwards(math.sqrt(low), math.sqrt(high))


def log(one: Interval) -> Interval:
    """ln; of 0 it is -inf, and nothing below has one."""
    return outwards(*(math.log(end) if end > 0 else -inf for end in (one.low, one.high)))


def power(base: Interval, exponent: Interval) -> Interval:
    """base^exponent of any base by a fixed whole number, or of a base above 0."""
    fixed = exponent.low
    is_whole = exponent.width == 0 and fixed.is_integer()
    if is_whole and 0 <= fixed <= MOST_FACTORS:
        return _whole_power(base, int(fixed))
    if base.low <= 0:
        return ANYTHING
    logarithm = mul(log(base), exponent)
    return exp(logarithm)


def _whole_power(base: Interval, exponent: int) -> Interval:
    if exponent == 0:
        return ONE
    factors = (base,) * exponent
    found = mul(*factors)
    # An even power is a product of a number with itself, and not of any two numbers of the base.
    if exponent % 2 == 0 and 0 in base:
        return Interval(0.0, found.high)
    return found


def absolute(value: Interval) -> Interval:
    ends = sorted((abs(value.low), abs(value.high)))
    return Interval(0.0 if 0 in value else ends[0], ends[1])


def finite(value: Interval) -> Interval:
    return ZERO if value.high == -inf else value


def largest(*values: Interval) -> Interval:
    return Interval(max(value.low for value in values), max(value.high for value in values))


def floor_div(one: Interval, other: Interval) -> Interval:
    """The quotients, rounded down: whole numbers.

    >>> floor_div(Interval(1.0, 2.0), Interval.at(0.75))
    Interval(low=1.0, high=2.0)
    """
    quotient = div(one, other)
    return Interval(_floor(quotient.low), _floor(quotient.high))


def _floor(number: float) -> float:
    return float(math.floor(number)) if math.isfinite(number) else number


def mod(one: Interval, other: Interval) -> Interval:
    """What is left of a division by a whole number of times: between 0 and the divisor."""
    times = floor_div(one, other)
    if times.width == 0:
        return sub(one, mul(times, other))
    return hull(ZERO, other)


# Whether a condition holds: 1 or 0, and both where the ranges do not decide.
EITHER = Interval(0.0, 1.0)


def less(one: Interval, other: Interval) -> Interval:
    """Whether a number of one range is less than one of another.

    >>> less(Interval(1.0, 2.0), Interval(3.0, 4.0)), less(Interval(1.0, 3.0), Interval(2.0, 4.0))
    (Interval(low=1.0, high=1.0), Interval(low=0.0, high=1.0))
    """
    if one.high < other.low:
        return ONE
    return ZERO if one.low >= other.high else EITHER


def _opposite(condition: Interval) -> Interval:
    return Interval(1.0 - condition.high, 1.0 - condition.low)


def greater(one: Interval, other: Interval) -> Interval:
    return less(other, one)


def not_less(one: Interval, other: Interval) -> Interval:
    return _opposite(less(one, other))


def not_greater(one: Interval, other: Interval) -> Interval:
    return _opposite(less(other, one))


def equal(one: Interval, other: Interval) -> Interval:
    if one.low == one.high == other.low == other.high:
        return ONE
    return EITHER if one.meets(other) else ZERO


def all_of(*conditions: Interval) -> Interval:
    return smallest(*conditions)


def any_of(*conditions: Interval) -> Interval:
    return largest(*conditions)


def choice(condition: Interval, yes: Interval, no: Interval) -> Interval:
    """One branch where the condition is decided, and else whatever is in either."""
    if condition == ONE:
        return yes
    return no if condition == ZERO else hull(yes, no)


def smallest(*values: Interval) -> Interval:
    return neg(largest(*map(neg, values)))


def slopes_of_smallest(*values: Interval) -> Iterator[Interval]:
    """1 for an argument that is the smallest, as for the largest of their opposites."""
    return slopes_of_largest(*map(neg, values))


def slopes_of_largest(*values: Interval) -> Iterator[Interval]:
    """1 for an argument that is the largest, 0 for one that is not, and between them where that is
    open.

    >>> list(slopes_of_largest(Interval(2.0, 3.0), Interval(0.0, 1.0)))
    [Interval(low=1.0, high=1.0), Interval(low=0.0, high=0.0)]
    >>> list(slopes_of_largest(Interval(2.0, 3.0), Interval(1.0, 4.0)))
    [Interval(low=0.0, high=1.0), Interval(low=0.0, high=1.0)]
    """
    for place, value in enumerate(values):
        others = [other for at, other in enumerate(values) if at != place]
        is_largest = all(value.low >= other.high for other in others)
        is_beaten = any(other.low > value.high for other in others)
        if is_largest:
            yield ONE
        elif is_beaten:
            yield ZERO
        else:
            yield Interval(0.0, 1.0)


def _wave(function: Callable[[float], float], top: float) -> Callable[[Interval], Interval]:
    """Sine or cosine, which is 1 at `top` and at every turn from there, and -1 half a turn away."""

    def within(value: Interval, place: float) -> bool:
        """Whether the wave is at this place somewhere in the interval, a turn or more away."""
        turns_to_low = (value.low - place) / math.tau
        turns_to_high = (value.high - place) / math.tau
        return math.ceil(turns_to_low) <= math.floor(turns_to_high)

    def of(value: Interval) -> Interval:
        if not math.isfinite(value.width) or value.width >= math.tau:
            return Interval(-1.0, 1.0)
        ends = (function(value.low), function(value.high))
        found = outwards(min(ends), max(ends))
        low = max(found.low, -1.0)
        high = min(found.high, 1.0)
        if within(value, top + math.pi):
            low = -1.0
        if within(value, top):
            high = 1.0
        return Interval(low, high)

    return of


sin, cos = _wave(math.sin, math.pi / 2), _wave(math.cos, 0.0)
