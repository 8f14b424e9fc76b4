"""Errors in a single cell: a sign, a term left out, a neighbour's number, digits swapped; each
tried on its equation.

Errors come in kinds, the likeliest first. One is named only if it gives the cell as it was written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import IntEnum
from itertools import pairwise
from typing import cast

import numpy as np

from attncli.answers.model import Claim
from attncli.english import count
from attncli.equation.intervals import Interval
from attncli.equation.nodes import Call, Expression, Ref, rewrite, walk
from attncli.features.check.cell_values import (
    CellIndex,
    CellValues,
    cell_of,
    interval,
    ref_to,
)
from attncli.features.check.reachability import CellEquation, Ranges
from attncli.features.check.verdicts import rounds_to
from attncli.tracing.model import Step

# A wrong number is compared with those that are up to so many times as far from the right one.
TIMES_AS_FAR = 2
SIGN_TURNED = "the sign is wrong"
# Errors are sought in equations of cells that read no more numbers than these.
MOST_NUMBERS_READ = 64
# In characters: 1e308 in digits has thousands of ways to be miscopied, and nobody copies it by
# hand.
_LONGEST_NUMBER_COPIED = 30
_PLAIN_NUMBER = re.compile(r"[-+]?(?!0\d)\d*\.?\d+")


class ErrorKind(IntEnum):
    """The kinds of errors in one cell, the likeliest first: the three of the result, then those on
    the way to it.
    """

    RESULT_MISWRITTEN = 0
    RESULT_CUT = 1
    RESULT_OF_NEIGHBOUR = 2
    WRONG_TERM = 3
    STEP_READ = 4
    NEIGHBOUR_READ = 5
    DIGITS_SWAPPED = 6
    MISCOPIED = 7


@dataclass(frozen=True, slots=True)
class CellError:
    """What was done, how unlikely its kind is, and the cell's equation with it, over named cells.

    `chance` is the share of all numbers that this kind of error, or a likelier one, would explain
    just as well; `plain` says that it gives the cell with the numbers exactly as they stand, not
    only with some within their rounding. `copied` is how a number was miscopied, which the tree
    reads from the `ranges`. Else these are of numbers that are not written.
    """

    name: str
    kind: ErrorKind
    tree: Expression
    ranges: Ranges = field(default_factory=dict)
    chance: float = 0.0
    plain: bool = True
    copied: str = ""

    @property
    def on_the_way(self) -> bool:
        """Whether it was made in working the cell out, not in writing the result."""
        return self.kind > ErrorKind.RESULT_OF_NEIGHBOUR


def cell_errors(values: CellValues, name: str, index: CellIndex) -> list[CellError]:
    """All errors that give this cell as it was written."""
    claim = cast("Claim", values.answers.steps[name].cells[index])
    if not claim.value.is_finite():
        return []
    found = [*_of_the_result(values, name, index, claim)]
    tree = _over_named_cells(values, name, index)
    read = [node for node in walk(tree) if isinstance(node, Ref)]
    if len(read) > MOST_NUMBERS_READ:
        return found
    # What was written on the way is not known where a number was left out.
    left_out = {ref for ref in read if _is_left_out(values, ref)}
    half = float(claim.half)
    candidates = [
        error
        for error in (
            *_of_terms(values, tree),
            *_of_steps(values, tree, half),
            *_of_reads(values, tree),
        )
        if left_out.isdisjoint(walk(error.tree))
    ]
    # By the tree: a number that may be miscopied in many ways has one tree for all of them.
    known: dict[int, CellEquation] = {}
    for error in candidates:
        if id(error.tree) not in known:
            known[id(error.tree)] = values.equation_of(error.tree, error.ranges)
    equations = [known[id(error.tree)].with_ranges(error.ranges) for error in candidates]
    chances = _chances(
        candidates,
        [equation.range for equation in equations],
        float(values.own(name, index)),
        float(claim.value),
        _unit(values.trace.steps[name], claim),
    )
    target = interval(claim)
    found += (
        replace(error, chance=chances[error.kind], plain=_gives_as_it_stands(equation, claim))
        for error, equation in zip(candidates, equations, strict=True)
        if equation.reaches(target)
    )
    return found


def _is_left_out(values: CellValues, ref: Ref) -> bool:
    """Whether a number is worked out, and not written."""
    return isinstance(values.equation_of(ref, {}).tree, Call)


def _chances(
    candidates: list[CellError], ranges: list[Interval], own: float, written: float, unit: float
) -> dict[ErrorKind, float]:
    """For each kind, how much it covers, together with likelier kinds, of what lies between all
    these numbers, or else of those about as far from the right one: near that they are close
    together, since most errors are small.
    """
    finite = [range for range in ranges if math.isfinite(range.width)]
    if not finite or not math.isfinite(own):
        return {error.kind: 1.0 for error in candidates}
    away = TIMES_AS_FAR * abs(written - own)
    everywhere = Interval(min(range.low for range in finite), max(range.high for range in finite))
    chances = {}
    for kind in {error.kind for error in candidates}:
        able = [
            range for error, range in zip(candidates, ranges, strict=True) if error.kind <= kind
        ]
        chances[kind] = max(
            _covered(able, where, unit) for where in (everywhere, Interval(own - away, own + away))
        )
    return chances


def _covered(ranges: list[Interval], where: Interval, unit: float) -> float:
    """Which share of a range these cover; what comes to the same number counts once."""
    if not where.width:
        return 1.0
    widths: dict[float, float] = {}
    for range in ranges:
        if math.isfinite(range.width) and range.meets(where):
            number = round(range.middle / unit) if unit else range.middle
            widths[number] = range.width + unit
    return min(sum(widths.values()) / where.width, 1.0)


def _gives_as_it_stands(equation: CellEquation, claim: Claim) -> bool:
    """Whether an equation gives a claim with its numbers exactly as they stand, to all digits that
    doubles tell.
    """
    as_they_stand = {ref: range.middle for ref, range in equation.ranges.items()}
    own = equation.graph.value(as_they_stand)
    return rounds_to(Decimal(f"{own:.15g}"), claim)


def _over_named_cells(values: CellValues, name: str, index: CellIndex) -> Expression:
    """The cell's equation over the cells of steps by their names."""

    def read(other: str, at: CellIndex) -> Expression:
        return ref_to(other, at) if other in values.trace else values.read(other, at)

    return values.tree(name, index, read)


