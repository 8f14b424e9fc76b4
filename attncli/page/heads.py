"""A trace of several heads or entries: each a part of the page, worked as a single head is, before what joins them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from attncli.page.closing import in_words
from attncli.page.document import Block, Heading, Paragraph
from attncli.page.place import Places, served, title
from attncli.page.places import MANY, first_that_serves, numbers, with_gaps
from attncli.page.printer import Printer
from attncli.page.section import given_section, step_section
from attncli.page.view import View
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, LEADING, PER_HEAD
from attncli.tracing.model import Step
from attncli.tracing.slices import at, leading, of_all_heads


def sections(printer: Printer, names: tuple[str, ...], view: View) -> Iterator[Block]:
    """The chosen steps: what all share, each entry and head by itself, and what comes of all heads together."""
    yield from _level(printer, printer, names, view, {})


def _level(whole: Printer, here: Printer, names: tuple[str, ...], view: View, place: Places) -> Iterator[Block]:
    """What belongs to this place and to no smaller one, if there is any such, around the places within it."""
    trace = whole.trace
    together = set(of_all_heads(trace))
    own = [name for name in names if name not in together and _belongs(whole, trace.steps[name], place)]
    inner = next((letter for letter in leading(trace) if letter not in place), None)
    told = any(place.values())  # under an earlier head
    blocks = tuple(_steps(whole, here, own, view, told))
    if inner is None and view.steps is None and not view.blank:
        blocks = (*blocks, Heading(f"{title(place)} in words"), in_words(here))
    if blocks:
        yield Heading(title(place) if place else f"What all {MANY[leading(trace)[0]]} share", part=True)
        if inner and view.steps is None and not told and not all(trace.steps[name].rule.given for name in own):
            what = f"What all {MANY[inner]} share" if place else "This"
            yield Paragraph((f"{what} comes first; steps are numbered in the order of work.",))
        if HEAD in place:
            yield from _served(whole, place[HEAD], names)
        yield from blocks
    if inner is None:
        return
    inside = ({**place, inner: number} for number in numbers(whole, inner))
    yield from with_gaps(inner, place, ((each[inner], _inside(whole, names, view, each)) for each in inside))
    if inner == HEAD and (joined := [name for name in names if name in together]):
        yield Heading("All heads together" + (f", entry {place[BATCH]}" if BATCH in place else ""), part=True)
        yield from _steps(whole, here, joined, view, told)


def _inside(whole: Printer, names: tuple[str, ...], view: View, place: Places) -> Iterator[Block]:
    yield from _level(whole, replace(whole, trace=at(whole.trace, place)), names, view, place)


def _served(whole: Printer, head: int, names: Sequence[str]) -> Iterator[Block]:
    """Which head of keys and values a query head uses, and where that is shown, if another head has shown it."""
    if said := served(whole.trace, head):
        first, steps = first_that_serves(whole, head), whole.trace.steps
        before = head != first and any(KEY_HEAD in steps[name].rule.target.letters for name in names)
        yield Paragraph((f"{said}; they are shown under head {first}." if before else f"{said}.",))


def _steps(whole: Printer, here: Printer, names: list[str], view: View, told: bool) -> Iterator[Block]:
    """Given arrays first, then what is worked out, numbered as in the whole trace."""
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    given = [here.trace.steps[name] for name in names if name not in numbers]
    for step in given:
        yield from given_section(here, step, view.detail, told=told)
    for name in names:
        if name in numbers:
            step = here.trace.steps[name]
            known = told and not step.rule.meanings  # which says something else of each entry
            yield from step_section(here, step, numbers[name], view.detail, view.heatmap, told=known)


def _belongs(whole: Printer, step: Step, place: Places) -> bool:
    """Whether a step is shown here: its last axis is that of this place, and on axes it lacks this is the first."""
    own = {HEAD if letter == KEY_HEAD else letter for letter in step.rule.target.letters if letter in LEADING}
    if step.name in PER_HEAD:
        own = set()  # which is shown for all of them at once
    innermost = list(place)[-1] if place else None
    if (max(own, key=LEADING.index) if own else None) != innermost:
        return False
    if KEY_HEAD in step.rule.target.letters and place[HEAD] != first_that_serves(whole, place[HEAD]):
        return False
    return all(number == 0 for letter, number in place.items() if letter not in own)
