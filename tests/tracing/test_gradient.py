"""The backward pass of whole problems, by hand and by finite differences; PyTorch's word is in
tests/conformance.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attncli.backend import Backend
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.tracing import run
from attncli.tracing.serialization import from_dict, to_dict
from attncli.tracing.slices import trace_at

# whose weights are 1/2 and 1/2
TINY = {"Q": [[1, 0]], "K": [[0, 0], [0, 0]], "V": [[1, 0], [0, 3]]}


@pytest.fixture
def tiny(problem: Callable[..., Problem]) -> Problem:
    return problem(**TINY)


def test_by_hand(tiny: Problem, backend: Backend) -> None:
    """dA = [1, 3], δ = 2, dZ = 1/2·[-1, 1], dS = dZ/√2, dK = dSᵀ Q, dV = Aᵀ dO."""
    trace = run(tiny, gradient=True, backend=backend)
    root = np.sqrt(2)
    expected = {
        "d_output": [[1, 1]],
        "d_weights": [[1, 3]],
        "delta": [2],
        "d_scaled": [[-0.5, 0.5]],
        "d_scores": [[-0.5 / root, 0.5 / root]],
        "d_Q": [[0, 0]],
        "d_K": [[-0.5 / root, 0], [0.5 / root, 0]],
        "d_V": [[0.5, 0.5], [0.5, 0.5]],
    }
    assert [name for name in trace if name in expected or name.startswith("d_")] == list(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(trace[name], value, rtol=1e-15, atol=1e-15, err_msg=name)


def test_exactly(tiny: Problem) -> None:
    trace = run(tiny, gradient=True, rounding="exact")
    data = to_dict(trace)["steps"]
    assert data["d_scaled"]["exact"] == [["-1/2", "1/2"]]
    assert data["d_scores"]["exact"] == [["-1/(2*sqrt(2))", "1/(2*sqrt(2))"]]


def test_on_paper_every_step_is_rounded(tiny: Problem) -> None:
    trace = run(tiny, gradient=True, rounding="paper", precision=1)
    np.testing.assert_array_equal(trace["d_scores"], [[-0.4, 0.4]])  # 0.5/√2 is 0.354
    np.testing.assert_array_equal(trace["d_K"], [[-0.4, 0], [0.4, 0]])
    assert trace.truth is not None
    assert trace.truth["d_scores"][0, 1] == pytest.approx(0.5 / np.sqrt(2))


def test_a_gradient_that_is_given(tiny: Problem) -> None:
    given = Matrix(np.array([[2.0, 0.0]]), np.array([["2", "0"]], dtype=object))
    trace = run(replace(tiny, d_output=given), gradient=True)
    np.testing.assert_array_equal(trace["d_weights"], [[2, 0]])
    assert trace.steps["d_output"].written is not None


def test_without_being_asked_there_is_no_way_back(tiny: Problem) -> None:
    assert not [name for name in run(tiny) if name.startswith("d_")]


def test_hidden_cells_and_rows_that_see_nothing_get_zero(problem: Callable[..., Problem]) -> None:
    seen = np.array([[True, False, True], [False, False, False], [True, True, True]])
    random = np.random.default_rng(5)
    arrays = {name: random.normal(size=(3, 2)) for name in "QKV"}
    for choices in ({}, {"sink": 0.5}, {"shifted": True}):
        shifted = choices.pop("shifted", None)
        trace = run(
            problem(**arrays, mask=(Keep(seen),), **choices), gradient=True, shifted=shifted
        )
        for name in ("d_masked", "d_scaled", "d_scores"):
            assert not trace[name][~seen].any()
        assert not trace["d_Q"][1].any()
        assert all(np.isfinite(trace[name]).all() for name in trace if name.startswith("d_"))


def test_a_shift_changes_no_gradient(love: Problem) -> None:
    plain, shifted = (run(love, gradient=True, shifted=choice) for choice in (False, True))
    assert ("shifted" in plain, "shifted" in shifted) == (False, True)
    for name in plain:
        if name.startswith("d_"):
            np.testing.assert_allclose(plain[name], shifted[name], rtol=1e-12, atol=1e-14)


def test_the_input_adds_up_three_contributions(love: Problem) -> None:
    trace = run(love, gradient=True)
    parts = [trace[f"d_{name}"] @ trace[f"W_{name}"].T for name in "QKV"]
    np.testing.assert_allclose(trace["d_X"], sum(parts), rtol=1e-14, atol=1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["X", "W_Q", "W_K", "W_V", "b_Q"])
def test_central_differences(problem: Callable[..., Problem], name: str) -> None:
    random = np.random.default_rng(11)
    shapes = {"X": (3, 4), "W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 3), "b_Q": (2,)}
    arrays = {each: random.normal(size=shape) for each, shape in shapes.items()}
    settings: dict[str, Any] = {"mask": (Causal(),), "softcap": 2, "exp_base": 3, "sink": 0.25}
    upstream = random.normal(size=(3, 3))

    def loss(by: float, place: tuple[int, ...]) -> float:
        moved = arrays[name].copy()
        moved[place] += by
        return float(
            (run(problem(**(arrays | {name: moved}), **settings))["output"] * upstream).sum()
        )

    ours = run(replace(problem(**arrays, **settings), d_output=Matrix(upstream)), gradient=True)[
        f"d_{name}"
    ]
    for place in np.ndindex(shapes[name]):
        assert ours[place] == pytest.approx(
            (loss(1e-5, place) - loss(-1e-5, place)) / 2e-5, rel=1e-7, abs=1e-8
        )


def test_a_trace_with_gradients_survives_json(love: Problem) -> None:
    trace = run(love, gradient=True)
    data = json.loads(json.dumps(to_dict(trace), allow_nan=False))
    back = from_dict(data)
    assert list(back) == list(trace)
    assert to_dict(back) == data
    assert back.steps["d_Q"].rule == trace.steps["d_Q"].rule


def test_the_gradient_of_v_is_no_length_of_values(problem: Callable[..., Problem]) -> None:
    # Both are called d_v where scores are additive.
    random = np.random.default_rng(3)
    shapes = {"Q": (2, 2, 3), "K": (2, 2, 3), "V": (2, 2, 3), "W_O": (6, 2)}
    arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
    additive = {"W_1": random.normal(size=(3, 2)), "W_2": random.normal(size=(3, 2)), "v": [1, 2]}
    trace = run(problem(**arrays, **additive, score="additive"), gradient=True)
    assert trace.steps["d_v"].shape == (2,)
    back = from_dict(json.loads(json.dumps(to_dict(trace))))
    assert {name: step.rule for name, step in back.steps.items()} == {
        name: step.rule for name, step in trace.steps.items()
    }


def test_one_head_has_no_part_in_what_adds_up_heads(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(2)
    shapes = {"Q": (4, 3, 2), "K": (2, 3, 2), "V": (2, 3, 2), "W_O": (8, 3)}
    trace = run(
        problem(**{name: random.normal(size=shape) for name, shape in shapes.items()}),
        gradient=True,
    )
    head = trace_at(trace, {"h": 2})
    assert {"d_heads_output", "d_weights", "d_scores", "d_Q", "d_concat"} <= {*head}
    assert not {"d_K", "d_V", "d_W_O", "output"} & {*head}
    np.testing.assert_array_equal(head["d_Q"], trace["d_Q"][2])
    assert (
        head.steps["d_heads_output"].rule.source
        == "d_heads_output[i, c] = d_concat[i, 2 * d_v + c]"
    )
