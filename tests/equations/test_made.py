"""Arrays of attention that equations make, where none is given or projected: the same as if they
had been given, worked out by NumPy; and what is missing, or fits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import attncli
from tests.cases import in_one_test

Array = NDArray[np.float64]

RANDOM = np.random.default_rng(7)
X = RANDOM.integers(-2, 3, (3, 4)) / 2
OTHER = RANDOM.integers(-2, 3, (3, 4)) / 2
CONTEXT = RANDOM.integers(-2, 3, (5, 4)) / 2
W_Q, W_K, W_V = RANDOM.integers(-2, 3, (3, 4, 6)) / 2
DOWN = RANDOM.integers(-2, 3, (4, 2)) / 2
UP_K, UP_V = RANDOM.integers(-2, 3, (2, 2, 6)) / 2
# Of two heads with three features each.
UP_OF_HEADS = RANDOM.integers(-2, 3, (2, 2, 2, 3)) / 2
PAST = {"K": RANDOM.integers(-2, 3, (2, 6)), "V": RANDOM.integers(-2, 3, (2, 6))}
THIN, WIDE = RANDOM.integers(-2, 3, (4, 1)), RANDOM.integers(-2, 3, (1, 6))
# They depend on queries, keys and values alone.
STEPS = ("Q", "K", "V", "scores", "weights", "output", "d_Q", "d_K", "d_V", "d_scores")
LATENT = "latent[j, r] = sum(d, X[j, d] * W_down[d, r])"


class Same(NamedTuple):
    """A problem with equations, and one that gives what they make."""

    with_equations: Mapping[str, Any]
    given: Mapping[str, Any]


def of_heads(columns: Array) -> Array:
    """Columns of two heads side by side, put one head after another."""
    return np.stack(np.split(columns, 2, axis=-1))


SAME = {
    "queries, keys and values are the input": Same(
        {
            "X": X,
            "equations": ["Q[i, k] = X[i, k]", "K[j, k] = X[j, k]", "V[j, c] = X[j, c]"],
        },
        {"Q": X, "K": X, "V": X},
    ),
    "keys and values of latent vectors": Same(
        {
            "X": X,
            "W_Q": W_Q,
            "arrays": {"W_down[d, r]": DOWN, "U_K[r, k]": UP_K, "U_V[r, c]": UP_V},
            "equations": [
                "V[j, c] = sum(r, latent[j, r] * U_V[r, c])",
                "K[j, k] = sum(r, latent[j, r] * U_K[r, k])",
                LATENT,
            ],
        },
        {"Q": X @ W_Q, "K": X @ DOWN @ UP_K, "V": X @ DOWN @ UP_V},
    ),
    "keys of another sequence": Same(
        {
            "X": X,
            "W_Q": W_Q,
            "arrays": {"other[j, d]": CONTEXT, "into[d, k]": W_K},
            "equations": [
                "K[j, k] = sum(d, other[j, d] * into[d, k])",
                "V[j, c] = other[j, c]",
            ],
            "mask": {"keep": [[1, 1, 0, 1, 1]] * 3},
        },
        {
            "Q": X @ W_Q,
            "K": CONTEXT @ W_K,
            "V": CONTEXT,
            "mask": {"keep": [[1, 1, 0, 1, 1]] * 3},
        },
    ),
    "heads of their own, joined as those of W_Q are": Same(
        {
            "X": X,
            "W_Q": W_Q,
            "heads": 2,
            "arrays": {
                "W_down[d, r]": DOWN,
                "U_K[h, r, k]": UP_OF_HEADS[0],
                "U_V[h, r, c]": UP_OF_HEADS[1],
            },
            "equations": [
                LATENT,
                "K[j, k] = sum(r, latent[j, r] * U_K[h, r, k])",
                "V[j, c] = sum(r, latent[j, r] * U_V[h, r, c])",
            ],
        },
        {
            "X": X,
            "W_Q": W_Q,
            "heads": 2,
            "K": X @ DOWN @ UP_OF_HEADS[0],
            "V": X @ DOWN @ UP_OF_HEADS[1],
        },
    ),
    "fewer heads of keys than of queries": Same(
        {
            "X": X,
            "W_Q": np.hstack([W_Q, W_K]),
            "heads": 4,
            "arrays": {
                "W_down[d, r]": DOWN,
                "U_K[g, r, k]": UP_OF_HEADS[0],
                "U_V[g, r, c]": UP_OF_HEADS[1],
            },
            "equations": [
                LATENT,
                "K[j, k] = sum(r, latent[j, r] * U_K[g, r, k])",
                "V[j, c] = sum(r, latent[j, r] * U_V[g, r, c])",
            ],
        },
        {
            "X": X,
            "W_Q": np.hstack([W_Q, W_K]),
            "heads": 4,
            "K": X @ DOWN @ UP_OF_HEADS[0],
            "V": X @ DOWN @ UP_OF_HEADS[1],
        },
    ),
    "new keys behind a cache": Same(
        {
            "X": X,
            "W_Q": W_Q,
            "W_V": W_V,
            "past": PAST,
            "arrays": {"into[d, k]": W_K},
            "equations": ["new_K[s, k] = sum(d, X[s, d] * into[d, k])"],
            "mask": "causal",
        },
        {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "past": PAST, "mask": "causal"},
    ),
    "all keys, with those of a cache": Same(
        {
            "X": X,
            "W_Q": W_Q,
            "W_V": W_V,
            "past": PAST,
            "arrays": {"into[d, k]": W_K},
            "equations": [
                "fresh[s, k] = sum(d, X[s, d] * into[d, k])",
                "K[j, k] = where(j < past, past_K[j, k], fresh[j - past, k])",
            ],
            "mask": "causal",
        },
        {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "past": PAST, "mask": "causal"},
    ),
    "an input of two tables, and positions": Same(
        {
            "W_Q": W_Q,
            "W_K": W_K,
            "W_V": W_V,
            "arrays": {"word[i, d]": X, "place[i, d]": OTHER},
            "equations": ["X[i, d] = word[i, d] + place[i, d]"],
            "position": {"rope": True},
            "mask": "causal",
        },
        {
            "X": X + OTHER,
            "W_Q": W_Q,
            "W_K": W_K,
            "W_V": W_V,
            "position": {"rope": True},
            "mask": "causal",
        },
    ),
    "weights with two thin matrices added, as in LoRA": Same(
        {
            "X": X,
            "W_K": W_K,
            "W_V": W_V,
            "arrays": {"W_0[d, k]": W_Q, "A[d, r]": THIN, "B[r, k]": WIDE},
            "equations": ["W_Q[d, k] = W_0[d, k] + sum(r, A[d, r] * B[r, k])"],
        },
        {"X": X, "W_Q": W_Q + THIN @ WIDE, "W_K": W_K, "W_V": W_V},
    ),
    "output weights of two thin matrices": Same(
        {
            "X": X,
            "W_Q": W_Q,
            "W_K": W_K,
            "W_V": W_V,
            "heads": 2,
            "arrays": {"A[e, r]": UP_K.T, "B[r, o]": UP_V},
            "equations": ["W_O[e, o] = sum(r, A[e, r] * B[r, o])"],
        },
        {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "heads": 2, "W_O": UP_K.T @ UP_V},
    ),
}


@pytest.mark.sampled(5, "long")
@pytest.mark.parametrize("name", SAME)
def test_what_equations_make_is_as_if_it_were_given(name: str) -> None:
    same = SAME[name]
    found = attncli.trace(**same.with_equations, gradient=True)
    expected = attncli.trace(**same.given, gradient=True)
    for step in STEPS:
        np.testing.assert_allclose(found[step], expected[step], rtol=1e-9, atol=1e-12, err_msg=step)


@pytest.mark.parametrize("name", SAME)
def test_such_a_problem_is_saved(name: str, tmp_path: Any) -> None:
    problem = attncli.problem(**SAME[name].with_equations)
    file = tmp_path / "saved.yaml"
    attncli.save(problem, file)
    again = attncli.trace(attncli.load(file))
    np.testing.assert_array_equal(again["output"], attncli.trace(problem)["output"])


def test_absorbed_latent_keys_make_no_keys_and_the_same_output() -> None:
    arrays = {"W_down[d, r]": DOWN, "U_K[r, k]": UP_K, "U_V[r, c]": UP_V}
    plain = {"X": X, "W_Q": W_Q, "arrays": arrays}
    absorbed = attncli.trace(
        **plain,
        equations=[
            LATENT,
            "scores[i, j] = sum(r, sum(k, Q[i, k] * U_K[r, k]) * latent[j, r])",
            "mixed[i, r] = sum(j, weights[i, j] * latent[j, r])",
            "output[i, c] = sum(r, mixed[i, r] * U_V[r, c])",
        ],
    )
    assert {"K", "V"}.isdisjoint(absorbed.steps)
    expected = attncli.trace(Q=X @ W_Q, K=X @ DOWN @ UP_K, V=X @ DOWN @ UP_V)
    np.testing.assert_allclose(absorbed["scaled"], expected["scaled"], rtol=1e-12)
    np.testing.assert_allclose(absorbed["output"], expected["output"], rtol=1e-12)


def test_a_result_that_needs_no_attention_needs_no_queries() -> None:
    trace = attncli.trace(
        X=X,
        arrays={"W_in[d, f]": DOWN},
        equations=["inner[i, f] = relu(sum(d, X[i, d] * W_in[d, f]))"],
        result="inner",
    )
    assert [*trace.steps] == ["W_in", "X", "inner"]
    np.testing.assert_array_equal(trace["inner"], np.maximum(X @ DOWN, 0))


def test_a_residual_reads_the_input_where_queries_are_given() -> None:
    trace = attncli.trace(
        X=X,
        Q=X,
        K=X,
        V=X,
        equations=["sum_of_both[i, d] = X[i, d] + output[i, d]"],
        result="sum_of_both",
    )
    np.testing.assert_allclose(trace["sum_of_both"], X + trace["output"], rtol=1e-15)


KEYS = "K[j, k] = X[j, k]"
WRONG = {
    "nothing makes the values": (
        {"X": X, "W_Q": DOWN, "equations": ["K[j, k] = sum(d, X[j, d] * k)"]},
        "the values are missing",
        "give V, or W_V to project X, or an equation that makes V",
    ),
    "nothing is projected": (
        {
            "W_Q": DOWN,
            "arrays": {"A[j, k]": UP_K},
            "equations": ["K[j, k] = A[j, k]", "V[j, c] = A[j, c]"],
        },
        "there is no X to project",
        "give X, or Q itself instead of W_Q, or an equation that makes Q",
    ),
    "queries and keys of other lengths": (
        {"X": X, "W_Q": DOWN, "equations": [KEYS, "V[j, c] = X[j, c]"]},
        "k runs to 2 in Q, and to 4 in K_T",
        "axes with the same letter have the same length",
    ),
    "values that W_O does not fit": (
        {"X": X, "W_Q": W_Q, "W_K": W_K, "W_O": DOWN[:3], "equations": ["V[j, c] = X[j, c]"]},
        "c runs to 4 in heads_output, and to 3 in W_O",
        "axes with the same letter have the same length",
    ),
    "an input that W_Q does not fit": (
        {
            "W_Q": W_Q,
            "W_K": W_K,
            "W_V": W_V,
            "arrays": {"word[i, d]": X[:, :3]},
            "equations": ["X[i, d] = word[i, d]"],
        },
        "d runs to 3 in X, and to 4 in W_Q",
        "axes with the same letter have the same length",
    ),
    "too few axes": (
        {"X": X, "W_Q": W_Q, "W_V": W_V, "equations": ["K[j] = sum(d, X[j, d])"]},
        "K has 1 axis, and is read with 2 indices by a step of attention",
        "write K[j, k] = …",
    ),
    "heads of nothing": (
        {
            "X": X,
            "heads": 2,
            "equations": ["Q[i, k] = X[i, k]", KEYS, "V[j, c] = X[j, c]"],
        },
        "is 2, but nothing has an axis of heads",
        "give W_Q with the columns of all heads, or arrays of equations with the letter h",
    ),
}


@in_one_test("name", WRONG)
def test_what_is_missing_or_does_not_fit_is_said(name: str) -> None:
    keys, message, help = WRONG[name]
    with pytest.raises(attncli.AttncliError) as error:
        attncli.trace(**keys)
    assert error.value.exit_code == 3
    assert error.value.message == message
    assert error.value.help == help
