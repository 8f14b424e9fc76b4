"""A layer of attention with a single head, in NumPy."""

import numpy as np


class Attention:
    def __init__(self, d_model, d_k):
        random = np.random.default_rng(0)
        self.W_q, self.W_k, self.W_v = random.normal(size=(3, d_model, d_k))

    def __call__(self, x):
        queries, keys, values = x @ self.W_q, x @ self.W_k, x @ self.W_v
        scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(keys.shape[-1])
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True) @ values
