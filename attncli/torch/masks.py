"""The mask of a recorded call, as a problem writes it: in words where it is a known one, else as a matrix."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Mask: TypeAlias = "str | dict[str, Any] | NDArray[Any]"
_HIDING = -1e4  # models write -inf as -1e4, -1e9 or the most negative number of a format, and may add a bias to it
_NEVER_A_BIAS = -1e30


def written_mask(mask: NDArray[Any] | None, causal: bool, queries: int, keys: int) -> Mask:
    """The `mask` of a problem for what PyTorch was given: None, true and false (true may attend), or what is added.

    `causal` is PyTorch's `is_causal`: key j is visible to query i where j ≤ i.
    """
    visible = np.tri(queries, keys, dtype=bool) if causal else np.ones((queries, keys), dtype=bool)
    if mask is None:
        return _in_words(visible)
    if mask.dtype == bool:
        return _in_words(_squeezed(mask & visible))
    hidden = mask <= _hiding(mask)
    visible = ~hidden & visible
    added = np.where(visible, mask, 0)
    if not added.any():
        return _in_words(_squeezed(visible))
    return {"additive": _squeezed(np.where(visible, mask, -np.inf))}


def _hiding(mask: NDArray[Any]) -> float:
    """What is added hides its key up to this number: the smallest in the mask, or near it, where that is no bias."""
    smallest = float(mask.min(initial=0))
    return max(smallest / 2, _NEVER_A_BIAS) if smallest <= _HIDING else -np.inf


def _squeezed(mask: NDArray[Any]) -> NDArray[Any]:
    """The mask without leading axes that say nothing: of size 1, or the same for all heads."""
    while mask.ndim > 2 and (mask == mask[:1]).all():
        mask = mask[0]
    return mask


def _in_words(visible: NDArray[Any]) -> Mask:
    """The words for a mask that has some: none, causal, a window, padding, and these together."""
    if visible.all():
        return "none"
    if visible.ndim > 2:
        return {"keep": visible}
    exist = visible.any(axis=0)
    shapes = _shapes(visible)
    for words, shape in shapes:
        if (visible == shape).all():
            return "causal" if words == {"causal": True} else words
    for words, shape in shapes:
        # with padding, bottom-right counts from the last key that exists
        if words.get("corner") != "bottom-right" and (visible == (shape & exist)).all():
            return words | {"padding": exist.astype(int).tolist()}
    return {"keep": visible}


def _shapes(visible: NDArray[Any]) -> list[tuple[dict[str, Any], NDArray[Any]]]:
    """The masks that have a word, with the word: all keys, causal at either corner, and causal with a window."""
    queries, keys = visible.shape
    found: list[tuple[dict[str, Any], NDArray[Any]]] = [({}, np.ones_like(visible))]
    left = int(visible.sum(axis=1).max()) - 1
    corners = {"top-left": 0, "bottom-right": keys - queries} if keys != queries else {"": 0}
    for corner, offset in corners.items():
        words: dict[str, Any] = {"causal": True} | ({"corner": corner} if corner else {})
        past = np.tri(queries, keys, offset, dtype=bool)
        found.append((words, past))
        found.append((words | {"window": [left, 0]}, past & ~np.tri(queries, keys, offset - left - 1, dtype=bool)))
    return found
