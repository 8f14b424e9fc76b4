"""What was read in the place of another part: two rows of V, the weights of one head in all, or the
scores where the scaled scores are written, too.

The problem and the solution say which rows, heads and steps there are, so these are no mistakes of
the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from itertools import combinations

from attncli.attention.registry import GRADIENT_RULES
from attncli.equation.nodes import Expression, Ref, number_node, rename, rewrite
from attncli.mistakes.model import Changes, Mistake, equations, rewritten, with_letters
from attncli.tracing.model import Step, Trace

# Of a larger V, or of more heads, nobody works by hand.
MOST_ROWS = 6
MOST_HEADS = 8


def misread(trace: Trace, answered: Collection[str]) -> Iterator[tuple[Mistake, Changes]]:
    """Every two rows of V exchanged, each head's weights used in every head, and an earlier step
    used instead of each of the steps that are `answered`; with the equations that this makes.
    """
    for mistake in _mistakes(trace, answered):
        changes = mistake.change(trace)
        if changes:
            yield mistake, changes


def misread_of(name: str, trace: Trace) -> Changes:
    """What the mistake of this name changes; nothing for another name."""
    for mistake in _mistakes(trace, trace.steps):
        if mistake.name == name:
            return mistake.change(trace)
    return {}


def _mistakes(trace: Trace, answered: Collection[str]) -> Iterator[Mistake]:
    if "V" in trace and "weights" in trace:
        yield from _exchanged(trace)
        yield from _of_one_head(trace)
    yield from _earlier_steps(trace, answered)


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


def _earlier_steps(trace: Trace, answered: Collection[str]) -> Iterator[Mistake]:
    """An earlier step used instead of one that has the same rows and columns, by all that reads
    it.
    """
    earlier: list[Step] = []
    for step in _forward(trace):
        if step.name in answered:
            for one in earlier:
                if one.rule.target.indices != step.rule.target.indices:
                    continue
                yield Mistake(
                    f"{one.name}-used-for-{step.name}",
                    f"{one.name} was used instead of {step.name}",
                    partial(_reading, one.name, step.name),
                )
        earlier.append(step)


def _forward(trace: Trace) -> Iterator[Step]:
    for step in trace.computed():
        if step.name not in GRADIENT_RULES:
            yield step


def _reading(other: str, name: str, trace: Trace) -> Changes:
    """All that reads a step, with another one in its place."""
    found = {}
    for step in _forward(trace):
        is_reader = name in step.rule.inputs
        if is_reader and step.name != other:
            own = step.rule.equation.expression
            found[step.name] = rename(own, {name: other})
    return found
