"""The same step said another way: other scores, another scale, a bias, another base of the exponential."""

from __future__ import annotations

from dataclasses import replace

from attncli.attention.rule import Rule
from attncli.attention.rules import COMPUTED_RULES
from attncli.equation.parse import parse_equation, parse_expression
from attncli.equation.tree import Call, Name, Ref


def _said(name: str, equation: str, matrix_form: str, *, meaning: str, why: str = "") -> Rule:
    """A step's rule with another equation, which means something else."""
    rule = COMPUTED_RULES[name]
    expression, headline = parse_equation(equation).expression, parse_expression(matrix_form) if matrix_form else None
    return replace(rule, expression=expression, matrix_form=headline, meaning=meaning, why=why or rule.why)


SCORES = {
    "scaled_dot": COMPUTED_RULES["scores"],
    "dot": COMPUTED_RULES["scores"],
    "multiplicative": _said(
        "scores",
        "scores[i, j] = sum(k, sum(p, Q[i, p] * W_a[p, k]) * K_T[k, j])",
        "Q @ W_a @ K_T",
        meaning="Row i, column j compares query i with key j through a matrix of weights (Luong).",
    ),
    "additive": _said(
        "scores",
        "scores[i, j] = sum(a, v[a] * tanh(sum(p, Q[i, p] * W_1[p, a]) + sum(k, K[j, k] * W_2[k, a])))",
        "",
        meaning="Row i, column j compares query i with key j through a small hidden layer (Bahdanau).",
    ),
}

SCALED = {
    "default": COMPUTED_RULES["scaled"],
    "number": _said(
        "scaled",
        "scaled[i, j] = scores[i, j] * scale",
        "scale * scores",
        meaning="Every score times the scale that the problem gives.",
        why="The scale sets how sharply the softmax will choose: the larger it is, the sharper.",
    ),
}


def projection(name: str, source: str, bias: bool) -> Rule:
    """Q, K or V as a product with its weights, from X or from the context, with or without a bias."""
    rule = COMPUTED_RULES[name].reading({"source": source})
    if not bias or rule.expression is None or rule.matrix_form is None:
        return rule
    added = f"b_{name}"
    return replace(
        rule,
        expression=Call("add", (rule.expression, Ref(added, rule.target.indices[-1:]))),
        matrix_form=Call("add", (rule.matrix_form, Name(added))),
    )


def weights(base: float | None) -> Rule:
    """The softmax; in another base than e it has no name, and is said as the division it is."""
    rule = COMPUTED_RULES["weights"]
    return rule if base is None else replace(rule, matrix_form=parse_expression("share(exp, row_sum)"))


def exponential(base: float | None) -> Rule:
    """e to the power of the scores, or another base to it."""
    if base is None:
        return COMPUTED_RULES["exp"]
    return _said(
        "exp",
        "exp[i, j] = exp_base ** logits[i, j]",
        "exp_base ** logits",
        meaning="The base of the exponential to the power of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts `exp_base` times as much.",
    )
