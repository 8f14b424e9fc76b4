"""The same step said another way: other scores, another scale, a bias, another base of the exponential."""

from __future__ import annotations

from dataclasses import replace

from attncli.attention.registry import COMPUTED_RULES
from attncli.attention.rule import Rule
from attncli.attention.saying import restated, said, with_bias
from attncli.attention.written import Rules
from attncli.equation.parser import parse_expression
from attncli.problem import keys

SCORES = Rules(
    {
        name: restated("scores", score.equation, score.headline, meaning=score.meaning)
        if score.equation
        else COMPUTED_RULES.written["scores"]
        for name, score in keys.SCORES.items()
    }
)

SCALED = Rules(
    {
        "default": COMPUTED_RULES.written["scaled"],
        "number": restated(
            "scaled",
            "scaled[i, j] = scores[i, j] * scale",
            "scale * scores",
            meaning="Every score times the scale that the problem gives.",
            why="The scale sets how sharply the softmax will choose: the larger it is, the sharper.",
        ),
    }
)


def projection(name: str, source: str, bias: bool) -> Rule:
    """Q, K or V (or new_K, new_V) as a product with its weights, from X or the context, with or without a bias."""
    rule = COMPUTED_RULES[name].reading({"source": source})
    return with_bias(rule, f"b_{name[-1]}") if bias else rule


def weights(base: float | None, sink: bool) -> Rule:
    """The softmax; in another base than e, or with a sink, it has no name and is said as the division it is."""
    rule = COMPUTED_RULES["weights"]
    if base is None and not sink:
        return rule
    rule = replace(rule, matrix_form=parse_expression("share(exp, row_sum)"))
    if not sink:
        return rule
    meaning = (
        "Row `i` says how query `i` spreads its attention over the keys; a row sums to less than 1, the rest is the "
        "sink's."
    )
    return replace(rule, meaning=meaning)


def exponential(base: float | None) -> Rule:
    """e to the power of the scores, or another base to it."""
    if base is None:
        return COMPUTED_RULES["exp"]
    return said(
        "exp",
        "exp[i, j] = exp_base ** logits[i, j]",
        "exp_base ** logits",
        meaning="`exp_base` to the power of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts `exp_base` times as much.",
    )
