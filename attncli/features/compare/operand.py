"""One side of a comparison: a trace of ours or another program's dump, with its arrays, labels and number format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.registry import RULES
from attncli.dtypes import DTYPES, Dtype
from attncli.features.compare.dump import Dump
from attncli.tracing.model import Trace

Labels = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two: `name` is what messages call it, `word` and `phrase` what a page does (A, in A).

    `source` is a trace of ours, or the dump of another program. `rows` are the queries that are compared, where the
    other side has not all of them.
    """

    name: str
    word: str
    phrase: str
    source: Trace | Dump
    rows: tuple[int, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The steps there are, in order."""
        return tuple(self.source.steps if isinstance(self.source, Trace) else self.source.arrays)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> NDArray[Any]:
        """What is compared of a step; KeyError where this side does not have it."""
        return self.compared(name, self.source[name] if isinstance(self.source, Trace) else self.source.arrays[name])

    def compared(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The rows that are compared, of an array in the shape of a step."""
        axis = _queries(name, array.ndim)
        return array if self.rows is None or axis is None else np.take(array, self.rows, axis=axis)

    def get(self, name: str) -> NDArray[Any] | None:
        """The same, or None where this side does not have it."""
        if name not in self:
            return None
        return self[name]

    @property
    def dtype(self) -> Dtype:
        """The number format, as far as that can be told."""
        return DTYPES[self.source.dtype if isinstance(self.source, Dump) else self.source.settings.dtype]

    @property
    def trace(self) -> Trace | None:
        return self.source if isinstance(self.source, Trace) else None

    @property
    def queries(self) -> tuple[str, ...]:
        """The labels of the queries that are compared; none where a dump does not tell them."""
        return self._tokens(-2)

    @property
    def keys(self) -> tuple[str, ...]:
        """The labels of the keys; none where a dump does not tell them."""
        return self._tokens(-1)

    def _tokens(self, axis: int) -> tuple[str, ...]:
        labels = self.labels("weights") if "weights" in self else ()
        return labels[axis] if len(labels) > 1 else ()

    def labels(self, name: str) -> Labels:
        """The labels of a step's places, axis by axis; nothing where a dump has none."""
        labels = self.source.labels.get(name, ()) if isinstance(self.source, Dump) else self.source.steps[name].labels
        axis = _queries(name, len(labels))
        if self.rows is None or axis is None:
            return labels
        return (*labels[:axis], tuple(labels[axis][row] for row in self.rows), *labels[axis + 1 :])

    def index(self, name: str, index: tuple[int, ...]) -> tuple[int, ...]:
        """A cell of a compared array as one of the whole step."""
        axis = _queries(name, len(index))
        if self.rows is None or axis is None:
            return index
        return (*index[:axis], self.rows[index[axis]], *index[axis + 1 :])


def by_label(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides with the queries that both have, where the keys are the same and one side has not all queries.

    So a step of decoding, whose earlier tokens come from a cache, is held against the last row of the whole.
    """
    ours, theirs = a.queries, b.queries
    if a.keys != b.keys or any(len(set(labels)) < len(labels) for labels in (ours, theirs)):
        return a, b
    if ours and set(ours) < set(theirs):
        return a, replace(b, rows=tuple(map(theirs.index, ours)))
    if theirs and set(theirs) < set(ours):
        return replace(a, rows=tuple(map(ours.index, theirs))), b
    return a, b


def step_names(a: Side, b: Side) -> list[str]:
    """The steps of both, in an order that keeps to either's own."""
    merged = list(a.names)
    place = 0
    for name in b.names:
        if name in merged:
            place = merged.index(name) + 1
        else:
            merged.insert(place, name)
            place += 1
    return merged


def _queries(name: str, rank: int) -> int | None:
    """Which axis of an array with so many is that of the queries, if it has one."""
    axes = RULES[name].axes
    if "query" not in axes or rank < len(axes):
        return None
    return rank - len(axes) + axes.index("query")
