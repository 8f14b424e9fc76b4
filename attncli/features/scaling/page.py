"""The page of `attncli scaling`: with 1/√d_k and without, side by side, at growing d_k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from math import isfinite
from typing import Any, TypeAlias

from attncli.english import count
from attncli.features.scaling.study import Measurements, Row
from attncli.page.document import Block, Document, Listing, Paragraph, Table, Text, plain, text
from attncli.page.measures import legible_number, magnitude, number
from attncli.tracing.json_numbers import json_number
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

QUANTITIES: tuple[Text, ...] = (("var",), ("entropy",), text("`abs(dZ)`"), text("`abs(dQ)`"))
# The width of a terminal of 80 columns, and the gap between two columns of the page.
WIDTH, GAP = 76, 3
# The head of a column and its numbers.
Column: TypeAlias = tuple[Text, tuple[Text, ...]]


def scaling_page(
    title: str, rows: Sequence[Row], *, draws: int, seed: int, precision: int
) -> Document:
    """The page of these rows; its data has every digit."""
    name = f"{title}: " if title else ""
    data = {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "title": title,
        "draws": draws,
        "seed": seed,
        "rows": [_data(row) for row in rows],
    }
    blocks = tuple(_blocks(rows, draws, seed, precision))
    return Document(f"{name}with and without the scale", blocks, lambda: data)


def _data(row: Row) -> dict[str, Any]:
    return {
        "d_k": row.d_k,
        "scaled": _data_of_side(row.scaled),
        "unscaled": _data_of_side(row.unscaled),
        "drawn": row.drawn,
    }


def _data_of_side(measured: Measurements) -> dict[str, Any]:
    return {name: json_number(number) for name, number in asdict(measured).items()}


def _blocks(rows: Sequence[Row], draws: int, seed: int, precision: int) -> Iterator[Block]:
    yield Paragraph(
        text(
            "A score is a sum of `d_k` terms. If the terms are independent and each has variance 1,"
            " their sum has variance `d_k`. So the scores grow with `d_k`. Then the softmax gives"
            " almost all weight to one key, and hardly any gradient goes back through it. Division"
            " by `sqrt(d_k)` keeps the scores at the same size. Each quantity has two columns:"
            " with the scale, and without it (plain)."
        )
    )
    yield from _tables(rows, precision)
    yield Listing(tuple(text(said) for said in _legend(rows, draws, seed)))
    if all(number == 0 for row in rows for number in (row.scaled.entropy, row.unscaled.entropy)):
        said = (
            "No query sees more than one key. The weight of this key is always 1, so all gradients"
            " here are 0."
        )
        yield Paragraph((said,))
        return
    yield Paragraph(
        text(
            "Without the scale, `abs(dQ)` falls later than `abs(dZ)`, and may grow at first. `dQ`"
            " is `dS` times the keys, and the length of a key is about `sqrt(d_k)`. With the scale,"
            " `dS` is `dZ / sqrt(d_k)`, which cancels this length. Without it, `dS` equals `dZ`, so"
            " the gradient is multiplied by the length."
        )
    )
    if any(
        not all(map(isfinite, _numbers(each)))
        for row in rows
        for each in (row.scaled, row.unscaled)
    ):
        yield Paragraph(("inf and NaN mean that scores are too large for float64.",), "note")
    yield Paragraph(_conclusion(rows))


def _legend(rows: Sequence[Row], draws: int, seed: int) -> Iterator[str]:
    """What the rows and the columns of the tables are."""
    if any(not row.drawn for row in rows):
        yield "own: the queries and keys of the problem itself."
    yield (
        "Other rows: attncli draws each number of the queries and keys from the standard normal"
        f" distribution, {count(draws, 'time')} for each `d_k`, with seed {seed}. Everything else"
        " is the problem's. If it has neither d_output nor loss, attncli also draws d_output."
    )
    yield "var: the variance of the scores that no mask hides."
    yield "entropy: the mean entropy of a row of weights, in nats."
    yield (
        "`abs(dZ)`: the norm of the gradient of the scores that the softmax reads, as a mean over"
        " the draws."
    )
    yield "`abs(dQ)`: the norm of the gradient of the queries, as a mean over the draws."


def _tables(rows: Sequence[Row], precision: int) -> Iterator[Table]:
    """A pair of columns for each quantity; as many pairs in one table as a terminal has room
    for.
    """
    names = [_name(row) for row in rows]
    room = WIDTH - max(map(_cell_width, names))
    pairs = [_pair(head, place, rows, precision) for place, head in enumerate(QUANTITIES)]
    while pairs:
        many = _pairs_that_fit(pairs, room)
        columns = list(chain(*pairs[:many]))
        pairs = pairs[many:]
        heads = [head for head, _ in columns]
        numbers = [cells for _, cells in columns]
        lines = tuple(zip(names, *numbers, strict=True))
        to_the_right = tuple(range(len(columns) + 1))
        yield Table((text("`d_k`"), *heads), lines, right=to_the_right)


def _name(row: Row) -> Text:
    """The d_k of drawn vectors, or that of the problem's own: 64; own, 2."""
    if row.drawn:
        return (str(row.d_k),)
    return (f"own, {row.d_k}",)


def _pairs_that_fit(pairs: Sequence[tuple[Column, Column]], room: int) -> int:
    """How many of the pairs fit side by side, but one at least."""
    many = 0
    for pair in pairs:
        room -= _pair_width(pair)
        if room < 0:
            break
        many += 1
    return max(1, many)


def _pair(head: Text, place: int, rows: Sequence[Row], precision: int) -> tuple[Column, Column]:
    """One quantity with the scale and without."""
    scaled = []
    unscaled = []
    for row in rows:
        with_scale = _numbers(row.scaled)[place]
        without = _numbers(row.unscaled)[place]
        scaled.append(magnitude(with_scale, precision))
        unscaled.append(magnitude(without, precision))
    return (head, tuple(scaled)), (("plain",), tuple(unscaled))


def _pair_width(pair: tuple[Column, Column]) -> int:
    return sum(GAP + max(map(_cell_width, (head, *numbers))) for head, numbers in pair)


def _cell_width(cell: Text) -> int:
    return len(plain(cell))


def _numbers(measured: Measurements) -> tuple[float, ...]:
    return measured.variance, measured.entropy, measured.through_softmax, measured.of_queries


def _conclusion(rows: Sequence[Row]) -> Text:
    """What the row with the largest d_k says."""
    last = max(rows, key=lambda row: row.d_k)
    at, kept, left = (
        text(f"At `d_k` = {last.d_k}, `abs(dZ)` is "),
        last.scaled.through_softmax,
        last.unscaled.through_softmax,
    )
    if not kept > left > 0:
        return (
            *at,
            *number(_brief(kept)),
            " with the scale and ",
            *number(_brief(left)),
            " without it.",
        )
    return (*at, f"{kept / left:.1f} times as large with the scale as without it.")


def _brief(value: float) -> str:
    return legible_number(value, 3)
