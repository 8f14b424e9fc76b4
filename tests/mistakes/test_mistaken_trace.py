"""The numbers of a trace with a mistake in it, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import attncli
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.problem.loader import loads
from attncli.tracing import run

GROUPED = b"""
heads: 4
kv_heads: 2
Q: [[[1]], [[2]], [[3]], [[4]]]
K: [[[1], [0]], [[0], [1]]]
V: [[[1], [3]], [[2], [0]]]
"""


def test_keys_that_two_heads_share_have_gradients_from_both() -> None:
    """For the first two heads, with the queries 1 and 2: 3·1 + 1·2 = 5; for the others, with 3 and
    4: 2·3 - 1·4 = 2.
    """
    trace = run(loads(GROUPED, "p.yaml"), gradient=True)
    mistaken = MistakenTrace(
        trace, {"d_scores": np.array([[[3.0, -3]], [[1, -1]], [[2, -2]], [[-1, 1]]])}
    )
    assert mistaken["d_K"].tolist() == [[[5], [-5]], [[2], [-2]]]


@pytest.mark.long
def test_an_axis_of_a_mistake_is_as_long_as_it_is_where_heads_share_keys() -> None:
    """The scores are 1000 and -1000 with the first head, 1 and -1 with the second. All less 1000,
    the largest of them, are 0, -2000, -999 and -1001.
    """
    problem = attncli.problem(
        heads=2, kv_heads=1, Q=[[[1000]], [[1]]], K=[[[1], [-1]]], V=[[[1], [3]]]
    )
    answers = {
        "shifted": [[[0, -2000]], [[-999, -1001]]],
        "exp": [[[1, 0]], [[0, 0]]],
        "row_sum": [[1], [0]],
    }
    (diagnosis,) = attncli.check(problem, answers).diagnoses
    (named,) = diagnosis.mistakes
    assert "shifted by the largest of all rows" in named
    # Cell by cell: 4 is no mean of 1 and 3, whatever the mistake.
    assert not attncli.check(problem, {"output": [[[1]], [[4]]]}).diagnoses
