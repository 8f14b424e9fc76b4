"""The mistakes people make on the backward pass, through attention's gradients, and what they
change in the equations.

They stand in the order in which they can be made. A rewrite that only these need stands above the
list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attncli.equation.indexing import GROUP_MEMBER
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    names_used,
    number_node,
    rewrite,
    walk,
)
from attncli.mistakes.forward import scaled_once_more
from attncli.mistakes.masks import without_mask
from attncli.mistakes.model import (
    Change,
    Changes,
    Mistake,
    Rewrite,
    all_of,
    any_of,
    chained,
    equations,
    first_of,
    in_id,
    result_transposed,
    rewritten,
    transposed,
    with_arrays,
    with_arrays_swapped,
    with_i_and_j_exchanged,
    with_letters,
)
from attncli.problem.parts.axes import HEAD
from attncli.tracing.model import Trace

# Another derivative of the softmax: of a weight, its gradient, and δ.
Derivative: TypeAlias = Callable[[Expression, Expression, Expression], Expression]
_INPUT_WEIGHTS = ("W_Q", "W_K", "W_V")
# What a mean is divided by, in the equations of losses.
_N = Name("N")

# Through softmax, mask, softcap and scale


def of_logits(function: Rewrite) -> Change:
    """The gradient of the logits put through a function."""
    return lambda trace: rewritten(**{f"d_{trace.logits}": function})(trace)


def through_softmax(made: Derivative) -> Change:
    """The softmax's gradient made in another way than A ∘ (dA - δ)."""

    def put(node: Expression) -> Expression:
        match node:
            case Call("mul", (weight, Call("sub", (gradient, Ref(name="delta") as mean)))):
                return made(weight, gradient, mean)
            case _:
                return node

    return of_logits(lambda own, _: rewrite(own, put))


def without_mean(weight: Expression, gradient: Expression, _: Expression) -> Expression:
    """A ∘ dA."""
    return Call("mul", (weight, gradient))


def diagonal(weight: Expression, gradient: Expression, _: Expression) -> Expression:
    """A ∘ (1 - A) ∘ dA, as for a sigmoid."""
    return Call("mul", (Call("mul", (weight, Call("sub", (number_node(1), weight)))), gradient))


def mean_of_column(weight: Expression, gradient: Expression, mean: Expression) -> Expression:
    """The mean of row j taken from column j, as a program does that has lost the axis of δ."""
    return Call("mul", (weight, Call("sub", (gradient, with_letters(mean, {"i": "j"})))))


def _down_a_column(weight: Expression, gradient: Expression, _: Expression) -> Expression:
    product = with_letters(Call("mul", (weight, gradient)), {"i": "p"})
    return Call("mul", (weight, Call("sub", (gradient, Reduce("add", "p", product)))))


def down_columns(trace: Trace) -> Changes:
    """The softmax's gradient as that of a softmax of columns; δ too, where there are as many of
    them as of rows.
    """
    through = through_softmax(_down_a_column)(trace)
    return {**through, **rewritten(delta=with_i_and_j_exchanged)(trace)} if through else {}


def summed_plainly(expression: Expression, _: Trace) -> Expression:
    """δ as the sum of the gradients alone."""
    return rewrite(expression, lambda node: node.arguments[1] if isinstance(node, Call) else node)


def averaged_plainly(expression: Expression, trace: Trace) -> Expression:
    """δ as the plain mean of the gradients."""
    return Call("div", (summed_plainly(expression, trace), number_node(trace["weights"].shape[-1])))


def without_logarithm(expression: Expression, _: Trace) -> Expression:
    """What the logarithm of the base is multiplied with."""
    match expression:
        case Call("mul", (Call(function="log"), rest)):
            return rest
        case _:
            return expression


