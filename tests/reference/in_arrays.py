"""Attention from a problem file, straight from the documentation; nothing of the program is used.

Everything is batch × head × row × column, with lengths of 1 where the file has no batch or no
heads. The arrays are NumPy's, or tensors of PyTorch, whose autograd then has all gradients: the
functions that are used have the same names in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.reference.masks_in_arrays import offsets, visible_and_added

Problem = dict[str, Any]
# Arrays by name: "Q", "W_Q", "past_K".
Given = Mapping[str, Any]
NAMES = (
    *("X", "context", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O"),
    *("Q", "K", "V", "W_a", "W_1", "W_2", "v", "sink"),
)
# Those of its steps that are compared, by the names that the program has for them.
STEPS = (
    *("new_K", "new_V", "Q", "K", "V", "Q_rot", "K_rot"),
    *("scores", "scaled", "capped", "bias", "mask", "masked", "weights"),
    *("heads_output", "concat", "output"),
)


def attention(problem: Problem) -> dict[str, np.ndarray]:
    """Every step by its name, in NumPy; each with all entries of the batch.

    "output" is batch × query × … where heads were joined, else the heads' own.
    """
    steps = steps_of(np, problem, given_arrays(problem))
    with_entries = [name for name in ("Q", "K", "V", "Q_rot", "K_rot") if name in steps]
    most = max(len(steps[name]) for name in ("Q", "K", "V"))
    for name in with_entries:
        steps[name] = for_all_entries(np, steps[name], most)
    return steps


def given_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """The arrays of a problem, as the file has them; those of a cache are "past_K" and "past_V"."""
    written = {name: problem[name] for name in NAMES if name in problem}
    written |= {f"past_{name}": array for name, array in problem.get("past", {}).items()}
    return {name: np.array(array, dtype=float) for name, array in written.items()}


def steps_of(xp: Any, problem: Problem, given: Given) -> dict[str, Any]:
    """Every step by its name, worked out by NumPy or PyTorch from arrays of theirs.

    What has no batch of its own has one entry.
    """
    heads, kv_heads = head_counts(problem)
    q = rows(given, "Q", heads)
    k, v = (rows(given, letter, kv_heads) for letter in "KV")
    steps = {}
    past = 0
    if "past" in problem:
        steps |= {"new_K": k, "new_V": v}
        cached_k, cached_v = (by_head(given[f"past_{letter}"], kv_heads) for letter in "KV")
        past = cached_k.shape[2]
        k, v = behind(xp, cached_k, k), behind(xp, cached_v, v)
    steps |= {"Q": q, "K": k, "V": v}

    if rope := problem.get("position", {}).get("rope"):
        q, k = rotated(xp, q, past, **rope), rotated(xp, k, 0, **rope)
        steps |= {"Q_rot": q, "K_rot": k}
    of_each_head = [head // (heads // kv_heads) for head in range(heads)]
    k, v = k[:, of_each_head], v[:, of_each_head]

    steps["scores"] = scores(xp, problem, given, q, k)
    steps["scaled"] = logits = steps["scores"] * scale(problem, k.shape[-1])
    if cap := problem.get("softcap"):
        logits = cap * xp.tanh(logits / cap)
    steps["capped"] = logits

    entries = max(len(array) for array in (q, k, v))
    shape = (entries, *logits.shape[1:])
    offset = offsets(problem.get("mask"), *shape[2:], past)
    if alibi := problem.get("position", {}).get("alibi"):
        slopes = default_slopes(heads) if alibi is True else alibi["slopes"]
        i, j = np.indices(shape[2:])
        steps["bias"] = xp.asarray(-np.reshape(slopes, (1, -1, 1, 1)) * abs(i + offset - j))
        logits = logits + steps["bias"]
    visible, added = visible_and_added(problem.get("mask"), shape, offset)
    steps["mask"] = xp.asarray(np.where(visible, added, -np.inf))
    steps["masked"] = logits + steps["mask"]

    steps["weights"] = softmax(xp, steps["masked"], given.get("sink"), base(problem))
    mixed = steps["heads_output"] = xp.einsum("bhij,bhjc->bhic", steps["weights"], v)
    steps["concat"] = mixed.swapaxes(1, 2).reshape(entries, mixed.shape[2], -1)
    steps["output"] = steps["concat"]
    if "W_O" in given:
        steps["output"] = steps["concat"] @ given["W_O"] + given.get("b_O", 0)
    return steps


def for_all_entries(xp: Any, array: Any, entries: int) -> Any:
    """What has one entry is for all."""
    return xp.broadcast_to(array, (entries, *array.shape[1:]))


def behind(xp: Any, cached: Any, new: Any) -> Any:
    """The rows of the new tokens behind those of the cache."""
    entries = max(len(cached), len(new))
    pair = [for_all_entries(xp, array, entries) for array in (cached, new)]
    return xp.concatenate(pair, axis=2)


def head_counts(problem: Problem) -> tuple[int, int]:
    """(heads, kv_heads): as written, else as many as the given arrays have."""

    def given(*names: str) -> int | None:
        arrays = (np.array(problem[name]) for name in names if name in problem)
        return next((array.shape[-3] for array in arrays if array.ndim > 2), None)

    heads = problem.get("heads") or given("Q") or 1
    return heads, problem.get("kv_heads") or given("K", "V") or heads


def by_head(array: Any, heads: int) -> Any:
    """Given rows of any rank as batch × heads × rows × columns.

    The columns of a matrix are those of all heads, side by side.
    """
    if array.ndim == 2:
        return split(array[None], heads)
    return array[None] if array.ndim == 3 else array


def split(joined: Any, heads: int) -> Any:
    """batch × rows × (heads · columns) → batch × heads × rows × columns."""
    return joined.reshape(*joined.shape[:-1], heads, -1).swapaxes(1, 2)


def rows(given: Given, letter: str, heads: int) -> Any:
    """Q, K or V of the new tokens, given or projected."""
    if letter in given:
        return by_head(given[letter], heads)
    source = given["context"] if letter != "Q" and "context" in given else given["X"]
    source = source[None] if source.ndim == 2 else source
    return split(source @ given[f"W_{letter}"] + given.get(f"b_{letter}", 0), heads)


def rotated(xp: Any, x: Any, first: int, theta: float = 10000, pairing: str = "half") -> Any:
    """RoPE: each pair (a, b) of features at position t is turned by t·theta^(−2·pair/d)."""
    d = x.shape[-1]
    positions = first + np.arange(x.shape[2])
    angles = np.outer(positions, float(theta) ** (-2 * np.arange(d // 2) / d))
    cos, sin = xp.asarray(np.cos(angles)), xp.asarray(np.sin(angles))
    if pairing == "half":
        a, b = x[..., : d // 2], x[..., d // 2 :]
        return xp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return xp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def scores(xp: Any, problem: Problem, given: Given, q: Any, k: Any) -> Any:
    """How well each query matches each key, before the scale."""
    score = problem.get("score", "scaled_dot")
    if score == "multiplicative":
        return xp.einsum("bhip,pk,bhjk->bhij", q, given["W_a"], k)
    if score == "additive":
        of_queries = xp.einsum("bhip,pa->bhia", q, given["W_1"])[:, :, :, None]
        of_keys = xp.einsum("bhjk,ka->bhja", k, given["W_2"])[:, :, None]
        return xp.einsum("bhija,a->bhij", xp.tanh(of_queries + of_keys), given["v"])
    return xp.einsum("bhid,bhjd->bhij", q, k)


def scale(problem: Problem, d_k: int) -> float:
    """What the scores are multiplied by."""
    said = problem.get("scale", "default")
    if said == "default":
        return 1 / math.sqrt(d_k) if problem.get("score", "scaled_dot") == "scaled_dot" else 1
    return 1 if said == "none" else said


def base(problem: Problem) -> float:
    """Of the powers in the softmax."""
    said = problem.get("exp_base", "e")
    return math.e if said == "e" else said


def default_slopes(heads: int) -> list[float]:
    """ALiBi's slopes, as the paper's code finds them for any number of heads."""
    if math.log2(heads).is_integer():
        return [2 ** (-8 * (head + 1) / heads) for head in range(heads)]
    closest = 2 ** int(math.log2(heads))
    return default_slopes(closest) + default_slopes(2 * closest)[::2][: heads - closest]


def softmax(xp: Any, logits: Any, sink: Any, base: float) -> Any:
    """The weights of each row: zeros where it is all hidden.

    A sink takes its share and is then left out.
    """
    top = xp.amax(logits, -1)[..., None]
    if sink is not None:
        sink = sink.reshape(1, -1, 1, 1)
        top = xp.maximum(top, sink)
    top = xp.where(top == -math.inf, 0.0, top)
    powers = base ** (logits - top)
    total = powers.sum(-1)[..., None]
    if sink is not None:
        total = total + base ** (sink - top)
    return powers / xp.where(total > 0, total, 1.0)
