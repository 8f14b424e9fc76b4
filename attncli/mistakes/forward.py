"""The mistakes people make in attention itself: each by its name, and what it changes in the
equations.

They stand in the order in which they can be made. A rewrite that only these need stands above the
list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from attncli.equation.nodes import (
    Call,
    Expression,
    Name,
    Number,
    Ref,
    names_used,
    number_node,
    rewrite,
    walk,
)
from attncli.equation.parser import parse_expression
from attncli.mistakes.model import (
    Change,
    Changes,
    Mistake,
    Rewrite,
    all_of,
    any_of,
    equations,
    first_of,
    in_id,
    rewritten,
    transposed,
    with_arrays,
    with_calls,
    with_i_and_j_exchanged,
    with_letters,
)
from attncli.problem.keys import Pairing
from attncli.problem.parts.axes import HEAD, KEY_HEAD
from attncli.problem.parts.positions import Rope
from attncli.tracing.model import Trace

SENTINELS = ("-1e9", "-1e4", "-9999", "-1000", "-100", "-10", "-1")
NAMES_OF_DECIMALS = {0: "whole numbers", 1: "one decimal", 2: "2 decimals", 3: "3 decimals"}
_HALF_UPWARDS = 0.5 + 1e-9
_MINUS_INFINITY = Number(-math.inf, "-inf")
_ROOT_OF_D_K = Call("sqrt", (Name("d_k"),))

# Heads and positions


def heads_tiled(trace: Trace) -> Changes:
    """KV head h mod their number for query head h, in place of h // group, in every step that reads
    them, both ways.
    """
    if "group" not in trace.parameters:
        return {}
    kv_heads = trace["K"].shape[-3]
    others = {
        f"{HEAD} // group": f"{HEAD} % {kv_heads}",
        f"{KEY_HEAD} * group + q": f"q * {kv_heads} + {KEY_HEAD}",
    }
    served = {parse_expression(own): parse_expression(other) for own, other in others.items()}

    def function(expression: Expression, _: Trace) -> Expression:
        return rewrite(expression, lambda node: served.get(node, node))

    return any_of(*(rewritten(**{step.name: function}) for step in trace.computed()))(trace)


def split_by_rows(name: str) -> Change:
    """Heads cut out of all rows laid end to end, without the axis of heads being moved before that
    of rows.
    """

    def change(trace: Trace) -> Changes:
        letters = trace.steps[name].rule.target.letters
        if "concat" not in trace or len(letters) < 3 or letters[-3] not in (HEAD, KEY_HEAD):
            return {}
        value = trace[name]
        heads, rows = value.shape[-3:-1]
        if trace.steps[name].rule.given:
            return {name: value.swapaxes(-3, -2).reshape(value.shape)}
        head, row = letters[-3:-1]
        place = f"({head} * {rows} + {row})"
        moved = {
            head: parse_expression(f"{place} % {heads}"),
            row: parse_expression(f"{place} // {heads}"),
        }
        return rewritten(**{name: lambda own, _: with_letters(own, moved)})(trace)

    return change


def joined_by_rows(_: Expression, trace: Trace) -> Expression:
    """The outputs of all heads laid end to end, and cut into rows."""
    heads, rows, width = trace["heads_output"].shape[-3:]
    place = f"(i * {heads * width} + e)"
    head = parse_expression(f"{place} // {rows * width}")
    row = parse_expression(f"{place} // {width} % {rows}")
    feature = parse_expression(f"{place} % {width}")
    leading = trace.steps["heads_output"].rule.target.indices[:-3]
    return Ref("heads_output", (*leading, head, row, feature))


def other_pairs(name: str) -> Change:
    """Q_rot or K_rot with neighbours turned for halves, or halves for neighbours."""

    def change(trace: Trace) -> Changes:
        if name not in trace:
            return {}
        pairing: Pairing = "interleaved" if trace.settings.pairing == "half" else "half"
        shift = " + past" if name == "Q_rot" and "past" in trace.parameters else ""
        equation = Rope.rotated(name, pairing, shift).source
        assert equation is not None
        return equations(equation.replace("half", str(trace["K"].shape[-1] // 2)))(trace)

    return change


# Scores, scale, softmax and output


def scaled_once_more(expression: Expression, trace: Trace) -> Expression | None:
    """A step's result scaled as the scores are."""
    if "scaled" not in trace:
        return None
    if "scale" in trace.parameters:
        return Call("mul", (expression, Name("scale")))
    return Call("div", (expression, _ROOT_OF_D_K))


