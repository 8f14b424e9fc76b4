"""Which steps of a backward pass are shown where: each entry and head by itself, and what adds them up after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from attncli.page.document import Block
from attncli.page.place import Places
from attncli.page.places import ONE, numbers, with_gaps, within
from attncli.page.printer import Printer
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.tracing.model import Trace


@dataclass(frozen=True, slots=True)
class Part:
    """Some steps at one place of the leading axes, and what the place is called."""

    title: str
    place: Places
    names: tuple[str, ...]


Show: TypeAlias = Callable[[Part], Iterator[Block]]


def sections(printer: Printer, names: Sequence[str], show: Show) -> Iterator[Block]:
    """What `show` makes of the parts in order of work: the steps of an entry before what adds up all entries.

    Of many entries and heads a terminal has the first and the last.
    """
    entries = [name for name in names if BATCH in _own(printer.trace, name)]
    if entries:
        each = ((entry, _heads(printer, entries, {BATCH: entry}, show)) for entry in numbers(printer, BATCH))
        yield from with_gaps(BATCH, {}, each)
    yield from _heads(printer, [name for name in names if name not in entries], {}, show)


def _heads(printer: Printer, names: Sequence[str], place: Places, show: Show) -> Iterator[Block]:
    """What comes before the heads, each head, each head of keys and values, and what adds them up."""
    trace = printer.trace
    of = {letter: tuple(name for name in names if _own(trace, name) == {*place, letter}) for letter in (HEAD, KEY_HEAD)}
    apart = {*of[HEAD], *of[KEY_HEAD]}
    first = min((names.index(name) for name in apart), default=0)
    together = [name for name in names if name not in apart]
    before = tuple(name for name in together if names.index(name) < first)
    of_entry = f", entry {place[BATCH]}" if place else ""
    heads = "All heads together" if _any(trace, HEAD) else "All entries together"
    whole = f"Entry {place[BATCH]}" if place and not _any(trace, HEAD) else f"{heads}{of_entry}"
    if before:
        yield from show(Part(f"Before the heads{of_entry}", place, before))
    for letter, steps in of.items():
        if steps:
            parts = (
                Part(within(place, f"{ONE[letter]} {at}"), {**place, letter: at}, steps)
                for at in numbers(printer, letter)
            )
            yield from with_gaps(letter, place, ((part.place[letter], show(part)) for part in parts))
    if after := tuple(name for name in together if name not in before):
        yield from show(Part(whole, place, after))


def _own(trace: Trace, name: str) -> set[str]:
    """The leading axes of a step; one that has a single number for each head is of all heads together."""
    letters = trace.steps[name].rule.target.letters
    alone = {HEAD, KEY_HEAD} if {*letters} <= {*LEADING} else set()
    return ({*letters} & {*LEADING}) - alone


def _any(trace: Trace, letter: str) -> bool:
    return any(letter in step.rule.target.letters for step in trace.steps.values())
