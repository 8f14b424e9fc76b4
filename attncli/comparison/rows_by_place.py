"""Some rows of queries, said by the entries and heads that they are in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.english import either, listed

# How many queries, and how many heads, a sentence names.
MOST_QUERIES_NAMED = 8
MOST_PLACES_NAMED = 4


class RowsOfPlace(NamedTuple):
    """The labels of these queries in an entry, in a head, or in both; in all where `place` is
    empty.
    """

    place: str
    queries: tuple[str, ...]


def rows_by_place(
    chosen: NDArray[np.bool_], labels: Sequence[Sequence[str]]
) -> tuple[RowsOfPlace, ...]:
    """The chosen rows, whose axes have these `labels`. An axis along which all are the same, as of
    heads with one mask, is left out.
    """
    *outer, queries = labels
    for axis in reversed(range(len(outer))):
        first = chosen.take([0], axis)
        if (chosen == first).all():
            chosen = np.asarray(chosen.take(0, axis))
            del outer[axis]
    by_place = chosen.reshape(-1, len(queries))
    found = []
    for names, rows in zip(product(*outer), by_place, strict=True):
        are_chosen: list[bool] = rows.tolist()
        of_place = tuple(compress(queries, are_chosen))
        if of_place:
            found.append(RowsOfPlace(", ".join(names), of_place))
    return tuple(found)


def are_everywhere(found: Sequence[RowsOfPlace]) -> bool:
    """Whether the same rows are chosen in all entries and heads."""
    return len(found) == 1 and not found[0].place


def quoted(queries: Sequence[str]) -> str:
    """The labels, each in quotes; of many, the first."""
    labels = [f'"{label}"' for label in queries]
    return listed(labels, most=MOST_QUERIES_NAMED)


def places_in_words(found: Sequence[RowsOfPlace]) -> str:
    """Head 0, query "t2"; head 1, queries "t1" and "t2"; of many places, the first."""
    said = []
    for place, queries in found[:MOST_PLACES_NAMED]:
        query = either(len(queries), "query", "queries")
        said.append(f"{place}, {query} {quoted(queries)}")
    if len(found) > MOST_PLACES_NAMED:
        said.append("…")
    return "; ".join(said)