def scaled_unasked(trace: Trace) -> Changes:
    """Scores divided by the root of d_k in every step that reads them, where the problem asks for
    no scale.
    """
    if "scaled" in trace:
        return {}

    def function(expression: Expression, _: Trace) -> Expression:
        return rewrite(expression, divided)

    def divided(node: Expression) -> Expression:
        return (
            Call("div", (node, _ROOT_OF_D_K))
            if isinstance(node, Ref) and node.name == "scores"
            else node
        )

    readers = [step.name for step in trace.computed() if "scores" in step.rule.inputs]
    return rewritten(**dict.fromkeys(readers, function))(trace)


def share_of(total: str) -> Change:
    """Weights that are shares of another sum; its scores are not shifted by the largest of a
    row.
    """

    def change(trace: Trace) -> Changes:
        plain = equations("exp[i, j] = exp({logits}[i, j])")(trace) if trace.shifted else {}
        return {**plain, **equations(f"weights[i, j] = share(exp[i, j], {total})")(trace)}

    return change


def base(number: str) -> Change:
    """Exponentials of another base than e, where that is asked for."""
    powers = equations(f"exp[i, j] = {number} ** {{seen}}[i, j]")
    return lambda trace: {} if "exp_base" in trace.parameters else powers(trace)


def base_e(trace: Trace) -> Changes:
    """e as the base, where the problem gives another."""
    return (
        equations("exp[i, j] = exp({seen}[i, j])")(trace) if "exp_base" in trace.parameters else {}
    )


def rounded(name: str, decimals: int) -> Change:
    """A step's true numbers, rounded half up; what binary leaves short of a half is one, as in
    2.675.
    """
    units = 10.0**decimals

    def change(trace: Trace) -> Changes:
        if name not in trace or trace.steps[name].rule.given:
            return {}
        number = trace[name].astype(float)
        with np.errstate(over="ignore"):
            whole = abs(number) * units + _HALF_UPWARDS
        return (
            {name: np.copysign(np.floor(whole) / units, number)} if np.isfinite(whole).all() else {}
        )

    return change


def without_bias(expression: Expression, _: Trace) -> Expression:
    """The sum that a bias is added to."""
    match expression:
        case Call(function="add", arguments=(product, _)):
            return product
        case _:
            return expression


_UNSCALED = equations("scaled[i, j] = scores[i, j]")


# Mask and softcap


def _where_shown(
    trace: Trace, shown: Callable[[Expression], Expression], value: Expression
) -> Expression | None:
    """`shown` of the mask where a key is visible, and the value elsewhere; None without a mask."""
    if "mask" not in trace:
        return None
    mask = trace.steps["mask"].rule.equation.expression
    return Call("where", (Call("eq", (mask, _MINUS_INFINITY)), value, shown(mask)))


def without_mask(expression: Expression, trace: Trace) -> Expression | None:
    """The masked scores without the mask, and with the bias of positions where there is one."""
    return _unmasked(expression) if "mask" in trace else None


def _unmasked(expression: Expression) -> Expression:
    match expression:
        case Call(function="add_mask", arguments=(scores, _)):
            return scores
        case _:
            return expression


