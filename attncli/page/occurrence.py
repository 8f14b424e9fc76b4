"""When each step is there, and what the letters and placeholders of its equation stand for."""

from __future__ import annotations

INDICES = {
    "i": "a query",
    "j": "a key",
    "d": "a feature of the model",
    "k": "a feature of queries and keys",
    "c": "a feature of values",
    "p": "a feature of a query, where it is not that of a key",
    "a": "a hidden feature of the additive score",
}

PLACEHOLDERS = {
    "logits": "the scores so far: the last of scores, scaled, capped, masked (and, for exp, shifted) that is there",
    "visible": "whether the mask lets query i see key j",
}

_PROJECTED = "always: projected from {source}, or given directly"
_FULL = "where the softmax is shifted, because the exponentials of the plain scores would leave the number format"

OCCURRENCE = {
    "X": "where Q is projected, and where K or V is and there is no context",
    "context": "in cross-attention, where K or V is projected from it instead of from X",
    "W_Q": "unless Q is given directly",
    "W_K": "unless K is given directly",
    "W_V": "unless V is given directly",
    "b_Q": "where the problem gives it, beside W_Q",
    "b_K": "where the problem gives it, beside W_K",
    "b_V": "where the problem gives it, beside W_V",
    "W_a": "with score: multiplicative",
    "W_1": "with score: additive",
    "W_2": "with score: additive",
    "v": "with score: additive",
    "Q": _PROJECTED.format(source="X"),
    "K": _PROJECTED.format(source="X or the context"),
    "V": _PROJECTED.format(source="X or the context"),
    "K_T": "always, but with score: additive",
    "scores": "always",
    "scaled": "with the score scaled_dot unless scale: none, and with any other score where a scale is given",
    "capped": "with softcap",
    "mask": "with a mask",
    "masked": "with a mask",
    "row_max": _FULL,
    "shifted": _FULL,
    "exp": "always",
    "row_sum": "always",
    "weights": "always",
    "output": "always",
}
