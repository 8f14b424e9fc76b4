"""How much of a wrong solution a mistake explains: which steps whose errors it all gives, and what contradicts it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from attncli.answers.model import Answers, Claim
from attncli.features.check.carried_values import Sentences, interval
from attncli.features.check.cell_equations import Cell
from attncli.features.check.reachability import can_reach
from attncli.features.check.verdicts import Verdicts, rounds_to
from attncli.mistakes.model import Mistake, with_changes
from attncli.tracing.model import Trace


class Reproduction(Protocol):
    """Whether equations give a cell as it was written."""

    @property
    def sentences(self) -> Sentences: ...

    def gives(self, name: str, index: Cell) -> bool: ...

    def changed(self, trace: Trace, changes: Collection[str]) -> Reproduction:
        """That of a trace with these steps changed."""
        ...


@dataclass(frozen=True, slots=True)
class InRanges:
    """Equations whose numbers may be anywhere within their precision, and are not rounded in between."""

    sentences: Sentences

    def changed(self, trace: Trace, changes: Collection[str]) -> InRanges:
        return InRanges(self.sentences.changed(trace, changes))

    def gives(self, name: str, index: Cell) -> bool:
        claim = cast("Claim", self.sentences.answers.steps[name].cells[index])
        if rounds_to(self.sentences.true(name, index), claim):
            return True
        if self.sentences.trace.steps[name].rule.given:
            return False
        sentence = self.sentences.of(name, index)
        return bool(sentence.box) and can_reach(sentence.tree, sentence.box, interval(claim))


@dataclass(frozen=True, slots=True)
class Explained:
    """How much of a solution a mistake explains: the steps whose wrong cells it all gives, and whether it gives all
    other numbers of the step; `consistent` where no step that it changes says otherwise."""

    mistake: Mistake
    by: Reproduction
    answers: Answers
    steps: Mapping[str, bool]
    consistent: bool
    cells: int

    def rank(self, step: str) -> tuple[bool, bool, int]:
        return self.steps[step] and self.consistent, self.steps[step], self.cells

    @property
    def agreement(self) -> int:
        """How many numbers of the solution follow from those before them."""
        answers = self.answers
        return sum(self.by.gives(name, cell) for name in answers.steps for cell in _others(answers, name, ()))


def explanation(
    mistake: Mistake, verdicts: Verdicts, wrong: Mapping[str, tuple[Cell, ...]], plain: Reproduction
) -> Explained | None:
    """What a mistake explains; None where that is nothing. `plain` is how cells come about without it."""
    changes = mistake.change(verdicts.trace)
    if not changes:
        return None
    trace, answers = with_changes(verdicts.trace, changes), verdicts.answers
    by = plain.changed(trace, changes)
    seeing = {name: seen for name in answers.steps if (seen := set(changes) & reads(trace, answers, name))}
    steps = {}
    for name, cells in wrong.items():
        if name in seeing and all(by.gives(name, cell) for cell in cells) and not _denied(name, seeing, verdicts, by):
            steps[name] = all(by.gives(name, cell) for cell in _others(answers, name, cells))
    if not steps:
        return None
    consistent = all(
        steps[name] if name in steps else all(by.gives(name, cell) for cell in _others(answers, name, ()))
        for name in answers.steps
        if name in seeing
    )
    return Explained(mistake, by, answers, steps, consistent, sum(len(wrong[name]) for name in steps))


def _denied(name: str, seeing: Mapping[str, set[str]], verdicts: Verdicts, by: Reproduction) -> bool:
    """Whether numbers of other steps that are right say that no such mistake was made in a step left out before."""
    hidden = seeing[name] - {name}
    ranges = InRanges(by.sentences)
    return any(
        not ranges.gives(other, cell)
        for other, seen in seeing.items()
        if other != name and seen & hidden
        for cell, judged in np.ndenumerate(verdicts.steps[other])
        if judged.verdict in ("right", "carried")
    )


def _others(answers: Answers, name: str, cells: tuple[Cell, ...]) -> Iterator[Cell]:
    """The cells of a step that were filled in, without these."""
    there = answers.steps[name].cells
    return (index for index in np.ndindex(there.shape) if there[index] is not None and index not in cells)


def reads(trace: Trace, answers: Answers, name: str) -> set[str]:
    """A step, and every step before it whose numbers the solution leaves out on the way."""
    found, waiting = set(), [name]
    while waiting:
        step = waiting.pop()
        if step in found or step not in trace:
            continue
        found.add(step)
        left_out = (
            read for read in trace.steps[step].rule.inputs
            if read not in answers.steps or any(claim is None for claim in answers.steps[read].cells.flat)
        )  # fmt: skip
        waiting += left_out
    return found