def hidden_set_to(value: Expression) -> Rewrite:
    """The masked scores with a number put in place of every one that is hidden."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        scores = _unmasked(expression)
        return _where_shown(trace, lambda added: Call("add", (scores, added)), value)

    return function


def hidden_by_adding(value: Expression) -> Rewrite:
    """The mask with another number than -inf."""
    return lambda _, trace: _where_shown(trace, lambda added: added, value)


def added_as_is(seen: int, hidden: int) -> Rewrite:
    """A mask of 0 and 1 as numbers that are added; only for one that hides, and adds nothing
    else.
    """

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if "mask" not in trace or not np.isin(trace["mask"], (0, -np.inf)).all():
            return None
        return _where_shown(trace, lambda _: number_node(seen), number_node(hidden))

    return function


def inverted(_: Expression, trace: Trace) -> Expression | None:
    """The mask that hides what is visible."""
    return _where_shown(trace, lambda _: _MINUS_INFINITY, number_node(0))


def mask_on_weights(weights: Expression, trace: Trace) -> Expression | None:
    """The weights with 0 wherever the mask hides a key."""
    return _where_shown(trace, lambda _: weights, number_node(0))


def hiding_itself(expression: Expression, trace: Trace) -> Expression | None:
    """j < i for j <= i."""
    return with_calls("le", lambda sides: Call("lt" if sides[0] == Name("j") else "le", sides))(
        expression, trace
    )


def seeing_the_next(expression: Expression, trace: Trace) -> Expression | None:
    """j <= i + 1 for j <= i; not where this is how positions are counted from the other corner."""
    following = with_calls(
        "le",
        lambda sides: Call(
            "le", (sides[0], _plus_one(sides[1])) if sides[0] == Name("j") else sides
        ),
    )
    found = following(expression, trace)
    return None if found == other_corner(expression, trace) else found


def _plus_one(expression: Expression) -> Expression:
    return Call("add", (expression, number_node(1)))


def other_corner(expression: Expression, trace: Trace) -> Expression | None:
    """Positions counted from the other corner: i for i + offset, or i + (m - n) for i; no array is
    moved.
    """
    if "offset" in trace.parameters:
        offsets = (Name("offset"), Ref("offset", ("b",)))
        return with_calls(
            "add", lambda sides: sides[0] if sides[1] in offsets else Call("add", sides)
        )(expression, trace)
    if names_used(expression):
        return None
    n, m = trace["weights"].shape[-2:]
    if n == m:
        return None
    moved: Mapping[str, Expression] = {"i": Call("add", (Name("i"), number_node(m - n)))}
    return with_letters(expression, moved)


def softcap_after_mask(expression: Expression, trace: Trace) -> Expression | None:
    """The mask added first, and all of it bent: what is hidden becomes -softcap."""
    if "capped" not in trace or "mask" not in trace or not isinstance(expression, Call):
        return None
    before = without_softcap(trace.steps["capped"].rule.equation.expression, trace)
    softcap = Name("softcap")
    masked = Call("add_mask", (before, expression.arguments[1]))
    return Call("mul", (softcap, Call("tanh", (Call("div", (masked, softcap)),))))


def without_softcap(expression: Expression, _: Trace) -> Expression:
    """What a softcap is put on."""
    return next(node for node in walk(expression) if isinstance(node, Ref))


def without_w_o(trace: Trace) -> Changes:
    """The output as it was before W_O."""
    if "W_O" not in trace:
        return {}
    before = "concat[i, o]" if "concat" in trace else "heads_output[i, o]"
    return equations(f"output[i, o] = {before}")(trace)


# All of them


def _number(text: str) -> Number:
    return Number(Fraction(text), text)


def _mask_mistake(id: str, name: str, used: Rewrite) -> Mistake:
    """A mistake in the use of a mask: other software may hand over the right one beside it."""
    return Mistake(id, name, rewritten(mask=used), optional=("mask",))


_TRANSPOSED = {name: rewritten(**{name[2:]: transposed(name)}) for name in ("W_Q", "W_K", "W_V")}

_ROUNDED_FIRST = {
    (step, decimals): f"{title} were rounded to {text} first"
    for step, title in (
        ("scores", "the scores"),
        ("scaled", "the scaled scores"),
        ("weights", "the weights"),
    )
    for decimals, text in NAMES_OF_DECIMALS.items()
}


def rounded_first(step: str, decimals: int) -> str | None:
    """What it is called that the numbers of a step were rounded to so many decimals; None for other
    steps.
    """
    return _ROUNDED_FIRST.get((step, decimals))


FORWARD_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "w-q-w-k-swapped",
        "W_Q and W_K were swapped",
        rewritten(Q=with_arrays(W_Q="W_K"), K=with_arrays(W_K="W_Q")),
    ),
    Mistake(
        "w-k-w-v-swapped",
        "W_K and W_V were swapped",
        rewritten(K=with_arrays(W_K="W_V"), V=with_arrays(W_V="W_K")),
    ),
    Mistake(
        "w-q-w-v-swapped",
        "W_Q and W_V were swapped",
        rewritten(Q=with_arrays(W_Q="W_V"), V=with_arrays(W_V="W_Q")),
    ),
    Mistake(
        "all-projections-transposed",
        "W_Q, W_K and W_V were transposed",
        all_of(*_TRANSPOSED.values()),
    ),
    *(
        Mistake(f"{in_id(name)}-transposed", f"{name} was transposed", change)
        for name, change in _TRANSPOSED.items()
    ),
    Mistake("w-o-transposed", "W_O was transposed", rewritten(output=transposed("W_O"))),
    Mistake("w-o-left-out", "W_O was left out", without_w_o),
    Mistake("b-q-left-out", "the bias was left out of Q", rewritten(Q=without_bias)),
    Mistake(
        "b-k-left-out",
        "the bias was left out of K",
        first_of(rewritten(new_K=without_bias), rewritten(K=without_bias)),
    ),
    Mistake(
        "b-v-left-out",
        "the bias was left out of V",
        first_of(rewritten(new_V=without_bias), rewritten(V=without_bias)),
    ),
    Mistake("b-o-left-out", "the bias was left out of the output", rewritten(output=without_bias)),
    Mistake(
        "heads-split-by-rows",
        "heads were split by rows, without moving their axis",
        all_of(*map(split_by_rows, "QKV")),
    ),
    Mistake(
        "heads-joined-by-rows",
        "heads were joined without moving their axis back",
        rewritten(concat=joined_by_rows),
    ),
    Mistake(
        "rope-other-pairs",
        "RoPE rotated the wrong pairs of features",
        all_of(other_pairs("Q_rot"), other_pairs("K_rot")),
    ),
    Mistake(
        "rope-left-out",
        "RoPE was left out",
        equations("Q_rot[i, k] = Q[i, k]", "K_rot[j, k] = K[j, k]"),
    ),
    Mistake(
        "rope-backwards",
        "RoPE rotated in the wrong direction",
        rewritten(angles=lambda own, _: Call("neg", (own,))),
    ),
    Mistake(
        "k-q-for-q-k",
        "K Q^T was worked out instead of Q K^T",
        rewritten(scores=with_i_and_j_exchanged),
    ),
    Mistake("k-not-transposed", "K was not transposed", equations("K_T[k, j] = K[k, j]")),
    *(
        Mistake(
            f"{in_id(wrong)}-for-q-k",
            f"{wrong} was worked out instead of Q K^T",
            equations(f"scores[i, j] = {product}"),
        )
        for wrong, product in (
            ("Q Q^T", "sum(k, Q[i, k] * Q[j, k])"),
            ("K K^T", "sum(k, K[i, k] * K[j, k])"),
            ("Q V^T", "sum(c, Q[i, c] * V[j, c])"),
            ("X X^T", "sum(d, X[i, d] * {source}[j, d])"),
            ("Q W_K^T", "sum(k, Q[i, k] * W_K[j, k])"),
        )
    ),
    Mistake("kv-heads-tiled", "KV heads were tiled, not repeated", heads_tiled),
    Mistake("scale-left-out", "the scores were not scaled", _UNSCALED),
    Mistake(
        "scale-d-k",
        "the scores were divided by d_k, not by its root",
        equations("scaled[i, j] = scores[i, j] / d_k"),
    ),
    Mistake("scale-twice", "the scores were scaled twice", rewritten(scaled=scaled_once_more)),
    Mistake(
        "scale-root-d-model",
        "the scores were divided by the root of d_model",
        equations("scaled[i, j] = scores[i, j] / sqrt({d_model})"),
    ),
    Mistake(
        "scale-n", "the scores were divided by n", equations("scaled[i, j] = scores[i, j] / {n}")
    ),
    Mistake(
        "scale-root-n",
        "the scores were divided by the root of n",
        equations("scaled[i, j] = scores[i, j] / sqrt({n})"),
    ),
    Mistake(
        "scale-root-all-heads",
        "the scores were divided by the root of d_k of all heads together",
        equations("scaled[i, j] = scores[i, j] / sqrt({joined})"),
    ),
    Mistake(
        "scale-inverted",
        "the scores were multiplied by the root of d_k",
        equations("scaled[i, j] = scores[i, j] * sqrt(d_k)"),
    ),
    Mistake(
        "scale-unasked", "the scores were scaled, but the problem asks for no scale", scaled_unasked
    ),
    Mistake(
        "scale-after-softmax",
        "the scale was applied after the softmax",
        all_of(_UNSCALED, rewritten(weights=scaled_once_more)),
    ),
    Mistake("softcap-left-out", "the softcap was left out", rewritten(capped=without_softcap)),
    Mistake(
        "softcap-after-mask",
        "the softcap was applied after the mask",
        rewritten(masked=softcap_after_mask),
    ),
    Mistake("mask-forgotten", "the mask was forgotten", rewritten(masked=without_mask)),
    _mask_mistake("mask-inverted", "the mask was inverted", inverted),
    _mask_mistake("mask-transposed", "the mask was transposed", with_i_and_j_exchanged),
    _mask_mistake("mask-hides-itself", "the mask hid each token from itself", hiding_itself),
    _mask_mistake("mask-sees-next", "the mask let each token see the next one", seeing_the_next),
    _mask_mistake("mask-other-corner", "the mask was aligned to the other corner", other_corner),
    Mistake(
        "hidden-set-to-0",
        "hidden scores were set to 0, not to -inf",
        rewritten(masked=hidden_set_to(number_node(0))),
    ),
    Mistake(
        "mask-after-softmax",
        "the mask was put on the weights, after the softmax",
        rewritten(masked=without_mask, weights=mask_on_weights),
    ),
    _mask_mistake(
        "mask-1-for-seen-added",
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        added_as_is(1, 0),
    ),
    _mask_mistake(
        "mask-1-for-hidden-added",
        "a mask of 0 for seen and 1 for hidden was added to the scores, as it is",
        added_as_is(0, 1),
    ),
    *(
        _mask_mistake(
            f"{in_id(text)}-added",
            f"{text} was added instead of -inf",
            hidden_by_adding(_number(text)),
        )
        for text in SENTINELS
    ),
    *(
        Mistake(
            f"hidden-set-to-{in_id(text)}",
            f"hidden scores were set to {text}, not to -inf",
            rewritten(masked=hidden_set_to(_number(text))),
        )
        for text in SENTINELS
    ),
    Mistake(
        "softmax-columns", "the softmax was taken down the columns", share_of("sum(p, exp[p, j])")
    ),
    Mistake(
        "softmax-whole-matrix",
        "the softmax was taken over the whole matrix",
        share_of("sum(p, sum(u, exp[p, u]))"),
    ),
    Mistake(
        "softmax-without-exponentials",
        "the scores were divided by their sum, without exponentials",
        equations("weights[i, j] = share(finite({logits}[i, j]), sum(u, finite({logits}[i, u])))"),
    ),
    Mistake(
        "softmax-by-largest",
        "the exponentials were divided by the largest of their row, not by their sum",
        equations(
            "row_sum[i] = max(j, exp[i, j])", "weights[i, j] = share(exp[i, j], max(u, exp[i, u]))"
        ),
        optional=("row_sum",),
    ),
    Mistake(
        "softmax-not-divided",
        "the exponentials were not divided by their sum",
        equations("weights[i, j] = exp[i, j]"),
    ),
    Mistake(
        "squares-for-exponentials",
        "squares were taken instead of exponentials",
        equations("exp[i, j] = finite({seen}[i, j]) ** 2"),
    ),
    Mistake("base-e", "the base was e, not the one given", base_e),
    *(
        Mistake(f"base-{in_id(number)}", f"{number} was used instead of e", base(number))
        for number in ("2", "3", "2.7", "2.71", "2.718", "10")
    ),
    Mistake(
        "a-x-for-a-v",
        "A X was worked out instead of A V",
        equations("{mixed}[i, c] = sum(j, weights[i, j] * {source}[j, c])"),
    ),
    Mistake(
        "a-k-for-a-v",
        "A K was worked out instead of A V",
        equations("{mixed}[i, c] = sum(j, weights[i, j] * K[j, c])"),
    ),
    Mistake(
        "a-q-for-a-v",
        "A Q was worked out instead of A V",
        equations("{mixed}[i, c] = sum(j, weights[i, j] * Q[j, c])"),
    ),
    Mistake(
        "a-transposed-v-for-a-v",
        "A^T V was worked out instead of A V",
        equations("{mixed}[i, c] = sum(j, weights[j, i] * V[j, c])"),
    ),
    *(
        Mistake(f"{step}-rounded-to-{decimals}", name, rounded(step, decimals))
        for (step, decimals), name in _ROUNDED_FIRST.items()
    ),
)
