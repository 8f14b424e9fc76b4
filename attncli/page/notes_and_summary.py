"""What stands before and after the steps: what is computed, warnings, roundings, a summary.

The section in words is made here of the sentences of `in_words.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from attncli.attention.registry import cell_form, headline, in_symbols
from attncli.dtypes import DTYPES
from attncli.english import count, listed
from attncli.equation.nodes import Name
from attncli.equation.shapes import product_text
from attncli.page.document import (
    Block,
    Listing,
    Math,
    Paragraph,
    Table,
    Text,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.in_words import attention_in_words
from attncli.page.printer import Printer
from attncli.page.sections import shapes
from attncli.page.worked.lookups import has_rounded_stage
from attncli.problem.parts.axes import HEAD, PLACES
from attncli.problem.parts.positions import POSITIONS
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import axis_length

WORDS = "In words"
NEARLY = "≈ means: the printed numbers give the result only after rounding."
ROUNDED = f"{NEARLY} attncli itself calculates with unrounded numbers."
SETTINGS_IN_WORDS = {
    "scale": "scale {}",
    "softcap": "softcap {}",
    "exp_base": "base {} instead of e",
    "sink": "sink {}",
}
# The steps at which dimensions change.
FLOW_OF_SHAPES = (("X", "context"), ("Q", "K", "V"), ("scores",), ("weights",), ("output",))


def about(printer: Printer) -> Text:
    """One line: what is computed here, and with which sizes and settings."""
    trace = printer.trace
    lengths = {"d_k": "K", "d_v": "V"}
    there = [
        f"`{length}` = {trace[name].shape[-1]}" for length, name in lengths.items() if name in trace
    ]
    said = [", ".join((_score_and_tokens(trace), *_leading(trace), *_widths(trace), *there))]
    for setting in _settings(printer):
        said.append(f"; {setting}")
    return text("".join(said) + ".")


def _score_and_tokens(trace: Trace) -> str:
    """Scaled dot-product attention: 3 tokens; where the scores are not the built-in ones, what
    they are is said by the steps.
    """
    tokens = count(len(trace.tokens), "token")
    if not trace.self_attention:
        tokens = ", ".join(_queries_and_keys(trace))
    score = trace.settings.score
    if not _has_built_in_scores(trace):
        return f"Equations of its own: {tokens}"
    if score == "scaled_dot":
        return f"Scaled dot-product attention: {tokens}"
    return f"Attention with the {score.replace('_', ' ')} score: {tokens}"


def _has_built_in_scores(trace: Trace) -> bool:
    """Whether the scores, and their scale where the score has one, are not of equations of the
    problem's own, nor left out by these.
    """
    if _has_no_own(trace):
        return True
    names = ["scores"]
    if trace.settings.score == "scaled_dot":
        names.append("scaled")
    return all(name in trace and not trace.steps[name].rule.own for name in names)


def _queries_and_keys(trace: Trace) -> Iterator[str]:
    """How many there are; of a problem whose own equations read only some, those alone."""
    letters = {letter for step in trace.steps.values() for letter in step.rule.target.letters}
    if "i" in letters or _has_no_own(trace):
        yield count(len(trace.tokens), "query")
    if "j" in letters or _has_no_own(trace):
        yield count(len(trace.context_tokens), "key")


def _has_no_own(trace: Trace) -> bool:
    """Whether no step is an equation of the problem's own."""
    return not any(step.rule.own for step in trace.steps.values())


def _widths(trace: Trace) -> Iterator[str]:
    """How wide embeddings are; that of the context only where it is another one."""
    widths = [trace[name].shape[-1] for name in ("X", "context") if name in trace]
    for symbol, width in zip(("d_model", "d_context"), dict.fromkeys(widths), strict=False):
        yield f"`{symbol}` = {width}"


def _settings(printer: Printer) -> Iterator[str]:
    """What the problem sets that is not usual."""
    trace = printer.trace
    settings = trace.settings
    scalars = printer.scalars()
    is_unscaled = "scaled" not in trace and settings.score == "scaled_dot"
    if is_unscaled and _has_no_own(trace):
        yield "no scaling"
    for name, said in SETTINGS_IN_WORDS.items():
        if name in scalars:
            yield said.format(scalars[name].text)
    if "sink" in trace:
        yield "a sink for each head"
    if settings.position:
        kinds = [POSITIONS[name].title for name in settings.position]
        yield f"positions: {' and '.join(kinds)}"
    if settings.mask:
        mask = f"mask: {', '.join(settings.mask)}"
        if settings.corner:
            mask += f" ({settings.corner})"
        if settings.convention:
            mask += f", as {settings.convention} reads it"
        yield mask
    if settings.device != "cpu":
        yield f"device: {settings.device}"


def _leading(trace: Trace) -> Iterator[str]:
    """How many entries and heads there are, and of what is cached."""
    for letter in trace.leading_letters:
        yield count(axis_length(trace, letter), PLACES[letter])
    if trace.settings.kv_heads and HEAD in trace.leading_letters:
        yield f"{count(trace.settings.kv_heads, 'head')} of keys and values"
    if "past_K" in trace:
        yield f"{count(trace['past_K'].shape[-2], 'key')} from a cache"


