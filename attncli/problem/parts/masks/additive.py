"""`additive: [[0, -1], [0.5, -.inf]]`, or a matrix of such numbers: they are added to the scaled
scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.problem.arrays.matrix_reader import MOST_AXES, read_matrix
from attncli.problem.matrix import Matrix
from attncli.problem.parts.masks import (
    Clause,
    Mask,
    MaskPart,
    MaskSizes,
    ReadMask,
    matrix_size_error,
    with_leading_axes,
)
from attncli.problem.parts.offset import Offset
from attncli.problem.text.values import Value

_ONE_ROW = "for padding, with one row for all queries, write {padding: …} with 1 where 0 is added"


@dataclass(frozen=True, slots=True, eq=False)
class Additive(MaskPart):
    """Numbers, n × m, or with heads or batch and heads before; -inf hides, and an axis of 1 is for
    all.
    """

    name = "additive"
    order = 7
    adds = True
    matrix: Matrix

    @property
    def adds_numbers(self) -> bool:
        """Whether it does more than to hide keys."""
        import numpy as np

        return bool((np.isfinite(self.matrix.value) & (self.matrix.value != 0)).any())

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Additive | None:
        return cls.of(value)

    @classmethod
    def of(cls, value: Value) -> Additive | None:
        """The numbers of a matrix, whether named or not; None after adding an error."""
        matrix = read_matrix(value, deepest=MOST_AXES, minus_infinity=True)
        return None if matrix is None else cls(matrix)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {
            "{additive: …}, or a matrix of other numbers": Mask((cls(Matrix.of([[0] * 3] * 2)),))
        }

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        return matrix_size_error(self.matrix.shape, sizes, _ONE_ROW)

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"additive{suffix}"
        return with_leading_axes(
            Clause("", added=f"{name}[i, j]", parameters={name: self.matrix}), name, own=2
        )
