"""A built-in step whose equation a problem writes out again has the same numbers, and so has all
that follows from it: alone, and two of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.model import Trace

PLAIN = """
X: [[1, 0, 0.5, -1], [0, 1, 0.25, 1], [1, 1, -0.5, 0]]
W_Q: [[1, 0.5], [-0.5, 1], [0.25, -1], [0, 1]]
W_K: [[0.5, -1], [1, 0], [0.75, 0.5], [-0.25, 1]]
W_V: [[1, 0, 0.5], [0, 1, -1], [0.5, 0.5, 0], [1, -1, 0.25]]
"""
WITH_HEADS = """
X: {random: [3, 4], seed: 1}
W_Q: {random: [4, 4], seed: 2}
W_K: {random: [4, 4], seed: 3}
W_V: {random: [4, 4], seed: 4}
W_O: {random: [4, 5], seed: 5}
heads: 2
"""
WITH_MASK_AND_SINK = PLAIN + "mask: causal\nsink: 0.5\n"
# Written by hand from the textbook, in one head.
EQUATIONS = {
    "Q": "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])",
    "K": "K[j, k] = sum(d, X[j, d] * W_K[d, k])",
    "V": "V[j, c] = sum(d, X[j, d] * W_V[d, c])",
    "K_T": "K_T[k, j] = K[j, k]",
    "scores": "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])",
    "scaled": "scaled[i, j] = scores[i, j] / sqrt(d_k)",
    "exp": "exp[i, j] = exp(scaled[i, j])",
    "row_sum": "row_sum[i] = sum(j, exp[i, j])",
    "weights": "weights[i, j] = exp[i, j] / row_sum[i]",
    "output": "output[i, c] = sum(j, weights[i, j] * V[j, c])",
}
OF_HEADS = {
    **{name: text for name, text in EQUATIONS.items() if name != "output"},
    "heads_output": "heads_output[i, c] = sum(j, weights[i, j] * V[j, c])",
    "output": "output[i, o] = sum(e, concat[i, e] * W_O[e, o])",
}
OF_MASK_AND_SINK = {
    **EQUATIONS,
    "mask": "mask[i, j] = where(j <= i, 0, -inf)",
    "masked": "masked[i, j] = scaled[i, j] + mask[i, j]",
    "exp": "exp[i, j] = exp(masked[i, j])",
    "row_sum": "row_sum[i] = sum(j, exp[i, j]) + exp(sink)",
}
PROBLEMS = {
    "plain": (PLAIN, EQUATIONS),
    "heads": (WITH_HEADS, OF_HEADS),
    "mask and sink": (WITH_MASK_AND_SINK, OF_MASK_AND_SINK),
}


def worked(problem: str, equations: Sequence[str]) -> Trace:
    lines = "".join(f'  - "{each}"\n' for each in equations)
    text = f"{problem}equations:\n{lines}" if equations else problem
    return run(loads(text.encode(), "p.yaml"), gradient=True)


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("together", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_same_numbers_come(kind: str, together: int) -> None:
    problem, equations = PROBLEMS[kind]
    right = worked(problem, ())
    for names in (*combinations(equations, together), tuple(equations)):
        again = worked(problem, [equations[name] for name in names])
        for name in names:
            assert again.steps[name].rule.own
        # The way of the gradient through the softmax may have other steps.
        missing = {*right} - {*again}
        assert missing <= {"delta", "d_K_T"}, names
        for name in {*right} - missing:
            np.testing.assert_allclose(
                again[name], right[name], rtol=1e-12, atol=1e-12, err_msg=f"{names}: {name}"
            )


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_same_numbers_come_exactly_and_on_paper(kind: str) -> None:
    problem, equations = PROBLEMS[kind]
    lines = "".join(f'  - "{each}"\n' for each in equations.values())
    ours = loads(problem.encode(), "p.yaml")
    own = loads(f"{problem}equations:\n{lines}".encode(), "p.yaml")
    for rounding in ("exact", "paper"):
        right, again = run(ours, rounding=rounding), run(own, rounding=rounding)
        assert [*again] == [*right]
        for name in right:
            np.testing.assert_allclose(again[name], right[name], rtol=1e-12, atol=1e-12)
