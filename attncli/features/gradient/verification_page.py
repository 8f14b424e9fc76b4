"""What finite differences say of the gradients: a table of each beside them, for people and as data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from attncli.english import count, listed
from attncli.equation.nodes import Name
from attncli.features.gradient.finite_differences import MOST, Beside, Held
from attncli.features.gradient.quotients import STEP, TOLERANCE
from attncli.page.document import Block, Heading, Math, Paragraph, Table, Text, text
from attncli.page.labels import cell_label
from attncli.page.measures import number, powered
from attncli.page.number_format import format_number
from attncli.page.printer import Printer
from attncli.tracing.plain import plain_number

SIGNIFICANT = 7  # digits of a gradient and of its quotient


def verified_section(printer: Printer, held: Sequence[Held], *, detail: str, part: bool) -> Iterator[Block]:
    """The gradients beside the quotients of finite differences, where each is farthest from them.

    In the detail of cells there is a table of each gradient, with all that were moved.
    """
    yield Heading("Beside finite differences", part=part)
    alone, cells = sum(len(each.beside) for each in held) == 1, detail == "cells"
    where = "" if alone or cells else " Here is each gradient at the cell where the two are farthest apart."
    yield Paragraph(
        text(
            "Each number x is moved by h = `6 * 10**-6 * max(1, abs(x))` both ways, and everything after it worked "
            "again: the loss then differs by about 2h times the gradient; divided by 2h that is the quotient, and "
            f"where its own error is too large, other h are tried.{where} The relative error is their difference "
            "beside their size, what is typical of the gradient, and what rounding does to the quotient; they agree "
            f"where it is at most a millionth.{_spread(held)}"
        )
    )
    if cells and not alone:
        for each in held:
            yield _cells(printer, each)
    else:
        yield _farthest(printer, held)
    yield from _said(held)


def verified_data(held: Sequence[Held], detail: str) -> dict[str, Any]:
    """The same for programs, by the names of the gradients."""
    return {
        "step": STEP,
        "tolerance": TOLERANCE,
        "agrees": all(each.verdict == "agree" for each in held),
        "gradients": {each.name: _data(each, detail) for each in held},
    }


def _data(held: Held, detail: str) -> dict[str, Any]:
    every = {"beside": [_beside(each) for each in held.beside]} if detail == "cells" else {}
    checked = {"cells": held.cells, "checked": len(held.beside)}
    return checked | _beside(held.farthest) | {"verdict": held.verdict} | every


def _beside(beside: Beside) -> dict[str, Any]:
    return {
        "where": list(beside.where),
        "worked": plain_number(beside.worked),
        "by_differences": plain_number(beside.by_differences),
        "error": beside.error,
        "verdict": beside.verdict,
    }


def _spread(held: Sequence[Held]) -> str:
    spread = any(len(each.beside) < each.cells for each in held)
    return f" Of more than {MOST} cells, some are moved, evenly spread." if spread else ""


def _farthest(printer: Printer, held: Sequence[Held]) -> Table:
    """A row for each gradient."""
    rows: list[tuple[Text, ...]] = []
    for each in held:
        moved = len(each.beside)
        cells = f"{each.cells:,}" if moved == each.cells else f"{moved:,} of {each.cells:,}"
        symbol = Math(Name(printer.trace.steps[each.name].rule.symbol))
        rows.append(((symbol,), (cells,), *_row(printer, each.name, each.farthest)))
    where = "cell" if all(each.cells == 1 for each in held) else "farthest at"
    return _table(("gradient", "cells", where), (1, 3, 4, 5), rows)


def _cells(printer: Printer, held: Held) -> Table:
    """A row for each cell of one gradient that was moved."""
    symbol = Math(Name(printer.trace.steps[held.name].rule.symbol))
    return _table(((symbol,),), (1, 2, 3), [_row(printer, held.name, each) for each in held.beside])


def _table(head: tuple[str | Text, ...], right: tuple[int, ...], rows: Sequence[tuple[Text, ...]]) -> Table:
    """With a column of verdicts only where one is that they disagree."""
    columns = (*head, "worked", "quotient", "rel. error")
    if all(row[-1] == ("",) for row in rows):
        return Table(columns, tuple(row[:-1] for row in rows), right)
    return Table((*columns, ""), tuple(rows), right)


def _row(printer: Printer, name: str, beside: Beside) -> tuple[Text, ...]:
    step = printer.trace.steps[name]
    where = cell_label(step, beside.where) if beside.where else ""
    ours, quotient = (0.0, 0.0) if beside.is_zero else (beside.worked, beside.by_differences)
    error = ("",) if beside.error is None else _relative(beside.apart * TOLERANCE)
    if beside.verdict == "unknown":  # then that of their difference says nothing
        error = ("cannot tell",)
    verdict = "disagree" if beside.verdict == "disagree" else ""
    return (where,), number(_digits(ours)), number(_digits(quotient)), error, (verdict,)


def _relative(error: float) -> Text:
    """In relation to all that decides whether the two agree: a small cell is measured as the large ones beside it."""
    return number("0" if error == 0 else powered(error) if math.isfinite(error) else format_number(error, 0))


def _digits(value: float) -> str:
    mantissa, power, exponent = f"{value:.{SIGNIFICANT}g}".partition("e")
    return f"{mantissa}e{'+' * (exponent[0] == '+')}{int(exponent)}" if power else mantissa


def _said(held: Sequence[Held]) -> Iterator[Block]:
    """The verdicts in words."""
    apart = [each.name for each in held if each.verdict == "disagree"]
    unknown = [each for each in held if any(cell.verdict == "unknown" for cell in each.beside)]
    if unknown:
        places = listed([_how_many(each) for each in unknown])
        large = any(not math.isfinite(cell.worked - cell.by_differences) for each in unknown for cell in each.beside)
        also = " Where inf or NaN stands, numbers are too large for h, or for a float64." if large else ""
        why = "with every h, rounding or the curve of the loss leaves too few digits of the quotient."
        yield Paragraph((f"Differences cannot tell in {places}: {why}{also}",), "note")
    if apart:
        yield Paragraph((f"They disagree in {listed(apart)}.",), "warning")
    elif not unknown:
        many = count(len(held), "gradient")
        yield Paragraph((f"All {many} agree." if len(held) > 1 else "They agree.",))
    elif len(unknown) < len(held):
        yield Paragraph(("All others agree.",))


def _how_many(held: Held) -> str:
    unknown = sum(cell.verdict == "unknown" for cell in held.beside)
    moved = len(held.beside)
    return held.name if unknown == moved else f"{held.name} ({unknown:,} of {count(moved, 'cell')})"
