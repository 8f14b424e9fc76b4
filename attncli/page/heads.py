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
from attncli.page.ends import ends_of_parts
from attncli.page.printer import Printer, printer_for
from attncli.page.sections import given_section, step_pictures, step_section
from attncli.page.short.overview import words
from attncli.page.short.sections import ShownOnce, short_sections
from attncli.page.view import SINGULARS, View, chosen_place, place_title
from attncli.page.worked.worked_line import worked_line
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
PLURALS = {BATCH: "entries", HEAD: "heads", KEY_HEAD: "KV heads"}


def head_context(whole: Trace, view: View, names: Sequence[str]) -> Iterator[Block]:
    """What the page of one head says of its keys, which others share, and of its slope."""
    place = chosen_place(whole, view)
    if HEAD not in place:
        return
    head = place[HEAD]
    said = _kv_head_text(whole, head)
    if said:
        yield Paragraph((f"{said}.",))
    if "slopes" in whole and "bias" in names:
        printer = printer_for(whole, view)
        slope = _slope(printer, head)
        line = slope._replace(label=f"slope of head {head}")
        yield Worked((line,))


def _kv_head_text(trace: Trace, head: int) -> str:
    """Which head of keys and values a query head uses; nothing where each has its own."""
    group = group_size(trace)
    if group == 1:
        return ""
    shared = head // group
    first = shared * group
    heads = range(first, first + group)
    others = listed([str(number) for number in heads])
    return f"Query heads {others} share the keys and values of KV head {shared}"


def _slope(whole: Printer, head: int) -> WorkedLine:
    step = whole.trace.steps["slopes"]
    if step.rule.given:
        return WorkedLine("", result=whole.number("slopes", (head,)), remark=("given",))
    return worked_line(whole, step, (head,))


