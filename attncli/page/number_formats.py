"""Where number formats differ from float64: the closing of a page in a lower format, and one table
for all formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attncli.dtypes import Dtype
from attncli.english import count, either, listed
from attncli.page.comparison import step_data, steps_table
from attncli.page.document import Block, Document, Heading, Listing, Math, Paragraph, Table, Text
from attncli.page.measures import distinct_numbers, magnitude, number, place, with_power_of_ten
from attncli.page.printer import format_number
from attncli.tracing.comparison import StepComparison
from attncli.tracing.json_numbers import json_float
from attncli.tracing.number_formats import FormatDeviation, Overflow
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

# Of more rows of weights, it is said how many others there are.
MOST_ROWS_NAMED = 8
# From here on, the largest number of a format is shown with a power of ten.
LEAST_WITH_POWER_OF_TEN = 1e6


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
    sums: list[dict[str, Any]] = []
    for row in deviation.uneven_rows:
        sums.append({"row": list(row.row), "sum": json_float(row.sum), "float64": row.true})
    overflow = None
    if deviation.overflow is not None:
        lost = deviation.overflow
        overflow = {
            "step": lost.step,
            "cells": lost.cells,
            "index": list(lost.where),
            "float64": lost.true,
        }
    return {
        "steps": {step.name: step_data(step) for step in deviation.comparison.steps},
        "row_sums": sums,
        "overflow": overflow,
        "vanished_weights": deviation.vanished,
    }


def _blocks(deviations: Sequence[FormatDeviation], precision: int) -> Iterator[Block]:
    names = [deviation.dtype.name for deviation in deviations]
    exact: list[str] = []
    steps: list[str] = []
    for step in deviations[0].comparison.steps:
        is_exact = _is_exact_in_all(deviations, step.name)
        own = exact if is_exact else steps
        own.append(step.name)
    if steps:
        head = ("step", *names)
        right = tuple(range(1, len(head)))
        yield Paragraph(("The largest absolute error of each step, |a − b|:",))
        rows = [_errors(deviations, name, precision, relative=False) for name in steps]
        yield Table(head, tuple(rows), right=right)
        said = "The largest relative error of each step, |a − b| / max(|a|, |b|):"
        yield Paragraph((said,))
        rows = [_errors(deviations, name, precision, relative=True) for name in steps]
        yield Table(head, tuple(rows), right=right)
    if exact:
        yield Paragraph((f"No error in any of the formats: {listed(exact)}.",))
    for deviation in deviations:
        yield Heading(f"{deviation.dtype.name}: about {deviation.dtype.digits} digits")
        yield Listing(tuple(_losses(deviation, precision)))


def _is_exact_in_all(deviations: Sequence[FormatDeviation], step: str) -> bool:
    """Whether a step has the same numbers in every format as in float64."""
    return all(deviation.comparison[step].identical for deviation in deviations)


def _errors(
    deviations: Sequence[FormatDeviation], step: str, precision: int, *, relative: bool
) -> tuple[Text, ...]:
    """A step and its largest error in each format, as a row of a table."""
    row: list[Text] = [(step,)]
    for deviation in deviations:
        compared = deviation.comparison[step]
        error = _error(compared, precision, relative=relative)
        row.append(error)
    return tuple(row)


def _error(step: StepComparison, precision: int, *, relative: bool) -> Text:
    found = step.difference
    if found is None:
        return ("",)
    return magnitude(found.relative if relative else found.absolute, precision)


def _losses(deviation: FormatDeviation, precision: int) -> Iterator[Text]:
    """Overflow, weights that are 0 now, and rows of weights that do not sum to 1 any more."""
    dtype = deviation.dtype
    if deviation.overflow is not None:
        yield _overflow(deviation, deviation.overflow, precision)
    if deviation.vanished:
        number_of_weights = count(deviation.vanished, "weight")
        are = either(deviation.vanished, "is", "are")
        become = either(deviation.vanished, "becomes", "become")
        yield (f"{number_of_weights} {are} too small for {dtype.name} and {become} 0.",)
    if deviation.uneven_rows:
        yield _uneven_rows(deviation, precision)
    else:
        yield (f"Every row of weights has the same sum as in float64, rounded to {dtype.name}.",)


def _overflow(deviation: FormatDeviation, lost: Overflow, precision: int) -> Text:
    """How many cells of a step do not fit, and the one that is farthest beyond the format."""
    dtype = deviation.dtype
    step = deviation.comparison[lost.step]
    cells = count(lost.cells, "cell")
    do = either(lost.cells, "does", "do")
    where = place(step, lost.where)
    return (
        f"Overflow: {cells} of {lost.step} {do} not fit; {where} is ",
        *number(format_number(lost.true, precision)),
        f", and the largest {dtype.name} is ",
        *number(_largest(dtype)),
        ".",
    )


def _uneven_rows(deviation: FormatDeviation, precision: int) -> Text:
    """How many rows of weights have another sum than in float64, and the sums of the first ones."""
    uneven = deviation.uneven_rows
    shown = uneven[:MOST_ROWS_NAMED]
    labels = deviation.comparison["weights"].labels[:-1]
    said: list[str | Math] = []
    for row in shown:
        if said:
            said.append(", ")
        names = [names[at] for names, at in zip(labels, row.row, strict=True)]
        sum_of_row, _ = distinct_numbers(row.sum, row.true, precision)
        said += [f'"{", ".join(names)}" ', *sum_of_row]
    others = len(uneven) - len(shown)
    end = f" and {count(others, 'other')}." if others else "."
    rows = count(len(uneven), "row")
    sums = either(len(uneven), "sums", "sum")
    true = number(format_number(uneven[0].true, precision))
    return (
        f"{rows} of weights no longer {sums} to ",
        *true,
        f" when rounded to {deviation.dtype.name}: ",
        *said,
        end,
    )


def _largest(dtype: Dtype) -> str:
    """The largest number of a format: 65504, 3.4e+38."""
    if dtype.largest < LEAST_WITH_POWER_OF_TEN:
        return str(int(dtype.largest))
    return with_power_of_ten(dtype.largest)
