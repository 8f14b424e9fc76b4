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

Doubles = NDArray[np.float64]
# The sizes of the cells on either side, as far as they are known.
CellSizes: TypeAlias = tuple[Doubles | None, Doubles | None]
# Where -inf and a large negative number both hide: beside a row, or alone.
Hides: TypeAlias = Literal["row", "cell"]

# An array of smaller numbers has this typical size: they may be what roundings leave of larger
# ones.
LEAST_TYPICAL_SIZE = 0.01
LARGEST_DOUBLE = float(np.finfo(np.float64).max)


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
        if self.absolute in (0, inf):
            return self.absolute
        return self.absolute / max(abs(self.a), abs(self.b))


def difference(
    a: NDArray[Any],
    b: NDArray[Any],
    tolerance: float,
    *,
    sizes: Doubles | None = None,
    hides: Hides | None = None,
) -> Difference:
    """Compare two arrays of one shape: cells differ where |a − b| > tolerance · size.

    `sizes` says how large the numbers are that each cell is made of; without it, as between two
    dumps, its size is max(|a|, |b|) and what is typical beside it (`_typical`). `hides` says that
    the numbers are those of a mask or of masked scores, where -inf and a large negative number both
    hide. NaN agrees with NaN, and an infinity with itself.

    >>> found = difference(np.array([1.0, 2.0]), np.array([1.0, 2.5]), tolerance=1e-6)
    >>> found.differing, found.where, found.absolute, found.relative
    (1, (1,), 0.5, 0.2)
    """
    if not a.shape:
        # A loss is a single number. It is compared as a row of one.
        of_one = None if sizes is None else np.reshape(sizes, 1)
        row = difference(a[None], b[None], tolerance, sizes=of_one)
        return replace(row, where=())
    a, b = doubles(a), doubles(b)
    with np.errstate(all="ignore"):
        hidden = _hidden_both_ways(a, b, hides) if hides else np.zeros(a.shape, dtype=bool)
        apart = _apart(a, b, hidden)
        larger = np.maximum(np.abs(a), np.abs(b))
        if sizes is None:
            sizes = np.minimum(
                larger + np.maximum(_typical(a, hides), _typical(b, hides)), LARGEST_DOUBLE
            )
        needed = np.where(apart == inf, inf, apart / sizes)
        needed[apart == 0] = 0
        relative = np.where(apart == inf, inf, apart / larger)
        relative[apart == 0] = 0
    differing = needed > tolerance
    count = int(differing.sum())
    counted = differing if count else np.ones(a.shape, dtype=bool)
    farthest = np.argmax(np.where(counted, apart, -1))
    where = tuple(map(int, np.unravel_index(farthest, a.shape)))
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


def cells_apart(a: Doubles, b: Doubles, hides: Hides | None = None) -> Doubles:
    """How far cells are apart: infinitely where one side alone is infinite or no number, and not at
    all where both are hidden.

    >>> cells_apart(np.array([1.0, np.nan, np.inf]), np.array([1.5, np.nan, 2.0])).tolist()
    [0.5, 0.0, inf]
    """
    with np.errstate(all="ignore"):
        hidden = _hidden_both_ways(a, b, hides) if hides else np.zeros(a.shape, dtype=bool)
        return _apart(a, b, hidden)


def _apart(a: Doubles, b: Doubles, hidden: NDArray[np.bool_]) -> Doubles:
    is_same = (a == b) | (np.isnan(a) & np.isnan(b)) | hidden
    apart = np.abs(a - b)
    found: Doubles = np.where(np.isnan(apart), inf, apart)
    return np.where(is_same, 0.0, found)


