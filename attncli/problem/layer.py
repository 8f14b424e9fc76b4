"""Checks what a layer has around Q, K and V: its heads and batch entries, a cache, positions, sinks and W_O."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.english import count, shape_text
from attncli.problem.axes import PER_HEAD, PLACES, axes_of, letters_of, width
from attncli.problem.model import Matrix, Rope
from attncli.problem.places import Places, path, place
from attncli.problem.values import ErrorCollector
from attncli.problem.written import transpose_advice


def check_leading(given: Mapping[str, Matrix], at: Places, errors: ErrorCollector) -> None:
    """As many entries and heads in one array as in the others that have them."""
    seen: dict[str, tuple[str, int]] = {}
    for name, matrix in given.items():
        if name in PER_HEAD:
            continue
        for letter, length in zip(letters_of(name, matrix.ndim), matrix.shape, strict=False):
            first, expected = seen.setdefault(letter, (name, length))
            if length != expected:
                word = PLACES[letter]
                errors.add(
                    f"has {count(length, word)} where {first} has {expected}", at=place(name, at), path=path(name),
                    help="a batch has equally many entries everywhere, and K and V equally many heads",
                )  # fmt: skip


def check_past(given: Mapping[str, Matrix], at: Places, errors: ErrorCollector) -> None:
    """A cache is as wide as the new keys and values, and holds a value for every key."""
    for name in "KV":
        cached, new = given[f"past_{name}"].shape[-1], width(name, given)
        if cached != new:
            heads = axes_of(given).kv_heads or 1
            each = f", in each of {heads} heads" if heads > 1 else ""
            errors.add(
                f"has rows of {cached} where {name} has rows of {new}{each}",
                at=at[f"past.{name}"], path=f"past.{name}",
                help="a cache is put before the new rows, so it must be as wide",
            )  # fmt: skip
    keys, values = (given[f"past_{name}"].shape[-2] for name in "KV")
    if keys != values:
        errors.add(
            f"has {count(values, 'row')} where past.K has {keys}", at=at["past.V"], path="past.V",
            help="every cached key needs its value",
        )  # fmt: skip


def check_output(given: Mapping[str, Matrix], at: Places, errors: ErrorCollector) -> None:
    """W_O projects all heads side by side."""
    heads = axes_of(given).number
    wide = heads * width("V", given)
    if "W_O" in given and (found := given["W_O"].shape)[0] != wide:
        said = f"{heads} heads of {count(width('V', given), 'value')}" if heads > 1 else "a value"
        turned = transpose_advice("W_O", found[1] == wide, errors)
        errors.add(
            f"is {shape_text(found)}, but {said} {'have' if heads > 1 else 'has'} {count(wide, 'number')}",
            at=at["W_O"], path="W_O", help=f"W_O needs {count(wide, 'row')}{turned}",
        )  # fmt: skip
    if "b_O" in given:
        if "W_O" not in given:
            errors.add("has no projection to be added to", at=at["b_O"], path="b_O", help="give W_O, or remove b_O")
        elif (length := given["b_O"].shape[0]) != (columns := given["W_O"].shape[1]):
            errors.add(
                f"has {count(length, 'number')}, but W_O has {count(columns, 'column')}", at=at["b_O"], path="b_O",
                help="give one number for each column of W_O",
            )  # fmt: skip


def check_positions(given: Mapping[str, Matrix], rope: Rope | None, at: Places, errors: ErrorCollector) -> None:
    """Pairs to turn, and one slope and one sink for each head."""
    if rope:
        d_q, d_k = width("Q", given), width("K", given)
        if d_k % 2 or d_q != d_k:
            said = f"a key has {count(d_k, 'number')}" + ("" if d_q == d_k else f" and a query {d_q}")
            errors.add(
                f"{said}: rope turns pairs of them", at=at["position.rope"], path="position.rope",
                help="queries and keys must have the same even number of features in each head",
            )  # fmt: skip
    heads = axes_of(given).number
    for name in PER_HEAD:
        if name in given and (length := given[name].shape[0]) != heads:
            errors.add(
                f"{count(length, 'number')} for {count(heads, 'head')}", at=place(name, at), path=path(name),
                help="give one number for each head",
            )  # fmt: skip
