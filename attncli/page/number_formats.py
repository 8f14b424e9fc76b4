"""Where number formats part from float64: the closing of a page in a lower format, and one table for all formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attncli import __version__
from attncli.dtypes import Dtype
from attncli.english import count, either, listed
from attncli.features.compare.data import step_data
from attncli.features.compare.step import StepComparison
from attncli.features.compare.table_page import steps_table
from attncli.page.document import Block, Document, Heading, Listing, Paragraph, Table, Text
from attncli.page.measures import apart, magnitude, number, place, powered
from attncli.page.number_format import format_number
from attncli.tracing.json_numbers import json_float
from attncli.tracing.number_formats import Parting
from attncli.tracing.serialization import FORMAT

MOST_ROWS = 8
LEGIBLE = 1e6  # larger numbers are shown with a power of ten


def parting_section(parting: Parting, precision: int) -> Iterator[Block]:
    """The end of a derivation in a lower format: every step's error, and what got lost."""
    yield Heading(f"Where {parting.dtype.name} parts from float64")
    yield Listing(tuple(_losses(parting, precision)))
    yield from steps_table(parting.comparison, precision, relative=True)


def formats_page(partings: Sequence[Parting], title: str, precision: int) -> Document:
    """One table for all formats: the largest error of every step, absolute and relative."""
    return Document(
        f"{title or 'Attention'}: where number formats part from float64",
        tuple(_blocks(partings, precision)),
        lambda: {
            "attncli": {"version": __version__, "format": FORMAT},
            "title": title,
            "formats": {parting.dtype.name: parting_data(parting) for parting in partings},
        },
    )


def parting_data(parting: Parting) -> dict[str, Any]:
    """The errors of all steps and what got lost, for programs: a is float64, b the lower format."""
    overflow = parting.overflow
    return {
        "steps": {step.name: step_data(step) for step in parting.comparison.steps},
        "row_sums": [{"row": list(row.row), "sum": json_float(row.sum), "float64": row.true} for row in parting.uneven],
        "overflow": None
        if overflow is None
        else {
            "step": overflow.step, "cells": overflow.cells, "index": list(overflow.where), "float64": overflow.true,
        },
        "vanished_weights": parting.vanished,
    }  # fmt: skip


def _blocks(partings: Sequence[Parting], precision: int) -> Iterator[Block]:
    names = [parting.dtype.name for parting in partings]
    exact = [
        step.name for step in partings[0].comparison.steps if all(p.comparison[step.name].identical for p in partings)
    ]
    steps = [step.name for step in partings[0].comparison.steps if step.name not in exact]
    for relative, what in ((False, "|a − b|"), (True, "|a − b| / max(|a|, |b|)")):
        rows = tuple(
            ((name,), *(_error(parting.comparison[name], precision, relative=relative) for parting in partings))
            for name in steps
        )
        if rows:
            yield Paragraph((f"The largest {'relative' if relative else 'absolute'} error of each step, {what}:",))
            yield Table(("step", *names), rows, right=tuple(range(1, len(names) + 1)))
    if exact:
        yield Paragraph((f"Exact in all of them: {listed(exact)}.",))
    for parting in partings:
        yield Heading(f"{parting.dtype.name}: about {parting.dtype.digits} digits")
        yield Listing(tuple(_losses(parting, precision)))


def _error(step: StepComparison, precision: int, *, relative: bool) -> Text:
    found = step.difference
    if found is None:
        return ("",)
    return magnitude(found.relative if relative else found.absolute, precision)


def _losses(parting: Parting, precision: int) -> Iterator[Text]:
    """Overflow, weights that are 0 now, and rows of weights that do not sum to 1 any more."""
    dtype = parting.dtype
    if (lost := parting.overflow) is not None:
        step = parting.comparison[lost.step]
        yield (
            f"Overflow: {count(lost.cells, 'cell')} of {lost.step} {either(lost.cells, 'does', 'do')} not fit; "
            f"{place(step, lost.where)} is ", *number(format_number(lost.true, precision)),
            f", and the largest {dtype.name} is ", *number(_largest(dtype)), ".",
        )  # fmt: skip
    if parting.vanished:
        are = either(parting.vanished, "is", "are")
        yield (f"{count(parting.vanished, 'weight')} too small for {dtype.name} {are} 0.",)
    if not parting.uneven:
        yield (f"Every row of weights keeps its sum, rounded to {dtype.name}.",)
        return
    said: list[Text] = []
    for row in parting.uneven[:MOST_ROWS]:
        labels = parting.comparison["weights"].labels[:-1]
        name = ", ".join(names[at] for names, at in zip(labels, row.row, strict=True))
        said.append((", " if said else "", f'"{name}" ', *apart(row.sum, row.true, precision)[0]))
    others = len(parting.uneven) - len(said)
    rows = f"{count(len(parting.uneven), 'row')} of weights no longer {either(len(parting.uneven), 'sums', 'sum')} to "
    true = number(format_number(parting.uneven[0].true, precision))
    yield (rows, *true, f", rounded to {dtype.name}: ", *(part for each in said for part in each),
           f" and {count(others, 'other')}." if others else ".")  # fmt: skip


def _largest(dtype: Dtype) -> str:
    """The largest number of a format: 65504, 3.4e+38."""
    return str(int(dtype.largest)) if dtype.largest < LEGIBLE else powered(dtype.largest)