def weights_without_mask(trace: Trace) -> Changes:
    """The weights worked out again for the backward pass, of scores that nothing hides; so nothing
    hides gradients.
    """
    if "mask" not in trace or trace.shifted:
        return {}
    own = {
        name: trace.steps[name].rule.equation.expression
        for name in ("masked", "exp", "row_sum", "weights")
    }
    unmasked = without_mask(own["masked"], trace)
    assert unmasked is not None
    exp = _with_array(own["exp"], "masked", unmasked)
    row_sum = rewrite(
        own["row_sum"], lambda node: _summed(exp) if isinstance(node, Reduce) else node
    )
    weights = _with_array(_with_array(own["weights"], "exp", exp), "row_sum", row_sum)
    letters = trace.steps["weights"].rule.target.letters

    def function(expression: Expression, _: Trace) -> Expression:
        def put(node: Expression) -> Expression:
            match node:
                case Ref(name="weights", indices=indices):
                    return with_letters(weights, dict(zip(letters, indices, strict=True)))
                case Call("where", (Call("eq", (Ref(name="mask"), _)), _, received)):
                    return received
                case _:
                    return node

        return rewrite(expression, put)

    steps = (name for name in trace if name == "delta" or name.startswith("d_"))
    return any_of(*(rewritten(**{name: function}) for name in steps))(trace)


def _summed(exp: Expression) -> Expression:
    return Reduce("add", "p", with_letters(exp, {"j": "p"}))


def _with_array(expression: Expression, name: str, other: Expression) -> Expression:
    return rewrite(
        expression, lambda node: other if isinstance(node, Ref) and node.name == name else node
    )


def without_slope(expression: Expression, _: Trace) -> Expression:
    """A gradient that comes through a tanh as though that were straight."""

    def flat(node: Expression) -> Expression:
        match node:
            case Call("mul", (received, Call(function="sub") as slope)) if any(
                map(_is_tanh, walk(slope))
            ):
                return received
        return node

    return rewrite(expression, flat)


def _is_tanh(node: Expression) -> bool:
    return isinstance(node, Call) and node.function == "tanh"


def as_received(expression: Expression, trace: Trace) -> Expression | None:
    """The gradient of the scaled scores as that of the scores."""
    return (
        next(node for node in walk(expression) if isinstance(node, Ref))
        if "scaled" in trace
        else None
    )


def scale_undone(expression: Expression, trace: Trace) -> Expression | None:
    """Multiplied by what is to be divided by, and the other way round."""
    match expression:
        case Call("div" | "mul" as function, arguments) if "scaled" in trace:
            return Call("mul" if function == "div" else "div", arguments)
    return None


# Losses, sums, shared heads and RoPE


def not_averaged(expression: Expression, _: Trace) -> Expression:
    """What is divided by the N of a mean."""
    match expression:
        case Call("div", (total, divisor)) if divisor == _N:
            return total
    return expression


