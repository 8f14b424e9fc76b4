"""How far two arrays are apart: in how many cells, where most, and whether one is the other in
disguise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.tracing.warnings import HIGHEST_SENTINEL

Numbers = NDArray[np.float64]
# of the cells on either side, as far as they are known
Sizes: TypeAlias = tuple[Numbers | None, Numbers | None]
# where -inf and a large negative number both hide: beside a row, or alone
Hides: TypeAlias = Literal["row", "cell"]

# typical size of an array of smaller numbers, which may be what roundings leave of larger ones
LEAST = 0.01
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two arrays of one shape, cell by cell.

    Of `cells` cells, `differing` are farther apart than the tolerance allows. `absolute` is the
    largest |a − b| and `relative` the largest |a − b| / max(|a|, |b|), over the cells that differ,
    or over all where none does; `where` is the cell of the largest |a − b| among these, with the
    numbers `a` and `b`. What is infinite or no number on one side alone is infinitely far. `needed`
    is the smallest tolerance with which nothing differs. `hidden` cells are -inf on one side and a
    large negative number, such as `sentinel`, on the other: hidden both ways, so no difference.
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
        return (
            self.absolute / max(abs(self.a), abs(self.b))
            if 0 < self.absolute < inf
            else self.absolute
        )


def difference(
    a: NDArray[Any],
    b: NDArray[Any],
    tolerance: float,
    *,
    sizes: Numbers | None = None,
    hides: Hides | None = None,
) -> Difference:
    """Compare two arrays of one shape: cells differ where |a − b| > tolerance · size.

    `sizes` says how large the numbers are that each cell is made of; without it, as between two
    dumps, its size is max(|a|, |b|) and what is typical beside it (`_typical`). `hides` says that
    the numbers are those of a mask or of masked scores, where -inf and a large negative number both
    hide. NaN agrees with NaN, and an infinity with itself.
    """
    # a single number, as a loss is
    if not a.shape:
        row = difference(
            a[None], b[None], tolerance, sizes=None if sizes is None else np.reshape(sizes, 1)
        )
        return replace(row, where=())
    a, b = doubles(a), doubles(b)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
        larger = np.maximum(np.abs(a), np.abs(b))
        apart[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
        apart[np.isnan(apart)] = inf
        hidden = _hidden_both_ways(a, b, hides) if hides else np.zeros(a.shape, dtype=bool)
        apart[hidden] = 0
        if sizes is None:
            sizes = np.minimum(larger + np.maximum(_typical(a, hides), _typical(b, hides)), LARGEST)
        needed = np.where(apart == inf, inf, apart / sizes)
        needed[apart == 0] = 0
        relative = np.where(apart == inf, inf, apart / larger)
        relative[apart == 0] = 0
    differing = needed > tolerance
    count = int(differing.sum())
    counted = differing if count else np.ones(a.shape, dtype=bool)
    where = tuple(map(int, np.unravel_index(np.argmax(np.where(counted, apart, -1)), a.shape)))
    sentinels = np.maximum(a, b)[hidden]
    return Difference(
        a.size,
        count,
        float(apart[where]),
        float(relative[counted].max()),
        where,
        float(a[where]),
        float(b[where]),
        float(needed.max()),
        int(hidden.sum()),
        float(sentinels[0]) if sentinels.size else 0.0,
    )


def doubles(array: NDArray[Any]) -> Numbers:
    """A copy in float64; a NaN that signals, as files may hold, is one like others."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def factor(
    a: NDArray[Any],
    b: NDArray[Any],
    tolerance: float,
    *,
    sizes: Sizes = (None, None),
    hides: Hides | None = None,
) -> float | None:
    """c where every cell of b is c times that of a, and c is not 1; None where there is no such
    number.

    `sizes` are those of a and of b, as far as they are known; `hides` leaves out the cells that are
    hidden both ways.
    """
    a, b = doubles(a), doubles(b)
    seen = ~_hidden_both_ways(a, b, hides) if hides else np.ones(a.shape, dtype=bool)
    finite = np.isfinite(a) & np.isfinite(b)
    if ((a != b) & seen & ~finite).any() or np.count_nonzero(a[finite & seen]) < 2:
        return None
    a, b = a[finite & seen], b[finite & seen]
    largest = np.argmax(np.abs(a))
    with np.errstate(all="ignore"):
        ratio = float(b[largest] / a[largest])
        if not isfinite(ratio) or ratio == 0 or abs(ratio - 1) <= tolerance:
            return None
        of_a, of_b = (None if size is None else size[finite & seen] for size in sizes)
        size = larger(None if of_a is None else np.minimum(of_a * abs(ratio), LARGEST), of_b)
        return None if difference(a * ratio, b, tolerance, sizes=size).differing else ratio


def larger(of_a: Numbers | None, of_b: Numbers | None) -> Numbers | None:
    """The larger size of each cell, as far as it is known."""
    if of_a is None or of_b is None:
        return of_b if of_a is None else of_a
    return np.maximum(of_a, of_b)


def _hidden_both_ways(a: Numbers, b: Numbers, hides: Hides) -> NDArray[np.bool_]:
    """Where one is -inf and the other far below what else is to be seen of its row, and below 0 if
    nothing is.
    """
    hidden = np.isneginf(a) | np.isneginf(b)
    lowest = np.maximum(a, b)  # of a hidden cell, the number
    seen = np.where(hidden | ~np.isfinite(lowest), -inf, np.minimum(a, b))
    most = (
        seen.max(axis=-1, keepdims=True, initial=-inf)
        if hides == "row" and a.ndim
        else np.full(a.shape, -inf)
    )
    both: NDArray[np.bool_] = (
        (lowest <= np.where(most == -inf, 0, most) + HIGHEST_SENTINEL)
        & hidden
        & (np.isneginf(a) != np.isneginf(b))
    )
    return both


def _typical(array: Numbers, hides: Hides | None) -> Numbers:
    """What is typical beside each cell: the root mean square of its row, or that of its column if
    it is smaller.

    So a feature with far larger numbers, or a token, excuses no other. An axis of one place tells
    nothing.
    """
    counted = np.where(
        np.isfinite(array) & ((array > HIGHEST_SENTINEL) | (hides is None)), np.abs(array), 0
    )
    axes = [axis for axis in (-1, -2)[: array.ndim] if array.shape[axis] > 1]
    typical: Numbers = np.full(array.shape, LARGEST if axes else 0.0)
    for axis in axes:
        largest = counted.max(axis=axis, keepdims=True)
        scaled = counted / np.where(largest, largest, 1)
        typical = np.minimum(
            typical, largest * np.sqrt(np.mean(scaled**2, axis=axis, keepdims=True))
        )
    return typical.clip(min=LEAST)
