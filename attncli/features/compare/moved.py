"""Which weights moved where: for each query, how much of its attention went from which keys to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.tracing.difference import doubles

NAMED = 3  # keys on each side of a move; the others are summed up


@dataclass(frozen=True, slots=True)
class Shift:
    """What one key lost or gained: `amount` is a share of all attention, from 0 to 1."""

    key: int
    amount: float


@dataclass(frozen=True, slots=True)
class Moved:
    """One row of weights: `row` is the query's index, after those of batch and head where there are any.

    `amount` is the share that went elsewhere; `lost` and `gained` are the keys of the largest changes, the rest is
    `others_lost` and `others_gained` (how many keys, how much). `sums` are those of the row on either side.
    """

    row: tuple[int, ...]
    amount: float
    lost: tuple[Shift, ...]
    gained: tuple[Shift, ...]
    others_lost: tuple[int, float]
    others_gained: tuple[int, float]
    sums: tuple[float, float]


def moved(a: NDArray[Any], b: NDArray[Any], tolerance: float) -> tuple[Moved, ...]:
    """The rows of weights of which more than the tolerance went elsewhere, the largest move first.

    `a` and `b` have one shape, … × queries × keys. Rows that are not finite on both sides are left out.
    """
    a, b = doubles(a), doubles(b)
    with np.errstate(all="ignore"):
        change = np.where(np.isfinite(a).all(axis=-1, keepdims=True), b - a, np.nan)
        amounts = np.maximum(np.maximum(change, 0).sum(axis=-1), np.maximum(-change, 0).sum(axis=-1))
        rows = np.argwhere(np.isfinite(amounts) & (amounts > tolerance))
    heaviest = sorted((tuple(map(int, row)) for row in rows), key=lambda row: (-round(float(amounts[row]), 12), row))
    return tuple(_move(row, change[row], float(amounts[row]), a[row], b[row], tolerance) for row in heaviest)


def _move(
    row: tuple[int, ...],
    change: NDArray[np.float64],
    amount: float,
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    tolerance: float,
) -> Moved:
    lost, others_lost = _largest(-change, tolerance)
    gained, others_gained = _largest(change, tolerance)
    with np.errstate(all="ignore"):
        sums = float(a.sum()), float(b.sum())
    return Moved(row, amount, lost, gained, others_lost, others_gained, sums)


def _largest(change: NDArray[np.float64], tolerance: float) -> tuple[tuple[Shift, ...], tuple[int, float]]:
    """The largest changes by key, and how many others there are, with their sum."""
    keys = np.flatnonzero(change > tolerance)
    with np.errstate(over="ignore"):  # what is no share of anything becomes infinite
        keys = keys[np.argsort(-np.round(change[keys], 12), kind="stable")]
    named = len(keys) if len(keys) == NAMED + 1 else NAMED  # "1 other" would take as much room as its name
    shifts = tuple(Shift(int(key), float(change[key])) for key in keys[:named])
    return shifts, (len(keys[named:]), float(change[keys[named:]].sum()))
