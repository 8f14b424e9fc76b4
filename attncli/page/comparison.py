"""The steps of a comparison side by side: as rows of a table, as matrices, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.registry import in_symbols
from attncli.english import listed, shape_text
from attncli.equation.nodes import Name
from attncli.page.document import Block, Cell, Grid, Heading, Paragraph, Table, Text
from attncli.page.measures import brief_place, distinct_numbers, legible_number, magnitude
from attncli.page.printer import format_number
from attncli.tracing.comparison import Comparison, StepComparison
from attncli.tracing.difference import Difference, doubles
from attncli.tracing.json_numbers import json_float

# The columns of the table of steps that have numbers.
NUMBER_COLUMNS = (1, 2, 3, 5, 6)
LARGEST_ERRORS = (
    "Each error is the largest of its step. The cell and the two numbers are those of the largest"
    " absolute error."
)


# An empty cell of a table.
NOTHING: Text = ("",)


def steps_table(
    comparison: Comparison, precision: int, *, everything: bool = False, relative: bool = False
) -> Iterator[Block]:
    """A row for every step that differs between the sides, and which steps are identical.

    With `everything`, the identical steps get a row, too. With `relative`, a column has the largest
    relative difference in place of how many cells differ, because a terminal has no room for both.
    """
    identical: list[str] = []
    rows: list[tuple[Text, ...]] = []
    for step in comparison.steps:
        if step.identical and not everything:
            identical.append(step.name)
            continue
        if not step.one_sided or step in comparison.one_sided:
            row = _row(comparison, step, precision, relative)
            rows.append(row)
    if rows:
        a = comparison.a.word
        b = comparison.b.word
        head = ("step", "differ", "absolute", "relative", "where", a, b)
        table = Table(head, tuple(rows), NUMBER_COLUMNS)
        yield without_empty_columns(table)
        if relative:
            yield Paragraph((LARGEST_ERRORS,))
    if identical:
        yield Paragraph((f"Identical to the last bit: {listed(identical)}.",))


def without_empty_columns(table: Table) -> Table:
    """The table without its empty columns."""
    kept = [column for column in range(len(table.head)) if _is_filled(table, column)]
    head = tuple(table.head[column] for column in kept)
    rows: list[tuple[Text, ...]] = []
    for row in table.rows:
        rows.append(tuple(row[column] for column in kept))
    right = tuple(kept.index(column) for column in table.right if column in kept)
    return Table(head, tuple(rows), right)


def _is_filled(table: Table, column: int) -> bool:
    return any(row[column] != NOTHING for row in table.rows)


def _row(
    comparison: Comparison, step: StepComparison, precision: int, relative: bool
) -> tuple[Text, ...]:
    name: Text = (step.name,)
    shapes: list[Text] = [("" if shape is None else shape_text(shape),) for shape in step.shapes]
    if step.one_sided:
        side = comparison.b if step.shapes[0] is None else comparison.a
        return (name, NOTHING, NOTHING, NOTHING, (f"only {side.word}",), *shapes)
    found = step.difference
    if found is None:
        return (name, NOTHING, NOTHING, NOTHING, ("shapes differ",), *shapes)
    # A column that has nothing in any row is left out.
    cells = NOTHING if relative else (differing_cells(found),)
    if not found.absolute:
        nothing_relative = ("0",) if relative else NOTHING
        return (name, cells, ("0",), nothing_relative, NOTHING, NOTHING, NOTHING)
    numbers = (NOTHING, NOTHING)
    if found.differing:
        numbers = distinct_numbers(found.a, found.b, precision)
    return (
        name,
        cells,
        magnitude(found.absolute, precision),
        magnitude(found.relative, precision) if relative else NOTHING,
        (brief_place(step, found.where),),
        *numbers,
    )


def differing_cells(found: Difference) -> str:
    """How many cells differ: none, all, or 2 of 9."""
    if not found.absolute or not found.differing:
        return "none"
    if found.differing == found.cells:
        return "all"
    return f"{found.differing:,} of {found.cells:,}"


def matrices(comparison: Comparison, step: StepComparison, precision: int) -> Iterator[Block]:
    """Both matrices and their difference, for every head and entry of a batch."""
    yield Heading(step.title)
    a, b = comparison.a, comparison.b
    ours = doubles(step.arranged(a[step.name]))
    theirs = doubles(step.arranged(b[step.name]))
    with np.errstate(invalid="ignore"):
        change = np.where(ours == theirs, 0, theirs - ours)
    parts = (
        (a.word, ours),
        (b.word, theirs),
        (f"{b.word} − {a.word}", change),
    )
    for outer in np.ndindex(ours.shape[:-2]):
        labels: list[str] = []
        for names, at in zip(step.labels, outer, strict=False):
            labels.append(names[at])
        where = ", ".join(labels)
        for word, values in parts:
            said = f"{where}, {word}:"
            if not where:
                said = f"{word[0].upper()}{word[1:]}:"
            yield Paragraph((said,))
            yield _grid(step, values[outer], precision)


def _grid(step: StepComparison, values: NDArray[np.float64], precision: int) -> Grid:
    """A matrix; numbers that are all too small for the decimals are shown with powers of ten.

    A vector is a column, and a single number is a matrix of one cell, which has no label.
    """
    labels = step.labels[len(step.labels) - values.ndim :]
    names = labels[0] if labels else ("",)
    heads = labels[1] if len(labels) > 1 else ()
    finite = values[np.isfinite(values)]
    largest = np.abs(finite).max(initial=0)
    spell = legible_number
    if largest >= 10.0 ** (1 - precision):
        spell = format_number
    cells: list[tuple[Cell, ...]] = []
    for row in values.reshape(len(names), -1).tolist():
        cells.append(tuple(Cell(spell(value, precision)) for value in row))
    symbol = in_symbols(Name(step.name))
    return Grid(symbol, names, heads, tuple(cells))


def step_data(step: StepComparison) -> dict[str, Any]:
    """One step: which sides have it, and how far these are apart if their shapes agree."""
    a, b = step.shapes
    data: dict[str, Any] = {
        "present": [side for side, shape in (("a", a), ("b", b)) if shape is not None],
        "shape": {"a": None if a is None else list(a), "b": None if b is None else list(b)},
        "differs": step.differs,
    }
    data |= {"transposed": step.transposed, "layout": step.layout}
    found = step.difference
    if found is None:
        return data
    return data | {
        "cells": found.cells,
        "differing": found.differing,
        "max_abs": json_float(found.absolute),
        "max_rel": json_float(found.relative),
        "where": {
            "index": list(found.where),
            "labels": [names[at] for names, at in zip(step.labels, found.where, strict=True)],
            "a": json_float(found.a),
            "b": json_float(found.b),
        },
        "needed_tolerance": json_float(found.needed),
        "factor": None if step.factor is None else json_float(step.factor),
        "hidden_both_ways": found.hidden,
    }