def cell_text(ref: Ref) -> str:
    """Q[0][1]."""
    return ref.name + "".join(f"[{at}]" for at in ref.indices)


def _of_the_result(
    values: CellValues, name: str, index: CellIndex, claim: Claim
) -> Iterator[CellError]:
    """The right number, written otherwise; or that of a neighbour."""
    tree = _over_named_cells(values, name, index)
    otherwise, near = list(miswritten(claim)), list(_neighbours(values, ref_to(name, index)))
    whole = before_cut(claim)
    step = values.trace.steps[name]

    def chance(numbers: float) -> float:
        return share_of_numbers(step, claim, numbers)

    for text, other in otherwise:
        if _may_be(values, name, index, other):
            yield CellError(text, ErrorKind.RESULT_MISWRITTEN, tree, chance=chance(len(otherwise)))
    if whole is not None and _may_be(values, name, index, whole[1]):
        as_many = len(otherwise) + float(whole[1].half / claim.half)
        yield CellError(whole[0], ErrorKind.RESULT_CUT, tree, chance=chance(as_many))
    for each in near:
        if _may_be(values, name, cell_of(each), claim):
            said = f"the number was copied from {cell_text(each)}"
            as_many = len(otherwise) + len(near)
            yield CellError(said, ErrorKind.RESULT_OF_NEIGHBOUR, tree, chance=chance(as_many))


def share_of_numbers(step: Step, claim: Claim, numbers: float) -> float:
    """How much so many numbers cover of what lies between those of the step and the one that was
    written.
    """
    if not claim.value.is_finite():
        return 1.0
    covered = numbers * _unit(step, claim)
    return _share(covered, _spread(step, claim))


def _unit(step: Step, claim: Claim) -> float:
    """How far apart the numbers are that somebody may write: whole ones, where all are whole."""
    numbers = step.value[np.isfinite(step.value)]
    is_whole = claim.value == claim.value.to_integral_value()
    if is_whole and (numbers == numbers.round()).all():
        return 1.0
    return 2 * float(claim.half)


def _spread(step: Step, claim: Claim) -> float:
    """How far apart the numbers of a step are, with the one that was written."""
    numbers = step.value
    lying = [*numbers[np.isfinite(numbers)].tolist(), float(claim.value)]
    return float(max(lying) - min(lying))


def share_of_numbers_near(step: Step, claim: Claim, own: float, width: float) -> float:
    """How much a range of this width covers of the numbers that a slip may have written: those of
    the step, or if they are fewer, those about as far from the right one as what was written.

    No slip makes -inf of a number, nor a number of -inf.
    """
    away = abs(float(claim.value) - own)
    if math.isinf(away):
        return 0.0
    around = _spread(step, claim)
    if away:
        about_as_far = 2 * TIMES_AS_FAR * away
        around = min(around, about_as_far)
    covered = width + 2 * float(claim.half)
    return _share(covered, around)


def _share(covered: float, around: float) -> float:
    """How much of a range is covered: all of one without a width, and never more than all."""
    return min(covered / around, 1.0) if around else 1.0


