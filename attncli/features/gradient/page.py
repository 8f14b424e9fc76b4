"""The page of `attncli gradient`, with finite differences and one step of gradient descent where
asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from attncli.attention.registry import cell_form, gradient_name, headline
from attncli.english import count, either, listed
from attncli.equation.nodes import Name
from attncli.equation.notation import unicode_digits
from attncli.features.gradient.descent import STEP_SIZE, Descent
from attncli.features.gradient.verification import (
    FIRST_STEP,
    MOST_CELLS_CHECKED,
    TOLERANCE,
    CellCheck,
    GradientCheck,
)
from attncli.page.document import (
    Block,
    Document,
    Formula,
    Heading,
    Math,
    Once,
    Paragraph,
    Table,
    Text,
    text,
)
from attncli.page.gradient import gradient_page
from attncli.page.grid import grid
from attncli.page.measures import number, with_power_of_ten
from attncli.page.printer import Printer, format_number, printer_for
from attncli.page.view import View
from attncli.page.worked.cells import worked
from attncli.tracing.json_numbers import json_number, json_values
from attncli.tracing.model import Step, Trace
from attncli.tracing.number_formats import FormatDeviation

# A gradient and its quotient are printed with so many digits.
DIGITS_OF_A_GRADIENT = 7
_RELATIVE_ERROR = (
    "The relative error is the difference of gradient and quotient, divided by their size. This"
    " size includes the typical size of the whole gradient, and what rounding does to the quotient."
    " Gradient and quotient agree if the relative error is at most one millionth."
)


def gradient_document(
    trace: Trace,
    view: View,
    checks: Sequence[GradientCheck],
    descent: Descent | None,
    deviation: FormatDeviation | None = None,
) -> Document:
    """The page for this view; it ends with the finite differences and the step of gradient descent.

    The data also has the deviation of a lower number format from float64.
    """

    def sections() -> Iterator[Block]:
        printer = printer_for(trace, view)
        part = bool(trace.leading_letters)
        if checks:
            yield from verification_section(printer, checks, detail=view.detail, part=part)
        if descent:
            yield from _descent_section(printer, descent, view.detail, part=part)

    return gradient_page(
        trace, view, Once(sections), lambda: _data(view, checks, descent), deviation
    )


def _data(view: View, checks: Sequence[GradientCheck], descent: Descent | None) -> dict[str, Any]:
    data: dict[str, Any] = {"verified": _verification_data(checks, view.detail)} if checks else {}
    return data | ({"descent": _descent_data(descent)} if descent else {})


# Finite differences


def verification_section(
    printer: Printer, checks: Sequence[GradientCheck], *, detail: str, part: bool
) -> Iterator[Block]:
    """Each gradient beside its difference quotient, at the cell where the two are farthest apart.

    With the detail "cells" there is a table for each gradient, with every cell that was checked.
    """
    yield Heading("Check by finite differences", part=part)
    alone, cells = sum(len(check.cells) for check in checks) == 1, detail == "cells"
    where = (
        ""
        if alone or cells
        else " The table shows each gradient at the cell where the two are farthest apart."
    )
    yield Paragraph(
        text(
            "For each number x, attncli computes the loss at x + h and at x - h, with h = `6 *"
            " 10**-6 * max(1, abs(x))`. The difference of these two losses, divided by 2h, is the"
            " quotient. It must be close to the gradient. If the quotient is too inaccurate,"
            f" attncli tries other values of h.{where} {_RELATIVE_ERROR}{_spread(checks)}"
        )
    )
    if cells and not alone:
        for check in checks:
            yield _every_cell(printer, check)
    else:
        yield _farthest_cells(printer, checks)
    yield from _verdicts(checks)


def _verification_data(checks: Sequence[GradientCheck], detail: str) -> dict[str, Any]:
    """The same as data, by the names of the gradients."""
    return {
        "step": FIRST_STEP,
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
    if all(len(check.cells) == check.size for check in checks):
        return ""
    return f" attncli checks at most {MOST_CELLS_CHECKED} cells of a gradient, evenly spread."


def _farthest_cells(printer: Printer, checks: Sequence[GradientCheck]) -> Table:
    """A row for each gradient."""
    rows: list[tuple[Text, ...]] = []
    for check in checks:
        cells = f"{check.size:,}"
        checked = len(check.cells)
        if checked != check.size:
            cells = f"{checked:,} of {cells}"
        rule = printer.trace.steps[check.name].rule
        symbol = Math(Name(rule.symbol))
        farthest = _row(printer, check.name, check.farthest)
        rows.append(((symbol,), (cells,), *farthest))
    are_single_cells = all(check.size == 1 for check in checks)
    where = "cell" if are_single_cells else "farthest at"
    return _table(("gradient", "cells", where), (1, 3, 4, 5), rows)


def _every_cell(printer: Printer, check: GradientCheck) -> Table:
    """A row for each checked cell of one gradient."""
    rule = printer.trace.steps[check.name].rule
    symbol = Math(Name(rule.symbol))
    rows = [_row(printer, check.name, cell) for cell in check.cells]
    return _table(((symbol,),), (1, 2, 3), rows)


def _table(
    head: tuple[str | Text, ...], right: tuple[int, ...], rows: Sequence[tuple[Text, ...]]
) -> Table:
    """A table with a column of verdicts only if some cell disagrees."""
    columns = (*head, "value", "quotient", "rel. error")
    has_verdicts = any(row[-1] != ("",) for row in rows)
    if has_verdicts:
        return Table((*columns, ""), tuple(rows), right)
    without_verdicts = tuple(row[:-1] for row in rows)
    return Table(columns, without_verdicts, right)


def _row(printer: Printer, name: str, cell: CellCheck) -> tuple[Text, ...]:
    step = printer.trace.steps[name]
    where = ""
    if cell.index:
        where = step.cell_label(cell.index)
    ours, quotient = cell.gradient, cell.quotient
    if cell.is_zero:
        ours = quotient = 0.0
    error: Text = ("",)
    if cell.verdict == "unknown":
        # The quotient has too few right digits to compare.
        error = ("unknown",)
    elif cell.error is not None:
        error = _relative(cell.distance * TOLERANCE)
    verdict = "disagree" if cell.verdict == "disagree" else ""
    return (where,), number(_digits(ours)), number(_digits(quotient)), error, (verdict,)


def _relative(error: float) -> Text:
    """The relative error as text."""
    if error == 0:
        return number("0")
    if not math.isfinite(error):
        return number(format_number(error, 0))
    return number(with_power_of_ten(error))


def _digits(value: float) -> str:
    text = f"{value:.{DIGITS_OF_A_GRADIENT}g}"
    mantissa, power, exponent = text.partition("e")
    if not power:
        return mantissa
    sign = "+" if exponent.startswith("+") else ""
    return f"{mantissa}e{sign}{int(exponent)}"


def _verdicts(checks: Sequence[GradientCheck]) -> Iterator[Block]:
    """What the finite differences say, in words."""
    wrong = [check.name for check in checks if check.verdict == "disagree"]
    unknown = [check for check in checks if _number_unknown(check)]
    at_kinks = [check for check in checks if _number_unknown(check, at_kinks=True)]
    if at_kinks:
        where = listed([_unknown_cells(check, at_kinks=True) for check in at_kinks])
        yield Paragraph((f"Finite differences cannot check {where}. {_kinks(checks)}",), "note")
    if smooth := [check for check in checks if _number_unknown(check, at_kinks=False)]:
        where = listed([_unknown_cells(check, at_kinks=False) for check in smooth])
        also = ""
        if any(map(_has_infinite_difference, smooth)):
            also = " inf and NaN mean that numbers are too large for h, or for float64."
        why = (
            "Because of rounding, or because the loss is strongly curved, no h gives enough right"
            " digits."
        )
        yield Paragraph((f"Finite differences cannot check {where}. {why}{also}",), "note")
    if wrong:
        yield Paragraph((f"Gradient and quotient disagree in {listed(wrong)}.",), "warning")
    elif not unknown:
        every = count(len(checks), "gradient")
        verdict = f"All {every} agree with their quotients." if len(checks) > 1 else "They agree."
        yield Paragraph((verdict,))
    elif len(unknown) < len(checks):
        yield Paragraph(("All other gradients agree with their quotients.",))


def _has_infinite_difference(check: GradientCheck) -> bool:
    return any(not math.isfinite(cell.gradient - cell.quotient) for cell in check.cells)


def _kinks(checks: Sequence[GradientCheck]) -> str:
    """Which functions bend or jump where the finite differences say nothing."""
    kinks = dict.fromkeys(kink for check in checks for cell in check.cells for kink in cell.kinks)
    return (
        f"At these numbers, {listed([*kinks])}. There, the slope is another one on each side, or"
        " there is none, so a quotient says nothing about the gradient."
    )


def _unknown_cells(check: GradientCheck, *, at_kinks: bool) -> str:
    unknown = _number_unknown(check, at_kinks=at_kinks)
    moved = len(check.cells)
    if unknown == moved:
        return check.name
    of_all = count(moved, "cell")
    return f"{check.name} ({unknown:,} of {of_all})"


def _number_unknown(check: GradientCheck, *, at_kinks: bool | None = None) -> int:
    """How many cells of a gradient the finite differences cannot check; only those at kinks, or
    only the others, where this is said.
    """
    unknown = [cell for cell in check.cells if cell.verdict == "unknown"]
    if at_kinks is None:
        return len(unknown)
    return sum(bool(cell.kinks) == at_kinks for cell in unknown)


# One step of gradient descent: the new arrays, and the loss before and after the step


def _descent_section(
    printer: Printer, descent: Descent, detail: str, *, part: bool
) -> Iterator[Block]:
    """The last section of the page; `printer` is that of the whole trace."""
    inside = _with_updated(printer, descent)
    size = descent.step_size.written
    yield Heading("One step of gradient descent", part=part)
    yield Paragraph(
        (
            (
                f"From each number that the problem gives, attncli subtracts {size} times its"
                " gradient. So a number becomes smaller if the loss grows with it, and larger if"
                f" the loss falls with it.{_what_stays(printer)}"
            ),
        )
    )
    for step in descent.updated.values():
        yield from _updated_array(inside, step, detail)
    losses = [
        ("before", descent.before),
        ("after, estimated from the gradients", descent.expected),
        ("after", descent.after),
    ]
    yield Table(
        ("the loss", ""),
        tuple(((what,), (unicode_digits(printer.rounded(loss).text),)) for what, loss in losses),
        right=(1,),
    )
    yield Paragraph(
        (_what_it_did(descent),), "text" if descent.after <= descent.before else "warning"
    )


def _descent_data(descent: Descent) -> dict[str, Any]:
    """The same as data."""
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
    estimate = (
        "The estimate is the loss before, minus the step size times the sum of all squared"
        " gradients. The smaller the step, the better the estimate."
    )
    if not all(map(math.isfinite, (descent.before, descent.expected, descent.after))):
        return (
            f"A loss or a gradient is too large for float64, so the step has no result. {estimate}"
        )
    if descent.after <= descent.before:
        return estimate
    return f"The loss has grown, so the step is too large. {estimate}"


def _what_stays(printer: Printer) -> str:
    stays = [name for name in ("X", "context") if name in printer.trace]
    if "past_K" in printer.trace:
        stays.append("the cache")
    if not stays:
        return ""
    verb = either(len(stays), "stays", "stay")
    return f" Only {listed(stays)} {verb} unchanged."


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
    if (
        detail != "brief"
        and step.shape
        and gradient_name(rule.name.removeprefix("new_")) in printer.trace
    ):
        yield worked(printer, step, detail)
