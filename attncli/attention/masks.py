"""Masks as equations: what the parts of a mask say about query i and key j, put together into one step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from attncli.attention.registry import COMPUTED_RULES
from attncli.equation.rule import Rule
from attncli.problem.masks import Clause, Offset
from attncli.problem.model import Mask


def clauses(mask: Mask, offset: Offset) -> tuple[Clause, ...]:
    """The conditions of every part, with names of their own where a form is given twice."""
    found: list[Clause] = []
    for part in mask.parts:
        earlier = sum(type(part) is type(other) for other in mask.parts[: len(found)])
        found.append(part.clause(offset, f"_{earlier + 1}" if earlier else ""))
    return tuple(found)


def mask_rule(parts: tuple[Clause, ...]) -> Rule:
    """The mask step for these parts: 0 (or what is added) where all allow it, -inf elsewhere."""
    rule = COMPUTED_RULES["mask"]
    conditions = dict.fromkeys(condition for part in parts for condition in part.conditions)
    added = " + ".join(part.added for part in parts if part.added)
    visible = " and ".join(conditions)
    value = f"where({visible}, {added or '0'}, -inf)" if visible else added or "0"
    meaning = rule.meaning if not added else "What is added to the scores; `-inf` hides a key from a query."

    counting = ("Positions count from 0.",) if any(part.counts_positions for part in parts) else ()

    def in_words(clauses: Iterable[str]) -> str:
        return " ".join([meaning, *filter(None, clauses), *counting])

    return replace(
        rule,
        formula=f"mask[i, j] = {value}",
        meaning=in_words(part.meaning for part in parts),
        meanings=tuple(
            in_words(part.meanings[entry] if part.meanings else part.meaning for part in parts)
            for entry in range(max(len(part.meanings) for part in parts))
        ),
    )
