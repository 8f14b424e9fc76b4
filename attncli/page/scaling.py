"""The page of `attncli scaling`: with 1/√d_k and without, side by side, at growing d_k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from attncli import __version__
from attncli.english import count
from attncli.page.document import Block, Document, Paragraph, Table, Text, text
from attncli.page.measures import magnitude
from attncli.study.scaling import Measured, Row
from attncli.tracing.data import FORMAT


def scaling_page(title: str, rows: Sequence[Row], *, draws: int, seed: int, precision: int) -> Document:
    """The page of these rows; as data, with every digit."""
    name = f"{title}: " if title else ""
    data = {
        "attncli": {"version": __version__, "format": FORMAT},
        "title": title,
        "draws": draws,
        "seed": seed,
        "rows": [asdict(row) for row in rows],
    }
    blocks = tuple(_blocks(rows, draws, seed, precision))
    return Document(f"{name}with and without 1/√d_k", blocks, lambda: data)


def _blocks(rows: Sequence[Row], draws: int, seed: int, precision: int) -> Iterator[Block]:
    yield Paragraph(
        text(
            "A product of `d_k` independent terms of variance 1 has variance `d_k`. So scores grow with `d_k`, the "
            "softmax chooses one key alone, and where it is that sure, hardly any gradient comes through. Divided by "
            "`sqrt(d_k)`, they stay as they are. Left of each pair of columns with that scale, right without:"
        )
    )
    head = ("d_k", "var", "plain", "entropy", "plain", "|dZ|", "plain", "|dQ|", "plain")
    yield Table(head, tuple(_row(row, precision) for row in rows), right=tuple(range(len(head))))
    own = "The first row has the problem's own numbers. " if any(not row.drawn for row in rows) else ""
    yield Paragraph(
        text(
            f"{own}In the others queries and keys are drawn: each number from the standard normal distribution, "
            f"{count(draws, 'time')} for each `d_k`, with seed {seed}; all else is the problem's, and where it says "
            "neither d_output nor loss, the gradient of the output is drawn, too. The variance is that of the "
            "scores that no mask hides, the entropy the mean over rows of weights, in nats; |dZ| is the norm of the "
            "gradient that comes through the softmax to its scores, |dQ| that of the queries, both means over the "
            "draws."
        )
    )
    yield Paragraph((_said(rows),))


def _row(row: Row, precision: int) -> tuple[Text, ...]:
    pairs = zip(_numbers(row.scaled), _numbers(row.unscaled), strict=True)
    name = str(row.d_k) if row.drawn else f"own, {row.d_k}"
    return ((name,), *(magnitude(number, precision) for pair in pairs for number in pair))


def _numbers(measured: Measured) -> tuple[float, ...]:
    return measured.variance, measured.entropy, measured.through_softmax, measured.of_queries


def _said(rows: Sequence[Row]) -> str:
    """What the last row says, where the scale grows to the most."""
    last = max(rows, key=lambda row: row.d_k)
    kept, left = last.scaled.through_softmax, last.unscaled.through_softmax
    if not kept > left > 0:
        return f"At d_k = {last.d_k} the norm through the softmax is {left:.3g} without the scale, {kept:.3g} with it."
    return f"At d_k = {last.d_k} the gradient through the softmax is {kept / left:.1f} times as large with the scale."
