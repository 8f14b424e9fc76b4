"""The search for other numbers in the place of right ones.

These are what follows from the numbers before, what a slip or a mistake makes of right ones, and
what wrong ones follow from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import cast

from attncli.answers.model import Claim
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.marks.numbers_read import NumbersRead
from attncli.features.check.marks.other_numbers import OtherNumbers, WrittenNumbers, WrongOfSteps
from attncli.features.check.marks.partial_mistakes import GivenByMistake, given_by_mistakes
from attncli.features.check.marks.slips_before import SlipBefore, slips_before
from attncli.features.check.trials import Trial
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where, judge_with


def other_numbers(
    judgement: Judgement, wrong: WrongOfSteps, settled: Set[str]
) -> Iterator[OtherNumbers]:
    """What may have stood in the place of right numbers, each only once.

    In the `settled` steps, one wrong number more may cost less than a slip. There, a number that
    gives a single cell counts, too.
    """
    seen = set[tuple[str, frozenset[tuple[WrongCell, Decimal]]]]()
    search = _Replacements(judgement, wrong, settled)
    for found in search.all():
        key = found.key
        is_new = key not in seen
        if found.numbers and is_new:
            seen.add(key)
            yield found


@dataclass(frozen=True)
class _Replacements:
    """The search in a solution with these wrong cells."""

    judgement: Judgement
    wrong: WrongOfSteps
    settled: Set[str]

    def all(self) -> Iterator[OtherNumbers]:
        """What follows, what a slip or a mistake makes, and what wrong numbers follow from."""
        for name in self.judgement.steps:
            yield from _together_and_alone(self._that_follow(name))
        # A single cell is enough: others may follow from what the slip makes of right numbers.
        for slip in slips_before(self.judgement, self.wrong, fewest=1):
            yield from _together_and_alone(self._made_by(slip))
        given = [*given_by_mistakes(self.judgement, self.wrong)]
        for each in given:
            yield from self._made_by_mistake(each)
        # A mistake gives what comes after, too, where all of its own numbers were put right.
        without_right = self._without_right()
        for each in given_by_mistakes(self.judgement, self._worked, without_right):
            yield self._all_made_by(each)
        yield from self._read(given, without_right)

    def _read(
        self, given: Sequence[GivenByMistake], without_right: Judgement
    ) -> Iterator[OtherNumbers]:
        """The numbers from which wrong ones follow."""
        read = NumbersRead(self.numbers, self.wrong, self.settled)
        yield from read.at_once(self.judgement.values, self.wrong)
        for each in given:
            # The mistake gives other cells as they are.
            yield from read.at_once(each.values, each.left, each.trial, fewest=1)
        yield from read.by_way(without_right.values)
        yield from read.by_all({each.trial.mistake.name for each in given})

    @cached_property
    def numbers(self) -> WrittenNumbers:
        return WrittenNumbers(self.judgement)

    @property
    def _worked(self) -> WrongOfSteps:
        """The wrong cells without those of steps in which all numbers are alike."""
        alike = self.numbers.alike
        return {step: cells for step, cells in self.wrong.items() if step not in alike}

    def _without_right(self) -> Judgement:
        """The solution as if nothing stood in the place of its right numbers."""
        right = [(name, index) for name, index, _ in self.judgement.cells_that_are("right")]
        return judge_with(self.judgement, dict.fromkeys(right))

    def _that_follow(self, name: str) -> dict[WrongCell, Claim]:
        """What follows from the numbers before, where the right one is another."""
        found: dict[WrongCell, Claim] = {}
        if self.judgement.trace.steps[name].rule.given:
            return found
        cells = self.judgement.steps[name]
        for index in indices_where(cells, "right"):
            if cast("JudgedCell", cells[index]).follows:
                continue
            own = self.judgement.values.own(name, index)
            other = self.numbers.another((name, index), own)
            if other is not None:
                found[name, index] = other
        return found

    def _made_by(self, slip: SlipBefore) -> dict[WrongCell, Claim]:
        """What a slip in a number that is not written makes of those that deny it."""
        found: dict[WrongCell, Claim] = {}
        for index, number in slip.denied_by.items():
            cell = slip.step, index
            if not self.numbers.may_be_another(cell):
                continue
            other = self.numbers.another(cell, Decimal(repr(number)))
            if other is not None:
                found[cell] = other
        return found

    def _all_made_by(self, given: GivenByMistake) -> OtherNumbers:
        """What a mistake makes of all right numbers."""
        others = self._others(given.makes)
        return OtherNumbers(others, given.trial, is_whole=True)

    def _others(self, makes: Mapping[WrongCell, Claim]) -> dict[WrongCell, Claim]:
        """Those that stand in the place of numbers that may be others."""
        found: dict[WrongCell, Claim] = {}
        for cell, claim in makes.items():
            if self.numbers.may_be_another(cell):
                found[cell] = claim
        return found

    def _made_by_mistake(self, given: GivenByMistake) -> Iterator[OtherNumbers]:
        """What a mistake makes of right numbers: of all, of those of a step, and of each alone."""
        of_steps: dict[str, dict[WrongCell, Claim]] = {}
        others = self._others(given.makes)
        for cell, claim in others.items():
            of_step = of_steps.setdefault(cell[0], {})
            of_step[cell] = claim
        yield OtherNumbers(others, given.trial, is_whole=True)
        for makes in of_steps.values():
            yield from _together_and_alone(makes, given.trial)


def _together_and_alone(
    numbers: Mapping[WrongCell, Claim], mistake: Trial | None = None
) -> Iterator[OtherNumbers]:
    yield OtherNumbers(numbers, mistake, is_whole=True)
    if len(numbers) > 1:
        for cell, claim in numbers.items():
            yield OtherNumbers({cell: claim}, mistake)
