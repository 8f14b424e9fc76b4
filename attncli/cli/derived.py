"""The page of a problem that has been worked out: for people or as data alone, forward or with the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attncli.page.document import Block, Document

if TYPE_CHECKING:
    from attncli.features.gradient.descent import Descent
    from attncli.features.gradient.finite_differences import Held
    from attncli.page.view import View
    from attncli.problem.model import Problem
    from attncli.tracing.model import Trace
    from attncli.tracing.number_formats import Parting


def parting_told(problem: Problem, trace: Trace, view: View) -> tuple[Parting | None, list[str]]:
    """Where a whole trace in a lower number format parts from float64, and what is to be said if it cannot be told."""
    whole = all(part is None for part in (view.steps, view.cell, view.head, view.entry))
    if trace.settings.dtype == "float64" or not whole:
        return None, []
    from attncli.tracing.number_formats import parting_of

    try:
        return parting_of(problem, trace, view.precision), []
    except MemoryError:
        dtype = trace.settings.dtype
        return None, [f"where {dtype} parts from float64 is not told: there is no memory left to work out both"]


def page_of(
    trace: Trace,
    view: View,
    data: bool,
    gradient: bool,
    parting: Parting | None,
    held: tuple[Held, ...],
    descent: Descent | None,
) -> Document:
    """The page that people read, or as data alone; `held` and `descent` are what was asked of the gradients besides."""
    if gradient and (held or descent or not data):
        further: tuple[Block, ...] = ()
        if (held or descent) and not data:
            further = tuple(_checks(trace, view, held, descent))
        if data:
            from attncli.page.data import view_data

            return Document(trace.title, (), lambda: view_data(trace, view) | _checks_data(view, held, descent))
        from attncli.page.gradient import gradient_page

        return gradient_page(trace, view, further, lambda: _checks_data(view, held, descent))
    if data:
        from attncli.page.data import data_page

        return data_page(trace, view, parting)
    from attncli.page.derivation import derivation

    return derivation(trace, view, parting)


def _checks(trace: Trace, view: View, held: tuple[Held, ...], descent: Descent | None) -> Iterator[Block]:
    """What finite differences say of the gradients, and the step down, as far as they were asked."""
    from attncli.features.gradient.descent_page import descent_section
    from attncli.features.gradient.verification_page import verified_section
    from attncli.page.printer import printer_for
    from attncli.tracing.slices import leading

    printer, part = printer_for(trace, view), bool(leading(trace))
    if held:
        yield from verified_section(printer, held, detail=view.detail, part=part)
    if descent:
        yield from descent_section(printer, descent, view.detail, part=part)


def _checks_data(view: View, held: tuple[Held, ...], descent: Descent | None) -> dict[str, Any]:
    """The same for programs."""
    data: dict[str, Any] = {}
    if held:
        from attncli.features.gradient.verification_page import verified_data

        data["verified"] = verified_data(held, view.detail)
    if descent:
        from attncli.features.gradient.descent_page import descent_data

        data["descent"] = descent_data(descent)
    return data
