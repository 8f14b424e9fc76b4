"""How differences are spelled: enough digits to see them, and no more."""

from __future__ import annotations

from math import inf, nan

import pytest

from attncli.attention.registry import RULES
from attncli.page.document import plain
from attncli.page.measures import (
    all_digits,
    brief_place,
    distinct_numbers,
    legible_number,
    magnitude,
    place,
    rounded_up,
    with_power_of_ten,
)
from attncli.tracing.comparison import StepComparison
from tests.cases import in_one_test


@in_one_test(
    ("value", "precision", "expected"),
    [
        (2.1132, 3, "2.113"),
        (0.0123, 3, "0.012"),
        (0.00987, 3, "9.9e-3"),
        (1.23e-7, 3, "1.2e-7"),
        (0, 3, "0"),
        (3, 3, "3"),
        (5, 0, "5"),
        (0.4, 0, "4e-1"),
        (inf, 3, "∞"),
        (nan, 3, "NaN"),
        (5e-324, 3, "4.9e-324"),
    ],
)
def test_the_size_of_an_error(value: float, precision: int, expected: str) -> None:
    assert plain(magnitude(value, precision)) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(-1e9, "-1e+9"), (65504, "6.6e+4"), (1.2e-7, "1.2e-7"), (1, "1e+0")]
)
def test_a_power_of_ten(value: float, expected: str) -> None:
    assert with_power_of_ten(value) == expected


@in_one_test(
    ("a", "b", "expected"),
    [
        (0.7071, 0.5, ("0.707", "0.500")),
        (0.53291, 0.53289, ("0.53291", "0.53289")),
        (1, 1 + 1e-6, ("1", "1.000001")),
        (2, 5, ("2", "5")),
        (1e-9, 2e-9, ("1e-9", "2e-9")),
        (0, 3e-10, ("0", "3e-10")),
        (-inf, 2, ("-∞", "2")),
        (1, 1, ("1", "1")),
        (nan, 1, ("NaN", "1")),
    ],
)
def test_two_numbers_that_can_be_told_apart(a: float, b: float, expected: tuple[str, str]) -> None:
    assert tuple(map(plain, distinct_numbers(a, b, 3))) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1e-9, "1e-9"), (1.25e-7, "1.25e-7"), (0.05, "0.05"), (0.001, "0.001"), (10.0, "10")],
)
def test_every_digit(value: float, expected: str) -> None:
    assert all_digits(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(4.31e-7, "5e-7"), (5e-7, "5e-7"), (0.0096, "1e-2"), (1.0, "1e+0")]
)
def test_a_tolerance_is_rounded_up(value: float, expected: str) -> None:
    assert rounded_up(value) == expected
    assert float(expected) >= value


def test_negative_numbers_of_a_difference() -> None:
    assert (legible_number(0.996, 0), legible_number(0.94, 0), legible_number(0.00996, 3)) == (
        "1",
        "9.4e-1",
        "0.010",
    )
    assert (legible_number(-0.5, 3), legible_number(-1.2e-7, 3)) == ("-0.500", "-1.2e-7")


@pytest.mark.parametrize(
    ("name", "index", "whole", "brief"),
    [
        ("scores", (1, 3, 0, 1), "entry 1, head 3, I → AI", "e1, h3, I → AI"),
        ("K", (0, 2, 1, 0), "entry 0, kv head 2, AI, d1", "e0, kv2, AI, d1"),
        ("b_O", (0,), "head 0", "head 0"),
    ],
)
def test_a_place_in_a_table_has_less_room(
    name: str, index: tuple[int, ...], whole: str, brief: str
) -> None:
    words = ("I", "AI")
    heads = tuple(f"{'kv head' if name == 'K' else 'head'} {place}" for place in range(4))
    labels = (
        (("head 0",),)
        if name == "b_O"
        else (("entry 0", "entry 1"), heads, words, words if name != "K" else ("d1",))
    )
    step = StepComparison(RULES[name], ((1,), (1,)), labels)
    assert (place(step, index), brief_place(step, index)) == (whole, brief)
