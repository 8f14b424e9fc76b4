"""The main page: a whole trace as a worked derivation, or some of its steps, or one of its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attncli.page.document import Block, Document, Heading, Paragraph, sequence
from attncli.page.heads import head_context, selected_part
from attncli.page.printer import Printer, printer_for
from attncli.page.remarks import about, closing, notes
from attncli.page.sections import cell_section, given_section, step_section
from attncli.page.view import View
from attncli.tracing.model import Trace
from attncli.tracing.slices import leading_letters

if TYPE_CHECKING:
    from attncli.tracing.number_formats import FormatDeviation


def derivation(trace: Trace, view: View, deviation: FormatDeviation | None = None) -> Document:
    """The page for this view; raises (exit 2) where it asks for a step or a cell that is not there.

    A whole page in a lower number format closes with its `deviation` from float64.
    """
    whole, trace = trace, selected_part(trace, view)
    printer = printer_for(trace, view)
    if view.cell is not None:
        from attncli.page.selection import chosen_cell  # which names every step, and few pages need

        step, index = chosen_cell(trace, view.cell, whole)
        cell = (*head_context(whole, view, (step.name,)), *cell_section(printer, step, index))
        return Document(trace.title, (*notes(printer, cell), *cell), lambda: _data(trace, view))
    names = tuple(trace.steps)
    if view.steps is not None:
        from attncli.page.selection import chosen_steps

        names = chosen_steps(trace, view.steps, whole)

    def steps() -> Iterator[Block]:
        yield from head_context(whole, view, names)
        yield from sections_of(printer, names, view)

    blocks = sequence(steps, lazy=printer.is_large)

    def page() -> Iterator[Block]:
        if view.steps is None:
            yield Paragraph(about(printer))
        yield from notes(printer, blocks)
        yield from blocks
        if view.steps is None:
            yield from closing(printer, words=not leading_letters(trace) and not view.blank)
            yield from _apart(deviation, printer)

    return Document(trace.title, sequence(page, lazy=printer.is_large), lambda: _data(trace, view, deviation))


def _data(trace: Trace, view: View, deviation: FormatDeviation | None = None) -> dict[str, Any]:
    from attncli.page.data import view_data  # and all that JSON needs

    return view_data(trace, view, deviation)


def _apart(deviation: FormatDeviation | None, printer: Printer) -> Iterator[Block]:
    if deviation is not None:
        from attncli.page.number_formats import deviation_section  # and all comparisons, which few pages need

        yield from deviation_section(deviation, printer.precision)


def sections_of(printer: Printer, names: Sequence[str], view: View) -> Iterator[Block]:
    """The chosen steps of the forward pass, one after the other or place by place."""
    if leading_letters(printer.trace):
        from attncli.page.heads import forward_sections

        yield from forward_sections(printer, tuple(names), view)
        return
    steps = printer.trace.steps
    given = [steps[name] for name in names if steps[name].rule.given]
    if given and view.steps is None:
        yield Heading("What is given")
    for step in given:
        yield from given_section(printer, step, view.detail)
    numbers = {step.name: number for number, step in enumerate(printer.trace.computed(), 1)}
    for name in names:
        if name in numbers:
            yield from step_section(printer, steps[name], numbers[name], view.detail, view.heatmap)
