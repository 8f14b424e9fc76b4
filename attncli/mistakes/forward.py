"""The mistakes people make in attention itself: each by its name, and what it changes in the
equations.

They stand in the order in which they can be made. A rewrite that only these need stands above the
list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attncli.equation.nodes import (
    Call,
    Expression,
    Name,
    Reduce,
    Ref,
    number_node,
    rename,
    rewrite,
)
from attncli.equation.parser import parse_expression
from attncli.mistakes.hidden_keys import causal_unasked, last_key_left_out
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
    transposed_before_heads,
    with_arrays,
    with_calls,
    with_i_and_j_exchanged,
    with_letters,
    without_bias,
)
from attncli.problem.matrix import Scalar
from attncli.problem.parts.axes import HEAD, KEY_HEAD
from attncli.tracing.model import Trace

TILED = "KV heads were tiled, not repeated"
NAMES_OF_DECIMALS = {0: "whole numbers", 1: "one decimal", 2: "2 decimals", 3: "3 decimals"}
_HALF_UPWARDS = 0.5 + 1e-9
_ROOT_OF_D_K = Call("sqrt", (Name("d_k"),))

# Heads, keys and values


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


def heads_reversed(expression: Expression, trace: Trace) -> Expression | None:
    """The outputs of the heads side by side from the last one to the first."""

    def other(head: Expression, feature: Expression) -> tuple[Expression, Expression]:
        last = number_node(trace["heads_output"].shape[-3] - 1)
        return Call("sub", (last, head)), feature

    return _joined(expression, trace, other)


def joined_by_features(expression: Expression, trace: Trace) -> Expression | None:
    """The first features of all heads side by side, then the second ones, and so on."""

    def other(head: Expression, feature: Expression) -> tuple[Expression, Expression]:
        heads = trace["heads_output"].shape[-3]
        return parse_expression(f"e % {heads}"), parse_expression(f"e // {heads}")

    return _joined(expression, trace, other)


def _joined(
    expression: Expression,
    trace: Trace,
    other: Callable[[Any, Any], tuple[Expression, Expression]],
) -> Expression | None:
    """The outputs of several heads side by side, with another head and feature of it in each
    place.
    """
    if not isinstance(expression, Ref) or trace["heads_output"].shape[-3] == 1:
        return None
    *leading, head, row, feature = expression.indices
    head, feature = other(head, feature)
    return replace(expression, indices=(*leading, head, row, feature))


def keys_for_values(trace: Trace) -> Changes:
    """K in the place of V, and V in that of K: where they are projected with biases, or wherever
    they are read.

    Nothing where they are projected without biases: then it is W_K and W_V that were swapped.
    """
    shapes = trace.shapes()
    if shapes["K"] != shapes["V"]:
        return {}
    projected = not trace.steps["K"].rule.given and not trace.steps["V"].rule.given
    if projected and "past_K" not in trace:
        if "b_K" not in trace and "b_V" not in trace:
            return {}
        return rewritten(K=_as_other("V"), V=_as_other("K"))(trace)
    exchanged = {"K": "V", "V": "K"}
    readers = [step.name for step in trace.computed() if {"K", "V"} & {*step.rule.inputs}]
    return rewritten(**dict.fromkeys(readers, lambda own, _: rename(own, exchanged)))(trace)


def _as_other(name: str) -> Rewrite:
    """The equation of V for K, or of K for V."""

    def function(_: Expression, trace: Trace) -> Expression:
        rule = trace.steps[name].rule
        column = "c" if name == "K" else "k"
        return with_letters(rule.equation.expression, {rule.target.letters[-1]: column})

    return function


def reshaped(expression: Expression, trace: Trace) -> Expression | None:
    """The numbers of K row by row, in the shape of its transpose."""
    m, d_k = trace["K"].shape[-2:]
    # Else the shapes are the same, or the numbers are.
    if m == d_k or 1 in (m, d_k) or not isinstance(expression, Ref):
        return None
    row, column = trace.steps["K_T"].rule.target.letters[-2:]
    place = f"({row} * {m} + {column})"
    token = parse_expression(f"{place} // {d_k}")
    feature = parse_expression(f"{place} % {d_k}")
    return replace(expression, indices=(*expression.indices[:-2], token, feature))


# Scores, scale, softmax and output


def scaled_once_more(expression: Expression, trace: Trace) -> Expression | None:
    """A step's result scaled as the scores are."""
    if "scaled" not in trace:
        return None
    if "scale" in trace.parameters:
        return Call("mul", (expression, Name("scale")))
    return Call("div", (expression, _ROOT_OF_D_K))


