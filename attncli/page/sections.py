"""One step as a section of a page: what it means, its formula, its matrix and its worked lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.attention.registry import cell_form, headline
from attncli.english import shape_text
from attncli.equation.nodes import Expression, Name
from attncli.equation.shapes import product_factors
from attncli.equation.symbols import symbol
from attncli.page.document import (
    Block,
    Cell,
    Formula,
    Grid,
    Heading,
    LazyCells,
    Math,
    Paragraph,
    Shapes,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.printer import Printer, format_rows
from attncli.page.worked import lists_closed_forms, rotated_pair, worked, worked_cells
from attncli.tracing.model import Step, Trace, masked_out

if TYPE_CHECKING:
    from numpy.typing import NDArray


AT_ONCE = 2**16  # numbers that are formatted together


def given_section(printer: Printer, step: Step, detail: str, *, explained: bool = False) -> Iterator[Block]:
    """A given array: its name, shape and meaning, and its numbers; `explained` where the page has said what it is."""
    size = shape_text(step.shape)
    meaning = () if detail == "brief" or explained else (": ", *text(step.rule.meaning))
    letter = () if symbol(step.rule.symbol).is_word else (Math(Name(step.rule.symbol)), " ")  # not Sinks sink
    yield Paragraph((f"{step.rule.title} ", *letter, f"({size})", *meaning))
    yield grid(printer, step)


def step_section(
    printer: Printer, step: Step, number: int | None, detail: str, heatmap: bool, *, explained: bool = False
) -> Iterator[Block]:
    """A computed step, from its headline to its worked lines; `explained` where the page has said what it is."""
    rule = step.rule
    product = shapes(printer.trace, step)
    yield Heading(rule.title, number, product)
    if detail != "brief" and not explained:
        yield Paragraph(printer.prose(" ".join(part for part in (rule.meaning, rule.why) if part)))
    if found := headline(rule):
        yield Formula(printer.formula(found), product)
    if detail != "brief" or not rule.matrix_form:
        yield Formula(printer.formula(cell_form(rule)), () if rule.matrix_form else product)
    yield grid(printer, step, heatmap)
    shows_work = detail != "brief" or lists_closed_forms(printer, step)
    if shows_work and printer.may_show_work(step) and (together := worked(printer, step, detail)).lines:
        yield together


def cell_section(printer: Printer, step: Step, index: tuple[int, ...]) -> Iterator[Block]:
    """One cell alone, worked in full."""
    rule = step.rule
    title = f"{rule.title}: {step.name}[{', '.join(str(place) for place in index)}]"
    product = () if rule.given else shapes(printer.trace, step)
    yield Heading(title, shapes=product)
    yield Paragraph(printer.prose(rule.meaning[0].upper() + rule.meaning[1:]))
    if rule.given:
        yield Worked((WorkedLine(step.cell_label(index), result=printer.number(step.name, index), remark=("given",)),))
        return
    if found := headline(rule):
        yield Formula(printer.formula(found), product)
    yield Formula(printer.formula(cell_form(rule)), () if rule.matrix_form else product)
    together = rotated_pair(printer, step, index)
    if len(together) > 1:
        yield Paragraph(("The two features of a pair are turned together, by one angle:",))
    yield worked_cells(printer, step, together)


def shapes(trace: Trace, step: Step) -> Shapes:
    """The shapes of the product, (3, 4)·(4, 3) = (3, 3); of the result alone where there is none; a number has none."""
    if not step.shape:
        return ()
    factors = product_factors(step.rule.matrix_form) if step.rule.matrix_form else ()
    return (*(_turned(trace.steps[name].shape) if turned else trace.steps[name].shape for name, turned in factors),
            step.shape)  # fmt: skip


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a matrix that is transposed, in each head."""
    return (*shape[:-2], *reversed(shape[-2:]))


