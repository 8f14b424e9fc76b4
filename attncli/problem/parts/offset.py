"""By how many positions the queries are behind the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import BATCH


class Offset(NamedTuple):
    """How many positions query 0 stands behind key 0: `by` for each entry of a batch, or once for
    all.

    Causal masks, windows and biases by distance count positions from it. With a cache of 3 keys it
    is Offset((3,)): query 0 comes after keys 0, 1 and 2. `queries` says how many queries there are.
    """

    by: tuple[int, ...]
    corner: str = "top-left"
    queries: int = 0

    @property
    def position(self) -> str:
        """The position of query i among the keys."""
        return "i + offset" if any(self.by) else "i"

    @property
    def parameters(self) -> Mapping[str, Scalar | Matrix]:
        """The number or array that `position` reads."""
        if len(self.by) > 1:
            return {"offset": Matrix.of(self.by)}
        return {"offset": Scalar.of(self.by[0])} if any(self.by) else {}

    @property
    def leads(self) -> Mapping[str, tuple[str, ...]]:
        """The leading axes of its array: the entries of a batch."""
        return {"offset": (BATCH,)} if len(self.by) > 1 else {}

    @property
    def entries(self) -> tuple[Offset, ...]:
        """The offset of each entry, or the one of all."""
        return tuple(self._replace(by=(by,)) for by in self.by)

    @property
    def meaning(self) -> str:
        """Where the offset comes from, to be put behind a sentence; empty where there is none."""
        if self.corner == "top-left":
            return f" (offset {self.by[0]}, the length of the cache)" if any(self.by) else ""
        numbers = ", ".join(map(str, self.by))
        return f", aligned to the bottom-right corner (offset {numbers})"
