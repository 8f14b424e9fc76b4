"""RoPE and ALiBi: numbers by the formulas of their papers, ONNX's RotaryEmbedding, and what they
promise.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import in_one_test
from tests.conformance.problems import arrays, problem_file

Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
HALF, INTERLEAVED = [0, 2, 1, 3], [0, 1, 2, 3]  # where the pairs of a row of four begin and end


@pytest.mark.parametrize(("pairing", "order"), [("half", HALF), ("interleaved", INTERLEAVED)])
def test_a_row_is_turned_pair_by_pair(solve: Solve, pairing: str, order: list[int]) -> None:
    """With theta 100 and four features the pairs turn by 1 and by 1/10 of a radian for every
    position.
    """
    row = [1.0, 2.0, 3.0, 4.0]
    found = solve(
        problem_file(
            Q=[row] * 3,
            K=[row] * 3,
            V=[[1]] * 3,
            position={"rope": {"theta": 100, "pairing": pairing}},
        )
    )
    first, second = (complex(row[order[at]], row[order[at + 1]]) for at in (0, 2))
    for t in range(3):
        turned = first * cmath.exp(1j * t), second * cmath.exp(0.1j * t)
        expected = np.empty(4)
        expected[order] = [turned[0].real, turned[0].imag, turned[1].real, turned[1].imag]
        np.testing.assert_allclose(found["Q_rot"][0, 0, t], expected, rtol=1e-13)
        np.testing.assert_allclose(found["K_rot"][0, 0, t], expected, rtol=1e-13)


def test_theta_is_10000_and_pairs_are_halves_where_not_said(solve: Solve) -> None:
    given = arrays(np.random.default_rng(0), n=4, m=4)
    said = solve(problem_file(**given, position={"rope": {"theta": 10000, "pairing": "half"}}))
    for rope in ({"theta": 10000}, {"pairing": "half"}):
        np.testing.assert_array_equal(
            said["weights"], solve(problem_file(**given, position={"rope": rope}))["weights"]
        )


def test_angles(program: Solve) -> None:
    """Position times theta^(-2r/d), one column per pair."""
    given = arrays(np.random.default_rng(0), n=3, m=3, d=6)
    found = program(problem_file(**given, position={"rope": {"theta": 64}}))["angles"]
    angles = found.reshape(found.shape[-2:])
    np.testing.assert_allclose(
        angles[:3], [[0, 0, 0], [1, 1 / 4, 1 / 16], [2, 1 / 2, 1 / 8]], rtol=1e-13, atol=1e-15
    )


@pytest.mark.onnx
@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("past", [0, 3])
def test_rotary_embedding_of_onnx(solve: Solve, pairing: str, past: int) -> None:
    pytest.importorskip("onnx", minversion="1.23", reason="ONNX 1.23 is not installed")
    from onnx.reference.ops.op_rotary_embedding import rotary_embedding

    random = np.random.default_rng(past)
    given, cached = arrays(random, n=4, m=4, d=6), arrays(random, m=3, d=6)
    old = {letter: cached[letter] for letter in "KV"} if past else None
    rope = {"theta": 500, "pairing": pairing}
    found = solve(problem_file(**given, past=old, position={"rope": rope}))
    angles = np.arange(past + 4)[:, None] * 500.0 ** (-np.arange(3) / 3)
    caches = np.cos(angles), np.sin(angles)
    keys = np.concatenate([cached["K"], given["K"]], axis=2) if past else given["K"]
    for step, array, first in (("Q_rot", given["Q"], past), ("K_rot", keys, 0)):
        places = np.tile(np.arange(first, first + array.shape[2]), (2, 1))
        theirs = rotary_embedding(
            array, *caches, position_ids=places, interleaved=int(pairing == "interleaved")
        )
        np.testing.assert_allclose(found[step], theirs, rtol=1e-12, atol=1e-12)


@given(
    seed=st.integers(0, 999), by=st.integers(1, 5), pairing=st.sampled_from(["half", "interleaved"])
)
def test_rotated_scores_depend_on_distance_alone(
    program: Solve, seed: int, by: int, pairing: str
) -> None:
    """One and the same query and key at every position: each diagonal of the scores is one
    number.
    """
    random = np.random.default_rng(seed)
    q, k = random.normal(size=(2, 4))
    n = by + 2
    scores = program(
        problem_file(
            Q=[q] * n, K=[k] * n, V=[[1]] * n, position={"rope": {"theta": 30, "pairing": pairing}}
        )
    )["scores"][0, 0]
    for distance in range(-n + 1, n):
        np.testing.assert_allclose(
            scores.diagonal(distance), scores.diagonal(distance)[0], rtol=1e-9, atol=1e-10
        )
    np.testing.assert_allclose(scores[0, 0], q @ k, rtol=1e-9, atol=1e-10)


@in_one_test(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),
        (3, [2**-4, 2**-8, 2**-2]),  # those of 2 heads, then every second one of 4
        (6, [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]),
        (
            12,
            [
                2**-1,
                2**-2,
                2**-3,
                2**-4,
                2**-5,
                2**-6,
                2**-7,
                2**-8,
                2**-0.5,
                2**-1.5,
                2**-2.5,
                2**-3.5,
            ],
        ),
    ],
)
def test_slopes_of_alibi(solve: Solve, heads: int, slopes: list[float]) -> None:
    """A geometric row that ends at 2^-8; the numbers are those of the paper's get_slopes."""
    given = arrays(np.random.default_rng(heads), heads=heads, kv_heads=heads, n=3, m=3)
    bias = solve(problem_file(**given, position={"alibi": True}))["bias"]
    distances = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    np.testing.assert_allclose(
        bias[0], -np.array(slopes)[:, None, None] * distances, rtol=1e-13, atol=1e-15
    )


def test_alibi_with_its_own_slopes_a_cache_and_a_corner(solve: Solve) -> None:
    """Distances are counted from where a query stands: behind the cache, or at the bottom-right
    corner.
    """
    random = np.random.default_rng(4)
    given, cached = (
        arrays(random, n=2, m=2, heads=2, kv_heads=2),
        arrays(random, m=3, heads=2, kv_heads=2),
    )
    alibi = {"alibi": {"slopes": [0.5, 2]}}
    away = np.array([[3, 2, 1, 0, 1], [4, 3, 2, 1, 0]])
    expected = -np.array([0.5, 2])[:, None, None] * away
    past = {letter: cached[letter] for letter in "KV"}
    np.testing.assert_array_equal(
        solve(problem_file(**given, past=past, position=alibi))["bias"][0], expected
    )
    whole = {"Q": given["Q"]} | {
        name: np.concatenate([cached[name], given[name]], axis=2) for name in "KV"
    }
    mask = {"causal": True, "corner": "bottom-right"}
    np.testing.assert_array_equal(
        solve(problem_file(**whole, mask=mask, position=alibi))["bias"][0], expected
    )
