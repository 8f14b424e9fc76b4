"""`documents: [0, 0, 1]`: which document each key is in, where a sequence has several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attncli.english import count
from attncli.problem.arrays.matrix_reader import read_matrix
from attncli.problem.matrix import Matrix
from attncli.problem.parts.axes import BATCH
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
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Documents(MaskPart):
    """The number of its document for each key, in a row for all entries of a batch or one for each;
    a query is in the document of the key at its own position.
    """

    name = "documents"
    order = 8
    has_corner = True
    numbers: Matrix

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Documents | None:
        numbers = read_matrix(value, deepest=2, rank=1)
        if numbers is None:
            return None
        of_parts = [cell for row in numbers.rows() for cell in row if cell != cell // 1]
        if of_parts:
            value.wrong(
                f"the number of a document is whole, not {of_parts[0]}",
                "write {documents: [0, 0, 1]}, the number of its document for every key",
            )
            return None
        return cls(numbers)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {"{documents: [0, 0, 1]}": Mask((cls(Matrix.of([0, 0, 1])),))}

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        found = self.numbers.shape[-1]
        if found != sizes.keys:
            return (
                f"{count(found, 'number')} for {count(sizes.keys, 'key')}",
                "give the number of its document for every key",
            )
        if sizes.queries > sizes.keys:
            queries, keys = count(sizes.queries, "query"), count(sizes.keys, "key")
            return (
                f"{queries} for {keys}: a query is in the document of the key at its own position",
                "write {keep: …}, which says for every query what it sees",
            )
        return entries_error(len(self.numbers.rows()), sizes)

    def clause(self, offset: Offset, suffix: str) -> Clause:
        of_keys, of_queries = f"document_k{suffix}", f"document_q{suffix}"
        keys = with_leading_axes(
            Clause("", parameters={of_keys: Matrix.of(self.numbers.value)}), of_keys, own=1
        )
        own = self._of_queries(offset)
        leads = dict(keys.leads)
        if own.ndim > 1:
            leads[of_queries] = (BATCH,)
        return Clause(
            _meaning(offset),
            (f"{of_queries}[i] == {of_keys}[j]",),
            parameters={of_queries: Matrix.of(own), **keys.parameters},
            leads=leads,
            meanings=unless_one(map(_meaning, offset.entries)),
            counts_positions=True,
        )

    def _of_queries(self, offset: Offset) -> NDArray[Any]:
        """The number of its document for each query, with entries before them where these differ.

        A query before the first key, or behind the last, is in a document without keys.
        """
        import numpy as np

        numbers = np.atleast_2d(self.numbers.value)
        keys = numbers.shape[-1]
        positions = np.arange(offset.queries) + np.array(offset.by)[:, None]
        entries = max(len(numbers), len(positions))
        numbers = np.broadcast_to(numbers, (entries, keys))
        positions = np.broadcast_to(positions, (entries, offset.queries))
        is_there = (positions >= 0) & (positions < keys)
        own = np.take_along_axis(numbers, positions.clip(0, keys - 1), axis=1)
        found: NDArray[Any] = np.where(is_there, own, numbers.max() + 1)
        return found if entries > 1 else found[0]


def _meaning(offset: Offset) -> str:
    return (
        "Documents: a query sees only the keys of its own document. Query `i` is in the document of"
        f" key `{offset.position}`{offset.meaning}."
    )
