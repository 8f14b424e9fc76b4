"""Outside references: eight lines of NumPy, fractions, loops; for decimal weights and for random
problems.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.backend import Backend
from attncli.problem.model import Problem
from attncli.tracing import run
from tests.cases import in_one_test

Build = Callable[..., Problem]

X = [["1.0", "0.5", "0.2", "0.8"], ["0.3", "0.9", "0.1", "0.4"], ["0.7", "0.2", "0.6", "0.3"]]
W_Q = [["0.5", "0.3"], ["0.2", "0.4"], ["0.1", "0.6"], ["0.7", "0.2"]]
W_K = [["0.4", "0.1"], ["0.3", "0.5"], ["0.6", "0.2"], ["0.2", "0.4"]]
W_V = [["0.6", "0.3"], ["0.2", "0.7"], ["0.4", "0.1"], ["0.3", "0.5"]]


def reference(x: Any, w_q: Any, w_k: Any, w_v: Any) -> dict[str, np.ndarray]:
    x, w_q, w_k, w_v = (np.array(rows, dtype=float) for rows in (x, w_q, w_k, w_v))
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.T
    scaled = scores / np.sqrt(k.shape[1])
    exp = np.exp(scaled)
    weights = exp / exp.sum(axis=1, keepdims=True)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "output": weights @ v,
    }


def test_decimal_weights_against_plain_numpy(problem: Build, backend: Backend) -> None:
    trace = run(problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V), backend=backend)
    for name, expected in reference(X, W_Q, W_K, W_V).items():
        np.testing.assert_allclose(trace[name], expected, rtol=1e-13)


@pytest.mark.parametrize(("name", "weights"), [("Q", W_Q), ("K", W_K), ("V", W_V)])
def test_decimal_weights_against_fractions(
    problem: Build, name: str, weights: list[list[str]]
) -> None:
    trace = run(problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V))
    expected = [
        [
            float(
                sum(Fraction(x) * Fraction(row[k]) for x, row in zip(token, weights, strict=True))
            )
            for k in range(2)
        ]
        for token in X
    ]
    np.testing.assert_allclose(trace[name], expected, rtol=1e-15)


def test_decimal_weights_by_hand(problem: Build) -> None:
    """0.5 + 0.1 + 0.02 + 0.56 = 1.18, and so on."""
    trace = run(problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V))
    np.testing.assert_allclose(trace["Q"], [[1.18, 0.78], [0.62, 0.59], [0.66, 0.71]], atol=1e-14)
    np.testing.assert_allclose(trace["K"], [[0.83, 0.71], [0.53, 0.66], [0.76, 0.41]], atol=1e-14)
    np.testing.assert_allclose(trace["V"], [[1.02, 1.07], [0.52, 0.93], [0.79, 0.56]], atol=1e-14)
    assert trace["scores"][0, 0] == pytest.approx(1.18 * 0.83 + 0.78 * 0.71)


sizes = st.integers(1, 5)
seeds = st.integers(0, 2**32 - 1)


@given(n=sizes, d_model=sizes, d_k=sizes, d_v=sizes, seed=seeds)
def test_random_problems_against_plain_numpy(
    problem: Build, backend: Backend, n: int, d_model: int, d_k: int, d_v: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    shapes = {
        "X": (n, d_model),
        "W_Q": (d_model, d_k),
        "W_K": (d_model, d_k),
        "W_V": (d_model, d_v),
    }
    given_arrays = {name: random.standard_normal(shape) for name, shape in shapes.items()}
    trace = run(problem(**given_arrays), backend=backend)
    for name, expected in reference(*given_arrays.values()).items():
        np.testing.assert_allclose(trace[name], expected, rtol=1e-11, atol=1e-12)


@given(seed=seeds, biased=st.sets(st.sampled_from("QKV")))
def test_biases_and_a_context(
    problem: Build, backend: Backend, seed: int, biased: set[str]
) -> None:
    random = np.random.default_rng(seed)
    x, context = random.standard_normal((2, 3)), random.standard_normal((4, 3))
    w = {name: random.standard_normal((3, 2)) for name in "QKV"}
    b = {name: random.standard_normal(2) if name in biased else np.zeros(2) for name in "QKV"}
    arrays = {f"W_{name}": w[name] for name in "QKV"} | {
        f"b_{name}": b[name] for name in sorted(biased)
    }
    trace = run(problem(X=x, context=context, **arrays), backend=backend)
    for name, source in (("Q", x), ("K", context), ("V", context)):
        np.testing.assert_allclose(trace[name], source @ w[name] + b[name], rtol=1e-12, atol=1e-12)
    assert trace.steps["weights"].labels == (("t1", "t2"), ("c1", "c2", "c3", "c4"))


QUERIES, KEYS = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 3.0]]), np.array([[0.5, 1.0], [2.0, -1.0]])
VALUES = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
W_A = np.array([[1.0, -2.0], [0.5, 3.0]])
W_1, W_2, V_SCORE = (
    np.array([[0.2, 1.0, -1.0], [0.4, 0.3, 2.0]]),
    np.array([[1.0, 0.0, 0.5], [-0.2, 1.0, 1.0]]),
    [1, 2, 3],
)
LUONG = {"score": "multiplicative", "W_a": W_A}
BAHDANAU = {"score": "additive", "W_1": W_1, "W_2": W_2, "v": V_SCORE}
PLAIN = QUERIES @ KEYS.T


@in_one_test(
    ("choices", "logits"),
    [
        ({}, PLAIN / np.sqrt(2)),
        ({"scale": "none"}, PLAIN),
        ({"scale": 0.25}, PLAIN / 4),
        ({"scale": -1.0}, -PLAIN),
        ({"scale": 0.0}, PLAIN * 0),
        ({"score": "dot"}, PLAIN),
        ({"score": "dot", "scale": 2.0}, PLAIN * 2),
        (LUONG, QUERIES @ W_A @ KEYS.T),
        (LUONG | {"scale": 0.5}, QUERIES @ W_A @ KEYS.T / 2),
        (BAHDANAU, np.tanh((QUERIES @ W_1)[:, None] + (KEYS @ W_2)[None]) @ V_SCORE),
        ({"softcap": 1.5}, 1.5 * np.tanh(PLAIN / np.sqrt(2) / 1.5)),
        ({"softcap": 2.0, "scale": "none"}, 2 * np.tanh(PLAIN / 2)),
    ],
)
@in_one_test("base", [None, 2.0, 3.0, 10.0])
def test_scores_scales_caps_and_bases(
    problem: Build,
    backend: Backend,
    choices: dict[str, Any],
    logits: np.ndarray,
    base: float | None,
) -> None:
    trace = run(problem(Q=QUERIES, K=KEYS, V=VALUES, exp_base=base, **choices), backend=backend)
    powers = (np.e if base is None else base) ** logits
    weights = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(trace["exp"], powers, rtol=1e-12)
    np.testing.assert_allclose(trace["weights"], weights, rtol=1e-12)
    np.testing.assert_allclose(trace["output"], weights @ VALUES, rtol=1e-12)


@pytest.mark.parametrize(
    ("choices", "steps", "scale"),
    [
        (
            {},
            ("Q", "K", "V", "K_T", "scores", "scaled", "exp", "row_sum", "weights", "output"),
            2**-0.5,
        ),
        (
            {"scale": "none"},
            ("Q", "K", "V", "K_T", "scores", "exp", "row_sum", "weights", "output"),
            None,
        ),
        (
            {"score": "dot"},
            ("Q", "K", "V", "K_T", "scores", "exp", "row_sum", "weights", "output"),
            None,
        ),
        (
            BAHDANAU,
            ("W_1", "W_2", "v", "Q", "K", "V", "scores", "exp", "row_sum", "weights", "output"),
            None,
        ),
        (
            LUONG | {"softcap": 3.0, "scale": 0.5},
            (
                "W_a",
                "Q",
                "K",
                "V",
                "K_T",
                "scores",
                "scaled",
                "capped",
                "exp",
                "row_sum",
                "weights",
                "output",
            ),
            0.5,
        ),
    ],
)
def test_only_the_steps_that_apply(
    problem: Build, choices: dict[str, Any], steps: tuple[str, ...], scale: Any
) -> None:
    trace = run(problem(Q=QUERIES, K=KEYS, V=VALUES, **choices))
    assert set(trace) == set(steps)
    assert [name for name in trace if name not in choices] == [
        name for name in steps if name not in choices
    ]
    assert trace.settings.scale == (None if scale is None else pytest.approx(scale))
    assert trace.settings.score == choices.get("score", "scaled_dot")


def test_values_may_be_given_and_queries_projected(problem: Build) -> None:
    trace = run(problem(X=X, W_Q=W_Q, K=[[1, 2], [3, 4]], V=[[1], [2]]))
    np.testing.assert_allclose(trace["scores"], np.array(trace["Q"]) @ np.array([[1, 3], [2, 4]]))
    assert trace["output"].shape == (3, 1)
    assert not trace.steps["Q"].rule.given
    assert trace.steps["K"].rule.given


@in_one_test("dtype", ["float16", "bfloat16", "float32", "float64"])
@in_one_test("base", [1e40, 1.00000001, 2.0, 3.0])
def test_a_base_that_a_format_cannot_hold(problem: Build, base: float, dtype: str) -> None:
    """The softmax in base b is the softmax in base e of scores times log b."""
    trace = run(
        problem(Q=[[1], [-1]], K=[[0.5], [0.25]], V=[[3], [1]], scale="none", exp_base=base),
        dtype=dtype,
    )
    powers = np.exp(np.array([[0.5, 0.25], [-0.5, -0.25]]) * np.log(base))
    np.testing.assert_allclose(
        trace["weights"], powers / powers.sum(axis=1, keepdims=True), rtol=0.03, atol=1e-9
    )
