"""`any: [causal, {first: 1}]`: a key is visible if one of these masks allows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from attncli.problem.keys import Corner
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.masks import Clause, Mask, MaskPart, ReadMask
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.lengths import First
from attncli.problem.parts.offset import Offset
from attncli.problem.text.nodes import ListNode, describe
from attncli.problem.text.values import Value

_EXAMPLE = "{any: [causal, {first: 1}]}"
_ALLOWS = "Any: a query sees a key if one of these masks allows it:"
_SEES_ALL = "None: every query sees every key."


@dataclass(frozen=True, slots=True)
class AnyOf(MaskPart):
    """Masks of which each shows further keys."""

    name = "any"
    order = 11
    masks: tuple[Mask, ...]

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> AnyOf | None:
        if not isinstance(value.node, ListNode):
            value.wrong(f"must be a list of masks, not {describe(value.node)}", f"write {_EXAMPLE}")
            return None
        if not value.node.length:
            value.wrong("is empty", f"write {_EXAMPLE}")
            return None
        masks = []
        for each in value.items:
            mask = inner(each)
            masks.append(mask)
            if any(part.adds for part in mask.parts):
                each.wrong(
                    "numbers that are added show no key",
                    "write {keep: …} for the keys that are seen, and numbers beside any, where they"
                    " are added to every score",
                )
        return cls(tuple(masks))

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {_EXAMPLE: Mask((cls((Mask((Causal(),)), Mask((First((1,)),)))),))}

    @property
    def reads_corner(self) -> bool:
        return any(part.reads_corner for mask in self.masks for part in mask.parts)

    def at(self, corner: Corner) -> Self:
        masks = []
        for mask in self.masks:
            parts = tuple(part.at(corner) for part in mask.parts)
            reads_corner = any(part.reads_corner for part in parts)
            masks.append(Mask(parts, corner) if reads_corner else Mask(parts))
        return replace(self, masks=tuple(masks))

    def clause(self, offset: Offset, suffix: str) -> Clause:
        return self.numbered(offset, [])

    def numbered(self, offset: Offset, before: list[type[MaskPart]]) -> Clause:
        masks = [_clauses_of(mask, offset, before) for mask in self.masks]
        clauses = list(chain.from_iterable(masks))
        parameters: dict[str, Scalar | Matrix] = {}
        leads: dict[str, tuple[str, ...]] = {}
        for clause in clauses:
            parameters |= clause.parameters
            leads |= clause.leads
        entries = max((len(clause.meanings) for clause in clauses), default=0)
        return Clause(
            _meaning(map(_said_of_all, masks)),
            _one_of(map(_all_of, masks)),
            parameters=parameters,
            leads=leads,
            meanings=tuple(_meaning_at(masks, entry) for entry in range(entries)),
            counts_positions=any(clause.counts_positions for clause in clauses),
        )


def _clauses_of(mask: Mask, offset: Offset, before: list[type[MaskPart]]) -> list[Clause]:
    """What each part of a mask says; one that adds numbers is an error, and says nothing here."""
    return [part.numbered(offset, before) for part in mask.parts if not part.adds]


def _all_of(clauses: Iterable[Clause]) -> str:
    """The conditions of one mask together; empty where it hides nothing."""
    conditions = dict.fromkeys(chain.from_iterable(clause.conditions for clause in clauses))
    together = " and ".join(conditions)
    return f"({together})" if len(conditions) > 1 else together


def _one_of(masks: Iterable[str]) -> tuple[str, ...]:
    """One condition of these; none where one of the masks hides nothing."""
    different = tuple(dict.fromkeys(masks))
    if not all(different):
        return ()
    return different if len(different) == 1 else (f"({' or '.join(different)})",)


def _said_of_all(clauses: Iterable[Clause]) -> str:
    """What a mask says where it is the same for all entries."""
    return " ".join(clause.meaning for clause in clauses)


def _said_of_one(clauses: Iterable[Clause], entry: int) -> str:
    """What a mask says of one entry of a batch."""
    said = []
    for clause in clauses:
        said.append(clause.meanings[entry] if clause.meanings else clause.meaning)
    return " ".join(said)


def _meaning_at(masks: Iterable[Iterable[Clause]], entry: int) -> str:
    return _meaning(_said_of_one(clauses, entry) for clauses in masks)


def _meaning(masks: Iterable[str]) -> str:
    """Each mask in brackets, so that nobody takes what follows for a part of the last one."""
    said = [f"[{each or _SEES_ALL}]" for each in masks]
    return f"{_ALLOWS} {' or '.join(said)}."
