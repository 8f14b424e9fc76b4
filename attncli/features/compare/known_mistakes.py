"""Which known mistakes give the other side's numbers, from the first step that differs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.equation.nodes import Expression
from attncli.mistakes.alike import groups_of_alike, shared_words
from attncli.mistakes.blind_queries import blind_queries, blind_readings
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.mistaken import Mistaken
from attncli.mistakes.model import Changes
from attncli.tracing.comparison import HIDING, Comparison, Operand, StepComparison
from attncli.tracing.difference import Numbers, difference, larger
from attncli.tracing.model import Trace

# of a trace: every mistake is another computation of all steps that it changes
MOST_WEIGHTS = 300_000
# more mistakes than these give the same numbers only where the numbers say little
MOST_NAMED = 3
# one cell may be right by chance
FEWEST_CELLS = 2


@dataclass(frozen=True, slots=True)
class Explanation:
    """The side that made one of these mistakes, all of which give its numbers, and the step that
    they give first.

    `shared` says of those that are one in these numbers what they do: All 4 mistakes divide scores
    by 4 instead of 2. `blind` are the labels of the queries that see no key with any of the
    mistakes.
    """

    side: Operand
    step: str
    mistakes: tuple[str, ...]
    shared: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()


class _Found(NamedTuple):
    """A mistake that gives the other side's numbers, and in how many of the steps that differ.

    It does so `as_ours` if queries that see no key are treated as attncli treats them.
    """

    name: str
    changes: Changes
    mistaken: Mistaken
    steps: int
    as_ours: bool


def explanation(comparison: Comparison) -> Explanation | None:
    """The known mistakes that give every number of one side in the first step that differs, and in
    most steps after it.

    The other side has to be a problem. Of two problems the second is the one with the mistake, if
    both can be. None after a change, whose cause is known, and where mistakes that are not one in
    the numbers of this problem are too many.
    """
    step = comparison.first
    if step is None or not _can_be_explained(comparison):
        return None
    for ours, theirs in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        trace = ours.trace
        if trace is None or trace["weights"].size > MOST_WEIGHTS:
            continue
        groups = _best_groups(_all_that_explain(comparison, trace, ours, theirs))
        if 0 < len(groups) <= MOST_NAMED:
            return _explanation(step.name, trace, theirs, groups)
    return None


def _all_that_explain(
    comparison: Comparison, trace: Trace, ours: Operand, theirs: Operand
) -> list[_Found]:
    step, found = comparison.first, []
    assert step is not None
    for mistake, changes in applicable(trace):
        made = _Made(trace, changes, mistake.optional)
        steps = _explained(comparison, made, ours, theirs)
        if step.name in steps and sum(steps.values()) >= FEWEST_CELLS:
            as_ours = _gives(comparison, step, made.plain, ours, theirs)
            found.append(_Found(mistake.name, changes, made.plain, len(steps), as_ours))
    return found


def _best_groups(found: list[_Found]) -> list[list[_Found]]:
    """Those that give the most steps, in groups that are one in the numbers of this problem.

    A mistake that changes all that another one does, and more, is left out: nothing shows the rest
    of it. So is one that needs another way to treat queries that see no key, where another mistake
    does not. Where there are too many groups, only the mistakes that change the fewest steps count.
    """
    most = max((one.steps for one in found), default=0)
    best = [one for one in found if one.steps == most]
    best = [one for one in best if one.as_ours] or best
    best = [
        one for one in best if not any(_has_more_than(one.changes, other.changes) for other in best)
    ]
    groups = _grouped(best)
    if len(groups) <= MOST_NAMED:
        return groups
    fewest = min(len(one.changes) for one in best)
    return _grouped([one for one in best if len(one.changes) == fewest])


def _has_more_than(one: Changes, other: Changes) -> bool:
    """Whether a mistake makes all changes of another one, and more."""
    return other.keys() < one.keys() and all(
        _same(one[name], change) for name, change in other.items()
    )


def _same(one: Expression | NDArray[Any], other: Expression | NDArray[Any]) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and np.array_equal(one, other)
        )
    return one == other


def _grouped(found: list[_Found]) -> list[list[_Found]]:
    by_name = {one.name: one for one in found}
    groups = groups_of_alike({name: one.mistaken for name, one in by_name.items()})
    return [[by_name[name] for name in names] for names in groups]


def _explanation(
    step: str, trace: Trace, theirs: Operand, groups: list[list[_Found]]
) -> Explanation:
    names = [tuple(one.name for one in group) for group in groups]
    shared = tuple(
        shared_words(trace, of, group[0].mistaken)
        for of, group in zip(names, groups, strict=True)
        if len(of) > 1
    )
    blind = [_blind_labels(trace, one.mistaken) for group in groups for one in group]
    same = blind[0] if all(labels == blind[0] for labels in blind) else ()
    return Explanation(theirs, step, tuple(name for of in names for name in of), shared, same)


def _blind_labels(trace: Trace, mistaken: Mistaken) -> tuple[str, ...]:
    """The queries that see no key in any entry or head with a mistake, though they see one without
    it.
    """
    if "masked" not in mistaken.moved:
        return ()
    new = blind_queries(mistaken["masked"]) & ~blind_queries(trace["masked"])
    rows = new.reshape(-1, new.shape[-1]).any(axis=0)
    return tuple(trace.tokens[row] for row in np.flatnonzero(rows).tolist())


class _Made:
    """The numbers of a trace with a mistake, in every way to treat the queries that see no key with
    it.
    """

    def __init__(self, trace: Trace, changes: Changes, optional: tuple[str, ...]) -> None:
        self.trace = trace
        self.changes = changes
        # steps that may as well be right
        self.optional = optional
        self.plain = Mistaken(trace, changes)

    @cached_property
    def readings(self) -> tuple[Mistaken, ...]:
        """The numbers as attncli has them, and then as others do."""
        if "masked" not in self.trace:
            return (self.plain,)
        others = blind_readings(self.trace, self.changes, blind_queries(self.plain["masked"]))
        return (self.plain, *(Mistaken(self.trace, changes) for changes in others))


def unexplained_size(comparison: Comparison) -> int:
    """How many weights the sides have, if these are so many that no mistake was tried; else 0."""
    sizes = [
        side.trace["weights"].size
        for side in (comparison.a, comparison.b)
        if side.trace is not None
    ]
    return (
        min(sizes) if sizes and min(sizes) > MOST_WEIGHTS and _can_be_explained(comparison) else 0
    )


def _can_be_explained(comparison: Comparison) -> bool:
    """Whether numbers differ, and not because of a change that was asked for."""
    first = comparison.first
    return first is not None and first.difference is not None and comparison.b.word != "after"


def _explained(
    comparison: Comparison, made: _Made, ours: Operand, theirs: Operand
) -> Mapping[str, int]:
    """The steps whose numbers the mistake gives, each with how many of its cells differ without it.

    None at all where it gives other numbers than theirs before the first step that differs, or in
    it.
    """
    first, found = comparison.first, {}
    assert first is not None
    if first.name not in made.plain.moved:
        return {}
    before = True
    for step in _in_both(comparison, made.plain):
        before = before and step is not first
        if any(_gives(comparison, step, mistaken, ours, theirs) for mistaken in made.readings):
            if step.difference and step.difference.differing:
                found[step.name] = step.difference.differing
        elif (before or step is first) and not (step.name in made.optional and not step.differs):
            return {}
    return found


def _in_both(comparison: Comparison, mistaken: Mistaken) -> Iterator[StepComparison]:
    return (
        step
        for step in comparison.steps
        if step.difference is not None and step.name in mistaken.moved
    )


def _gives(
    comparison: Comparison, step: StepComparison, mistaken: Mistaken, ours: Operand, theirs: Operand
) -> bool:
    """Whether every cell of a step on their side is what the mistake makes of ours.

    A cell may be as far off as the terms allow that either equation makes it of; those of the
    mistake are looked at only where the others do not suffice, and only if every cell that differs
    does so beyond them.
    """

    def arranged(numbers: Numbers) -> Numbers:
        return step.arranged(ours.compared_rows(step.name, numbers))

    made, there = arranged(mistaken[step.name]), step.arranged(theirs[step.name])
    right = step.arranged(ours[step.name])

    def apart(numbers: Numbers, sizes: Numbers) -> int:
        room = larger(step.sizes, sizes)
        return difference(
            numbers, there, comparison.tolerance, sizes=room, hides=HIDING.get(step.name)
        ).differing

    if not apart(made, np.where(np.isfinite(made), np.abs(made), 0.0)):
        return True
    coarser = max(ours.dtype, theirs.dtype, key=lambda dtype: dtype.epsilon)
    sizes = arranged(mistaken.sizes(step.name, coarser))
    if apart(made, sizes):
        return False
    # terms so large that the right numbers would do as well show nothing
    differing = step.difference.differing if step.difference else 0
    return apart(right, sizes) >= differing
