"""One step as a section of a page: what it means, its formula, its matrix and its worked lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from attncli.attention.registry import cell_form, headline
from attncli.english import shape_text
from attncli.equation.nodes import Name
from attncli.equation.shapes import product_factors
from attncli.equation.symbols import symbol
from attncli.page.document import (
    Block,
    Formula,
    Heading,
    Math,
    Paragraph,
    Room,
    Shapes,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.grid import grid
from attncli.page.printer import Printer
from attncli.page.product import beside_factors, meeting
from attncli.page.view import View
from attncli.page.worked.cells import lists_closed_forms, rotated_pair, worked, worked_cells
from attncli.tracing.model import Step, Trace

# Below a matrix that is to be filled in there are no more lines: both fit on a page then.
MOST_ROOM = 12


def given_section(
    printer: Printer, step: Step, detail: str, *, explained: bool = False
) -> Iterator[Block]:
    """A given array: its name, shape and meaning, and its numbers; `explained` where the page has
    said what it is.
    """
    size = shape_text(step.shape)
    meaning = () if detail == "brief" or explained else (": ", *text(step.rule.meaning))
    # Else a page would say: Sinks sink.
    letter = () if symbol(step.rule.symbol).is_word else (Math(Name(step.rule.symbol)), " ")
    yield Paragraph((f"{step.rule.title} ", *letter, f"({size})", *meaning))
    yield grid(printer, step)


def step_section(
    printer: Printer,
    step: Step,
    number: int | None,
    detail: str,
    heatmap: bool,
    *,
    explained: bool = False,
) -> Iterator[Block]:
    """A computed step, from its headline to its worked lines; `explained` where the page has said
    what it is.
    """
    rule = step.rule
    product = shapes(printer.trace, step)
    yield Heading(rule.title, number, product, step=step.name)
    if detail != "brief" and not explained:
        yield Paragraph(printer.prose(" ".join(part for part in (rule.meaning, rule.why) if part)))
    if found := headline(rule):
        yield Formula(printer.formula(found), product)
    if detail != "brief" or not rule.matrix_form:
        yield Formula(printer.formula(cell_form(rule)), () if rule.matrix_form else product)
    matrix = grid(printer, step, heatmap)
    yield matrix if detail == "brief" else beside_factors(printer, step, matrix)
    shows_work = detail != "brief" or lists_closed_forms(printer, step)
    if (
        shows_work
        and printer.may_show_work(step)
        and (together := worked(printer, step, detail)).lines
    ):
        yield together
    if detail != "brief" and step.name in printer.blank and not rule.is_copy:
        yield Room(
            min(MOST_ROOM, prod(step.shape if detail == "cells" else step.shape[:-1] or step.shape))
        )


def step_pictures(
    printer: Printer, step: str, view: View, place: Mapping[str, int]
) -> Iterator[Block]:
    """What a page with pictures draws of a step; `place` is the one of its trace among all heads
    and entries.
    """
    if view.pictures:
        # Few pages have pictures, and what draws them takes a while to import.
        from attncli.page.pictures.blocks import pictures_after

        yield from pictures_after(printer, step, place)


def cell_section(printer: Printer, step: Step, index: tuple[int, ...]) -> Iterator[Block]:
    """One cell alone, worked in full."""
    rule = step.rule
    places = f"[{', '.join(map(str, index))}]" if index else ""
    title = f"{rule.title}: {step.name}{places}"
    product = () if rule.given else shapes(printer.trace, step)
    yield Heading(title, shapes=product, step=step.name)
    yield Paragraph(printer.prose(rule.meaning[0].upper() + rule.meaning[1:]))
    if rule.given:
        yield Worked(
            (
                WorkedLine(
                    step.cell_label(index),
                    result=printer.number(step.name, index),
                    remark=("given",),
                ),
            )
        )
        return
    if found := headline(rule):
        yield Formula(printer.formula(found), product)
    yield Formula(printer.formula(cell_form(rule)), () if rule.matrix_form else product)
    yield from meeting(printer, step, index)
    together = rotated_pair(printer, step, index)
    if len(together) > 1:
        yield Paragraph(("The two features of a pair are rotated together, by the same angle:",))
    yield worked_cells(printer, step, together)


def shapes(trace: Trace, step: Step) -> Shapes:
    """The shapes of the product, (3, 4)·(4, 3) = (3, 3); of the result alone where there is none; a
    number has none.
    """
    if not step.shape:
        return ()
    factors = product_factors(step.rule.matrix_form) if step.rule.matrix_form else ()
    return (
        *(
            _turned(trace.steps[name].shape) if turned else trace.steps[name].shape
            for name, turned in factors
        ),
        step.shape,
    )


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a matrix that is transposed, in each head."""
    return (*shape[:-2], *reversed(shape[-2:]))
