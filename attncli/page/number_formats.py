"""Where number formats differ from float64: the closing of a page in a lower format, and one table
for all formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attncli.dtypes import Dtype
from attncli.english import count, either, listed
from attncli.page.comparison import step_data, steps_table
from attncli.page.document import Block, Document, Heading, Listing, Paragraph, Table, Text
from attncli.page.measures import distinct_numbers, magnitude, number, place, with_power_of_ten
from attncli.page.printer import format_number
from attncli.tracing.comparison import StepComparison
from attncli.tracing.json_numbers import json_float
from attncli.tracing.number_formats import FormatDeviation
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

MOST_ROWS = 8
# Larger numbers are shown with a power of ten.
LEGIBLE = 1e6


def deviation_section(deviation: FormatDeviation, precision: int) -> Iterator[Block]:
    """The end of a derivation in a lower format: every step's error, and what got lost."""
    yield Heading(f"Where {deviation.dtype.name} differs from float64")
    yield Listing(tuple(_losses(deviation, precision)))
    yield from steps_table(deviation.comparison, precision, relative=True)


def formats_page(deviations: Sequence[FormatDeviation], title: str, precision: int) -> Document:
    """One table for all formats: the largest error of every step, absolute and relative."""
    return Document(
        f"{title or 'Attention'}: where number formats differ from float64",
        tuple(_blocks(deviations, precision)),
        lambda: {
            "attncli": {"version": __version__, "format": TRACE_FORMAT},
            "title": title,
            "formats": {
                deviation.dtype.name: deviation_data(deviation) for deviation in deviations
            },
        },
    )


def deviation_data(deviation: FormatDeviation) -> dict[str, Any]:
    """The errors of all steps and what got lost, for programs: a is float64, b the lower format."""
    overflow = deviation.overflow
    return {
        "steps": {step.name: step_data(step) for step in deviation.comparison.steps},
        "row_sums": [
            {"row": list(row.row), "sum": json_float(row.sum), "float64": row.true}
            for row in deviation.uneven_rows
        ],
        "overflow": (
            None
            if overflow is None
            else {
                "step": overflow.step,
                "cells": overflow.cells,
                "index": list(overflow.where),
                "float64": overflow.true,
            }
        ),
        "vanished_weights": deviation.vanished,
    }


def _blocks(deviations: Sequence[FormatDeviation], precision: int) -> Iterator[Block]:
    names = [deviation.dtype.name for deviation in deviations]
    exact = [
        step.name
        for step in deviations[0].comparison.steps
        if all(p.comparison[step.name].identical for p in deviations)
    ]
    steps = [step.name for step in deviations[0].comparison.steps if step.name not in exact]
    for relative, what in ((False, "|a − b|"), (True, "|a − b| / max(|a|, |b|)")):
        rows = tuple(
            (
                (name,),
                *(
                    _error(deviation.comparison[name], precision, relative=relative)
                    for deviation in deviations
                ),
            )
            for name in steps
        )
        if rows:
            yield Paragraph(
                (
                    (
                        f"The largest {'relative' if relative else 'absolute'} error of each step,"
                        f" {what}:"
                    ),
                )
            )
            yield Table(("step", *names), rows, right=tuple(range(1, len(names) + 1)))
    if exact:
        yield Paragraph((f"No error in any of the formats: {listed(exact)}.",))
    for deviation in deviations:
        yield Heading(f"{deviation.dtype.name}: about {deviation.dtype.digits} digits")
        yield Listing(tuple(_losses(deviation, precision)))


def _error(step: StepComparison, precision: int, *, relative: bool) -> Text:
    found = step.difference
    if found is None:
        return ("",)
    return magnitude(found.relative if relative else found.absolute, precision)


def _losses(deviation: FormatDeviation, precision: int) -> Iterator[Text]:
    """Overflow, weights that are 0 now, and rows of weights that do not sum to 1 any more."""
    dtype, uneven = deviation.dtype, deviation.uneven_rows
    if (lost := deviation.overflow) is not None:
        step = deviation.comparison[lost.step]
        yield (
            (
                f"Overflow: {count(lost.cells, 'cell')} of {lost.step}"
                f" {either(lost.cells, 'does', 'do')} not fit; {place(step, lost.where)} is "
            ),
            *number(format_number(lost.true, precision)),
            f", and the largest {dtype.name} is ",
            *number(_largest(dtype)),
            ".",
        )
    if deviation.vanished:
        are, become = (
            either(deviation.vanished, *words) for words in (("is", "are"), ("becomes", "become"))
        )
        yield (
            (
                f"{count(deviation.vanished, 'weight')} {are} too small for {dtype.name} and"
                f" {become} 0."
            ),
        )
    if not uneven:
        yield (f"Every row of weights has the same sum as in float64, rounded to {dtype.name}.",)
        return
    said: list[Text] = []
    for row in uneven[:MOST_ROWS]:
        labels = deviation.comparison["weights"].labels[:-1]
        name = ", ".join(names[at] for names, at in zip(labels, row.row, strict=True))
        said.append(
            (", " if said else "", f'"{name}" ', *distinct_numbers(row.sum, row.true, precision)[0])
        )
    others = len(uneven) - len(said)
    rows = (
        f"{count(len(uneven), 'row')} of weights no longer {either(len(uneven), 'sums', 'sum')} to "
    )
    true = number(format_number(uneven[0].true, precision))
    yield (
        rows,
        *true,
        f" when rounded to {dtype.name}: ",
        *(part for each in said for part in each),
        f" and {count(others, 'other')}." if others else ".",
    )


def _largest(dtype: Dtype) -> str:
    """The largest number of a format: 65504, 3.4e+38."""
    return str(int(dtype.largest)) if dtype.largest < LEGIBLE else with_power_of_ten(dtype.largest)
