"""Rounding by hand: half up, away from zero."""

from decimal import Decimal

import pytest

from attncli.equation.rounding import round_half_up


@pytest.mark.parametrize(
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
