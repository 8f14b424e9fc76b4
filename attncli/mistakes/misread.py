"""What was read in the place of another part: two rows of V, or the weights of one head in all.

The problem says which rows and heads there are, so these are no mistakes of the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from attncli.equation.nodes import Expression, Ref, number_node, rewrite
from attncli.mistakes.model import Changes, Mistake, equations, rewritten, with_letters
from attncli.tracing.model import Trace

# Of a larger V, or of more heads, nobody works by hand.
MOST_ROWS = 6
MOST_HEADS = 8


def misread(trace: Trace) -> Iterator[tuple[Mistake, Changes]]:
    """Every two rows of V exchanged, and each head's weights used in every head, with the equation
    that this makes of the output.
    """
    for mistake in _mistakes(trace):
        changes = mistake.change(trace)
        if changes:
            yield mistake, changes


def misread_of(name: str, trace: Trace) -> Changes:
    """What the mistake of this name changes; nothing for another name."""
    for mistake in _mistakes(trace):
        if mistake.name == name:
            return mistake.change(trace)
    return {}


def _mistakes(trace: Trace) -> Iterator[Mistake]:
    if "V" in trace and "weights" in trace:
        yield from _exchanged(trace)
        yield from _of_one_head(trace)


def _exchanged(trace: Trace) -> Iterator[Mistake]:
    rows = trace["V"].shape[-2]
    if rows > MOST_ROWS:
        return
    for one, other in combinations(range(rows), 2):
        value = f"where(j == {one}, V[{other}, c], where(j == {other}, V[{one}, c], V[j, c]))"
        yield Mistake(
            f"v-rows-{one}-{other}-exchanged",
            f"rows V[{one}] and V[{other}] were exchanged",
            equations(f"{{mixed}}[i, c] = sum(j, weights[i, j] * {value})"),
        )


def _of_one_head(trace: Trace) -> Iterator[Mistake]:
    heads = trace.settings.heads or 1
    if heads > MOST_HEADS:
        return
    mixed = "heads_output" if "heads_output" in trace else "output"
    for head in range(heads):
        yield Mistake(
            f"weights-of-head-{head}",
            f"the weights of head {head} were used in every head",
            rewritten(**{mixed: partial(_with_weights_of, head)}),
        )


def _with_weights_of(head: int, own: Expression, trace: Trace) -> Expression:
    def put(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name == "weights":
            return with_letters(node, {"h": number_node(head)})
        return node

    return rewrite(own, put)
