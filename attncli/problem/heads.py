"""Splits what holds all heads side by side, as W_Q of d_model × (heads·d_k) does, into an array for each head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.english import count
from attncli.problem.axes import OF_KEYS, RANKS
from attncli.problem.model import Matrix
from attncli.problem.report import Report

_OF_QUERIES = ("W_Q", "b_Q", "Q")
_STACKED = {"heads": "Q", "kv_heads": "K"}


def split_heads(
    given: Mapping[str, Matrix], heads: int | None, kv_heads: int | None, at: Mapping[str, int], report: Report
) -> dict[str, Matrix]:
    """The arrays with a head axis before their rows; `heads` and `kv_heads` as they were written, if they were.

    What is stacked already stays as it is. What has no heads while others do is for all of them, unless heads are
    written out. What does not fit is reported.
    """
    stacked = {key: _stacked(given, name) for key, name in _STACKED.items()}
    written = {"heads": heads, "kv_heads": kv_heads}
    for key, name in _STACKED.items():
        said, found = written[key], stacked[key]
        if said and found and said != found:
            report.add(
                f"is {said}, but {name} has {count(found, 'head')}", at=at[key], path=key,
                help=f"write {key}: {found}, or leave it out: the first axis but two of {name} is that of its heads",
            )  # fmt: skip
            return dict(given)
    queries = heads or stacked["heads"] or 1
    keys = kv_heads or stacked["kv_heads"] or (queries if heads else 1)
    if _stacked(given, "Q") is None and heads is None and keys > 1:
        place = "kv_heads" if kv_heads else "K"
        report.add(
            f"{count(keys, 'head')} of keys and values, but queries without heads", at=at[place], path=place,
            help=f"write heads: {keys} for as many of queries, or a multiple of it",
        )  # fmt: skip
    elif queries % keys:
        place = next(name for name in ("kv_heads", "heads", "K", "Q") if name in at)
        report.add(
            f"{count(queries, 'head')} of queries cannot be shared out among {keys} of keys and values",
            at=at[place], path=place, help=f"heads must be a multiple of kv_heads: {keys}, {2 * keys}, …",
        )  # fmt: skip
    elif report.count == 0:
        split = dict(given)
        for name, matrix in given.items() if queries > 1 and (heads or kv_heads) else ():
            if name in (*_OF_QUERIES, *OF_KEYS) and matrix.value.ndim == RANKS.get(name, 2):
                key, number = ("heads", queries) if name in _OF_QUERIES else ("kv_heads", keys)
                split[name] = _split(name, matrix, number, key, at, report)
        return split
    return dict(given)


def _stacked(given: Mapping[str, Matrix], name: str) -> int | None:
    """How many heads Q or K is given with on an axis of their own."""
    return int(given[name].value.shape[-3]) if name in given and given[name].value.ndim > 2 else None


def _split(name: str, matrix: Matrix, heads: int, key: str, at: Mapping[str, int], report: Report) -> Matrix:
    columns = matrix.value.shape[-1]
    place = name if name in at else "past"
    if columns % heads:
        report.add(
            f"its {count(columns, 'column' if matrix.value.ndim > 1 else 'number')} cannot be split into "
            f"{count(heads, 'head')}",
            at=at[place], path=name.replace("past_", "past."), help=f"make them a multiple of {key} ({heads})",
        )  # fmt: skip
        return matrix
    return Matrix(_apart(matrix.value, heads), None if matrix.written is None else _apart(matrix.written, heads))


def _apart(array: NDArray[Any], heads: int) -> NDArray[Any]:
    """Columns side by side as matrices one after another: n × (heads·d) becomes heads × n × d."""
    parts = np.moveaxis(array.reshape(*array.shape[:-1], heads, -1), -2, 0)
    parts = np.ascontiguousarray(parts)
    parts.setflags(write=False)
    return parts
