"""`keep: [[1, 0], [1, 1]]`, or a matrix of true and false: 1 may be seen; and `hide: [[0, 1], [0,
0]]`: 1 is hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from attncli.problem.arrays.truth_matrices import read_truths
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Truths(MaskPart):
    """Truth values for every query and key, n × m, or with heads or batch and heads before; an axis
    of 1 is for all.

    `seen` is the one that lets a query see a key, `words` are what a problem writes, and `one_row`
    says what it writes for one row for all queries.
    """

    seen: ClassVar[int]
    words: ClassVar[str]
    one_row: ClassVar[str]
    meaning: ClassVar[str]
    truths: NDArray[np.bool_] | Matrix

    @property
    def matrix(self) -> NDArray[np.bool_]:
        """The truth values."""
        return self.truths.value if isinstance(self.truths, Matrix) else self.truths

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Self | None:
        truths = read_truths(value)
        return None if truths is None else cls(truths)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        import numpy as np

        return {cls.words: Mask((cls(np.full((2, 3), cls.seen == 1)),))}

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        return matrix_size_error(self.truths.shape, sizes, self.one_row)

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"{self.name}{suffix}"
        condition = f"{name}[i, j] == {self.seen}"
        clause = Clause(self.meaning, (condition,), parameters={name: Matrix.of(self.matrix)})
        return with_leading_axes(clause, name, own=2)


class Keep(Truths):
    """True may attend."""

    __slots__ = ()
    name = "keep"
    order = 5
    seen = 1
    words = "{keep: …}, or a matrix of true and false"
    one_row = "for padding, with one row for all queries, write {padding: …} with the same values"
    meaning = "Keep: a query sees the keys with a 1."


class Hide(Truths):
    """True is hidden."""

    __slots__ = ()
    name = "hide"
    order = 6
    seen = 0
    words = "{hide: …}"
    one_row = (
        "for padding, with one row for all queries, write {padding: …} with 1 for 0 and 0 for 1"
    )
    meaning = "Hide: a query does not see the keys with a 1."