def grid(printer: Printer, step: Step, heatmap: bool = False) -> Grid:
    """The matrix of a step; a vector over queries or keys is a column, another a row."""
    rows, names, heads = _rows(step)
    left = printer.left_out(row=len(rows), column=len(heads))
    closed, rounded = ((), ()) if left else _closed_forms(printer, step)

    def cells(part: slice = slice(None)) -> Iterator[tuple[Cell, ...]]:
        """The rows, with some of their columns."""
        hidden = _hidden(printer.trace, step)
        as_worked_out = step.written is None and step.exact is None and step.name not in printer.blank
        if step.value.ndim > 1 and as_worked_out and not (heatmap or closed or left):
            by_rows, unseen = (each.reshape(len(rows), len(heads))[:, part] for each in (step.value, hidden))
            yield from _plain_cells(by_rows, unseen, printer.precision)
            return
        shades = _shades(step) if heatmap and not step.rule.given else None
        columns: list[tuple[int, ...]] = [(place,) for place in printer.elide(range(len(heads)))] or [()]
        for row in printer.elide(rows):
            yield tuple(_cell(printer, step, (*row, *column), hidden, shades, rounded) for column in columns[part])

    made = LazyCells(cells) if printer.is_large else tuple(cells())
    return Grid(Name(step.rule.symbol), tuple(printer.elide(names)), tuple(printer.elide(heads)), made, closed, left)


def _cell(
    printer: Printer,
    step: Step,
    index: tuple[int, ...],
    hidden: NDArray[np.bool_],
    shades: NDArray[np.float64] | None,
    rounded: Collection[tuple[int, ...]],
) -> Cell:
    if step.name in printer.blank:
        return Cell("")
    unseen = bool(hidden[index])
    shade = float(shades[index]) if shades is not None and not unseen and np.isfinite(shades[index]) else None
    return Cell(printer.text(step, index), shade, unseen, index in rounded)


def _plain_cells(matrix: NDArray[Any], hidden: NDArray[np.bool_], precision: int) -> Iterator[tuple[Cell, ...]]:
    """Cells with nothing but a text and whether they are hidden, row by row; alike ones are mostly the same object."""
    rows = max(1, AT_ONCE // max(1, matrix.shape[1]))
    for top in range(0, len(matrix), rows):
        seen: dict[str, Cell] = {}
        unseen: dict[str, Cell] = {}
        texts = format_rows(matrix[top : top + rows], precision)
        for row, out in zip(texts, hidden[top : top + rows], strict=True):
            cells = [seen.get(text) or seen.setdefault(text, Cell(text)) for text in row]
            for place in np.flatnonzero(out).tolist():
                text = row[place]
                cells[place] = unseen.get(text) or unseen.setdefault(text, Cell(text, hidden=True))
            yield tuple(cells)


def _rows(step: Step) -> tuple[list[tuple[int, ...]], tuple[str, ...], tuple[str, ...]]:
    """Where the rows of a matrix are in the array of a step, their labels, and those of the columns."""
    shape, labels = step.shape, step.labels
    if len(shape) == 1 and step.rule.axis_names[:1] and step.rule.axis_names[0] in ("query", "key"):
        return [(row,) for row in range(len(labels[0]))], labels[0], ()
    if len(shape) < 2:
        return [()], ("",), (labels or ((),))[0]
    rows = list(np.ndindex(shape[:-1]))  # of pairs, each is a row
    return rows, tuple(step.row_label(row) for row in rows), labels[-1]


def _closed_forms(
    printer: Printer, step: Step
) -> tuple[tuple[tuple[Expression, ...], ...], Collection[tuple[int, ...]]]:
    """The closed forms to stand beside the matrix, and the cells whose decimals are not all of theirs."""
    if step.exact is None:
        return (), ()
    from attncli.page.exact import closed_forms, rounded  # which few pages need

    closed = closed_forms(printer, step)
    return closed, rounded(printer, step) if closed else ()


def _hidden(trace: Trace, step: Step) -> NDArray[np.bool_]:
    """The cells that a mask hides, from the mask on."""
    names = list(trace.steps)
    masked = "mask" in names and names.index(step.name) >= names.index("mask")
    hidden = masked_out(trace.steps) if masked and step.rule.axis_names[-2:] == ("query", "key") else None
    if hidden is None:
        return np.zeros(step.shape, dtype=bool)
    return hidden if step.name != "mask" else np.asarray(step.value == -np.inf)


def _shades(step: Step) -> NDArray[np.float64]:
    """From 0 to 1: weights as they are, anything else between its own smallest and largest number."""
    values = step.value.astype(np.float64)
    if step.name == "weights":
        return values
    finite = values[np.isfinite(values)]
    if not finite.size or finite.min() == finite.max():
        return np.full(values.shape, np.nan)
    halves, low, high = values / 2, finite.min() / 2, finite.max() / 2  # so that their distance is finite, too
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(values), (halves - low) / (high - low), np.nan)
