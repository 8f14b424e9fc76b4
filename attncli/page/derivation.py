"""The main page: a whole trace as a worked derivation, or some of its steps, or one of its
cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.page.document import Block, Document, Heading, Lazy, Once, Paragraph
from attncli.page.notes_and_summary import about, closing, notes
from attncli.page.printer import Printer, printer_for
from attncli.page.sections import cell_section, given_section, step_pictures, step_section
from attncli.page.view import View, chosen_cell, chosen_query, chosen_steps, selected_part
from attncli.problem.parts.axes import PLACES
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.problem.model import Problem
    from attncli.tracing.number_formats import FormatDeviation


def derivation(trace: Trace, view: View, deviation: FormatDeviation | None = None) -> Document:
    """The page for this view; raises (exit 2) where it asks for a step or a cell that is not there.

    A whole page in a lower number format closes with its `deviation` from float64. Its blocks, and
    its data, are made when they are asked for.
    """
    whole, trace = trace, selected_part(trace, view)
    printer = printer_for(trace, view)
    if view.cell is not None:
        step, index = chosen_cell(trace, view.cell, whole)
        context = _head_context(whole, view, (step.name,))
        cell = (*context, *cell_section(printer, step, index))
        blocks_of_cell = (*notes(printer, cell), *cell)
        return Document(trace.title, blocks_of_cell, lambda: _data(whole, view))
    if view.query is not None:
        # Few pages have it, and it takes a while to import.
        from attncli.page.query import query_section

        row = chosen_query(trace, view.query)
        return Document(trace.title, tuple(query_section(trace, row)))
    names = tuple(trace.steps)
    if view.steps is not None:
        names = chosen_steps(trace, view.steps, whole)

    def steps() -> Iterator[Block]:
        yield from _head_context(whole, view, names)
        yield from sections_of(printer, names, view)

    if view.pictures and view.steps is not None:
        # Few pages have pictures, and what draws them takes a while to import.
        from attncli.page.pictures.blocks import require_pictured

        require_pictured(trace, names)
    kind = Lazy if printer.is_large else Once
    blocks = kind(steps)

    def page() -> Iterator[Block]:
        if view.steps is None:
            yield from beginning(printer, view)
        yield from notes(printer, blocks)
        yield from blocks
        if view.steps is None and not view.blank:
            yield from closing(printer, words=not trace.leading_letters)
        if view.steps is None:
            yield from _apart(deviation, printer)

    return Document(
        trace.title,
        kind(page),
        lambda: _data(whole, view, deviation),
        array=lambda: one_array(trace, names),
        rows=lambda: table_rows(trace, names),
    )


def beginning(printer: Printer, view: View) -> Iterator[Block]:
    """What is computed, in a line and as a chart."""
    yield Paragraph(about(printer))
    if view.pictures:
        from attncli.page.pictures.blocks import chart

        yield chart(printer.trace)


def one_array(trace: Trace, names: Sequence[str]) -> NDArray[Any]:
    """The numbers of the one step that is shown."""
    (name,) = names
    return trace[name]


def table_rows(trace: Trace, names: Sequence[str]) -> Iterator[tuple[str | int | float, ...]]:
    """The same numbers as rows of a table: the names of its columns, then each row after its
    labels.

    The last axis stands in columns, unless it is the only one. Every other axis has a column that
    says where a row is: by label, or for entries and heads by number.
    """
    (name,) = names
    step, values = trace.steps[name], trace[name]
    letters, axes = step.rule.target.letters, step.rule.axis_names
    named: list[str] = []
    for letter, axis in zip(letters, axes, strict=True):
        named.append(PLACES.get(letter, axis))
    kept = len(named)
    columns: Sequence[str] = (name,)
    if values.ndim > 1:
        kept -= 1
        columns = step.labels[-1]
    yield (*named[:kept], *columns)
    for row in np.ndindex(values.shape[:kept]):
        where: list[str | int] = []
        for letter, labels, place in zip(letters, step.labels, row, strict=False):
            is_numbered = letter in PLACES
            where.append(place if is_numbered else labels[place])
        numbers = values[row].reshape(-1)
        yield (*where, *numbers.tolist())


def page_deviation(
    problem: Problem, trace: Trace, view: View, warnings: list[str]
) -> FormatDeviation | None:
    """How a whole trace in a lower number format deviates from float64; a warning more where memory
    is too short.
    """
    whole = all(part is None for part in (view.steps, view.cell, view.head, view.entry))
    if trace.settings.dtype == "float64" or not whole:
        return None
    # Few pages compare, and what does takes a while to import.
    from attncli.tracing.number_formats import deviation_from_float64

    try:
        return deviation_from_float64(problem, trace, view.precision)
    except MemoryError:
        dtype = trace.settings.dtype
        warnings.append(
            f"the page does not compare {dtype} with float64: there is not enough memory for both"
        )
        return None


def _data(trace: Trace, view: View, deviation: FormatDeviation | None = None) -> dict[str, Any]:
    # It brings all that JSON needs.
    from attncli.page.data import view_data

    return view_data(trace, view, deviation)


def _apart(deviation: FormatDeviation | None, printer: Printer) -> Iterator[Block]:
    if deviation is not None:
        # Few pages compare, and what does takes a while to import.
        from attncli.page.number_formats import deviation_section

        yield from deviation_section(deviation, printer.precision)


def _head_context(whole: Trace, view: View, names: Sequence[str]) -> Iterator[Block]:
    if view.head is not None:
        # Few pages have heads, and what makes them takes a while to import.
        from attncli.page.heads import head_context

        yield from head_context(whole, view, names)


def sections_of(printer: Printer, names: Sequence[str], view: View) -> Iterator[Block]:
    """The chosen steps of the forward pass, one after the other or place by place."""
    if printer.trace.leading_letters:
        from attncli.page.heads import forward_sections

        yield from forward_sections(printer, tuple(names), view)
        return
    steps = printer.trace.steps
    chosen = [steps[name] for name in names]
    given = [step for step in chosen if step.rule.given]
    if given and view.steps is None:
        yield Heading("What is given")
    for step in given:
        yield from given_section(printer, step, view.detail)
    computed = printer.trace.computed()
    numbers = {step.name: number for number, step in enumerate(computed, 1)}
    for step in chosen:
        if step.name not in numbers:
            continue
        number = numbers[step.name]
        yield from step_section(printer, step, number, view.detail, view.heatmap)
        yield from step_pictures(printer, step.name, view, {})
