"""Rounding by hand: half up, away from zero."""

from decimal import Decimal

import pytest

from attncli.equation.rounding import round_half_up, round_on_paper
from tests.cases import in_one_test


@in_one_test(
    ("value", "places", "rounded"),
    [
        ("0.125", 2, "0.13"),
        ("-0.125", 2, "-0.13"),
        ("2.5", 0, "3"),
        ("0.1249", 2, "0.12"),
        ("-0.0004", 3, "0.000"),
        ("70.65", 1, "70.7"),
        ("9" * 60 + ".5", 0, "1" + "0" * 60),
        ("-Infinity", 3, "-Infinity"),
    ],
)
def test_halves_go_away_from_zero(value: str, places: int, rounded: str) -> None:
    assert str(round_half_up(Decimal(value), places)) == rounded


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("1.23456", "1.235"), ("123456789012345678", "1.235E+17"), ("-2.87449e76", "-2.874E+76")],
)
def test_on_paper_a_large_number_has_the_digits_that_are_written(value: str, rounded: str) -> None:
    assert str(round_on_paper(Decimal(value), 3)) == rounded
