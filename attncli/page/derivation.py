"""The main page: a whole trace as a worked derivation, or some of its steps, or one of its cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attncli.page.closing import closing
from attncli.page.data import cell_data, trace_data
from attncli.page.document import Block, Document, Heading, Paragraph, Text, Worked, WorkedLine, text
from attncli.page.printer import Printer
from attncli.page.section import cell_section, given_section, step_section
from attncli.page.selection import chosen_cell, chosen_steps
from attncli.trace.model import Step, Trace


@dataclass(frozen=True, slots=True)
class View:
    """What of a trace is shown, and how.

    `detail` is "brief" (matrices only), "rows" (a worked line per row) or "cells" (every cell worked);
    `steps` the names of the only steps wanted, `cell` such as "scores[0,1]" the only cell.
    """

    detail: str = "rows"
    precision: int = 3
    steps: tuple[str, ...] | None = None
    cell: str | None = None
    heatmap: bool = False


def derivation(trace: Trace, view: View) -> Document:
    """The page for this view; raises (exit 2) where it asks for a step or a cell that is not there."""
    printer = Printer(trace, view.precision)
    if view.cell is not None:
        step, index = chosen_cell(trace, view.cell)
        blocks = tuple(cell_section(printer, step, index))
        page = (*_notes(trace, blocks, view.precision), *blocks)
        return Document(trace.title, page, lambda: cell_data(trace, step, index, printer))
    names = tuple(trace.steps) if view.steps is None else chosen_steps(trace, view.steps)
    blocks = tuple(_sections(printer, names, view))
    page = (*_notes(trace, blocks, view.precision), *blocks)
    if view.steps is None:
        page = (Paragraph(_about(trace)), *page, *closing(trace))
    return Document(trace.title, page, lambda: trace_data(trace, names, printer, view.detail))


def _sections(printer: Printer, names: tuple[str, ...], view: View) -> Iterator[Block]:
    steps = printer.trace.steps
    given = [steps[name] for name in names if steps[name].rule.given]
    if given and view.steps is None:
        yield Heading("What is given", 2)
    for step in given:
        yield from given_section(printer, step)
    numbers = {step.name: number for number, step in enumerate(_computed(printer.trace), 1)}
    for name in names:
        if name in numbers:
            yield from step_section(printer, steps[name], numbers[name], view.detail, view.heatmap)


def _computed(trace: Trace) -> list[Step]:
    return [step for step in trace.steps.values() if not step.rule.given]


def _about(trace: Trace) -> Text:
    """One line: what is computed here, and with which sizes and settings."""
    queries, keys = len(trace.tokens), len(trace.context_tokens)
    tokens = f"{queries} tokens" if trace.self_attention else f"{queries} queries, {keys} keys"
    source = [f"Scaled dot-product attention: {tokens}, "]
    if trace.settings["score"] != "scaled_dot":
        source = [f"Attention with the {trace.settings['score'].replace('_', ' ')} score: {tokens}, "]
    if "X" in trace:
        source.append(f"`d_model` = {trace['X'].shape[1]}, ")
    source.append(f"`d_k` = {trace['K'].shape[1]}, `d_v` = {trace['V'].shape[1]}")
    if trace.settings["mask"]:
        source.append(f"; mask: {', '.join(trace.settings['mask'])}")
    if trace.settings["dtype"] != "float64":
        source.append(f"; computed in {trace.settings['dtype']}")
    if trace.settings["device"] != "cpu":
        source.append(f"; device: {trace.settings['device']}")
    return text("".join(source) + ".")


def _notes(trace: Trace, blocks: tuple[Block, ...], precision: int) -> Iterator[Block]:
    for warning in trace.warnings:
        yield Paragraph((warning[0].upper() + warning[1:] + ".",), "warning")
    if trace.truth is not None:
        yield from _paper_notes(trace, trace.truth, precision)
    elif any(not line.exact for line in _worked_lines(blocks)):
        said = "≈ marks a line whose printed numbers are rounded; inside, every step is computed at full precision."
        yield Paragraph((said,), "note")


def _paper_notes(trace: Trace, truth: Trace, precision: int) -> Iterator[Block]:
    decimals = f"{precision} decimal{'' if precision == 1 else 's'}"
    yield Paragraph(
        (
            f"Worked as on paper: every number is rounded half up to {decimals}, and the rounded number feeds the "
            "next step. Inputs are not rounded. ≈ marks a line whose printed numbers do not give the printed result.",
        ),
        "note",
    )
    ours, true = Printer(trace, precision), Printer(truth, precision)
    for step in _computed(trace):
        places = [index for index in np.ndindex(step.shape)]
        other = [index for index in places if ours.text(step, index) != true.text(truth.steps[step.name], index)]
        differing = [
            index for index in other if abs(step.value[index] - truth[step.name][index]) > 10.0**-precision / 2
        ]
        if differing:
            worst = max(differing, key=lambda index: abs(step.value[index] - truth[step.name][index]))
            labels = ", ".join(axis[place] for axis, place in zip(step.labels, worst, strict=True))
            said = (
                f"{step.rule.title}: {len(differing)} of {len(places)} cells are not the true value at {decimals}, the "
                f"farthest at {labels}: {ours.text(step, worst)} here, {true.text(truth.steps[step.name], worst)} in truth."
            )
            yield Paragraph((said,), "note")


def _worked_lines(blocks: tuple[Block, ...]) -> Iterator[WorkedLine]:
    for block in blocks:
        if isinstance(block, Worked):
            yield from block.lines
