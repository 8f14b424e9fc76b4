"""Conditions and computed indices looked at place by place: where they hold, and which of them are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from attncli.equation.index_inversion import with_indices
from attncli.equation.nodes import Equation, Expression, Ref, walk
from attncli.equation.positions import letters, position

Place = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Places:
    """Those of the places of some letters at which something holds."""

    letters: tuple[str, ...]
    within: frozenset[tuple[int, ...]]
    every: frozenset[tuple[int, ...]]

    @property
    def others(self) -> Places:
        """The places at which it does not hold."""
        return Places(self.letters, self.every - self.within, self.every)

    def has(self, place: Place) -> bool:
        return tuple(place[letter] for letter in self.letters) in self.within


@dataclass(frozen=True, slots=True)
class Extent:
    """How far each letter runs, and the numbers that conditions and indices are worked out with."""

    lengths: Mapping[str, int]
    scalars: Mapping[str, Any]

    def where(self, run: Sequence[str], holds: Callable[[Place], bool]) -> Places:
        """The places of these letters at which something holds."""
        every = [dict(zip(run, place, strict=True)) for place in self._every(run)]
        within = frozenset(tuple(place.values()) for place in every if holds(place))
        return Places(tuple(run), within, frozenset(tuple(place.values()) for place in every))

    def meets(self, condition: Expression, place: Place) -> bool:
        """Whether a condition on positions holds at a place."""
        return bool(position(condition, place, self.scalars))

    def tells(self, condition: Expression, places: Places) -> bool:
        """Whether a condition holds at just these places."""
        return {*letters(condition, self.lengths)} == {*places.letters} and (
            self.where(places.letters, lambda place: self.meets(condition, place)) == places
        )

    def inside(self, index: str | Expression, letter: str, place: Place) -> bool:
        """Whether an index, which stands for this letter, is a place that the letter runs through."""
        return 0 <= position(index, place, self.scalars) < self.lengths[letter]

    def plainest(self, expression: Expression, equation: Equation, places: Places) -> Expression:
        """The expression with each computed index as a letter, or as the equation spells it, where that is the same.

        They need to be the same at these places only.
        """
        own = [index for node in walk(equation.expression) if isinstance(node, Ref) for index in node.indices]
        spelled: dict[Expression, str | Expression] = {}
        for node in walk(expression):
            for index in node.indices if isinstance(node, Ref) else ():
                if not isinstance(index, str):
                    depends = tuple(dict.fromkeys(letters(index, self.lengths)))
                    others = [other for other in own if {*letters(other, self.lengths)} == {*depends}]
                    same = (other for other in (*depends, *others) if self._same(index, other, depends, places))
                    spelled[index] = next(same, index)
        return with_indices(expression, spelled)

    def _same(self, one: Expression, other: str | Expression, depends: Sequence[str], places: Places) -> bool:
        run = tuple(dict.fromkeys((*depends, *places.letters)))
        return all(
            position(one, place, self.scalars) == position(other, place, self.scalars)
            for place in (dict(zip(run, at, strict=True)) for at in self._every(run))
            if places.has(place)
        )

    def _every(self, run: Sequence[str]) -> Iterator[tuple[int, ...]]:
        return product(*(range(self.lengths[letter]) for letter in run))
