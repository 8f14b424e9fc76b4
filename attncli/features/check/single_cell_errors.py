"""Slips in a single cell: a sign, a term left out, a neighbour's number, digits swapped; each tried on the cell's sums.

Slips come in kinds, the likeliest first. A slip is named only if it gives the cell as it was written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import cast

import numpy as np

from attncli.answers.model import Claim
from attncli.equation.intervals import Interval
from attncli.equation.nodes import Call, Expression, Ref, walk
from attncli.features.check.carried_values import Box, Sentences, interval
from attncli.features.check.cell_equations import Cell
from attncli.features.check.expression_graph import Tape
from attncli.features.check.reachability import can_reach, range_of
from attncli.features.check.transcription_errors import miscopied, miswritten
from attncli.features.check.verdicts import rounds_to

MOST_READ = 64  # numbers in a cell's equation that slips are sought in


@dataclass(frozen=True, slots=True)
class Slip:
    """What was done, how unlikely its kind is, and the cell's equation with it, over named cells.

    `chance` is the share of all numbers that this kind of slip, or a likelier one, would explain just as well; `plain`
    says that it gives the cell with the numbers exactly as they stand, not only with some within their rounding.
    `copied` is how a number was miscopied, which the tree reads from the `box`.
    """

    name: str
    kind: int
    tree: Expression
    box: Box = field(default_factory=dict)
    chance: float = 0.0
    plain: bool = True
    copied: str = ""

    @property
    def on_the_way(self) -> bool:
        """Whether it was made in working the cell out, not in writing the result."""
        return self.kind > 1


def slips(sentences: Sentences, name: str, index: Cell) -> list[Slip]:
    """All slips that give this cell as it was written."""
    claim = cast("Claim", sentences.answers.steps[name].cells[index])
    if not claim.value.is_finite():
        return []
    found = [*_of_the_result(sentences, name, index, claim)]
    tree = _named(sentences, name, index)
    read = [node for node in walk(tree) if isinstance(node, Ref)]
    if len(read) > MOST_READ or any(isinstance(sentences.settled(ref, {}).tree, Call) for ref in read):
        return found  # nothing tells what was written on the way
    candidates = [*_of_terms(tree), *_of_reads(sentences, tree)]
    ranges = [_range(sentences, slip) for slip in candidates]
    chances = _chances(candidates, ranges, claim)
    target = interval(claim)
    found += (
        replace(slip, chance=chances[slip.kind], plain=_as_they_stand(sentences, slip, claim))
        for slip, range in zip(candidates, ranges, strict=True)
        if range.meets(target) and _reached(sentences, slip, claim)
    )
    return found


def _range(sentences: Sentences, slip: Slip) -> Interval:
    sentence = sentences.settled(slip.tree, slip.box)
    return range_of(sentence.tree, sentence.box)


def _chances(candidates: list[Slip], ranges: list[Interval], claim: Claim) -> dict[int, float]:
    """For each kind, how much of what lies between all these numbers it covers, together with likelier kinds."""
    finite = [range for range in ranges if math.isfinite(range.width)]
    if not finite:
        return {slip.kind: 1.0 for slip in candidates}
    around = max(range.high for range in finite) - min(range.low for range in finite)
    unit = 2 * float(claim.half)
    chances = {}
    for kind in {slip.kind for slip in candidates}:
        covered: dict[float, float] = {}
        for slip, range in zip(candidates, ranges, strict=True):
            if slip.kind <= kind and math.isfinite(range.width):
                covered[round(range.middle / unit) if unit else range.middle] = range.width + unit
        chances[kind] = min(sum(covered.values()) / around, 1.0) if around else 1.0
    return chances


def _reached(sentences: Sentences, slip: Slip, claim: Claim) -> bool:
    sentence = sentences.settled(slip.tree, slip.box)
    return can_reach(sentence.tree, sentence.box, interval(claim))


def _as_they_stand(sentences: Sentences, slip: Slip, claim: Claim) -> bool:
    sentence = sentences.settled(slip.tree, slip.box)
    own = Tape.of(sentence.tree).value({ref: range.middle for ref, range in sentence.box.items()})
    return rounds_to(Decimal(f"{own:.15g}"), claim)


def _named(sentences: Sentences, name: str, index: Cell) -> Expression:
    """The cell's equation over the cells of steps by their names."""

    def read(other: str, at: Cell) -> Expression:
        return Ref(other, tuple(map(str, at))) if other in sentences.trace else sentences.read(other, at)

    return sentences.equations.tree(name, index, read)


