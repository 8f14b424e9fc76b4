"""The mistakes people make in attention: each by its name, and what it changes in the equations, in one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from attncli.attention.positions import rotated
from attncli.equation.parse import parse_expression
from attncli.equation.tree import Call, Expression, Name, Number, Ref, names_used, rewrite, walk, whole
from attncli.problem.axes import HEAD
from attncli.problem.keys import Pairing
from attncli.study.changes import (
    Change,
    Changes,
    called,
    exchanged,
    hidden,
    logits,
    relettered,
    renamed,
    said,
    together,
    transposed,
    turned,
)
from attncli.tracing.model import Trace

_HIDDEN = Number(-math.inf, "-inf")
SENTINELS = ("-1e9", "-1e4", "-9999", "-1000", "-100", "-10", "-1")
DECIMALS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Mistake:
    """`name` is what was done, as in "the scores were not scaled"; `change` gives the other equations for a trace.

    `change` gives nothing where the mistake cannot be made, or is none: no mask can be forgotten where there is none.
    """

    name: str
    change: Change


def _summed(name: str, letter: str) -> Change:
    """Softmax over something else: of the scores themselves, where the trace shifts them by the maximum of a row."""

    def change(trace: Trace) -> Changes:
        plain = said("exp[i, j] = exp({logits}[i, j])")(trace) if trace.shifted else {}
        return {**plain, **said(letter)(trace)}

    return change


def _unmasked(expression: Expression, trace: Trace) -> Expression | None:
    """The masked scores without the mask, and with the bias of positions where there is one."""
    return _shown(expression) if "mask" in trace else None


def _shown(expression: Expression) -> Expression:
    match expression:
        case Call(function="add_mask", arguments=(scores, _)):
            return scores
    return expression


def _filled(value: Callable[[Trace], Expression | None]) -> Callable[[Expression, Trace], Expression | None]:
    """The masked scores with a number put in place of every one that is hidden."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        scores, number = _shown(expression), value(trace)
        if number is None:
            return None
        return hidden(trace, lambda added: scores if added == whole(0) else Call("add", (scores, added)), number)

    return function


def _mask_of(number: Expression) -> Callable[[Expression, Trace], Expression | None]:
    """The mask with another number for what it hides."""
    return lambda _, trace: hidden(trace, lambda added: added, number)


def _inverted(_: Expression, trace: Trace) -> Expression | None:
    return hidden(trace, lambda _: _HIDDEN, whole(0))


def _after(weights: Expression, trace: Trace) -> Expression | None:
    return hidden(trace, lambda _: weights, whole(0))


def _strictly(expression: Expression, _: Trace) -> Expression | None:
    """j < i for j <= i."""

    def less(arguments: tuple[Expression, ...]) -> Expression:
        return Call("lt" if arguments[0] == Name("j") else "le", arguments)

    return called("le", less)(expression, _)


def _cornered(expression: Expression, trace: Trace) -> Expression | None:
    """Positions counted from the other corner: i for i + offset, or i + (m - n) for i."""
    n, m = trace["weights"].shape[-2:]
    if "offset" not in trace.parameters:
        return relettered(expression, {"i": Call("add", (Name("i"), whole(m - n)))}) if _counts(expression) else None
    is_offset = (Name("offset"), Ref("offset", ("b",)))
    return called("add", lambda terms: terms[0] if terms[1] in is_offset else Call("add", terms))(expression, trace)


def _counts(expression: Expression) -> bool:
    """Whether a mask goes by positions alone; an array that has rows cannot be moved."""
    return not names_used(expression)


def _times_scale(operator: str) -> Callable[[Expression, Trace], Expression | None]:
    """A step's result scaled once more, or the other way round."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if "scaled" not in trace:
            return None
        given = "scale" in trace.parameters
        factor = Name("scale") if given else Call("sqrt", (Name("d_k"),))
        other = {"mul": "div", "div": "mul"}
        return Call(operator if not given else other[operator], (expression, factor))

    return function


def _other_pairing(name: str) -> Change:
    def change(trace: Trace) -> Changes:
        if name not in trace:
            return {}
        pairing: Pairing = "interleaved" if trace.settings.pairing == "half" else "half"
        shift = " + past" if name == "Q_rot" and "past" in trace.parameters else ""
        half = str(trace["K"].shape[-1] // 2)
        equation = rotated(name, pairing, shift).source
        assert equation is not None
        return said(equation.replace("half", half))(trace)

    return change


def _tiled(expression: Expression, trace: Trace) -> Expression | None:
    """KV head h mod their number for query head h, in place of h // group."""
    if "group" not in trace.parameters:
        return None
    own, other = parse_expression(f"{HEAD} // group"), parse_expression(f"{HEAD} % {trace['K'].shape[-3]}")

    def change(node: Expression) -> Expression:
        return other if node == own else node

    return rewrite(expression, change)


