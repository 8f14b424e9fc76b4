"""Which steps of a backward pass are shown where: each entry and head by itself, and what adds them up after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.page.place import Places
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.records import dataclass
from attncli.tracing.model import Trace


@dataclass(frozen=True, slots=True)
class Part:
    """Some steps at one place of the leading axes, and what the place is called."""

    title: str
    place: Places
    names: tuple[str, ...]


def parts(trace: Trace, names: Sequence[str]) -> Iterator[Part]:
    """The parts of a backward pass in order of work: the steps of an entry before what adds up all entries."""
    entries = [name for name in names if BATCH in _own(trace, name)]
    for entry in range(_length(trace, BATCH)) if entries else ():
        yield from _heads(trace, entries, {BATCH: entry})
    yield from _heads(trace, [name for name in names if name not in entries], {})


def _heads(trace: Trace, names: Sequence[str], place: Places) -> Iterator[Part]:
    """What comes before the heads, each head, each head of keys and values, and what adds them up."""
    of = {letter: tuple(name for name in names if _own(trace, name) == {*place, letter}) for letter in (HEAD, KEY_HEAD)}
    apart = {*of[HEAD], *of[KEY_HEAD]}
    first = min((names.index(name) for name in apart), default=0)
    together = [name for name in names if name not in apart]
    before = tuple(name for name in together if names.index(name) < first)
    within = f", entry {place[BATCH]}" if place else ""
    heads = "All heads together" if _any(trace, HEAD) else "All entries together"
    whole = f"Entry {place[BATCH]}" if place and not _any(trace, HEAD) else f"{heads}{within}"
    if before:
        yield Part(f"Before the heads{within}", place, before)
    for letter, word in ((HEAD, "Head"), (KEY_HEAD, "KV head")):
        for number in range(_length(trace, letter)) if of[letter] else ():
            yield Part(f"{word} {number}{within}", {**place, letter: number}, of[letter])
    if after := tuple(name for name in together if name not in before):
        yield Part(whole, place, after)


def _own(trace: Trace, name: str) -> set[str]:
    """The leading axes of a step; one that has a single number for each head is of all heads together."""
    letters = trace.steps[name].rule.target.letters
    alone = {HEAD, KEY_HEAD} if {*letters} <= {*LEADING} else set()
    return ({*letters} & {*LEADING}) - alone


def _any(trace: Trace, letter: str) -> bool:
    return any(letter in step.rule.target.letters for step in trace.steps.values())


def _length(trace: Trace, letter: str) -> int:
    sizes = (
        dict(zip(step.rule.target.letters, step.shape, strict=True)).get(letter, 0) for step in trace.steps.values()
    )
    return max(sizes)
