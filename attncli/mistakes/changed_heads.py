"""What mistakes with heads and positions change: which head reads which cells, and which features RoPE turns."""

from __future__ import annotations

from attncli.attention.positions import rotated
from attncli.equation.nodes import Expression, Ref, rewrite
from attncli.equation.parser import parse_expression
from attncli.mistakes.changes import Change, Changes, exchanged, said
from attncli.mistakes.exchanges import relettered
from attncli.problem.axes import HEAD, KEY_HEAD
from attncli.problem.keys import Pairing
from attncli.tracing.model import Trace


def tiled(trace: Trace) -> Changes:
    """KV head h mod their number for query head h, in place of h // group, in every step that reads them, both ways."""
    if "group" not in trace.parameters:
        return {}
    kv_heads = trace["K"].shape[-3]
    others = {f"{HEAD} // group": f"{HEAD} % {kv_heads}", f"{KEY_HEAD} * group + q": f"q * {kv_heads} + {KEY_HEAD}"}
    served = {parse_expression(own): parse_expression(other) for own, other in others.items()}

    def function(expression: Expression, _: Trace) -> Expression:
        return rewrite(expression, lambda node: served.get(node, node))

    changes = [exchanged(**{step.name: function})(trace) for step in trace.computed()]
    return {name: change for each in changes for name, change in each.items()}


def split_by_rows(name: str) -> Change:
    """Heads cut out of all rows laid end to end, without the axis of heads being moved before that of rows."""

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
        moved = {head: parse_expression(f"{place} % {heads}"), row: parse_expression(f"{place} // {heads}")}
        return exchanged(**{name: lambda own, _: relettered(own, moved)})(trace)

    return change


def joined_by_rows(_: Expression, trace: Trace) -> Expression:
    """The outputs of all heads laid end to end, and cut into rows."""
    heads, rows, width = trace["heads_output"].shape[-3:]
    place = f"(i * {heads * width} + e)"
    own = (f"{place} // {rows * width}", f"{place} // {width} % {rows}", f"{place} % {width}")
    leading = trace.steps["heads_output"].rule.target.indices[:-3]
    return Ref("heads_output", (*leading, *map(parse_expression, own)))


def other_pairs(name: str) -> Change:
    """Q_rot or K_rot with neighbours turned for halves, or halves for neighbours."""

    def change(trace: Trace) -> Changes:
        if name not in trace:
            return {}
        pairing: Pairing = "interleaved" if trace.settings.pairing == "half" else "half"
        shift = " + past" if name == "Q_rot" and "past" in trace.parameters else ""
        equation = rotated(name, pairing, shift).source
        assert equation is not None
        return said(equation.replace("half", str(trace["K"].shape[-1] // 2)))(trace)

    return change
