"""The page of gradients, with what finite differences say of them and one step of gradient descent, if asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncli.features.gradient.descent import Descent
from attncli.features.gradient.descent_page import descent_data, descent_section
from attncli.features.gradient.finite_differences import Held
from attncli.features.gradient.verification_page import verified_data, verified_section
from attncli.page.data import data_page
from attncli.page.document import Block, Document
from attncli.page.gradient import gradient_page
from attncli.page.printer import printer_for
from attncli.page.view import View
from attncli.tracing.model import Trace
from attncli.tracing.slices import leading


def checked_page(
    trace: Trace, view: View, checks: tuple[Held, ...], descent: Descent | None, *, data: bool
) -> Document:
    """The page for this view, which ends with the checks and the step; as `data` alone, without its blocks."""
    if not data:
        return gradient_page(trace, view, tuple(_sections(trace, view, checks, descent)))
    plain = data_page(trace, view)
    return Document(trace.title, (), lambda: {**plain.data(), **_data(view, checks, descent)})


def _sections(trace: Trace, view: View, checks: tuple[Held, ...], descent: Descent | None) -> Iterator[Block]:
    printer, part = printer_for(trace, view), bool(leading(trace))
    if checks:
        yield from verified_section(printer, checks, detail=view.detail, part=part)
    if descent:
        yield from descent_section(printer, descent, view.detail, part=part)


def _data(view: View, checks: tuple[Held, ...], descent: Descent | None) -> dict[str, Any]:
    data: dict[str, Any] = {"verified": verified_data(checks, view.detail)} if checks else {}
    return data | ({"descent": descent_data(descent)} if descent else {})
