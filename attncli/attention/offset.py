"""Where a query stands among the keys, for whatever counts positions: causal masks, windows, biases by distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attncli.equation.lift import Leads
from attncli.problem.axes import BATCH
from attncli.problem.model import Lengths, Mask, Matrix, Padding, Scalar


@dataclass(frozen=True, slots=True)
class Offset:
    """How far position i of a query lies from position i of the keys: `by` key for each entry, or alike for all."""

    by: tuple[int, ...]
    corner: str = "top-left"

    @property
    def reach(self) -> str:
        """The position of query i among the keys."""
        return "i + offset" if any(self.by) else "i"

    @property
    def parameters(self) -> Mapping[str, Scalar | Matrix]:
        if len(self.by) > 1:
            return {"offset": Matrix(np.array(self.by, dtype=np.float64))}
        return {"offset": Scalar.of(self.by[0])} if any(self.by) else {}

    @property
    def leads(self) -> Leads:
        return {"offset": (BATCH,)} if len(self.by) > 1 else {}

    @property
    def entries(self) -> tuple[Offset, ...]:
        """The offset of each entry, or the one of all."""
        return tuple(Offset((by,), self.corner) for by in self.by)

    @property
    def meaning(self) -> str:
        """Where the offset comes from, after "aligned" or nothing; empty where there is none."""
        if self.corner == "top-left":
            return f" (offset {self.by[0]}, the length of the cache)" if any(self.by) else ""
        numbers = ", ".join(map(str, self.by))
        return f", aligned to the bottom-right corner (offset {numbers})"


def mask_offset(mask: Mask, queries: int, keys: int, past: int) -> Offset:
    """The offset of causal masks, windows and biases by distance.

    It is the length of the cache, or m - n at the bottom-right corner, where m counts the keys that exist, after
    padding and lengths, in each entry of a batch.
    """
    if mask.corner == "top-left":
        return Offset((past,))
    exists = np.ones((1, keys), dtype=bool)
    for part in mask.parts:
        if isinstance(part, Padding):
            exists = exists & np.array(part.exists, dtype=bool)
        elif isinstance(part, Lengths):
            exists = exists & (np.arange(keys) < np.array(part.lengths)[:, None])
    return Offset(tuple(int(count) - queries for count in exists.sum(axis=1)), mask.corner)
