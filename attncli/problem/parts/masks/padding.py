"""`padding: [1, 1, 0]`: which keys exist, and which are only padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attncli.english import count, either
from attncli.problem.arrays.truth_matrices import read_truths
from attncli.problem.matrix import Matrix
from attncli.problem.parts.masks import (
    Clause,
    Mask,
    MaskPart,
    MaskSizes,
    ReadMask,
    entries_error,
    unless_one,
    with_leading_axes,
)
from attncli.problem.parts.offset import Offset
from attncli.problem.text.values import Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Padding(MaskPart):
    """Which keys exist: one row for all entries of a batch, or one for each."""

    name = "padding"
    order = 3
    exists: tuple[tuple[bool, ...], ...]

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Padding | None:
        exists = read_truths(value, rank=1)
        return None if exists is None else cls(tuple(map(tuple, exists.rows())))

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {"{padding: [1, 1, 0]}": Mask((cls(((True, True, False),)),))}

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        if (found := len(self.exists[0])) != sizes.keys:
            return (
                f"{count(found, 'entry')} for {count(sizes.keys, 'key')}",
                "give 1 or 0 for every key",
            )
        return entries_error(len(self.exists), sizes)

    def existing_keys(self, keys: int) -> NDArray[np.bool_]:
        import numpy as np

        return np.array(self.exists, dtype=bool)

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"exists{suffix}"
        clause = Clause(
            _meaning(self.exists),
            (f"{name}[j] == 1",),
            parameters={name: Matrix.of(self.exists)},
            meanings=unless_one(_meaning((row,)) for row in self.exists),
        )
        return with_leading_axes(clause, name, own=1)


def _meaning(exists: Sequence[Sequence[bool]]) -> str:
    keys, gone = sum(map(len, exists)), sum(row.count(False) for row in exists)
    return (
        f"Padding: {gone} of {keys} keys {either(gone, 'is', 'are')} padding, and no"
        f" {either(gone, 'token', 'tokens')}."
    )