def scale_ignored(_: Expression, trace: Trace) -> Expression | None:
    """The scores divided by the root of d_k, where the problem gives another scale."""
    d_k = trace.parameters["d_k"]
    assert isinstance(d_k, Scalar)
    given = trace.settings.scale
    if "scale" not in trace.parameters or given is None:
        return None
    if math.isclose(given, 1 / math.sqrt(d_k.value)):
        return None
    scores = trace.steps["scores"].rule.target
    return Call("div", (scores, _ROOT_OF_D_K))


def divided_by_scale(_: Expression, trace: Trace) -> Expression | None:
    """The scores divided by the scale that the problem gives."""
    given = trace.settings.scale
    if "scale" not in trace.parameters or given is None or math.isclose(abs(given), 1):
        return None
    return Call("div", (trace.steps["scores"].rule.target, Name("scale")))


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


def share_of(total: str, largest: str) -> Change:
    """Weights that are shares of another sum; its scores are not shifted by the largest of a row.

    Where exponentials of the scores as they are would overflow, they are shifted by the `largest`
    of those that are added.
    """
    shares = equations(f"weights[i, j] = share(exp[i, j], {total})")
    plain = equations("exp[i, j] = exp({logits}[i, j])")
    shifted = equations(f"exp[i, j] = exp({{logits}}[i, j] - {largest})")

    def change(trace: Trace) -> Changes:
        if not trace.shifted:
            return shares(trace)
        exponentials = shifted if _overflows(trace) else plain
        return {**exponentials(trace), **shares(trace)}

    return change


def over_heads(trace: Trace) -> Changes:
    """Weights that are shares of what all heads have at a cell together."""
    letters = trace.steps["exp"].rule.target.letters
    if HEAD not in letters or trace["weights"].shape[-3] == 1:
        return {}

    def function(expression: Expression, _: Trace) -> Expression:
        exp = trace.steps["exp"].rule.target
        total = Reduce("add", "p", with_letters(exp, {HEAD: "p"}))
        return rewrite(expression, lambda node: total if _is_row_sum(node) else node)

    plain = equations("exp[i, j] = exp({logits}[i, j])")(trace) if trace.shifted else {}
    return {**plain, **rewritten(weights=function)(trace)}


def _is_row_sum(node: Expression) -> bool:
    return isinstance(node, Ref) and node.name == "row_sum"


def without_shift(trace: Trace) -> Changes:
    """The exponentials of the scores as they are, where floats cannot hold them or their sum."""
    if not trace.shifted or not _overflows(trace):
        return {}
    logits = trace.logits
    return any_of(
        rewritten(exp=lambda own, _: rename(own, {"shifted": logits})),
        rewritten(row_sum=lambda own, _: rewrite(own, _unshifted_sink)),
        rewritten(weights=with_calls("share", lambda arguments: Call("div", arguments))),
    )(trace)


def shifted_by_all(trace: Trace) -> Changes:
    """The exponentials of scores that are shifted by the largest of all rows, where those of a row
    are all 0 then.
    """
    if not trace.shifted or "sink" in {*trace.parameters, *trace}:
        return {}
    top = trace["row_max"][np.isfinite(trace["row_max"])]
    with np.errstate(under="ignore"):
        least = np.exp(top.min(initial=0) - top.max(initial=0))
    if least > 0:
        return {}
    letters = trace.steps[trace.logits].rule.target.letters
    # Letters that mean nothing else.
    others = dict(zip(letters, "wxyz", strict=False))
    largest: Expression = Ref(trace.logits, tuple(others.values()))
    for letter in others.values():
        largest = Reduce("max", letter, largest)

    def of_all(node: Expression) -> Expression:
        is_of_row = isinstance(node, Ref) and node.name == "row_max"
        return largest if is_of_row else node

    return all_of(
        rewritten(shifted=lambda own, _: rewrite(own, of_all)),
        rewritten(weights=with_calls("share", lambda arguments: Call("div", arguments))),
    )(trace)


