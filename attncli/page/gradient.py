"""The page of `attncli gradient`: the way forward in brief, then every step of the way back as a worked derivation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.attention.registry import in_symbols
from attncli.english import count
from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, number_node
from attncli.equation.parser import parse_expression
from attncli.equation.rule import Rule
from attncli.page.data import view_data
from attncli.page.derivation import one_array, sections_of
from attncli.page.document import Block, Document, Formula, Heading, Lazy, Math, Once, Paragraph, Text, text
from attncli.page.heads import HeadPart, backward_sections, head_context
from attncli.page.printer import Printer, printer_for
from attncli.page.remarks import about, notes, summary
from attncli.page.sections import cell_section, given_section, grid, step_section
from attncli.page.view import View, chosen_cell, chosen_steps, selected_part
from attncli.page.worked import worked
from attncli.problem.model import Scalar, read_only
from attncli.tracing.cell_workers import ExactWorker
from attncli.tracing.model import Step, Trace, masked_out
from attncli.tracing.slices import backward_steps, cut_trace, forward_steps, loss_steps

if TYPE_CHECKING:
    from attncli.tracing.number_formats import FormatDeviation

NOTHING = 1e-12  # of a gradient that is but roundings


def gradient_page(
    trace: Trace,
    view: View,
    further: Sequence[Block] = (),
    further_data: Callable[[], Mapping[str, Any]] = dict,
    deviation: FormatDeviation | None = None,
) -> Document:
    """The page for this view; raises (exit 2) where it asks for a step or a cell that is not there.

    It ends with `further` sections, of what else was asked of the gradients; `further_data` are the same for programs,
    who are also told the `deviation` of a lower number format from float64.
    """
    whole, trace = trace, selected_part(trace, view)
    printer = printer_for(trace, view)
    if view.cell is not None:
        step, index = chosen_cell(trace, view.cell, whole)
        names: tuple[str, ...] = (step.name,)
    else:
        names = tuple(trace.steps) if view.steps is None else chosen_steps(trace, view.steps, whole)

    def steps() -> Iterator[Block]:
        if view.cell is not None:
            yield from head_context(whole, view, names)
            yield from cell_section(printer, step, index)
            if is_softmax(trace, step.name) and not trace.leading_letters:
                yield from jacobian_section(printer, step, index[0])
        elif view.steps is not None:
            there = [name for name in names if name in forward_steps(trace)]
            yield from sections_of(printer, there, view)
            yield from _back(printer, [name for name in names if name not in there], view)
        else:
            yield from _both_ways(printer, view)
        yield from further

    kind = Lazy if printer.is_large else Once
    blocks = kind(steps)

    def page() -> Iterator[Block]:
        if view.cell is None and view.steps is None:
            yield from _start(printer, whole)
        yield from notes(printer, blocks)
        yield from blocks

    return Document(
        trace.title,
        kind(page),
        lambda: {**view_data(whole, view, deviation), **further_data()},
        array=lambda: one_array(trace, names),
    )


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
    brief = replace(view, detail="brief", steps=forward_steps(trace))
    yield from sections_of(printer, forward_steps(trace), brief)
    if loss_steps(trace):
        yield Heading("The loss", part=True)
        yield from _back(printer, loss_steps(trace), view)
    yield Heading("The way back", part=True)
    yield from _back(printer, backward_steps(trace), view)
    yield Heading("Summary", part=bool(trace.leading_letters))
    worked = [trace.steps[name] for name in backward_steps(trace) if not trace.steps[name].rule.given]
    yield from summary(printer, worked, "Gradient of the")


def _back(printer: Printer, names: Sequence[str], view: View) -> Iterator[Block]:
    """The chosen steps of the loss or of the way back: at once in a single head, else place by place."""
    trace = printer.trace
    if not trace.leading_letters:
        yield from _steps(printer, printer, names, view, ())
        return
    explained: set[str] = set()

    def show(part: HeadPart) -> Iterator[Block]:
        here = replace(printer, trace=cut_trace(trace, part.place))
        yield Heading(part.title, part=True)
        yield from _steps(printer, here, part.names, view, explained)
        explained.update(part.names)

    yield from backward_sections(printer, names, show)


def _steps(
    whole: Printer, here: Printer, names: Sequence[str], view: View, explained: Collection[str]
) -> Iterator[Block]:
    """Steps of one place, numbered as in the whole trace; those `explained` have been explained before."""
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    for name in names:
        step = here.trace.steps[name]
        if step.rule.given:
            yield from given_section(here, step, view.detail, explained=name in explained)
            continue
        yield from step_section(here, step, numbers[name], view.detail, view.heatmap, explained=name in explained)
        if is_softmax(here.trace, name) and view.detail != "brief" and name not in explained:
            yield from jacobian_section(here, step)


WIDEST = 12  # keys of a row whose Jacobian is shown unasked


def jacobian_section(printer: Printer, gradient: Step, row: int | None = None) -> Iterator[Block]:
    """The Jacobian of a row of a single head, by default the first in which more than one key has a share.

    `gradient` is that of what the softmax saw. Nothing where there is no such row, where it is too wide, or where it
    would tell what is left blank.
    """
    weights = printer.trace.steps["weights"]
    if not printer.may_show_work(gradient) or "weights" in printer.blank:
        return
    if row is None:
        shared = [number for number, each in enumerate(weights.value) if np.count_nonzero(each) > 1]
        if not shared or weights.shape[1] > WIDEST:
            return
        row = shared[0]
    base = printer.trace.parameters.get("exp_base")
    slope = np.log(base.value) if isinstance(base, Scalar) else 1.0
    a = weights.value[row].astype(np.float64)
    cell = _times_slope(printer, _cell(f"weights[{row}, j]", f"weights[{row}, l]"))
    rule = Rule("J", "J", "Jacobian", Equation(Ref("J", ("j", "l")), cell))
    jacobian = Step(rule, read_only(slope * (np.diag(a) - np.outer(a, a))), weights.labels[1:] * 2)
    if weights.exact is not None:
        worker = ExactWorker(printer.trace.parameters, {"j": len(a), "l": len(a)}, {"weights": weights.exact})
        worked_exactly = worker.work(rule)
        jacobian = replace(jacobian, value=worked_exactly.value, exact=worked_exactly.exact)
    product = Reduce("add", "l", parse_expression(f"J[j, l] * d_weights[{row}, l]"))
    exact = None if gradient.exact is None else gradient.exact[row]
    rule_of_row = Rule("row", "", "", Equation(Ref("row", ("j",)), product))
    of_row = Step(rule_of_row, gradient.value[row], gradient.labels[1:], exact=exact)
    steps = {**printer.trace.steps, jacobian.name: jacobian, of_row.name: of_row}
    inside = replace(printer, trace=replace(printer.trace, steps=steps))

    hidden = masked_out(printer.trace.steps)
    unseen = 0 if hidden is None else int(hidden[row].sum())
    scores = count(len(a), "score") + (f", {unseen:,} of them hidden," if unseen else "")
    said = f'Take one row, that of "{weights.labels[0][row]}": its softmax turns {scores} into the weights '
    rest = ". Their derivatives are a square matrix, the Jacobian: how much each weight changes with each score."
    yield Paragraph((said, *printer.prose("`a`"), rest))
    yield _formula(printer, Ref("J"), _times_slope(printer, parse_expression("diagonal(a) - a @ transposed(a)")))
    yield _formula(printer, rule.target, _times_slope(printer, _cell("a[j]", "a[l]")))
    yield grid(inside, jacobian)
    yield worked(inside, jacobian, "rows")
    yield Paragraph(("The Jacobian times the gradient of the weights is the same row as above, worked the long way:",))
    yield _formula(printer, Ref(gradient.rule.symbol, (number_node(row), "j")), product)
    yield worked(inside, of_row, "rows")


def _cell(one: str, other: str) -> Expression:
    """A cell of the Jacobian, of two weights of the row."""
    return parse_expression(f"where(j == l, {one} * (1 - {one}), -{one} * {other})")


def _times_slope(printer: Printer, expression: Expression) -> Expression:
    """The same times ln b, where the softmax takes powers of b instead of e."""
    if "exp_base" not in printer.trace.parameters:
        return expression
    return Call("mul", (parse_expression("log(exp_base)"), expression))


def _formula(printer: Printer, target: Ref, expression: Expression) -> Formula:
    return Formula(printer.formula(Equation(target, in_symbols(expression))))
