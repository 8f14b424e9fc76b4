"""Rows of numbers as JSON are what Python's own `repr` and `json` make of them, to the last digit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.page.numerals import row_texts
from attncli.page.shortest import digits
from attncli.tracing.json_numbers import json_values

NUMBER = 20_000
RANDOM = np.random.default_rng(7)
BITS = RANDOM.integers(0, 2**63, NUMBER, dtype=np.uint64)
POWERS_OF_TWO = np.ldexp(1.0, np.arange(-1074, 1024))
POWERS_OF_TEN = np.array([float(f"1e{power}") for power in range(-323, 309)])
WHOLE = RANDOM.integers(-(2**53), 2**53, NUMBER).astype(np.float64)
DRAWN = {
    "near 1": RANDOM.standard_normal(NUMBER),
    "any size": np.where(BITS < 0x7FF0 << 48, BITS.view(np.float64), 0.0),
    "with and without a power": RANDOM.choice([-1, 1], NUMBER) * 10.0 ** RANDOM.uniform(-7, 17, NUMBER),
    "three decimals": RANDOM.standard_normal(NUMBER).round(3),
    "single precision": RANDOM.standard_normal(NUMBER).astype(np.float32).astype(np.float64),
    "half precision": RANDOM.standard_normal(NUMBER).astype(np.float16).astype(np.float64),
    "whole": WHOLE,
    "quarters": WHOLE / 2.0 ** RANDOM.integers(1, 60, NUMBER),
    "powers of two and their neighbours": np.concatenate(
        [POWERS_OF_TWO, np.nextafter(POWERS_OF_TWO, 0), np.nextafter(POWERS_OF_TWO, np.inf)]
    ),
    "powers of ten and their neighbours": np.concatenate(
        [POWERS_OF_TEN, np.nextafter(POWERS_OF_TEN, 0), np.nextafter(POWERS_OF_TEN, np.inf)]
    ),
    "subnormal": RANDOM.integers(1, 2**52, 1000).astype(np.uint64).view(np.float64),
    "what a mask makes": RANDOM.choice([0.0, -0.0, 1.0, 0.5, -np.inf, np.inf, np.nan, 5e-324, 5e-07, -1e-05], NUMBER),
}


def expected(rows: np.ndarray) -> list[str]:
    return [json.dumps(json_values(row), allow_nan=False) for row in rows]


@pytest.mark.each_choice
@pytest.mark.parametrize("numbers", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("width", [1, 7, 100])
def test_rows_are_those_of_json(numbers: np.ndarray, width: int) -> None:
    rows = numbers[: len(numbers) // width * width].reshape(-1, width)
    assert row_texts(rows) == expected(rows)
    assert row_texts(rows[::-1]) == expected(rows[::-1])


@given(numbers=st.lists(st.floats(), min_size=1, max_size=20))
def test_any_numbers(numbers: list[float]) -> None:
    rows = np.array([numbers])
    assert row_texts(rows) == expected(rows)


@pytest.mark.parametrize("kind", ["near 1", "any size", "three decimals"])
def test_few_are_left_to_python(kind: str) -> None:
    """All of these would be right, too, if it were never sure."""
    _, _, sure = digits(DRAWN[kind])
    assert np.mean(~sure) < 0.01


def test_ties_are_not_decided_here() -> None:
    """From 2^54 on a number half way between two doubles is whole; which of them it is depends on the last bit."""
    numbers = 2.0**54 + 4 * np.arange(1, 2000)
    assert row_texts(numbers[None]) == expected(numbers[None])
