"""Sizes as data: which axes are one dimension, which of them a page can make longer and shorter,
and what follows from that.

A page with one token more has one more row in X, in Q, K and V, in the scores and weights, and a
label more; its scale may be another. `render/html/script/sizes/` does all of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from attncli.attention.plan import Plan
from attncli.equation.indices import BATCH, INDICES
from attncli.equation.rule import Rule
from attncli.page.live.dimensions import Axis, Dimensions
from attncli.page.live.grown import (
    OF_THE_MASK,
    OTHER_STEPS,
    Growth,
    Moves,
    all_rules,
    follow,
    names_of_mask,
)
from attncli.page.live.offered_settings import clicked_name
from attncli.problem.matrix import Matrix
from attncli.problem.parts.masks.keep_and_hide import Keep

# What one place of a dimension is called, by the first of its letters.
NAMES = {
    "h": "head",
    "g": "head of keys and values",
    "b": "entry",
    "u": "cached token",
    "d": "feature of the model",
    "k": "feature of queries and keys",
    "c": "feature of values",
    "o": "feature of the output",
}
# Fewer are another problem: one head has no axis, and no token is cached without a cache.
FEWEST = {"h": 2, "g": 2, "b": 2}
OF_KEY_HEADS = "the heads of keys and values serve the same number of heads each"
WORDS = ("query", "key", "new", "cached")
# Of those that are worked out: a page of more would be slow to follow an edit.
MOST_CELLS = 20_000
# With more, no matrix can be read.
MOST_PLACES = 64


def _note(found: dict[str, list[list[int]]], moved: Mapping[str, float], number: int) -> None:
    """Write down what moves with a dimension, and by how much."""
    for name, by in moved.items():
        if by:
            found.setdefault(name, []).append([number, round(by)])


class PageSizes:
    """The dimensions of a problem, numbered; as data, and for labels."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plan = plans[0]
        self.dimensions = Dimensions(plans)
        self.arrays: dict[str, Matrix] = {}
        self._letters: defaultdict[Axis, set[str]] = defaultdict(set)
        for plan in plans:
            for name, each in (*plan.given.items(), *plan.parameters.items()):
                if isinstance(each, Matrix):
                    self.arrays.setdefault(name, each)
            for rule in all_rules(plan):
                for letter in rule.target.letters:
                    self._letters[self.dimensions.of_letter(rule, letter)].add(letter)

    @cached_property
    def numbered(self) -> Mapping[Axis, int]:
        """The dimensions by their axes: first those of arrays that are given, then those that
        follow.
        """
        found: dict[Axis, int] = {}
        for name, matrix in self.arrays.items():
            for axis in self._axes(name, matrix):
                found.setdefault(axis, len(found))
        for letter in self._that_follow:
            found.setdefault(self._of_letter(letter), len(found))
        return found

    @property
    def _that_follow(self) -> Mapping[str, dict[str, list[str]]]:
        """The letters whose length follows from others: all keys are those of the cache and the
        new ones, and features stand side by side for all heads.
        """
        found = {}
        if "past_K" in self.plan.given:
            found["j"] = {"sum": ["u", "s"]}
        if any("e" in rule.target.letters for rule in all_rules(self.plan) if not rule.own):
            found["e"] = {"product": ["h", "c"]}
        return found

    def _of_letter(self, letter: str) -> Axis:
        return self.dimensions.of((None, letter))

    def _axes(self, name: str, matrix: Matrix) -> Sequence[Axis]:
        return [self.dimensions.of((name, place)) for place in range(matrix.ndim)]

    # As data

    def data(self) -> dict[str, Any]:
        """What a page knows of its sizes: `render/html/script/types.d.ts` says what each is."""
        scalars: dict[str, list[list[int]]] = {}
        of_rules: dict[str, list[list[int]]] = {}
        dimensions = []
        for axis, number in self.numbered.items():
            written, moved = self._dimension(axis)
            dimensions.append(written)
            if moved is None:
                continue
            _note(scalars, moved.scalars, number)
            of_rule = {" ".join(key): by for key, by in moved.of_rules.items()}
            _note(of_rules, of_rule, number)
        arrays = {}
        for name, matrix in self.arrays.items():
            arrays[name] = [self.numbered[axis] for axis in self._axes(name, matrix)]
        return {
            "dimensions": dimensions,
            "arrays": arrays,
            "letters": self.letters_of_plan(),
            "scalars": scalars,
            "rules": of_rules,
            "seen": [name for name in self.arrays if name.startswith(Keep.name)],
            "most": MOST_CELLS,
            "longest": MOST_PLACES,
        }

    def letters_of_plan(self) -> dict[str, int]:
        """The dimensions of the letters whose lengths a plan knows."""
        found = {}
        for letter in self.plan.sizes:
            number = self.numbered.get(self._of_letter(letter))
            if number is not None:
                found[letter] = number
        for axis, number in self.numbered.items():
            if BATCH in self._letters[axis]:
                found[BATCH] = number
        return found

    def _dimension(self, axis: Axis) -> tuple[dict[str, Any], Moves | None]:
        """A dimension as data, and by how much lengths move with it; None where a page cannot
        change it.
        """
        letters = self._letters[axis]
        written: dict[str, Any] = {"name": self._name(letters), "size": self._size(axis)}
        for letter, parts in self._that_follow.items():
            if self._of_letter(letter) == axis:
                return {**written, **self._followed(parts)}, None
        if any(axis in self._axes(name, self.arrays[name]) for name in self._of_mask):
            return {**written, "fixed": OF_THE_MASK}, None
        if "h" in letters and "g" not in letters and self._has("g"):
            return {**written, "fixed": OF_KEY_HEADS}, None
        found = follow(self.plan, self._growth(axis), self._labels_of(letters))
        if isinstance(found, str):
            return {**written, "fixed": found}, None
        fewest = max((FEWEST.get(letter, 1) for letter in letters), default=1)
        return {**written, "fewest": fewest}, found

    def _has(self, letter: str) -> bool:
        return self._of_letter(letter) in self.numbered

    @property
    def _of_mask(self) -> Set[str]:
        """The arrays of the mask that no reader can change, such as how long each entry is."""
        changed = {*self.plan.given, *names_of_mask(self.plan.problem)}
        changed.add(clicked_name(self.plan.problem))
        return self.arrays.keys() - changed

    def _followed(self, parts: Mapping[str, list[str]]) -> dict[str, Any]:
        """The dimensions that another one is made of."""
        [(how, others)] = parts.items()
        numbers = []
        for letter in others:
            axis = self._of_letter(letter)
            if axis not in self.numbered:
                # Equations of the problem's own make it.
                return {"fixed": OTHER_STEPS}
            numbers.append(self.numbered[axis])
        return {how: numbers}

    def _size(self, axis: Axis) -> int:
        for name, matrix in self.arrays.items():
            for place, each in enumerate(self._axes(name, matrix)):
                if each == axis:
                    return matrix.shape[place]
        letters = [letter for letter in self._that_follow if self._of_letter(letter) == axis]
        return self.plan.sizes[letters[0]]

    def _name(self, letters: Set[str]) -> str:
        if "i" in letters and letters & {"j", "s"}:
            return "token"
        if "i" in letters:
            return "query"
        for letter, name in NAMES.items():
            if letter in letters:
                return name
        if "j" in letters:
            return "key"
        return f"place of {min(letters)}" if letters else "place"

    def _growth(self, axis: Axis) -> Growth:
        """By how much axes of arrays grow if a dimension is one longer, also those that follow."""
        by = {axis: 1}
        for letter, parts in self._that_follow.items():
            for how, others in parts.items():
                axes = [self._of_letter(each) for each in others]
                if axis in axes:
                    # As many as the other of two factors has, for each.
                    other = axes[1 - axes.index(axis)]
                    by[self._of_letter(letter)] = self._size(other) if how == "product" else 1
        names = {*self.plan.given, *names_of_mask(self.plan.problem)}
        found = {}
        for name, matrix in self.arrays.items():
            places = enumerate(self._axes(name, matrix))
            grows = {at: by[each] for at, each in places if each in by}
            if grows and name in names:
                found[name] = grows
        return found

    def _labels_of(self, letters: Set[str]) -> list[str]:
        """Which words of the problem get one more."""
        found = []
        if "i" in letters:
            found.append("tokens")
        if letters & {"j", "s", "u"}:
            found.append("context_tokens")
        return found

    # Labels

    def naming(self, rule: Rule, place: int) -> tuple[str, int]:
        """How places on an axis of a rule are called: by words, or counted like "head {}" from 0
        and "d" from 1; and their dimension, -1 where it is none that arrays have.
        """
        letter, axis = rule.target.letters[place], rule.axis_names[place]
        number = self.numbered.get(self.dimensions.of_letter(rule, letter), -1)
        if len(axis) == 1:
            return f"{axis}{{}}", number
        if axis in WORDS:
            return "words", number
        label = next((each.label for each in INDICES.values() if each.axis == axis), "")
        if axis == "joined" and "e" in self._that_follow:
            return "joined", number
        return label or "d", number