def _may_be(values: CellValues, name: str, index: CellIndex, claim: Claim) -> bool:
    """Whether a cell is this number, in truth or by what was written before it."""
    if rounds_to(values.true(name, index), claim):
        return True
    if not values.follows_answers(name):
        return False
    equation = values.equation(name, index)
    return bool(equation.ranges) and equation.reaches(interval(claim))


def _of_terms(values: CellValues, tree: Expression) -> Iterator[CellError]:
    """A term of a sum left out, or with its sign turned; where it is all of the result, that is the
    sign of this.
    """
    for node in walk(tree):
        if not (isinstance(node, Call) and node.function == "add"):
            continue
        alone = node == tree and sum(not _is_zero(values, term) for term in node.arguments) == 1
        for at, term in enumerate(node.arguments):
            read = "·".join(cell_text(part) for part in walk(term) if isinstance(part, Ref))
            turned = (*node.arguments[:at], Call("neg", (term,)), *node.arguments[at + 1 :])
            tree_with_turned = _put(tree, node, Call("add", turned))
            if alone:
                yield CellError(SIGN_TURNED, ErrorKind.RESULT_MISWRITTEN, tree_with_turned)
            else:
                yield CellError(
                    f"{read} has the wrong sign", ErrorKind.WRONG_TERM, tree_with_turned
                )
            left = (*node.arguments[:at], *node.arguments[at + 1 :])
            if left:
                yield CellError(
                    f"{read} was left out",
                    ErrorKind.WRONG_TERM,
                    _put(tree, node, Call("add", left)),
                )


def _is_zero(values: CellValues, term: Expression) -> bool:
    """Whether a term is 0 because one of the numbers in it is."""
    return any(
        values.own(ref.name, cell_of(ref)) == 0 for ref in walk(term) if isinstance(ref, Ref)
    )


def _of_steps(values: CellValues, tree: Expression, half: float) -> Iterator[CellError]:
    """The numbers of a step before it taken for those of one that the cell is worked out from.

    Those that are not written were rounded, and may be off by `half` a unit.
    """
    steps = values.trace.steps
    for name in {node.name: None for node in walk(tree) if isinstance(node, Ref)}:
        for other in _with_the_same_cells(steps, name):
            said = f"{other} was used instead of {name}"
            reading = _reading(tree, name, other)
            ranges = _ranges_of_unwritten(values, reading, other, half)
            yield CellError(said, ErrorKind.STEP_READ, reading, ranges)


def _ranges_of_unwritten(
    values: CellValues, tree: Expression, name: str, half: float
) -> dict[Ref, Interval]:
    """Where the numbers of a step may lie that are read, and not written."""
    found = {}
    for ref in walk(tree):
        if not isinstance(ref, Ref) or ref.name != name:
            continue
        own = float(values.own(name, cell_of(ref)))
        if values.written(name, cell_of(ref)) is None and math.isfinite(own):
            found[ref] = Interval(own - half, own + half)
    return found