def softmax_twice(trace: Trace) -> Changes:
    """The softmax of the weights in the place of the weights."""
    power = "exp_base ** " if "exp_base" in trace.parameters else "exp"
    part, parts = (f"{power}(share(exp[i, {letter}], row_sum[i]))" for letter in ("j", "u"))
    return equations(f"weights[i, j] = {part} / sum(u, {parts})")(trace)


def with_1_in_sums(trace: Trace) -> Changes:
    """Shares of the sum of a row and 1, as if there were a sink of 0."""
    if "sink" in {*trace.parameters, *trace}:
        return {}
    one = "1"
    if trace.shifted:
        power = "exp_base ** " if "exp_base" in trace.parameters else "exp"
        one = f"{power}(-finite(row_max[i]))"
    return equations(
        f"row_sum[i] = sum(j, exp[i, j]) + {one}",
        f"weights[i, j] = share(exp[i, j], sum(u, exp[i, u]) + {one})",
    )(trace)


def _unshifted_sink(node: Expression) -> Expression:
    match node:
        case Call("sub", (sink, Call(function="finite"))):
            return sink
        case _:
            return node


def _overflows(trace: Trace) -> bool:
    """Whether an exponential of the scores as they are is infinite, or all of a row are 0."""
    given = trace.parameters.get("exp_base")
    base = given.value if isinstance(given, Scalar) else math.e
    top = trace["row_max"]
    with np.errstate(over="ignore", under="ignore"):
        largest = base ** top[np.isfinite(top)]
    return bool(np.isinf(largest).any() or (largest == 0).any())


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


