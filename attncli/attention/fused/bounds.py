"""How large the numbers of a softmax can become, by the lengths of queries and keys; and so if maxima are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attncli.attention.fused.outputs import Array, Exponent, Head
from attncli.attention.part import runs


def reach(heads: Sequence[Head]) -> float:
    """How large a product of a query and a key can be at most, by their lengths (Cauchy and Schwarz)."""
    return max((_length(head.queries) * _length(head.keys) for head in heads), default=0.0)


def is_bounded(heads: Sequence[Head], exponent: Exponent, smallest: float, largest: float) -> bool:
    """Whether e to no exponent can leave the format, nor times V, summed over all keys; nor be lost in its other end.

    `smallest` and `largest` are the exponents at which that happens. What is added to scores may be of any size.
    """
    if any(head.tiles is not None and head.tiles.added for head in heads):
        return False
    most = abs(exponent.scale) * reach(heads)
    most = abs(exponent.log) * (most if exponent.softcap is None else min(most, exponent.softcap))
    for head in heads:
        columns = np.abs(head.values).max(axis=0, initial=0.0).astype(np.float64)
        columns = columns[columns > 0] if columns.any() else np.ones(1)
        above = most + math.log(len(head.keys)) + max(math.log(columns.max()), 0) + 1
        if above > largest or -most + min(math.log(columns.min()), 0) < smallest:
            return False
        if head.sink is not None and not smallest < head.sink * exponent.log < largest - 1:
            return False
    return True


def _length(rows: Array) -> float:
    """The length of the longest row."""
    parts = (rows[run] for run in runs(len(rows), 4096))
    return math.sqrt(max(float(np.einsum("ij,ij->i", part, part, dtype=np.float64).max()) for part in parts))
