"""Checks that queries and keys can be compared: the arrays of a score are there and fit them."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.english import count, listed, shape_text
from attncli.problem.axes import maker_of, width
from attncli.problem.commas import advice_at
from attncli.problem.keys import SCORES
from attncli.problem.model import Matrix
from attncli.problem.places import Places
from attncli.problem.values import ErrorCollector


def check_score(given: Mapping[str, Matrix], score: str, at: Places, errors: ErrorCollector) -> None:
    """The arrays of a score are there and fit queries and keys, or these are equally long where it has none."""
    arrays = {array.name: array.letters for array in SCORES[score].arrays}
    lengths = {"p": width("Q", given), "k": width("K", given)}
    if SCORES[score].is_dot:
        _check_dot(given, lengths, at, errors)
        return
    for name in reversed([name for name in arrays if name in given]):
        for axis, length in zip(arrays[name], given[name].shape, strict=True):
            lengths.setdefault(axis, int(length))
    if missing := [name for name in arrays if name not in given]:
        said = [f"{name} of {_shape(name, score, lengths)}" for name in missing]
        errors.add(f"score: {score} needs {listed(missing)}", at=at["score"], help=f"give {listed(said)}")
        return
    others = [f", {list(arrays)[-1]} {length}" for axis, length in lengths.items() if axis not in ("p", "k")]
    for name, axes in arrays.items():
        found, needed = given[name].shape, tuple(lengths[axis] for axis in axes)
        if found != needed:
            errors.add(
                f"is {shape_text(found)} where {shape_text(needed)} is needed", at=at[name], path=name,
                help=f"a query has {count(lengths['p'], 'number')}, a key {lengths['k']}" + "".join(others),
            )  # fmt: skip


def _check_dot(given: Mapping[str, Matrix], lengths: Mapping[str, int], at: Places, errors: ErrorCollector) -> None:
    d_q, d_k = lengths["p"], lengths["k"]
    if d_q != d_k:
        key = maker_of("K", given)
        errors.add(
            f"a key has {count(d_k, 'number')} and a query {d_q}: their dot product needs equally many",
            at=at[key], path=key,
            help=f"make them equal, or write score: multiplicative with a W_a of {d_q}×{d_k}"
            + advice_at(errors, at, *(name for name in ("Q", "W_Q", "K", "W_K") if name in given)),
        )  # fmt: skip


def _shape(name: str, score: str, lengths: Mapping[str, int]) -> str:
    """The shape that a missing array would have; a length that no other array tells goes by the array that sets it."""
    arrays = {array.name: array.letters for array in SCORES[score].arrays}
    axes = arrays[name]
    if all(axis in lengths for axis in axes):
        shape = tuple(lengths[axis] for axis in axes)
        return shape_text(shape) if len(shape) > 1 else count(shape[0], "number")
    setting = list(arrays)[-1]
    free = "any length" if name == setting else f"the length of {setting}"
    return " × ".join(str(lengths.get(axis, free)) for axis in axes)
