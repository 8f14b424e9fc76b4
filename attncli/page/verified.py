"""What finite differences say of the gradients: a table of each beside them, for people and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from attncli.english import count, listed
from attncli.equation.tree import Name
from attncli.page.document import Block, Heading, Math, Paragraph, Table, Text
from attncli.page.labels import cell_label
from attncli.page.printer import Printer
from attncli.study.finite_differences import MOST, STEP, TOLERANCE, Held


def verified_section(printer: Printer, held: Sequence[Held], *, part: bool) -> Iterator[Block]:
    """The gradients beside the quotients of finite differences, where each is farthest from them."""
    yield Heading("Beside finite differences", part=part)
    yield Paragraph(
        (
            f"Each number x is moved by h = 6·10⁻⁶·max(1, |x|) both ways, and everything after it worked again: the "
            "loss then differs by about 2h times the gradient. Here is each gradient at the cell where the two are "
            f"farthest apart. They agree within a millionth of their size, and what rounding leaves of the "
            f"quotient.{_spread(held)}",
        )
    )
    yield Table(
        ("gradient", "cells", "farthest at", "worked", "by differences", "relative error", ""),
        tuple(_row(printer, each) for each in held),
        right=(1, 3, 4, 5),
    )
    apart = [each.name for each in held if not each.agrees]
    said = f"They disagree in {listed(apart)}." if apart else f"All {count(len(held), 'gradient')} agree."
    yield Paragraph((said,), "warning" if apart else "text")


def verified_data(held: Sequence[Held]) -> dict[str, Any]:
    """The same for programs, by the names of the gradients."""
    return {
        "step": STEP,
        "tolerance": TOLERANCE,
        "agrees": all(each.agrees for each in held),
        "gradients": {each.name: {**asdict(each), "where": list(each.where)} for each in held},
    }


def _spread(held: Sequence[Held]) -> str:
    spread = any(each.checked < each.cells for each in held)
    return f" Of more than {MOST} cells, some are moved, evenly spread." if spread else ""


def _row(printer: Printer, held: Held) -> tuple[Text, ...]:
    step = printer.trace.steps[held.name]
    cells = str(held.cells) if held.checked == held.cells else f"{held.checked} of {held.cells}"
    numbers = (f"{number:.7g}" for number in (held.worked, held.by_differences))
    where = cell_label(step, held.where) if held.where else ""
    return (
        (Math(Name(step.rule.symbol)),), (cells,), (where,), *((number,) for number in numbers),
        (f"{held.error:.1e}" if held.error else "0",), ("" if held.agrees else "disagree",),
    )  # fmt: skip
