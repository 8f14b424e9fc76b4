"""Equations of a problem's own are never worked out by a path that knows those of attention by
heart, however large the problem is.
"""

from __future__ import annotations

import numpy as np
import pytest

from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.chunked import MANY_WEIGHTS

PROBLEM = """
Q: {{random: [{tokens}, 2], seed: 1}}
K: {{random: [{tokens}, 2], seed: 2}}
V: {{random: [{tokens}, 2], seed: 3}}
"""


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# A larger number only takes longer; with 5,000 tokens, matrices of scores have half of the numbers
# that one may have.
@pytest.mark.parametrize("tokens", [500, pytest.param(5000, marks=pytest.mark.slow)])
def test_large_problems_go_by_their_own_equations(tokens: int) -> None:
    assert tokens**2 > MANY_WEIGHTS
    text = PROBLEM.format(tokens=tokens)
    own = text + 'equations: ["scaled[i, j] = 3 * scores[i, j]"]\n'
    trace = run(loads(own.encode(), "p.yaml"), keep=("output",))
    given = loads(text.encode(), "p.yaml").given
    query, key, value = (given[name].value for name in "QKV")
    expected = softmax(3 * query @ key.T) @ value
    np.testing.assert_allclose(trace["output"], expected, rtol=1e-10, atol=1e-12)


def test_weights_of_ones_own_are_no_softmax() -> None:
    text = PROBLEM.format(tokens=500)
    own = text + 'equations: ["weights[i, j] = tanh(scaled[i, j])"]\n'
    trace = run(loads(own.encode(), "p.yaml"), keep=("output",))
    given = loads(text.encode(), "p.yaml").given
    query, key, value = (given[name].value for name in "QKV")
    expected = np.tanh(query @ key.T / np.sqrt(2)) @ value
    np.testing.assert_allclose(trace["output"], expected, rtol=1e-10, atol=1e-12)
