"""Which cells of a step are worked out: every one, or one for each row, or a pair that rotates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from attncli.equation.nodes import Call, Name, Number
from attncli.equation.substitution import substitute
from attncli.page.document import Worked, WorkedLine, sequence
from attncli.page.printer import Printer
from attncli.page.worked.worked_line import LineWriter
from attncli.tracing.model import Step, Trace, hidden_beside, step_of_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray


def worked(printer: Printer, step: Step, detail: str, column: int | None = None) -> Worked:
    """The worked lines of a step: one for each row ("rows"), or one for every cell ("cells").

    The cell that stands for a row is in the `column` that is asked for, if any.
    """
    if step.rule.given or step.rule.is_copy:
        return Worked(())
    every_cell = detail == "cells" or lists_closed_forms(printer, step)
    # The rows of a vector over queries have a single cell each.
    has_columns = len(step.shape) > 1 and step.rule.axis_names[-1] != "query"
    axes_of_rows = step.shape[:-1] if has_columns else step.shape
    rows = list(np.ndindex(axes_of_rows))
    columns = range(0)
    if has_columns:
        columns = range(step.shape[-1])

    representatives = _Representatives(printer.trace, step)

    def representative(row: tuple[int, ...]) -> int:
        return representatives.column(row) if column is None else column

    def cells_of(row: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not has_columns:
            yield row
        elif every_cell:
            for each in printer.ends_or_all(columns):
                yield (*row, each)
        else:
            yield (*row, representative(row))

    def lines() -> Iterator[WorkedLine]:
        writer = LineWriter(printer, step, many=True)
        for row in printer.ends_or_all(rows):
            for cell in cells_of(row):
                yield from writer.lines(cell, in_full=detail == "cells")

    columns_worked = len(columns) if every_cell else 0
    left = printer.left_out_of(row=len(rows), column=columns_worked)
    return Worked(sequence(lines, lazy=printer.is_large), left)


def lists_closed_forms(printer: Printer, step: Step) -> bool:
    """Whether every cell has a line, since the matrix of its closed forms would be too wide."""
    if step.exact is None:
        return False
    # Few pages have closed forms, and what works with them takes a while to import.
    from attncli.page.worked.closed_forms import need_lines

    return need_lines(printer, step)


def worked_cells(printer: Printer, step: Step, cells: Iterable[tuple[int, ...]]) -> Worked:
    """The worked lines of some cells of a step, in full."""
    writer = LineWriter(printer, step)
    lines: list[WorkedLine] = []
    for cell in cells:
        of_cell = writer.lines(cell, in_full=True)
        lines.extend(of_cell)
    return Worked(tuple(lines))


def rotated_pair(
    printer: Printer, step: Step, index: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """The two cells that a 2×2 matrix rotates together, of which this is one, in order.

    Of a step that rotates nothing, it is just this cell.
    """
    form = step.rule.matrix_form
    if not isinstance(form, Call) or form.function != "rotate":
        return (index,)
    rotated = form.arguments[:1]
    pair: set[tuple[int, ...]] = set()

    def note(name: str, at: tuple[int, ...]) -> Number:
        is_in_row = at[:-1] == index[:-1]
        if is_in_row and Name(name) in rotated:
            pair.add(at)
        return printer.number(name, at)

    place = dict(zip(step.rule.target.letters, index, strict=True))
    substitute(step.rule.equation.expression, place, {}, note, printer.scalars())
    return tuple(sorted(pair))


class _Representatives:
    """Which cell of a row of a step stands for it.

    Of a query and its keys this is where the query looks most, so one thread runs through all
    steps. In the mask it is the first key that is hidden, and in one row of the steps between the
    mask and the weights, too: there one sees what becomes of it. In other steps the column goes on
    with the row, so that all columns are seen.
    """

    def __init__(self, trace: Trace, step: Step) -> None:
        self.step = step
        self.weights: Step | None = None
        self.hidden: NDArray[np.bool_] | None = None
        if step.rule.axis_names[-2:] != ("query", "key"):
            return
        weights = step_of_pairs(trace.steps)
        # A step of a problem's own may count only some of the keys.
        if weights is not None and weights.shape[-1] == step.shape[-1]:
            self.weights = weights
        if step.name == "mask":
            self.hidden = step.value == -inf
        elif _is_masked(trace, step, weights):
            self.hidden = _of_first_rows(hidden_beside(trace.steps, step))

    def column(self, row: tuple[int, ...]) -> int:
        """The column of the cell that stands for a row."""
        if self.hidden is not None and self.hidden[row].any():
            return int(np.argmax(self.hidden[row]))
        if self.weights is not None:
            return self._most_seen(self.weights, row)
        *_, number = row
        return number % self.step.shape[-1]

    def _most_seen(self, weights: Step, row: tuple[int, ...]) -> int:
        *leading, _ = weights.rule.target.letters
        place = dict(zip(self.step.rule.target.letters, row, strict=False))
        # A mask of all heads has no place on their axis: it looks where the first head does.
        index = tuple(place.get(letter, 0) for letter in leading)
        return int(np.argmax(weights.value[index]))


def _is_masked(trace: Trace, step: Step, weights: Step | None) -> bool:
    """Whether a step is between the mask and the weights."""
    names = list(trace.steps)
    if weights is None or "mask" not in names:
        return False
    return names.index("mask") < names.index(step.name) < names.index(weights.name)


def _of_first_rows(hidden: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """The hidden cells of the first row of each matrix that has any."""
    if hidden is None:
        return None
    hidden_in_row = np.count_nonzero(hidden, axis=-1, keepdims=True)
    hidden_so_far = np.cumsum(hidden_in_row, axis=-2)
    is_first: NDArray[np.bool_] = hidden_so_far == hidden_in_row
    found: NDArray[np.bool_] = hidden & is_first
    return found
