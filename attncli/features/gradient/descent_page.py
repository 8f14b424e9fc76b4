"""What one step of gradient descent changes: the new matrices with worked cells, and the loss before and after it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attncli.attention.gradients import gradient_name
from attncli.attention.registry import cell_form, headline
from attncli.english import listed
from attncli.equation.notation import unicode_digits
from attncli.features.gradient.descent import STEP_SIZE, Descent
from attncli.page.document import Block, Formula, Heading, Paragraph, Table
from attncli.page.printer import Printer
from attncli.page.sections import grid
from attncli.page.worked import worked
from attncli.tracing.model import Step
from attncli.tracing.plain import plain_number, plain_values


def descent_section(printer: Printer, descent: Descent, detail: str, *, part: bool) -> Iterator[Block]:
    """The section that closes a page of gradients; `printer` is that of the whole trace."""
    inside = _with_moved(printer, descent)
    size = descent.step_size.written
    yield Heading("One step of gradient descent", part=part)
    yield Paragraph(
        (
            f"Each given number is moved against its gradient, by {size} times the gradient: where more of it would "
            f"raise the loss, it becomes less. {_what_stays(printer)}",
        )
    )
    for step in descent.moved.values():
        yield from _array(inside, step, detail)
    yield Table(
        ("the loss", ""),
        tuple(((what,), (unicode_digits(printer.worked_out(number).text),)) for what, number in _losses(descent)),
        right=(1,),
    )
    yield Paragraph((_said(descent),), "text" if descent.after <= descent.before else "warning")


def descent_data(descent: Descent) -> dict[str, Any]:
    """The same for programs."""
    return {
        "step_size": descent.step_size.value,
        "loss": {name: plain_number(getattr(descent, name)) for name in ("before", "foretold", "after")},
        "arrays": {
            name: {"equation": step.rule.source, "value": plain_values(step.value)}
            for name, step in descent.moved.items()
        },
    }


def _losses(descent: Descent) -> Iterator[tuple[str, float]]:
    yield "before", descent.before
    yield "after, to first order", descent.foretold
    yield "after", descent.after


def _said(descent: Descent) -> str:
    straight = (
        "To first order, the loss falls by the step size times the sum of all squared gradients; the smaller the "
        "step, the nearer to that it comes."
    )
    if not all(math.isfinite(number) for _, number in _losses(descent)):
        return f"A loss or a gradient is too large: the step cannot be worked out in a float64. {straight}"
    if descent.after <= descent.before:
        return straight
    return f"The loss has grown: the step goes too far. {straight}"


def _what_stays(printer: Printer) -> str:
    stays = [name for name in ("X", "context") if name in printer.trace]
    stays += ["the cache"] if "past_K" in printer.trace else []
    return f"What comes in, {listed(stays)}, stays as it is." if stays else ""


def _with_moved(printer: Printer, descent: Descent) -> Printer:
    trace = printer.trace
    steps = {**trace.steps, **{step.name: step for step in descent.moved.values()}}
    parameters = {**trace.parameters, STEP_SIZE: descent.step_size}
    return replace(printer, trace=replace(trace, steps=steps, parameters=parameters))


def _array(printer: Printer, step: Step, detail: str) -> Iterator[Block]:
    """One of the new arrays."""
    rule, found = step.rule, headline(step.rule)
    yield Formula(printer.formula(found or cell_form(rule)))
    yield grid(printer, step)
    if detail != "brief" and step.shape and gradient_name(rule.name.removeprefix("new_")) in printer.trace:
        yield worked(printer, step, detail)
