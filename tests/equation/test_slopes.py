"""How fast functions change: known slopes by hand, and derivatives by mpmath, none of which lies
outside its range.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.equation import error_bounds
from attncli.equation.intervals import Interval
from tests.cases import in_one_test

INF = math.inf


def slopes(name: str, *ranges: tuple[float, float]) -> list[Any]:
    """(low, high) of each slope."""
    return [
        (slope.low, slope.high)
        for slope in error_bounds.slopes(name, [Interval(*map(float, ends)) for ends in ranges])
    ]


@in_one_test(
    ("name", "ranges", "expected"),
    [
        ("add", [(1, 2), (3, 4), (5, 6)], [(1, 1)] * 3),
        ("sub", [(1, 2), (3, 4)], [(1, 1), (-1, -1)]),
        ("neg", [(1, 2)], [(-1, -1)]),
        ("mul", [(1, 2), (3, 5)], [(3, 5), (1, 2)]),
        ("div", [(1, 2), (2, 4)], [(1 / 4, 1 / 2), (-1 / 2, -1 / 16)]),
        ("share", [(1, 2), (2, 4)], [(1 / 4, 1 / 2), (-1 / 2, -1 / 16)]),
        ("share", [(0, 0), (0, 0)], [(1, 1), (0, 0)]),
        ("sqrt", [(4, 16)], [(1 / 8, 1 / 4)]),
        ("exp", [(0, 1)], [(1, math.e)]),
        ("log", [(2, 4)], [(1 / 4, 1 / 2)]),
        ("tanh", [(-1, 2)], [(1 - math.tanh(2) ** 2, 1)]),
        ("tanh", [(1, 2)], [(1 - math.tanh(2) ** 2, 1 - math.tanh(1) ** 2)]),
        ("pow", [(2, 3), (2, 2)], [(4, 6), (4 * math.log(2), 9 * math.log(3))]),
        ("pow", [(0.5, 0.5), (1, 1)], [(1, 1), (0.5 * math.log(0.5), 0.5 * math.log(0.5))]),
        ("max", [(1, 2), (3, 4)], [(0, 0), (1, 1)]),
        ("max", [(1, 3), (2, 4)], [(0, 1), (0, 1)]),
        ("max", [(5, 6), (1, 2), (3, 5)], [(1, 1), (0, 0), (0, 1)]),
        ("max", [(1, 2), (4, 5), (0, 1)], [(0, 0), (1, 1), (0, 0)]),
        ("add_mask", [(1, 2), (-INF, -INF)], [(0, 0), (0, 0)]),
        ("add_mask", [(1, 2), (-1, 0)], [(1, 1), (1, 1)]),
        ("finite", [(-INF, -INF)], [(0, 0)]),
        ("finite", [(1, 2)], [(1, 1)]),
        ("abs", [(0.5, 2)], [(1, 1)]),
        ("abs", [(0, 2)], [(1, 1)]),
        ("abs", [(-2, -0.5)], [(-1, -1)]),
        ("abs", [(-1, 2)], [(-1, 1)]),
        ("sin", [(0, 1)], [(math.cos(1), 1)]),
        ("cos", [(0, 1)], [(-math.sin(1), 0)]),
    ],
)
def test_known_slopes(
    name: str, ranges: list[tuple[float, float]], expected: list[tuple[float, float]]
) -> None:
    found = slopes(name, *ranges)
    assert len(found) == len(expected)
    for (low, high), (least, most) in zip(found, expected, strict=True):
        assert (low, high) == (
            pytest.approx(least, rel=1e-12, abs=1e-12),
            pytest.approx(most, rel=1e-12, abs=1e-12),
        )
        assert low <= least
        assert high >= most


FUNCTIONS = {
    "tanh": mpmath.tanh,
    "exp": mpmath.exp,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sqrt": mpmath.sqrt,
    "log": mpmath.log,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(ends=st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)), part=st.floats(0, 1))
def test_no_derivative_is_outside_its_range(
    name: str, ends: tuple[float, float], part: float
) -> None:
    low, high = sorted(ends)
    place = min(low + part * (high - low), high)
    ((least, most),) = slopes(name, (low, high))
    with mpmath.workdps(40):
        derivative = mpmath.diff(FUNCTIONS[name], mpmath.mpf(place))
    assert least - 1e-12 <= derivative <= most + 1e-12
