"""What mistakes on the way back change between weights and scores: the softmax's derivative, mask, cap and scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attncli.equation.nodes import Call, Expression, Reduce, Ref, rewrite, walk, whole
from attncli.mistakes.changed_masks import forgotten
from attncli.mistakes.changes import Change, Changes, exchanged, logits
from attncli.mistakes.exchanges import relettered, turned
from attncli.tracing.model import Trace

Derivative: TypeAlias = Callable[[Expression, Expression, Expression], Expression]  # of a weight, its gradient, and δ


def through_softmax(made: Derivative) -> Change:
    """The softmax's gradient made in another way than A ∘ (dA - δ)."""

    def put(node: Expression) -> Expression:
        match node:
            case Call("mul", (weight, Call("sub", (gradient, Ref(name="delta") as mean)))):
                return made(weight, gradient, mean)
        return node

    return lambda trace: exchanged(**{f"d_{logits(trace)}": lambda own, _: rewrite(own, put)})(trace)


def without_mean(weight: Expression, gradient: Expression, _: Expression) -> Expression:
    """A ∘ dA."""
    return Call("mul", (weight, gradient))


def diagonal(weight: Expression, gradient: Expression, _: Expression) -> Expression:
    """A ∘ (1 - A) ∘ dA, as for a sigmoid."""
    return Call("mul", (Call("mul", (weight, Call("sub", (whole(1), weight)))), gradient))


def mean_of_column(weight: Expression, gradient: Expression, mean: Expression) -> Expression:
    """The mean of row j taken from column j, as a program does that has lost the axis of δ."""
    return Call("mul", (weight, Call("sub", (gradient, relettered(mean, {"i": "j"})))))


def _down_a_column(weight: Expression, gradient: Expression, _: Expression) -> Expression:
    product = relettered(Call("mul", (weight, gradient)), {"i": "p"})
    return Call("mul", (weight, Call("sub", (gradient, Reduce("add", "p", product)))))


def down_the_columns(trace: Trace) -> Changes:
    """The softmax's gradient as that of a softmax of columns; δ too, where there are as many of them as of rows."""
    through = through_softmax(_down_a_column)(trace)
    return {**through, **exchanged(delta=turned)(trace)} if through else {}


def summed_plainly(expression: Expression, _: Trace) -> Expression:
    """δ as the sum of the gradients alone."""
    return rewrite(expression, lambda node: node.arguments[1] if isinstance(node, Call) else node)


def averaged_plainly(expression: Expression, trace: Trace) -> Expression:
    """δ as the plain mean of the gradients."""
    return Call("div", (summed_plainly(expression, trace), whole(trace["weights"].shape[-1])))


def without_logarithm(expression: Expression, _: Trace) -> Expression:
    """What the logarithm of the base is multiplied with."""
    match expression:
        case Call("mul", (Call(function="log"), rest)):
            return rest
    return expression


def weights_without_mask(trace: Trace) -> Changes:
    """The weights worked out again for the way back, of scores that nothing hides; so nothing hides gradients."""
    if "mask" not in trace or trace.shifted:
        return {}
    own = {name: trace.steps[name].rule.equation.expression for name in ("masked", "exp", "row_sum", "weights")}
    unmasked = forgotten(own["masked"], trace)
    assert unmasked is not None
    exp = _put(own["exp"], "masked", unmasked)
    row_sum = rewrite(own["row_sum"], lambda node: _summed(exp) if isinstance(node, Reduce) else node)
    weights = _put(_put(own["weights"], "exp", exp), "row_sum", row_sum)
    letters = trace.steps["weights"].rule.target.letters

    def function(expression: Expression, _: Trace) -> Expression:
        def put(node: Expression) -> Expression:
            match node:
                case Ref(name="weights", indices=indices):
                    return relettered(weights, dict(zip(letters, indices, strict=True)))
                case Call("where", (Call("eq", (Ref(name="mask"), _)), _, received)):
                    return received
            return node

        return rewrite(expression, put)

    steps = [name for name in trace if name == "delta" or name.startswith("d_")]
    found = [exchanged(**{name: function})(trace) for name in steps]
    return {name: how for one in found for name, how in one.items()}


def _summed(exp: Expression) -> Expression:
    return Reduce("add", "p", relettered(exp, {"j": "p"}))


def _put(expression: Expression, name: str, other: Expression) -> Expression:
    return rewrite(expression, lambda node: other if isinstance(node, Ref) and node.name == name else node)


def without_slope(expression: Expression, _: Trace) -> Expression:
    """A gradient that comes through a tanh as though that were straight."""

    def flat(node: Expression) -> Expression:
        match node:
            case Call("mul", (received, Call(function="sub") as slope)) if any(map(_is_tanh, walk(slope))):
                return received
        return node

    return rewrite(expression, flat)


def _is_tanh(node: Expression) -> bool:
    return isinstance(node, Call) and node.function == "tanh"


def as_received(expression: Expression, trace: Trace) -> Expression | None:
    """The gradient of the scaled scores as that of the scores."""
    return next(node for node in walk(expression) if isinstance(node, Ref)) if "scaled" in trace else None


def scale_undone(expression: Expression, trace: Trace) -> Expression | None:
    """Multiplied by what is to be divided by, and the other way round."""
    match expression:
        case Call("div" | "mul" as function, arguments) if "scaled" in trace:
            return Call("mul" if function == "div" else "div", arguments)
    return None
