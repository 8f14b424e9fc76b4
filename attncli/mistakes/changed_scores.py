"""What mistakes with the scores and their softmax change: the scale, the base, what is summed, what is rounded."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from attncli.equation.nodes import Call, Expression, Name, Ref, rewrite
from attncli.mistakes.changes import Change, Changes, exchanged, said
from attncli.tracing.model import Trace

_ROOT = Call("sqrt", (Name("d_k"),))


def scaled(how: str) -> Change:
    """The scaled scores worked out in another way."""
    return said(f"scaled[i, j] = {how}")


def scaled_once_more(expression: Expression, trace: Trace) -> Expression | None:
    """A step's result scaled as the scores are."""
    if "scaled" not in trace:
        return None
    if "scale" in trace.parameters:
        return Call("mul", (expression, Name("scale")))
    return Call("div", (expression, _ROOT))


def scaled_unasked(trace: Trace) -> Changes:
    """Scores divided by the root of d_k in every step that reads them, where the problem asks for no scale."""
    if "scaled" in trace:
        return {}

    def function(expression: Expression, _: Trace) -> Expression:
        return rewrite(expression, divided)

    def divided(node: Expression) -> Expression:
        return Call("div", (node, _ROOT)) if isinstance(node, Ref) and node.name == "scores" else node

    readers = [step.name for step in trace.computed() if "scores" in step.rule.inputs]
    return exchanged(**dict.fromkeys(readers, function))(trace)


def summed(total: str) -> Change:
    """Weights that are shares of another sum; its scores are not shifted by the largest of a row."""

    def change(trace: Trace) -> Changes:
        plain = said("exp[i, j] = exp({logits}[i, j])")(trace) if trace.shifted else {}
        return {**plain, **said(f"weights[i, j] = share(exp[i, j], {total})")(trace)}

    return change


def powers_of(base: str) -> Change:
    """Exponentials of another base."""
    return said(f"exp[i, j] = {base} ** {{seen}}[i, j]")


def powers_of_e(trace: Trace) -> Changes:
    """e as the base, where the problem gives another."""
    return said("exp[i, j] = exp({seen}[i, j])")(trace) if "exp_base" in trace.parameters else {}


def rounded(name: str, decimals: int) -> Change:
    """A step's true numbers, rounded half up."""
    unit = Decimal(1).scaleb(-decimals)

    def round_one(number: float) -> float:
        return float(Decimal(repr(float(number))).quantize(unit, ROUND_HALF_UP))

    def change(trace: Trace) -> Changes:
        if name not in trace or trace.steps[name].rule.given or not np.isfinite(trace[name]).all():
            return {}
        return {name: np.vectorize(round_one)(trace[name])}

    return change


def mixing(name: str) -> Change:
    """The output as a mixture of something else than the values."""
    return said(f"{{mixed}}[i, c] = sum(j, weights[i, j] * {name}[j, c])")


def without_bias(expression: Expression, _: Trace) -> Expression:
    """The sum that a bias is added to."""
    match expression:
        case Call(function="add", arguments=(product, _)):
            return product
    return expression


UNSCALED = scaled("scores[i, j]")
