"""Where a function of FlexAttention is called, and what a mask of attncli shows there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.attention.variants import clauses, mask_rule
from attncli.equation.evaluator import Evaluator
from attncli.problem.matrix import Matrix
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.offset import Offset

# What is seen, by entry, query and key; or by entry, head, query and key.
Seen = NDArray[np.bool_]


class Positions(NamedTuple):
    """Positions of queries and of keys.

    `offset` is how many positions query 0 stands behind key 0 at the bottom-right corner.
    """

    queries: tuple[int, ...]
    keys: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, queries: int, keys: int) -> Positions:
        """All positions of so many queries and keys."""
        return cls(tuple(range(queries)), tuple(range(keys)), keys - queries)

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return len(self.queries), len(self.keys)


@dataclass(frozen=True, slots=True)
class _AtPositions(Evaluator):
    """Works a mask out at positions of which some may be left out."""

    places: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def positions(self, letter: str) -> NDArray[Any]:
        return self.places[letter]


def seen(mask: Mask, positions: Positions, entry: int = 0) -> Seen:
    """Which keys a mask shows to which queries in an entry of a batch, by the equation that
    `attncli compute` works out.

    A mask that says something of each position needs all of them.
    """
    parts = clauses(mask, _offset(mask, positions))
    if not any(part.conditions for part in parts):
        return np.ones(positions.shape, dtype=bool)
    scalars: dict[str, float] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for part in parts:
        for name, given in part.parameters.items():
            value: Any = given.value
            if name in part.leads:
                value = value[entry]
            if isinstance(given, Matrix) and value.ndim:
                arrays[name] = value
            else:
                scalars[name] = float(value)
    queries, keys = positions.shape
    places = {"i": np.array(positions.queries, float), "j": np.array(positions.keys, float)}
    sizes = {"i": queries, "j": keys}
    evaluator = _AtPositions(np, arrays, scalars, sizes, np.float64, places=places)
    found: Seen = evaluator.result(mask_rule(parts).equation) == 0
    return found


def _offset(mask: Mask, positions: Positions) -> Offset:
    queries = len(positions.queries)
    if mask.corner == "top-left":
        return Offset((0,), queries=queries)
    return Offset((positions.offset,), mask.corner, queries)
