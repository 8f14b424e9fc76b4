"""Whether what a score_mod adds is ALiBi."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.attention.changes_of_scores import is_close
from attncli.equation.evaluator import Evaluator
from attncli.features.mask.scores import ScoreForm, rounded
from attncli.problem.matrix import Scalar
from attncli.problem.parts.axes import HEAD
from attncli.problem.parts.offset import Offset
from attncli.problem.parts.positions.alibi import Alibi
from attncli.problem.parts.positions.position import PositionSizes


class Slopes(NamedTuple):
    """The slope of each head.

    `are_usual` where they are those that attncli has for so many heads. `is_abs` says that keys
    behind the query lose as much as keys before it, as in attncli; else they gain it.
    """

    numbers: tuple[float, ...]
    are_usual: bool
    is_abs: bool


def slopes_of(score: ScoreForm, shift: int) -> Slopes | None:
    """The slopes where what is added grows with the distance between query and key, whose positions
    are counted from `shift` and 0; None where it does not.
    """
    if score.added is None:
        return None
    heads, queries, keys = score.visible.shape[1:]
    distances = np.arange(queries)[:, None] + shift - np.arange(keys)
    for reach in (np.abs(distances), distances):
        slopes = [_slope(score, head, reach) for head in range(heads)]
        numbers = tuple(each for each in slopes if each is not None)
        if len(numbers) == heads:
            are_usual = is_close(np.array(numbers), usual_slopes(heads))
            return Slopes(numbers, are_usual, is_abs=reach is not distances)
    return None


def _slope(score: ScoreForm, head: int, distances: NDArray[np.int64]) -> float | None:
    """What a score of this head loses for each position; None where that is not one number."""
    assert score.added is not None
    visible = score.visible[:, head]
    added = score.added[:, head][visible]
    apart = np.broadcast_to(distances, visible.shape)[visible]
    if not apart.any():
        return None
    farthest = int(np.abs(apart).argmax())
    slope = float(-added[farthest] / apart[farthest])
    if slope <= 0 or not is_close(-slope * apart, added):
        return None
    return rounded(slope)


def usual_slopes(heads: int) -> NDArray[np.float64]:
    """The slopes that attncli has for so many heads."""
    sizes = PositionSizes(1, 1, 0, 1, heads, Offset((0,)), frozenset())
    scalars = {}
    for name, given in Alibi().parameters(sizes).items():
        assert isinstance(given, Scalar)
        scalars[name] = given.value
    if heads == 1:
        return np.array([scalars["slopes"]])
    evaluator = Evaluator(np, {}, scalars, {HEAD: heads}, np.float64)
    found: NDArray[np.float64] = evaluator.result(Alibi.usual_slopes(heads).equation)
    return found
