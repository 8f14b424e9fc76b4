"""The page of `attncli gradient`: the way forward in brief, then every step of the way back as a worked derivation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attncli.attention.registry import in_symbols
from attncli.equation.nodes import Name
from attncli.page.closing import summary
from attncli.page.data import view_data
from attncli.page.derivation import sections_of
from attncli.page.document import Block, Document, Heading, Math, Paragraph, Text, text
from attncli.page.jacobian import jacobian_section
from attncli.page.place import among_others, shown
from attncli.page.printer import Printer, printer_for
from attncli.page.remarks import about, notes
from attncli.page.section import cell_section, given_section, step_section
from attncli.page.selection import chosen_cell, chosen_steps
from attncli.page.view import View
from attncli.page.ways import Part, sections
from attncli.tracing.model import Trace
from attncli.tracing.slices import backward, cut, forward, leading, of_loss

NOTHING = 1e-12  # of a gradient that is but roundings


def gradient_page(
    trace: Trace,
    view: View,
    further: Sequence[Block] = (),
    further_data: Callable[[], Mapping[str, Any]] = dict,
) -> Document:
    """The page for this view; raises (exit 2) where it asks for a step or a cell that is not there.

    It ends with `further` sections, of what else was asked of the gradients; `further_data` are the same for programs.
    """
    whole, trace = trace, shown(trace, view)
    printer = printer_for(trace, view)
    if view.cell is not None:
        step, index = chosen_cell(trace, view.cell, whole)
        blocks = (*among_others(whole, view, (step.name,)), *cell_section(printer, step, index))
        if is_softmax(trace, step.name) and not leading(trace):
            blocks = (*blocks, *jacobian_section(printer, step, index[0]))
    elif view.steps is not None:
        names = chosen_steps(trace, view.steps, whole)
        there = [name for name in names if name in forward(trace)]
        blocks = (
            *sections_of(printer, there, view),
            *_back(printer, [name for name in names if name not in there], view),
        )
    else:
        blocks = tuple(_both_ways(printer, view))
    start = (*_start(printer, whole),) if view.cell is None and view.steps is None else ()
    blocks = (*blocks, *further)
    page = (*start, *notes(printer, blocks), *blocks)
    return Document(trace.title, page, lambda: {**view_data(whole, view), **further_data()})


def is_softmax(trace: Trace, name: str) -> bool:
    """Whether a step takes the gradient through the softmax: the first that reads the mean gradients."""
    return next((each for each in trace.steps if "delta" in trace.steps[each].rule.inputs), "") == name


def _start(printer: Printer, whole: Trace) -> Iterator[Paragraph]:
    yield Paragraph(about(printer))
    yield Paragraph(_loss(printer.trace))
    flat = "d_scores" in whole and np.abs(whole["d_scores"]).max(initial=0.0) < NOTHING
    if flat and "loss" not in whole:
        said = (
            "No score has a gradient here: with this ", Math(in_symbols(Name("d_output"))), " every value counts the "
            "same, so that the loss does not depend on the weights. A d_output or a loss in the problem changes that.",
        )  # fmt: skip
        yield Paragraph(said, "note")


def _loss(trace: Trace) -> Text:
    """What a gradient is, and with which one the way back begins."""
    begins = "given here"
    if "row_loss" in trace:
        begins = "that of the loss, a cross-entropy"
    elif "loss" in trace:
        begins = "that of the loss, a mean of squared errors"
    elif (trace["d_output"] == 1).all():
        begins = "all ones here, as of a loss that is the sum of all outputs"
    return text(
        "The gradient of a matrix has its shape: each number tells how much the loss grows with the number in its "
        "place. `dQ` is that of `Q`. It comes by the chain rule, step by step, from the last to the first: the way "
        f"back begins with `dO`, {begins}."
    )


def _both_ways(printer: Printer, view: View) -> Iterator[Block]:
    trace = printer.trace
    yield Heading("The way forward, in brief", part=True)
    brief = replace(view, detail="brief", steps=forward(trace))
    yield from sections_of(printer, forward(trace), brief)
    if of_loss(trace):
        yield Heading("The loss", part=True)
        yield from _back(printer, of_loss(trace), view)
    yield Heading("The way back", part=True)
    yield from _back(printer, backward(trace), view)
    yield Heading("Summary", part=bool(leading(trace)))
    worked = [trace.steps[name] for name in backward(trace) if not trace.steps[name].rule.given]
    yield from summary(printer, worked, "Gradient of the")


def _back(printer: Printer, names: Sequence[str], view: View) -> Iterator[Block]:
    """The chosen steps of the loss or of the way back: at once in a single head, else place by place."""
    trace = printer.trace
    if not leading(trace):
        yield from _steps(printer, printer, names, view, ())
        return
    told: set[str] = set()

    def show(part: Part) -> Iterator[Block]:
        here = replace(printer, trace=cut(trace, part.place))
        yield Heading(part.title, part=True)
        yield from _steps(printer, here, part.names, view, told)
        told.update(part.names)

    yield from sections(printer, names, show)


def _steps(whole: Printer, here: Printer, names: Sequence[str], view: View, told: Collection[str]) -> Iterator[Block]:
    """Steps of one place, numbered as in the whole trace; those `told` have been explained before."""
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    for name in names:
        step = here.trace.steps[name]
        if step.rule.given:
            yield from given_section(here, step, view.detail, told=name in told)
            continue
        yield from step_section(here, step, numbers[name], view.detail, view.heatmap, told=name in told)
        if is_softmax(here.trace, name) and view.detail != "brief" and name not in told:
            yield from jacobian_section(here, step)