def doubles(array: NDArray[Any]) -> Doubles:
    """A copy in float64; a NaN that signals, as files may hold, is one like others."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def factor(
    a: NDArray[Any],
    b: NDArray[Any],
    tolerance: float,
    *,
    sizes: CellSizes = (None, None),
    hides: Hides | None = None,
) -> float | None:
    """c where every cell of b is c times that of a, and c is not 1; None where there is no such
    number.

    `sizes` are those of a and of b, as far as they are known; `hides` leaves out the cells that are
    hidden both ways.

    >>> factor(np.array([1.0, 2.0]), np.array([0.5, 1.0]), tolerance=1e-6)
    0.5
    """
    a, b = doubles(a), doubles(b)
    seen = ~_hidden_both_ways(a, b, hides) if hides else np.ones(a.shape, dtype=bool)
    finite = np.isfinite(a) & np.isfinite(b)
    infinitely_apart = (a != b) & seen & ~finite
    compared = finite & seen
    a, b = a[compared], b[compared]
    # Any two numbers have some factor: one cell alone says nothing.
    if infinitely_apart.any() or np.count_nonzero(a) < 2:
        return None
    largest = np.argmax(np.abs(a))
    with np.errstate(all="ignore"):
        ratio = float(b[largest] / a[largest])
        if not isfinite(ratio) or ratio == 0 or abs(ratio - 1) <= tolerance:
            return None
        of_a, of_b = (None if size is None else size[compared] for size in sizes)
        if of_a is not None:
            of_a = np.minimum(of_a * abs(ratio), LARGEST_DOUBLE)
        apart = difference(a * ratio, b, tolerance, sizes=larger(of_a, of_b))
    return None if apart.differing else ratio


def larger(of_a: Doubles | None, of_b: Doubles | None) -> Doubles | None:
    """The larger size of each cell, as far as it is known."""
    if of_a is None or of_b is None:
        return of_b if of_a is None else of_a
    return np.maximum(of_a, of_b)


def _hidden_both_ways(a: Doubles, b: Doubles, hides: Hides) -> NDArray[np.bool_]:
    """Where one is -inf and the other far below what else is to be seen of its row, and below 0 if
    nothing is.
    """
    hidden_in_a = np.isneginf(a)
    hidden_in_b = np.isneginf(b)
    # Of a cell that one side hides by -inf, this is the number on the other side.
    number = np.maximum(a, b)
    is_seen = np.isfinite(number)
    is_seen &= ~hidden_in_a
    is_seen &= ~hidden_in_b
    lower = np.minimum(a, b)
    seen = np.where(is_seen, lower, -inf)
    if hides == "row" and a.ndim:
        most = seen.max(axis=-1, keepdims=True, initial=-inf)
    else:
        most = np.full(a.shape, -inf)
    beside = np.where(most == -inf, 0, most)
    is_far_below = number <= beside + HIGHEST_SENTINEL
    hidden_in_one = hidden_in_a != hidden_in_b
    both: NDArray[np.bool_] = hidden_in_one & is_far_below
    return both


def _typical(array: Doubles, hides: Hides | None) -> Doubles:
    """What is typical beside each cell: the root mean square of its row, or that of its column if
    it is smaller.

    So a feature with far larger numbers, or a token, excuses no other. An axis of one place tells
    nothing.
    """
    is_counted = np.isfinite(array)
    if hides is not None:
        is_counted &= array > HIGHEST_SENTINEL
    size = np.abs(array)
    counted = np.where(is_counted, size, 0)
    rows_and_columns = (-1, -2)[: array.ndim]
    axes = [axis for axis in rows_and_columns if array.shape[axis] > 1]
    most = LARGEST_DOUBLE if axes else 0.0
    typical: Doubles = np.full(array.shape, most)
    for axis in axes:
        along = _root_mean_square(counted, axis)
        typical = np.minimum(typical, along)
    return typical.clip(min=LEAST_TYPICAL_SIZE)


def _root_mean_square(sizes: Doubles, axis: int) -> Doubles:
    """That of the numbers along an axis, which stays with a single place."""
    # Numbers are divided by the largest, because squares of 1e200 are infinite.
    largest: Doubles = sizes.max(axis=axis, keepdims=True)
    divisor = np.where(largest, largest, 1)
    squares = (sizes / divisor) ** 2
    mean = np.mean(squares, axis=axis, keepdims=True)
    root: Doubles = largest * np.sqrt(mean)
    return root
