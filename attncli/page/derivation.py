"""The main page: a whole trace as a worked derivation, or some of its steps, or one of its
cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.attention.registry import in_symbols
from attncli.equation.nodes import Name
from attncli.page.document import Block, Document, Heading, Lazy, Math, Once, Paragraph
from attncli.page.notes_and_summary import about, notes, summary, with_note_on_rounding
from attncli.page.printer import Printer, printer_for
from attncli.page.sections import cell_section, given_section, step_pictures, step_section
from attncli.page.short.opening import opening
from attncli.page.short.overview import overview
from attncli.page.short.sections import ShownOnce, is_used, short_sections
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
        blocks_of_cell = (*notes(printer), *with_note_on_rounding(printer, cell))
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

    def page() -> Iterator[Block]:
        if view.steps is None:
            yield from beginning(printer, view)
            yield from notes(printer)
            yield from overview(printer, view)
        else:
            yield from notes(printer)
        yield from with_note_on_rounding(printer, steps())
        if view.steps is None:
            yield from _apart(deviation, printer)
        elif view.summary:
            yield from _steps_before(printer, names)

    is_whole = view.steps is None and view.head is None and view.entry is None
    return Document(
        trace.title,
        kind(page),
        lambda: _data(whole, view, deviation),
        array=lambda: one_array(trace, names),
        rows=lambda: table_rows(trace, names),
        opening=opening(trace, has_all_numbers=not view.blank) if is_whole else "",
    )


def beginning(printer: Printer, view: View) -> Iterator[Block]:
    """What is computed, in a line and as a chart."""
    yield Paragraph(about(printer))
    if view.pictures:
        from attncli.page.pictures.blocks import chart

        yield chart(printer.trace)


def _steps_before(printer: Printer, names: Sequence[str]) -> Iterator[Block]:
    """The steps at a glance, from the first up to the last that is shown, where others are left
    out.
    """
    computed = printer.trace.computed()
    shown = [place for place, step in enumerate(computed) if step.name in names]
    if not shown:
        return
    needed = computed[: shown[-1] + 1]
    if len(needed) > len(shown):
        yield Heading("Summary", part=bool(printer.trace.leading_letters))
        yield from _where_from(printer, names)
        yield from summary(printer, needed)


def _where_from(printer: Printer, names: Sequence[str]) -> Iterator[Block]:
    """Where the matrices come from that the shown steps read, and the page does not show."""
    steps = printer.trace.steps
    read = {name for shown in names for name in steps[shown].rule.inputs}
    places: list[tuple[Math, str]] = []
    for number, step in enumerate(printer.trace.computed(), 1):
        if step.name in read and step.name not in names:
            symbol = in_symbols(Name(step.name), step.rule.symbols)
            places.append((Math(symbol), f" of step {number}"))
    said: list[str | Math] = ["The steps above read "]
    for place, each in enumerate(places, 1):
        if place > 1:
            said.append(" and " if place == len(places) else ", ")
        said += each
    if places:
        yield Paragraph((*said, "."))


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
    given = [name for name in names if steps[name].rule.given]
    computed = [name for name in names if not steps[name].rule.given]
    if view.short:
        yield from _short(printer, given, computed, view)
        return
    if given and view.steps is None:
        yield Heading("What is given")
    for name in given:
        yield from given_section(printer, steps[name], view.detail)
    numbers = {step.name: number for number, step in enumerate(printer.trace.computed(), 1)}
    for name in computed:
        yield from step_section(printer, steps[name], numbers[name], view.detail, view.heatmap)
        yield from step_pictures(printer, name, view, {})


def _short(
    printer: Printer, given: Sequence[str], computed: Sequence[str], view: View
) -> Iterator[Block]:
    """What is given and stands at no step, and all of it where there are only matrices; then the
    steps.
    """
    trace = printer.trace
    once = ShownOnce(trace, given)
    is_brief = view.detail == "brief"
    apart = [name for name in given if is_brief or not is_used(trace, name, computed)]
    if apart and view.steps is None:
        yield Heading("What is given")
    for name in apart:
        yield from given_section(printer, trace.steps[name], view.detail, bare=True)
        once.show(name, {})
    yield from short_sections(printer, printer, computed, view, once, {})
