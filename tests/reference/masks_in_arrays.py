"""Masks from a problem file, in full: what each query may see and what is added to its scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np


def visible_and_added(
    mask: Any, shape: tuple[int, ...], offset: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which keys each query may see, and what is added, both batch × head × query × key.

    They have at least these lengths, and more where the mask has its own batch or heads.
    """
    visible, added = np.ones(shape, dtype=bool), np.zeros(shape)
    i, j = np.indices(shape[2:])
    place = i + offset
    for form, value in parts(mask):
        if form == "causal":
            visible = visible & (j <= place)
        elif form == "window":
            left, right = value
            visible = visible & ((j >= place - left) | (left < 0))
            visible = visible & ((j <= place + right) | (right < 0))
        elif form in ("padding", "lengths"):
            visible = visible & existing(form, value, shape[-1])[:, None, None]
        elif form in ("keep", "hide"):
            visible = visible & (in_full(value) == (form == "keep"))
        elif form == "additive":
            added = added + in_full(value)
        elif form == "documents":
            visible = visible & same_document(np.atleast_2d(value), place)
        elif form == "chunk":
            visible = visible & (place // value == j // value)
        elif form == "first":
            visible = visible & (j < np.reshape(value, (-1, 1, 1, 1)))
        elif form == "any":
            shown = [visible_and_added(each, shape, offset)[0] for each in value]
            visible = visible & reduce(np.logical_or, shown)
        else:
            raise NotImplementedError(f'say in {__file__} what a "{form}" hides')
    return visible, added


def same_document(documents: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Whether the key is in the document of the key at the query's place; there may be no such
    key.
    """
    entries, keys = documents.shape
    there = (place >= 0) & (place < keys)
    entry = np.arange(entries)[:, None, None, None]
    own = documents[entry, place.clip(0, keys - 1)]
    found: np.ndarray = there & (own == documents[:, None, None])
    return found


def is_mask(mask: Any) -> bool:
    return next(parts(mask), None) is not None


def offsets(mask: Any, queries: int, keys: int, past: int) -> np.ndarray:
    """How far a query's position lies beyond its row, one number per batch entry: entries × 1 × 1 ×
    1.
    """
    if "bottom-right" not in corners(mask):
        return np.full((1, 1, 1, 1), past)
    exist = np.ones((1, keys), dtype=bool)
    for form, value in parts(mask):
        if form in ("padding", "lengths"):
            exist = exist & existing(form, value, keys)
    return exist.sum(axis=1).reshape(-1, 1, 1, 1) - queries


def existing(form: str, value: Any, keys: int) -> np.ndarray:
    """Which keys exist, a row for each batch entry, or one row for all."""
    if form == "padding":
        return np.atleast_2d(np.array(value, dtype=bool))
    return np.arange(keys) < np.reshape(value, (-1, 1))


def in_full(matrix: Any) -> np.ndarray:
    """A matrix of any rank with leading lengths of 1 up to batch × head × query × key."""
    array = np.array(matrix, dtype=object).astype(float)  # "-inf" is a number too
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def parts(mask: Any) -> Iterator[tuple[str, Any]]:
    """Each form with its value; a matrix alone keeps where it is of truth values, else it is
    added.
    """
    if mask in (None, "none"):
        return
    if mask == "causal":
        yield "causal", True
    elif isinstance(mask, dict):
        yield from (
            (form, value) for form, value in mask.items() if form != "corner" and value is not False
        )
    elif any(isinstance(part, str | dict) for part in mask):
        for part in mask:
            yield from parts(part)
    else:
        yield (
            ("keep" if isinstance(np.array(mask, dtype=object).flat[0], bool) else "additive"),
            mask,
        )


def corners(mask: Any) -> list[str]:
    """The corner wherever one is written."""
    if isinstance(mask, list):
        return [corner for part in mask for corner in corners(part)]
    if not isinstance(mask, dict):
        return []
    return [mask["corner"]] if "corner" in mask else corners(mask.get("any"))
