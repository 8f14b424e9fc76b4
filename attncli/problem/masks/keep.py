"""`keep: [[1, 0], [1, 1]]`, or a matrix of true and false: 1 may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.problem.masks import Clause, Offset, TruthMatrix, number_array, with_leading_axes
from attncli.problem.model import Mask
from attncli.problem.truth_matrices import read_truths
from attncli.problem.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Keep(TruthMatrix):
    """True may attend."""

    name = "keep"
    order = 5

    @classmethod
    def read(cls, value: Value) -> Keep | None:
        truths = read_truths(value)
        return None if truths is None else cls(truths)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        import numpy as np

        return {"{keep: …}, or a matrix of true and false": Mask((cls(np.ones((2, 3), dtype=bool)),))}

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"keep{suffix}"
        clause = Clause("Keep: 1 may be seen.", (f"{name}[i, j] == 1",), parameters={name: number_array(self.matrix)})
        return with_leading_axes(clause, name, own=2)
