"""What is said of a function whose mistake has no name: where it differs, and where it is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncli.testing.diagnosis import explanations, unexplained
from attncli.testing.pattern import only_where, right_part
from tests.testing.in_process import results_of

Array = np.ndarray[Any, np.dtype[Any]]


def right(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Array:
    wide = [array.astype(np.promote_types(array.dtype, np.float32)) for array in (q, k, v)]
    scores = wide[0] @ np.swapaxes(wide[1], -1, -2) * (scale or q.shape[-1] ** -0.5)
    if mask is not None:
        scores = np.where(mask != 0, scores, -np.inf)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]), scores, -np.inf)
    top = np.max(scores, axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = powers.sum(axis=-1, keepdims=True)
    found: Array = powers / np.where(total == 0, 1, total) @ wide[2]
    return found.astype(q.dtype)


def causal_and_shorter(q: Array, k: Array, v: Array, is_causal: bool = False) -> Array:
    found = right(q, k, v, is_causal=is_causal)
    return found * 1.5 if is_causal and q.shape[-2] < k.shape[-2] else found


def with_a_scale(q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
    return right(q, k, v, scale=scale) * (1.5 if scale else 1)


def in_halves(q: Array, k: Array, v: Array, is_causal: bool = False) -> Array:
    return right(q, k, v, is_causal=is_causal) * np.array(1.5 if q.dtype == np.float16 else 1)


def with_masks_of_entries(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    is_of_entries = mask is not None and mask.ndim == 4 and mask.shape[0] > 1
    return right(q, k, v, mask) * (1.5 if is_of_entries else 1)


def everywhere(q: Array, k: Array, v: Array) -> Array:
    return right(q, k, v) * 1.5


@pytest.mark.long
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            causal_and_shorter,
            "It differs only where a causal mask is asked for and there are fewer queries than"
            " keys.",
        ),
        (with_a_scale, "It differs only where a scale is given."),
        (with_masks_of_entries, "It differs only where the masks of entries differ."),
        (everywhere, None),
    ],
)
def test_where_it_differs(function: Callable[..., Array], words: str | None) -> None:
    results = results_of(function)
    left = unexplained(results, explanations(results))
    assert left
    assert only_where(results, left) == words


@pytest.mark.long
def test_only_in_float16() -> None:
    results = results_of(in_halves)
    left = unexplained(results, explanations(results))
    assert only_where(results, left) == "It differs only where numbers are in float16."


def beside(place: tuple[Any, ...]) -> Callable[[Array, Array, Array], Array]:
    """A function that is wrong at one place of its output."""

    def function(q: Array, k: Array, v: Array) -> Array:
        found = right(q, k, v)
        found[place] += 1
        return found

    return function


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((slice(1, None),), "The first entry is right in each."),
        ((slice(None), slice(1, None)), "The first head is right in each."),
        ((..., 0), "Only the first feature is wrong in each."),
        ((..., slice(-1, None)), "The first feature is right in each."),
        ((...,), None),
    ],
)
def test_which_part_is_right(place: tuple[Any, ...], words: str | None) -> None:
    results = results_of(beside(place))
    assert right_part(unexplained(results, explanations(results))) == words
