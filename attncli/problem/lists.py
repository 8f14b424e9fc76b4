"""A long text in brackets, read in one go: where each of its lists and single values stands, and which are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attncli.problem.digits import Places
from attncli.problem.many import QUOTES, Many
from attncli.problem.nodes import Leaf, Node, Sequence

_Truths = NDArray[np.bool_]
_Order = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """All that stands equally deep, in order: where each list opens and closes, or a value begins; and which of all
    values it is, -1 for a list."""

    opens: Places
    closes: Places
    words: NDArray[np.int32]

    def bounds(self, below: Places, run: slice = slice(None)) -> tuple[_Order, _Order]:
        """Where among places farther in the entries of each begin, and where they end; values have none."""
        return np.searchsorted(below, self.opens[run]), np.searchsorted(below, self.closes[run])


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Lists inside one another down to single values; at the first of their `levels` stands one list alone.

    `starts` and `ends` say where each value stands in the part of the text that begins at `shift`, `value` is each
    one's number, 0 for the `odd` ones, whose places are given in order.
    """

    text: str
    shift: int
    starts: Places
    ends: Places
    value: NDArray[np.float64]
    odd: _Order
    levels: tuple[Level, ...]

    def shape(self) -> tuple[int, ...] | None:
        """How many entries the lists of each level have; None where not all are alike, or values stand by lists."""
        shape = []
        for level, below in pairwise(self.levels):
            begins, ends = level.bounds(below.opens)
            counts = ends - begins
            if level.words.max() >= 0 or (counts != counts[0]).any():
                return None
            shape.append(int(counts[0]))
        return tuple(shape) if self.levels[-1].words.min() >= 0 else None

    def node(self, level: int = 0, number: int = 0) -> Node:
        """What has this number among those of its level."""
        here = self.levels[level]
        if here.words[number] >= 0:
            return self.leaf(int(here.words[number]))
        at = int(here.opens[number]) + self.shift
        begin, end = self.entries(level, number)
        if begin == end:
            return Sequence(at, [])
        words = self.levels[level + 1].words[begin:end]
        if words.min() < 0:
            return Many(at, end - begin, lambda: self, (level, number))
        value = self.value[words[0] : words[-1] + 1]
        return Many(at, end - begin, lambda: self, (level, number), shape=value.shape, value=value)

    def leaf(self, word: int) -> Leaf:
        """One of all values."""
        start, end = int(self.starts[word]) + self.shift, int(self.ends[word]) + self.shift
        quoted = self.text[start] in QUOTES
        return Leaf(self.text[start + quoted : end - quoted], quoted, start)

    def texts(self, words: slice | _Order) -> list[str]:
        """Some of the values as they stand in the text, quotes and all."""
        text, shift = self.text, self.shift
        starts, ends = ((places[words] + shift).tolist() for places in (self.starts, self.ends))
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    def entries(self, level: int, number: int) -> tuple[int, int]:
        """Which of the next level are in a list: the first, and the first that no longer is."""
        if level + 1 == len(self.levels):
            return 0, 0
        return self._within(self.levels[level + 1].opens, level, number)

    def run(self, level: int, number: int) -> slice:
        """Which of all values are in a list, however deep."""
        return slice(*self._within(self.starts, level, number))

    def _within(self, places: Places, level: int, number: int) -> tuple[int, int]:
        (begin,), (end,) = self.levels[level].bounds(places, slice(number, number + 1))
        return int(begin), int(end)

    def suspects(self, level: int, number: int, shape: tuple[int, ...], wrong: _Truths) -> list[int]:
        """Which entries of a list do not have this shape's lengths, or a value that is `wrong` among those in it."""
        first = self.run(level, number).start
        bad, opens = np.zeros(0, bool), np.zeros(0, np.int32)  # of what is one level deeper
        for deeper in range(len(shape), 0, -1):
            if level + deeper >= len(self.levels):
                continue
            here = self.levels[level + deeper]
            run = slice(*self._within(here.opens, level, number))
            words = here.words[run]
            single = words >= 0
            if deeper == len(shape):
                found = ~single
                found[single] = wrong[words[single] - first]
            else:
                begins, ends = here.bounds(opens, run)
                sums = np.append(0, np.cumsum(bad))
                found = single | (ends - begins != shape[deeper]) | (sums[ends] > sums[begins])
            bad, opens = found, here.opens[run]
        return np.flatnonzero(bad).tolist()
