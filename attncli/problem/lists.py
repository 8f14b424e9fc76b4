"""A long list read in one go in which something is odd: one entry is no number, or one row is shorter than others.

Its tree is made of arrays that say where everything stands, node by node, where someone asks for it.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from attncli.problem.digits import Places
from attncli.problem.tree import Leaf, Node, Numbers, Sequence
from attncli.records import dataclass

_Order = NDArray[np.int64]


class Rows(Sequence):
    """A long list of lists that make no matrix, its entries made one by one."""

    __slots__ = ("_entries",)

    def __init__(self, at: int, entries: _Entries) -> None:
        self.at, self._entries = at, entries

    @property
    def items(self) -> _Entries:  # type: ignore[override]  # nothing is ever added to these, as to a list that is read
        """The entries, of which only those are made that are looked at."""
        return self._entries


@dataclass(frozen=True, slots=True, eq=False)
class _Entries(collections.abc.Sequence[Node]):
    """Nodes by their number, each made anew whenever it is looked at."""

    make: Callable[[int], Node]
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: int) -> Node:  # type: ignore[override]  # no slices: nobody cuts nodes
        if not -self.length <= place < self.length:
            raise IndexError(place)
        return self.make(place % self.length)


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Lists inside one another down to rows of single values.

    `starts` and `ends` say where each value stands in the part of the text that begins at `shift`, `value` is each
    one's number, 0 for the `odd` ones, whose places are given in order. `opens` and `closes` are the brackets of each
    level, as places among `brackets`, and `first` is where among all values each row begins, and the last one ends.
    """

    shift: int
    starts: Places
    ends: Places
    value: NDArray[np.float64]
    odd: NDArray[np.intp]
    brackets: Places
    opens: tuple[_Order, ...]
    closes: tuple[_Order, ...]
    first: _Order

    def node(self, text: str, level: int = 0, number: int = 0) -> Sequence:
        """The list of a number among those of its level."""
        opening, closing = self.opens[level][number], self.closes[level][number]
        at = int(self.brackets[opening]) + self.shift
        if level == len(self.opens) - 1:
            return self._row(text, at, number)
        begin, end = (int(found) for found in np.searchsorted(self.opens[level + 1], (opening, closing)))
        return Rows(at, _Entries(lambda place: self.node(text, level + 1, begin + place), end - begin))

    def whole(self, text: str, shape: tuple[int, ...]) -> Numbers:
        """All of them as one array, which they are where all rows have one length."""
        return Numbers(
            self.shift + int(self.brackets[0]), self.value.reshape(shape),
            lambda: self._texts(text, 0, len(self.value)).reshape(shape),
            lambda: list(self.node(text).items),
            lambda: self._odd(text, 0, len(self.value)),
        )  # fmt: skip

    def _row(self, text: str, at: int, number: int) -> Sequence:
        begin, end = int(self.first[number]), int(self.first[number + 1])
        if begin == end:
            return Sequence(at, [])
        return Numbers(
            at, self.value[begin:end],
            lambda: self._texts(text, begin, end),
            lambda: [self._leaf(text, place) for place in range(begin, end)],
            lambda: self._odd(text, begin, end),
        )  # fmt: skip

    def _leaf(self, text: str, place: int) -> Leaf:
        start, end = int(self.starts[place]) + self.shift, int(self.ends[place]) + self.shift
        quoted = text[start] == '"'
        return Leaf(text[start + quoted : end - quoted], quoted, start)

    def _odd(self, text: str, begin: int, end: int) -> Iterator[tuple[int, Leaf]]:
        """The odd ones of a run of values, each with its place in the run."""
        first, last = np.searchsorted(self.odd, (begin, end))
        return ((int(place) - begin, self._leaf(text, int(place))) for place in self.odd[first:last])

    def _texts(self, text: str, begin: int, end: int) -> NDArray[np.object_]:
        texts = np.empty(end - begin, dtype=object)
        texts[:] = [self._leaf(text, place).text for place in range(begin, end)]
        return texts
