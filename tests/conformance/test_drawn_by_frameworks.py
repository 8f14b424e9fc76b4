"""Drawn problems by PyTorch and ONNX: all that can be said to their attention, with everything at once.

The layer around it (projections, heads, cache, rotation, W_O) is written with PyTorch's own operations. A base b is
scores times ln b, a multiplicative score a query times W_a, a sink one more key of zeros whose bias is the sink.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawn import problem_files
from hypothesis import assume, given, settings
from onnx_operator import onnx_attention
from reference import default_slopes, head_counts, scale
from reference_masks import offsets, visible_and_added

Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
Problem = dict[str, Any]
MORE = settings(max_examples=4 * settings().max_examples)


def rows(torch: Any, problem: Problem, letter: str, heads: int) -> Any:
    """Q, K or V of the new tokens: batch × head × row × feature."""
    if letter in problem:
        return by_head(torch, problem[letter], heads)
    source = problem["context"] if letter != "Q" and "context" in problem else problem["X"]
    bias = torch.tensor(problem.get(f"b_{letter}", [0.0]), dtype=torch.float64)
    weights = torch.tensor(problem[f"W_{letter}"], dtype=torch.float64)
    return by_head(torch, torch.tensor(source, dtype=torch.float64) @ weights + bias, heads, split=True)


def by_head(torch: Any, array: Any, heads: int, *, split: bool = False) -> Any:
    array = torch.as_tensor(array, dtype=torch.float64)
    if split or array.ndim == 2:
        return array.reshape(-1, *array.shape[-2:]).unflatten(-1, (heads, -1)).transpose(1, 2)
    return array.reshape(-1, *array.shape[-3:])


def same_entries(*arrays: Any) -> list[Any]:
    most = max(array.shape[0] for array in arrays)
    return [array.expand(most, -1, -1, -1) for array in arrays]


def rotated(torch: Any, x: Any, first: int, theta: float = 10000, pairing: str = "half") -> Any:
    """RoPE as the models' own code has it: rotate_half, or complex numbers of neighbors."""
    d = x.shape[-1]
    frequencies = theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = torch.outer(torch.arange(first, first + x.shape[-2], dtype=torch.float64), frequencies)
    if pairing == "interleaved":
        turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(
            torch.ones_like(angles), angles
        )
        return torch.view_as_real(turned).flatten(-2)
    cos, sin = (torch.cat([part, part], dim=-1) for part in (angles.cos(), angles.sin()))
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin


def attended(torch: Any, problem: Problem) -> tuple[Any, Any, Any, Any, float]:
    """Q, K and V as attention meets them, what is added to the scaled scores, and the scale."""
    heads, kv_heads = head_counts(problem)
    q, k, v = (
        rows(torch, problem, letter, count) for letter, count in (("Q", heads), ("K", kv_heads), ("V", kv_heads))
    )
    past = 0
    if "past" in problem:
        cached = [by_head(torch, problem["past"][letter], kv_heads) for letter in "KV"]
        past = cached[0].shape[2]
        k, v = (torch.cat(same_entries(*pair), dim=2) for pair in zip(cached, (k, v), strict=True))
    q, k, v = same_entries(q, k, v)
    position = problem.get("position", {})
    if "rope" in position:
        q, k = rotated(torch, q, past, **position["rope"]), rotated(torch, k, 0, **position["rope"])
    times, shape = scale(problem, k.shape[-1]), (*q.shape[:3], k.shape[2])
    if problem.get("score") == "multiplicative":
        q = q @ torch.tensor(problem["W_a"], dtype=torch.float64)
    offset = offsets(problem.get("mask"), *shape[2:], past)
    visible, added = visible_and_added(problem.get("mask"), shape, offset)
    if alibi := position.get("alibi"):
        slopes = np.array(default_slopes(heads) if alibi is True else alibi["slopes"]).reshape(-1, 1, 1)
        i, j = np.indices(shape[2:])
        added = added - slopes * abs(i + offset - j)
    bias = torch.from_numpy(np.where(visible, added, -np.inf))
    if "sink" in problem:
        sink = torch.as_tensor(problem["sink"], dtype=torch.float64).reshape(-1, 1, 1)
        bias = torch.cat([bias, sink.broadcast_to(*shape[:3], 1)], dim=-1)
        k, v = (torch.cat([array, torch.zeros_like(array[:, :, :1])], dim=2) for array in (k, v))
    return q, k, v, bias, times


def agree(problem: Problem, ours: dict[str, np.ndarray], torch: Any, heads_output: Any) -> None:
    """The heads' own outputs, or all of them joined and projected."""
    if "heads_output" in ours:
        theirs = heads_output.transpose(1, 2).flatten(2)
        if "W_O" in problem:
            weights, bias = (torch.tensor(problem.get(name, [0.0]), dtype=torch.float64) for name in ("W_O", "b_O"))
            theirs = theirs @ weights + bias
        np.testing.assert_allclose(ours["output"].reshape(theirs.shape), theirs, rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_allclose(ours["output"], heads_output, rtol=1e-10, atol=1e-10)


@pytest.mark.torch
@MORE
@given(problem=problem_files() | problem_files(mixed=True))
def test_pytorch(torch: Any, program: Solve, problem: Problem) -> None:
    assume(problem.get("score") != "additive" and "softcap" not in problem)
    q, k, v, bias, times = attended(torch, problem)
    powers = 1.0 if problem.get("exp_base", "e") == "e" else math.log(problem["exp_base"])
    theirs = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=bias * powers, scale=times * powers, enable_gqa=True
    )
    agree(problem, program(problem), torch, theirs)


@pytest.mark.torch
@pytest.mark.onnx
@given(problem=problem_files())
def test_onnx(torch: Any, program: Solve, problem: Problem) -> None:
    """Its attributes are floats of 32 bits: the scale is multiplied in before, and the softcap has to be one."""
    pytest.importorskip("onnx", minversion="1.23", reason="ONNX 1.23 is not installed")
    assume(problem.get("score") != "additive" and problem.get("exp_base", "e") == "e")
    if "softcap" in problem:
        problem = {**problem, "softcap": float(np.float32(problem["softcap"]))}
    q, k, v, bias, times = attended(torch, problem)
    batch = max(array.shape[0] for array in (q, k, v, bias))
    q, k, v, bias = (np.broadcast_to(array.numpy(), (batch, *array.shape[1:])).copy() for array in (q, k, v, bias))
    cap = float(problem.get("softcap", 0))
    theirs, *_ = onnx_attention(24, Q=q * times, K=k, V=v, attn_mask=bias, scale=1.0, softcap=cap)
    agree(problem, program(problem), torch, torch.from_numpy(theirs))
