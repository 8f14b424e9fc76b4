"""Runs of true cells in a row of a mask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def true_runs(cells: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Where each run of true cells begins, and the place after its end.

    >>> list(true_runs(np.array([False, True, True, False])))
    [(1, 3)]
    """
    frame = [False]
    framed = np.concatenate([frame, cells, frame])
    before = framed[:-1]
    after = framed[1:]
    changes = np.flatnonzero(before != after).tolist()
    starts = changes[::2]
    ends = changes[1::2]
    yield from zip(starts, ends, strict=True)
