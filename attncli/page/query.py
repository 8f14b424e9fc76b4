"""The page of one query: the keys that it attends to most, in order, each with a bar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from attncli.errors import usage_error
from attncli.page.document import Block, Heading, Paragraph, Table, Text
from attncli.page.in_words import attention_in_words, percent
from attncli.page.measures import bar_of
from attncli.problem.parts.axes import PLACES
from attncli.tracing.model import Trace
from attncli.tracing.slices import axis_length, trace_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

# So many keys have a line of their own. The others share one.
MOST_KEYS_LISTED = 12


def query_section(trace: Trace, row: int) -> Iterator[Block]:
    """The row of the weights of one query, head by head: its sentence, and its keys, the heaviest
    first.
    """
    own = trace.leading_letters
    if own:
        word = PLACES[own[0]]
        title = word[0].upper() + word[1:]
        for place in range(axis_length(trace, own[0])):
            yield Heading(f"{title} {place}", part=True)
            yield from query_section(trace_at(trace, {own[0]: place}), row)
        return
    yield Heading(f'What "{trace.tokens[row]}" (query {row}) attends to')
    weights = trace.steps.get("weights")
    if weights is None or weights.rule.own:
        raise usage_error(
            "--query says what a query attends to, and the weights of this problem are not those of"
            " attention",
            help="leave out --query, or show steps by their names with --steps",
        )
    (said,) = attention_in_words(trace, lambda rows: [rows[row]])
    yield Paragraph((said,))
    weights = trace["weights"][row].astype(np.float64)
    if np.isfinite(weights).all() and (weights > 0).any():
        yield _keys_in_order(trace, weights)


def _keys_in_order(trace: Trace, weights: NDArray[np.float64]) -> Table:
    """The keys with a weight, the heaviest first, each with its bar; many share the last line."""
    seen = int((weights > 0).sum())
    keys = np.argsort(-weights, kind="stable")[:seen]
    named = keys
    if seen > MOST_KEYS_LISTED + 1:
        named = keys[:MOST_KEYS_LISTED]
    top = float(weights[keys[0]])
    rows: list[tuple[Text, ...]] = []
    for key in named.tolist():
        weight = float(weights[key])
        bar = bar_of(weight / top)
        rows.append(((percent(weight),), (_label(trace, key),), (bar,)))
    others = keys[len(named) :]
    if len(others):
        together = percent(float(weights[others].sum()))
        rows.append(((together,), (f"the {len(others):,} others together",), ("",)))
    return Table(("weight", "token", ""), tuple(rows), right=(0,))


def _label(trace: Trace, key: int) -> str:
    """The label of a key, with its number where others are called alike."""
    label = trace.context_tokens[key]
    return label if trace.context_tokens.count(label) == 1 else f"{label} (key {key})"
