"""`chunk: 4`: a query sees only the keys of its own chunk of positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.problem.matrix import Scalar
from attncli.problem.parts.masks import Clause, Mask, MaskPart, ReadMask, unless_one
from attncli.problem.parts.offset import Offset
from attncli.problem.text.values import Value, read_integer


@dataclass(frozen=True, slots=True)
class Chunk(MaskPart):
    """Positions are cut into chunks of this `length`, from position 0 on; the last may be
    shorter.
    """

    name = "chunk"
    order = 9
    has_corner = True
    length: int

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Chunk | None:
        length = read_integer(
            value, least=1, help="write how many positions a chunk has, such as {chunk: 4}"
        )
        return None if length is None else cls(length)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {"{chunk: 2}": Mask((cls(2),))}

    def clause(self, offset: Offset, suffix: str) -> Clause:
        name = f"chunk{suffix}"
        position = f"({offset.position})" if any(offset.by) else offset.position
        return Clause(
            _meaning(self.length, offset),
            (f"{position} // {name} == j // {name}",),
            parameters={name: Scalar.of(self.length), **offset.parameters},
            leads=offset.leads,
            meanings=unless_one(_meaning(self.length, each) for each in offset.entries),
            counts_positions=True,
        )


def _meaning(length: int, offset: Offset) -> str:
    of_positions = "1 position"
    if length > 1:
        ends = f"0 to {length - 1}, {length} to {2 * length - 1}, …"
        of_positions = f"{length} positions ({ends})"
    return (
        f"Chunk: query `i` is at position `{offset.position}`{offset.meaning}, and sees only the"
        f" keys of its own chunk of {of_positions}."
    )
