"""Checks how arrays lie: the advice for weights that are turned or cut, and heads and entries that stand side by side.

With heads still side by side it shows that `kv_heads` or a `part` was forgotten; with heads apart, all that follows
from it would be wrong too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attncli.english import count
from attncli.problem.axes import PER_HEAD, PLACES, columns_from, letters_of, width
from attncli.problem.keys import SCORES, array_path
from attncli.problem.model import Matrix
from attncli.problem.nodes import Leaf, Sequence, truth
from attncli.problem.nodes import Mapping as Keyed
from attncli.problem.values import ErrorCollector, Places

WEIGHTS = ("W_Q", "W_K", "W_V")


def check_widths(
    given: Mapping[str, Matrix], heads: int | None, kv_heads: int | None, score: str, at: Places, errors: ErrorCollector
) -> None:
    """`heads` and `kv_heads` as they were written, if they were; what has its heads on an axis is left alone."""
    names = [columns_from(letter, given) for letter in "QKV"]
    if errors.count or any(given[name].ndim > 2 for name in names):
        return
    queries = heads or 1
    keys = kv_heads or queries
    d_q, d_k, d_v = (width(letter, given) for letter in "QKV")  # of all heads
    unequal = SCORES[score].equal_widths and d_q * keys != d_k * queries
    unjoined = "W_O" in given and given["W_O"].shape[0] * keys != d_v * queries
    for name, other, cut in _without_part(errors):
        if cut or unequal or unjoined:
            errors.add(
                f"takes all {count(given[name].shape[-1], 'column')} of an array that {other} is taken from, too",
                at=at[name], path=name, help=f"add part: {name[-1].lower()} if it holds those of q, k and v together",
            )  # fmt: skip
    if not errors.count and unequal and queries > 1 and not (queries % keys or d_q % queries):
        _check_key_heads(names[0], names[1], (d_q, d_k), (queries, keys), at, errors)


def check_leading(given: Mapping[str, Matrix], at: Places, errors: ErrorCollector) -> None:
    """As many entries and heads in one array as in the others that have them."""
    seen: dict[str, tuple[str, int]] = {}
    for name, matrix in given.items():
        if name in PER_HEAD:
            continue
        for letter, length in zip(letters_of(name, matrix.ndim), matrix.shape, strict=False):
            first, expected = seen.setdefault(letter, (name, length))
            if length != expected:
                word, path = PLACES[letter], array_path(name)
                errors.add(
                    f"has {count(length, word)} where {first} has {expected}", at=at[path], path=path,
                    help="a batch has equally many entries everywhere, and K and V equally many heads",
                )  # fmt: skip


def transpose_advice(name: str, fits_turned: bool, errors: ErrorCollector) -> str:
    """The end of a help line for weights whose rows and columns may be swapped; empty where that would not help.

    Of a part that was cut out of columns that are rows, the shape does not tell whether the whole would fit.
    """
    reference = _reference(name, errors)
    if not fits_turned and (reference is None or "part" not in reference.keys):
        return ""
    if reference is None:
        return f"; transpose {name} if it is laid out as in torch.nn.Linear"
    if "transpose" in reference.keys and truth(reference.values["transpose"]):
        return "; remove transpose: true if it is not laid out as in torch.nn.Linear"
    return "; write transpose: true if it is laid out as in torch.nn.Linear"


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


def _without_part(errors: ErrorCollector) -> Iterator[tuple[str, str, bool]]:
    """Weights that take the whole of an array from which others are taken, too: their name, that of another, and
    whether the other takes a part."""
    references = {name: found for name in WEIGHTS if (found := _reference(name, errors))}
    for name, reference in references.items():
        if "part" not in reference.keys:
            same = [each for each in references if each != name and _array(references[each]) == _array(reference)]
            cut = [each for each in same if "part" in references[each].keys]
            if same:
                yield name, (cut or same)[0], bool(cut)


def _reference(name: str, errors: ErrorCollector) -> Keyed | None:
    """The mapping that names an array in a file, where that is how it was given."""
    node = errors.root.values.get(name) if isinstance(errors.root, Keyed) else None
    return node if isinstance(node, Keyed) and "file" in node.keys else None


def _array(reference: Keyed) -> list[list[str]]:
    """What says which array is meant, as texts that can be compared."""
    named = [reference.values[key] for key in ("file", "name", "index") if key in reference.keys]
    items = [node.items if isinstance(node, Sequence) else [node] for node in named]
    return [[item.text for item in each if isinstance(item, Leaf)] for each in items]