def averaged_over(axis: str) -> Rewrite:
    """The mean over the `rows` of the output alone, where it is one over all its numbers, or over
    all `numbers`.
    """

    def function(expression: Expression, trace: Trace) -> Expression | None:
        size, width = trace["output"].size, trace["output"].shape[-1]
        other = number_node(size // width if axis == "rows" else size)
        applies = ("error" in trace) == (axis == "rows") and width > 1
        return rewrite(expression, lambda node: other if node == _N else node) if applies else None

    return function


def without_two(expression: Expression, _: Trace) -> Expression:
    """The gradient of a square without the factor 2."""

    def one(node: Expression) -> Expression:
        match node:
            case Call("mul", (Number(value=2), error)):
                return error
            case _:
                return node

    return rewrite(expression, one)


def negated(expression: Expression, _: Trace) -> Expression:
    """The gradient of a loss with the other sign, as of Y - P for P - Y."""
    return Call("neg", (expression,))


def without_target(expression: Expression, _: Trace) -> Expression:
    """P for P - Y."""

    def kept(node: Expression) -> Expression:
        match node:
            case Call("sub", (one, Ref(name="target"))):
                return one
            case _:
                return node

    return rewrite(expression, kept)


def without(*names: str) -> Rewrite:
    """A sum of gradients without what comes from one of these."""

    def function(expression: Expression, _: Trace) -> Expression:
        return rewrite(expression, left)

    def left(node: Expression) -> Expression:
        match node:
            case Call("add", (one, other)) if reads(one):
                return other
            case Call("add", (one, other)) if reads(other):
                return one
        return node

    def reads(term: Expression) -> bool:
        return any(name in names_used(term) for name in names)

    return function


def only_through(name: str, *others: str) -> Rewrite:
    """A sum of gradients of which only one is kept; only where all of them stand in it."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        there = set(names_used(expression))
        for each in (name, *others):
            if there.isdisjoint(_gradient_steps(each)):
                return None
        left_out: list[str] = []
        for other in others:
            left_out += _gradient_steps(other)
        rewrite = without(*left_out)
        return rewrite(expression, trace)

    return function


def _gradient_steps(name: str) -> tuple[str, str]:
    """The steps that hold what comes back through queries, keys or values; the second one where
    there is a cache.
    """
    return f"d_{name}", f"d_new_{name}"


def not_through(name: str) -> Rewrite:
    """A sum of gradients without what comes back through queries, keys or values."""
    return without(*_gradient_steps(name))


def over_shared_heads(made: Rewrite) -> Change:
    """The gradients of keys and values that several heads share, each made in another way than as
    their sum.
    """
    return any_of(first_of(rewritten(d_K_rot=made), rewritten(d_K=made)), rewritten(d_V=made))


def one_head(*, last: bool = False) -> Rewrite:
    """The gradient that the first, or the last, of the sharing heads hands back."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if (number := _sharing(expression, trace)) is None:
            return None
        assert isinstance(expression, Reduce)
        place = number_node(number - 1 if last else 0)
        return rewrite(with_letters(expression.body, {expression.index: place}), _without_zero)

    return function


def averaged_over_heads(expression: Expression, trace: Trace) -> Expression | None:
    """The mean of what the sharing heads hand back."""
    number = _sharing(expression, trace)
    return None if number is None else Call("div", (expression, number_node(number)))


def _sharing(expression: Expression, trace: Trace) -> int | None:
    """How many heads a gradient is summed over."""
    if isinstance(expression, Reduce) and expression.index in (GROUP_MEMBER, HEAD):
        return trace.sizes(Equation(Ref("d_K"), expression))[expression.index]
    return None


def _without_zero(node: Expression) -> Expression:
    match node:
        case Call("add", (term, Number(value=0))):
            return term
        case _:
            return node


def rotated_forward(expression: Expression, _: Trace) -> Expression:
    """A rotation back as one forward: the products it adds are subtracted; in an index as k + half
    there is none.
    """

    def forward(node: Expression) -> Expression:
        match node:
            case Call("add" | "sub" as function, (term, Call() as product)):
                return Call("sub" if function == "add" else "add", (term, product))
            case _:
                return node

    return rewrite(expression, forward)


# All of them

_UNSCALED = rewritten(d_scores=as_received)
_SCALED_LATER = first_of(
    rewritten(d_Q_rot=scaled_once_more, d_K_rot=scaled_once_more),
    rewritten(d_Q=scaled_once_more, d_K=scaled_once_more),
)


_before_the_scale = with_arrays(d_scores="d_scaled")


def _into_input(*names: str) -> Change:
    """The gradient of the input, or of a context, with these weights not transposed."""
    function = chained(*map(transposed, names))
    return first_of(rewritten(d_X=function), rewritten(d_context=function))


def _swapped(one: str, other: str) -> Change:
    """The gradient of the input, or of a context, with two weights in the place of each other."""
    function = with_arrays_swapped(one, other)
    return first_of(rewritten(d_X=function), rewritten(d_context=function))


BACKWARD_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "loss-not-averaged", "the loss was added up, not averaged", rewritten(loss=not_averaged)
    ),
    Mistake(
        "loss-gradient-sign",
        "the gradient of the loss was taken with the other sign",
        rewritten(d_output=negated),
    ),
    Mistake(
        "target-not-subtracted",
        "the target was not subtracted from the probabilities",
        rewritten(d_output=without_target),
    ),
    Mistake(
        "factor-2-forgotten",
        "the factor 2 of the square was forgotten",
        rewritten(d_output=without_two),
    ),
    Mistake(
        "gradient-not-averaged",
        "the gradient was not divided by the N of the mean",
        rewritten(d_output=not_averaged),
    ),
    Mistake(
        "mean-over-rows",
        "the mean was taken over the rows, not over all numbers",
        rewritten(d_output=averaged_over("rows")),
    ),
    Mistake(
        "mean-over-numbers",
        "the mean was taken over all numbers, not over the rows",
        rewritten(d_output=averaged_over("numbers")),
    ),
    Mistake(
        "back-w-o-not-transposed",
        "W_O was not transposed in the backward pass",
        first_of(
            rewritten(d_concat=transposed("W_O")), rewritten(d_heads_output=transposed("W_O"))
        ),
    ),
    Mistake(
        "back-v-not-transposed",
        "dO V was worked out instead of dO V^T",
        rewritten(d_weights=transposed("V")),
    ),
    Mistake(
        "back-mean-not-subtracted",
        "the row's mean was not subtracted in the backward pass of the softmax",
        through_softmax(without_mean),
    ),
    Mistake(
        "back-diagonal-only",
        "only the diagonal of the softmax's Jacobian was taken",
        through_softmax(diagonal),
    ),
    Mistake(
        "back-jacobian-columns", "the softmax's Jacobian was taken down the columns", down_columns
    ),
    Mistake(
        "back-means-from-columns",
        "the means of the rows were subtracted from the columns",
        through_softmax(mean_of_column),
    ),
    Mistake(
        "back-delta-plain-sum",
        "the gradients of a row were added up without its weights",
        rewritten(delta=summed_plainly),
    ),
    Mistake(
        "back-delta-plain-mean",
        "the gradients of a row were averaged without its weights",
        rewritten(delta=averaged_plainly),
    ),
    Mistake(
        "back-softmax-left-out",
        "the softmax was left out in the backward pass",
        through_softmax(lambda _, gradient, __: gradient),
    ),
    Mistake(
        "back-log-base-forgotten",
        "the logarithm of the base was forgotten in the backward pass",
        of_logits(without_logarithm),
    ),
    Mistake(
        "back-mask-forgotten", "the mask was forgotten in the backward pass", weights_without_mask
    ),
    Mistake(
        "back-softcap-forgotten",
        "the softcap's derivative was forgotten",
        first_of(rewritten(d_scaled=without_slope), rewritten(d_scores=without_slope)),
    ),
    Mistake("back-scale-forgotten", "the scale was forgotten in the backward pass", _UNSCALED),
    Mistake(
        "back-scale-later",
        "the scale was applied to dQ and dK, not to dS",
        all_of(_UNSCALED, _SCALED_LATER),
    ),
    *(
        Mistake(
            f"back-scale-forgotten-in-d-{array.lower()}",
            f"the scale was forgotten in d{array} alone",
            first_of(
                rewritten(**{f"d_{array}_rot": _before_the_scale}),
                rewritten(**{f"d_{array}": _before_the_scale}),
            ),
        )
        for array in ("Q", "K")
    ),
    Mistake(
        "back-mean-and-scale-forgotten",
        "the row's mean was not subtracted in the backward pass, nor the scale applied",
        all_of(through_softmax(without_mean), _UNSCALED),
    ),
    Mistake(
        "back-scale-twice",
        "the scale was applied twice in the backward pass",
        rewritten(d_scores=scaled_once_more),
    ),
    Mistake(
        "back-scale-undone",
        "the scale was undone in the backward pass, not applied",
        rewritten(d_scores=scale_undone),
    ),
    Mistake(
        "back-tanh-forgotten",
        "the derivative of the tanh was forgotten",
        rewritten(d_hidden=without_slope),
    ),
    *(
        Mistake(
            id,
            f"{wrong} was worked out instead of {right}",
            first_of(rewritten(**{f"{step}_rot": rot}), rewritten(**{step: one})),
        )
        for id, step, wrong, right, one, rot in (
            (
                "back-d-q-transposed",
                "d_Q",
                "dS^T K",
                "dS K",
                transposed("d_scores"),
                transposed("d_scores"),
            ),
            (
                "back-d-q-of-queries",
                "d_Q",
                "dS Q",
                "dS K",
                with_arrays(K="Q"),
                with_arrays(K_rot="Q_rot"),
            ),
            (
                "back-d-k-not-transposed",
                "d_K",
                "dS Q",
                "dS^T Q",
                transposed("d_scores"),
                transposed("d_scores"),
            ),
            (
                "back-d-k-of-keys",
                "d_K",
                "dS^T K",
                "dS^T Q",
                with_arrays(Q="K"),
                with_arrays(Q_rot="K_rot"),
            ),
        )
    ),
    Mistake(
        "back-d-v-not-transposed",
        "A dO was worked out instead of A^T dO",
        rewritten(d_V=transposed("weights")),
    ),
    Mistake(
        "back-rope-forward",
        "RoPE rotated forward in the backward pass",
        rewritten(d_Q=rotated_forward, d_K=rotated_forward),
    ),
    Mistake(
        "back-rope-left-out",
        "RoPE was left out in the backward pass",
        equations("d_Q[i, k] = d_Q_rot[i, k]", "d_K[j, k] = d_K_rot[j, k]"),
    ),
    Mistake(
        "back-first-sharing-head",
        "only the first of the heads that share keys and values was taken",
        over_shared_heads(one_head()),
    ),
    Mistake(
        "back-last-sharing-head",
        "only the last of the heads that share keys and values was taken",
        over_shared_heads(one_head(last=True)),
    ),
    Mistake(
        "back-sharing-heads-averaged",
        "the heads that share keys and values were averaged, not added up",
        over_shared_heads(averaged_over_heads),
    ),
    *(
        Mistake(
            f"back-d-{in_id(name)}-transposed",
            f"d{name} was transposed",
            result_transposed(f"d_{name}"),
        )
        for name in (*_INPUT_WEIGHTS, "W_O")
    ),
    *(
        Mistake(
            f"back-{in_id(name)}-part-left-out",
            f"the part through {name} was left out of the gradient of the input",
            first_of(
                rewritten(d_X=not_through(name)),
                rewritten(d_context=not_through(name)),
            ),
        )
        for name in "QKV"
    ),
    *(
        Mistake(
            f"back-only-{in_id(name)}-part",
            f"only the part through {name} was taken as the gradient of the input",
            rewritten(d_X=function),
        )
        for name, function in (
            ("Q", only_through("Q", "K", "V")),
            ("K", only_through("K", "Q", "V")),
            ("V", only_through("V", "Q", "K")),
        )
    ),
    *(
        Mistake(
            f"back-{in_id(name)}-not-transposed",
            f"{name} was not transposed in the backward pass",
            _into_input(name),
        )
        for name in _INPUT_WEIGHTS
    ),
    Mistake(
        "back-no-projection-transposed",
        "W_Q, W_K and W_V were not transposed in the backward pass",
        _into_input(*_INPUT_WEIGHTS),
    ),
    *(
        Mistake(
            f"back-{in_id(one)}-{in_id(other)}-swapped",
            f"{one} and {other} were swapped in the backward pass",
            _swapped(one, other),
        )
        for one, other in (("W_Q", "W_K"), ("W_K", "W_V"), ("W_Q", "W_V"))
    ),
)
