"""`lengths: [2]`: how many keys exist, counted from the left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import BATCH
from attncli.problem.parts.masks import Clause, Mask, MaskPart, MaskSizes, entries_error, unless_one
from attncli.problem.parts.offset import Offset
from attncli.problem.text.nodes import ListNode
from attncli.problem.text.values import Value, read_integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Lengths(MaskPart):
    """How many keys exist, counted from the left: one number for all entries of a batch, or one for
    each.
    """

    name = "lengths"
    order = 4
    lengths: tuple[int, ...]

    @classmethod
    def read(cls, value: Value) -> Lengths | None:
        if isinstance(value.node, ListNode) and not value.node.length:
            value.wrong("is empty", "write {lengths: [2]}, one number for each entry of the batch")
            return None
        values = list(value.items) or [value]
        read = [
            read_integer(each, least=0, help="write how many keys exist, counted from the left")
            for each in values
        ]
        lengths = tuple(length for length in read if length is not None)
        return cls(lengths) if len(lengths) == len(read) else None

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {"{lengths: [2]}": Mask((cls((2,)),))}

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        if (most := max(self.lengths)) > sizes.keys:
            return (
                f"{most} keys cannot exist: there are {sizes.keys}",
                f"write a number from 0 to {sizes.keys}",
            )
        return entries_error(len(self.lengths), sizes)

    def existing_keys(self, keys: int) -> NDArray[np.bool_]:
        import numpy as np

        exists: NDArray[np.bool_] = np.arange(keys) < np.array(self.lengths)[:, None]
        return exists

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name, condition = f"length{suffix}", (f"j < length{suffix}",)
        if len(self.lengths) == 1:
            return Clause(
                _meaning(self.lengths[0]), condition, parameters={name: Scalar.of(self.lengths[0])}
            )
        return Clause(
            "Lengths: only the first keys of each entry exist:"
            f" {', '.join(map(str, self.lengths))}.",
            condition,
            parameters={name: Matrix.of(self.lengths)},
            leads={name: (BATCH,)},
            meanings=unless_one(map(_meaning, self.lengths)),
        )


def _meaning(length: int) -> str:
    return f"Lengths: only the first {f'{length} keys exist' if length != 1 else 'key exists'}."
