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
from attncli.tracing.difference import doubles
from attncli.tracing.json_numbers import json_float

# columns of the table of steps
NUMBERS = (1, 2, 3, 5, 6)
LARGEST = (
    "Each error is the largest of its step. The cell and the two numbers are those of the largest"
    " absolute error."
)


def steps_table(
    comparison: Comparison, precision: int, *, everything: bool = False, relative: bool = False
) -> Iterator[Block]:
    """A row for every step that differs between the sides, and a sentence that names the identical
    steps.

    With `everything`, the identical steps get a row, too. With `relative`, a column has the largest
    relative difference in place of how many cells differ, because a terminal has no room for both.
    """
    a, b = comparison.a, comparison.b
    identical = [step.name for step in comparison.steps if step.identical and not everything]
    rows = tuple(
        _row(comparison, step, precision, relative)
        for step in comparison.steps
        if step.name not in identical and (not step.one_sided or step in comparison.one_sided)
    )
    if rows:
        head = ("step", "differ", "absolute", "relative", "where", a.word, b.word)
        yield _filled(Table(head, rows, NUMBERS))
        if relative:
            yield Paragraph((LARGEST,))
    if identical:
        yield Paragraph((f"Identical to the last bit: {listed(identical)}.",))


def _filled(table: Table) -> Table:
    """The table without its empty columns."""
    kept = [
        place for place in range(len(table.head)) if any(row[place] != ("",) for row in table.rows)
    ]
    return Table(
        tuple(table.head[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in table.rows),
        tuple(now for now, place in enumerate(kept) if place in table.right),
    )


def _row(
    comparison: Comparison, step: StepComparison, precision: int, relative: bool
) -> tuple[Text, ...]:
    shapes: list[Text] = [("" if shape is None else shape_text(shape),) for shape in step.shapes]
    if step.one_sided:
        side = comparison.b if step.shapes[0] is None else comparison.a
        return ((step.name,), ("",), ("",), ("",), (f"only {side.word}",), *shapes)
    found = step.difference
    if found is None:
        return ((step.name,), ("",), ("",), ("",), ("shapes differ",), *shapes)
    nothing: Text = ("",)
    if not found.absolute:
        return (
            (step.name,),
            (nothing if relative else ("none",)),
            ("0",),
            (("0",) if relative else nothing),
            nothing,
            nothing,
            nothing,
        )
    numbers = (
        distinct_numbers(found.a, found.b, precision) if found.differing else (nothing, nothing)
    )
    differing = f"{found.differing:,} of {found.cells:,}" if found.differing else "none"
    if found.differing == found.cells:
        differing = "all"
    return (
        (step.name,),
        (nothing if relative else (differing,)),
        magnitude(found.absolute, precision),
        magnitude(found.relative, precision) if relative else nothing,
        (brief_place(step, found.where),),
        *numbers,
    )


def matrices(comparison: Comparison, step: StepComparison, precision: int) -> Iterator[Block]:
    """Both matrices and their difference, for every head and entry of a batch."""
    yield Heading(step.title)
    ours, theirs = (
        doubles(step.arranged(side[step.name])) for side in (comparison.a, comparison.b)
    )
    with np.errstate(invalid="ignore"):
        change = np.where(ours == theirs, 0, theirs - ours)
    a, b = comparison.a, comparison.b
    for outer in np.ndindex(ours.shape[:-2]):
        where = ", ".join(names[at] for names, at in zip(step.labels, outer, strict=False))
        for word, values in ((a.word, ours), (b.word, theirs), (f"{b.word} − {a.word}", change)):
            yield Paragraph((f"{where}, {word}:" if where else f"{word[0].upper()}{word[1:]}:",))
            yield _grid(step, values[outer], precision)


def _grid(step: StepComparison, values: NDArray[np.float64], precision: int) -> Grid:
    """A matrix; if all its numbers are too small for the decimals, they are shown with powers of
    ten.

    A vector is a column, and a single number is a matrix of one cell, which has no label.
    """
    labels = step.labels[len(step.labels) - values.ndim :]
    names, heads, *_ = (*labels, (), ()) if labels else (("",), ())
    finite = np.abs(values[np.isfinite(values)])
    spell = format_number if finite.max(initial=0) >= 10.0 ** (1 - precision) else legible_number
    rows = values.reshape(len(names), -1).tolist()
    cells = tuple(tuple(Cell(spell(value, precision)) for value in row) for row in rows)
    return Grid(in_symbols(Name(step.name)), names, heads, cells)


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
