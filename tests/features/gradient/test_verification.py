"""Finite differences find a wrong gradient, and no fault in a right one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attncli.features.gradient.verification import MOST_CELLS_CHECKED, compare, verify
from attncli.problem.loader import loads
from attncli.problem.matrix import Matrix, read_only
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run


def read(problem: dict[str, Any]) -> Problem:
    return loads(json.dumps(problem).encode(), "problem")


def test_right_gradients_agree(love: Problem) -> None:
    found = list(verify(run(love, gradient=True)))
    assert [each.name for each in found] == [
        "d_weights", "d_scaled", "d_scores", "d_Q", "d_K", "d_V", "d_W_Q", "d_W_K", "d_W_V", "d_X",
    ]  # fmt: skip
    assert all(each.verdict == "agree" and (each.farthest.error or 0) < 1e-6 for each in found)
    assert found[0].size == len(found[0].cells) == 9


@pytest.mark.parametrize("factor", [1.001, -1.0, 0.0])
def test_a_wrong_gradient_is_found(love: Problem, factor: float) -> None:
    trace = run(love, gradient=True)
    step = trace.steps["d_K"]
    wrong = replace(
        trace, steps={**trace.steps, "d_K": replace(step, value=read_only(step.value * factor))}
    )
    assert [each.name for each in verify(wrong) if each.verdict == "disagree"] == ["d_K"]


def test_a_single_wrong_cell_is_told(love: Problem) -> None:
    trace = run(love, gradient=True)
    moved = trace["d_X"].copy()
    moved[1, 2] += 1e-4
    wrong = replace(
        trace, steps={**trace.steps, "d_X": replace(trace.steps["d_X"], value=read_only(moved))}
    )
    (found,) = (each for each in verify(wrong) if each.verdict == "disagree")
    assert (found.name, found.farthest.index) == ("d_X", (1, 2))
    assert found.farthest.gradient - found.farthest.quotient == pytest.approx(1e-4, rel=1e-4)


def test_the_one_sink_of_all_heads(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(1)
    heads = problem(
        **{name: random.normal(size=(2, 3, 2)) for name in "QKV"}, sink=0.5, mask=(Causal(),)
    )
    found = {each.name: each for each in verify(run(heads, gradient=True))}
    assert found["d_sink"].verdict == "agree"
    assert found["d_sink"].farthest.index == ()


def test_rows_of_sentinels_have_few_digits(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(4)
    mask = np.full((3, 3), -1e9)
    mask[:2, 0] = 0
    made = problem(
        **{name: random.normal(size=(3, 2)) for name in "QKV"}, mask=(Additive(Matrix(mask)),)
    )
    assert all(each.verdict == "agree" for each in verify(run(made, gradient=True)))


def test_of_many_cells_some_are_moved(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(9)
    large = problem(**{name: random.normal(size=(12, 12)) for name in "QKV"})
    found = next(each for each in verify(run(large, gradient=True)) if each.name == "d_Q")
    assert found.size == 144
    assert len(found.cells) <= MOST_CELLS_CHECKED


# Scores that the moved number changes a thousandfold, large queries, rows of scores that are nearly
# a tie.
WEIGHTS = {"W_Q": [[1, 0], [0, 1]], "W_K": [[1, 1], [1, 1]], "W_V": [[1, 0], [0, 1]]}
STEEP: dict[str, dict[str, Any]] = {
    "scale": {"Q": [[0, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [3]], "scale": 1000},
    "hundreds": {"X": [[100, -100], [5, 5]], **WEIGHTS},
    "thousands": {"X": [[1000, -1000], [500, 200]], **WEIGHTS},
    "tie": {"X": [[100, 101], [101, 100]], **WEIGHTS, "W_K": [[1, 0], [0, 1]]},
}


@pytest.mark.parametrize("name", STEEP)
def test_steep_gradients_agree(name: str) -> None:
    steep = read(STEEP[name])
    assert {
        each.name: each.verdict
        for each in verify(run(steep, gradient=True))
        if each.verdict != "agree"
    } == {}


def test_a_steep_gradient_by_hand() -> None:
    """O = a + 3·(1 - a) with a = σ(1000·(q1 - q2)), so that dO/dq1 = -2·1000·a·(1 - a) = -500 where
    both are 0.
    """
    steep = read(STEEP["scale"])
    found = next(each for each in verify(run(steep, gradient=True)) if each.name == "d_Q")
    assert [each.quotient for each in found.cells] == pytest.approx([-500, 500], rel=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STEEP)
@pytest.mark.parametrize("factor", [1.001, -1.0, 0.0])
def test_a_wrong_steep_gradient_is_found(name: str, factor: float) -> None:
    steep = read(STEEP[name])
    trace = run(steep, gradient=True)
    of = "d_W_V" if name == "tie" else "d_Q"  # where scores tie all others are 0
    step = trace.steps[of]
    wrong = replace(
        trace, steps={**trace.steps, of: replace(step, value=read_only(step.value * factor))}
    )
    assert [each.name for each in verify(wrong) if each.verdict == "disagree"] == [of]


def test_what_differences_cannot_tell() -> None:
    """1e200 + h is 1e200; and beside an output of 3, e^-100 is less than any rounding of it."""
    large = read({"Q": [[1, 2]], "K": [[1, 0], [0, 1]], "V": [[1e200], [-1e200]]})
    found = {each.name: each.verdict for each in verify(run(large, gradient=True))}
    assert found.pop("d_V") == "unknown"
    assert {*found.values()} == {"agree"}
    sure = read({"Q": [[1]], "K": [[0], [100]], "V": [[1], [3]]})
    told = {each.name: each.verdict for each in verify(run(sure, gradient=True))}
    assert (told["d_weights"], told["d_V"]) == ("agree", "agree")
    assert (told["d_scaled"], told["d_K"]) == ("unknown", "unknown")


@pytest.mark.parametrize(
    ("gradient", "verdict"), [(3.7, "unknown"), (16.5, "disagree"), (3.66, "unknown")]
)
def test_wide_steps_that_miss_what_is_near_do_not_judge(gradient: float, verdict: str) -> None:
    """Beyond a half the loss is straight again, at another slope: two wide steps agree, and both
    are wrong.
    """

    def quotient(h: float) -> float:
        return 16.5 if h > 0.5 else 3.66 if h > 0.01 else 0.0

    found, _, said = compare(gradient, quotient, -12.0, typical=4.9, rounding=0.016)
    assert (found, said) == (3.66, verdict)


def test_a_rough_quotient_does_not_judge() -> None:
    """Three quarters of the gradient are within the error of the only quotient that is not lost in
    rounding.
    """
    found, distance, said = compare(4.0, lambda h: 1.0, 1.0, typical=0.0, rounding=0.04)
    assert (found, said) == (1.0, "unknown")
    assert distance > 1
    assert compare(4.0, lambda h: 1.0, 1.0, typical=0.0, rounding=1e-9)[2] == "disagree"


@pytest.mark.parametrize("jump", [1.0, -1e20])
def test_a_jump_that_every_step_is_wider_than_does_not_judge(jump: float) -> None:
    """The loss changes by as much for every h, so that its slope at x may be anything."""
    found, _, said = compare(1e60, lambda h: jump / h, 0.0, typical=0.0, rounding=1e-9)
    assert said == "unknown"
    assert abs(found) < 1e50


def test_a_loss_of_the_smallest_numbers_is_rounded_to_one_of_them() -> None:
    """No h of 1e-5 moves a loss of 1e-312 by as much as the next float64, where the gradient is
    1e-321.
    """
    tiny = read({"Q": [[1.0]], "K": [[0.0], [0.0]], "V": [[1e-9], [0.0]], "d_output": [[7e-312]]})
    verdicts = {each.name: each.verdict for each in verify(run(tiny, gradient=True))}
    assert verdicts["d_V"] == "agree"
    assert "disagree" not in verdicts.values()


def test_what_is_left_of_zero_is_no_error() -> None:
    """With values that are alike, the scores have no gradient: what is left of it is rounding."""
    alike = read({"Q": [[0.3, 0.1]], "K": [[0.7, 0.2], [0.1, 0.9]], "V": [[0.1, 0.2], [0.2, 0.1]]})
    trace = run(alike, gradient=True)
    found = {each.name: each for each in verify(trace)}
    assert found["d_scaled"].farthest.is_zero
    assert found["d_scaled"].farthest.error is None
    assert not found["d_V"].farthest.is_zero


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_all_floats_are_told_in_silence() -> None:
    huge = read({"Q": [[1e200, 2]], "K": [[1e200, 0], [0, 1]], "V": [[1], [-1]]})
    assert {each.verdict for each in verify(run(huge, gradient=True))} <= {"agree", "unknown"}


def test_differences_of_a_huge_loss_tell_nothing() -> None:
    """Not even a gradient three times too large is told, where the loss is made of 1e120."""
    huge = read({"Q": [[30, 2]], "K": [[1, 0], [0, 1]], "V": [[1e120], [-1e120]]})
    trace = run(huge, gradient=True)
    wrong = replace(trace.steps["d_weights"], value=trace["d_weights"] * 3)
    trace = replace(trace, steps={**trace.steps, "d_weights": wrong})
    assert {each.verdict for each in verify(trace, ["d_weights"])} == {"unknown"}


def test_some_gradients_some_places_and_one_cell(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(1)
    heads = problem(**{name: random.normal(size=(2, 3, 2)) for name in "QKV"})
    trace = run(heads, gradient=True)
    (only,) = verify(trace, ["d_Q"], place={"h": 1})
    assert [each.index for each in only.cells] == [
        (1, row, column) for row in range(3) for column in range(2)
    ]
    (one,) = verify(trace, ["d_K"], cell=(0, 2, 1))
    assert (one.size, [each.index for each in one.cells]) == (1, [(0, 2, 1)])


def test_a_letter_may_be_of_another_length_elsewhere() -> None:
    """e is an axis of this problem's own, of length 3, and counts the four features of all heads
    in attncli's own equation, which knew only the first.
    """
    joined = read(
        {
            "Q": [[[1, 0], [0, 1]], [[1, 1], [2, 0]]],
            "K": [[[1, 2], [0, 1]], [[1, 0], [1, 1]]],
            "V": [[[1, 2], [3, 4]], [[5, 6], [7, 9]]],
            "W_O": [[1, 0], [0, 1], [1, 1], [2, 0]],
            "arrays": {"W[k, e]": [[1, 0, 2], [0, 1, 1]]},
            "equations": [
                "wide_q[i, e] = sum(k, Q[i, k] * W[k, e])",
                "wide_k[j, e] = sum(k, K[j, k] * W[k, e])",
                "scores[i, j] = sum(e, wide_q[i, e] * wide_k[j, e])",
            ],
        }
    )
    trace = run(joined, gradient=True)
    # d_output is 1 everywhere, and so each row of d_concat has the sums of the rows of W_O.
    np.testing.assert_array_equal(trace["d_concat"], [[1, 1, 2, 2]] * 2)
    of_heads = [[[1, 1]] * 2, [[2, 2]] * 2]
    np.testing.assert_array_equal(trace["d_heads_output"], of_heads)
    assert {each.verdict for each in verify(trace)} == {"agree"}


def test_what_float64_hardly_holds_is_no_error() -> None:
    trace = run(read({"Q": [[0]], "K": [[0], [0]], "V": [[-1.311e-317], [0]]}), gradient=True)
    assert "disagree" not in {each.verdict for each in verify(trace)}


def test_a_corner_narrower_than_every_h_tells_nothing() -> None:
    # the sink leaves a weight of 0; a weight of 1e-13 makes the second class the most likely, and
    # the loss steep
    corner = {
        "heads": 1,
        "X": [[1]],
        "W_Q": [[1]],
        "W_K": [[1]],
        "W_V": [[1e15]],
        "sink": 1e8,
        "W_O": [[0, 1, 0]],
        "b_O": [-20, -128, -1e8],
        "loss": {"kind": "cross_entropy", "targets": [2]},
    }
    trace = run(read(corner), gradient=True)
    assert {each.name: each.verdict for each in verify(trace)}["d_weights"] == "unknown"


def test_a_corner_is_one_where_the_narrowest_h_are_lost_in_rounding() -> None:
    # Of two outputs of 1e38 the second is larger by a billionth of 1e31. Beside 1e38, moves of
    # 1e31 · 1e-10 are lost, and all wider ones pass the corner where both outputs are alike.
    corner = {
        "X": [[1, 1, 1.000000004]],
        "W_Q": [[1], [1], [1]],
        "W_K": [[1], [1], [1]],
        "W_V": [[1e38, 1e38], [1e31, 0], [0, 1e31]],
        "loss": {"kind": "cross_entropy", "targets": [0]},
    }
    trace = run(read(corner), gradient=True)
    assert trace["class_probs"].tolist() == [[0, 1]]
    assert {each.name: each.verdict for each in verify(trace)}["d_X"] == "unknown"


def test_a_softmax_that_turns_faster_than_any_h_is_not_judged() -> None:
    # The token t2 is 0, so its weights are 1/3 each, and any h gives one key all of them. Its dQ is
    # 1/9·(-1) - 2/9·0 + 1/9·(-2) = -1/3, which W_Q makes large; through V it is 1e30, which is all
    # that a quotient sees.
    trace = run(
        read(
            {
                "X": [[1, 0], [0, 0], [0, 1]],
                "W_Q": [[1e40], [-1e40]],
                "W_K": [[-1], [-2]],
                "W_V": [[1], [1]],
                "d_output": [[1e30], [1], [1]],
            }
        ),
        gradient=True,
    )
    assert trace["d_X"][1, 0] == pytest.approx(-1e40 / 3)
    [found] = verify(trace, ["d_X"])
    cells = {cell.index: cell for cell in found.cells}
    assert cells[1, 0].quotient == pytest.approx(1e30)
    assert found.verdict == "unknown"


def test_a_softcap_narrower_than_every_h_tells_nothing() -> None:
    # within the cap dZ is that of the softmax, 1/4; a quotient only ever sees the cap itself, which
    # is next to nothing
    trace = run(
        read({"Q": [[0]], "K": [[1], [1]], "V": [[1], [0]], "softcap": 1e-160}), gradient=True
    )
    assert trace["d_scaled"].tolist() == [[0.25, -0.25]]
    found = {each.name: each.verdict for each in verify(trace)}
    assert (found["d_scaled"], found["d_capped"]) == ("unknown", "agree")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "position",
    [
        {"rope": {"theta": 100}},
        {"rope": {"theta": 100, "partial_rotary_factor": 0.5, "pairing": "interleaved"}},
        {"rope": {"positions": {"queries": [2, 5], "keys": [0, 3, 4]}}},
        {"alibi": True},
        {"sinusoidal": True},
        {"sinusoidal": {"from": 3}},
    ],
)
def test_a_context_of_another_width_beside_positions(position: dict[str, Any]) -> None:
    """No two lengths are alike, and d has two: it is 5 long in X, and 6 in the context."""
    random = np.random.default_rng(2)
    widths = {"X": (2, 5), "context": (3, 6), "W_Q": (5, 8), "W_K": (6, 8), "W_V": (6, 14)}
    arrays = {name: random.normal(size=shape).tolist() for name, shape in widths.items()}
    problem = read({**arrays, "heads": 2, "position": position})
    trace = run(problem, gradient=True)
    for name, step in trace.steps.items():
        of = trace.steps.get(name.removeprefix("d_"))
        assert of is None or of.shape == step.shape, name
    assert {each.verdict for each in verify(trace)} == {"agree"}


@pytest.mark.parametrize("function", ["sin(exp[i, j])", "cos(sin(exp[i, j] + 1))", "exp[i, j] % 1"])
def test_what_turns_faster_than_any_h_is_not_judged(function: str) -> None:
    """The next float64 beside e^60 is 16384 away: of its sine, no digit is known."""
    made = read(
        {
            "Q": [[60, 1], [55, 2]],
            "K": [[1, 0], [1, 1]],
            "V": [[1, 2], [3, 1]],
            "scale": "none",
            "equations": [f"weights[i, j] = {function}"],
        }
    )
    found = {each.name: each.verdict for each in verify(run(made, gradient=True))}
    assert found["d_scores"] == "unknown"
    assert "disagree" not in found.values()
