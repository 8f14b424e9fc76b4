"""A trace of several heads or entries: each a part of the page, worked as a single head is, before what joins them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from attncli.english import a, count, either, listed
from attncli.errors import usage_error
from attncli.page.document import Block, Heading, Listing, Paragraph
from attncli.page.printer import Printer
from attncli.page.section import given_section, step_section
from attncli.page.view import View
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, LEADING, PLACES
from attncli.study.words import reading
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import at, leading, length, of_all_heads, serves

Places = Mapping[str, int]


def chosen_place(trace: Trace, view: View) -> dict[str, int]:
    """The place that the view asks for on the leading axes; raises (exit 2) where there is none such."""
    own = leading(trace)
    found = {}
    for letter, option, place in ((BATCH, "--entry", view.entry), (HEAD, "--head", view.head)):
        if place is None:
            continue
        there = length(trace, letter) if letter in own else 0
        if not isinstance(place, int) or not 0 <= place < there:
            word = PLACES[letter]
            if not there:
                raise usage_error(f"{option} needs a problem with {a(word)} axis", help=f"leave out {option}")
            message = f"{option} {place} does not exist: there {either(there, 'is', 'are')} {count(there, word)}"
            raise usage_error(message, help=f"use 0 to {there - 1}" if there > 1 else "use 0")
        found[letter] = place
    return found


def shown(trace: Trace, view: View) -> Trace:
    """The whole trace, or the place of it that the view asks for, whose title then says so."""
    place = chosen_place(trace, view)
    if not place:
        return trace
    said = _title(place)
    title = f"{trace.title}: {said[0].lower()}{said[1:]}" if trace.title else said
    return replace(at(trace, place), title=title)


def sections(printer: Printer, names: tuple[str, ...], view: View) -> Iterator[Block]:
    """The chosen steps: what all share, each entry and head by itself, and what comes of all heads together."""
    yield from _level(printer, printer, names, view, {})


def _level(whole: Printer, here: Printer, names: tuple[str, ...], view: View, place: Places) -> Iterator[Block]:
    """What belongs to this place and to no smaller one, around the places within it."""
    trace = whole.trace
    together = set(of_all_heads(trace))
    own = [name for name in names if name not in together and _belongs(trace, trace.steps[name], place)]
    told = any(place.values())  # under an earlier head
    yield from _steps(whole, here, own, view, "What is given" if not place else "", told)
    inner = next((letter for letter in leading(trace) if letter not in place), None)
    if inner is None:
        if view.steps is None:
            yield Heading(f"{_title(place)} in words")
            yield Listing(tuple((sentence,) for sentence in reading(here.trace)))
        return
    for number in range(length(trace, inner)):
        inside = {**place, inner: number}
        yield Heading(_title(inside), part=True)
        yield from _served(trace, inside)
        within = Printer(at(trace, inside), whole.precision)
        yield from _level(whole, within, names, view, inside)
    if inner == HEAD and (joined := [name for name in names if name in together]):
        yield Heading("All heads together" + (f", entry {place[BATCH]}" if BATCH in place else ""), part=True)
        yield from _steps(whole, here, joined, view, "", told)


def _steps(whole: Printer, here: Printer, names: list[str], view: View, title: str, told: bool) -> Iterator[Block]:
    """Given arrays first, then what is worked out, numbered as in the whole trace."""
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    given = [here.trace.steps[name] for name in names if name not in numbers]
    if given and title and view.steps is None:
        yield Heading(title)
    for step in given:
        yield from given_section(here, step, view.detail, told=told)
    for name in names:
        if name in numbers:
            step = here.trace.steps[name]
            known = told and not step.rule.meanings  # which says something else of each entry
            yield from step_section(here, step, numbers[name], view.detail, view.heatmap, told=known)


def _belongs(trace: Trace, step: Step, place: Places) -> bool:
    """Whether a step is shown here: its last axis is that of this place, and on axes it lacks this is the first."""
    own = {HEAD if letter == KEY_HEAD else letter for letter in step.rule.target.letters if letter in LEADING}
    if step.shape and len(step.shape) == 1 and own == {HEAD} and step.name in ("slopes", "sink"):
        own = set()  # one number for each head is shown for all of them at once
    innermost = list(place)[-1] if place else None
    if (max(own, key=LEADING.index) if own else None) != innermost:
        return False
    if KEY_HEAD in step.rule.target.letters and place[HEAD] % serves(trace):
        return False
    return all(number == 0 for letter, number in place.items() if letter not in own)


def _served(trace: Trace, place: Places) -> Iterator[Block]:
    """Which head of keys and values a query head uses, where several share one."""
    group = serves(trace)
    if group == 1 or HEAD not in place:
        return
    head = place[HEAD]
    shared, first = head // group, head // group * group
    others = listed([str(number) for number in range(first, first + group)])
    said = f"Keys and values are those of KV head {shared}, which serves the query heads {others}"
    yield Paragraph((said + (f"; they are worked out under head {first}." if head != first else "."),))


def _title(place: Places) -> str:
    said = ", ".join(f"{PLACES[letter]} {number}" for letter, number in place.items())
    return said[0].upper() + said[1:]
