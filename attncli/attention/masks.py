"""Masks as equations: each part of a mask is one condition on query i and key j, or a matrix to add.

How to add a mask, here and elsewhere, is in `docs/contributing.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from attncli.attention.rule import Rule
from attncli.attention.rules import COMPUTED_RULES
from attncli.english import count, either
from attncli.equation.parse import parse_equation
from attncli.problem.model import Additive, Causal, Hide, Keep, Lengths, Mask, MaskPart, Matrix, Padding, Scalar, Window


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a mask: what must hold for a key to be visible, or the name of a matrix to add.

    `parameters` holds the numbers and arrays the condition reads, `meaning` says it in words.
    """

    name: str
    meaning: str
    conditions: tuple[str, ...] = ()
    added: str = ""
    parameters: Mapping[str, Scalar | Matrix] = field(default_factory=dict)


def mask_names(mask: Mask) -> list[str]:
    """The parts of a mask in words, as in the settings of a trace: ["causal", "padding"]."""
    return [part.name for part in mask.parts]


def mask_offset(mask: Mask, queries: int, keys: int) -> int:
    """How far position i reaches in a causal mask or a window: 0, or m - n at the bottom-right corner.

    m counts the keys that exist, after padding and lengths.
    """
    if mask.corner == "top-left":
        return 0
    exists = np.ones(keys, dtype=bool)
    for part in mask.parts:
        if isinstance(part, Padding):
            exists &= np.array(part.exists, dtype=bool)
        elif isinstance(part, Lengths):
            exists &= np.arange(keys) < part.length
    return int(exists.sum()) - queries


def clauses(mask: Mask, queries: int, keys: int) -> tuple[Clause, ...]:
    """The conditions of every part, with names of their own where a form is given twice."""
    offset = mask_offset(mask, queries, keys)
    found: list[Clause] = []
    for part in mask.parts:
        earlier = sum(type(part) is type(other) for other in mask.parts[: len(found)])
        found.append(_clause(part, offset, mask.corner, f"_{earlier + 1}" if earlier else ""))
    return tuple(found)


def mask_rule(parts: tuple[Clause, ...]) -> Rule:
    """The mask step for these parts: 0 (or what is added) where all allow it, -inf elsewhere."""
    rule = COMPUTED_RULES["mask"]
    conditions = [condition for part in parts for condition in part.conditions]
    added = " + ".join(part.added for part in parts if part.added)
    visible = " and ".join(conditions)
    value = f"where({visible}, {added or '0'}, -inf)" if visible else added or "0"
    meaning = rule.meaning if not added else "What is added to the scores; `-inf` hides a key from a query."
    return replace(
        rule,
        expression=parse_equation(f"mask[i, j] = {value}").expression,
        meaning=" ".join([meaning, *(part.meaning for part in parts if part.meaning), *_counting(parts)]),
    )


def _counting(parts: tuple[Clause, ...]) -> tuple[str, ...]:
    """How positions are counted, where a part speaks of them."""
    return ("Positions count from 0.",) if any(part.name in ("causal", "window") for part in parts) else ()


def _clause(part: MaskPart, offset: int, corner: str, suffix: str) -> Clause:
    reach = "i" if offset == 0 else "i + offset"
    parameters: dict[str, Scalar | Matrix] = {} if offset == 0 else {"offset": Scalar.of(offset)}
    match part:
        case Causal():
            where = "" if corner == "top-left" else f", aligned to the bottom-right corner (offset {offset})"
            meaning = f"Causal: query `i` sees the keys up to position `{reach}`{where}."
            return Clause("causal", meaning, (f"j <= {reach}",), parameters=parameters)
        case Window(left=left, right=right):
            before, after = f"left{suffix}", f"right{suffix}"
            limits = (f"j >= {reach} - {before}",) * (left >= 0) + (f"j <= {reach} + {after}",) * (right >= 0)
            parameters |= {name: Scalar.of(size) for name, size in ((before, left), (after, right)) if size >= 0}
            return Clause("window", _window_meaning(left, right), limits, parameters=parameters)
        case Padding(exists=exists):
            gone = exists.count(False)
            meaning = f"Padding: {gone} of {len(exists)} keys {either(gone, 'is', 'are')} only there to fill up."
            parameters = {f"exists{suffix}": Matrix(np.array(exists, dtype=np.float64))}
            return Clause("padding", meaning, (f"exists{suffix}[j] == 1",), parameters=parameters)
        case Lengths(length=length):
            meaning = f"Lengths: only the first {length} keys exist."
            parameters = {f"length{suffix}": Scalar.of(length)}
            return Clause("lengths", meaning, (f"j < length{suffix}",), parameters=parameters)
        case Keep(matrix=matrix):
            parameters = {f"keep{suffix}": Matrix(matrix.astype(np.float64))}
            return Clause("keep", "Keep: 1 may be seen.", (f"keep{suffix}[i, j] == 1",), parameters=parameters)
        case Hide(matrix=matrix):
            parameters = {f"hide{suffix}": Matrix(matrix.astype(np.float64))}
            return Clause("hide", "Hide: 1 is hidden.", (f"hide{suffix}[i, j] == 0",), parameters=parameters)
        case Additive(matrix=matrix):
            name = f"additive{suffix}"
            return Clause("additive", "", added=f"{name}[i, j]", parameters={name: matrix})


def _window_meaning(left: int, right: int) -> str:
    def side(size: int, word: str) -> str:
        return f"any number of keys {word}" if size < 0 else f"{count(size, 'key')} {word}"

    return f"Window: a query sees {side(left, 'before')} and {side(right, 'after')} its own position."