def notes(printer: Printer) -> Iterator[Block]:
    """Warnings, and what the printed digits mean on this page."""
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


def with_note_on_rounding(printer: Printer, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks; after the first lines with ≈ a note says what it means, if none has before."""
    trace = printer.trace
    is_said = trace.truth is not None or printer.shows_closed_forms
    for block in blocks:
        yield block
        if is_said or not isinstance(block, Worked):
            continue
        if any(map(_is_rounded, block.lines)):
            is_said = True
            yield Paragraph((_note_on_rounding(trace),), "note")


def _note_on_rounding(trace: Trace) -> str:
    dtype = DTYPES[trace.settings.dtype]
    if dtype.name != "float64":
        return f"{NEARLY} attncli itself calculates with all digits of {dtype.name}."
    return ROUNDED


def _is_rounded(line: WorkedLine) -> bool:
    return not line.holds or has_rounded_stage(line.work)


def _without_closed_form(trace: Trace) -> str:
    """Which steps have numbers that are decimals on an exact page."""
    # Few pages have closed forms, and what works with them takes a while to import.
    from attncli.page.worked.closed_forms import has_decimals

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
    said = (
        f"This page is calculated as on paper: every result is rounded to {decimals}, and the next"
        " step uses the rounded number. A half is rounded away from 0. Inputs are not rounded. The"
        " weights of a row may therefore add up to a little more or less than 1."
        f" {NEARLY}"
    )
    yield Paragraph((said,), "note")
    differences: list[Text] = []
    for step in trace.computed():
        for difference in _difference(trace, truth, step, precision):
            differences.append((difference,))
    if differences:
        said = f"These results differ from those of a calculation without rounding, at {decimals}:"
        yield Paragraph((said,))
        yield Listing(tuple(differences))


def _difference(trace: Trace, truth: Trace, step: Step, precision: int) -> Iterator[str]:
    """Where a step differs from the truth in what is printed, and the largest such difference."""
    true = truth.steps[step.name]
    error = np.zeros(step.shape)
    # Numbers that do not fit have a warning of their own.
    with np.errstate(all="ignore"):
        np.subtract(step.value, true.value, out=error, where=step.value != true.value)
    error = np.abs(error)
    noise = 8 * DTYPES["float64"].epsilon * np.abs(true.value)
    half_a_unit = 10.0**-precision / 2
    here, there = Printer(trace, precision), Printer(truth, precision)
    differing = [
        place
        for place in np.ndindex(step.shape)
        if not error[place] <= half_a_unit + noise[place]
        and here.text(step, place) != there.text(true, place)
    ]
    if differing:
        worst = max(differing, key=lambda place: error[place])
        yield (
            f"{step.rule.title}: {len(differing):,} of {count(step.value.size, 'cell')}. The"
            f" largest difference is at {step.cell_label(worst)}: {here.text(step, worst)} here,"
            f" {there.text(true, worst)} without rounding."
        )


def in_words(printer: Printer) -> Listing:
    """The trace in words, a sentence for each query."""
    sentences = attention_in_words(printer.trace, printer.ends_or_all)
    left = printer.left_out_of(row=len(printer.trace.tokens))
    return Listing(tuple((sentence,) for sentence in sentences), left)


def summary(printer: Printer, steps: Sequence[Step]) -> Iterator[Block]:
    """Steps at a glance, numbered as in the whole trace: their formulas and shapes."""
    numbers: dict[str, int] = {}
    for number, step in enumerate(printer.trace.computed(), 1):
        numbers[step.name] = number
    rows: list[tuple[Text, ...]] = []
    for step in steps:
        rows.append(_row(printer, numbers[step.name], step))
    heads = ("", "step", "formula", "shape")
    yield Table(heads, tuple(rows), right=(0,))


def _row(printer: Printer, number: int, step: Step) -> tuple[Text, ...]:
    sentence = printer.formula(headline(step.rule) or cell_form(step.rule))
    shape = "a number"
    found = shapes(printer.trace, step)
    if found:
        shape = product_text(found)
    formula = (Math(sentence.target), " = ", Math(sentence.expression))
    return ((str(number),), (step.rule.title,), formula, (shape,))


def flow_of_shapes(trace: Trace) -> Text:
    """X (3, 4) → Q, K, V (3, 3) → …, up to the result."""
    said: list[str | Math] = []
    for steps in groups_of_flow(trace):
        if said:
            said.append(" → ")
        different_shapes = {step.shape for step in steps}
        for place, step in enumerate(steps):
            if place:
                said.append(", ")
            symbol = in_symbols(Name(step.name), step.rule.symbols)
            said.append(Math(symbol))
            if len(different_shapes) > 1 or step is steps[-1]:
                shape = product_text((step.shape,))
                said.append(f" {shape}")
    return tuple(said)


def groups_of_flow(trace: Trace) -> Iterator[list[Step]]:
    """The steps whose shapes are said, those together that are at one place of the way."""
    groups = list(FLOW_OF_SHAPES)
    if not any(trace.result in group for group in groups):
        groups.append((trace.result,))
    for group in groups:
        steps = [trace.steps[name] for name in group if name in trace.steps]
        if steps:
            yield steps
