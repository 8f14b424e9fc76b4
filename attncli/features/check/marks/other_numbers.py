"""Numbers with which a solution may have gone on, where right ones are written in their place.

Who works out all with a wrong number, and then puts this number right, has others that do not
follow any more. They follow from the wrong one, still.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias, cast

from attncli.answers.model import Answer, Answers, Claim
from attncli.equation.nodes import Ref
from attncli.equation.rounding import round_half_up
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of
from attncli.features.check.marks.fitting_number import FittingNumber, fitting_number
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.marks.partial_mistakes import GivenByMistake, given_by_mistakes
from attncli.features.check.marks.slips_before import (
    SlipBefore,
    named_tree,
    refs_of,
    slips_before,
)
from attncli.features.check.no_work import is_one_number
from attncli.features.check.trials import Trial
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where

# The wrong cells of each step.
WrongOfSteps: TypeAlias = Mapping[str, tuple[CellIndex, ...]]
# A number that gives fewer cells may be any.
FEWEST_CELLS = 2
# If no number gives all cells that read it, so many are taken for slips, one after the other.
MOST_SLIPS_TRIED = 6


@dataclass(frozen=True, slots=True)
class OtherNumbers:
    """Numbers in the place of right ones: all that a `mistake` makes of a step (then they are
    `whole`), one of them, or one that `fits` the wrong numbers that read it. It `is_open` if many
    others fit as well.
    """

    numbers: Mapping[WrongCell, Claim]
    mistake: Trial | None = None
    is_whole: bool = False
    fits: bool = False
    is_open: bool = False

    @property
    def key(self) -> frozenset[tuple[WrongCell, Decimal]]:
        """What two that are the same have in common."""
        return frozenset((cell, claim.value) for cell, claim in self.numbers.items())

    @property
    def said(self) -> dict[WrongCell, str]:
        """What each number is called."""
        if self.is_open:
            return dict.fromkeys(self.numbers, "another number")
        return {cell: f"{claim.value:f}" for cell, claim in self.numbers.items()}

    def with_numbers(self, further: Mapping[WrongCell, Claim]) -> OtherNumbers:
        return replace(self, numbers={**self.numbers, **further})

    def put_into(self, answers: Answers) -> Answers:
        """The answers with these numbers."""
        steps = dict(answers.steps)
        for (name, index), claim in self.numbers.items():
            cells = steps[name].cells.copy()
            cells[index] = claim
            steps[name] = Answer(name, cells)
        return replace(answers, steps=steps)


def other_numbers(
    judgement: Judgement, wrong: WrongOfSteps, lost: Collection[str] = ()
) -> Iterator[OtherNumbers]:
    """What may have stood in the place of right numbers, each only once. In some steps, wrong
    numbers are `lost`: nothing explains them, and one more may be any.
    """
    seen = set[frozenset[tuple[WrongCell, Decimal]]]()
    search = _Replacements(judgement, wrong, lost)
    for found in search.all():
        key = found.key
        if key and key not in seen:
            seen.add(key)
            yield found


def written_read(values: CellValues, step: str, cell: CellIndex) -> list[Ref]:
    """The numbers of the solution that a cell is worked out from, also by way of others that are
    not written.
    """
    found = dict[Ref, None]()
    seen = set[WrongCell]()
    waiting = [(step, cell)]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        for ref in sorted(refs_of(named_tree(values, *at)), key=str):
            read = ref.name, cell_of(ref)
            if ref.name not in values.trace or values.trace.steps[ref.name].rule.given:
                continue
            if values.written(*read) is None:
                waiting.append(read)
            else:
                found[ref] = None
    return [*found]


@dataclass(frozen=True)
class _Replacements:
    """The search in a solution with these wrong cells."""

    judgement: Judgement
    wrong: WrongOfSteps
    lost: Collection[str]

    def all(self) -> Iterator[OtherNumbers]:
        """What follows, what a mistake makes, and what wrong numbers follow from."""
        for name in self.judgement.steps:
            yield from _together_and_alone(self._that_follow(name))
        for slip in slips_before(self.judgement, self.wrong):
            yield from _together_and_alone(self._made_by(slip))
        for given in self.of_mistakes:
            yield from self._made_by_mistake(given)
        yield from self._read(self.judgement.values, self.wrong)
        for given in self.of_mistakes:
            yield from self._read(given.values, given.left)

    @cached_property
    def of_mistakes(self) -> Sequence[GivenByMistake]:
        return [*given_by_mistakes(self.judgement, self.wrong)]

    def _that_follow(self, name: str) -> dict[WrongCell, Claim]:
        """What follows from the numbers before, where the right one is another."""
        found: dict[WrongCell, Claim] = {}
        if self.judgement.trace.steps[name].rule.given:
            return found
        cells = self.judgement.steps[name]
        for index in indices_where(cells, "right"):
            cell = cast("JudgedCell", cells[index])
            claim = cast("Claim", cell.given)
            if cell.follows or claim.exact or not math.isfinite(cell.own):
                continue
            found[name, index] = with_decimals_of(claim, self.judgement.values.own(name, index))
        return found

    def _made_by(self, slip: SlipBefore) -> dict[WrongCell, Claim]:
        """What a slip in a number that is not written makes of those that deny it."""
        found: dict[WrongCell, Claim] = {}
        for index, number in slip.denied_by.items():
            cell = slip.step, index
            claim = self._claim(cell)
            if not self._is_right(cell) or claim.exact or not math.isfinite(number):
                continue
            other = with_decimals_of(claim, Decimal(repr(number)))
            if other.value != claim.value:
                found[cell] = other
        return found

    def _made_by_mistake(self, given: GivenByMistake) -> Iterator[OtherNumbers]:
        """What a mistake makes of right numbers: of all, of those of a step, and of each alone."""
        of_steps: dict[str, dict[WrongCell, Claim]] = {}
        for cell, claim in given.makes.items():
            if self._is_right(cell):
                of_steps.setdefault(cell[0], {})[cell] = claim
        yield OtherNumbers(dict(ChainMap(*of_steps.values())), given.trial, is_whole=True)
        for makes in of_steps.values():
            yield from _together_and_alone(makes, given.trial)

    def _read(self, values: CellValues, wrong: WrongOfSteps) -> Iterator[OtherNumbers]:
        """The numbers from which wrong cells follow by some equations: the right ones, or those of
        a mistake.
        """
        for step, cells in wrong.items():
            if values.trace.steps[step].rule.given or is_one_number(self.judgement, step):
                continue
            readers: dict[Ref, list[CellIndex]] = {}
            for cell in cells:
                if not self._tells(step, cell):
                    continue
                for ref in self._right_read(values, step, cell):
                    readers.setdefault(ref, []).append(cell)
            for ref, of in readers.items():
                fewest = 1 if ref.name in self.lost else FEWEST_CELLS
                for number in _numbers_that_fit(values, ref, step, of, fewest):
                    yield from self._in_place_of(ref, number)

    def _in_place_of(self, ref: Ref, number: FittingNumber) -> Iterator[OtherNumbers]:
        """A number that fits, rounded down and up: either may have been written."""
        cell = ref.name, cell_of(ref)
        claim = self._claim(cell)
        half = float(claim.half)
        for end in (number.value - half, number.value + half):
            other = with_decimals_of(claim, Decimal(repr(end)))
            if other.value != claim.value:
                yield OtherNumbers({cell: other}, fits=True, is_open=number.open)

    def _right_read(self, values: CellValues, step: str, cell: CellIndex) -> list[Ref]:
        """The right numbers that a cell is worked out from."""
        found = []
        for ref in written_read(values, step, cell):
            read = ref.name, cell_of(ref)
            if self._is_right(read) and not self._claim(read).exact:
                found.append(ref)
        return found

    def _tells(self, step: str, cell: CellIndex) -> bool:
        """Whether a wrong number says from which one it follows; one with few decimals does not."""
        judged = cast("JudgedCell", self.judgement.steps[step][cell])
        claim = cast("Claim", judged.given)
        return claim.value.is_finite() and not (claim.exact or judged.looks_too_coarse)

    def _claim(self, cell: WrongCell) -> Claim:
        name, index = cell
        return cast("Claim", self.judgement.steps[name][index].given)

    def _is_right(self, cell: WrongCell) -> bool:
        name, index = cell
        return bool(self.judgement.steps[name][index].verdict == "right")


def _together_and_alone(
    numbers: Mapping[WrongCell, Claim], mistake: Trial | None = None
) -> Iterator[OtherNumbers]:
    yield OtherNumbers(numbers, mistake, is_whole=True)
    if len(numbers) > 1:
        for cell, claim in numbers.items():
            yield OtherNumbers({cell: claim}, mistake)


def _numbers_that_fit(
    values: CellValues, ref: Ref, step: str, cells: Sequence[CellIndex], fewest: int
) -> Iterator[FittingNumber]:
    """The number that gives all of these cells; if there is none, those that give all but one."""
    if len(cells) < fewest:
        return
    number = fitting_number(values, ref, step, cells)
    if number is not None:
        yield number
        return
    if len(cells) == fewest:
        return
    for slip in cells[:MOST_SLIPS_TRIED]:
        others = [cell for cell in cells if cell != slip]
        number = fitting_number(values, ref, step, others)
        if number is not None:
            yield number


def with_decimals_of(claim: Claim, number: Decimal) -> Claim:
    """A number with as many decimals as another one was to have."""
    value = round_half_up(number, claim.decimals_asked)
    half_as_written = None if claim.half_as_written is None else claim.half
    return Claim(f"{value:f}", value, claim.half, half_as_written=half_as_written)
