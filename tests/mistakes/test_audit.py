"""What the numbers of a problem say of mistakes, in problems where that can be seen without working
them out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncli.errors import AttncliError, Exit
from attncli.mistakes.audit import UNITS_APART, all_told_apart, audit, told_apart
from attncli.problem.loader import load, loads
from attncli.tracing import run

INPUTS = Path(__file__).parents[2] / "inputs"


def test_sizes_that_are_equal() -> None:
    """n = d_k = 3: the root of n is the root of d_k, and n is d_k; K Q^T is always Q and K
    swapped.
    """
    found = audit(run(load(str(INPUTS / "i_love_ai.yaml"))), "output", 2)
    assert "the scores were divided by the root of n" in found.same
    by_d_k = ("the scores were divided by d_k, not by its root", "the scores were scaled twice")
    assert (*by_d_k, "the scores were divided by n") in found.alike
    assert ("W_Q and W_K were swapped", "K Q^T was worked out instead of Q K^T") in found.alike


def test_what_is_not_on_the_way_to_a_step() -> None:
    trace = run(load(str(INPUTS / "i_love_ai.yaml")))
    found = audit(trace, "scores", 2)
    assert "A^T V was worked out instead of A V" not in (*found.shown, *found.same, *found.hidden)
    assert "the scores were not scaled" not in (*found.shown, *found.same, *found.hidden)
    assert "K Q^T was worked out instead of Q K^T" in found.shown


def test_more_decimals_show_more() -> None:
    trace = run(load(str(INPUTS / "i_love_ai.yaml")))
    few, many = audit(trace, "output", 2), audit(trace, "output", 6)
    assert "2.7 was used instead of e" in few.hidden
    assert "2.7 was used instead of e" in many.shown


def test_scores_that_are_all_zero_show_nothing_of_the_scale() -> None:
    found = audit(
        run(loads(b"Q: [[0, 0]]\nK: [[1, 2], [3, 4]]\nV: [[1], [3]]\n", "p.yaml")), "output", 2
    )
    assert "the scores were not scaled" in found.same
    assert "the exponentials were not divided by their sum" in found.shown  # 1 + 3 for 2


def test_numbers_that_show_nothing() -> None:
    """Of nothing but zeros, every mistake makes zeros."""
    found = audit(run(loads(b"Q: [[0]]\nK: [[0]]\nV: [[0]]\n", "p.yaml")), "output", 2)
    assert found.shown == found.alike == ()


def test_two_units_of_the_last_digit() -> None:
    one, other = (
        np.array([1.0, 2.0]),
        np.array([[1.0, 2.0199], [1.02, 2.0], [np.nan, 2.0], [np.inf, 2.0]]),
    )
    assert UNITS_APART == 2
    assert told_apart(one, other, 2).tolist() == [False, True, True, True]
    assert told_apart(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), 2).tolist() is False
    assert all_told_apart(np.array([[1.0], [1.01], [1.03]]), 2).tolist() == [
        [False, False, True], [False, False, True], [True, True, False],
    ]  # fmt: skip


def test_a_step_that_nobody_works_out_by_hand() -> None:
    text = b"Q: {random: [200, 2]}\nK: {random: [200, 2]}\nV: {random: [200, 60]}\n"
    with pytest.raises(AttncliError, match="output has 12,000 numbers") as error:
        audit(run(loads(text, "p.yaml")), "output", 2)
    assert error.value.exit_code == Exit.USAGE
