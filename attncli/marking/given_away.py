"""Which blank steps of a worksheet can be read off the numbers that stand on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from attncli.equation.nodes import Reduce, walk
from attncli.equation.rule import Rule
from attncli.tracing.model import Trace


class GivenAway(NamedTuple):
    """Blank `steps` with numbers that follow, cell by cell, from those of the steps `by`."""

    by: tuple[str, ...]
    steps: tuple[str, ...]


def given_away(trace: Trace, blank: Collection[str]) -> GivenAway:
    """What a sheet gives away that leaves these steps blank.

    A printed number that was worked out from a blank one says something about it. Where an equation
    has no sum, each of its cells says one cell of what it reads: masked scores say the scaled ones.
    And where exponentials and their sums are printed, weights are only divided. A sum of products
    gives none of its factors away, and numbers from which a blank step is to be worked out say only
    what is asked.
    """
    printed = _that_follow(trace, blank)
    links = [*_cell_by_cell(trace)]
    found: set[str] = set()
    by: set[str] = set()
    is_new = True
    while is_new:
        is_new = False
        for link in links:
            unknown = link.intersection(blank) - found
            telling = link & (printed | found)
            is_told = len(unknown) == 1 and telling
            if is_told:
                found |= unknown
                by |= link & printed
                is_new = True
    return GivenAway(_in_order(trace, by), _in_order(trace, found))


def _in_order(trace: Trace, names: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in trace.steps if name in names)


def _that_follow(trace: Trace, blank: Collection[str]) -> set[str]:
    """The steps with numbers on the sheet that were worked out from blank ones."""
    following = set(blank)
    for step in trace.computed():
        read = step.rule.inputs
        if following.intersection(read):
            following.add(step.name)
    return following.difference(blank)


def _cell_by_cell(trace: Trace) -> Iterator[frozenset[str]]:
    """The steps of each equation without a sum: what it says, and what it reads."""
    for step in trace.computed():
        if not _has_a_sum(step.rule):
            names = (step.name, *step.rule.inputs)
            yield frozenset(name for name in names if name in trace.steps)


def _has_a_sum(rule: Rule) -> bool:
    return any(isinstance(node, Reduce) for node in walk(rule.equation.expression))
