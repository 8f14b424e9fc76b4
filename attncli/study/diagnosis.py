"""Which known mistake gives the numbers that are wrong in a solution: only what gives them as written is named.

A mistake is tried by changing its equations in the trace: every cell is then what it would be by the solution's own
earlier numbers, through all that was left out, had the mistake been made. So an output alone is told from as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from attncli.answers.model import Answers, Claim
from attncli.study.changes import changed
from attncli.study.mistakes import MISTAKES, Mistake
from attncli.study.reach import can_reach
from attncli.study.sentences import Cell, Sentences, interval
from attncli.study.slips import Slip, slips
from attncli.study.verdicts import Verdicts, rounds_to
from attncli.tracing.model import Trace

BY_CHANCE = 0.25  # cells of a step that slips may be expected to explain by chance, and still be named
MOST_SLIPS = 3  # in one step; more that is wrong has another cause, or one for most of it


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What explains the wrong cells of a step: one of these mistakes, which its numbers cannot tell apart.

    `cells` are the wrong cells it explains; `whole` says whether it gives all the other numbers of the step, too.
    """

    step: str
    mistakes: tuple[str, ...]
    cells: tuple[Cell, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Explained:
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


def diagnose(verdicts: Verdicts) -> tuple[Diagnosis, ...]:
    """For every step with wrong cells that a known mistake explains, all mistakes that explain the most."""
    wrong = _wrong(verdicts)
    if not wrong:
        return ()
    found = [explained for mistake in MISTAKES if (explained := _explained(mistake, verdicts, wrong))]
    sentences = Sentences(verdicts.trace, verdicts.answers)
    diagnoses: list[Diagnosis] = []
    for step, cells in wrong.items():
        able = [one for one in found if step in one.steps]
        best = max((one.rank(step) for one in able), default=(False, False, 0))
        named = tuple(one.mistake.name for one in _agreeing([one for one in able if one.rank(step) == best]))
        if named and (best[1] or len(cells) > 1):
            diagnoses.append(Diagnosis(step, named, cells, best[1]))
            continue
        for slipped, of in _slips(sentences, step, cells).items():
            diagnoses.append(Diagnosis(step, (*named, *slipped), of, False))
        if named and not any(diagnosis.step == step for diagnosis in diagnoses):
            diagnoses.append(Diagnosis(step, named, cells, False))
    return tuple(diagnoses)


def _slips(sentences: Sentences, step: str, cells: tuple[Cell, ...]) -> dict[tuple[str, ...], tuple[Cell, ...]]:
    """The likeliest slips of each cell, those first that explain most of them, and the cells that have the same."""
    if sentences.trace.steps[step].rule.given:
        return {}
    found: dict[Cell, list[Slip]] = {}
    often: Counter[str] = Counter()
    for cell in cells:
        found[cell] = slips(sentences, step, cell)
        often.update({slip.name for slip in found[cell]})
        if len(found) > MOST_SLIPS and 2 * max(often.values(), default=0) <= len(found):
            return {}
    groups: dict[tuple[str, ...], tuple[Cell, ...]] = {}
    for cell, each in found.items():
        telling = [slip for slip in each if _tells(slip, often[slip.name], len(cells))]
        if telling:
            best = min((-often[slip.name], slip.kind) for slip in telling)
            named = tuple(dict.fromkeys(slip.name for slip in telling if (-often[slip.name], slip.kind) == best))
            groups[named] = (*groups.get(named, ()), cell)
    return groups


def _tells(slip: Slip, often: int, wrong: int) -> bool:
    """Whether a slip that explains so many of the wrong cells of a step does so by more than chance."""
    return 2 * often > wrong > 1 or (wrong <= MOST_SLIPS and slip.chance * wrong < BY_CHANCE)


def _agreeing(able: list[_Explained]) -> list[_Explained]:
    """Those that give the most numbers of the whole solution, also where these are right for another reason."""
    if len(able) < 2:
        return able
    agreement = [one.agreement for one in able]
    return [one for one, agreed in zip(able, agreement, strict=True) if agreed == max(agreement)]


def _wrong(verdicts: Verdicts) -> dict[str, tuple[Cell, ...]]:
    """The wrong cells of every step that has any."""
    found: dict[str, list[Cell]] = {}
    for name, index, judged in verdicts.cells():
        if judged.verdict == "wrong":
            found.setdefault(name, []).append(index)
    return {name: tuple(cells) for name, cells in found.items()}


def _explained(mistake: Mistake, verdicts: Verdicts, wrong: Mapping[str, tuple[Cell, ...]]) -> _Explained | None:
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
    return _Explained(mistake, sentences, steps, consistent, sum(len(wrong[name]) for name in steps))


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
