"""Programs of somebody else that work the exported cases out, with their gradients: they read the
files as `other_program.py` does, and differentiate by autograd of PyTorch or by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.testing import other_program
from tests.testing.gradients import right
from tests.testing.other_program import Array, speeds_of_yarn

# The outputs and gradients of a case by the names of their files.
Back = Callable[..., Mapping[str, Array]]


def answer_back(cases: Path, to: Path, function: Back, only: tuple[str, ...] = ()) -> None:
    """Work every case out that the function has arguments for, and write what it gives; with
    `only`, of that the files with these names.
    """
    to.mkdir(exist_ok=True)
    for case in other_program.cases_in(cases):
        try:
            found = function(**other_program.arrays_of(cases, case), **case["settings"])
        except TypeError:
            continue
        files = {"output": case["output"], **case["gradients"]}
        for name, said in files.items():
            if name in found and (not only or name in only):
                assert list(found[name].shape) == said["shape"]
                np.ascontiguousarray(found[name], "<f4").tofile(to / said["file"])


def by_hand(
    q: Array, k: Array, v: Array, dO: Array | None = None, mask: Array | None = None
) -> dict[str, Array]:
    if q.shape[1] != k.shape[1]:
        raise TypeError("heads that are shared are not worked out")
    found = {"output": right.weights_of(q, k, mask) @ v}
    if dO is not None:
        gradients = right.by_hand(q, k, v, dO, mask)
        found |= zip(("dQ", "dK", "dV"), gradients, strict=True)
    return found


def by_autograd(
    q: Array, k: Array, v: Array, dO: Array | None = None, **settings: Any
) -> dict[str, Array]:
    """In float64."""
    import torch

    given = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in (q, k, v)]
    output = attention(*given, **settings)
    found = {"output": output.detach().numpy()}
    if dO is not None:
        gradients = torch.autograd.grad(output, given, torch.tensor(dO))
        for name, each in zip(("dQ", "dK", "dV"), gradients, strict=True):
            found[name] = each.numpy()
    return found


def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Array | None = None,
    bias: Array | None = None,
    causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
    alibi_slopes: Array | None = None,
    rope_theta: float | None = None,
    offset: int = 0,
    rope_parameters: Mapping[str, Any] | None = None,
) -> Any:
    """Attention by the book in PyTorch; a query that sees no key gets 0."""
    import torch

    n, m = q.shape[-2], k.shape[-2]
    group = q.shape[1] // k.shape[1]
    if rope_theta is not None:
        q, k = _rotated(q, rope_theta, offset), _rotated(k, rope_theta, 0)
    if rope_parameters is not None:
        speeds = torch.tensor(speeds_of_yarn({**rope_parameters}, q.shape[-1]))
        factor = 1 + math.log(rope_parameters["factor"]) / 10
        q, k = (factor * _turned(each, speeds, 0) for each in (q, k))
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * (scale or q.shape[-1] ** -0.5)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + torch.tensor(bias)
    behind = torch.arange(m) - torch.arange(n)[:, None] - (m - n)
    if alibi_slopes is not None:
        scores = scores - torch.tensor(alibi_slopes)[:, None, None] * behind.abs()
    seen = torch.ones(n, m, dtype=torch.bool) if mask is None else torch.tensor(mask)
    if causal or window is not None:
        seen = seen & (behind <= 0)
    if window is not None:
        seen = seen & (behind > -window)
    scores = scores.masked_fill(~seen, -torch.inf)
    if sinks is not None:
        column = torch.tensor(sinks)[:, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, column], dim=-1)
    is_blind = torch.isneginf(scores).all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(is_blind, 0.0), dim=-1).masked_fill(is_blind, 0.0)
    return weights[..., :m] @ v


def _rotated(array: Any, theta: float, first: int) -> Any:
    """RoPE with the frequencies of its paper."""
    import torch

    half = array.shape[-1] // 2
    return _turned(array, theta ** (-torch.arange(half, dtype=torch.float64) / half), first)


def _turned(array: Any, speed: Any, first: int) -> Any:
    """RoPE by complex numbers: the first half are real parts, the second imaginary ones."""
    import torch

    tokens, half = array.shape[-2], array.shape[-1] // 2
    place = first + torch.arange(tokens, dtype=torch.float64)
    turn = torch.polar(torch.ones(tokens, half, dtype=torch.float64), torch.outer(place, speed))
    turned = torch.complex(array[..., :half], array[..., half:]) * turn
    return torch.cat([turned.real, turned.imag], dim=-1)
