"""One head or entry among others: which a page is asked for, which it shows, and the sections of
each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple, TypeAlias

from attncli.english import listed
from attncli.page.document import Block, Heading, Paragraph, Worked, WorkedLine
from attncli.page.printer import Printer, printer_for
from attncli.page.remarks import in_words
from attncli.page.sections import given_section, step_pictures, step_section
from attncli.page.view import SINGULARS, View, chosen_place, place_title
from attncli.page.worked.line import worked_line
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD, LEADING, PER_HEAD
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import (
    axis_length,
    group_size,
    steps_of_all_heads,
    trace_at,
    with_key_head,
)

Places = Mapping[str, int]
# parts, of heads in all entries, that are all shown
MOST_PARTS = 8
PLURALS = {BATCH: "entries", HEAD: "heads", KEY_HEAD: "KV heads"}


def head_context(whole: Trace, view: View, names: Sequence[str]) -> Iterator[Block]:
    """What the page of one head says of the heads it shares keys with, and of its slope if a step
    reads that.
    """
    place = chosen_place(whole, view)
    if HEAD not in place:
        return
    if said := _kv_head_text(whole, place[HEAD]):
        yield Paragraph((f"{said}.",))
    if "slopes" in whole and "bias" in names:
        yield Worked(
            (
                _slope(printer_for(whole, view), place[HEAD])._replace(
                    label=f"slope of head {place[HEAD]}"
                ),
            )
        )


def _kv_head_text(trace: Trace, head: int) -> str:
    """Which head of keys and values a query head uses; nothing where each has its own."""
    group = group_size(trace)
    if group == 1:
        return ""
    shared, first = head // group, head // group * group
    others = listed([str(number) for number in range(first, first + group)])
    return f"Query heads {others} share the keys and values of KV head {shared}"


def _slope(whole: Printer, head: int) -> WorkedLine:
    step = whole.trace.steps["slopes"]
    if step.rule.given:
        return WorkedLine("", result=whole.number("slopes", (head,)), remark=("given",))
    return worked_line(whole, step, (head,))


def _shown_positions(printer: Printer, letter: str) -> Sequence[int]:
    """The places of a leading axis that a page has, of the whole trace that its printer is of."""
    trace = printer.trace
    count = (
        axis_length(trace, HEAD) // group_size(trace)
        if letter == KEY_HEAD
        else axis_length(trace, letter)
    )
    few = (
        not printer.ends
        or prod(axis_length(trace, each) for each in trace.leading_letters) <= MOST_PARTS
    )
    return range(count) if few or count < 3 else (0, count - 1)


def _first_head_of_group(printer: Printer, head: int) -> int:
    """The head of queries under which the keys and values are shown that this one uses."""
    group = group_size(printer.trace)
    return next(each for each in _shown_positions(printer, HEAD) if each // group == head // group)


def _part_title(around: Places, part: str) -> str:
    """The title of a part of a place: Entry 0, KV head 1."""
    return f"{place_title(around)}, {part}" if around else f"{part[0].upper()}{part[1:]}"


def _with_omissions(
    letter: str, around: Places, parts: Iterable[tuple[int, Iterable[Block]]]
) -> Iterator[Block]:
    """The parts of these places one after the other, and where some between them are left out, a
    part that says so.

    `around` is the place that they are all at.
    """
    before = -1
    for number, blocks in parts:
        found = tuple(blocks)
        if found and number > before + 1:
            yield from _gap(letter, around, before + 1, number - 1)
        yield from found
        before = number


def _gap(letter: str, around: Places, first: int, last: int) -> Iterator[Block]:
    where = f"{SINGULARS[letter]} {first}" if first == last else f"{PLURALS[letter]} {first}–{last}"
    yield Heading(_part_title(around, where), part=True)
    subject = "This part is" if first == last else "These parts are"
    one = "this part" if first == last else "one of them"
    options = " ".join(
        f"--{SINGULARS[each]} {number}" for each, number in {**around, letter: first}.items()
    )
    # of which no option asks for one
    alone = "" if letter == KEY_HEAD else f", {options} shows {one}"
    yield Paragraph((f"{subject} left out. --all shows all parts{alone}.",))


def forward_sections(printer: Printer, names: tuple[str, ...], view: View) -> Iterator[Block]:
    """The chosen steps: what all share, each entry and head by itself, and what comes of all heads
    together.
    """
    yield from _sections_at(printer, printer, names, view, {})


def _sections_at(
    whole: Printer, here: Printer, names: tuple[str, ...], view: View, place: Places
) -> Iterator[Block]:
    """What belongs to this place and to no smaller one, if there is any such, around the places
    within it.
    """
    trace = whole.trace
    together = set(steps_of_all_heads(trace))
    own = [
        name for name in names if name not in together and _belongs(whole, trace.steps[name], place)
    ]
    inner = next((letter for letter in trace.leading_letters if letter not in place), None)
    explained = any(place.values())  # under an earlier head
    blocks = tuple(_steps(whole, here, own, view, explained, place))
    if inner is None and view.steps is None and not view.blank:
        blocks = (*blocks, Heading(f"{place_title(place)} in words"), in_words(here))
    if blocks:
        shared = f"What all {PLURALS[trace.leading_letters[0]]} share"
        at = tuple(with_key_head(trace, place).items())
        yield Heading(place_title(place) if place else shared, part=True, place=at)
        if (
            inner
            and view.steps is None
            and not explained
            and not all(trace.steps[name].rule.given for name in own)
        ):
            what = f"What all {PLURALS[inner]} share" if place else "This part"
            yield Paragraph(
                (
                    (
                        f"{what} comes first. The numbers of the steps give the order of the"
                        " calculation."
                    ),
                )
            )
        if HEAD in place:
            yield from _served(whole, place[HEAD], names)
        yield from blocks
    if inner is None:
        return
    inside = ({**place, inner: number} for number in _shown_positions(whole, inner))
    yield from _with_omissions(
        inner, place, ((each[inner], _sections_of(whole, names, view, each)) for each in inside)
    )
    if inner == HEAD and (joined := [name for name in names if name in together]):
        title = "All heads together" + (f", entry {place[BATCH]}" if BATCH in place else "")
        yield Heading(title, part=True, place=tuple(place.items()))
        yield from _steps(whole, here, joined, view, explained, place)


def _sections_of(
    whole: Printer, names: tuple[str, ...], view: View, place: Places
) -> Iterator[Block]:
    yield from _sections_at(
        whole, replace(whole, trace=trace_at(whole.trace, place)), names, view, place
    )


def _served(whole: Printer, head: int, names: Sequence[str]) -> Iterator[Block]:
    """Which head of keys and values a query head uses, and where that is shown, if another head has
    shown it.
    """
    if said := _kv_head_text(whole.trace, head):
        first, steps = _first_head_of_group(whole, head), whole.trace.steps
        before = head != first and any(
            KEY_HEAD in steps[name].rule.target.letters for name in names
        )
        yield Paragraph((f"{said}, which are shown under head {first}." if before else f"{said}.",))


def _steps(
    whole: Printer, here: Printer, names: list[str], view: View, explained: bool, place: Places
) -> Iterator[Block]:
    """Given arrays first, then what is worked out, numbered as in the whole trace."""
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    given = [here.trace.steps[name] for name in names if name not in numbers]
    for step in given:
        yield from given_section(here, step, view.detail, explained=explained)
    for name in names:
        if name in numbers:
            step = here.trace.steps[name]
            # which says something else of each entry
            known = explained and not step.rule.meanings
            yield from step_section(
                here, step, numbers[name], view.detail, view.heatmap, explained=known
            )
            yield from step_pictures(here, name, view, place)


def _belongs(whole: Printer, step: Step, place: Places) -> bool:
    """Whether a step is shown here: its last axis is that of this place, and on axes it lacks this
    is the first.
    """
    own = {
        HEAD if letter == KEY_HEAD else letter
        for letter in step.rule.target.letters
        if letter in LEADING
    }
    if step.name in PER_HEAD:
        # which is shown for all of them at once
        own = set()
    innermost = list(place)[-1] if place else None
    if (max(own, key=LEADING.index) if own else None) != innermost:
        return False
    if KEY_HEAD in step.rule.target.letters and place[HEAD] != _first_head_of_group(
        whole, place[HEAD]
    ):
        return False
    return all(number == 0 for letter, number in place.items() if letter not in own)


class HeadPart(NamedTuple):
    """Some steps at one place of the leading axes, and what the place is called."""

    title: str
    place: Places
    names: tuple[str, ...]


Show: TypeAlias = Callable[[HeadPart], Iterator[Block]]


def backward_sections(printer: Printer, names: Sequence[str], show: Show) -> Iterator[Block]:
    """What `show` makes of the parts in order of work: the steps of an entry before what adds up
    all entries.

    Of many entries and heads a terminal has the first and the last.
    """
    entries = [name for name in names if BATCH in _own_axes(printer.trace, name)]
    if entries:
        each = (
            (entry, _heads(printer, entries, {BATCH: entry}, show))
            for entry in _shown_positions(printer, BATCH)
        )
        yield from _with_omissions(BATCH, {}, each)
    yield from _heads(printer, [name for name in names if name not in entries], {}, show)


def _heads(printer: Printer, names: Sequence[str], place: Places, show: Show) -> Iterator[Block]:
    """What comes before the heads, each head, each head of keys and values, and what adds them
    up.
    """
    trace = printer.trace
    of = {
        letter: tuple(name for name in names if _own_axes(trace, name) == {*place, letter})
        for letter in (HEAD, KEY_HEAD)
    }
    apart = {*of[HEAD], *of[KEY_HEAD]}
    first = min((names.index(name) for name in apart), default=0)
    together = [name for name in names if name not in apart]
    before = tuple(name for name in together if names.index(name) < first)
    of_entry = f", entry {place[BATCH]}" if place else ""
    heads = "All heads together" if _has_axis(trace, HEAD) else "All entries together"
    whole = (
        f"Entry {place[BATCH]}" if place and not _has_axis(trace, HEAD) else f"{heads}{of_entry}"
    )
    if before:
        yield from show(HeadPart(f"Before the heads{of_entry}", place, before))
    for letter, steps in of.items():
        if steps:
            parts = (
                HeadPart(
                    _part_title(place, f"{SINGULARS[letter]} {at}"), {**place, letter: at}, steps
                )
                for at in _shown_positions(printer, letter)
            )
            yield from _with_omissions(
                letter, place, ((part.place[letter], show(part)) for part in parts)
            )
    if after := tuple(name for name in together if name not in before):
        yield from show(HeadPart(whole, place, after))


def _own_axes(trace: Trace, name: str) -> set[str]:
    """The leading axes of a step; one that has a single number for each head is of all heads
    together.
    """
    letters = trace.steps[name].rule.target.letters
    alone = {HEAD, KEY_HEAD} if {*letters} <= {*LEADING} else set()
    return ({*letters} & {*LEADING}) - alone


def _has_axis(trace: Trace, letter: str) -> bool:
    return any(letter in step.rule.target.letters for step in trace.steps.values())
