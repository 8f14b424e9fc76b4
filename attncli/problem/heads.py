"""Splits what holds all heads side by side, as W_Q of d_model × (heads·d_k) does, into an array for each head."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from attncli.english import count
from attncli.problem.axes import OF_KEYS, OF_QUERIES
from attncli.problem.keys import ARRAYS, array_path
from attncli.problem.model import Matrix
from attncli.problem.values import ErrorCollector, Places

if TYPE_CHECKING:
    from numpy.typing import NDArray


def split_heads(
    given: Mapping[str, Matrix], heads: int | None, kv_heads: int | None, at: Places, errors: ErrorCollector
) -> tuple[dict[str, Matrix], bool]:
    """The arrays with a head axis before their rows, and whether those of queries got theirs here, out of columns.

    `heads` and `kv_heads` are as they were written, if they were.

    What is stacked already stays as it is. What has no heads while others do is for all of them, unless heads are
    written out. What does not fit is reported.
    """
    stacked = {"heads": _stacked(given, "Q")}
    stacked["kv_heads"] = _stacked(given, "K", *(() if heads else ("V", "past_K", "past_V")))
    for key, said in (("heads", heads), ("kv_heads", kv_heads)):
        name, found = stacked[key]
        if said and found and said != found:
            errors.add(
                f"is {said}, but {name} has {count(found, 'head')}", at=at[key], path=key,
                help=f"write {key}: {found}, or leave it out: the last axis but two of {name} is that of its heads",
            )  # fmt: skip
            return dict(given), False
    (_, of_queries), (name, of_keys) = stacked.values()
    queries = heads or of_queries or 1
    keys = kv_heads or of_keys or (queries if heads else 1)
    key = "kv_heads" if kv_heads else "heads" if heads and not of_queries else name
    path = array_path(key)
    if not (of_queries or heads) and keys > 1:
        errors.add(
            f"{count(keys, 'head')} of keys and values, but queries without heads", at=at[path], path=path,
            help=f"write heads: {keys} for as many of queries, or a multiple of it",
        )  # fmt: skip
    elif queries % keys:
        errors.add(
            f"{count(queries, 'head')} of queries cannot be shared out among {keys} of keys and values",
            at=at[path], path=path, help=f"heads must be a multiple of kv_heads: {keys}, {2 * keys}, …",
        )  # fmt: skip
    elif errors.count == 0:
        split = {}
        for name, matrix in given.items() if queries > 1 and (heads or kv_heads) else ():
            if name in (*OF_QUERIES, *OF_KEYS) and matrix.ndim == len(ARRAYS[name].letters):
                key, number = ("heads", queries) if name in OF_QUERIES else ("kv_heads", keys)
                split[name] = _split(name, matrix, number, key, at, errors)
        return {**given, **split}, not split.keys().isdisjoint(("Q", "W_Q"))
    return dict(given), False


def _stacked(given: Mapping[str, Matrix], *names: str) -> tuple[str, int]:
    """The first of these that has its heads on an axis of their own, and how many; 0 where none has."""
    found = ((name, int(given[name].shape[-3])) for name in names if name in given and given[name].ndim > 2)
    return next(found, (names[0], 0))


def _split(name: str, matrix: Matrix, heads: int, key: str, at: Places, errors: ErrorCollector) -> Matrix:
    columns = matrix.shape[-1]
    if columns % heads:
        errors.add(
            f"its {count(columns, 'column' if matrix.ndim > 1 else 'number')} cannot be split into "
            f"{count(heads, 'head')}",
            at=at[array_path(name)], path=array_path(name), help=f"make them a multiple of {key} ({heads})",
        )  # fmt: skip
        return matrix
    apart = (heads, *matrix.shape[:-1], columns // heads)
    return matrix.arranged(partial(_split_columns, heads=heads), apart)


def _split_columns(array: NDArray[Any], heads: int) -> NDArray[Any]:
    """Columns side by side as matrices one after another: n × (heads·d) becomes heads × n × d."""
    import numpy as np

    parts = np.moveaxis(array.reshape(*array.shape[:-1], heads, -1), -2, 0)
    parts = np.ascontiguousarray(parts)
    parts.setflags(write=False)
    return parts
