"""The keys of a problem file and the words they take, from which the reader is made and which the schema repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "text", "labels", "entries", "heads", "matrix", "vector", "past", "score", "scale", "positive", "base", "mask",
    "position", "sink", "count", "loss",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Key:
    """What a key holds, and what an editor says about it when the pointer rests on it."""

    kind: Kind
    description: str


Score: TypeAlias = Literal["scaled_dot", "dot", "multiplicative", "additive"]
ScaleWord: TypeAlias = Literal["none", "default"]
Corner: TypeAlias = Literal["top-left", "bottom-right"]
Pairing: TypeAlias = Literal["half", "interleaved"]
LossKind: TypeAlias = Literal["mse", "cross_entropy"]
Part: TypeAlias = Literal["q", "k", "v"]
Layout: TypeAlias = Literal["parts", "heads"]

SCORES: tuple[Score, ...] = get_args(Score)
# What each axis of a score's arrays is as long as; a length that is neither is that of the last array which has it.
SCORE_ARRAYS: Mapping[Score, Mapping[str, tuple[str, ...]]] = {
    "scaled_dot": {},
    "dot": {},
    "multiplicative": {"W_a": ("query", "key")},
    "additive": {"W_1": ("query", "hidden"), "W_2": ("key", "hidden"), "v": ("hidden",)},
}
DOT_SCORES = tuple(score for score, arrays in SCORE_ARRAYS.items() if not arrays)  # a product of queries and keys alone
SCALE_WORDS: tuple[ScaleWord, ...] = get_args(ScaleWord)
CORNERS: tuple[Corner, ...] = get_args(Corner)
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
PARTS: tuple[Part, ...] = get_args(Part)  # of a fused array in a file
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
LOSSES: tuple[LossKind, ...] = get_args(LossKind)
TARGETS: Mapping[LossKind, str] = {"mse": "target", "cross_entropy": "targets"}  # what each is held against

KEYS = {
    "title": Key("text", "A title for the derivation."),
    "tokens": Key("labels", "Labels of the queries, one per row of X or Q. Default: t1, t2, …"),
    "context_tokens": Key("labels", "Labels of the keys, cached ones first. Default: p1, p2, … and tokens, or c1, …"),
    "X": Key("entries", "The input, one row per token: n × d_model, or batch × n × d_model."),
    "context": Key("entries", "Cross-attention: what keys and values are made from, as X. Default: X."),
    "heads": Key("count", "How many heads the columns of W_Q (or Q) are split into. Default: 1."),
    "kv_heads": Key("count", "How many heads the columns of W_K and W_V (or K and V) are split into. Default: heads."),
    "W_Q": Key("matrix", "Projects X to queries, Q = X·W_Q + b_Q: d_model × (heads·d_k)."),
    "W_K": Key("matrix", "Projects X or context to keys, K = X·W_K + b_K: d_model (or d_context) × (kv_heads·d_k)."),
    "W_V": Key("matrix", "Projects X or context to values, V = X·W_V + b_V: d_model (or d_context) × (kv_heads·d_v)."),
    "W_O": Key("matrix", "Projects the outputs of all heads, side by side: (heads·d_v) × d_out."),
    "b_Q": Key("vector", "Bias added to every row of Q: heads·d_k numbers."),
    "b_K": Key("vector", "Bias added to every row of K: kv_heads·d_k numbers."),
    "b_V": Key("vector", "Bias added to every row of V: kv_heads·d_v numbers."),
    "b_O": Key("vector", "Bias added to every row of the output: d_out numbers."),
    "Q": Key("heads", "The queries, instead of W_Q: n × d_k, heads × n × d_k or batch × heads × n × d_k."),
    "K": Key("heads", "The keys, instead of W_K: m × d_k, kv_heads × m × d_k or batch × kv_heads × m × d_k."),
    "V": Key("heads", "The values, instead of W_V: m × d_v, kv_heads × m × d_v or batch × kv_heads × m × d_v."),
    "past": Key("past", "A cache of keys and values, put before K and V: {K: …, V: …}, each as K and V."),
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
    "position": Key(
        "position",
        "Positions: {rope: {theta: 10000, pairing: half}} turns queries and keys, {alibi: true} adds a bias.",
    ),
    "sink": Key("sink", "A logit that every row shares its softmax with, of no key: a number, or one for each head."),
    "d_output": Key("heads", "The gradient of the output, with which gradient begins; like the output. Default: ones."),
    "loss": Key(
        "loss",
        "What gradient begins with instead of d_output: {kind: mse, target: …} or {kind: cross_entropy, targets: …}.",
    ),
}  # fmt: skip
