"""`hide: [[0, 1], [0, 0]]`: 1 is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.problem.masks import Clause, Offset, TruthMatrix, number_array, with_leading_axes
from attncli.problem.model import Mask
from attncli.problem.truth_matrices import read_truths
from attncli.problem.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Hide(TruthMatrix):
    """True is hidden."""

    name = "hide"
    order = 6

    @classmethod
    def read(cls, value: Value) -> Hide | None:
        truths = read_truths(value)
        return None if truths is None else cls(truths)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        import numpy as np

        return {"{hide: …}": Mask((cls(np.zeros((2, 3), dtype=bool)),))}

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"hide{suffix}"
        clause = Clause("Hide: 1 is hidden.", (f"{name}[i, j] == 0",), parameters={name: number_array(self.matrix)})
        return with_leading_axes(clause, name, own=2)
