"""`lengths: [2]`: how many keys exist, counted from the left; and `first: 2`: only the first keys
are visible, to every query.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import BATCH
from attncli.problem.parts.masks import (
    Clause,
    Mask,
    MaskPart,
    MaskSizes,
    ReadMask,
    entries_error,
    unless_one,
)
from attncli.problem.parts.offset import Offset
from attncli.problem.text.nodes import ListNode
from attncli.problem.text.values import Value, read_integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Counted(MaskPart):
    """So many keys, counted from the left: one number for all entries of a batch, or one for each.

    `letter` is what the number is called, `example` what a problem may write, `help` says what the
    number is, and `too_many` what is wrong with more keys than there are.
    """

    letter: ClassVar[str]
    example: ClassVar[str]
    help: ClassVar[str]
    too_many: ClassVar[str]
    lengths: tuple[int, ...]

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Self | None:
        if isinstance(value.node, ListNode) and not value.node.length:
            value.wrong("is empty", f"write {cls.example}, one number for each entry of the batch")
            return None
        values = list(value.items) or [value]
        read = [read_integer(each, least=0, help=cls.help) for each in values]
        lengths = tuple(length for length in read if length is not None)
        return cls(lengths) if len(lengths) == len(read) else None

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {cls.example: Mask((cls((2,)),))}

    @classmethod
    @abstractmethod
    def meaning(cls, length: int) -> str:
        """What one number says."""

    @classmethod
    @abstractmethod
    def meaning_of_all(cls, lengths: str) -> str:
        """What one number for each entry says, where these are listed."""

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        if (most := max(self.lengths)) > sizes.keys:
            return (
                f"{most} keys {self.too_many}: there are {sizes.keys}",
                f"write a number from 0 to {sizes.keys}",
            )
        return entries_error(len(self.lengths), sizes)

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"{self.letter}{suffix}"
        condition = (f"j < {name}",)
        if len(self.lengths) == 1:
            return Clause(
                self.meaning(self.lengths[0]),
                condition,
                parameters={name: Scalar.of(self.lengths[0])},
            )
        return Clause(
            self.meaning_of_all(", ".join(map(str, self.lengths))),
            condition,
            parameters={name: Matrix.of(self.lengths)},
            leads={name: (BATCH,)},
            meanings=unless_one(map(self.meaning, self.lengths)),
        )


class Lengths(Counted):
    """So many keys exist."""

    __slots__ = ()
    name = "lengths"
    order = 4
    letter = "length"
    example = "{lengths: [2]}"
    help = "write how many keys exist, counted from the left"
    too_many = "cannot exist"

    @classmethod
    def meaning(cls, length: int) -> str:
        exist = f"{length} keys exist" if length != 1 else "key exists"
        return f"Lengths: only the first {exist}."

    @classmethod
    def meaning_of_all(cls, lengths: str) -> str:
        return f"Lengths: only the first keys of each entry exist: {lengths}."

    def existing_keys(self, keys: int) -> NDArray[np.bool_]:
        import numpy as np

        exists: NDArray[np.bool_] = np.arange(keys) < np.array(self.lengths)[:, None]
        return exists


class First(Counted):
    """So many keys are visible, to every query; the others exist, too."""

    __slots__ = ()
    name = "first"
    order = 10
    letter = "first"
    example = "{first: 2}"
    help = "write how many keys every query sees, counted from the left"
    too_many = "cannot be the first"

    @classmethod
    def meaning(cls, length: int) -> str:
        first = f"first {length} keys" if length != 1 else "first key"
        return f"First: every query sees only the {first}."

    @classmethod
    def meaning_of_all(cls, lengths: str) -> str:
        return f"First: every query sees only the first keys of its entry: {lengths}."
