"""The end of a derivation: the steps at a glance, how the dimensions flow, and the result in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.attention.registry import cell_form, headline, in_symbols
from attncli.equation.nodes import Expression, Name
from attncli.equation.shapes import product_text
from attncli.page.document import Block, Heading, Listing, Math, Paragraph, Table, Text
from attncli.page.printer import Printer
from attncli.page.reading import reading
from attncli.page.section import shapes
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import leading

FLOW = (("X", "context"), ("Q", "K", "V"), ("scores",), ("weights",), ("output",))  # what changes dimensions


def closing(printer: Printer, *, words: bool) -> Iterator[Block]:
    """Summary and dimension flow of a whole trace, and its reading unless each of its heads has had its own.

    After heads that are parts of the page, the summary is a part, too.
    """
    trace = printer.trace
    yield Heading("Summary", part=bool(leading(trace)))
    yield from summary(printer, trace.computed())
    yield Paragraph(("Dimension flow: ", *_flow(trace)))
    if not words:
        return
    yield Heading("In words")
    yield in_words(printer)


def in_words(printer: Printer) -> Listing:
    """The reading of a trace, a sentence for each query."""
    sentences = reading(printer.trace, printer.some)
    return Listing(tuple((sentence,) for sentence in sentences), printer.left_out(row=len(printer.trace.tokens)))


def summary(printer: Printer, steps: Sequence[Step], head: str = "step") -> Iterator[Block]:
    """Steps at a glance, numbered as in the whole trace: their formulas and shapes.

    What the head of the column says of most of them is left out of their titles; the others stand in brackets.
    """
    numbers = {step.name: number for number, step in enumerate(printer.trace.computed(), 1)}
    rows = tuple(_row(printer, numbers[step.name], step, head) for step in steps)
    yield Table(("", head, "formula", "shape"), rows, right=(0,))


def _row(printer: Printer, number: int, step: Step, head: str) -> tuple[Text, ...]:
    sentence = printer.formula(headline(step.rule) or cell_form(step.rule))
    formula: Text = (Math(sentence.target), " = ", Math(sentence.expression))
    title = step.rule.title
    if head != "step":
        said = title.removeprefix(f"{head} ")
        title = said if said != title else f"({title[0].lower()}{title[1:]})"
    return (
        (str(number),),
        (title,),
        formula,
        (product_text(found) if (found := shapes(printer.trace, step)) else "a number",),
    )


def _flow(trace: Trace) -> Text:
    said: list[str | Math] = []
    for group in FLOW:
        steps = [trace.steps[name] for name in group if name in trace.steps]
        if not steps:
            continue
        said.append(" → " if said else "")
        alike = len({step.shape for step in steps}) == 1
        for place, step in enumerate(steps):
            said += [", " if place else "", Math(_symbol(step))]
            if not alike or place == len(steps) - 1:
                said.append(f" {product_text((step.shape,))}")
    return tuple(piece for piece in said if piece)


def _symbol(step: Step) -> Expression:
    return in_symbols(Name(step.name))