def _reading(tree: Expression, name: str, other: str) -> Expression:
    """The tree with the cells of another step in place of those of one."""

    def put(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name == name:
            return replace(node, name=other)
        return node

    return rewrite(tree, put)


def _with_the_same_cells(steps: Mapping[str, Step], name: str) -> Iterator[str]:
    """The steps that one is worked out from, cell by cell."""
    rule = steps[name].rule
    if rule.given:
        return
    for read in rule.inputs:
        if read not in steps or read == "mask":
            continue
        if steps[read].rule.target.letters == rule.target.letters:
            yield read
            yield from _with_the_same_cells(steps, read)


def _of_reads(values: CellValues, tree: Expression) -> Iterator[CellError]:
    """Another number in place of one that the cell is worked out from.

    A neighbour's 0 is as good as a term left out; and what the neighbour's result is worked out
    from gives just that.
    """
    read = list(dict.fromkeys(node for node in walk(tree) if isinstance(node, Ref)))
    for ref in read:
        if len(read) > 1:
            yield from _of_neighbours_read(values, tree, ref)
        claim = values.written(ref.name, cell_of(ref))
        if claim is None:
            continue
        copied = Ref(ref.name, (*ref.indices, "copied"))
        with_copied = _put(tree, ref, copied)
        for kind, text in miscopied(claim):
            value = Claim(text, Decimal(text), claim.half)
            name = f"{cell_text(ref)} was copied as {text}"
            yield CellError(name, kind, with_copied, {copied: interval(value)}, copied=text)


def _of_neighbours_read(values: CellValues, tree: Expression, ref: Ref) -> Iterator[CellError]:
    is_shared = isinstance(tree, Call) and tree.function == "share" and tree.arguments[0] == ref
    for near in _neighbours(values, ref):
        if values.own(near.name, cell_of(near)) == 0:
            continue
        if is_shared and near.indices[:-1] == ref.indices[:-1]:
            continue
        said = f"{cell_text(near)} was used instead of {cell_text(ref)}"
        yield CellError(said, ErrorKind.NEIGHBOUR_READ, _put(tree, ref, near))


def _put(tree: Expression, node: Expression, other: Expression) -> Expression:
    """The tree with another node in place of one."""
    return rewrite(tree, lambda each: other if each == node else each)


def _neighbours(values: CellValues, ref: Ref) -> Iterator[Ref]:
    """The cells next to this one, in its row and its column."""
    shape = values.trace.steps[ref.name].shape
    index = cell_of(ref)
    row_and_column = range(len(shape))[-2:]
    for axis in row_and_column:
        for way in (1, -1):
            at = index[axis] + way
            if not 0 <= at < shape[axis]:
                continue
            beside = (*index[:axis], at, *index[axis + 1 :])
            yield ref_to(ref.name, beside)


# How a number comes to be written otherwise: with another sign or digit, two of them swapped, its
# point moved.


def miswritten(claim: Claim) -> Iterator[tuple[str, Claim]]:
    """What the number may have been meant to be.

    >>> from attncli.answers.claims import read_claim
    >>> for what, meant in miswritten(read_claim("1.2")):
    ...     print(meant.value, what)
    -1.2 the sign is wrong
    2.1 two digits were swapped
    12.0 the decimal point was moved
    0.12 the decimal point was moved
    """
    if claim.value:
        yield SIGN_TURNED, Claim(claim.text, -claim.value, claim.half)
    yield from (
        ("two digits were swapped", Claim(text, Decimal(text), claim.half))
        for text in _swapped(claim)
    )
    for factor in (Decimal(10), Decimal("0.1")):
        if claim.value:
            yield (
                "the decimal point was moved",
                Claim(claim.text, claim.value * factor, claim.half * factor),
            )


def before_cut(claim: Claim) -> tuple[str, Claim] | None:
    """What the number may have been before its last digits were cut off and not rounded, as 0.50 of
    0.58.

    Only a number that ends with zeros shows it: of others, what was cut off is less than a unit,
    which is a matter of rounding. A 0 is taken for one that lost a single digit.
    """
    written = -int(claim.value.as_tuple().exponent) if not claim.exact else 0
    if claim.value:
        kept = max(0, -int(claim.value.normalize().as_tuple().exponent))
    else:
        kept = written - 1
    if not 0 <= kept < written:
        return None
    half = Decimal(1).scaleb(-kept) / 2
    middle = claim.value + half.copy_sign(claim.value)
    said = "the decimals were cut off"
    if kept:
        said = f"the digits were cut off after {count(kept, 'decimal')}"
    return said, Claim(claim.text, middle, half, printed_double=True)


def miscopied(claim: Claim) -> Iterator[tuple[ErrorKind, str]]:
    """How a plain number may be copied, after the kind of error: two digits swapped, another sign,
    another digit.

    >>> from attncli.answers.claims import read_claim
    >>> copies = [number for _, number in miscopied(read_claim("1.2"))]
    >>> copies[:4], len(copies)
    (['2.1', '-1.2', '0.2', '2.2'], 20)
    >>> [number for _, number in miscopied(read_claim("-1"))][:3]
    ['1', '0', '-2']
    """
    if not _by_hand(claim.text) or not claim.value:
        return
    yield from ((ErrorKind.DIGITS_SWAPPED, text) for text in _swapped(claim))
    yield (
        ErrorKind.MISCOPIED,
        claim.text[1:] if claim.text[0] == "-" else f"-{claim.text.removeprefix('+')}",
    )
    for at, letter in enumerate(claim.text):
        if letter.isdigit():
            others = (
                f"{claim.text[:at]}{digit}{claim.text[at + 1 :]}"
                for digit in "0123456789"
                if digit != letter
            )
            for text in others:
                if _by_hand(text):
                    # Nobody reads -0.
                    yield ErrorKind.MISCOPIED, text if Decimal(text) else text.removeprefix("-")


def _by_hand(text: str) -> bool:
    """Whether it is a plain number with no more digits than people write."""
    return len(text) <= _LONGEST_NUMBER_COPIED and _PLAIN_NUMBER.fullmatch(text) is not None


def _swapped(claim: Claim) -> Iterator[str]:
    """A plain number with two neighbouring digits in the other order, unless it then begins with a
    0.
    """
    text = claim.text
    if not _by_hand(text):
        return
    places = [at for at, letter in enumerate(text) if letter.isdigit()]
    for one, other in pairwise(places):
        if text[one] != text[other]:
            letters = list(text)
            letters[one], letters[other] = letters[other], letters[one]
            if _by_hand(swapped := "".join(letters)):
                yield swapped
