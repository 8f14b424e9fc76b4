"""The steps of a solution with their verdicts: matrices with a sign at each number, and what is not right in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from attncli.attention.registry import in_symbols
from attncli.english import count, either
from attncli.equation.nodes import Name
from attncli.features.check.verdicts import VERDICTS, Judged, Verdict, Verdicts, apart_as_written
from attncli.features.check.worked_page import claimed, decimals, worked_from_own
from attncli.page.document import Block, Cell, Grid, Heading, Paragraph, Table, Text, Worked
from attncli.page.labels import cell_label
from attncli.page.measures import number
from attncli.page.number_format import format_number
from attncli.tracing.model import Step

MOST = 24  # cells of a step that are told one by one
MISSING = "?"
_SIGNS: dict[Verdict, str] = {
    "right": "✓ right", "carried": "» carried: it follows from your own numbers before it",
    "rounding": "≈ rounding: off by one unit of the last digit at most", "wrong": "✗ wrong: the error was made here",
    "missing": f"{MISSING} missing",
}  # fmt: skip


def legend(verdicts: Verdicts) -> str:
    """The signs that the page has."""
    counts = verdicts.counts
    return "; ".join(said for verdict, said in _SIGNS.items() if counts[verdict]) + "."


def counts_table(verdicts: Verdicts) -> Table:
    """How many cells of each step have which verdict; a column for every verdict that there is."""
    there = [verdict for verdict in VERDICTS if verdicts.counts[verdict]]
    rows = []
    for name, cells in verdicts.steps.items():
        found = Counter(judged.verdict for judged in _flat(cells))
        rows.append(((name,), *((f"{found[verdict]:,}" if found[verdict] else "",) for verdict in there)))
    return Table(("step", *there), tuple(rows), tuple(range(1, len(there) + 1)))


def step_blocks(verdicts: Verdicts, name: str) -> Iterator[Block]:
    """A step: its matrix as it was written, one for each head and entry, and the cells that are not right."""
    step, cells = verdicts.trace.steps[name], verdicts.steps[name]
    yield Heading(step.rule.title)
    if not step.shape:
        yield Grid(in_symbols(Name(name)), ("",), ("",), ((_cell(_at(cells, ())),),))
    for outer in np.ndindex(cells.shape[:-2]) if step.shape else ():
        if outer:
            where = ", ".join(labels[at] for labels, at in zip(step.labels, outer, strict=False))
            yield Paragraph((f"{where[0].upper()}{where[1:]}:",))
        yield _grid(step, cells[outer])
    yield from _told(step, cells)


def _grid(step: Step, cells: NDArray[Any]) -> Grid:
    name, labels, axes = in_symbols(Name(step.name)), step.labels[-cells.ndim :], step.rule.axes[-cells.ndim :]
    if cells.ndim == 1 and axes[0] in ("query", "key"):
        return Grid(name, labels[0], (), tuple((_cell(one),) for one in cells))
    if cells.ndim == 1:
        return Grid(name, ("",), labels[0], (tuple(map(_cell, cells)),))
    return Grid(name, labels[0], labels[1], tuple(tuple(map(_cell, row)) for row in cells))


def _cell(judged: Judged) -> Cell:
    return Cell(MISSING if judged.given is None else claimed(judged.given), verdict=judged.verdict)


def _told(step: Step, cells: NDArray[Any]) -> Iterator[Block]:
    """A row for every cell that is wrong or off by rounding: written, by the solution's own numbers, and true."""
    found = [index for index in np.ndindex(cells.shape) if _at(cells, index).verdict in ("wrong", "rounding")]
    if not found:
        return
    digits = decimals(judged.given for judged in _flat(cells))
    rows: list[tuple[Text, ...]] = []
    for index in found[:MOST]:
        judged = _at(cells, index)
        assert judged.given is not None
        shown = (claimed(judged.given), format_number(judged.own, digits), format_number(judged.expected, digits))
        rows.append(((cell_label(step, index) if index else step.name,), (judged.verdict,), *map(number, shown)))
    head = ("cell", "verdict", "written", "by your own numbers", "truth")
    kept = [place for place in range(5) if place != 3 or any(row[3] != row[4] for row in rows)]
    yield Table(
        tuple(head[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
        tuple(range(2, len(kept))),
    )
    if (more := len(found) - MOST) > 0:
        yield Paragraph((f"{count(more, 'more cell')} {either(more, 'is', 'are')} wrong or off by rounding.",))


def _at(cells: NDArray[Any], index: tuple[int, ...]) -> Judged:
    return cast("Judged", cells[index])


def _flat(cells: NDArray[Any]) -> Iterator[Judged]:
    return (_at(cells, index) for index in np.ndindex(cells.shape))


def loose_ends(verdicts: Verdicts) -> Iterator[Block]:
    """Cells that are carried only because the numbers before them may be rounded: as they stand, they give another."""
    found = loose(verdicts)
    if not found:
        return
    yield Heading("Carried, but not from the numbers as they stand")
    yield Paragraph(
        (
            "The numbers before these may have been rounded, and some number within that rounding gives what is "
            "written. Exactly as they stand, they give another:",
        )
    )
    lines = []
    for name, index in found[:MOST]:
        claim = verdicts.steps[name][index].given
        line = worked_from_own(verdicts, name, index)
        label = f"{name}, {line.label}"
        lines.append(replace(line, label=label, remark=("written: ", *number(claimed(claim)))))
    yield Worked(tuple(lines))
    if len(found) > MOST:
        yield Paragraph((f"So it is with {count(len(found) - MOST, 'more cell')}.",))


def loose(verdicts: Verdicts) -> list[tuple[str, tuple[int, ...]]]:
    """Which cells are carried only within the rounding of the numbers before them."""
    return [(name, index) for name, index, judged in verdicts.cells() if apart_as_written(judged)]
