"""How far two arrays are apart: in how many cells, where most, and whether one is the other in disguise."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

SENTINEL = -1e4  # from here down, a finite number in a mask is meant to hide, as -inf does
LEAST = 0.01  # typical size of an array of smaller numbers, which may be what roundings leave of larger ones


@dataclass(frozen=True, slots=True)
class Difference:
    """Two arrays of one shape, cell by cell.

    Of `cells` cells, `differing` are farther apart than the tolerance allows. `absolute` is the largest |a − b| and
    `relative` the largest |a − b| / max(|a|, |b|), over the cells that differ, or over all where none does; `where`
    is the cell of the largest |a − b| among these, with the numbers `a` and `b`. What is infinite or no number on one
    side alone is infinitely far. `needed` is the smallest tolerance with which nothing differs. `hidden` cells are
    -inf on one side and a large negative number, such as `sentinel`, on the other: hidden both ways, so no difference.
    """

    cells: int
    differing: int
    absolute: float
    relative: float
    where: tuple[int, ...]
    a: float
    b: float
    needed: float
    hidden: int = 0
    sentinel: float = 0.0

    @property
    def relative_there(self) -> float:
        """|a − b| / max(|a|, |b|) of the cell `where`; another cell may have the largest."""
        return self.absolute / max(abs(self.a), abs(self.b)) if 0 < self.absolute < inf else self.absolute


def difference(a: NDArray[Any], b: NDArray[Any], tolerance: float, *, hides: bool = False) -> Difference:
    """Compare two arrays of one shape: cells differ where |a − b| > tolerance · (typical + max(|a|, |b|)).

    The typical size is the root mean square of the array, the larger of the two, and at least `LEAST`: roundings are
    as large as the numbers that were added up, which are those of the whole array rather than of one cell. `hides`
    says that the numbers are those of a mask or of masked scores, where -inf and a large negative number
    both hide. NaN agrees with NaN, and an infinity with itself.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
        size = np.maximum(np.abs(a), np.abs(b))
        apart[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
        apart[np.isnan(apart)] = inf
        hidden = _hidden_both_ways(a, b) if hides else np.zeros(a.shape, dtype=bool)
        apart[hidden] = 0
        typical = max(LEAST, _typical(a, hides), _typical(b, hides))
        needed = np.where(apart == inf, inf, apart / (typical + size))
        needed[apart == 0] = 0
        relative = np.where(apart == inf, inf, apart / size)
        relative[apart == 0] = 0
    differing = needed > tolerance
    count = int(differing.sum())
    counted = differing if count else np.ones(a.shape, dtype=bool)
    where = tuple(map(int, np.unravel_index(np.argmax(np.where(counted, apart, -1)), a.shape)))
    sentinels = np.maximum(a, b)[hidden]
    return Difference(
        a.size, count, float(apart[where]), float(relative[counted].max()), where, float(a[where]), float(b[where]),
        float(needed.max()), int(hidden.sum()), float(sentinels[0]) if sentinels.size else 0.0,
    )  # fmt: skip


def factor(a: NDArray[Any], b: NDArray[Any], tolerance: float, *, hides: bool = False) -> float | None:
    """c where every cell of b is c times that of a, and c is not 1; None where there is no such number.

    `hides` leaves out the cells that are hidden both ways.
    """
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    if hides:
        seen = ~_hidden_both_ways(a, b)
        a, b = a[seen], b[seen]
    finite = np.isfinite(a) & np.isfinite(b)
    if not (np.where(finite, 0, a) == np.where(finite, 0, b)).all() or np.count_nonzero(a[finite]) < 2:
        return None
    a, b = a[finite], b[finite]
    largest = np.argmax(np.abs(a))
    ratio = float(b[largest] / a[largest])
    if ratio == 0 or abs(ratio - 1) <= tolerance or difference(a * ratio, b, tolerance).differing:
        return None
    return ratio


def _hidden_both_ways(a: Numbers, b: Numbers) -> NDArray[np.bool_]:
    both: NDArray[np.bool_] = (a <= SENTINEL) & (b <= SENTINEL) & (np.isneginf(a) != np.isneginf(b))
    return both


def _typical(array: Numbers, hides: bool) -> float:
    """The root mean square of the numbers that are finite and, in a mask, do not hide."""
    counted = np.abs(array[np.isfinite(array) & ((array > SENTINEL) | (not hides))])
    largest = float(counted.max(initial=0))
    return largest * float(np.sqrt(np.mean((counted / largest) ** 2))) if largest else 0.0
