"""One head, or one entry of a batch: which one a page is asked for, and what it says of its place among the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from attncli.english import a, count, either, listed
from attncli.errors import usage_error
from attncli.page.document import Block, Paragraph, Worked, WorkedLine
from attncli.page.printer import Printer, printer_for
from attncli.page.view import View
from attncli.page.worked import worked_line
from attncli.problem.axes import BATCH, HEAD, PLACES
from attncli.tracing.model import Trace
from attncli.tracing.slices import at, leading, length, serves

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
    said = title(place)
    whole = f"{trace.title}: {said[0].lower()}{said[1:]}" if trace.title else said
    return replace(at(trace, place), title=whole)


def title(place: Places) -> str:
    """Entry 0, head 1."""
    said = ", ".join(f"{PLACES[letter]} {number}" for letter, number in place.items())
    return said[0].upper() + said[1:]


def among_others(whole: Trace, view: View, names: Sequence[str]) -> Iterator[Block]:
    """What the page of one head says of the heads it shares keys with, and of its slope if a step reads that."""
    place = chosen_place(whole, view)
    if HEAD not in place:
        return
    if said := served(whole, place[HEAD]):
        yield Paragraph((f"{said}.",))
    if "slopes" in whole and "bias" in names:
        yield Worked((replace(_slope(printer_for(whole, view), place[HEAD]), label=f"slope of head {place[HEAD]}"),))


def served(trace: Trace, head: int) -> str:
    """Which head of keys and values a query head uses; nothing where each has its own."""
    group = serves(trace)
    if group == 1:
        return ""
    shared, first = head // group, head // group * group
    others = listed([str(number) for number in range(first, first + group)])
    return f"Keys and values are those of KV head {shared}, which serves the query heads {others}"


def _slope(whole: Printer, head: int) -> WorkedLine:
    step = whole.trace.steps["slopes"]
    if step.rule.given:
        return WorkedLine("", result=whole.number("slopes", (head,)), remark=("given",))
    return worked_line(whole, step, (head,))
