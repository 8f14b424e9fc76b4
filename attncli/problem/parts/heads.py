"""Heads: those that stand side by side, as in W_Q of d_model × (heads·d_k), get an axis of their
own; and their checks.

With heads still side by side it shows that `kv_heads` or a `part` was forgotten; with heads apart,
all that follows from it would be wrong too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from attncli.english import count, listed
from attncli.problem.keys import ARRAYS, SCORES, array_path
from attncli.problem.matrix import Matrix
from attncli.problem.parts.axes import (
    OF_KEYS,
    OF_QUERIES,
    PER_HEAD,
    PLACES,
    Shaped,
    axes_of,
    columns_from,
    letters_of,
    width,
)
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode
from attncli.problem.text.reading import Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROJECTION_WEIGHTS = ("W_Q", "W_K", "W_V")


def split_heads(
    given: Mapping[str, Matrix], heads: int | None, kv_heads: int | None, reading: Reading
) -> tuple[dict[str, Matrix], bool]:
    """The arrays with a head axis before their rows, and whether those of queries got theirs here,
    out of columns.

    `heads` and `kv_heads` are as they were written, if they were.

    What is stacked already stays as it is. What has no heads while others do is for all of them,
    unless heads are written out. What does not fit is reported.
    """
    stacked = {"heads": _stacked(given, "Q")}
    stacked["kv_heads"] = _stacked(given, "K", *(() if heads else ("V", "past_K", "past_V")))
    for key, said in (("heads", heads), ("kv_heads", kv_heads)):
        name, found = stacked[key]
        if said and found and said != found:
            reading.wrong(
                key,
                f"is {said}, but {name} has {count(found, 'head')}",
                f"write {key}: {found}, or leave it out: the last axis but two of {name} is that of"
                f" its heads{_exchange(given, heads, kv_heads)}",
            )
            return dict(given), False
    (_, of_queries), (name, of_keys) = stacked.values()
    queries = heads or of_queries or 1
    keys = kv_heads or of_keys or (queries if heads else 1)
    if kv_heads:
        path = "kv_heads"
    elif heads and not of_queries:
        path = "heads"
    else:
        path = array_path(name)
    if not (of_queries or heads) and keys > 1:
        reading.wrong(
            path,
            f"there are {count(keys, 'head')} of keys and values, but the queries have no heads",
            f"write heads: {keys} for the queries, or a multiple of it",
        )
    elif queries % keys:
        reading.wrong(
            path,
            f"{count(queries, 'query head')} cannot be divided evenly among {count(keys, 'head')}"
            " of keys and values",
            f"heads must be a multiple of kv_heads: {keys}, {2 * keys}, …"
            f"{_exchange(given, heads, kv_heads)}",
        )
    elif reading.errors.count == 0:
        split = {}
        for name, matrix in given.items() if queries > 1 and (heads or kv_heads) else ():
            if name in (*OF_QUERIES, *OF_KEYS) and matrix.ndim == len(ARRAYS[name].letters):
                key, number = ("heads", queries) if name in OF_QUERIES else ("kv_heads", keys)
                split[name] = _split(name, matrix, number, key, reading)
        return {**given, **split}, not split.keys().isdisjoint(("Q", "W_Q"))
    return dict(given), False


# Whose axes of heads and rows may be in the other order: of all, of the queries, or of the rest.
_EXCHANGED = (("Q", "K", "V"), ("Q",), ("K", "V"))


def _exchange(given: Mapping[str, Matrix], heads: int | None, kv_heads: int | None) -> str:
    """More help for heads that do not fit: which arrays would, if their heads stood behind their
    rows, as in JAX; empty where none would.
    """
    shapes = {name: given[name].shape for name in "QKV" if name in given and given[name].ndim > 2}
    if len(shapes) < 3:
        return ""
    for names in _EXCHANGED:
        turned = dict(shapes)
        for name in names:
            *outer, rows, of_heads, width = shapes[name]
            turned[name] = (*outer, of_heads, rows, width)
        if _fit(turned, heads, kv_heads):
            saved = ", ".join(f"{name}.swapaxes(-3, -2)" for name in names)
            have = "has its heads" if len(names) == 1 else "have their heads"
            return (
                f"; heads stand before rows here: if {listed(names)} {have} behind, as in JAX and"
                f" flash-attention, save {saved}"
            )
    return ""


def _fit(shapes: Mapping[str, tuple[int, ...]], heads: int | None, kv_heads: int | None) -> bool:
    """Whether these are heads × rows × features that belong together."""
    of_queries = shapes["Q"][-3]
    of_keys = shapes["K"][-3]
    is_one_cache = shapes["K"][-3:-1] == shapes["V"][-3:-1]
    are_shared = of_queries % of_keys == 0

    queries_as_said = heads in (None, of_queries)
    keys_as_said = kv_heads in (None, of_keys)
    return is_one_cache and are_shared and queries_as_said and keys_as_said


def check_widths(
    given: Mapping[str, Shaped],
    heads: int | None,
    kv_heads: int | None,
    score: str,
    reading: Reading,
) -> None:
    """`heads` and `kv_heads` as they were written, if they were; what has its heads on an axis is
    left alone.
    """
    names = [columns_from(letter, given) for letter in "QKV"]
    if reading.errors.count or any(name not in given for name in names):
        # An equation makes what is not there.
        return
    if any(given[name].ndim > 2 for name in names):
        return
    queries = heads or 1
    keys = kv_heads or queries
    # These widths are those of all heads together.
    d_q, d_k, d_v = (width(letter, given) for letter in "QKV")
    unequal = SCORES[score].equal_widths and d_q * keys != d_k * queries
    unjoined = "W_O" in given and given["W_O"].shape[0] * keys != d_v * queries
    for name, other, cut in _without_part(reading):
        if cut or unequal or unjoined:
            reading.wrong(
                name,
                f"takes all {count(given[name].shape[-1], 'column')} of an array, and so does"
                f" {other}",
                f"add part: {name[-1].lower()} if it holds those of q, k and v together",
            )
    if (
        not reading.errors.count
        and unequal
        and queries > 1
        and not (queries % keys or d_q % queries)
    ):
        _check_key_heads(names[0], names[1], (d_q, d_k), (queries, keys), reading)


def check_heads_are_there(given: Mapping[str, Shaped], heads: int | None, reading: Reading) -> None:
    """Some array has the heads that were written, where equations make queries, keys and values."""
    if heads and heads > 1 and not axes_of(given).has_heads:
        reading.wrong(
            "heads",
            f"is {heads}, but nothing has an axis of heads",
            "give W_Q with the columns of all heads, or arrays of equations with the letter h",
        )


def check_leading(given: Mapping[str, Shaped], reading: Reading) -> None:
    """As many entries and heads in one array as in the others that have them."""
    seen: dict[str, tuple[str, int]] = {}
    for name, matrix in given.items():
        if name in PER_HEAD:
            continue
        for letter, length in zip(letters_of(name, matrix.ndim), matrix.shape, strict=False):
            first, expected = seen.setdefault(letter, (name, length))
            if length != expected:
                word, path = PLACES[letter], array_path(name)
                reading.wrong(
                    path,
                    f"has {count(length, word)}, but {first} has {expected}",
                    "all arrays of a batch must have the same number of entries, and K and V the"
                    " same number of heads",
                )


def check_per_head(given: Mapping[str, Shaped], reading: Reading) -> None:
    """One slope and one sink for each head."""
    heads = axes_of(given).number
    for name in PER_HEAD:
        if name in given and (length := given[name].shape[0]) != heads:
            reading.wrong(
                array_path(name),
                f"{count(length, 'number')} for {count(heads, 'head')}",
                "give one number for each head",
            )


def _stacked(given: Mapping[str, Matrix], *names: str) -> tuple[str, int]:
    """The first of these that has its heads on an axis of their own, and how many; 0 where none
    has.
    """
    found = (
        (name, int(given[name].shape[-3]))
        for name in names
        if name in given and given[name].ndim > 2
    )
    return next(found, (names[0], 0))


def _split(name: str, matrix: Matrix, heads: int, key: str, reading: Reading) -> Matrix:
    columns = matrix.shape[-1]
    if columns % heads:
        reading.wrong(
            array_path(name),
            f"its {count(columns, 'column' if matrix.ndim > 1 else 'number')} cannot be split into "
            f"{count(heads, 'head')}",
            f"make them a multiple of {key} ({heads})",
        )
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


def _check_key_heads(
    query: str, key: str, widths: tuple[int, int], heads: tuple[int, int], reading: Reading
) -> None:
    """As many heads of keys as their columns are, if each is as wide as one of queries."""
    (d_q, d_k), (queries, keys) = widths, heads
    found, rest = divmod(d_k, d_q // queries)
    if rest or not found or queries % found:
        return
    fewer = f" if {key} holds fewer heads than {query}" if found < queries else ", or leave it out"
    reading.wrong(
        key,
        f"has {count(d_k, 'column')} for {count(keys, 'head')}, but {query} has {d_q} for"
        f" {queries}",
        f"write kv_heads: {found}{fewer}",
    )


def _without_part(reading: Reading) -> Iterator[tuple[str, str, bool]]:
    """Weights that take the whole of an array from which others are taken, too: their name, that of
    another, and whether the other takes a part.
    """
    references = {name: found for name in PROJECTION_WEIGHTS if (found := reading.stored(name))}
    for name, reference in references.items():
        if "part" not in reference.keys:
            same = [
                each
                for each in references
                if each != name and _array(references[each]) == _array(reference)
            ]
            cut = [each for each in same if "part" in references[each].keys]
            if same:
                yield name, (cut or same)[0], bool(cut)


def _array(reference: MappingNode) -> list[list[str]]:
    """What says which array is meant, as texts that can be compared."""
    texts = []
    for key in ("file", "name", "index"):
        if key in reference.keys:
            node = reference.values[key]
            items = node.items if isinstance(node, ListNode) else [node]
            texts.append([item.text for item in items if isinstance(item, Leaf)])
    return texts
