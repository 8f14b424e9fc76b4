"""The mask of a recorded call, as a problem writes it: in words where it is a known one, else as a
matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

WrittenMask: TypeAlias = "str | dict[str, Any] | NDArray[Any]"
# So many epsilons of a number change it when they are added, and a few times less do not.
_EPSILONS_THAT_COUNT = 4.0
# The power of e to less than minus this is 0 in every number format.
VANISHING_EXPONENT = 746.0


class Reach(NamedTuple):
    """How far scores can bring a key back that a large negative number should hide.

    `score` is a bound of their size. `epsilon` is that of the number format in which mask and
    scores are added, and `lowest` the most negative number of the mask's format.
    """

    score: float
    epsilon: float
    lowest: float

    def hidden(self, added: NDArray[Any]) -> NDArray[Any]:
        """Which entries hide their key, whatever the scores of its row: true and false, in the
        shape of `added`.

        - An entry does that is below the largest of its row by more than two scores can differ: its
          weight is 0 beside the other's. A number of -1e4 does it in a row that has a 0 as well,
          and a bias near -1e4 everywhere does not.
        - All entries of a row do, if the largest is so low that adding a score does not change it,
          and the others are the same, or lower by half and more: so models write a query that is
          padding and sees nothing.
        """
        largest = added.max(axis=-1, keepdims=True, initial=-np.inf)
        most_apart = 2 * self.score + VANISHING_EXPONENT
        beaten = added < largest - most_apart
        swallows_scores = -max(self.score, 1.0) * _EPSILONS_THAT_COUNT / self.epsilon
        low = largest <= max(self.lowest, swallows_scores)
        same = 1 + _EPSILONS_THAT_COUNT * self.epsilon
        is_lower = added / same < largest
        is_less_than_half_lower = added / 1.5 > largest
        others = is_lower & is_less_than_half_lower
        sees_nothing = low & ~others.any(axis=-1, keepdims=True)
        found: NDArray[Any] = np.isneginf(added) | beaten | sees_nothing
        return found


def written_mask(
    mask: NDArray[Any] | None, causal: bool, queries: int, keys: int, reach: Reach
) -> WrittenMask:
    """The `mask` of a problem for what PyTorch was given: None, true and false (true may attend),
    or what is added.

    `causal` is PyTorch's `is_causal`: key j is visible to query i where j ≤ i. `reach` says what an
    added number hides.
    """
    visible = np.ones((queries, keys), dtype=bool)
    if causal:
        visible = np.tri(queries, keys, dtype=bool)
    if mask is None:
        return _in_words(visible)
    if mask.dtype == bool:
        return _in_words(_squeezed(mask & visible))
    added = np.where(visible, mask.astype(np.float64), -np.inf)
    visible = ~reach.hidden(added)
    if not added[visible].any():
        return _in_words(_squeezed(visible))
    written = np.where(visible, mask, -np.inf)
    return {"additive": _squeezed(written)}


def _squeezed(mask: NDArray[Any]) -> NDArray[Any]:
    """The mask without leading axes that say nothing: of size 1, or the same for all heads."""
    while mask.ndim > 2 and (mask == mask[:1]).all():
        mask = mask[0]
    return mask


def _in_words(visible: NDArray[Any]) -> WrittenMask:
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
        # With padding, bottom-right counts from the last key that exists.
        if words.get("corner") != "bottom-right" and (visible == (shape & exist)).all():
            return words | {"padding": exist.astype(int).tolist()}
    return {"keep": visible}


def _shapes(visible: NDArray[Any]) -> list[tuple[dict[str, Any], NDArray[Any]]]:
    """The masks that have a word, with the word: all keys, causal at either corner, and causal with
    a window.
    """
    queries, keys = visible.shape
    found: list[tuple[dict[str, Any], NDArray[Any]]] = [({}, np.ones_like(visible))]
    left = int(visible.sum(axis=1).max()) - 1
    corners = {"top-left": 0, "bottom-right": keys - queries} if keys != queries else {"": 0}
    for corner, offset in corners.items():
        words: dict[str, Any] = {"causal": True}
        if corner:
            words["corner"] = corner
        past = np.tri(queries, keys, offset, dtype=bool)
        found.append((words, past))
        # -1 would say that the window has no end.
        if left >= 0:
            before_window = np.tri(queries, keys, offset - left - 1, dtype=bool)
            in_words = words | {"window": [left, 0]}
            found.append((in_words, past & ~before_window))
    return found
