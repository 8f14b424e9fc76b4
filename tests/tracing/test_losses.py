"""The loss and the gradient it begins with, by hand; PyTorch's word is in tests/conformance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import exp, log

import numpy as np
import pytest

from attncli.features.gradient.verification import verify
from attncli.problem.loader import loads
from attncli.tracing import Trace, run
from attncli.tracing.slices import backward_steps, forward_steps, loss_steps, trace_at

TINY = {"Q": [[1, 0]], "K": [[0, 0], [0, 0]], "V": [[1, 0], [0, 3]]}  # whose output is [0.5, 1.5]


def gradient(loss: Mapping[str, object], **more: object) -> Trace:
    return run(loads(json.dumps({**TINY, **more, "loss": loss}).encode(), "tiny"), gradient=True)


def test_the_mean_of_squared_errors() -> None:
    trace = gradient({"kind": "mse", "target": [[1, 1]]})
    assert loss_steps(trace) == ("target", "error", "loss")
    np.testing.assert_array_equal(trace["error"], [[-0.5, 0.5]])
    assert trace["loss"] == pytest.approx((0.25 + 0.25) / 2)
    np.testing.assert_allclose(trace["d_output"], [[2 * -0.5 / 2, 2 * 0.5 / 2]])
    assert trace.steps["d_output"].rule.source == "d_output[i, c] = 2 * error[i, c] / N"


def test_cross_entropy_takes_rows_as_logits() -> None:
    trace = gradient({"kind": "cross_entropy", "targets": [0]})
    assert loss_steps(trace) == (
        "target",
        "log_sum",
        "log_probs",
        "class_probs",
        "row_loss",
        "loss",
    )
    total = exp(0.5) + exp(1.5)
    np.testing.assert_allclose(trace["class_probs"], [[exp(0.5) / total, exp(1.5) / total]])
    assert trace["loss"] == pytest.approx(log(total) - 0.5)
    np.testing.assert_allclose(trace["d_output"], [[exp(0.5) / total - 1, exp(1.5) / total]])


def test_cross_entropy_as_a_whole_is_the_chain_through_its_steps() -> None:
    """Σ_y d logP[y]·(1 if y = c else 0) - exp(O[c]) / Σ exp · Σ_y d logP[y], with d logP = -Y /
    N.
    """
    trace = gradient(
        {"kind": "cross_entropy", "targets": [1, 0, 1]},
        Q=[[1, 0], [0, 2], [1, 1]],
        K=[[1, 0], [0, 1]],
    )
    through = -trace["target"] / 3
    shares = np.exp(trace["output"]) / np.exp(trace["output"]).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        trace["d_output"], through - shares * through.sum(axis=1, keepdims=True)
    )


def test_large_outputs_are_shifted_as_scores_are() -> None:
    trace = gradient({"kind": "cross_entropy", "targets": [0]}, V=[[0, 2000], [0, 2000]])
    assert "row_top" in trace
    assert trace["loss"] == pytest.approx(2000)
    assert trace["log_probs"][0, 1] == 0
    np.testing.assert_array_equal(trace["d_output"], [[-1, 1]])


@pytest.mark.parametrize("largest", [800.0, 1e9, 1e30, -1e9, -1e30])
def test_probabilities_of_any_outputs_sum_to_1(largest: float) -> None:
    """The logarithm of 2 is lost beside 1e30, and its last digits beside 800."""
    outputs = [largest, largest, -1e31]
    trace = gradient({"kind": "cross_entropy", "targets": [0]}, V=[outputs, outputs])
    np.testing.assert_allclose(trace["class_probs"], [[0.5, 0.5, 0]], rtol=1e-15)
    np.testing.assert_allclose(trace["d_output"], [[-0.5, 0.5, 0]], rtol=1e-15)
    np.testing.assert_allclose(trace["loss"], log(2), rtol=1e-15)
    np.testing.assert_allclose(trace["log_sum"], [largest + log(2)], rtol=1e-15)


def test_log_probs_are_those_of_a_difference_where_the_outputs_are_near_0() -> None:
    """On paper the softmax is shifted, too, where e^-9 is 0.000; there log_sum is used."""
    near = gradient({"kind": "cross_entropy", "targets": [0]}, V=[[-9, -9], [-9, -9]])
    assert near.steps["log_probs"].rule.source == "log_probs[i, c] = output[i, c] - log_sum[i]"
    assert "row_top" in near


def test_on_paper_both_have_the_same_steps() -> None:
    problem = loads(
        json.dumps({**TINY, "loss": {"kind": "cross_entropy", "targets": [0]}}).encode(), "tiny"
    )
    trace = run(problem, gradient=True, rounding="paper", precision=2)
    assert trace.truth is not None
    assert list(trace) == list(trace.truth)
    assert trace["loss"] == 1.31  # ln(e^0.50 + e^1.50) = 1.81, less 0.50


def test_exactly() -> None:
    problem = loads(
        json.dumps({**TINY, "loss": {"kind": "mse", "target": [["1/3", 1]]}}).encode(), "tiny"
    )
    trace = run(problem, gradient=True, rounding="exact")
    exact = trace.steps["loss"].exact
    assert exact is not None
    assert str(exact[()]) == "5/36"  # ((1/6)² + (1/2)²) / 2


def test_only_the_gradient_has_a_loss() -> None:
    problem = loads(
        json.dumps({**TINY, "loss": {"kind": "mse", "target": [[1, 1]]}}).encode(), "tiny"
    )
    assert "loss" not in run(problem)


NAMES = ("X", "W_Q", "W_K", "W_V")
LAYER: dict[str, object] = {
    name: {"random": [4, 4], "seed": seed} for seed, name in enumerate(NAMES)
}


def test_a_head_of_a_loss_of_all_heads_is_given_its_gradient() -> None:
    loss = {"kind": "cross_entropy", "targets": [0, 1, 2, 3]}
    trace = run(
        loads(json.dumps({**LAYER, "heads": 2, "loss": loss}).encode(), "layer"), gradient=True
    )
    head = trace_at(trace, {"h": 1})
    assert loss_steps(head) == ()
    assert head.steps["d_output"].rule.given
    assert "d_Q" in backward_steps(head)


def test_an_entry_has_its_own_errors_but_not_the_mean_of_all() -> None:
    problem: dict[str, object] = {
        name: {"random": [2, 1, 3, 2], "seed": seed} for seed, name in enumerate("QKV")
    }
    problem["loss"] = {"kind": "mse", "target": {"random": [2, 1, 3, 2]}}
    trace = run(loads(json.dumps(problem).encode(), "batch"), gradient=True)
    entry = trace_at(trace, {"b": 1})
    assert loss_steps(entry) == ("target", "error")
    np.testing.assert_array_equal(entry["error"], trace["error"][1])
    assert "loss" not in forward_steps(entry)


def test_finite_differences_are_those_of_the_loss() -> None:
    problem = loads(
        json.dumps({**LAYER, "loss": {"kind": "mse", "target": {"random": [4, 4]}}}).encode(),
        "layer",
    )
    found = list(verify(run(problem, gradient=True)))
    assert found[0].name == "d_output"
    assert all(each.verdict == "agree" for each in found)
