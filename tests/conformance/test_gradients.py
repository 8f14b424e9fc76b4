"""Whatever the contract allows: every gradient is what PyTorch's autograd finds, to 9 decimals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.features.gradient.verification import verify
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.model import Problem
from attncli.render import Style, render
from attncli.tracing import Trace, run
from attncli.tracing.serialization import from_dict, to_dict
from tests.conformance.drawn import problem_files
from tests.conformance.gradients import gradients

MANY = settings.get_profile("many")
Read = Callable[[dict[str, Any]], Problem]


def upstream(problem: Problem, seed: int) -> np.ndarray:
    """Numbers of any sign, in the shape of the output."""
    return np.random.default_rng(seed).normal(size=run(problem)["output"].shape).round(2)


def as_in_the_file(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Our array in the axes of theirs: the columns of heads beside one another, and axes of length
    1.
    """
    if ours.size == theirs.size and ours.ndim > theirs.ndim > 1:
        return np.moveaxis(ours, -3, -2).reshape(theirs.shape)
    return ours.reshape(theirs.shape)


def agree(trace: Trace, theirs: dict[str, np.ndarray]) -> None:
    """Within 1e-9 of what each gradient is, and of what the way back begins with, where that is
    large.
    """
    ours = {name.removeprefix("d_"): trace[name] for name in trace if name.startswith("d_")}
    atol = 1e-9 * max(1.0, np.abs(trace["d_output"]).max())
    if "new_K" in ours:  # what PyTorch calls K or V is only that of the new tokens
        ours |= {"K": ours["new_K"], "V": ours["new_V"]}
    for name, found in theirs.items():
        if name in ours:
            if ours[name].size < found.size:  # one for all entries, which adds up theirs
                found = found.sum(axis=0)
            np.testing.assert_allclose(
                as_in_the_file(ours[name], found), found, rtol=1e-9, atol=atol, err_msg=name
            )
    assert {
        "X",
        "context",
        "W_Q",
        "W_K",
        "W_V",
        "W_O",
        "b_Q",
        "b_K",
        "b_V",
        "b_O",
        "W_a",
        "W_1",
        "W_2",
        "v",
        "sink",
        "past_K",
        "past_V",
        "Q",
        "K",
        "V",
    } & {*theirs} <= {*ours}


@pytest.mark.torch
@MANY
@given(
    problem=problem_files() | problem_files(mixed=True) | problem_files(settings_of_rope=True),
    seed=st.integers(0, 99),
)
def test_every_gradient_agrees(torch: Any, read: Read, problem: dict[str, Any], seed: int) -> None:
    d_output = upstream(read(problem), seed)
    trace = run(read({**problem, "d_output": d_output.tolist()}), gradient=True)
    assert all(np.isfinite(trace[name]).all() for name in trace if name.startswith("d_"))
    agree(trace, gradients(torch, problem, d_output))


@pytest.mark.torch
@given(problem=problem_files())
def test_without_one_it_is_the_gradient_of_the_sum(
    torch: Any, read: Read, problem: dict[str, Any]
) -> None:
    agree(run(read(problem), gradient=True), gradients(torch, problem))


def target_of(kind: str, output: np.ndarray, seed: int) -> np.ndarray:
    """What the output should have been: numbers, or the class of each row."""
    drawn = np.random.default_rng(seed)
    if kind == "mse":
        return drawn.normal(size=output.shape).round(2)
    return drawn.integers(output.shape[-1], size=output.shape[:-1])


@pytest.mark.torch
@MANY
@given(
    problem=problem_files(), kind=st.sampled_from(["mse", "cross_entropy"]), seed=st.integers(0, 99)
)
def test_a_loss_is_that_of_torch(
    torch: Any, read: Read, problem: dict[str, Any], kind: str, seed: int
) -> None:
    target = target_of(kind, run(read(problem))["output"], seed)
    key = "target" if kind == "mse" else "targets"
    trace = run(read({**problem, "loss": {"kind": kind, key: target.tolist()}}), gradient=True)
    losses: list[float] = []

    def loss(output: Any) -> Any:
        held = torch.from_numpy(target)
        if kind == "mse":
            found = torch.nn.functional.mse_loss(output, held.reshape(output.shape))
        else:
            found = torch.nn.functional.cross_entropy(
                output.reshape(-1, output.shape[-1]), held.reshape(-1)
            )
        losses.append(found.item())
        return found

    agree(trace, gradients(torch, problem, loss=loss))
    np.testing.assert_allclose(trace["loss"], losses[0], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@settings.get_profile("few")
@given(
    problem=problem_files(small=True) | problem_files(small=True, mixed=True),
    kind=st.sampled_from(["", "mse", "cross_entropy"]),
)
def test_finite_differences_agree_and_the_page_is_written(
    read: Read, problem: dict[str, Any], kind: str
) -> None:
    ours = read(problem)
    if kind:
        target = target_of(kind, run(ours)["output"], 0).tolist()
        ours = read(
            {**problem, "loss": {"kind": kind, "target" if kind == "mse" else "targets": target}}
        )
    trace = run(ours, gradient=True)
    assert [each for each in verify(trace) if each.verdict == "disagree"] == []
    data = json.loads(json.dumps(to_dict(trace), allow_nan=False))
    assert to_dict(from_dict(data)) == data
    page = gradient_page(trace, View())
    for format in ("table", "markdown", "latex"):
        assert render(page, format, Style())
