"""Functions as PyTorch's FlexAttention has them, for `attncli mask`."""

import math

DOCUMENTS = [0, 0, 0, 1, 1, 2, 2, 2]


def sliding_window(b, h, q_idx, kv_idx):
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= 2)


def prefix(length):
    def prefix_mask(b, h, q_idx, kv_idx):
        return (kv_idx < length) | (q_idx >= kv_idx)

    return prefix_mask


def documents(b, h, q_idx, kv_idx):
    return (DOCUMENTS[q_idx] == DOCUMENTS[kv_idx]) & (q_idx >= kv_idx)


def window_of_head(b, h, q_idx, kv_idx):
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= 2**h)


def long_window(b, h, q_idx, kv_idx):
    return (q_idx >= kv_idx) & (q_idx - kv_idx < 1024)


def capped(score, b, h, q_idx, kv_idx):
    if kv_idx > q_idx:
        return -math.inf
    return 30 * math.tanh(score / 30)


def alibi(score, b, h, q_idx, kv_idx):
    return score + (kv_idx - q_idx) / 2 ** (h + 1)


def by_position(score, b, h, q_idx, kv_idx):
    return score * (1 + q_idx)
