"""Which known mistakes give the other side's numbers, from the first step that differs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from attncli.comparison.conversions import conversions, tiled_kv_heads
from attncli.comparison.mistaken_numbers import FEWEST_CELLS, Attempt, Made
from attncli.comparison.rows_by_place import RowsOfPlace, rows_by_place
from attncli.mistakes.alike import groups_of_alike, shared_words
from attncli.mistakes.blind_queries import blind_queries
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.forward import TILED
from attncli.mistakes.in_weights import in_weights
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import Changes, has_more_than
from attncli.tracing.comparison import Comparison, Operand, StepComparison
from attncli.tracing.model import Trace

# For a larger trace no mistake is tried: each is another computation of all steps that it changes.
MOST_WEIGHTS = 300_000
# If more mistakes than these give the same numbers, the numbers say too little.
MOST_MISTAKES_NAMED = 3
# Numbers of 16 bits and fewer have a larger epsilon.
COARSE = 2.0**-20
# Roundings move the numbers of the mistake that was made, too, but not so many times as far as
# those of another one.
TIMES_AS_FAR = 8


@dataclass(frozen=True, slots=True)
class Explanation:
    """The side that made one of these mistakes, all of which give its numbers, and the step that
    they give first.

    `shared` says of those that are one in these numbers what they do: All 4 mistakes divide scores
    by 4 instead of 2. `blind` are the queries that see no key with any of the mistakes, by
    their entries and heads.
    """

    side: Operand
    step: str
    mistakes: tuple[str, ...]
    shared: tuple[str, ...] = ()
    blind: tuple[RowsOfPlace, ...] = ()

    @property
    def blind_labels(self) -> list[str]:
        """The labels of these queries, of all entries and heads, each once."""
        labels = [label for place in self.blind for label in place.queries]
        return list(dict.fromkeys(labels))


class _Fitting(NamedTuple):
    """A mistake that gives the other side's numbers: the first of the steps that differ, and how
    many there are; with its changes, as far as anything reads them.

    It does so `as_ours` if queries that see no key are treated as attncli treats them. Its numbers
    are so `far` from theirs on the mean.
    """

    name: str
    changes: Changes
    mistaken: MistakenTrace
    first: StepComparison
    steps: int
    as_ours: bool
    far: float


def explanation(comparison: Comparison) -> Explanation | None:
    """The known mistakes that give every number of one side in the first step that differs, and in
    most steps after it.

    The other side has to be a problem. Of two problems the second is the one with the mistake, if
    both can be. None after a change, whose cause is known, where nothing but the rows of queries
    that see no key differs, and where mistakes that are not one in the numbers of this problem are
    too many.
    """
    if not _can_be_explained(comparison):
        return None
    for ours, theirs in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        if ours.trace is None or _many(ours.trace) > MOST_WEIGHTS:
            continue
        attempt = Attempt(comparison, ours, theirs, ours.trace)
        found = _all_that_explain(attempt)
        if not any(one.as_ours for one in found) and _treats_blind_rows_otherwise(attempt):
            return None
        is_coarse = theirs.dtype.epsilon > COARSE
        groups = _best_groups(found, is_coarse=is_coarse)
        if 0 < len(groups) <= MOST_MISTAKES_NAMED:
            first = groups[0][0].first
            if not attempt.a_lower_format_would_do(first):
                return _explanation(attempt, groups)
        if not found and (converted := _converted(attempt)):
            return converted
    return None


def _converted(attempt: Attempt) -> Explanation | None:
    """What was done to given arrays, if that is no known mistake of an equation."""
    first = attempt.first
    kv_heads = tiled_kv_heads(attempt)
    if kv_heads is not None:
        read = (
            f"Query head h reads KV head h mod {kv_heads} {attempt.theirs.phrase}. Each KV head"
            f" {attempt.ours.phrase} serves consecutive query heads."
        )
        return Explanation(attempt.theirs, first.name, (TILED,), (read,))
    for conversion in conversions(attempt):
        made = Made(attempt.trace, conversion.changes, ())
        if first.name in _explained(attempt, made, first):
            return Explanation(attempt.theirs, first.name, (conversion.name,))
    return None


def _all_that_explain(attempt: Attempt) -> list[_Fitting]:
    found = []
    for mistake, changes in applicable(attempt.trace):
        # The page says so of the rows themselves, and `--sees-no-key` that it is meant.
        if mistake.convention:
            continue
        made = _made(attempt, changes, mistake.optional)
        first = None if made is None else _first(attempt, made)
        if made is None or first is None:
            continue
        steps = _explained(attempt, made, first)
        if first.name not in steps:
            continue
        cells = sum(steps.values())
        if cells < FEWEST_CELLS:
            continue
        as_ours = attempt.gives(first, made.plain)
        far = attempt.far(first, made.plain)
        read = {step: how for step, how in changes.items() if step not in made.unread}
        fitting = _Fitting(mistake.name, read, made.plain, first, len(steps), as_ours, far)
        found.append(fitting)
    return found


def _made(attempt: Attempt, changes: Changes, optional: tuple[str, ...]) -> Made | None:
    """The numbers that a mistake makes: of what reads the weights, or, where these differ, of the
    weights themselves. None where it makes none of these.
    """
    made = Made(attempt.trace, changes, optional)
    if not _is_given(attempt, attempt.first) or attempt.first.name in made.unread:
        return made
    of_weights = in_weights(attempt.trace, changes)
    return Made(attempt.trace, of_weights, optional) if of_weights else None


def _first(attempt: Attempt, made: Made) -> StepComparison | None:
    """The first step that differs, of those that are read with a mistake; None where its numbers
    cannot be compared.
    """
    for step in attempt.comparison.steps:
        if step.differs and step.name not in made.unread:
            return None if step.difference is None else step
    return None


def _treats_blind_rows_otherwise(attempt: Attempt) -> bool:
    """Whether the right numbers are theirs, but for what a query that sees no key is given."""
    if "masked" not in attempt.trace:
        return False
    own_equation = attempt.trace.steps["masked"].rule.equation.expression
    right = Made(attempt.trace, {"masked": own_equation}, ())
    return attempt.first.name in _explained(attempt, right, attempt.first)


def _best_groups(found: list[_Fitting], *, is_coarse: bool) -> list[list[_Fitting]]:
    """Those that give the most steps, in groups that are one in the numbers of this problem.

    A mistake that changes all that another one does, and more, is left out: nothing shows the rest
    of it. So is one that needs another way to treat queries that see no key, where another mistake
    does not. Where there are too many groups, only the mistakes that change the fewest steps count.

    Coarse numbers fit other mistakes by chance. There, all that come nearest count instead, however
    many steps they change.
    """
    most = max((one.steps for one in found), default=0)
    best = [one for one in found if one.steps == most]
    best = [one for one in best if one.as_ours] or best
    if is_coarse:
        best = _nearest(best)
    best = _without_what_nothing_shows(best)
    groups = _grouped(best)
    if is_coarse or len(groups) <= MOST_MISTAKES_NAMED:
        return groups
    fewest = min(len(one.changes) for one in best)
    return _grouped([one for one in best if len(one.changes) == fewest])


def _nearest(found: list[_Fitting]) -> list[_Fitting]:
    """Without those that are clearly farther off than another one."""
    nearest = min((one.far for one in found), default=0.0)
    return [one for one in found if one.far <= TIMES_AS_FAR * nearest]


def _without_what_nothing_shows(found: list[_Fitting]) -> list[_Fitting]:
    """Those that change no more than another one does."""

    kept = []
    for one in found:
        others = (other.changes for other in found)
        if not any(has_more_than(one.changes, other) for other in others):
            kept.append(one)
    return kept


def _grouped(found: list[_Fitting]) -> list[list[_Fitting]]:
    by_name = {one.name: one for one in found}
    mistaken = {one.name: one.mistaken for one in found}
    groups = []
    for names in groups_of_alike(mistaken):
        group = [by_name[name] for name in names]
        groups.append(group)
    return groups


def _explanation(attempt: Attempt, groups: list[list[_Fitting]]) -> Explanation:
    trace = attempt.trace
    names: list[str] = []
    shared = []
    blind: set[tuple[RowsOfPlace, ...]] = set()
    for group in groups:
        of_group = tuple(one.name for one in group)
        names += of_group
        if len(group) > 1:
            first = group[0].mistaken
            shared.append(shared_words(trace, of_group, first))
        blind.update(_newly_blind(trace, one.mistaken) for one in group)
    blind_with_each: tuple[RowsOfPlace, ...] = ()
    if len(blind) == 1:
        (blind_with_each,) = blind
    return Explanation(
        attempt.theirs,
        groups[0][0].first.name,
        tuple(names),
        tuple(shared),
        blind_with_each,
    )


def _newly_blind(trace: Trace, mistaken: MistakenTrace) -> tuple[RowsOfPlace, ...]:
    """The queries that see no key with a mistake, though they see one without it."""
    if "masked" not in mistaken.moved:
        return ()
    blind = blind_queries(mistaken["masked"])
    blind_without = blind_queries(trace["masked"])
    return rows_by_place(blind & ~blind_without, trace.steps["masked"].labels[:-1])


def _many(trace: Trace) -> int:
    """How many weights a trace has; without weights, how many numbers the largest step has."""
    if "weights" in trace:
        return int(trace["weights"].size)
    return max(step.value.size for step in trace.computed())


def unexplained_size(comparison: Comparison) -> int:
    """How many weights the sides have, if these are so many that no mistake was tried; else 0."""
    sizes = [_many(side.trace) for side in (comparison.a, comparison.b) if side.trace is not None]
    return (
        min(sizes) if sizes and min(sizes) > MOST_WEIGHTS and _can_be_explained(comparison) else 0
    )


def _can_be_explained(comparison: Comparison) -> bool:
    """Whether numbers differ, and not because of a change that was asked for."""
    differs = any(step.differs and step.difference is not None for step in comparison.steps)
    return differs and comparison.b.word != "after"


def _explained(attempt: Attempt, made: Made, first: StepComparison) -> Mapping[str, int]:
    """The steps whose numbers the mistake gives, each with how many of its cells differ without it.

    None at all where it gives other numbers than theirs before the first step that differs, in it,
    or in a given array.
    """
    found: dict[str, int] = {}
    if first.name not in made.plain.moved:
        return found
    before = True
    for step in _in_both(attempt.comparison, made.plain):
        before = before and step is not first
        may_be_right = step.name in made.optional and not step.differs
        if attempt.is_given(step, made):
            if step.difference and step.difference.differing:
                found[step.name] = step.difference.differing
        elif (before or step is first or _is_given(attempt, step)) and not may_be_right:
            return {}
    return found


def _is_given(attempt: Attempt, step: StepComparison) -> bool:
    """Whether nothing but a mistake of its own can make it differ."""
    return attempt.trace.steps[step.name].rule.given


def _in_both(comparison: Comparison, mistaken: MistakenTrace) -> Iterator[StepComparison]:
    return (
        step
        for step in comparison.steps
        if step.difference is not None and step.name in mistaken.moved
    )
