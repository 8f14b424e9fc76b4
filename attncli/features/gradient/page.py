"""The page of gradients, with what finite differences say of them and one step of gradient descent, if asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from attncli.attention.registry import cell_form, gradient_name, headline
from attncli.english import count, listed
from attncli.equation.nodes import Name
from attncli.equation.notation import unicode_digits
from attncli.features.gradient.descent import STEP_SIZE, Descent
from attncli.features.gradient.verification import MOST, STEP, TOLERANCE, CellCheck, GradientCheck
from attncli.page.document import Block, Document, Formula, Heading, Math, Once, Paragraph, Table, Text, text
from attncli.page.gradient import gradient_page
from attncli.page.measures import number, with_power_of_ten
from attncli.page.printer import Printer, format_number, printer_for
from attncli.page.sections import grid
from attncli.page.view import View
from attncli.page.worked import worked
from attncli.tracing.json_numbers import json_number, json_values
from attncli.tracing.model import Step, Trace
from attncli.tracing.number_formats import FormatDeviation

SIGNIFICANT = 7  # digits of a gradient and of its quotient


def gradient_document(
    trace: Trace,
    view: View,
    checks: Sequence[GradientCheck],
    descent: Descent | None,
    deviation: FormatDeviation | None = None,
) -> Document:
    """The page for this view, which ends with the checks and the step of descent.

    Its data also has the deviation of a lower number format from float64.
    """

    def sections() -> Iterator[Block]:
        printer, part = printer_for(trace, view), bool(trace.leading_letters)
        if checks:
            yield from verification_section(printer, checks, detail=view.detail, part=part)
        if descent:
            yield from _descent_section(printer, descent, view.detail, part=part)

    return gradient_page(trace, view, Once(sections), lambda: _data(view, checks, descent), deviation)


def _data(view: View, checks: Sequence[GradientCheck], descent: Descent | None) -> dict[str, Any]:
    data: dict[str, Any] = {"verified": _verification_data(checks, view.detail)} if checks else {}
    return data | ({"descent": _descent_data(descent)} if descent else {})


# Beside finite differences


def verification_section(
    printer: Printer, checks: Sequence[GradientCheck], *, detail: str, part: bool
) -> Iterator[Block]:
    """The gradients beside the quotients of finite differences, where each is farthest from them.

    In the detail of cells there is a table of each gradient, with all that were moved.
    """
    yield Heading("Beside finite differences", part=part)
    alone, cells = sum(len(check.cells) for check in checks) == 1, detail == "cells"
    where = "" if alone or cells else " Here is each gradient at the cell where the two are farthest apart."
    yield Paragraph(
        text(
            "Each number x is moved by h = `6 * 10**-6 * max(1, abs(x))` both ways, and everything after it worked "
            "again: the loss then differs by about 2h times the gradient; divided by 2h that is the quotient, and "
            f"where its own error is too large, other h are tried.{where} The relative error is their difference "
            "beside their size, what is typical of the gradient, and what rounding does to the quotient; they agree "
            f"where it is at most a millionth.{_spread(checks)}"
        )
    )
    if cells and not alone:
        for check in checks:
            yield _every_cell(printer, check)
    else:
        yield _farthest_cells(printer, checks)
    yield from _verdicts(checks)


def _verification_data(checks: Sequence[GradientCheck], detail: str) -> dict[str, Any]:
    """The same for programs, by the names of the gradients."""
    return {
        "step": STEP,
        "tolerance": TOLERANCE,
        "agrees": all(check.verdict == "agree" for check in checks),
        "gradients": {check.name: _check_data(check, detail) for check in checks},
    }


def _check_data(check: GradientCheck, detail: str) -> dict[str, Any]:
    every = {"beside": [_cell_data(cell) for cell in check.cells]} if detail == "cells" else {}
    checked = {"cells": check.size, "checked": len(check.cells)}
    return checked | _cell_data(check.farthest) | {"verdict": check.verdict} | every


def _cell_data(cell: CellCheck) -> dict[str, Any]:
    return {
        "where": list(cell.index),
        "worked": json_number(cell.gradient),
        "by_differences": json_number(cell.quotient),
        "error": cell.error,
        "verdict": cell.verdict,
    }


def _spread(checks: Sequence[GradientCheck]) -> str:
    spread = any(len(check.cells) < check.size for check in checks)
    return f" Of more than {MOST} cells, some are moved, evenly spread." if spread else ""


def _farthest_cells(printer: Printer, checks: Sequence[GradientCheck]) -> Table:
    """A row for each gradient."""
    rows: list[tuple[Text, ...]] = []
    for check in checks:
        moved = len(check.cells)
        cells = f"{check.size:,}" if moved == check.size else f"{moved:,} of {check.size:,}"
        symbol = Math(Name(printer.trace.steps[check.name].rule.symbol))
        rows.append(((symbol,), (cells,), *_row(printer, check.name, check.farthest)))
    where = "cell" if all(check.size == 1 for check in checks) else "farthest at"
    return _table(("gradient", "cells", where), (1, 3, 4, 5), rows)


def _every_cell(printer: Printer, check: GradientCheck) -> Table:
    """A row for each cell of one gradient that was moved."""
    symbol = Math(Name(printer.trace.steps[check.name].rule.symbol))
    return _table(((symbol,),), (1, 2, 3), [_row(printer, check.name, cell) for cell in check.cells])


def _table(head: tuple[str | Text, ...], right: tuple[int, ...], rows: Sequence[tuple[Text, ...]]) -> Table:
    """With a column of verdicts only where one is that they disagree."""
    columns = (*head, "worked", "quotient", "rel. error")
    if all(row[-1] == ("",) for row in rows):
        return Table(columns, tuple(row[:-1] for row in rows), right)
    return Table((*columns, ""), tuple(rows), right)


def _row(printer: Printer, name: str, cell: CellCheck) -> tuple[Text, ...]:
    step = printer.trace.steps[name]
    where = step.cell_label(cell.index) if cell.index else ""
    ours, quotient = (0.0, 0.0) if cell.is_zero else (cell.gradient, cell.quotient)
    error = ("",) if cell.error is None else _relative(cell.distance * TOLERANCE)
    if cell.verdict == "unknown":  # then that of their difference says nothing
        error = ("cannot tell",)
    verdict = "disagree" if cell.verdict == "disagree" else ""
    return (where,), number(_digits(ours)), number(_digits(quotient)), error, (verdict,)


def _relative(error: float) -> Text:
    """In relation to all that decides whether the two agree: a small cell is measured as the large ones beside it."""
    return number("0" if error == 0 else with_power_of_ten(error) if math.isfinite(error) else format_number(error, 0))


def _digits(value: float) -> str:
    mantissa, power, exponent = f"{value:.{SIGNIFICANT}g}".partition("e")
    return f"{mantissa}e{'+' * (exponent[0] == '+')}{int(exponent)}" if power else mantissa


def _verdicts(checks: Sequence[GradientCheck]) -> Iterator[Block]:
    """The verdicts in words."""
    wrong = [check.name for check in checks if check.verdict == "disagree"]
    unknown = [check for check in checks if any(cell.verdict == "unknown" for cell in check.cells)]
    if unknown:
        where = listed([_unknown_cells(check) for check in unknown])
        large = any(not math.isfinite(cell.gradient - cell.quotient) for check in unknown for cell in check.cells)
        also = " Where inf or NaN stands, numbers are too large for h, or for a float64." if large else ""
        why = "with every h, rounding or the curve of the loss leaves too few digits of the quotient."
        yield Paragraph((f"Differences cannot tell in {where}: {why}{also}",), "note")
    if wrong:
        yield Paragraph((f"They disagree in {listed(wrong)}.",), "warning")
    elif not unknown:
        every = count(len(checks), "gradient")
        yield Paragraph((f"All {every} agree." if len(checks) > 1 else "They agree.",))
    elif len(unknown) < len(checks):
        yield Paragraph(("All others agree.",))


def _unknown_cells(check: GradientCheck) -> str:
    unknown = sum(cell.verdict == "unknown" for cell in check.cells)
    moved = len(check.cells)
    return check.name if unknown == moved else f"{check.name} ({unknown:,} of {count(moved, 'cell')})"


# One step of gradient descent: the new matrices with worked cells, and the loss before and after it


def _descent_section(printer: Printer, descent: Descent, detail: str, *, part: bool) -> Iterator[Block]:
    """The section that closes a page of gradients; `printer` is that of the whole trace."""
    inside = _with_updated(printer, descent)
    size = descent.step_size.written
    yield Heading("One step of gradient descent", part=part)
    yield Paragraph(
        (
            f"Each given number is moved against its gradient, by {size} times the gradient: where more of it would "
            f"raise the loss, it becomes less. {_what_stays(printer)}",
        )
    )
    for step in descent.updated.values():
        yield from _updated_array(inside, step, detail)
    losses = [
        ("before", descent.before),
        ("after, to first order", descent.expected),
        ("after", descent.after),
    ]
    yield Table(
        ("the loss", ""),
        tuple(((what,), (unicode_digits(printer.rounded(loss).text),)) for what, loss in losses),
        right=(1,),
    )
    yield Paragraph((_what_it_did(descent),), "text" if descent.after <= descent.before else "warning")


def _descent_data(descent: Descent) -> dict[str, Any]:
    """The same for programs."""
    losses = {"before": descent.before, "foretold": descent.expected, "after": descent.after}
    return {
        "step_size": descent.step_size.value,
        "loss": {name: json_number(loss) for name, loss in losses.items()},
        "arrays": {
            name: {"equation": step.rule.source, "value": json_values(step.value)}
            for name, step in descent.updated.items()
        },
    }


def _what_it_did(descent: Descent) -> str:
    straight = (
        "To first order, the loss falls by the step size times the sum of all squared gradients; the smaller the "
        "step, the nearer to that it comes."
    )
    if not all(map(math.isfinite, (descent.before, descent.expected, descent.after))):
        return f"A loss or a gradient is too large: the step cannot be worked out in a float64. {straight}"
    if descent.after <= descent.before:
        return straight
    return f"The loss has grown: the step goes too far. {straight}"


def _what_stays(printer: Printer) -> str:
    stays = [name for name in ("X", "context") if name in printer.trace]
    stays += ["the cache"] if "past_K" in printer.trace else []
    return f"What comes in, {listed(stays)}, stays as it is." if stays else ""


def _with_updated(printer: Printer, descent: Descent) -> Printer:
    trace = printer.trace
    steps = {**trace.steps, **{step.name: step for step in descent.updated.values()}}
    parameters = {**trace.parameters, STEP_SIZE: descent.step_size}
    return replace(printer, trace=replace(trace, steps=steps, parameters=parameters))


def _updated_array(printer: Printer, step: Step, detail: str) -> Iterator[Block]:
    """One of the new arrays."""
    rule = step.rule
    yield Formula(printer.formula(headline(rule) or cell_form(rule)))
    yield grid(printer, step)
    if detail != "brief" and step.shape and gradient_name(rule.name.removeprefix("new_")) in printer.trace:
        yield worked(printer, step, detail)
