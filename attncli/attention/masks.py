"""Masks as equations: each part of a mask is one condition on query i and key j, or a matrix to add.

How to add a mask, here and elsewhere, is in `docs/contributing.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from attncli.attention.offset import Offset
from attncli.attention.registry import COMPUTED_RULES
from attncli.attention.rule import Rule
from attncli.english import count, either
from attncli.equation.lift import Leads
from attncli.equation.parser import parse_equation
from attncli.problem.axes import BATCH, HEAD
from attncli.problem.model import (
    Additive,
    Causal,
    Hide,
    Keep,
    Lengths,
    Mask,
    MaskPart,
    Matrix,
    Padding,
    Scalar,
    Window,
    read_only,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a mask: what must hold for a key to be visible, or the name of a matrix to add.

    `parameters` holds the numbers and arrays the condition reads, `leads` the leading axes of those that have any;
    `meaning` says it in words, `meanings` for each entry of a batch where it is not alike for all.
    """

    name: str
    meaning: str
    conditions: tuple[str, ...] = ()
    added: str = ""
    parameters: Mapping[str, Scalar | Matrix] = field(default_factory=dict)
    leads: Leads = field(default_factory=dict)
    meanings: tuple[str, ...] = ()


def mask_names(mask: Mask) -> list[str]:
    """The parts of a mask in words, as in the settings of a trace: ["causal", "padding"]."""
    return [part.name for part in mask.parts]


def clauses(mask: Mask, offset: Offset) -> tuple[Clause, ...]:
    """The conditions of every part, with names of their own where a form is given twice."""
    found: list[Clause] = []
    for part in mask.parts:
        earlier = sum(type(part) is type(other) for other in mask.parts[: len(found)])
        found.append(_clause(part, offset, f"_{earlier + 1}" if earlier else ""))
    return tuple(found)


def mask_rule(parts: tuple[Clause, ...]) -> Rule:
    """The mask step for these parts: 0 (or what is added) where all allow it, -inf elsewhere."""
    rule = COMPUTED_RULES["mask"]
    conditions = dict.fromkeys(condition for part in parts for condition in part.conditions)
    added = " + ".join(part.added for part in parts if part.added)
    visible = " and ".join(conditions)
    value = f"where({visible}, {added or '0'}, -inf)" if visible else added or "0"
    meaning = rule.meaning if not added else "What is added to the scores; `-inf` hides a key from a query."

    def said(clauses: Iterable[str]) -> str:
        return " ".join([meaning, *filter(None, clauses), *_counting(parts)])

    return replace(
        rule,
        expression=parse_equation(f"mask[i, j] = {value}").expression,
        meaning=said(part.meaning for part in parts),
        meanings=tuple(
            said(part.meanings[entry] if part.meanings else part.meaning for part in parts)
            for entry in range(max(len(part.meanings) for part in parts))
        ),
    )


def _counting(parts: tuple[Clause, ...]) -> tuple[str, ...]:
    """How positions are counted, where a part speaks of them."""
    return ("Positions count from 0.",) if any(part.name in ("causal", "window") for part in parts) else ()


