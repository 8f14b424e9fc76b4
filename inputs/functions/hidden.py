"""Attention whose mask says what is hidden, and whose parameters have an order of their own."""

import numpy as np


def attend(values, keys, queries, hidden=None):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(keys.shape[-1])
    if hidden is not None:
        scores = np.where(hidden, -np.inf, scores)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ values