def _shown_positions(printer: Printer, letter: str) -> Sequence[int]:
    """The places of a leading axis that a page has, of the whole trace that its printer is of."""
    trace = printer.trace
    if letter == KEY_HEAD and HEAD in trace.leading_letters:
        count = axis_length(trace, HEAD) // group_size(trace)
    else:
        count = axis_length(trace, letter)
    if not printer.only_ends:
        return range(count)
    lengths = [axis_length(trace, each) for each in trace.leading_letters]
    return ends_of_parts(count, in_all=prod(lengths))


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
    """The parts of these places one after the other, and parts that say where some are left out.

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
    """A part that says which parts are left out: Heads 1–7."""
    if first == last:
        where, subject, one = f"{SINGULARS[letter]} {first}", "This part is", "this part"
    else:
        where, subject, one = f"{PLURALS[letter]} {first}–{last}", "These parts are", "one of them"
    yield Heading(_part_title(around, where), part=True)
    said = f"{subject} left out. --all shows all parts"
    if letter != KEY_HEAD:
        # No option asks for a head of keys and values.
        places = {**around, letter: first}
        options = [f"--{SINGULARS[each]} {number}" for each, number in places.items()]
        said += f", {' '.join(options)} shows {one}"
    yield Paragraph((f"{said}.",))


def forward_sections(printer: Printer, names: tuple[str, ...], view: View) -> Iterator[Block]:
    """The chosen steps: what all share, each entry and head, and what comes of all together."""
    given: list[str] = []
    if view.short and view.detail != "brief":
        given = [name for name in names if _stands_at_steps(printer.trace, name, names)]
    once = ShownOnce(printer.trace, given)
    yield from _sections_at(printer, printer, names, view, {}, once)


def _stands_at_steps(trace: Trace, name: str, names: Sequence[str]) -> bool:
    """Whether an array is given that can stand where it is used: each step that reads it has all of
    its heads and entries. Of what is a number for each head, all numbers stand together.
    """
    if not trace.steps[name].rule.given or name in PER_HEAD:
        return False
    readers = [each for each in names if name in trace.steps[each].rule.inputs]
    axes = _places_of(trace, name)
    together = steps_of_all_heads(trace)
    if axes and any(each in together for each in readers):
        return False
    return bool(readers) and all(axes <= _places_of(trace, each) for each in readers)


def _places_of(trace: Trace, name: str) -> set[str]:
    """The leading axes of a step; a head of keys and values stands under a head of queries."""
    return {HEAD if letter == KEY_HEAD else letter for letter in _own_axes(trace, name)}


def _sections_at(
    whole: Printer,
    here: Printer,
    names: tuple[str, ...],
    view: View,
    place: Places,
    once: ShownOnce,
) -> Iterator[Block]:
    """What belongs to this place and to no smaller one, and around it the places within it."""
    trace = whole.trace
    together = set(steps_of_all_heads(trace))
    apart = [name for name in names if name not in together]
    own = [name for name in apart if _belongs(whole, trace.steps[name], place)]
    own = [name for name in own if name not in once.names]
    inner = next((letter for letter in trace.leading_letters if letter not in place), None)
    # What an array means was said under an earlier head.
    explained = any(place.values())
    blocks: list[Block] = []
    is_said = inner is None and here.trace.is_plain
    given = [name for name in own if trace.steps[name].rule.given]
    # It has no title, so the words would be about it, too.
    blocks += _steps(whole, here, given, view, explained, place, once)
    if is_said and view.steps is None and not view.blank:
        blocks += words(here, view, f"{place_title(place)} in words")
    computed = [name for name in own if name not in given]
    blocks += _steps(whole, here, computed, view, explained, place, once)
    if blocks:
        title = place_title(place) if place else _shared_by_all(trace.leading_letters[0])
        at = tuple(with_key_head(trace, place).items())
        yield Heading(title, part=True, place=at)
        is_worked = not all(trace.steps[name].rule.given for name in own)
        if inner and is_worked and view.steps is None and not explained:
            what = _shared_by_all(inner) if place else "This part"
            order = "The numbers of the steps give the order of the calculation."
            yield Paragraph((f"{what} comes first. {order}",))
        if HEAD in place:
            yield from _served(whole, place[HEAD], names)
        yield from blocks
    if inner is None:
        return
    inside = ({**place, inner: number} for number in _shown_positions(whole, inner))
    parts = ((each[inner], _sections_of(whole, names, view, each, once)) for each in inside)
    yield from _with_omissions(inner, place, parts)
    joined = [name for name in names if name in together]
    if inner == HEAD and joined:
        title = "All heads together"
        if BATCH in place:
            title += f", entry {place[BATCH]}"
        yield Heading(title, part=True, place=tuple(place.items()))
        yield from _steps(whole, here, joined, view, explained, place, once)


def _shared_by_all(letter: str) -> str:
    return f"What all {PLURALS[letter]} share"


def _sections_of(
    whole: Printer, names: tuple[str, ...], view: View, place: Places, once: ShownOnce
) -> Iterator[Block]:
    here = replace(whole, trace=trace_at(whole.trace, place))
    yield from _sections_at(whole, here, names, view, place, once)


def _served(whole: Printer, head: int, names: Sequence[str]) -> Iterator[Block]:
    """Which head of keys and values a query head uses, and where another head has shown that."""
    said = _kv_head_text(whole.trace, head)
    if not said:
        return
    first = _first_head_of_group(whole, head)
    if head != first and _has_keys(whole.trace, names):
        said += f", which are shown under head {first}"
    sentence = f"{said}."
    yield Paragraph((sentence,))


def _has_keys(trace: Trace, names: Sequence[str]) -> bool:
    """Whether one of these steps belongs to a head of keys and values."""
    for name in names:
        letters = trace.steps[name].rule.target.letters
        if KEY_HEAD in letters:
            return True
    return False


def _steps(
    whole: Printer,
    here: Printer,
    names: list[str],
    view: View,
    explained: bool,
    place: Places,
    once: ShownOnce,
) -> Iterator[Block]:
    """Given arrays first, then what is worked out, numbered as in the whole trace."""
    computed = whole.trace.computed()
    numbers = {step.name: number for number, step in enumerate(computed, 1)}
    for name in names:
        step = here.trace.steps[name]
        # What is given once stands where it is used.
        if name not in numbers and name not in once.names:
            yield from given_section(here, step, view.detail, explained=explained, bare=view.short)
    if view.short:
        # A step that has several meanings says something else of each entry.
        said = [name for name in names if explained and not here.trace.steps[name].rule.meanings]
        yield from short_sections(whole, here, names, view, once, place, said)
        return
    for name in names:
        if name not in numbers:
            continue
        step = here.trace.steps[name]
        # A step that has several meanings says something else of each entry.
        known = explained and not step.rule.meanings
        number = numbers[name]
        yield from step_section(here, step, number, view.detail, view.heatmap, explained=known)
        yield from step_pictures(here, name, view, place)


def _belongs(whole: Printer, step: Step, place: Places) -> bool:
    """Whether a step is shown here: its last axis is that of this place.

    On axes that it lacks, this is the first place.
    """
    letters = set(step.rule.target.letters)
    own = letters.intersection(LEADING)
    if step.name in PER_HEAD or (letters and letters <= {*LEADING}):
        # What is a number for each head is shown for all heads at once.
        own = set()
    is_shared = KEY_HEAD in own
    if is_shared:
        own = (own - {KEY_HEAD}) | {HEAD}
    innermost = list(place)[-1] if place else None
    last_axis = max(own, key=LEADING.index, default=None)
    if last_axis != innermost:
        return False
    if is_shared:
        head = place[HEAD]
        if head != _first_head_of_group(whole, head):
            return False
    elsewhere = [number for letter, number in place.items() if letter not in own]
    return not any(elsewhere)


class HeadPart(NamedTuple):
    """Some steps at one place of the leading axes, and what the place is called."""

    title: str
    place: Places
    names: tuple[str, ...]


Show: TypeAlias = Callable[[HeadPart], Iterator[Block]]


def backward_sections(printer: Printer, names: Sequence[str], show: Show) -> Iterator[Block]:
    """What `show` makes of the parts in order of work: an entry before what adds up all entries.

    Of many entries and heads a terminal has the first and the last.
    """
    of_entries = [name for name in names if BATCH in _own_axes(printer.trace, name)]
    if of_entries:
        each = (
            (entry, _heads(printer, of_entries, {BATCH: entry}, show))
            for entry in _shown_positions(printer, BATCH)
        )
        yield from _with_omissions(BATCH, {}, each)
    yield from _heads(printer, [name for name in names if name not in of_entries], {}, show)


def _heads(printer: Printer, names: Sequence[str], place: Places, show: Show) -> Iterator[Block]:
    """What comes before the heads, each head, each head of keys and values, and what adds up."""
    own_axes = {name: _own_axes(printer.trace, name) for name in names}
    of_heads = tuple(name for name in names if own_axes[name] == {*place, HEAD})
    of_key_heads = tuple(name for name in names if own_axes[name] == {*place, KEY_HEAD})
    apart = {*of_heads, *of_key_heads}
    together = [name for name in names if name not in apart]
    first = min((names.index(name) for name in apart), default=0)
    before = tuple(name for name in together if names.index(name) < first)
    after = tuple(name for name in together if name not in before)
    if before:
        of_entry = f", entry {place[BATCH]}" if place else ""
        yield from show(HeadPart(f"Before the heads{of_entry}", place, before))
    for letter, steps in ((HEAD, of_heads), (KEY_HEAD, of_key_heads)):
        if steps:
            parts = _each_head(printer, letter, steps, place, show)
            yield from _with_omissions(letter, place, parts)
    if after:
        yield from show(HeadPart(_title_of_all(printer.trace, place), place, after))


def _each_head(
    printer: Printer, letter: str, steps: tuple[str, ...], place: Places, show: Show
) -> Iterator[tuple[int, Iterator[Block]]]:
    for at in _shown_positions(printer, letter):
        title = _part_title(place, f"{SINGULARS[letter]} {at}")
        yield at, show(HeadPart(title, {**place, letter: at}, steps))


def _title_of_all(trace: Trace, place: Places) -> str:
    """All heads together, entry 2."""
    if not _has_axis(trace, HEAD):
        return f"Entry {place[BATCH]}" if place else "All entries together"
    return f"All heads together, entry {place[BATCH]}" if place else "All heads together"


def _own_axes(trace: Trace, name: str) -> set[str]:
    """The leading axes of a step.

    A step that has a single number for each head or entry is one of all of them together.
    """
    rule = trace.steps[name].rule
    letters = set(rule.target.letters)
    own = letters.intersection(LEADING)
    return set() if own == letters else own


def _has_axis(trace: Trace, letter: str) -> bool:
    return any(letter in step.rule.target.letters for step in trace.steps.values())
