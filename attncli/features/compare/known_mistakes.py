"""Which known mistakes give the other side's numbers, from the first step that differs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from attncli.mistakes.catalogue import applicable
from attncli.mistakes.mistaken import Mistaken
from attncli.tracing.comparison import HIDING, Comparison, Operand, StepComparison
from attncli.tracing.difference import Numbers, difference, larger

MOST_WEIGHTS = 300_000  # of a trace: every mistake is another computation of all steps that it changes
MOST_NAMED = 3  # more mistakes than these give the same numbers only where the numbers say little
FEWEST_CELLS = 2  # one cell may be right by chance


@dataclass(frozen=True, slots=True)
class Explanation:
    """The side that made one of these mistakes, all of which give its numbers, and the step that they give first."""

    side: Operand
    step: str
    mistakes: tuple[str, ...]


def explanation(comparison: Comparison) -> Explanation | None:
    """The known mistakes that give every number of one side in the first step that differs, and in most steps after it.

    Of mistakes that give as many steps, those that change the fewest count. The other side has to be a problem. Of two
    problems the second is the one with the mistake, if both can be. None after a change, whose cause is known.
    """
    step = comparison.first
    if step is None or not _can_be_explained(comparison):
        return None
    for ours, theirs in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        trace = ours.trace
        if trace is None or trace["weights"].size > MOST_WEIGHTS:
            continue
        found: dict[tuple[int, int], list[str]] = {}
        for mistake, changes in applicable(trace):
            steps = _explained(comparison, Mistaken(trace, changes), ours, theirs)
            if step.name in steps and sum(steps.values()) >= FEWEST_CELLS:
                found.setdefault((len(steps), -len(changes)), []).append(mistake.name)
        best = found[max(found)] if found else []
        if 0 < len(best) <= MOST_NAMED:
            return Explanation(theirs, step.name, tuple(best))
    return None


def unexplained_size(comparison: Comparison) -> int:
    """How many weights the sides have, if these are so many that no mistake was tried; else 0."""
    sizes = [side.trace["weights"].size for side in (comparison.a, comparison.b) if side.trace is not None]
    return min(sizes) if sizes and min(sizes) > MOST_WEIGHTS and _can_be_explained(comparison) else 0


def _can_be_explained(comparison: Comparison) -> bool:
    """Whether numbers differ, and not because of a change that was asked for."""
    first = comparison.first
    return first is not None and first.difference is not None and comparison.b.word != "after"


def _explained(comparison: Comparison, mistaken: Mistaken, ours: Operand, theirs: Operand) -> Mapping[str, int]:
    """The steps whose numbers the mistake gives, each with how many of its cells differ without it.

    None at all where it gives other numbers than theirs before the first step that differs, or in it.
    """
    first, found = comparison.first, {}
    assert first is not None
    if first.name not in mistaken.moved:
        return {}
    before = True
    for step in _in_both(comparison, mistaken):
        before = before and step is not first
        if _gives(comparison, step, mistaken[step.name], ours, theirs):
            if step.difference and step.difference.differing:
                found[step.name] = step.difference.differing
        elif before or step is first:
            return {}
    return found


def _in_both(comparison: Comparison, mistaken: Mistaken) -> Iterator[StepComparison]:
    return (step for step in comparison.steps if step.difference is not None and step.name in mistaken.moved)


def _gives(comparison: Comparison, step: StepComparison, numbers: Numbers, ours: Operand, theirs: Operand) -> bool:
    """Whether every cell of a step on their side is what the mistake makes of ours."""
    made = step.arranged(ours.compared_rows(step.name, numbers))
    there = step.arranged(theirs[step.name])
    size = np.where(np.isfinite(made), np.abs(made), 0.0)
    found = difference(made, there, comparison.tolerance, sizes=larger(step.sizes, size), hides=HIDING.get(step.name))
    return not found.differing
