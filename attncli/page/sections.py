"""One step as a section of a page: what it means, its formula, its matrix and its worked lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from attncli.attention.registry import cell_form, headline
from attncli.english import shape_text
from attncli.equation.nodes import Name
from attncli.equation.rule import Rule
from attncli.equation.shapes import product_factors
from attncli.equation.symbols import symbol
from attncli.page.document import (
    Block,
    Formula,
    Heading,
    Math,
    Paragraph,
    Product,
    Room,
    Shapes,
    Text,
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
    printer: Printer, step: Step, detail: str, *, explained: bool = False, bare: bool = False
) -> Iterator[Block]:
    """A given array: its name, shape and meaning, and its numbers; `explained` where the page has
    said what it is. One that is `bare` has its numbers alone in brief.
    """
    rule = step.rule
    if bare and detail == "brief":
        yield grid(printer, step)
        return
    # A number has no shape.
    size = f" ({shape_text(step.shape)})" if step.shape else ""
    meaning: Text = ()
    if detail != "brief" and not explained:
        meaning = (": ", *text(rule.meaning))
    # With a word for a letter, a page would say: Sinks sink.
    letter: Text = ()
    if not symbol(rule.symbol).is_word:
        letter = (" ", Math(Name(rule.symbol)))
    yield Paragraph((rule.title, *letter, size, *meaning))
    yield grid(printer, step)


def step_section(
    printer: Printer,
    step: Step,
    number: int | None,
    detail: str,
    heatmap: bool,
    *,
    explained: bool = False,
    titled: bool = False,
    read: Sequence[Step] = (),
    is_part: bool = False,
) -> Iterator[Block]:
    """A computed step, from its headline to its worked lines; `explained` where the page has said
    what it is, `titled` where its title has room for its formula. What it has `read`, and no step
    before it, stands above its matrix, or beside it as a factor of a product. Of a head or an
    entry, which `is_part` of a page, it stands above in any case: the product of another one may be
    too wide, and what one head shows, all show.
    """
    rule = step.rule
    product = shapes(printer.trace, step)
    is_brief = detail == "brief"
    formulas = list(formulas_of(printer, step, product, detail, titled=titled))
    in_title = formulas[0].equation if titled else None
    yield Heading(
        rule.title, number, product, step=step.name, formula=in_title, beside=titled and is_brief
    )
    if not is_brief and not explained and printer.explains:
        yield Paragraph(printer.prose(explanation(step)))
    yield from formulas
    own = grid(printer, step, heatmap)
    matrix = own if is_brief else beside_factors(printer, step, own)
    for each in read:
        shown = list(given_section(printer, each, "brief"))
        if isinstance(matrix, Product) and matrix.has(each.name) and not is_part:
            # Where both have no room side by side, it stands above, too.
            matrix = matrix._replace(instead=(*shown, *matrix.instead))
        else:
            yield from shown
    yield matrix
    yield from worked_section(printer, step, detail)
    if not is_brief and step.name in printer.blank and not rule.is_copy:
        yield _room_to_work(step, detail)


def explanation(step: Step) -> str:
    """What a step is, and what for."""
    return " ".join(part for part in (step.rule.meaning, step.rule.why) if part)


def formulas_of(
    printer: Printer, step: Step, product: Shapes, detail: str, *, titled: bool = False
) -> Iterator[Formula]:
    """The formula of a step: that of its matrices if it has one, else that of a cell.

    Both stand there where every cell is worked, and of a person's own equation: one of the two is
    how it was read.
    """
    found = headline(step.rule)
    is_own = step.rule.own and detail != "brief"
    if found:
        yield Formula(printer.formula(found), product, titled)
    if not found or detail == "cells" or is_own:
        of_cell = _formula_of_cell(printer, step.rule, product)
        yield of_cell._replace(titled=titled and not found)


def worked_section(printer: Printer, step: Step, detail: str) -> Iterator[Block]:
    """The worked lines of a step, where the page shows them."""
    shows_work = detail != "brief" or lists_closed_forms(printer, step)
    if shows_work and printer.may_show_work(step):
        together = worked(printer, step, detail)
        if together.lines:
            yield together


def _formula_of_cell(printer: Printer, rule: Rule, product: Shapes) -> Formula:
    """The formula of one cell; the shapes stand there where no formula of matrices has them."""
    said = () if rule.matrix_form else product
    return Formula(printer.formula(cell_form(rule)), said)


def _room_to_work(step: Step, detail: str) -> Room:
    """Empty lines below a matrix that is to be filled in: one for each row, or for each cell."""
    axes = step.shape
    if detail != "cells" and len(axes) > 1:
        axes = axes[:-1]
    lines = prod(axes)
    lines = min(MOST_ROOM, lines)
    return Room(lines)


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
    title = f"{rule.title}: {step.name}"
    if index:
        places = ", ".join(map(str, index))
        title += f"[{places}]"
    product: Shapes = ()
    if not rule.given:
        product = shapes(printer.trace, step)
    yield Heading(title, shapes=product, step=step.name)
    first = rule.meaning[0].upper()
    meaning = first + rule.meaning[1:]
    yield Paragraph(printer.prose(meaning))
    if rule.given:
        label = step.cell_label(index)
        number = printer.number(step.name, index)
        line = WorkedLine(label, result=number, remark=("given",))
        yield Worked((line,))
        return
    found = headline(rule)
    if found:
        yield Formula(printer.formula(found), product)
    yield _formula_of_cell(printer, rule, product)
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
    form = step.rule.matrix_form
    if not form:
        return (step.shape,)
    found: list[tuple[int, ...]] = []
    for name, is_turned in product_factors(form):
        shape = trace.steps[name].shape
        if is_turned:
            shape = _turned(shape)
        found.append(shape)
    return (*found, step.shape)


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a matrix that is transposed, in each head."""
    return (*shape[:-2], *reversed(shape[-2:]))
