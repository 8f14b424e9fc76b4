"""Gradients from a problem file by PyTorch's autograd; nothing of the program is used here.

The whole layer is written with PyTorch's own operations, without its attention, so that every array
has a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance.by_pytorch import rotated, same_entries
from tests.reference.in_arrays import default_slopes, head_counts, scale
from tests.reference.masks_in_arrays import offsets, visible_and_added

Problem = dict[str, Any]
ARRAYS = (
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
)
STEPS = (
    "Q",
    "K",
    "V",
    "Q_rot",
    "K_rot",
    "scores",
    "scaled",
    "capped",
    "masked",
    "weights",
    "heads_output",
    "concat",
)


def gradients(
    torch: Any,
    problem: Problem,
    d_output: np.ndarray | None = None,
    loss: Callable[[Any], Any] | None = None,
) -> dict[str, np.ndarray]:
    """The gradient of Σ d_output·output, or of a loss of the output, for every array of the file
    and the steps.

    Arrays are as the file has them; steps are batch × head × row × column, of as many entries and
    heads as they have.
    """
    leaves = {name: torch.tensor(problem[name], dtype=torch.float64, requires_grad=True)
              for name in (*ARRAYS, "Q", "K", "V") if name in problem}  # fmt: skip
    leaves |= {f"past_{name}": torch.tensor(array, dtype=torch.float64, requires_grad=True)
               for name, array in problem.get("past", {}).items()}  # fmt: skip
    steps: dict[str, Any] = {}
    output = forward(torch, problem, leaves, steps)
    upstream = (
        torch.ones_like(output)
        if d_output is None
        else torch.from_numpy(d_output.reshape(output.shape))
    )
    wanted = {**steps, **leaves}
    whole, begins = (output, upstream) if loss is None else (loss(output), None)
    found = torch.autograd.grad(whole, list(wanted.values()), begins, allow_unused=True)
    return {name: np.zeros(tuple(of.shape)) if grad is None else grad.numpy()
            for (name, of), grad in zip(wanted.items(), found, strict=True)}  # fmt: skip


def forward(torch: Any, problem: Problem, leaves: dict[str, Any], steps: dict[str, Any]) -> Any:
    """The output, batch × row × column, or batch × head × row × column where heads stay apart."""
    heads, kv_heads = head_counts(problem)
    q, k, v = (
        _rows(torch, leaves, name, count)
        for name, count in (("Q", heads), ("K", kv_heads), ("V", kv_heads))
    )
    steps |= {
        name: array for name, array in zip("QKV", (q, k, v), strict=True) if f"W_{name}" in leaves
    }
    past = 0
    if "past" in problem:
        past_k, past_v = (_by_head(leaves[f"past_{name}"], kv_heads) for name in "KV")
        past = past_k.shape[2]
        k, v = (torch.cat(same_entries(*pair), dim=2) for pair in ((past_k, k), (past_v, v)))
        steps.pop("K", None), steps.pop("V", None)
    if rope := problem.get("position", {}).get("rope"):
        q, k = rotated(torch, q, past, **rope), rotated(torch, k, 0, **rope)
        steps |= {"Q_rot": q, "K_rot": k}
    k, v = (array.repeat_interleave(heads // kv_heads, dim=1) for array in (k, v))
    scores = _scores(torch, problem, leaves, q, k)
    scaled = scores * scale(problem, k.shape[-1])
    cap = problem.get("softcap")
    capped = cap * torch.tanh(scaled / cap) if cap else scaled
    steps |= {"scores": scores, "scaled": scaled, "capped": capped}
    entries = max(capped.shape[0], v.shape[0])
    weights = _softmax(
        torch, problem, leaves, capped + _bias(torch, problem, (entries, *capped.shape[1:]), past)
    )
    found = weights @ v
    concat = found.transpose(1, 2).flatten(2)
    steps |= {"weights": weights, "heads_output": found}
    if "W_O" in leaves:
        return concat @ leaves["W_O"] + leaves.get("b_O", 0)
    return concat if "W_Q" in problem or leaves["Q"].ndim == 2 else found


def _by_head(array: Any, heads: int) -> Any:
    if array.ndim == 2:
        return array.unflatten(-1, (heads, -1)).transpose(0, 1)[None]
    return array if array.ndim == 4 else array[None]


def _rows(torch: Any, leaves: dict[str, Any], name: str, heads: int) -> Any:
    if name in leaves:
        return _by_head(leaves[name], heads)
    source = leaves["context"] if name != "Q" and "context" in leaves else leaves["X"]
    source = source if source.ndim == 3 else source[None]
    return (
        (source @ leaves[f"W_{name}"] + leaves.get(f"b_{name}", 0))
        .unflatten(-1, (heads, -1))
        .transpose(1, 2)
    )


def _scores(torch: Any, problem: Problem, leaves: dict[str, Any], q: Any, k: Any) -> Any:
    if problem.get("score") == "multiplicative":
        return q @ leaves["W_a"] @ k.transpose(2, 3)
    if problem.get("score") == "additive":
        hidden = torch.tanh((q @ leaves["W_1"])[:, :, :, None] + (k @ leaves["W_2"])[:, :, None])
        return hidden @ leaves["v"]
    return q @ k.transpose(2, 3)


def _bias(torch: Any, problem: Problem, shape: tuple[int, ...], past: int) -> Any:
    heads = head_counts(problem)[0]
    offset = offsets(problem.get("mask"), *shape[2:], past)
    visible, added = visible_and_added(problem.get("mask"), shape, offset)
    if alibi := problem.get("position", {}).get("alibi"):
        slopes = np.array(default_slopes(heads) if alibi is True else alibi["slopes"]).reshape(
            -1, 1, 1
        )
        i, j = np.indices(shape[2:])
        added = added - slopes * abs(i + offset - j)
    return torch.from_numpy(np.where(visible, added, -np.inf))


def _softmax(torch: Any, problem: Problem, leaves: dict[str, Any], logits: Any) -> Any:
    """Of a row that is all hidden, 0, without a NaN on the way back."""
    base = problem.get("exp_base", "e")
    if "sink" in leaves:
        sink = (
            leaves["sink"]
            .reshape(1, -1, 1, 1)
            .expand(logits.shape[0], logits.shape[1], logits.shape[2], 1)
        )
        logits = torch.cat([logits, sink], dim=-1)
    logits = logits * (1 if base == "e" else math.log(base))
    blind = (logits == -math.inf).all(dim=-1, keepdim=True)
    weights = torch.softmax(torch.where(blind, 0.0, logits), dim=-1)
    weights = torch.where(blind, 0.0, weights)
    return weights[..., :-1] if "sink" in leaves else weights
