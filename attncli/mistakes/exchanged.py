"""Rows of V that were exchanged, or that were read in each other's place: which rows, the problem
says, so these are no mistakes of the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from attncli.mistakes.model import Changes, Mistake, equations
from attncli.tracing.model import Trace

# Of a larger V, nobody works by hand.
MOST_ROWS = 6


def exchanged_values(trace: Trace) -> Iterator[tuple[Mistake, Changes]]:
    """Every two rows of V exchanged, with the equation that this makes of the output."""
    for mistake in _mistakes(trace):
        changes = mistake.change(trace)
        if changes:
            yield mistake, changes


def exchanged_of(name: str, trace: Trace) -> Changes:
    """What the exchange of this name changes; nothing for another name."""
    for mistake in _mistakes(trace):
        if mistake.name == name:
            return mistake.change(trace)
    return {}


def _mistakes(trace: Trace) -> Iterator[Mistake]:
    if "V" not in trace or "weights" not in trace:
        return
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
