"""What places on the axes of heads are called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncli.page.view import chosen_cell
from attncli.problem.model import Problem
from attncli.tracing import run

Build = Callable[..., Problem]


def test_features_side_by_side_say_whose_they_are(problem: Build) -> None:
    """Two heads of three features each, and an output of two; the fourth feature is the first of
    head 1.
    """
    rows = np.arange(12.0).reshape(2, 2, 3)
    trace = run(problem(Q=rows, K=rows, V=rows, W_O=np.ones((6, 2)), tokens=("a", "b")))
    joined = ("h0 d1", "h0 d2", "h0 d3", "h1 d1", "h1 d2", "h1 d3")
    assert trace.steps["concat"].labels == (("a", "b"), joined)
    assert trace.steps["W_O"].labels == (joined, ("d1", "d2"))
    assert trace.steps["output"].labels == (("a", "b"), ("d1", "d2"))
    assert trace.steps["heads_output"].labels == (
        ("head 0", "head 1"),
        ("a", "b"),
        ("d1", "d2", "d3"),
    )
    step, place = chosen_cell(trace, "concat[b,h1 d1]")
    assert (place, step.value[place]) == ((1, 3), trace["heads_output"][1, 1, 0])


def test_of_a_single_head_there_is_nothing_to_tell_apart(problem: Build) -> None:
    rows = np.ones((2, 2))
    assert run(problem(Q=rows, K=rows, V=rows, W_O=rows)).steps["W_O"].labels == (
        ("d1", "d2"),
        ("d1", "d2"),
    )
    one = run(problem(Q=rows[None], K=rows[None], V=rows[None], W_O=rows))
    assert one.steps["concat"].labels[-1] == ("d1", "d2")
