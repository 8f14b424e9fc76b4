"""Functions whose gradients are right: in NumPy, as they return them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating]
Gradients: TypeAlias = tuple[Array, Array, Array]


def weights_of(q: Array, k: Array, mask: Array | None = None, causal: bool = False) -> Array:
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(q.shape[-2], k.shape[-2], dtype=bool), scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)


def transposed(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def by_hand(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    a = weights_of(q, k, mask)
    d_a = dO @ transposed(v)
    d_s = a * (d_a - (a * d_a).sum(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return d_s @ k, transposed(d_s) @ q, transposed(a) @ dO


def upstream_first(
    grad_out: Array, query: Array, key: Array, value: Array, causal: bool = False
) -> Gradients:
    """With the whole Jacobian of the softmax."""
    a = weights_of(query, key, causal=causal)
    jacobian = a[..., :, None] * np.eye(a.shape[-1]) - a[..., :, None] * a[..., None, :]
    d_z = np.einsum("...ij,...ijk->...ik", grad_out @ transposed(value), jacobian)
    d_s = d_z / np.sqrt(query.shape[-1])
    return d_s @ key, transposed(d_s) @ query, transposed(a) @ grad_out


def with_the_output(
    q: Array, k: Array, v: Array, g: Array, mask: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    output = weights_of(q, k, mask) @ v
    return output, *by_hand(q, k, v, g, mask)


def from_saved(
    dout: Array, q: Array, k: Array, v: Array, out: Array, attn: Array, scale: float | None = None
) -> dict[str, Array]:
    """As flash attention does: of the output, and of weights that were kept."""
    factor = scale or q.shape[-1] ** -0.5
    delta = (dout * out).sum(axis=-1, keepdims=True)
    d_s = attn * (dout @ transposed(v) - delta) * factor
    return {"dq": d_s @ k, "dk": transposed(d_s) @ q, "dv": transposed(attn) @ dout}


def tokens_first(q: Array, k: Array, v: Array, dout: Array) -> Gradients:
    rows = [np.swapaxes(each, -3, -2) for each in (q, k, v, dout)]
    d_q, d_k, d_v = (np.swapaxes(each, -3, -2) for each in by_hand(*rows))
    return d_q, d_k, d_v


def two_axes(q: Array, k: Array, v: Array, upstream: Array) -> Gradients:
    """In loops, with one query after another."""
    d_q, d_k, d_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for i in range(len(q)):
        scores = [float(q[i] @ k[j]) / len(q[i]) ** 0.5 for j in range(len(k))]
        powers = [np.exp(each - max(scores)) for each in scores]
        a = [each / sum(powers) for each in powers]
        d_a = [float(upstream[i] @ v[j]) for j in range(len(k))]
        mean = sum(weight * each for weight, each in zip(a, d_a, strict=True))
        for j in range(len(k)):
            d_score = a[j] * (d_a[j] - mean) / len(q[i]) ** 0.5
            d_q[i] += d_score * k[j]
            d_k[j] += d_score * q[i]
            d_v[j] += a[j] * upstream[i]
    return d_q, d_k, d_v


def shared_heads(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    """The heads of a group add up what they hand back."""
    group = q.shape[-3] // k.shape[-3]
    keys, values = (np.repeat(each, group, axis=-3) for each in (k, v))
    d_q, d_k, d_v = by_hand(q, keys, values, dO)

    def added(array: Array) -> Array:
        *leading, heads, tokens, width = array.shape
        return array.reshape(*leading, heads // group, group, tokens, width).sum(axis=-3)

    return d_q, added(d_k), added(d_v)
