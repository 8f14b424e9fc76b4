"""Checks queries, keys and values against each other while heads are still side by side.

Here it shows that `kv_heads` or a `part` was forgotten; with heads apart, all that follows from it would be wrong too.
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.english import count
from attncli.problem.axes import maker_of, width
from attncli.problem.keys import SCORES
from attncli.problem.model import Matrix
from attncli.problem.places import Places
from attncli.problem.values import ErrorCollector
from attncli.problem.written import without_part


def check_widths(
    given: Mapping[str, Matrix], heads: int | None, kv_heads: int | None, score: str, at: Places, errors: ErrorCollector
) -> None:
    """`heads` and `kv_heads` as they were written, if they were; what has its heads on an axis is left alone."""
    names = [maker_of(letter, given) for letter in "QKV"]
    if errors.count or any(given[name].ndim > 2 for name in names):
        return
    queries = heads or 1
    keys = kv_heads or queries
    d_q, d_k, d_v = (width(letter, given) for letter in "QKV")  # of all heads
    unequal = SCORES[score].is_dot and d_q * keys != d_k * queries
    unjoined = "W_O" in given and given["W_O"].shape[0] * keys != d_v * queries
    for name, other, cut in without_part(errors):
        if cut or unequal or unjoined:
            errors.add(
                f"takes all {count(given[name].shape[-1], 'column')} of an array that {other} is taken from, too",
                at=at[name], path=name, help=f"add part: {name[-1].lower()} if it holds those of q, k and v together",
            )  # fmt: skip
    if not errors.count and unequal and queries > 1 and not (queries % keys or d_q % queries):
        _check_key_heads(names[0], names[1], (d_q, d_k), (queries, keys), at, errors)


def _check_key_heads(
    query: str, key: str, widths: tuple[int, int], heads: tuple[int, int], at: Places, errors: ErrorCollector
) -> None:
    """As many heads of keys as their columns are, if each is as wide as one of queries."""
    (d_q, d_k), (queries, keys) = widths, heads
    found, rest = divmod(d_k, d_q // queries)
    if rest or not found or queries % found:
        return
    fewer = f" if {key} holds fewer heads than {query}" if found < queries else ", or leave it out"
    errors.add(
        f"has {count(d_k, 'column')} for {count(keys, 'head')} where {query} has {d_q} for {queries}",
        at=at[key], path=key, help=f"write kv_heads: {found}{fewer}",
    )  # fmt: skip
