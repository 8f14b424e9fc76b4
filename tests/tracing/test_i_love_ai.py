""" "I love AI" by hand: every stage to three decimals, and the exponentials as mpmath has them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from attncli.backend import Backend
from attncli.problem.model import Problem
from attncli.tracing import run
from tests.cases import in_one_test

STAGES = {  # worked on paper; 1, 5, 3 over the root of 3, and so on
    "Q": [[2, 0, 1], [0, 2, 1], [1, 1, 1]],
    "K": [[0, 1, 1], [2, 1, 1], [1, 1, 1]],
    "V": [[1, 0, 1], [1, 2, 0], [1, 1, 0]],
    "K_T": [[0, 2, 1], [1, 1, 1], [1, 1, 1]],
    "scores": [[1, 5, 3], [3, 3, 3], [2, 4, 3]],
    "scaled": [[0.577, 2.887, 1.732], [1.732, 1.732, 1.732], [1.155, 2.309, 1.732]],
    "exp": [[1.781, 17.935, 5.652], [5.652, 5.652, 5.652], [3.173, 10.068, 5.652]],
    "row_sum": [25.368, 16.957, 18.894],
    "weights": [[0.070, 0.707, 0.223], [0.333, 0.333, 0.333], [0.168, 0.533, 0.299]],
    "output": [[1.000, 1.637, 0.070], [1.000, 1.000, 0.333], [1.000, 1.365, 0.168]],
}
GIVEN = ("X", "W_Q", "W_K", "W_V")


def test_the_steps_come_in_order(love: Problem) -> None:
    assert tuple(run(love)) == (*GIVEN, *STAGES)


@in_one_test("stage", STAGES)
def test_every_stage_to_three_decimals(love: Problem, backend: Backend, stage: str) -> None:
    value = run(love, backend=backend)[stage]
    np.testing.assert_array_less(abs(value - STAGES[stage]), 0.0005)


def test_exponentials_are_those_of_mpmath(love: Problem, backend: Backend) -> None:
    value = run(love, backend=backend)["exp"]
    with mpmath.workdps(30):
        true = [
            [float(mpmath.exp(score / mpmath.sqrt(3))) for score in row] for row in STAGES["scores"]
        ]
    np.testing.assert_allclose(value, true, rtol=1e-14)


def test_it_is_labelled(love: Problem) -> None:
    trace, words = run(love), ("I", "love", "AI")
    assert trace.tokens == trace.context_tokens == words
    assert trace.steps["scores"].labels == (words, words)
    assert trace.steps["Q"].labels == (words, ("d1", "d2", "d3"))
    assert trace.steps["K_T"].labels == (("d1", "d2", "d3"), words)
    assert trace.steps["row_sum"].labels == (words,)
    assert trace.settings.to_dict() == {
        "score": "scaled_dot",
        "scale": pytest.approx(3**-0.5),
        "mask": [],
        "dtype": "float64",
        "device": "cpu",
        "rounding": "shown",
    }
    assert (trace.warnings, trace.fully_masked, trace.truth) == ((), (), None)


def test_a_trace_cannot_be_changed(love: Problem) -> None:
    trace = run(love)
    with pytest.raises(ValueError, match="read-only"):
        trace["scores"][0, 0] = 7


def test_a_step_that_is_not_there_is_named(love: Problem) -> None:
    with pytest.raises(
        KeyError,
        match=r"no step 'mask'; there are X, W_Q, W_K, W_V, Q, K, V, K_T, scores, scaled, ",
    ):
        run(love)["mask"]