def _clause(part: MaskPart, offset: Offset, suffix: str) -> Clause:
    reach = offset.reach
    match part:
        case Causal():
            meanings = _each(_causal_meaning(each) for each in offset.entries)
            condition = (f"j <= {reach}",)
            return Clause(
                "causal", _causal_meaning(offset), condition, "", offset.parameters, offset.leads, meanings=meanings
            )
        case Window(left=left, right=right):
            before, after = f"left{suffix}", f"right{suffix}"
            first = f"j >= {reach} - {before}" if left else f"j >= {reach}"
            last = f"j <= {reach} + {after}" if right else f"j <= {reach}"
            limits = (*[first] * (left >= 0), *[last] * (right >= 0))
            sides = {name: Scalar.of(size) for name, size in ((before, left), (after, right)) if size > 0}
            meaning = _window_meaning(left, right)
            return Clause("window", meaning, limits, "", {**offset.parameters, **sides}, offset.leads)
        case Padding(exists=exists):
            name, parameter = f"exists{suffix}", {f"exists{suffix}": Matrix(np.array(exists, dtype=np.float64))}
            meanings = _each(_padding_meaning((row,)) for row in exists)
            clause = Clause("padding", _padding_meaning(exists), (f"{name}[j] == 1",), "", parameter, meanings=meanings)
            return _without_ones(clause, name, (BATCH,))
        case Lengths(lengths=(length,)):
            parameters = {f"length{suffix}": Scalar.of(length)}
            return Clause("lengths", _length_meaning(length), (f"j < length{suffix}",), "", parameters)
        case Lengths(lengths=lengths):
            name, parameter = f"length{suffix}", {f"length{suffix}": Matrix(np.array(lengths, dtype=np.float64))}
            meaning = f"Lengths: only the first keys of each entry exist: {', '.join(map(str, lengths))}."
            meanings = _each(map(_length_meaning, lengths))
            return Clause("lengths", meaning, (f"j < {name}",), "", parameter, {name: (BATCH,)}, meanings)
        case Keep(matrix=matrix):
            name, parameter = f"keep{suffix}", {f"keep{suffix}": Matrix(matrix.astype(np.float64))}
            clause = Clause("keep", "Keep: 1 may be seen.", (f"{name}[i, j] == 1",), "", parameter)
            return _without_ones(clause, name, (BATCH, HEAD))
        case Hide(matrix=matrix):
            name, parameter = f"hide{suffix}", {f"hide{suffix}": Matrix(matrix.astype(np.float64))}
            clause = Clause("hide", "Hide: 1 is hidden.", (f"{name}[i, j] == 0",), "", parameter)
            return _without_ones(clause, name, (BATCH, HEAD))
        case Additive(matrix=matrix):
            name = f"additive{suffix}"
            return _without_ones(Clause("additive", "", (), f"{name}[i, j]", {name: matrix}), name, (BATCH, HEAD))


def _without_ones(clause: Clause, name: str, letters: tuple[str, ...]) -> Clause:
    """The clause with the leading axes of its array named; one of length 1 is for all and is left out."""
    matrix = clause.parameters[name]
    assert isinstance(matrix, Matrix)
    value, written = matrix.value, matrix.written
    own = 1 if clause.name == "padding" else 2
    found = letters[len(letters) - (value.ndim - own) :]
    ones = tuple(at for at, _ in enumerate(found) if value.shape[at] == 1)
    if not ones:
        return replace(clause, leads={name: found} if found else {})
    squeezed = Matrix(read_only(value.squeeze(ones)), None if written is None else read_only(written.squeeze(ones)))
    leads = tuple(letter for at, letter in enumerate(found) if at not in ones)
    return replace(clause, parameters={name: squeezed}, leads={name: leads} if leads else {})


def _each(meanings: Iterable[str]) -> tuple[str, ...]:
    """What each entry is told; nothing where there is one for all."""
    found = tuple(meanings)
    return found if len(found) > 1 else ()


def _causal_meaning(offset: Offset) -> str:
    return f"Causal: query `i` sees the keys up to position `{offset.reach}`{offset.meaning}."


def _padding_meaning(exists: Sequence[Sequence[bool]]) -> str:
    keys, gone = sum(map(len, exists)), sum(row.count(False) for row in exists)
    return f"Padding: {gone} of {keys} keys {either(gone, 'is', 'are')} only there to fill up."


def _length_meaning(length: int) -> str:
    return f"Lengths: only the first {f'{length} keys exist' if length != 1 else 'key exists'}."


def _window_meaning(left: int, right: int) -> str:
    def side(size: int, word: str) -> str:
        return f"any number of keys {word}" if size < 0 else f"{count(size, 'key')} {word}"

    return f"Window: a query sees {side(left, 'before')} and {side(right, 'after')} its own position."
