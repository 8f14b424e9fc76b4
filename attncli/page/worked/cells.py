"""Which cells of a step are worked out: every one, the one that stands for its row, or a rotated
pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import inf

import numpy as np

from attncli.equation.nodes import Call, Name, Number
from attncli.equation.substitution import substitute
from attncli.page.document import Worked, WorkedLine, sequence
from attncli.page.printer import Printer
from attncli.page.worked.line import LineWriter
from attncli.tracing.model import Step, Trace


def worked(printer: Printer, step: Step, detail: str) -> Worked:
    """The worked lines of a step: one for each row ("rows"), or one for every cell ("cells")."""
    if step.rule.given or step.rule.is_copy:
        return Worked(())
    every = detail == "cells" or lists_closed_forms(printer, step)
    # a row has more than one cell
    along = len(step.shape) > 1 and step.rule.axis_names[-1] != "query"
    rows = list(product(*map(range, step.shape[:-1] if along else step.shape)))
    columns = range(step.shape[-1]) if along else ()

    def places() -> Iterator[tuple[int, ...]]:
        for row in printer.elide(rows):
            if along and every:
                yield from ((*row, column) for column in printer.elide(columns))
            else:
                yield _representative(printer.trace, step, row) if along else row

    def lines() -> Iterator[WorkedLine]:
        writer = LineWriter(printer, step, many=True)
        for place in places():
            yield from writer.lines(place, in_full=detail == "cells")

    left = printer.left_out(row=len(rows), column=len(columns) if every else 0)
    return Worked(sequence(lines, lazy=printer.is_large), left)


def lists_closed_forms(printer: Printer, step: Step) -> bool:
    """Whether every cell has a line of its own, since a matrix of its closed forms would be too
    wide.
    """
    if step.exact is None:
        return False
    from attncli.page.worked.closed_forms import need_lines

    return need_lines(printer, step)


def worked_cells(printer: Printer, step: Step, cells: Iterable[tuple[int, ...]]) -> Worked:
    """The worked lines of some cells of a step, in full."""
    writer = LineWriter(printer, step)
    return Worked(tuple(line for cell in cells for line in writer.lines(cell, in_full=True)))


def rotated_pair(
    printer: Printer, step: Step, index: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """The cells of a rotation by a 2×2 matrix that this cell is one of, in order; of any other
    step, just this cell.
    """
    form = step.rule.matrix_form
    if not isinstance(form, Call) or form.function != "rotate":
        return (index,)
    read: list[tuple[int, ...]] = []

    def note(name: str, at: tuple[int, ...]) -> Number:
        read.extend([at] if at[:-1] == index[:-1] and Name(name) in form.arguments[:1] else [])
        return printer.number(name, at)

    place = dict(zip(step.rule.target.letters, index, strict=True))
    substitute(step.rule.equation.expression, place, {}, note, printer.scalars())
    return tuple(sorted(read))


def _representative(trace: Trace, step: Step, row: tuple[int, ...]) -> tuple[int, ...]:
    """The cell that stands for its row: where the query looks most, so that one thread runs through
    all steps.
    """
    if step.rule.axis_names[-2:] != ("query", "key"):
        return (*row, 0)
    hidden = step.value[row] == -inf
    if step.name == "mask" and hidden.any():
        return (*row, int(np.argmax(hidden)))
    weights = trace.steps["weights"]
    # a mask of all heads looks where the first one does
    place = dict(zip(step.rule.target.letters, row, strict=False))
    index = tuple(place.get(letter, 0) for letter in weights.rule.target.letters[:-1])
    return (*row, int(np.argmax(weights.value[index])))
