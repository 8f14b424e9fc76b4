"""Attention of CuPy."""

import cupy as cp


def attention(q, k, v, mask=None):
    q, k, v = (cp.asarray(each) for each in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / cp.sqrt(k.shape[-1])
    if mask is not None:
        scores = cp.where(cp.asarray(mask), scores, -cp.inf)
    powers = cp.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v
