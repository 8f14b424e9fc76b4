"""What stands before and after the steps: what is computed, warnings, how it was rounded; a
summary, and the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from attncli.attention.registry import cell_form, headline, in_symbols
from attncli.dtypes import DTYPES
from attncli.english import count, listed
from attncli.equation.nodes import Expression, Name
from attncli.equation.shapes import product_text
from attncli.page.document import (
    Block,
    Heading,
    Listing,
    Math,
    Paragraph,
    Table,
    Text,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.in_words import reading
from attncli.page.printer import Printer
from attncli.page.sections import shapes
from attncli.page.worked.lookups import has_rounded_stage
from attncli.problem.parts.axes import HEAD, PLACES
from attncli.problem.parts.positions import POSITIONS
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import axis_length

WORDS = "In words"
NEARLY = (
    "On a line with ≈, some numbers are rounded, so they may not give exactly the printed result."
)
ROUNDED = f"{NEARLY} attncli itself calculates with unrounded numbers."
# what changes dimensions
FLOW = (("X", "context"), ("Q", "K", "V"), ("scores",), ("weights",), ("output",))


def about(printer: Printer) -> Text:
    """One line: what is computed here, and with which sizes and settings."""
    trace, scalars = printer.trace, printer.scalars()
    queries, keys = len(trace.tokens), len(trace.context_tokens)
    tokens = count(queries, "token")
    if not trace.self_attention:
        tokens = f"{count(queries, 'query')}, {count(keys, 'key')}"
    source = [f"Scaled dot-product attention: {tokens}, "]
    if trace.settings.score != "scaled_dot":
        source = [f"Attention with the {trace.settings.score.replace('_', ' ')} score: {tokens}, "]
    source += _leading(trace)
    widths = [trace[name].shape[-1] for name in ("X", "context") if name in trace]
    for symbol, width in zip(("d_model", "d_context"), dict.fromkeys(widths), strict=False):
        source.append(f"`{symbol}` = {width}, ")
    source.append(f"`d_k` = {trace['K'].shape[-1]}, `d_v` = {trace['V'].shape[-1]}")
    if "scaled" not in trace and trace.settings.score == "scaled_dot":
        source.append("; no scaling")
    for name, said in (
        ("scale", "scale {}"),
        ("softcap", "softcap {}"),
        ("exp_base", "base {} instead of e"),
        ("sink", "sink {}"),
    ):
        if name in scalars:
            source.append(f"; {said.format(scalars[name].text)}")
    if "sink" in trace:
        source.append("; a sink for each head")
    if trace.settings.position:
        source.append(
            "; positions:"
            f" {' and '.join(POSITIONS[name].title for name in trace.settings.position)}"
        )
    if trace.settings.mask:
        corner = f" ({trace.settings.corner})" if trace.settings.corner else ""
        reader = f", as {trace.settings.convention} reads it" if trace.settings.convention else ""
        source.append(f"; mask: {', '.join(trace.settings.mask)}{corner}{reader}")
    if trace.settings.device != "cpu":
        source.append(f"; device: {trace.settings.device}")
    return text("".join(source) + ".")


def _leading(trace: Trace) -> Iterator[str]:
    """How many entries and heads there are, and of what is cached."""
    for letter in trace.leading_letters:
        yield f"{count(axis_length(trace, letter), PLACES[letter])}, "
    if trace.settings.kv_heads and HEAD in trace.leading_letters:
        yield f"{count(trace.settings.kv_heads, 'head')} of keys and values, "
    if "past_K" in trace:
        yield f"{count(trace['past_K'].shape[-2], 'key')} from a cache, "


def notes(printer: Printer, blocks: Iterable[Block]) -> Iterator[Block]:
    """Warnings, and what `=`, `≈` and the printed digits mean on this page."""
    trace = printer.trace
    for warning in trace.warnings:
        yield Paragraph((warning[0].upper() + warning[1:] + ".",), "warning")
    if trace.truth is not None:
        yield from _paper_notes(trace, trace.truth, printer.precision)
        return
    if printer.shows_closed_forms:
        decimals = count(printer.precision, "decimal")
        said = (
            "Every number is calculated exactly and shown in closed form. After ≈, it is rounded"
            f" to {decimals}."
        )
        yield Paragraph((said + _without_closed_form(trace),), "note")
        return
    dtype = DTYPES[trace.settings.dtype]
    if dtype.name != "float64":
        said = f"All numbers are {dtype.name}, which has about {dtype.digits} digits."
        if dtype.name != dtype.computed:
            said += f" Each step is computed in {dtype.computed} and then rounded to {dtype.name}."
        yield Paragraph((said,), "note")
    if any(not line.holds or has_rounded_stage(line.work) for line in _worked_lines(blocks)):
        all_digits = f"{NEARLY} attncli itself calculates with all digits of {dtype.name}."
        said = ROUNDED if dtype.name == "float64" else all_digits
        yield Paragraph((said,), "note")


def _without_closed_form(trace: Trace) -> str:
    """Which steps have numbers that are decimals on an exact page."""
    from attncli.page.worked.closed_forms import has_decimals  # which few pages need

    steps = [step.name for step in trace.computed() if has_decimals(step)]
    if not steps:
        return ""
    return (
        " Exceptions are numbers without a closed form, such as a cosine, and numbers whose closed"
        " form is very long. They are calculated with 50 digits. There are such numbers in"
        f" {listed(steps)}."
    )


def _paper_notes(trace: Trace, truth: Trace, precision: int) -> Iterator[Block]:
    """How the page was worked, and where that differs from the truth in what is printed."""
    decimals = count(precision, "decimal")
    yield Paragraph(
        (
            (
                "This page is calculated as on paper: every result is rounded half up to"
                f" {decimals}, and the next step uses the rounded number. Inputs are not rounded."
                " The weights of a row may therefore add up to a little more or less than 1. ≈"
                " means: the printed numbers give the result only after rounding."
            ),
        ),
        "note",
    )
    differences = tuple(
        (said,) for step in trace.computed() for said in _difference(trace, truth, step, precision)
    )
    if differences:
        yield Paragraph(
            (f"These results differ from those of a calculation without rounding, at {decimals}:",)
        )
        yield Listing(differences)


def _difference(trace: Trace, truth: Trace, step: Step, precision: int) -> Iterator[str]:
    true = truth.steps[step.name]
    # numbers that do not fit have a warning of their own
    with np.errstate(all="ignore"):
        error = np.abs(
            np.subtract(
                step.value, true.value, out=np.zeros(step.shape), where=step.value != true.value
            )
        )
    noise = 8 * DTYPES["float64"].epsilon * np.abs(true.value)
    here, there = Printer(trace, precision), Printer(truth, precision)

    def differs(place: tuple[int, ...]) -> bool:
        near = error[place] <= 10.0**-precision / 2 + noise[place]
        return not near and here.text(step, place) != there.text(true, place)

    differing = [place for place in np.ndindex(step.shape) if differs(place)]
    if differing:
        worst = max(differing, key=lambda place: error[place])
        yield (
            f"{step.rule.title}: {len(differing):,} of {count(step.value.size, 'cell')}. The"
            f" largest difference is at {step.cell_label(worst)}: {here.text(step, worst)} here,"
            f" {there.text(true, worst)} without rounding."
        )


def _worked_lines(blocks: Iterable[Block]) -> Iterator[WorkedLine]:
    for block in blocks:
        if isinstance(block, Worked):
            yield from block.lines


def closing(printer: Printer, *, words: bool) -> Iterator[Block]:
    """Summary and shapes of a whole trace, and its reading unless each of its heads has had its
    own.

    After heads that are parts of the page, the summary is a part, too.
    """
    trace = printer.trace
    yield Heading("Summary", part=bool(trace.leading_letters))
    yield from summary(printer, trace.computed())
    yield Paragraph(("Shapes: ", *_flow(trace)))
    if not words:
        return
    yield Heading(WORDS)
    yield in_words(printer)


def in_words(printer: Printer) -> Listing:
    """The reading of a trace, a sentence for each query."""
    sentences = reading(printer.trace, printer.elide)
    return Listing(
        tuple((sentence,) for sentence in sentences),
        printer.left_out(row=len(printer.trace.tokens)),
    )


def summary(printer: Printer, steps: Sequence[Step], head: str = "step") -> Iterator[Block]:
    """Steps at a glance, numbered as in the whole trace: their formulas and shapes.

    What the head of the column says of most of them is left out of their titles; the others stand
    in brackets.
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
