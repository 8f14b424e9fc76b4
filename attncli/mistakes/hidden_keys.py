"""Keys that a solution hides though the problem does not: those behind a query, or the last one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from attncli.equation.nodes import Call, Expression, Name, Number, Ref, number_node, rewrite, walk
from attncli.equation.parser import parse_expression
from attncli.mistakes.model import Change, Changes, any_of, rewritten
from attncli.tracing.model import Trace

_MINUS_INFINITY = Number(-math.inf, "-inf")


def causal_unasked(*, from_last: bool) -> Change:
    """A causal mask that the problem does not ask for; positions are counted `from_last`, or from
    the first token.

    Nothing where a mask of the problem is about positions itself: then it is that one which is
    wrong.
    """

    def shown(trace: Trace) -> str | None:
        n, m = trace["weights"].shape[-2:]
        offset = m - n if from_last else 0
        # From either end it is the same with as many queries as keys, and a cache has one end.
        is_other = n != m if from_last else "past_K" not in trace
        if not is_other or _is_of_positions(trace):
            return None
        if not _hides_more(trace, ~np.tri(n, m, offset, dtype=bool)):
            return None
        return f"j <= i + {offset}" if offset else "j <= i"

    return _hiding(shown)


def _last_key(trace: Trace) -> str | None:
    n, m = trace["weights"].shape[-2:]
    hidden = np.zeros((n, m), bool)
    hidden[:, -1] = True
    if m == 1 or not _hides_more(trace, hidden):
        return None
    return f"j < {m - 1}"


def _is_of_positions(trace: Trace) -> bool:
    """Whether the mask says that a key stands before or behind a query."""
    if "mask" not in trace or trace.steps["mask"].rule.expression is None:
        return False
    nodes = walk(trace.steps["mask"].rule.equation.expression)
    return any(
        isinstance(node, Call) and node.function in ("le", "ge") and node.arguments[0] == Name("j")
        for node in nodes
    )


def _hides_more(trace: Trace, hidden: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> bool:
    """Whether a query sees one of these keys."""
    if "masked" not in trace:
        return bool(hidden.any())
    return bool((hidden & ~np.isneginf(trace["masked"])).any())


def _hiding(shown: Callable[[Trace], str | None]) -> Change:
    """The keys of which `shown` says no are hidden besides, in the masked scores, or else where
    exponentials are taken.
    """

    def change(trace: Trace) -> Changes:
        said = shown(trace)
        if said is None:
            return {}
        condition = parse_expression(said)

        def hidden(own: Expression, _: Trace) -> Expression:
            return Call("where", (condition, own, _MINUS_INFINITY))

        def without_power(own: Expression, _: Trace) -> Expression:
            return Call("where", (condition, own, number_node(0)))

        def in_largest(own: Expression, trace: Trace) -> Expression:
            def of_logits(node: Expression) -> Expression:
                is_logit = isinstance(node, Ref) and node.name == trace.logits
                return hidden(node, trace) if is_logit else node

            return rewrite(own, of_logits)

        if "masked" in trace:
            return rewritten(masked=hidden)(trace)
        return any_of(rewritten(row_max=in_largest), rewritten(exp=without_power))(trace)

    return change


last_key_left_out = _hiding(_last_key)
