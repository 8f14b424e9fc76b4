"""What a mask hides, on any array namespace: over which cells of the weights, and where -inf is there on purpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attncli.attention.rule import Rule
from attncli.equation.evaluator import Array


def over(cells: Array, own: Sequence[str], letters: Sequence[str], shape: Sequence[int], xp: Any) -> Array:
    """Cells of a step whose letters are its `own`, repeated along those of a larger array of this shape."""
    sizes = tuple(size if letter in own else 1 for letter, size in zip(letters, shape, strict=True))
    return xp.broadcast_to(xp.reshape(cells, sizes), tuple(shape))


def meant_infinite(rule: Rule, value: Array, hidden: Array | None, xp: Any) -> Array | None:
    """Where a step may be -inf: in the cells that a mask hides, and in a row of which it hides all; None for nowhere.

    `hidden` are these cells, over the weights.
    """
    if hidden is None:
        return None
    if rule.name == "mask":
        return value == -math.inf
    if rule.axes[-2:] == ("query", "key") and value.shape == hidden.shape:
        return hidden
    if rule.axes[-1:] == ("query",):
        return xp.all(hidden, axis=-1)
    return None