def cell_text(ref: Ref) -> str:
    """Q[0][1]."""
    return ref.name + "".join(f"[{at}]" for at in ref.indices)


def _of_the_result(sentences: Sentences, name: str, index: Cell, claim: Claim) -> Iterator[Slip]:
    """The right number, written otherwise; or that of a neighbour."""
    own = Ref(name, tuple(map(str, index)))
    tree = _named(sentences, name, index)
    otherwise, near = list(miswritten(claim)), list(_neighbours(sentences, own))
    chances = [_hit(sentences, name, claim, number) for number in (len(otherwise), len(otherwise) + len(near))]
    for text, other in otherwise:
        if _may_be(sentences, name, index, other):
            yield Slip(text, 0, tree, chance=chances[0])
    for each in near:
        at = tuple(int(str(place)) for place in each.indices)
        if _may_be(sentences, name, at, claim):
            yield Slip(f"it is the number of {cell_text(each)}", 1, tree, chance=chances[1])


def _hit(sentences: Sentences, name: str, claim: Claim, numbers: int) -> float:
    """How much so many numbers cover of what lies between those of the step and the one that was written."""
    values = [*sentences.trace[name][np.isfinite(sentences.trace[name])].tolist(), float(claim.value)]
    around = max(values) - min(values)
    return min(numbers * 2 * float(claim.half) / around, 1.0) if around else 1.0


def _may_be(sentences: Sentences, name: str, index: Cell, claim: Claim) -> bool:
    """Whether a cell is this number, in truth or by what was written before it."""
    if rounds_to(sentences.true(name, index), claim):
        return True
    sentence = sentences.of(name, index)
    return bool(sentence.box) and can_reach(sentence.tree, sentence.box, interval(claim))


def _of_terms(tree: Expression) -> Iterator[Slip]:
    """A term of a sum left out, or with its sign turned."""
    for node in walk(tree):
        if not (isinstance(node, Call) and node.function == "add"):
            continue
        for at, term in enumerate(node.arguments):
            read = "·".join(cell_text(part) for part in walk(term) if isinstance(part, Ref))
            turned = (*node.arguments[:at], Call("neg", (term,)), *node.arguments[at + 1 :])
            yield Slip(f"the sign of {read} was turned", 2, _put(tree, node, Call("add", turned)))
            left = (*node.arguments[:at], *node.arguments[at + 1 :])
            if left:
                yield Slip(f"{read} was left out", 2, _put(tree, node, Call("add", left)))


def _of_reads(sentences: Sentences, tree: Expression) -> Iterator[Slip]:
    """Another number in place of one that the cell is worked out from."""
    for ref in dict.fromkeys(node for node in walk(tree) if isinstance(node, Ref)):
        for near in _neighbours(sentences, ref):
            yield Slip(f"{cell_text(near)} was taken for {cell_text(ref)}", 3, _put(tree, ref, near))
        claim = sentences.written(ref.name, tuple(int(str(at)) for at in ref.indices))
        if claim is None:
            continue
        copied = Ref(ref.name, (*ref.indices, "copied"))
        for kind, text in miscopied(claim):
            value = Claim(text, Decimal(text), claim.half)
            name = f"{cell_text(ref)} was copied as {text}"
            yield Slip(name, kind, _put(tree, ref, copied), {copied: interval(value)}, copied=text)


def _put(tree: Expression, node: Expression, other: Expression) -> Expression:
    """The tree with another node in place of one."""
    if tree == node:
        return other
    if isinstance(tree, Call):
        return Call(tree.function, tuple(_put(argument, node, other) for argument in tree.arguments))
    return tree


def _neighbours(sentences: Sentences, ref: Ref) -> Iterator[Ref]:
    """The cells beside this one, in its row and its column."""
    shape = sentences.trace.steps[ref.name].shape
    for axis in range(len(shape))[-2:]:
        for way in (1, -1):
            at = int(str(ref.indices[axis])) + way
            if 0 <= at < shape[axis]:
                yield Ref(ref.name, (*ref.indices[:axis], str(at), *ref.indices[axis + 1 :]))