def _split_by_rows(name: str) -> Callable[[Expression, Trace], Expression | None]:
    """Heads cut out of the rows laid end to end, without the axis of heads being moved before that of rows."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        letters = trace.steps[name].rule.target.letters
        head, row = letters[-3:-1] if len(letters) > 2 else ("", "")
        if head not in ("h", "g") or "concat" not in trace:
            return None
        heads, rows = trace[name].shape[-3:-1]
        place = f"({head} * {rows} + {row})"
        return relettered(
            expression,
            {head: parse_expression(f"{place} % {heads}"), row: parse_expression(f"{place} // {heads}")},
        )

    return function


def _joined_by_rows(expression: Expression, trace: Trace) -> Expression | None:
    """Outputs of heads laid end to end and cut into rows."""
    heads, rows, width = trace["heads_output"].shape[-3:]
    place = f"(i * {heads * width} + e)"
    indices = (f"{place} // {rows * width}", f"{place} // {width} % {rows}", f"{place} % {width}")
    leading = trace.steps["heads_output"].rule.target.indices[:-3]
    return Ref("heads_output", (*leading, *map(parse_expression, indices)))


def _rounded(name: str, decimals: int) -> Change:
    """A step's true numbers, rounded."""

    def change(trace: Trace) -> Changes:
        if name not in trace or trace.steps[name].rule.given:
            return {}
        unit = Decimal(1).scaleb(-decimals)
        with np.errstate(all="ignore"):
            value = trace[name]
        if not np.isfinite(value).all():
            return {}
        rounded = np.vectorize(lambda one: float(Decimal(repr(float(one))).quantize(unit, ROUND_HALF_UP)))(value)
        return {name: rounded}

    return change


def _mixing(name: str) -> Change:
    return said(f"{{mixed}}[i, c] = sum(j, weights[i, j] * {name}[j, c])")


def _scaled(how: str) -> Change:
    return said(f"scaled[i, j] = {how}")


def _on_the_mask(function: Callable[[Expression, Trace], Expression | None]) -> Change:
    return exchanged(mask=function)


_UNSCALED = _scaled("scores[i, j]")
_FORGOTTEN = exchanged(masked=_unmasked)
_TRANSPOSED = {name: exchanged(**{name[2:]: transposed(name)}) for name in ("W_Q", "W_K", "W_V")}
_WHERE_DECIMALS = {0: "whole numbers", 1: "one decimal"}

