"""The page of one query: the keys that it attends to most, in order, each with a bar."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attncli.page.document import Block, Heading, Paragraph, Table
from attncli.page.in_words import attention_in_words, percent
from attncli.problem.parts.axes import PLACES
from attncli.tracing.model import Trace
from attncli.tracing.slices import axis_length, trace_at

# So many keys have a line of their own. The others share one.
MOST_KEYS = 12
# The bar of the heaviest key has so many characters, so that a table fits 40 columns.
LONGEST = 16


def query_section(trace: Trace, row: int) -> Iterator[Block]:
    """The row of the weights of one query, head by head: its sentence, and its keys, the heaviest
    first.
    """
    if own := trace.leading_letters:
        word = PLACES[own[0]]
        for place in range(axis_length(trace, own[0])):
            yield Heading(f"{word[0].upper()}{word[1:]} {place}", part=True)
            yield from query_section(trace_at(trace, {own[0]: place}), row)
        return
    yield Heading(f'What "{trace.tokens[row]}" (query {row}) attends to')
    (said,) = attention_in_words(trace, lambda rows: [rows[row]])
    yield Paragraph((said,))
    weights = trace["weights"][row].astype(np.float64)
    seen = int((weights > 0).sum()) if np.isfinite(weights).all() else 0
    if seen:
        keys = np.argsort(-weights, kind="stable")[:seen]
        named = keys if seen <= MOST_KEYS + 1 else keys[:MOST_KEYS]
        top = float(weights[keys[0]])
        lines = [
            (float(weights[key]), _label(trace, int(key)), _bar(float(weights[key]) / top))
            for key in named
        ]
        if others := seen - len(named):
            lines.append(
                (float(weights[keys[len(named) :]].sum()), f"the {others:,} others together", "")
            )
        rows = tuple(((percent(weight),), (label,), (bar,)) for weight, label, bar in lines)
        yield Table(("weight", "token", ""), rows, right=(0,))


def _label(trace: Trace, key: int) -> str:
    """The label of a key, with its number where others are called alike."""
    label = trace.context_tokens[key]
    return label if trace.context_tokens.count(label) == 1 else f"{label} (key {key})"


def _bar(part: float) -> str:
    """As long as the part of the heaviest weight; a key that is named and seen has at least a short
    one.
    """
    return "█" * max(round(LONGEST * part), int(part > 0))
