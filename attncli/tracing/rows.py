"""Rows of the weights by name: query "AI" (row 2) in head 0, those of the same heads and entries together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attncli.english import either, listed
from attncli.tracing.model import Row, Step

MOST = 4  # queries, or heads and entries, that are named one by one

Place = tuple[int, ...]  # on the axes of entries and heads


def named(steps: Mapping[str, Step], rows: Iterable[Row]) -> Iterator[tuple[str, str, int]]:
    """The queries of rows by name, in which heads and entries, and how many queries that are.

    Queries with the same heads and entries are named together, and all heads and entries not at all.
    """
    *leading, queries, _ = steps["weights"].labels
    places: dict[int, list[Place]] = {}
    for row in rows:
        *place, query = (row,) if isinstance(row, int) else row
        places.setdefault(query, []).append(tuple(place))
    together: dict[tuple[Place, ...], list[int]] = {}
    for query, all_of_it in places.items():
        together.setdefault(tuple(all_of_it), []).append(query)
    for found, at in together.items():
        names = _at_most([f'"{queries[query]}" (row {query})' for query in at], "others")
        yield f"{either(len(at), 'query', 'queries')} {names}", _where(leading, found), len(at)


def _where(leading: Sequence[tuple[str, ...]], places: tuple[Place, ...]) -> str:
    """In which heads and entries: an entry with all its heads goes by its own name."""
    if not leading:
        return ""
    last = len(leading[-1])
    within: dict[Place, list[int]] = {}
    for *outer, inner in places:
        within.setdefault(tuple(outer), []).append(inner)
    if all(len(inner) == last for inner in within.values()):
        return _where(leading[:-1], tuple(within))
    names = [
        ", ".join(labels[number] for labels, number in zip(leading, (*outer, *inner), strict=False))
        for outer, found in within.items()
        for inner in ([()] if len(found) == last else [(each,) for each in found])
    ]
    return f" in {_at_most(names, 'more')}"


def _at_most(names: list[str], others: str) -> str:
    """a, b and c; of more than are named one by one, the first and how many others there are."""
    if len(names) <= MOST:
        return listed(names)
    return f"{', '.join(names[: MOST - 1])} and {len(names) - MOST + 1:,} {others}"