MISTAKES: tuple[Mistake, ...] = (
    Mistake("W_Q and W_K were swapped", exchanged(Q=renamed(W_Q="W_K"), K=renamed(W_K="W_Q"))),
    Mistake("W_K and W_V were swapped", exchanged(K=renamed(W_K="W_V"), V=renamed(W_V="W_K"))),
    Mistake("W_Q and W_V were swapped", exchanged(Q=renamed(W_Q="W_V"), V=renamed(W_V="W_Q"))),
    Mistake("W_Q, W_K and W_V were transposed", together(*_TRANSPOSED.values())),
    *(Mistake(f"{name} was transposed", change) for name, change in _TRANSPOSED.items()),
    Mistake("W_O was transposed", exchanged(output=transposed("W_O"))),
    Mistake("a bias was left out of Q", exchanged(Q=called("add", lambda terms: terms[0]))),
    Mistake("a bias was left out of K", exchanged(K=called("add", lambda terms: terms[0]))),
    Mistake("a bias was left out of V", exchanged(V=called("add", lambda terms: terms[0]))),
    Mistake(
        "heads were split by rows, without moving their axis",
        together(*(exchanged(**{name: _split_by_rows(name)}) for name in "QKV")),
    ),
    Mistake("heads were joined without moving their axis back", exchanged(concat=_joined_by_rows)),
    Mistake("RoPE turned the other pairs of features", together(_other_pairing("Q_rot"), _other_pairing("K_rot"))),
    Mistake("RoPE was left out", said("Q_rot[i, k] = Q[i, k]", "K_rot[j, k] = K[j, k]")),
    Mistake("RoPE turned the other way", exchanged(angles=lambda own, _: Call("neg", (own,)))),
    Mistake("K Q^T was worked out in place of Q K^T", exchanged(scores=turned)),
    Mistake("K was not transposed", said("K_T[k, j] = K[k, j]")),
    Mistake(
        "KV heads were tiled, not repeated",
        lambda trace: {
            name: found
            for step in ("scores", "heads_output", "output")
            for name, found in exchanged(**{step: _tiled})(trace).items()
        },
    ),
    Mistake("the scores were not scaled", _UNSCALED),
    Mistake("the scores were divided by d_k, not by its root", _scaled("scores[i, j] / d_k")),
    Mistake("the scores were scaled twice", exchanged(scaled=_times_scale("div"))),
    Mistake("the scores were divided by the root of d_model", _scaled("scores[i, j] / sqrt({d_model})")),
    Mistake("the scores were divided by the root of n", _scaled("scores[i, j] / sqrt({n})")),
    Mistake("the scores were divided by the root of d_k of all heads", _scaled("scores[i, j] / sqrt({joined})")),
    Mistake("the scores were multiplied by the root of d_k", _scaled("scores[i, j] * sqrt(d_k)")),
    Mistake("the scale was applied after the softmax", together(_UNSCALED, exchanged(weights=_times_scale("div")))),
    Mistake("the softcap was left out", exchanged(capped=lambda own, _: next(
        node for node in _cells(own)))),
    Mistake("the softcap was applied after the mask", exchanged(masked=lambda own, trace: _capped_last(own, trace))),
    Mistake("the mask was forgotten", _FORGOTTEN),
    Mistake("the mask was inverted", _on_the_mask(_inverted)),
    Mistake("the mask was transposed", _on_the_mask(turned)),
    Mistake("the mask hid each token from itself", _on_the_mask(_strictly)),
    Mistake("the mask was aligned to the other corner", _on_the_mask(_cornered)),
    Mistake("hidden scores were set to 0, not to -inf", exchanged(masked=_filled(lambda _: whole(0)))),
    Mistake("the mask was put on the weights, after the softmax", together(_FORGOTTEN, exchanged(weights=_after))),
    *(
        Mistake(f"{text} was added in place of -inf", _on_the_mask(_mask_of(parse_expression(text))))
        for text in SENTINELS
    ),
    *(
        Mistake(
            f"hidden scores were set to {text}, not to -inf",
            exchanged(masked=_filled(lambda _, text=text: parse_expression(text))),  # type: ignore[misc]
        )
        for text in SENTINELS
    ),
    Mistake("the softmax was taken down the columns",
        _summed("weights", "weights[i, j] = share(exp[i, j], sum(p, exp[p, j]))")),
    Mistake("the softmax was taken over the whole matrix",
        _summed("weights", "weights[i, j] = share(exp[i, j], sum(p, sum(u, exp[p, u])))")),
    Mistake("the scores were divided by their sum, without exponentials",
        said("weights[i, j] = share(finite({logits}[i, j]), sum(u, finite({logits}[i, u])))")),
    Mistake("the base was e, not the one given",
        lambda trace: said("exp[i, j] = exp({seen}[i, j])".replace("{seen}", _seen(trace)))(trace)),
    *(
        Mistake(f"{base} was taken for e", lambda trace, base=base: said(  # type: ignore[misc]
            f"exp[i, j] = {base} ** {_seen(trace)}[i, j]")(trace))
        for base in ("2", "3", "2.7", "2.71", "2.718", "10")
    ),
    Mistake("A X was worked out in place of A V", _mixing("{source}")),
    Mistake("A K was worked out in place of A V", _mixing("K")),
    Mistake("A Q was worked out in place of A V", _mixing("Q")),
    Mistake("A^T V was worked out in place of A V", said("{mixed}[i, c] = sum(j, weights[j, i] * V[j, c])")),
    *(
        Mistake(f"{title} were rounded to {_WHERE_DECIMALS.get(decimals, f'{decimals} decimals')} first",
            _rounded(name, decimals))
        for name, title in (("scores", "the scores"), ("scaled", "the scaled scores"), ("weights", "the weights"))
        for decimals in DECIMALS
    ),
)  # fmt: skip


def _seen(trace: Trace) -> str:
    return "shifted" if trace.shifted else logits(trace)


def _cells(expression: Expression) -> list[Ref]:
    return [node for node in walk(expression) if isinstance(node, Ref)]


def _capped_last(own: Expression, trace: Trace) -> Expression | None:
    """The mask added first, and all of it bent: what is hidden becomes -softcap."""
    if "capped" not in trace or "mask" not in trace or not isinstance(own, Call):
        return None
    before = _cells(trace.steps["capped"].rule.equation.expression)[0]
    softcap = Name("softcap")
    added = Call("add_mask", (before, own.arguments[1]))
    return Call("mul", (softcap, Call("tanh", (Call("div", (added, softcap)),))))
