"""The mistakes people make with the positions that a problem gives to RoPE: of packed or padded
texts, of the entries of a batch, and of the time, height and width of a token.
"""

from __future__ import annotations

from typing import NamedTuple

from attncli.equation.nodes import Call, Expression, Ref, number_node, rewrite
from attncli.equation.parser import parse_expression
from attncli.mistakes.model import Change, Changes, Mistake, Rewrite, equations, rewritten
from attncli.tracing.model import Trace

# Where queries and keys stand, by the names of arrays.
_PLACES = frozenset(
    f"{letter}_{word}" for letter in "QK" for word in ("positions", "time", "height", "width")
)


def rows_from_0(trace: Trace) -> Changes:
    """The queries and keys at the positions where they stand in their rows."""
    if "Q_angles" not in trace:
        return {}
    past = trace["past_K"].shape[-2] if "past_K" in trace else 0
    row = f"(i + {past})" if past else "i"
    return equations(
        f"Q_angles[i, r] = {row} * frequencies[r]", "K_angles[j, r] = j * frequencies[r]"
    )(trace)


def one_position_further(expression: Expression, _: Trace) -> Expression:
    """The position of each token and 1."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name in _PLACES:
            return Call("add", (node, number_node(1)))
        return node

    return rewrite(expression, change)


def of_first_entry(expression: Expression, _: Trace) -> Expression:
    """The positions of the first entry for all of them."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name in _PLACES and len(node.indices) > 1:
            return Ref(node.name, (number_node(0), *node.indices[1:]))
        return node

    return rewrite(expression, change)


class _Angles(NamedTuple):
    """The angle of a pair by its position on each axis, and whether pairs turn by turns."""

    by_time: Expression
    by_height: Expression
    by_width: Expression
    interleaved: bool


def _angles(expression: Expression) -> _Angles | None:
    """The parts of an equation of angles; None where each token has a single position."""
    match expression:
        case Call("where", (Call("and_"), height, Call("where", (_, width, time)))):
            return _Angles(time, height, width, interleaved=True)
        case Call("where", (_, time, Call("where", (_, height, width)))):
            return _Angles(time, height, width, interleaved=False)
        case _:
            return None


def by_time_alone(expression: Expression, _: Trace) -> Expression | None:
    """All pairs by the time."""
    found = _angles(expression)
    return None if found is None else found.by_time


def in_other_layout(expression: Expression, _: Trace) -> Expression | None:
    """Time, height and width by turns for blocks of pairs, or the other way round."""
    found = _angles(expression)
    if found is None:
        return None
    if found.interleaved:
        first, second = "r < time_pairs", "r < time_pairs + height_pairs"
        choices = (found.by_time, found.by_height, found.by_width)
    else:
        first = "r % 3 == 1 and r < 3 * height_pairs"
        second = "r % 3 == 2 and r < 3 * width_pairs"
        choices = (found.by_height, found.by_width, found.by_time)
    one, other, last = choices
    otherwise = Call("where", (parse_expression(second), other, last))
    return Call("where", (parse_expression(first), one, otherwise))


def with_axes_exchanged(expression: Expression, _: Trace) -> Expression | None:
    """The height for the width, and the width for the height."""
    found = _angles(expression)
    if found is None:
        return None
    others = {found.by_height: found.by_width, found.by_width: found.by_height}
    return rewrite(expression, lambda node: others.get(node, node))


def _of_both(function: Rewrite) -> Change:
    return rewritten(Q_angles=function, K_angles=function)


GIVEN_POSITION_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "rope-positions-ignored",
        "RoPE counted positions from 0, not as the problem says",
        rows_from_0,
    ),
    Mistake(
        "rope-positions-of-first-entry",
        "RoPE took the positions of the first entry for all entries",
        _of_both(of_first_entry),
    ),
    Mistake(
        "rope-sections-ignored",
        "RoPE turned all pairs by the time, and none by height or width",
        _of_both(by_time_alone),
    ),
    Mistake(
        "rope-sections-other-layout",
        "RoPE gave time, height and width blocks of pairs for turns, or turns for blocks",
        _of_both(in_other_layout),
    ),
    Mistake(
        "rope-sections-exchanged",
        "RoPE exchanged height and width",
        _of_both(with_axes_exchanged),
    ),
)
