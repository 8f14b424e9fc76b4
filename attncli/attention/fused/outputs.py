"""The output alone, tile by tile: the softmax of the scores times V, without ever holding the scores.

The same numbers as the steps from `scores` to `output` give, in another order of work: exponentials are summed and
multiplied with V as they come, and each row is divided by its sum at the end. Rows are worked in blocks, each of them
by one thread alone, so that the result is the same to the last bit for any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.fused.tiles import Tile, Tiles
from attncli.attention.part import runs

Array = NDArray[Any]
ROWS, COLUMNS = 256, 768  # of a tile: its scores stay in a core's own cache


@dataclass(frozen=True, slots=True)
class Exponent:
    """What becomes of q·k before e to the power of it: times `scale`, bent by `softcap`, times the `log` of a base."""

    scale: float
    softcap: float | None = None
    log: float = 1.0  # of the base

    @property
    def factors(self) -> tuple[float, float]:
        """What the queries are multiplied by beforehand, and what tanh is afterwards."""
        if self.softcap is None:
            return self.scale * self.log, 1.0
        return self.scale / self.softcap, self.softcap * self.log


@dataclass(frozen=True, slots=True)
class Head:
    """Queries, keys and values of one head, and where its output goes; `tiles` are those of its mask and bias.

    Scores before all scaling and weights are kept where there is an array for them; weights only in bounded work.
    """

    queries: Array
    keys: Array
    values: Array
    output: Array
    tiles: Tiles | None = None
    sink: float | None = None
    scores: Array | None = None
    weights: Array | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """What is known of the rows of a head afterwards: the largest exponent of each lies between `low` and `high`.

    Both are -inf for a row that sees no key; `seen` says how many keys each row sees.
    """

    low: Array
    high: Array
    seen: Array


@dataclass(frozen=True, slots=True)
class Work:
    """The output of one head, block by block; `bounded` where no exponential can be too large or too small."""

    head: Head
    exponent: Exponent
    bounded: bool
    keys: tuple[Array, ...]  # transposed, a contiguous array for each tile
    rows: Rows

    @classmethod
    def of(cls, head: Head, exponent: Exponent, bounded: bool) -> Work:
        keys = tuple(np.ascontiguousarray(head.keys[run].T) for run in runs(len(head.keys), COLUMNS))
        low, high = (np.full(len(head.queries), -math.inf) for _ in "lh")
        return cls(head, exponent, bounded, keys, Rows(low, high, np.zeros(len(head.queries), dtype=np.int64)))

    def blocks(self) -> Iterator[slice]:
        return runs(len(self.head.queries), ROWS)

    def block(self, rows: slice, scratch: Scratch) -> None:
        """Work out the output of these rows, and what is known of them."""
        head, (before, after) = self.head, self.exponent.factors
        queries = head.queries[rows] * head.queries.dtype.type(before)
        count = len(queries)
        total, largest = np.zeros((2, count), dtype=queries.dtype)
        largest -= math.inf
        output, product = head.output[rows], scratch.product(count, head.values.shape[1])
        output[...] = 0
        seen = self.rows.seen[rows]
        for keys, columns, tile in self._tiles(rows):
            scores = scratch.scores(count, keys.shape[1])
            if head.scores is not None:
                kept = np.matmul(head.queries[rows], keys, out=head.scores[rows, columns])
                np.multiply(kept, kept.dtype.type(before), out=scores)
            if tile is None:
                if head.weights is not None:
                    head.weights[rows, columns] = 0
                continue
            if head.scores is None:
                np.matmul(queries, keys, out=scores)
            if self.exponent.softcap is not None:
                np.tanh(scores, out=scores)
                scores *= after
            if tile.added is not None:
                scores += tile.added if self.exponent.log == 1 else tile.added * self.exponent.log
            seen += tile.seen
            if not self.bounded:
                if tile.visible is not None:
                    np.copyto(scores, -math.inf, where=tile.visible == 0)
                _shift(scores, largest, total, output)
            scores = np.exp(scores, out=scores if head.weights is None else head.weights[rows, columns])
            if self.bounded and tile.visible is not None:
                scores *= tile.visible
            total += np.einsum("ij->i", scores)
            output += np.matmul(scores, head.values[columns], out=product)
        self._finish(rows, total, largest, output)

    def _tiles(self, rows: slice) -> Iterator[tuple[Array, slice, Tile | None]]:
        """The keys of each tile, where they lie, and what happens to their scores; None where all are hidden."""
        tiles = self.head.tiles
        for keys, columns in zip(self.keys, runs(len(self.head.keys), COLUMNS), strict=True):
            if tiles is None:
                yield keys, columns, Tile(None, None, keys.shape[1])
                continue
            for piece, tile in tiles.over(rows, columns, ROWS):
                yield keys[:, piece.start - columns.start : piece.stop - columns.start], piece, tile

    def _finish(self, rows: slice, total: Array, largest: Array, output: Array) -> None:
        """Divide by the sums of the rows, the sink among them."""
        sink = None if self.head.sink is None else self.head.sink * self.exponent.log
        low, high, seen = self.rows.low[rows], self.rows.high[rows], self.rows.seen[rows]
        if self.bounded:
            np.log(total, out=high, where=seen > 0)
            low[...] = high - np.log(np.maximum(seen, 1))
            if sink is not None:
                total += math.exp(sink)
        else:
            low[...] = high[...] = largest
            if sink is not None:
                _shift(np.full((len(total), 1), sink, dtype=total.dtype), largest, total, output)
                total += np.exp(sink - largest)
        total[total == 0] = 1
        output /= total[:, None]
        if self.head.weights is not None:
            self.head.weights[rows] /= total[:, None]


class Scratch:
    """Memory that a thread uses for one tile after another."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self._scores = np.empty(ROWS * COLUMNS, dtype)
        self._product = np.empty(0, dtype)

    def scores(self, rows: int, columns: int) -> Array:
        return self._scores[: rows * columns].reshape(rows, columns)

    def product(self, rows: int, width: int) -> Array:
        if self._product.size < rows * width:
            self._product = np.empty(ROWS * width, self.dtype)
        return self._product[: rows * width].reshape(rows, width)


def _shift(scores: Array, largest: Array, total: Array, output: Array) -> None:
    """Subtract the largest score so far from these, and from what has been summed up before."""
    before = largest.copy()
    np.maximum(largest, scores.max(axis=1), out=largest)
    by = np.where(largest == -math.inf, 0, largest)
    scores -= by[:, None]
    factor = np.exp(before - by)
    total *= factor
    output *= factor[:, None]
