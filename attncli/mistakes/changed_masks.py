"""What mistakes with a mask change: the mask itself, what it is put on, and what hides a key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from attncli.equation.nodes import Call, Expression, Name, Number, Ref, names_used, walk, whole
from attncli.mistakes.changes import Function
from attncli.mistakes.exchanges import called, relettered
from attncli.tracing.model import Trace

_HIDDEN = Number(-math.inf, "-inf")


def _where_shown(trace: Trace, shown: Callable[[Expression], Expression], value: Expression) -> Expression | None:
    """`shown` of the mask where a key is visible, and the value elsewhere; None without a mask."""
    if "mask" not in trace:
        return None
    mask = trace.steps["mask"].rule.equation.expression
    return Call("where", (Call("eq", (mask, _HIDDEN)), value, shown(mask)))


def forgotten(expression: Expression, trace: Trace) -> Expression | None:
    """The masked scores without the mask, and with the bias of positions where there is one."""
    return _unmasked(expression) if "mask" in trace else None


def _unmasked(expression: Expression) -> Expression:
    match expression:
        case Call(function="add_mask", arguments=(scores, _)):
            return scores
    return expression


def filled(value: Expression) -> Function:
    """The masked scores with a number put in place of every one that is hidden."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        scores = _unmasked(expression)
        return _where_shown(trace, lambda added: Call("add", (scores, added)), value)

    return function


def hiding_by(value: Expression) -> Function:
    """The mask with another number than -inf."""
    return lambda _, trace: _where_shown(trace, lambda added: added, value)


def inverted(_: Expression, trace: Trace) -> Expression | None:
    """The mask that hides what is visible."""
    return _where_shown(trace, lambda _: _HIDDEN, whole(0))


def on_the_weights(weights: Expression, trace: Trace) -> Expression | None:
    """The weights with 0 wherever the mask hides a key."""
    return _where_shown(trace, lambda _: weights, whole(0))


def strictly_before(expression: Expression, trace: Trace) -> Expression | None:
    """j < i for j <= i."""
    return called("le", lambda sides: Call("lt" if sides[0] == Name("j") else "le", sides))(expression, trace)


def other_corner(expression: Expression, trace: Trace) -> Expression | None:
    """Positions counted from the other corner: i for i + offset, or i + (m - n) for i; no array is moved."""
    if "offset" in trace.parameters:
        offsets = (Name("offset"), Ref("offset", ("b",)))
        return called("add", lambda sides: sides[0] if sides[1] in offsets else Call("add", sides))(expression, trace)
    if names_used(expression):
        return None
    n, m = trace["weights"].shape[-2:]
    if n == m:
        return None
    moved: Mapping[str, Expression] = {"i": Call("add", (Name("i"), whole(m - n)))}
    return relettered(expression, moved)


def capped_last(expression: Expression, trace: Trace) -> Expression | None:
    """The mask added first, and all of it bent: what is hidden becomes -softcap."""
    if "capped" not in trace or "mask" not in trace or not isinstance(expression, Call):
        return None
    before = uncapped(trace.steps["capped"].rule.equation.expression, trace)
    softcap = Name("softcap")
    masked = Call("add_mask", (before, expression.arguments[1]))
    return Call("mul", (softcap, Call("tanh", (Call("div", (masked, softcap)),))))


def uncapped(expression: Expression, _: Trace) -> Expression:
    """What a softcap is put on."""
    return next(node for node in walk(expression) if isinstance(node, Ref))
