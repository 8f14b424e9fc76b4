"""A problem file by PyTorch: the layer around attention in its own operations, and what is said to
its attention.

A base b is scores times ln b, a multiplicative score a query times W_a, a sink one more key of
zeros whose bias it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.reference.in_arrays import default_slopes, head_counts, scale
from tests.reference.masks_in_arrays import offsets, visible_and_added

Problem = dict[str, Any]


def rows(torch: Any, problem: Problem, letter: str, heads: int) -> Any:
    """Q, K or V of the new tokens: batch × head × row × feature."""
    if letter in problem:
        return by_head(torch, problem[letter], heads)
    source = problem["context"] if letter != "Q" and "context" in problem else problem["X"]
    bias = torch.tensor(problem.get(f"b_{letter}", [0.0]), dtype=torch.float64)
    weights = torch.tensor(problem[f"W_{letter}"], dtype=torch.float64)
    return by_head(
        torch, torch.tensor(source, dtype=torch.float64) @ weights + bias, heads, split=True
    )


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
        rows(torch, problem, letter, count)
        for letter, count in (("Q", heads), ("K", kv_heads), ("V", kv_heads))
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
        slopes = np.array(default_slopes(heads) if alibi is True else alibi["slopes"]).reshape(
            -1, 1, 1
        )
        i, j = np.indices(shape[2:])
        added = added - slopes * abs(i + offset - j)
    bias = torch.from_numpy(np.where(visible, added, -np.inf))
    if "sink" in problem:
        sink = torch.as_tensor(problem["sink"], dtype=torch.float64).reshape(-1, 1, 1)
        bias = torch.cat([bias, sink.broadcast_to(*shape[:3], 1)], dim=-1)
        k, v = (torch.cat([array, torch.zeros_like(array[:, :, :1])], dim=2) for array in (k, v))
    return q, k, v, bias, times


def attention(torch: Any, problem: Problem) -> Any:
    """What each head gives: by `scaled_dot_product_attention`, which knows no additive score and no
    softcap.
    """
    if problem.get("score") == "additive" or "softcap" in problem:
        return in_steps(torch, problem)
    q, k, v, bias, times = attended(torch, problem)
    powers = base(problem)
    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=bias * powers, scale=times * powers, enable_gqa=True
    )


def in_steps(torch: Any, problem: Problem) -> Any:
    """The same with PyTorch's softmax; a row that sees nothing is 0 there, too."""
    q, k, v, bias, times = attended(torch, problem)
    k, v = (array.repeat_interleave(q.shape[1] // array.shape[1], dim=1) for array in (k, v))
    if problem.get("score") == "additive":
        first, second, last = (
            torch.tensor(problem[name], dtype=torch.float64) for name in ("W_1", "W_2", "v")
        )
        scores = torch.tanh((q @ first)[:, :, :, None] + (k @ second)[:, :, None]) @ last
        if "sink" in problem:
            scores[..., -1] = 0
    else:
        scores = q @ k.transpose(-1, -2)
    scaled, cap = scores * times, problem.get("softcap")
    logits = (cap * torch.tanh(scaled / cap) if cap else scaled) + bias
    return torch.nan_to_num(torch.softmax(logits * base(problem), dim=-1), nan=0.0) @ v


def base(problem: Problem) -> float:
    """What scores are multiplied by so that powers of e are those of the problem's base."""
    return 1.0 if problem.get("exp_base", "e") == "e" else math.log(problem["exp_base"])


def joined(torch: Any, problem: Problem, heads_output: Any) -> Any:
    """The heads side by side, and projected where there is a W_O."""
    output = heads_output.transpose(1, 2).flatten(2)
    if "W_O" in problem:
        weights, bias = (
            torch.tensor(problem.get(name, [0.0]), dtype=torch.float64) for name in ("W_O", "b_O")
        )
        output = output @ weights + bias
    return output
