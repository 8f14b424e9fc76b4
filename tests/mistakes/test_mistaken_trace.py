"""The numbers of a trace with a mistake in it, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np

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
