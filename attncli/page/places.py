"""Which heads and entries are worked on a page: all of them, or on a terminal, of many, the first and the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from attncli.page.document import Block, Heading, Paragraph
from attncli.page.place import Places, title
from attncli.page.printer import Printer
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, PLACES
from attncli.tracing.slices import leading, length, serves

MOST = 8  # parts, of heads in all entries, that are all shown
MANY = {BATCH: "entries", HEAD: "heads", KEY_HEAD: "KV heads"}
ONE = {**PLACES, KEY_HEAD: "KV head"}


def numbers(printer: Printer, letter: str) -> Sequence[int]:
    """The places of a leading axis that a page has, of the whole trace that its printer is of."""
    trace = printer.trace
    count = length(trace, HEAD) // serves(trace) if letter == KEY_HEAD else length(trace, letter)
    few = not printer.ends or prod(length(trace, each) for each in leading(trace)) <= MOST
    return range(count) if few or count < 3 else (0, count - 1)


def first_that_serves(printer: Printer, head: int) -> int:
    """The head of queries under which the keys and values are shown that this one uses."""
    group = serves(printer.trace)
    return next(each for each in numbers(printer, HEAD) if each // group == head // group)


def within(around: Places, part: str) -> str:
    """The title of a part of a place: Entry 0, KV head 1."""
    return f"{title(around)}, {part}" if around else f"{part[0].upper()}{part[1:]}"


def with_gaps(letter: str, around: Places, parts: Iterable[tuple[int, Iterable[Block]]]) -> Iterator[Block]:
    """The parts of these places one after the other, and where some between them are left out, a part that says so.

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
    where = f"{ONE[letter]} {first}" if first == last else f"{MANY[letter]} {first}–{last}"
    yield Heading(within(around, where), part=True)
    one = "this one" if first == last else "one of them"
    options = " ".join(f"--{ONE[each]} {number}" for each, number in {**around, letter: first}.items())
    alone = "" if letter == KEY_HEAD else f", {options} {one}"  # of which no option asks for one
    yield Paragraph((f"Left out here: --all shows all{alone}.",))
