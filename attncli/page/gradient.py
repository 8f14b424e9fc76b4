"""The page of `attncli gradient`: the forward pass in brief, then every step of the backward pass
worked out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.attention.registry import gradient_name, in_symbols
from attncli.english import count
from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, number_node
from attncli.equation.parser import parse_expression
from attncli.equation.rule import Rule
from attncli.page.data import view_data
from attncli.page.derivation import beginning, one_array, sections_of, table_rows
from attncli.page.document import (
    Block,
    Document,
    Formula,
    Heading,
    Lazy,
    Math,
    Once,
    Paragraph,
    Text,
    text,
)
from attncli.page.grid import grid
from attncli.page.heads import HeadPart, backward_sections, head_context
from attncli.page.notes_and_summary import notes, summary, with_note_on_rounding
from attncli.page.printer import Printer, printer_for
from attncli.page.sections import cell_section, given_section, step_pictures, step_section
from attncli.page.short.sections import ShownOnce
from attncli.page.view import View, chosen_cell, chosen_steps, selected_part
from attncli.page.worked.cells import worked
from attncli.problem.matrix import Scalar, read_only
from attncli.tracing.cell_workers import ExactWorker
from attncli.tracing.model import Step, Trace, masked_out
from attncli.tracing.slices import (
    backward_steps,
    cut_trace,
    forward_steps,
    loss_steps,
    with_key_head,
)

if TYPE_CHECKING:
    from attncli.tracing.number_formats import FormatDeviation

# A gradient below this is only rounding.
LARGEST_ROUNDING = 1e-12


def gradient_page(
    trace: Trace,
    view: View,
    further: Sequence[Block] = (),
    further_data: Callable[[], Mapping[str, Any]] = dict,
    deviation: FormatDeviation | None = None,
) -> Document:
    """The page for this view; raises AttncliError (exit 2) if it asks for a step or a cell that is
    not there.

    The page ends with the `further` sections. Its data ends with `further_data`, and has the
    `deviation` of a lower number format from float64.
    """
    whole, trace = trace, selected_part(trace, view)
    printer = printer_for(trace, view)
    names: tuple[str, ...] = tuple(trace.steps)
    if view.cell is not None:
        step, index = chosen_cell(trace, view.cell, whole)
        names = (step.name,)
    elif view.steps is not None:
        names = chosen_steps(trace, view.steps, whole)

    def steps() -> Iterator[Block]:
        if view.cell is not None:
            yield from head_context(whole, view, names)
            yield from cell_section(printer, step, index)
            if is_softmax(trace, step.name) and not trace.leading_letters:
                yield from jacobian_section(printer, step, index[0])
        elif view.steps is not None:
            forward = forward_steps(trace)
            there = [name for name in names if name in forward]
            back = [name for name in names if name not in forward]
            yield from sections_of(printer, there, view)
            yield from backward_blocks(printer, back, view)
        else:
            yield from _both_ways(printer, view)
        yield from further

    if view.pictures and view.steps is not None:
        # Few pages have pictures, and what draws them takes a while to import.
        from attncli.page.pictures.blocks import require_pictured

        require_pictured(trace, names)
    kind = Lazy if printer.is_large else Once

    def page() -> Iterator[Block]:
        if view.cell is None and view.steps is None:
            yield from _start(printer, whole, view)
        yield from notes(printer)
        yield from with_note_on_rounding(printer, steps())

    return Document(
        trace.title,
        kind(page),
        lambda: {**view_data(whole, view, deviation), **further_data()},
        array=lambda: one_array(trace, names),
        rows=lambda: table_rows(trace, names),
    )


def is_softmax(trace: Trace, name: str) -> bool:
    """Whether a step is the gradient through the softmax: the first step that reads `delta`."""
    for each, step in trace.steps.items():
        if "delta" in step.rule.inputs:
            return each == name
    return False


def _start(printer: Printer, whole: Trace, view: View) -> Iterator[Block]:
    yield from beginning(printer, view)
    yield Paragraph(_loss(whole))
    if "loss" not in whole and _is_flat(whole):
        said = (
            "The gradient of every score is 0 here. With this ",
            Math(in_symbols(Name(gradient_name(whole.result)))),
            (
                ", every value counts the same, so the loss does not depend on the weights. Give"
                " the problem another d_output, or a loss, to see gradients of the scores."
            ),
        )
        yield Paragraph(said, "note")


def _is_flat(trace: Trace) -> bool:
    """Whether the gradient of every score is 0, but for rounding."""
    if "d_scores" not in trace:
        return False
    sizes = np.abs(trace["d_scores"])
    return bool(sizes.max(initial=0.0) < LARGEST_ROUNDING)


def _loss(trace: Trace) -> Text:
    """What a gradient is, and with which one the backward pass begins."""
    begins = "Here the problem gives `dO`."
    if "row_loss" in trace:
        begins = "Here the loss is a cross-entropy."
    elif "loss" in trace:
        begins = "Here the loss is a mean of squared errors."
    elif (trace[gradient_name(trace.result)] == 1).all():
        begins = "Here `dO` is 1 everywhere, as for a loss that is the sum of all outputs."
    return text(
        "The loss is one number that says how bad the output is. The gradient of a matrix has the"
        " shape of the matrix. Each number of `dQ` says how much the loss changes if this number of"
        " `Q` grows a little. The chain rule gives the gradients step by step, from the last step"
        " to the first. So the backward pass begins with `dO`, the gradient of the output."
        f" {begins}"
    )


def _both_ways(printer: Printer, view: View) -> Iterator[Block]:
    trace = printer.trace
    forward = forward_steps(trace)
    loss = loss_steps(trace)
    back = backward_steps(trace)
    # On paper, the backward pass goes on with the rounded numbers of the forward pass.
    has_forward = view.forward or trace.truth is not None
    once = None
    if has_forward:
        yield Heading("The forward pass, in brief", part=True)
        brief = replace(view, detail="brief", steps=forward)
        yield from sections_of(printer, forward, brief)
    else:
        yield from _forward_at_a_glance(printer, forward, view)
        if view.detail != "brief":
            once = ShownOnce(trace, forward)
    if loss:
        yield Heading("The loss", part=True)
        yield from backward_blocks(printer, loss, view, once)
    yield Heading("The backward pass", part=True)
    yield from backward_blocks(printer, back, view, once)


def _forward_at_a_glance(printer: Printer, names: Sequence[str], view: View) -> Iterator[Block]:
    """The steps of the forward pass without their numbers, and where these are."""
    yield Heading("The forward pass", part=True)
    said = "To see its numbers, add --forward to attncli gradient."
    if view.detail != "brief":
        said = (
            "The backward pass reads what these steps read and worked out. Each matrix stands where"
            " it is first read. To see how the forward pass got it, add --forward to attncli"
            " gradient."
        )
    yield Paragraph((said,))
    steps = [printer.trace.steps[name] for name in names]
    yield from summary(printer, [step for step in steps if not step.rule.given])


def backward_blocks(
    printer: Printer, names: Sequence[str], view: View, once: ShownOnce | None = None
) -> Iterator[Block]:
    """The chosen steps of the loss or of the backward pass: of a single head together, else head by
    head. What they read of the forward pass is shown `once`, or not at all.
    """
    trace = printer.trace
    if not trace.leading_letters:
        yield from _steps(printer, printer, names, view, (), {}, once)
        return
    explained: set[str] = set()

    def show(part: HeadPart) -> Iterator[Block]:
        here = replace(printer, trace=cut_trace(trace, part.place))
        at = tuple(with_key_head(trace, part.place).items())
        yield Heading(part.title, part=True, place=at)
        yield from _steps(printer, here, part.names, view, explained, part.place, once)
        explained.update(part.names)

    yield from backward_sections(printer, names, show)


def _steps(
    whole: Printer,
    here: Printer,
    names: Sequence[str],
    view: View,
    explained: Collection[str],
    place: Mapping[str, int],
    once: ShownOnce | None,
) -> Iterator[Block]:
    """Steps at one place, numbered as in the whole trace; those `explained` before are not
    explained again.
    """
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    for name in names:
        step = here.trace.steps[name]
        known = name in explained
        if step.rule.given:
            yield from given_section(here, step, view.detail, explained=known)
            continue
        number = numbers[name]
        yield from step_section(
            here,
            step,
            number,
            view.detail,
            view.heatmap,
            explained=known,
            titled=view.short,
            read=_read_first(here, step, place, once),
            is_part=bool(place),
        )
        yield from step_pictures(here, name, view, place)
        if view.detail == "brief" or known or not view.explains:
            continue
        if is_softmax(here.trace, name):
            yield from jacobian_section(here, step)


def _read_first(
    here: Printer, step: Step, place: Mapping[str, int], once: ShownOnce | None
) -> list[Step]:
    """What a step reads that the page shows, and has not shown before."""
    if once is None:
        return []
    steps = here.trace.steps
    # What has one number for each head is no step of one head.
    there = [name for name in step.rule.inputs if name in steps]
    found = once.new_ones(there, place)
    for name in found:
        once.show(name, place)
    return [steps[name] for name in found]


# The Jacobian of a row with more keys is shown only with --cell.
MOST_KEYS_OF_JACOBIAN = 12


def jacobian_section(printer: Printer, gradient: Step, row: int | None = None) -> Iterator[Block]:
    """The Jacobian of the softmax of a row of a single head, by default the first row with more
    than one weight.

    `gradient` is the gradient of the logits. The section is empty if there is no such row, if the
    row is too long, if the logits are those of several heads, or if the section would give away a
    step that is left blank.
    """
    weights = printer.trace.steps["weights"]
    if not printer.may_show_work(gradient) or "weights" in printer.blank:
        return
    # Several heads may share these logits, and their gradient adds up what comes of each.
    if weights.shape != gradient.shape:
        return
    if row is None:
        row = _row_of_jacobian(weights)
    if row is None:
        return
    cell = _times_slope(printer, _cell(f"weights[{row}, j]", f"weights[{row}, l]"))
    rule = Rule("J", "J", "Jacobian", Equation(Ref("J", ("j", "l")), cell))
    jacobian = _jacobian(printer, rule, weights, row)
    product = Reduce("add", "l", parse_expression(f"J[j, l] * d_weights[{row}, l]"))
    of_row = _step_of_row(gradient, row, product)
    steps = {**printer.trace.steps, jacobian.name: jacobian, of_row.name: of_row}
    inside = replace(printer, trace=replace(printer.trace, steps=steps))

    yield _row_in_words(printer, weights, row)
    of_matrices = parse_expression("diagonal(a) - a @ transposed(a)")
    of_cells = _cell("a[j]", "a[l]")
    yield _formula(printer, Ref("J"), _times_slope(printer, of_matrices))
    yield _formula(printer, rule.target, _times_slope(printer, of_cells))
    yield grid(inside, jacobian)
    # It has a cell of the diagonal, and others.
    yield worked(inside, jacobian, "rows", column=0)
    said = (
        "The Jacobian times the gradient of the weights gives the same row as above, in a longer"
        " calculation:"
    )
    yield Paragraph((said,))
    target = Ref(gradient.rule.symbol, (number_node(row), "j"))
    yield _formula(printer, target, product)
    yield worked(inside, of_row, "rows")


def _row_of_jacobian(weights: Step) -> int | None:
    """The first row with more than one weight; None where there is none, or rows are long."""
    if weights.shape[1] > MOST_KEYS_OF_JACOBIAN:
        return None
    for number, row in enumerate(weights.value):
        if np.count_nonzero(row) > 1:
            return number
    return None


def _jacobian(printer: Printer, rule: Rule, weights: Step, row: int) -> Step:
    """The Jacobian of a row as a step, worked exactly where the weights are."""
    base = printer.trace.parameters.get("exp_base")
    slope = np.log(base.value) if isinstance(base, Scalar) else 1.0
    a = weights.value[row].astype(np.float64)
    value = slope * (np.diag(a) - np.outer(a, a))
    labels = weights.labels[1:] * 2
    jacobian = Step(rule, read_only(value), labels)
    if weights.exact is None:
        return jacobian
    # Other parameters, such as d_sink, may be inf or NaN.
    parameters = {} if base is None else {"exp_base": base}
    sizes = {"j": len(a), "l": len(a)}
    worker = ExactWorker(parameters, sizes, {"weights": weights.exact})
    worked_exactly = worker.work(rule)
    return replace(jacobian, value=worked_exactly.value, exact=worked_exactly.exact)


def _step_of_row(gradient: Step, row: int, product: Expression) -> Step:
    """One row of the gradient of the logits as a step of its own, made by this product."""
    rule = Rule("row", "", "", Equation(Ref("row", ("j",)), product))
    exact = None
    if gradient.exact is not None:
        exact = gradient.exact[row]
    return Step(rule, gradient.value[row], gradient.labels[1:], exact=exact)


def _row_in_words(printer: Printer, weights: Step, row: int) -> Paragraph:
    """Which row is worked, and what its Jacobian is."""
    scores = count(weights.shape[1], "score")
    hidden = masked_out(printer.trace.steps)
    if hidden is not None and hidden[row].any():
        unseen = int(hidden[row].sum())
        scores += f" ({unseen:,} of them hidden)"
    said = (
        f'Look at one row, that of "{weights.labels[0][row]}". Its softmax turns {scores} into the'
        " weights "
    )
    rest = (
        ". Each weight depends on every score of the row. The Jacobian is the matrix of these"
        " derivatives: it says how much each weight grows with each score."
    )
    return Paragraph((said, *printer.prose("`a`"), rest))


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
