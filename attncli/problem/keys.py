"""The keys of a problem file and the words they take: what the reader and the published schema are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["text", "labels", "matrix", "vector", "score", "scale", "positive", "base", "mask", "one"]


@dataclass(frozen=True, slots=True)
class Key:
    """What a key holds, and what an editor says about it when the pointer rests on it."""

    kind: Kind
    description: str


Score: TypeAlias = Literal["scaled_dot", "dot", "multiplicative", "additive"]
ScaleWord: TypeAlias = Literal["none", "default"]
Corner: TypeAlias = Literal["top-left", "bottom-right"]

SCORES: tuple[Score, ...] = get_args(Score)
SCALE_WORDS: tuple[ScaleWord, ...] = get_args(ScaleWord)
MASK_WORDS = ("none", "causal")
CORNERS: tuple[Corner, ...] = get_args(Corner)

KEYS = {
    "title": Key("text", "A title for the derivation."),
    "tokens": Key("labels", "Labels of the queries, one per row of X or Q. Default: t1, t2, …"),
    "context_tokens": Key("labels", "Labels of the keys, one per row of context or K. Default: tokens, or c1, c2, …"),
    "X": Key("matrix", "The input, one row per token: n × d_model."),
    "context": Key("matrix", "Cross-attention: what keys and values are made from, m × d_context. Default: X."),
    "W_Q": Key("matrix", "Projects X to queries, Q = X·W_Q + b_Q: d_model × d_k."),
    "W_K": Key("matrix", "Projects X or context to keys, K = X·W_K + b_K: d_model (or d_context) × d_k."),
    "W_V": Key("matrix", "Projects X or context to values, V = X·W_V + b_V: d_model (or d_context) × d_v."),
    "b_Q": Key("vector", "Bias added to every row of Q: d_k numbers."),
    "b_K": Key("vector", "Bias added to every row of K: d_k numbers."),
    "b_V": Key("vector", "Bias added to every row of V: d_v numbers."),
    "Q": Key("matrix", "The queries, given instead of W_Q: n × d_k."),
    "K": Key("matrix", "The keys, given instead of W_K: m × d_k."),
    "V": Key("matrix", "The values, given instead of W_V: m × d_v."),
    "mask": Key(
        "mask",
        "Which keys each query may attend to: none, causal, a matrix, or forms that must all allow a key.",
    ),
    "score": Key("score", "How a query is compared with a key; scaled_dot where not given."),
    "scale": Key(
        "scale",
        "What scores are multiplied by: a number or none. Default: 1/sqrt(d_k) for scaled_dot, else none.",
    ),
    "softcap": Key("positive", "c in c·tanh(s/c), applied to the scaled scores."),
    "exp_base": Key("base", "The base of the exponentials in the softmax: e (default) or a number such as 2."),
    "W_a": Key("matrix", "For score: multiplicative, q·W_a·k: width of a query × width of a key."),
    "W_1": Key("matrix", "For score: additive, v·tanh(q·W_1 + k·W_2): width of a query × width of v."),
    "W_2": Key("matrix", "For score: additive, v·tanh(q·W_1 + k·W_2): width of a key × width of v."),
    "v": Key("vector", "For score: additive, v·tanh(q·W_1 + k·W_2)."),
    "heads": Key("one", "The number of heads: 1 in this version."),
    "kv_heads": Key("one", "The number of key and value heads: 1 in this version."),
}  # fmt: skip

ONE_HEAD = "attncli works one head at a time in this version"
ONE_HEAD_HELP = "give one head of one batch entry: a matrix for each of X, W_Q, W_K, W_V or Q, K, V"

# Known to the format but not computed yet: (message, help), so that nobody looks for a spelling mistake.
LATER = {
    "W_O": (ONE_HEAD, "remove W_O: the output is that of the one head"),
    "b_O": (ONE_HEAD, "remove b_O: the output is that of the one head"),
    "past": ("a KV cache is not computed in this version", "put the cached rows in front of K and V"),
    "position": (
        "position encodings are not computed in this version",
        "remove position; ALiBi's biases can stand in mask: {additive: …}",
    ),
    "sink": ("attention sinks are not computed in this version", "remove sink"),
    "d_output": ("gradients are not computed in this version", "remove d_output"),
}  # fmt: skip
