"""Attention from a problem file, by einsum and loops straight from the contract; nothing of the
program is used here.

Everything is batch × head × row × column, with lengths of 1 where the file has no batch or no
heads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.reference.masks_in_arrays import offsets, visible_and_added

Problem = dict[str, Any]


def attention(problem: Problem) -> dict[str, np.ndarray]:
    """Every step by its name; "output" is batch × query × … where heads were joined, else the
    heads' own.
    """
    heads, kv_heads = head_counts(problem)
    q, k, v = (
        rows(problem, letter, count)
        for letter, count in (("Q", heads), ("K", kv_heads), ("V", kv_heads))
    )
    steps = {"new_K": k, "new_V": v} if "past" in problem else {}
    past = 0
    if "past" in problem:
        cached = [by_head(problem["past"][letter], kv_heads) for letter in "KV"]
        past = cached[0].shape[2]
        k, v = (
            np.concatenate(same_entries(*pair), axis=2) for pair in zip(cached, (k, v), strict=True)
        )
    q, k, v = same_entries(q, k, v)
    steps |= {"Q": q, "K": k, "V": v}
    if rope := problem.get("position", {}).get("rope"):
        q, k = rotated(q, past, **rope), rotated(k, 0, **rope)
        steps |= {"Q_rot": q, "K_rot": k}
    k, v = (np.repeat(array, heads // kv_heads, axis=1) for array in (k, v))
    steps["scores"] = scores(problem, q, k)
    steps["scaled"] = steps["scores"] * scale(problem, k.shape[-1])
    cap = problem.get("softcap")
    logits = steps["capped"] = cap * np.tanh(steps["scaled"] / cap) if cap else steps["scaled"]
    offset = offsets(problem.get("mask"), *logits.shape[2:], past)
    if alibi := problem.get("position", {}).get("alibi"):
        slopes = np.array(default_slopes(heads) if alibi is True else alibi["slopes"]).reshape(
            1, -1, 1, 1
        )
        i, j = np.indices(logits.shape[2:])
        steps["bias"] = -slopes * abs(i + offset - j)
        logits = logits + steps["bias"]
    visible, added = visible_and_added(problem.get("mask"), logits.shape, offset)
    steps["mask"] = np.where(visible, added, -np.inf)
    steps["masked"] = logits + steps["mask"]
    steps["weights"] = softmax(steps["masked"], problem.get("sink"), problem.get("exp_base", "e"))
    steps["heads_output"] = np.einsum("bhij,bhjc->bhic", steps["weights"], v)
    steps["concat"] = np.concatenate(list(np.moveaxis(steps["heads_output"], 1, 0)), axis=-1)
    steps["output"] = steps["concat"]
    if "W_O" in problem:
        steps["output"] = steps["concat"] @ np.array(problem["W_O"]) + np.array(
            problem.get("b_O", 0)
        )
    return steps


def same_entries(*arrays: np.ndarray) -> list[np.ndarray]:
    """Each with as many entries as those that have the most: what has one is for all."""
    most = max(array.shape[0] for array in arrays)
    return [np.broadcast_to(array, (most, *array.shape[1:])) for array in arrays]


def head_counts(problem: Problem) -> tuple[int, int]:
    """(heads, kv_heads): as written, else as many as the given arrays have."""

    def given(*names: str) -> int | None:
        arrays = (np.array(problem[name]) for name in names if name in problem)
        return next((array.shape[-3] for array in arrays if array.ndim > 2), None)

    heads = problem.get("heads") or given("Q") or 1
    return heads, problem.get("kv_heads") or given("K", "V") or heads


def by_head(array: Any, heads: int) -> np.ndarray:
    """Given rows of any rank as batch × heads × rows × columns; the columns of a matrix are split
    into heads.
    """
    array = np.array(array, dtype=float)
    if array.ndim == 2:
        return split(array[None], heads)
    return array[None] if array.ndim == 3 else array


def split(joined: np.ndarray, heads: int) -> np.ndarray:
    """batch × rows × (heads · columns) → batch × heads × rows × columns."""
    return np.stack(np.split(joined, heads, axis=-1), axis=1)


def rows(problem: Problem, letter: str, heads: int) -> np.ndarray:
    """Q, K or V of the new tokens, given or projected."""
    if letter in problem:
        return by_head(problem[letter], heads)
    source = np.array(
        problem["context"] if letter != "Q" and "context" in problem else problem["X"], dtype=float
    )
    source = source[None] if source.ndim == 2 else source
    projected = source @ np.array(problem[f"W_{letter}"], dtype=float) + np.array(
        problem.get(f"b_{letter}", 0)
    )
    return split(projected, heads)


def rotated(x: np.ndarray, first: int, theta: float = 10000, pairing: str = "half") -> np.ndarray:
    """RoPE one pair at a time: as a complex number times e^(iθ)."""
    turned, d = x.copy(), x.shape[-1]
    for row in range(x.shape[2]):
        for pair in range(d // 2):
            a, b = (pair, pair + d // 2) if pairing == "half" else (2 * pair, 2 * pair + 1)
            angle = (first + row) * theta ** (-2 * pair / d)
            z = (x[:, :, row, a] + 1j * x[:, :, row, b]) * np.exp(1j * angle)
            turned[:, :, row, a], turned[:, :, row, b] = z.real, z.imag
    return turned


def scores(problem: Problem, q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """How well each query matches each key, before the scale."""
    score = problem.get("score", "scaled_dot")
    if score == "multiplicative":
        return np.einsum("bhip,pk,bhjk->bhij", q, np.array(problem["W_a"], dtype=float), k)
    if score == "additive":
        hidden = np.einsum("bhip,pa->bhia", q, problem["W_1"])[:, :, :, None]
        hidden = hidden + np.einsum("bhjk,ka->bhja", k, problem["W_2"])[:, :, None]
        return np.einsum("bhija,a->bhij", np.tanh(hidden), problem["v"])
    return np.einsum("bhid,bhjd->bhij", q, k)


def scale(problem: Problem, d_k: int) -> float:
    """What the scores are multiplied by."""
    said = problem.get("scale", "default")
    if said == "default":
        return 1 / math.sqrt(d_k) if problem.get("score", "scaled_dot") == "scaled_dot" else 1
    return 1 if said == "none" else said


def default_slopes(heads: int) -> list[float]:
    """ALiBi's slopes, as the paper's code finds them for any number of heads."""
    if math.log2(heads).is_integer():
        return [2 ** (-8 * (head + 1) / heads) for head in range(heads)]
    closest = 2 ** int(math.log2(heads))
    return default_slopes(closest) + default_slopes(2 * closest)[::2][: heads - closest]


def softmax(logits: np.ndarray, sink: Any, base: Any) -> np.ndarray:
    """The weights of each row: zeros where it is all hidden; a sink takes its share and is then
    left out.
    """
    base = math.e if base == "e" else base
    extra = (
        np.full((1, 1, 1, 1), -np.inf)
        if sink is None
        else np.reshape(np.array(sink, dtype=float), (1, -1, 1, 1))
    )
    extra = np.broadcast_to(extra, (*logits.shape[:3], 1))
    top = np.maximum(logits.max(axis=-1, keepdims=True), extra)
    top = np.where(top == -np.inf, 0, top)
    powers = base ** (logits - top)
    total = powers.sum(axis=-1, keepdims=True) + base ** (extra - top)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
