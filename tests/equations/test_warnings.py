"""Infinities that an equation has in it are meant; any other is told of."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import attncli

QKV: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [2, 1]], "V": [[1], [2]]}


def test_a_mask_in_an_equation_is_no_overflow() -> None:
    """As a step of its own, before a softmax of its own, and in the place of ours."""
    hidden = "where(j <= i, scores[i, j], -inf)"
    for equations in (
        [f"seen[i, j] = {hidden}", "weights[i, j] = softmax(j, seen[i, j])"],
        [f"scaled[i, j] = {hidden}"],
    ):
        trace = attncli.trace(**QKV, equations=equations)
        assert trace.warnings == ()
        assert trace["weights"][0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "equation",
    [
        # What is too large, an infinity with the other sign, and what is no number.
        "scaled[i, j] = exp(1000 * scores[i, j])",
        "scaled[i, j] = where(j <= i, exp(1000 * K[j, 0]), -inf)",
        "scaled[i, j] = inf - exp(1000 * K[j, 0])",
    ],
)
def test_any_other_infinity_is_told_of(equation: str) -> None:
    trace = attncli.trace(**QKV, equations=[equation])
    assert "float64" in " ".join(trace.warnings)


@pytest.mark.parametrize("rounding", ["shown", "paper", "exact"])
@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("it = (((1.001 ** 60) ** 60) ** 60) ** 0.001", 1.001**216),
        ("it = (((((2 / 3) ** 60) ** 60) ** 60) ** 60)", 0.0),
        ("it = 0 * sin(10 ** 300 * K[1, 0]) + 1", 1.0),
    ],
)
def test_powers_of_powers_and_large_angles_take_no_time(
    rounding: Any, equation: str, expected: float
) -> None:
    """Fractions would have millions of digits."""
    before = time.process_time()
    trace = attncli.trace(**QKV, equations=[equation], result="it", rounding=rounding)
    assert time.process_time() - before < 5
    np.testing.assert_allclose(trace["it"], expected, atol=1e-3)
