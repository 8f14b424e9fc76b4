"""The backward pass of attention, by hand."""

import numpy as np


def weights_of(q, k):
    scores = q @ k.T / np.sqrt(k.shape[1])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def attention_backward(q, k, v, dO):
    weights = weights_of(q, k)
    d_weights = dO @ v.T
    d_scaled = weights * d_weights
    d_scores = d_scaled / np.sqrt(k.shape[1])
    return d_scores @ k, d_scores.T @ q, weights.T @ dO
