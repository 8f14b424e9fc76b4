"""Attention with a mistake in it, to be found by `attncli test`."""

import numpy as np


def attention(q, k, v, mask=None):
    scores = q @ k.T / np.sqrt(len(q))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return weights @ v
