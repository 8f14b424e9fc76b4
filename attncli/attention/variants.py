"""The same step said another way: other scores, another scale, a bias, another base of the exponential."""

from __future__ import annotations

from dataclasses import replace

from attncli.attention.rules import COMPUTED, Rule

_COMPUTED = {rule.name: rule for rule in COMPUTED}

SCORES = {
    "scaled_dot": _COMPUTED["scores"],
    "dot": _COMPUTED["scores"],
    "multiplicative": replace(
        _COMPUTED["scores"],
        equation="scores[i, j] = sum(k, sum(p, Q[i, p] * W_a[p, k]) * K_T[k, j])",
        formula="Q @ W_a @ K_T",
        meaning="Row i, column j compares query i with key j through a matrix of weights (Luong).",
    ),
    "additive": replace(
        _COMPUTED["scores"],
        equation="scores[i, j] = sum(a, v[a] * tanh(sum(p, Q[i, p] * W_1[p, a]) + sum(k, K[j, k] * W_2[k, a])))",
        formula="v @ tanh(Q @ W_1 + K @ W_2)",
        meaning="Row i, column j compares query i with key j through a small hidden layer (Bahdanau).",
    ),
}

SCALED = {
    "default": _COMPUTED["scaled"],
    "number": replace(
        _COMPUTED["scaled"],
        equation="scaled[i, j] = scores[i, j] * scale",
        formula="scale * scores",
        meaning="Every score times the scale that the problem gives.",
        why="The scale sets how sharply the softmax will choose: the larger it is, the sharper.",
    ),
}


def projection(name: str, source: str, bias: bool) -> Rule:
    """Q, K or V as a product with its weights, from X or from the context, with or without a bias."""
    rule = _COMPUTED[name].reading({"source": source})
    if not bias:
        return rule
    column = rule.target.indices[1]
    return replace(
        rule,
        equation=f"{rule.equation} + b_{name}[{column}]",
        formula=f"{rule.formula} + b_{name}",
    )


def exponential(base: float | None) -> Rule:
    """e to the power of the scores, or another base to it."""
    rule = _COMPUTED["exp"]
    if base is None:
        return rule
    return replace(
        rule,
        equation="exp[i, j] = exp_base ** logits[i, j]",
        formula="exp_base ** logits",
        meaning="The base of the exponential to the power of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts `exp_base` times as much.",
    )
