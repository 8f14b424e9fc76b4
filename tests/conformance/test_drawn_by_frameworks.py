"""Drawn problems by PyTorch and ONNX: all that can be said to their attention, with everything at
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.conformance.by_pytorch import attended, attention, joined
from tests.conformance.drawn import problem_files
from tests.conformance.onnx_operator import onnx_attention

Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
Problem = dict[str, Any]
MANY = settings.get_profile("many")


def agree(problem: Problem, ours: dict[str, np.ndarray], torch: Any, heads_output: Any) -> None:
    """The heads' own outputs, or all of them joined and projected."""
    theirs = joined(torch, problem, heads_output) if "heads_output" in ours else heads_output
    np.testing.assert_allclose(ours["output"].reshape(theirs.shape), theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.torch
@MANY
@given(problem=problem_files() | problem_files(mixed=True))
def test_pytorch(torch: Any, program: Solve, problem: Problem) -> None:
    agree(problem, program(problem), torch, attention(torch, problem))


@pytest.mark.torch
@pytest.mark.onnx
@given(problem=problem_files())
def test_onnx(torch: Any, program: Solve, problem: Problem) -> None:
    """Its attributes are floats of 32 bits: the scale is multiplied in before, and the softcap has
    to be one.
    """
    pytest.importorskip("onnx", minversion="1.23", reason="ONNX 1.23 is not installed")
    assume(problem.get("score") != "additive" and problem.get("exp_base", "e") == "e")
    if "softcap" in problem:
        problem = {**problem, "softcap": float(np.float32(problem["softcap"]))}
    q, k, v, bias, times = attended(torch, problem)
    batch = max(array.shape[0] for array in (q, k, v, bias))
    q, k, v, bias = (
        np.broadcast_to(array.numpy(), (batch, *array.shape[1:])).copy()
        for array in (q, k, v, bias)
    )
    cap = float(problem.get("softcap", 0))
    theirs, *_ = onnx_attention(24, Q=q * times, K=k, V=v, attn_mask=bias, scale=1.0, softcap=cap)
    agree(problem, program(problem), torch, torch.from_numpy(theirs))