def with_rows_added(name: str) -> Rewrite:
    """The output with rows of an array of its shape added to it."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if name not in trace:
            return None
        cell = trace.steps["output"].rule.target
        rows = trace.steps[name].rule.target
        before_rows = rows.indices[:-2]
        only_of_output = {*cell.indices[:-2]} - {*before_rows}
        # The entries of a batch may all have the same rows, heads not.
        if not {*before_rows} <= {*cell.indices} or HEAD in only_of_output:
            return None
        if trace[name].shape[-2:] != trace["output"].shape[-2:]:
            return None
        return Call("add", (expression, Ref(name, (*before_rows, *cell.indices[-2:]))))

    return function


_UNSCALED = equations("scaled[i, j] = scores[i, j]")


def without_w_o(trace: Trace) -> Changes:
    """The output as it was before W_O."""
    if "W_O" not in trace:
        return {}
    before = "concat[i, o]" if "concat" in trace else "heads_output[i, o]"
    return equations(f"output[i, o] = {before}")(trace)


# All of them


_TRANSPOSED = {
    name: first_of(
        rewritten(**{name[2:]: transposed(name)}),
        rewritten(**{name[2:]: transposed_before_heads(name)}),
    )
    for name in ("W_Q", "W_K", "W_V")
}

_ROUNDED_FIRST = {
    (step, decimals): f"{title} were rounded to {text} first"
    for step, title in (
        ("scores", "the scores"),
        ("scaled", "the scaled scores"),
        ("weights", "the weights"),
    )
    for decimals, text in NAMES_OF_DECIMALS.items()
}


def rounded_first(step: str, decimals: int) -> str:
    """What it is called that the numbers of a step were rounded to so many decimals, and then
    written with more.
    """
    return _roundings(step)[decimals]


def decimals_of_rounding(step: str, name: str) -> int:
    """To how many decimals a step is rounded where that is called so."""
    return next(decimals for decimals, called in _roundings(step).items() if called == name)


def roundings_of(step: str) -> set[str]:
    """What it is called that the numbers of a step were rounded first, to however many decimals."""
    return {*_roundings(step).values()}


def _roundings(step: str) -> dict[int, str]:
    """The names of roundings, by their decimals; in most steps they are no mistakes of the list."""
    named = {}
    for decimals, text in NAMES_OF_DECIMALS.items():
        other = f"the numbers were rounded to {text} first"
        named[decimals] = _ROUNDED_FIRST.get((step, decimals), other)
    return named


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
        "heads-joined-in-reverse",
        "heads were joined in reverse order",
        rewritten(concat=heads_reversed),
    ),
    Mistake(
        "heads-joined-by-features",
        "heads were joined feature by feature",
        rewritten(concat=joined_by_features),
    ),
    Mistake("k-v-exchanged", "K and V were exchanged", keys_for_values),
    Mistake(
        "k-q-for-q-k",
        "K Q^T was worked out instead of Q K^T",
        rewritten(scores=with_i_and_j_exchanged),
    ),
    Mistake("k-not-transposed", "K was not transposed", equations("K_T[k, j] = K[k, j]")),
    Mistake("k-reshaped", "K was reshaped, not transposed", rewritten(K_T=reshaped)),
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
            ("X X^T", "sum(d, {input}[i, d] * {source}[j, d])"),
            ("Q W_K^T", "sum(k, Q[i, k] * W_K[j, k])"),
        )
    ),
    Mistake("kv-heads-tiled", TILED, heads_tiled),
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
        "scale-root-m",
        "the scores were divided by the root of the number of keys",
        equations("scaled[i, j] = scores[i, j] / sqrt({m})"),
        unlike="scale-root-n",
    ),
    Mistake(
        "scale-root-all-heads",
        "the scores were divided by the root of d_k of all heads together",
        equations("scaled[i, j] = scores[i, j] / sqrt({joined})"),
    ),
    Mistake(
        "scale-root-heads",
        "the scores were divided by the root of the number of heads",
        equations("scaled[i, j] = scores[i, j] / sqrt({heads})"),
    ),
    Mistake(
        "scale-ignored",
        "the scores were divided by the root of d_k, not scaled as the problem says",
        rewritten(scaled=scale_ignored),
    ),
    Mistake(
        "scale-divided",
        "the scores were divided by the scale of the problem, not multiplied by it",
        rewritten(scaled=divided_by_scale),
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
    Mistake(
        "causal-unasked",
        "a causal mask was applied that the problem does not ask for",
        causal_unasked(from_last=False),
    ),
    Mistake(
        "causal-unasked-from-last",
        "a causal mask from the last token was applied that the problem does not ask for",
        causal_unasked(from_last=True),
    ),
    Mistake("last-key-left-out", "the last key was left out", last_key_left_out),
    Mistake(
        "softmax-columns",
        "the softmax was taken down the columns",
        any_of(
            share_of("sum(p, exp[p, j])", "max(p, {logits}[p, j])"),
            equations("row_sum[i] = sum(p, exp[p, i])"),
        ),
        optional=("row_sum",),
    ),
    Mistake("softmax-heads", "the softmax was taken over the heads", over_heads),
    Mistake(
        "softmax-whole-matrix",
        "the softmax was taken over the whole matrix",
        any_of(
            share_of("sum(p, sum(u, exp[p, u]))", "max(p, max(u, {logits}[p, u]))"),
            equations("row_sum[i] = sum(p, sum(u, exp[p, u]))"),
        ),
        optional=("row_sum",),
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
        "softmax-left-out",
        "the softmax was left out: the scores were taken as weights",
        equations("weights[i, j] = finite({logits}[i, j])"),
    ),
    Mistake("softmax-twice", "the softmax was taken twice", softmax_twice),
    Mistake(
        "softmax-plus-1",
        "1 was added to the sum of the exponentials",
        with_1_in_sums,
        optional=("row_sum",),
    ),
    Mistake(
        "shift-left-out",
        "the exponentials were taken without a shift, and overflowed",
        without_shift,
    ),
    Mistake(
        "shift-by-all",
        "the scores were shifted by the largest of all rows, and exponentials became 0",
        shifted_by_all,
    ),
    Mistake(
        "squares-for-exponentials",
        "squares were taken instead of exponentials",
        equations("exp[i, j] = finite({logits}[i, j]) ** 2"),
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
        Mistake(
            f"{in_id(name)}-added-to-output",
            f"{name} was added to the output",
            rewritten(output=with_rows_added(name)),
        )
        for name in ("X", "Q")
    ),
    *(
        Mistake(f"{step}-rounded-to-{decimals}", name, rounded(step, decimals))
        for (step, decimals), name in _ROUNDED_FIRST.items()
    ),
)
