"""How much of a wrong solution a mistake explains: which steps whose errors it all gives, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from attncli.answers.model import Answers, Claim
from attncli.study.changes import changed
from attncli.study.mistakes import Mistake
from attncli.study.reach import can_reach
from attncli.study.sentences import Cell, Sentences, interval
from attncli.study.verdicts import Verdicts, rounds_to
from attncli.tracing.model import Trace


@dataclass(frozen=True, slots=True)
class Explained:
    """How much of a solution a mistake explains: the steps whose wrong cells it all gives, and whether it gives all
    other numbers of the step; `consistent` where no step that it changes says otherwise."""

    mistake: Mistake
    sentences: Sentences
    steps: Mapping[str, bool]
    consistent: bool
    cells: int

    def rank(self, step: str) -> tuple[bool, bool, int]:
        return self.steps[step] and self.consistent, self.steps[step], self.cells

    @property
    def agreement(self) -> int:
        """How many numbers of the solution follow from those before them."""
        answers = self.sentences.answers
        return sum(gives(self.sentences, name, cell) for name in answers.steps for cell in _others(answers, name, ()))


def explanation(mistake: Mistake, verdicts: Verdicts, wrong: Mapping[str, tuple[Cell, ...]]) -> Explained | None:
    """What a mistake explains; None where that is nothing."""
    changes = mistake.change(verdicts.trace)
    if not changes:
        return None
    trace, answers = changed(verdicts.trace, changes), verdicts.answers
    sentences = Sentences(trace, answers)
    seeing = {name for name in answers.steps if set(changes) & reads(trace, answers, name)}
    steps = {}
    for name, cells in wrong.items():
        if name in seeing and all(gives(sentences, name, cell) for cell in cells):
            steps[name] = all(gives(sentences, name, cell) for cell in _others(answers, name, cells))
    if not steps:
        return None
    consistent = all(
        steps[name] if name in steps else _gives_all(sentences, answers, name) for name in answers.steps
        if name in seeing
    )  # fmt: skip
    return Explained(mistake, sentences, steps, consistent, sum(len(wrong[name]) for name in steps))


def _gives_all(sentences: Sentences, answers: Answers, name: str) -> bool:
    return all(gives(sentences, name, cell) for cell in _others(answers, name, ()))


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


def gives(sentences: Sentences, name: str, index: Cell) -> bool:
    """Whether the equations give this cell as it was written."""
    claim = cast("Claim", sentences.answers.steps[name].cells[index])
    if rounds_to(sentences.true(name, index), claim):
        return True
    if sentences.trace.steps[name].rule.given:
        return False
    sentence = sentences.of(name, index)
    return bool(sentence.box) and can_reach(sentence.tree, sentence.box, interval(claim))
