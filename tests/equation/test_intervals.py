"""Ranges of functions: no number of a range is lost, and mpmath's intervals are no narrower."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import iv

from attncli.equation.error_bounds import slopes
from attncli.equation.functions import FUNCTIONS
from attncli.equation.intervals import ANYTHING, EVERY_NUMBER, Interval, outwards
from tests.cases import in_one_test

numbers = st.floats(-30, 30)
CURVES = ("sigmoid", "softplus", "erf", "silu", "gelu", "phi", "relu")
OF_ONE = ("neg", "exp", "tanh", "abs", "sin", "cos", *CURVES)
OF_TWO = (
    *("add", "sub", "mul", "max", "min", "div", "floor_div", "mod"),
    *("le", "lt", "ge", "gt", "eq"),
)


def range_of(name: str, *arguments: Interval) -> Interval:
    function = FUNCTIONS[name].interval
    assert function is not None
    return function(*arguments)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[Interval, float]:
    """An interval and a number in it."""
    low, high = sorted((draw(numbers), draw(numbers)))
    return Interval(low + 0.0, high + 0.0), draw(st.floats(low + 0.0, high + 0.0))


@pytest.mark.parametrize("name", OF_ONE)
@given(one=ranges())
def test_no_value_of_one_number_is_lost(name: str, one: tuple[Interval, float]) -> None:
    assert FUNCTIONS[name].scalar(one[1]) in range_of(name, one[0])


@pytest.mark.parametrize("name", OF_TWO)
@example(one=(Interval(1.0, 2.0), 1.0), other=(Interval(-1.0, 1.0), 5e-324))
@given(one=ranges(), other=ranges())
def test_no_value_of_two_numbers_is_lost(
    name: str, one: tuple[Interval, float], other: tuple[Interval, float]
) -> None:
    found = range_of(name, one[0], other[0])
    divides = name in ("div", "floor_div", "mod")
    value = math.nan if divides and not other[1] else FUNCTIONS[name].scalar(one[1], other[1])
    # a quotient too large for a float is beyond all of them
    assert value in found or not math.isfinite(value)


def test_nothing_is_told_of_a_division_by_nothing() -> None:
    assert range_of("div", Interval(1, 2), Interval.at(0)) == ANYTHING


@pytest.mark.parametrize("name", ["exp", "sin", "cos"])
@given(one=ranges())
def test_a_range_is_as_narrow_as_can_be(name: str, one: tuple[Interval, float]) -> None:
    interval, _ = one
    found, theirs = (
        range_of(name, interval),
        getattr(iv, name)(iv.mpf([interval.low, interval.high])),
    )
    assert found.low == pytest.approx(float(theirs.a), abs=1e-12, rel=1e-12)
    assert found.high == pytest.approx(float(theirs.b), abs=1e-12, rel=1e-12)


@in_one_test(
    ("name", "arguments", "low", "high"),
    [
        ("mul", ((-2, 3), (-5, 7)), -15, 21),
        ("share", ((0, 0), (0, 0)), 0, 0),
        ("share", ((1, 2), (4, 8)), 1 / 8, 1 / 2),
        ("add_mask", ((1, 2), (-math.inf, -math.inf)), -math.inf, -math.inf),
        ("add_mask", ((1, 2), (-1, -1)), 0, 1),
        ("finite", ((-math.inf, -math.inf),), 0, 0),
        ("floor_div", ((-1, 7), (2, 2)), -1, 3),
        ("mod", ((5, 5.5), (2, 2)), 1, 1.5),
        ("mod", ((5, 6.5), (2, 2)), 0, 2),
        ("lt", ((1, 2), (3, 4)), 1, 1),
        ("lt", ((1, 3), (2, 4)), 0, 1),
        ("lt", ((2, 3), (1, 2)), 0, 0),
        ("le", ((2, 2), (2, 2)), 1, 1),
        ("eq", ((1, 2), (2, 3)), 0, 1),
        ("and_", ((1, 1), (0, 1)), 0, 1),
        ("and_", ((1, 1), (0, 0), (1, 1)), 0, 0),
        ("or_", ((0, 0), (0, 1)), 0, 1),
        ("or_", ((0, 0), (1, 1), (0, 1)), 1, 1),
        ("or_", ((0, 0), (0, 0)), 0, 0),
        ("where", ((1, 1), (2, 3), (7, 7)), 2, 3),
        ("where", ((0, 1), (2, 3), (7, 7)), 2, 7),
        ("exp", ((-math.inf, 0),), 0, 1),
        ("exp", ((0, 1e4),), 1, math.inf),
        ("sqrt", ((-1, 4),), 0, 2),
        ("pow", ((2, 2), (-1, 3)), 1 / 2, 8),
        ("pow", ((-2, 3), (2, 2)), 0, 9),
        ("pow", ((-2, 3), (3, 3)), -18, 27),
        ("pow", ((2, 3), (2, 2)), 4, 9),
        ("abs", ((-3, 1),), 0, 3),
        ("cos", ((-1, 1),), math.cos(1), 1),
        ("cos", ((3, 4),), -1, math.cos(4)),
        ("sin", ((0, 10),), -1, 1),
        ("sin", ((1, 2),), math.sin(1), 1),
        ("sin", ((4, 5),), -1, math.sin(4)),
        ("sqrt", ((0, 0.25),), 0, 0.5),
        ("div", ((1, 2), (0, 4)), 1 / 4, math.inf),
        ("div", ((-2, -1), (0, 4)), -math.inf, -1 / 4),
        ("div", ((1, 2), (-4, 0)), -math.inf, -1 / 4),
        ("div", ((-2, -1), (-4, 0)), 1 / 4, math.inf),
        ("mul", ((0, 0), (-math.inf, math.inf)), 0, 0),
        ("mul", ((-math.inf, math.inf), (0, 0)), 0, 0),
    ],
)
def test_known_ranges(
    name: str, arguments: tuple[tuple[float, float], ...], low: float, high: float
) -> None:
    found: Any = range_of(name, *(Interval(*map(float, ends)) for ends in arguments))
    assert (found.low, found.high) == (
        pytest.approx(low, rel=1e-14),
        pytest.approx(high, rel=1e-14),
    )
    assert found.low <= low
    assert found.high >= high


@pytest.mark.parametrize(
    ("one", "by", "found"),
    [
        ((0, 0), (-1, 1), Interval(0, 0)),
        ((1, 2), (-1, 1), EVERY_NUMBER),
        ((-1, 1), (0, 2), EVERY_NUMBER),
        ((-0.5, 1), (0, 2), EVERY_NUMBER),
    ],
)
def test_a_division_by_what_may_be_nearly_0(
    one: tuple[float, float], by: tuple[float, float], found: Interval
) -> None:
    assert range_of("div", Interval(*one), Interval(*by)) == found


@in_one_test(
    ("one", "other", "meets"),
    [
        ((0, 1), (2, 3), False),
        ((2, 3), (0, 1), False),
        ((0, 1), (1, 2), True),
        ((1, 2), (0, 1), True),
        ((0, 3), (1, 2), True),
        ((1, 2), (0, 3), True),
    ],
)
def test_ranges_meet_in_a_number(
    one: tuple[float, float], other: tuple[float, float], meets: bool
) -> None:
    assert Interval(*one).meets(Interval(*other)) is meets


@in_one_test(
    ("low", "high", "sign"),
    [(1, 2, 1), (0, 2, 1), (-2, -1, -1), (-2, 0, -1), (-1, 1, 0), (-0.5, 0.5, 0)],
)
def test_the_sign_of_a_range(low: float, high: float, sign: int) -> None:
    assert Interval(low, high).sign == sign


def test_ends_are_rounded_outwards_but_for_whole_numbers() -> None:
    assert range_of("mul", Interval.at(3.0), Interval.at(4.0)) == Interval.at(12.0)
    tenths = range_of("mul", Interval.at(0.1), Interval.at(3.0))
    assert tenths.low < 0.1 * 3 < tenths.high
    assert outwards(math.nan, 1.0) == outwards(1.0, math.nan) == ANYTHING
    assert range_of("sin", Interval(1.5, 1.57079632)).high <= 1
    assert range_of("sin", Interval(4.5, 4.7123889)).low >= -1


def test_logarithms() -> None:
    found = range_of("log", Interval(1.0, math.e))
    assert (found.low, found.high) == (pytest.approx(0), pytest.approx(1))
    assert range_of("log", Interval(0.0, 1.0)).low == -math.inf
    (slope,) = slopes("log", [Interval(2.0, 4.0)])
    assert (slope.low, slope.high) == (pytest.approx(1 / 4), pytest.approx(1 / 2))


def test_the_middle_of_a_range() -> None:
    """Half of the least number there is would be 0, and the sum of two of the greatest infinite."""
    assert (Interval(1, 4).middle, Interval(-3, 1).middle) == (2.5, -1)
    least, most = 5e-324, EVERY_NUMBER.high
    assert (Interval.at(least).middle, Interval.at(most).middle, EVERY_NUMBER.middle) == (
        least,
        most,
        0,
    )
