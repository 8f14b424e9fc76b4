"""`causal`: no query sees the keys after its own position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.problem.parts.masks import Clause, Mask, MaskPart, ReadMask, unless_one
from attncli.problem.parts.offset import Offset
from attncli.problem.text.values import Value, read_truth


@dataclass(frozen=True, slots=True)
class Causal(MaskPart):
    """Key j is visible to query i if j <= i + offset."""

    name = "causal"
    order = 1
    needs_no_value = True
    has_corner = True

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Causal | None:
        return cls() if read_truth(value) else None

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {
            "causal": Mask((cls(),)),
            "{causal: true, corner: bottom-right}": Mask((cls(),), "bottom-right"),
        }

    def clause(self, offset: Offset, suffix: str) -> Clause:
        return Clause(
            _meaning(offset),
            (f"j <= {offset.position}",),
            parameters=offset.parameters,
            leads=offset.leads,
            meanings=unless_one(map(_meaning, offset.entries)),
            counts_positions=True,
        )


def _meaning(offset: Offset) -> str:
    return f"Causal: query `i` sees the keys up to position `{offset.position}`{offset.meaning}."
