"""Large negative numbers in place of -inf: how much weight leaks, and what a row of nothing else
becomes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.cases import in_one_test
from tests.conformance.problems import arrays, problem_file

Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
SENTINELS = [-1e4, -65504.0, -1e9, -3.4028234663852886e38, -1.7976931348623157e308]


def one_row(bias: list[float], scores: list[float], **choices: Any) -> dict[str, Any]:
    """One query of 1, so that the keys are the scores."""
    keys = [[score] for score in scores]
    return problem_file(Q=[[1]], K=keys, V=keys, score="dot", mask={"additive": [bias]}, **choices)


@in_one_test("sentinel", SENTINELS)
def test_nothing_leaks_where_a_key_is_left(solve: Solve, sentinel: float) -> None:
    weights = solve(one_row([0, sentinel, 0.5], [1, 30, -2]))["weights"].ravel()
    expected = np.exp([1, -np.inf, -1.5])
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-14)
    assert weights[1] == 0


@in_one_test("sentinel", [-5.0, -30.0, -100.0, -700.0])
def test_a_small_sentinel_leaks_its_power_of_e(solve: Solve, sentinel: float) -> None:
    """Two equal scores: the hidden key keeps e^s / (1 + e^s)."""
    weights = solve(one_row([0, sentinel], [3, 3]))["weights"].ravel()
    leak = mpmath.exp(sentinel) / (1 + mpmath.exp(sentinel))
    np.testing.assert_allclose(weights[1], float(leak), rtol=1e-13)
    assert weights[1] > 0


def test_a_large_score_outdoes_a_sentinel(solve: Solve) -> None:
    """-1e4 hides nothing from a score of 1e4 + 5: this key takes e^5 / (1 + e^5) of the row."""
    weights = solve(one_row([0, -1e4], [0, 10005]))["weights"].ravel()
    np.testing.assert_allclose(weights[1], float(mpmath.exp(5) / (1 + mpmath.exp(5))), rtol=1e-10)


@pytest.mark.parametrize("sentinel", [-1e4, -65504.0])
def test_a_row_of_sentinels_looks_as_if_nothing_were_hidden(solve: Solve, sentinel: float) -> None:
    scores = [1, 2.5, -0.75]
    weights = solve(one_row([sentinel] * 3, scores))["weights"]
    np.testing.assert_allclose(
        weights, solve(problem_file(**{**one_row([0] * 3, scores), "mask": None}))["weights"]
    )
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("scores", [[1, 2.5, -0.75], [0.1, 0.2, 0.3]])
def test_the_last_digits_of_scores_are_lost_beside_a_billion(
    solve: Solve, scores: list[float]
) -> None:
    """Doubles near 1e9 lie 2^-23 apart, so that weights are right to about 1e-7 only."""
    weights = solve(one_row([-1e9] * 3, scores))["weights"].ravel()
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(weights, expected, rtol=2.0**-22)


@pytest.mark.parametrize("sentinel", SENTINELS[-2:])
def test_a_row_of_the_smallest_numbers_is_uniform(solve: Solve, sentinel: float) -> None:
    """Beside -3.4e38 every score is lost: the query looks evenly at all keys, hidden or not."""
    np.testing.assert_array_equal(
        solve(one_row([sentinel] * 4, [1, 2.5, -0.75, 9]))["weights"].ravel(), [0.25] * 4
    )


def test_a_sentinel_is_not_hiding(program: Solve, trace: Callable[..., Any]) -> None:
    """A row of sentinels is not listed as fully masked; a row of -inf is."""
    problem = problem_file(
        Q=[[1]] * 2, K=[[1], [2]], V=[[1], [2]], mask={"additive": [[-1e9] * 2, [-np.inf] * 2]}
    )
    found = trace(problem)
    assert [tuple(np.atleast_1d(row)) for row in found.fully_masked] == [(1,)]
    np.testing.assert_allclose(found["weights"].sum(axis=1), [1, 0])


@in_one_test("sentinel", SENTINELS)
def test_sentinels_and_infinities_give_the_same_where_a_key_is_left(
    solve: Solve, sentinel: float
) -> None:
    random = np.random.default_rng(6)
    hide = random.random((2, 4, 3, 5)) < 0.5
    hide[..., 0] = False
    given = arrays(random)
    found = [
        solve(problem_file(**given, mask={"additive": np.where(hide, low, 0)}))
        for low in (sentinel, -np.inf)
    ]
    np.testing.assert_allclose(found[0]["weights"], found[1]["weights"], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(found[0]["output"], found[1]["output"], rtol=1e-12)
