"""Which other numbers, in the place of right ones, likely explain the wrong ones.

To mark a solution takes a while. So its errors are counted first, about as a scheme has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import prod
from typing import NamedTuple

from attncli.answers.model import ONE_UNIT_OFF, Claim
from attncli.features.check.cell_values import CellIndex, steps_after
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.marks.model import (
    NOTHING,
    Marks,
    TakenOff,
    WrongCell,
    cost_by_themselves,
)
from attncli.features.check.marks.other_numbers import OtherNumbers, WrongOfSteps
from attncli.features.check.marks.replacements import other_numbers
from attncli.features.check.rough_values import RoughValues
from attncli.features.check.trials import Trial, trials_of
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where, judge_with
from attncli.marking.scheme import Scheme
from attncli.mistakes.model import each_of

# So many sets of other numbers are marked, those that leave the fewest errors first.
MOST_MARKED = 6
# So many cells are judged, in all sets of other numbers together.
MOST_CELLS_JUDGED = 30_000
# What a mistake gives of more cells is no chance.
CELLS_FOR_A_MISTAKE = 3
NO_OTHERS = OtherNumbers({})
# A mistake gives what is as near: in halves of a unit, or this share of the number.
HALVES_NEAR = 2
SHARE_NEAR = 0.01


@dataclass(frozen=True, slots=True)
class _Prices:
    """A scheme, and what a cell of each step is worth in it."""

    scheme: Scheme
    shares: Mapping[str, Fraction]

    @classmethod
    def of(cls, judgement: Judgement, scheme: Scheme) -> _Prices:
        shares = {}
        for name, worth in scheme.steps.items():
            cells = prod(judgement.trace.steps[name].shape)
            shares[name] = worth / cells
        # Wrong numbers are counted also where a slip costs nothing: their shares may be lost.
        slip = scheme.slip or scheme.mistake or Fraction(1)
        return cls(replace(scheme, slip=slip), shares)

    def of_cells(self, step: str, number: int) -> Fraction:
        """What so many wrong cells of a step cost by themselves."""
        share = self.shares.get(step, NOTHING)
        return cost_by_themselves(self.scheme, share, number)

    def of_mistake(self, trial: Trial) -> Fraction:
        """What a mistake costs, or two made together; a number that was read wrongly is a slip."""
        scheme = self.scheme
        parts = [scheme.slip if one.is_slip else scheme.mistake for one in trial.each]
        return sum(parts, NOTHING)


class _Candidate(NamedTuple):
    """Other numbers, the solution judged with them, and about what they leave to be taken off."""

    cost: Fraction
    others: OtherNumbers
    judged: Judgement


def likeliest(
    judgement: Judgement,
    wrong: WrongOfSteps,
    diagnoses: Sequence[Diagnosis],
    earned: Marks,
    scheme: Scheme,
) -> Iterator[tuple[OtherNumbers, Judgement, Fraction]]:
    """Other numbers with which more of the wrong ones follow, or are those of a mistake: each with
    the solution that has them, and about what this leaves to be taken off.
    """
    known = _known(judgement, diagnoses, earned)
    now = _Account(judgement, known, _Prices.of(judgement, scheme))
    explained = _explained(diagnoses, earned)
    rounded = {each.step for each in earned.lost if each.rounded_to is not None}
    settled = {*_settled(earned, scheme)}
    # What a mistake nearly gives, marks may not take for it.
    cost = max(now.cost, _charged(earned))
    found: list[_Candidate] = []
    cells = sum(step.size for step in judgement.steps.values())
    most = MOST_CELLS_JUDGED // cells
    for others in islice(other_numbers(judgement, wrong, settled), most):
        mistake = others.mistake
        new = [] if mistake is None or now.knows(mistake) else [mistake]
        account = _account(now, [*known, *new], others)
        if account is None or account.is_hopeless(now):
            continue
        follow = judgement.wrong - account.judged.wrong
        if others.is_open and explained & follow:
            continue
        # Who rounded a whole step to too few decimals has not worked with other numbers.
        if others.are_many and any(name in rounded for name, _ in follow):
            continue
        if _is_likely(account.cost, cost, others, settled):
            found.append(_Candidate(account.cost, account.others, account.judged))
    found.sort(key=lambda each: (each.cost, not each.others.is_whole, len(each.others.numbers)))
    for candidate in islice(_without_twins(found), MOST_MARKED):
        yield candidate.others, candidate.judged, candidate.cost


def _charged(earned: Marks) -> Fraction:
    """What is taken off for wrong numbers."""
    lost = [each.marks for each in earned.lost if each.reason == "wrong"]
    return earned.taken_off + sum(lost, NOTHING)


def _settled(earned: Marks, scheme: Scheme) -> Iterator[str]:
    """The steps in which one wrong number more may cost less than a slip: their shares are lost, or
    their slips alone cost as much as a mistake.
    """
    for lost in earned.lost:
        if lost.reason == "wrong":
            yield lost.step
    for slip in earned.slips:
        if slip.said:
            continue
        if len(slip.cells) * scheme.slip >= scheme.mistake:
            yield from (step for step, _ in slip.cells)


def _without_twins(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """The first of those that put numbers of the same mistake into the same cells and leave the
    same ones wrong, as a number that fits does, rounded down and up.
    """
    seen = set[tuple[str, frozenset[WrongCell], frozenset[WrongCell]]]()
    for candidate in candidates:
        mistake, _ = candidate.others.key
        key = mistake, frozenset(candidate.others.numbers), candidate.judged.wrong
        if key not in seen:
            seen.add(key)
            yield candidate


def _is_likely(
    cost: Fraction, now: Fraction, others: OtherNumbers, settled: Collection[str]
) -> bool:
    """Whether a solution that costs about this with other numbers may cost less than `now`."""
    # Two cells of a mistake cost as much as two slips, but not as much as two shares that are lost.
    if others.mistake is not None and settled:
        return cost <= now
    return cost < now


def _account(now: _Account, known: Sequence[Trial], others: OtherNumbers) -> _Account | None:
    """The account of a solution with other numbers in it, and with those that right ones then were
    that deny them; None if they stay denied.
    """
    account = now.with_others(known, others)
    denied = account.denied(now.judged)
    if denied and not _were_put_right(now, account, denied):
        return None
    # Those of a step may deny those of the step before.
    for _ in now.judged.steps:
        if not denied:
            return account
        others = others.with_numbers(account.own_numbers(denied))
        account = now.with_others(known, others)
        denied = account.denied(now.judged)
    return None


def _were_put_right(now: _Account, account: _Account, denied: Collection[WrongCell]) -> bool:
    """Whether the numbers that deny others may be right because they were put right, too."""
    others = account.others
    if others.is_by_way:
        return True
    follow = now.judged.wrong - account.judged.wrong
    explains = now.unexplained - account.unexplained
    if others.fits:
        return len(denied) < max(len(follow), len(explains))
    if others.mistake is None or not others.is_whole:
        return False
    return now.knows(others.mistake) or len(follow | explains) >= CELLS_FOR_A_MISTAKE


def _known(judgement: Judgement, diagnoses: Sequence[Diagnosis], earned: Marks) -> list[Trial]:
    """The mistakes that were likely made."""
    names = set[str]()
    for found in diagnoses:
        if found.likely and found.error is None:
            names.update(*map(each_of, found.mistakes))
    for mistake in earned.mistakes:
        names.update(*map(each_of, mistake.names))
    return [trial for trial in trials_of(judgement).of_mistakes if trial.mistake.name in names]


def _explained(diagnoses: Sequence[Diagnosis], earned: Marks) -> set[WrongCell]:
    """The cells that mistakes likely give, or that one of them accounts for."""
    found = set[WrongCell]()
    for mistake in earned.mistakes:
        if not _is_unsure(mistake):
            found.update(mistake.cells)
    for each in diagnoses:
        if each.error is not None:
            continue
        if each.likely:
            found.update((each.step, index) for index in each.cells)
    return found


@dataclass(frozen=True)
class _Account:
    """About what is taken off a solution, if these mistakes are `known`, and the `others` are
    numbers that were put into it.
    """

    judged: Judgement
    known: Sequence[Trial]
    prices: _Prices
    others: OtherNumbers = NO_OTHERS

    def with_others(self, known: Sequence[Trial], others: OtherNumbers) -> _Account:
        """That of the same solution with other numbers in it."""
        judged = judge_with(self.judged, others.numbers)
        return _Account(judged, known, self.prices, others)

    def knows(self, trial: Trial) -> bool:
        """Whether a mistake is one of the known ones, also if it was tried on a solution that reads
        other numbers.
        """
        names = {known.mistake.name for known in self.known}
        return trial.mistake.name in names

    @property
    def wrong(self) -> frozenset[WrongCell]:
        """The wrong cells, without those that were put there."""
        return self.judged.wrong.difference(self.others.numbers)

    @cached_property
    def unexplained(self) -> frozenset[WrongCell]:
        """The wrong cells that no mistake nearly gives."""
        return self.wrong.difference(*self._given(self.wrong).values())

    def own_numbers(self, cells: Collection[WrongCell]) -> dict[WrongCell, Claim]:
        """What follows in these cells, as it would be written."""
        found = {}
        for name, index in cells:
            own = self._own(name, index)
            other = self.judged.answers.steps[name].another(index, own)
            if other is not None:
                found[name, index] = other
        return found

    def _own(self, name: str, index: CellIndex) -> Decimal:
        """What follows in a cell: by the mistake, if the others are of one."""
        mistake = self.others.mistake
        if mistake is not None and name in mistake.affected:
            numbers = self._rough.of(name, mistake.all_changes)
            if numbers is not None:
                return Decimal(repr(float(numbers[index])))
        return self.judged.values.own(name, index)

    @cached_property
    def cost(self) -> Fraction:
        """What the wrong cells cost: by themselves, or by mistakes that save marks."""
        left = set(self.wrong)
        given = self._given(left)
        mistakes = NOTHING
        cost = self._by_themselves(left)
        while given:
            name = max(given, key=lambda name: len(given[name]))
            most = given[name]
            others = self._by_themselves(left - most)
            price = self._price_of[name]
            if others + price >= cost:
                break
            mistakes += price
            cost = others
            left -= most
            given = {name: cells - most for name, cells in given.items()}
        return mistakes + cost

    @cached_property
    def _price_of(self) -> dict[str, Fraction]:
        """What each known mistake costs."""
        return {trial.mistake.name: self.prices.of_mistake(trial) for trial in self.known}

    def _by_themselves(self, cells: Collection[WrongCell]) -> Fraction:
        """What cells cost that no mistake gives."""
        of_steps = Counter(name for name, _ in cells)
        costs = [self.prices.of_cells(name, number) for name, number in of_steps.items()]
        return sum(costs, NOTHING)

    def denied(self, judgement: Judgement) -> set[WrongCell]:
        """The numbers that are no error, and follow from those that were written, but neither from
        the others nor by a mistake.
        """
        after = steps_after(judgement.trace, {name for name, _ in self.others.numbers})
        denied = set[WrongCell]()
        for name in after & self.judged.steps.keys():
            cells = self.judged.steps[name]
            for index in indices_where(cells, "right", "carried", "rounding"):
                followed = judgement.steps[name][index].follows
                if followed and not _nearly_follows(cells[index]):
                    denied.add((name, index))
        return denied.difference(self.others.numbers, *self._given(denied).values())

    def is_hopeless(self, now: _Account) -> bool:
        """Whether nothing in a step was right or explained, and the others give only some of it: a
        mistake, one or two cells of it.
        """
        known = {trial.mistake.name for trial in now.known}
        for name, cells in now.judged.steps.items():
            wrong = {(name, index) for index in indices_where(cells, "wrong")}
            is_all = not indices_where(cells, "right", "carried", "rounding")
            left = len(indices_where(self.judged.steps[name], "wrong"))
            if not is_all or not 0 < left < len(wrong):
                continue
            if not self.others.fits and len(wrong) - left >= CELLS_FOR_A_MISTAKE:
                continue
            given = self._given(wrong)
            if not any(given[mistake] for mistake in known):
                return True
        return False

    def _given(self, cells: Collection[WrongCell]) -> dict[str, set[WrongCell]]:
        """Those of these cells that each mistake nearly gives."""
        found: dict[str, set[WrongCell]] = {}
        for trial in self.known:
            of_it = found.setdefault(trial.mistake.name, set())
            for name, index in cells:
                if name in trial.affected and self._gives(trial, name, index):
                    of_it.add((name, index))
        return found

    def _gives(self, trial: Trial, name: str, index: CellIndex) -> bool:
        numbers = self._rough.of(name, trial.all_changes)
        claim = self.judged.steps[name][index].given
        if numbers is None or claim is None:
            return False
        written, given = float(claim.value), float(numbers[index])
        if claim.hidden:
            return written == given
        near = max(HALVES_NEAR * float(claim.half), SHARE_NEAR * abs(written))
        return abs(given - written) <= near

    @cached_property
    def _rough(self) -> RoughValues:
        return RoughValues(self.judged.values)


def _nearly_follows(cell: JudgedCell) -> bool:
    """Whether a number follows from those before it, or would, if they were not rounded."""
    claim = cell.given
    if cell.follows or claim is None:
        return True
    apart = abs(cell.own - float(claim.value))
    room = ONE_UNIT_OFF * float(claim.half)
    return apart <= room


def _is_unsure(mistake: TakenOff) -> bool:
    """Whether a mistake was perhaps made, and gives few cells."""
    return mistake.perhaps and len(mistake.cells) < CELLS_FOR_A_MISTAKE
