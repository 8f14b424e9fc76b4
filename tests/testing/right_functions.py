"""Attentions that are right, in the many ways in which people write them; none may be called wrong.

Each is loaded by a process that has NumPy and nothing of attncli.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def t(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def softmax(logits: Array) -> Array:
    """As most people write it; NaN where all is hidden."""
    with np.errstate(invalid="ignore"):
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


def homework(q: Array, k: Array, v: Array) -> Array:
    scores = q @ k.T / np.sqrt(q.shape[1])
    powers = np.exp(scores - scores.max(axis=1)[:, None])
    return powers / powers.sum(axis=1)[:, None] @ v


def three_axes(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    scores = np.einsum("hik,hjk->hij", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9) if mask.dtype == bool else scores + mask
    return np.einsum("hij,hjc->hic", softmax(scores), v)


def by_einsum(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, scale: float = 0.0
) -> Array:
    scale = scale or query.shape[-1] ** -0.5
    scores = np.einsum("bhik,bhjk->bhij", query * scale, key, optimize=True)
    if attn_mask is not None:
        hidden = np.zeros(1) if attn_mask.dtype != bool else np.where(attn_mask == 0, -np.inf, 0)
        scores = scores + (hidden if attn_mask.dtype == bool else attn_mask)
    return np.einsum("bhij,bhjc->bhic", softmax(scores), value, optimize=True)


def tokens_first(q: Array, k: Array, v: Array, causal: bool = False) -> Array:
    scores = np.einsum("bnhd,bmhd->bhnm", q, k) / np.sqrt(q.shape[-1])
    if causal:
        n, m = scores.shape[-2:]
        scores = np.where(np.tri(n, m, m - n, dtype=bool), scores, -np.inf)
    return np.einsum("bhnm,bmhd->bnhd", softmax(scores), v)


def by_loops(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    """Number by number, in double precision; a query that sees no key gets 0."""
    out = np.zeros((*q.shape[:-1], v.shape[-1]))
    heads = np.ndindex(*q.shape[:-1])
    for *place, i in heads:
        at = tuple(place)
        rows = np.ones((q.shape[-2], k.shape[-2]), bool) if mask is None else mask
        row = np.broadcast_to(rows, (*q.shape[:-1], k.shape[-2]))[(*at, i)]
        powers = []
        for j, shown in enumerate(row.tolist()):
            if mask is not None and mask.dtype != bool:
                added, seen = shown, shown != -math.inf
            else:
                added, seen = 0.0, shown
            score = sum(float(a) * float(b) for a, b in zip(q[(*at, i)], k[(*at, j)], strict=True))
            powers.append((score / math.sqrt(q.shape[-1]) + added) if seen else -math.inf)
        top = max(powers)
        if top == -math.inf:
            continue
        total = sum(math.exp(power - top) for power in powers)
        for j, power in enumerate(powers):
            out[(*at, i)] += math.exp(power - top) / total * v[(*at, j)].astype(float)
    return out.astype(q.dtype)


def by_log_sum_exp(
    q: Array, k: Array, v: Array, mask: Array | None = None, scale: float | None = None
) -> Array:
    scores = (q @ t(k)) * (scale or 1 / math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    # One after the other is too coarse in 16 bits.
    wide = scores.astype(np.promote_types(q.dtype, np.float32))
    with np.errstate(invalid="ignore"):
        weights = np.exp(wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True))
    return (weights @ v).astype(q.dtype)


def in_blocks(
    q: Array, k: Array, v: Array, mask: Array | None = None, is_causal: bool = False
) -> Array:
    """A softmax that never sees a whole row, as in flash attention, in float32 at least."""
    wide = np.promote_types(q.dtype, np.float32)
    top = np.full((*q.shape[:-1], 1), -np.inf, wide)
    total = np.zeros((*q.shape[:-1], 1), wide)
    mixed = np.zeros((*q.shape[:-1], v.shape[-1]), wide)
    past = np.tri(q.shape[-2], k.shape[-2], dtype=bool)
    for start in range(0, k.shape[-2], 3):
        block = slice(start, start + 3)
        scores = (q.astype(wide) @ t(k[..., block, :].astype(wide))) / math.sqrt(q.shape[-1])
        if is_causal:
            scores = np.where(past[:, block], scores, -np.inf)
        if mask is not None:
            shown = mask[..., block]
            scores = np.where(shown, scores, -np.inf) if mask.dtype == bool else scores + shown
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        at = np.where(np.isfinite(new_top), new_top, 0)
        fade = np.exp(top - at)
        powers = np.exp(scores - at)
        total = total * fade + powers.sum(axis=-1, keepdims=True)
        mixed = mixed * fade + powers @ v[..., block, :].astype(wide)
        top = new_top
    return (mixed / np.where(total == 0, 1, total)).astype(q.dtype)


def with_weights(q: Array, k: Array, v: Array, mask: Array | None = None) -> tuple[Array, Array]:
    scores = q @ t(k) / math.sqrt(q.shape[-1])
    if mask is not None:
        lowest = np.finfo(q.dtype).min
        scores = np.where(mask, scores, lowest) if mask.dtype == bool else scores + mask
    weights = softmax(scores)
    return weights @ v, weights


def with_a_mask_that_must_be_given(q: Array, k: Array, v: Array, mask: Array | None) -> Array:
    scores = q @ t(k) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = np.where(mask == 0, -np.inf, scores)
    return np.nan_to_num(softmax(scores)) @ v


def with_a_bias_alone(q: Array, k: Array, v: Array, bias: Array | None = None) -> Array:
    scores = q @ t(k) / math.sqrt(k.shape[-1])
    return softmax(scores if bias is None else scores + bias) @ v


def with_values_as_wide_as_keys(
    q: Array, k: Array, v: Array, is_causal: bool, dropout_p: float, num_heads: int
) -> Array:
    assert k.shape == v.shape
    assert dropout_p == 0
    assert num_heads == q.shape[-3]
    scores = q @ t(k) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = np.where(np.triu(np.ones(scores.shape[-2:]), k=1) == 1, -np.inf, scores)
    return softmax(scores) @ v


def with_all(
    q: Array,
    k: Array,
    v: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    sm_scale: float | None = None,
    sliding_window: int | None = None,
    logits_soft_cap: float | None = None,
    s_aux: Array | None = None,
    enable_gqa: bool = False,
    alibi_slopes: Array | None = None,
    theta: float | None = None,
    start_pos: int = 0,
) -> Array:
    """Windows that count what is beside a token, RoPE of neighbours; in double precision."""
    kind = q.dtype
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    if theta is not None:
        q = _turned(q, theta, start_pos)
        k = _turned(k, theta, 0)
    if k.ndim > 2:
        k, v = (np.repeat(array, q.shape[-3] // k.shape[-3], axis=-3) for array in (k, v))
    z = q @ t(k) * (q.shape[-1] ** -0.5 if sm_scale is None else sm_scale)
    if logits_soft_cap:
        z = np.tanh(z / logits_soft_cap) * logits_soft_cap
    n, m = z.shape[-2:]
    i, j = np.arange(n)[:, None], np.arange(m)
    if alibi_slopes is not None:
        z = z - np.asarray(alibi_slopes)[:, None, None] * np.abs(i - j)
    if is_causal:
        z = np.where(j <= i + (m - n), z, -np.inf)
    if sliding_window is not None:
        z = np.where(j >= i + (m - n) - sliding_window, z, -np.inf)
    if attn_mask is not None:
        z = np.where(attn_mask, z, -np.inf) if attn_mask.dtype == bool else z + attn_mask
    if s_aux is not None:
        sink = np.broadcast_to(np.asarray(s_aux)[..., None, None], (*z.shape[:-1], 1))
        return (softmax(np.concatenate([z, sink], axis=-1))[..., :-1] @ v).astype(kind)
    return (softmax(z) @ v).astype(kind)


def _turned(array: Array, theta: float, start: int) -> Array:
    """As complex numbers, whose parts stand beside each other."""
    width = array.shape[-1]
    angles = (start + np.arange(array.shape[-2]))[:, None] * theta ** (
        -np.arange(0, width, 2) / width
    )
    turned = (array[..., ::2] + 1j * array[..., 1::2]) * np.exp(1j * angles)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(array.shape)
