"""What a solution earns by a scheme, as a small model: steps, wrong cells, and what explains them.

The marks of a step are shared out among its cells. A cell that is missing loses its share, and one
with too few decimals loses of it what each decimal costs. What is wrong costs by its cause: a
mistake once, wherever it shows, and a slip once. What such a cause gives as it was written has
decimals enough. Wrong numbers that no cause explains cost a slip each, up to what a mistake costs,
and at least their shares. Of all readings of a solution, the one counts that is best for it. A
cause that is only possible excuses no cells that would lose their shares without it.

All amounts are fractions, so that nothing is rounded before it is printed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias

from attncli.marking.scheme import Scheme

# The name of a step, and the index of a cell in it.
WrongCell: TypeAlias = tuple[str, tuple[int, ...]]
LossReason: TypeAlias = Literal["missing", "too coarse", "wrong", "shows nothing"]
NOTHING = Fraction(0)
# Of more causes, each is taken that saves the most, one after the other.
MOST_CAUSES_TRIED = 8


@dataclass(frozen=True, slots=True)
class MarkedStep:
    """A step with so many `cells`, of which so many are `missing`, and these are `wrong`; of those,
    the `coarse` ones lack so many decimals, unless a cause gives them.

    `hollow` has, for each step that may be mostly wrong, the cells of this one that then need no
    work; they count only if nothing explains that step. Where all numbers are `alike`, no slip and
    nothing that is only possible explains them: who writes 0 everywhere has not worked. Coarse ones
    that were all `rounded_to` so many decimals have zeros behind these, if they are `padded`.
    """

    name: str
    cells: int
    missing: int = 0
    wrong: frozenset[WrongCell] = frozenset()
    coarse: Mapping[WrongCell, int] = field(default_factory=dict)
    hollow: Mapping[str, frozenset[WrongCell]] = field(default_factory=dict)
    alike: bool = False
    rounded_to: int | None = None
    padded: frozenset[WrongCell] = frozenset()


@dataclass(frozen=True, slots=True)
class Cause:
    """What explains some wrong cells: a mistake, or a slip in a single number. What it `costs` is
    taken off once. One that is not `likely` may be chance. `names` are what to call it in a
    diagnosis, if none has it yet; there are none for a cause that a diagnosis gave. One that is
    said to be there only `perhaps` may be likely still. A slip that is `beyond_chance` is none
    either where it gives only a part of a step.
    """

    said: str
    costs: Fraction
    explains: frozenset[WrongCell]
    is_slip: bool = False
    likely: bool = True
    names: tuple[str, ...] = ()
    perhaps: bool = False
    beyond_chance: bool = False


@dataclass(frozen=True, slots=True)
class TakenOff:
    """What a mistake or a slip costs: `said` is the mistake, or nothing for numbers that are wrong
    by themselves, and `cells` are those that it explains.

    More slips in a step than a mistake costs are `capped`: they cost no more than that. `names` are
    those of the cause, and `perhaps` says how sure it is.
    """

    said: str
    cells: tuple[WrongCell, ...]
    taken_off: Fraction
    capped: bool = False
    names: tuple[str, ...] = ()
    perhaps: bool = False


@dataclass(frozen=True, slots=True)
class LostShare:
    """The share of a step that some of its cells lose. Too coarse ones may have been `rounded_to`
    so many decimals, and so many of them are `padded`, with zeros behind.
    """

    step: str
    reason: LossReason
    cells: int
    marks: Fraction
    rounded_to: int | None = None
    padded: int = 0


@dataclass(frozen=True)
class Marks:
    """The marks of a solution: for each step what its cells keep, and what is taken off the whole.

    They are never less than nothing. So many wrong cells were `forgiven`: they are off only because
    steps that are not written were rounded.
    """

    of: int
    worth: Mapping[str, Fraction]
    lost: tuple[LostShare, ...]
    mistakes: tuple[TakenOff, ...]
    slips: tuple[TakenOff, ...]
    forgiven: int = 0

    @cached_property
    def steps(self) -> dict[str, Fraction]:
        """The marks that the cells of each step keep."""
        kept = dict(self.worth)
        for each in self.lost:
            # In hundredths, thirds that are lost may be more than they are worth.
            kept[each.step] = max(NOTHING, kept[each.step] - each.marks)
        return kept

    @property
    def is_unfinished(self) -> bool:
        """Whether a number of a step that is marked is missing."""
        return any(each.reason == "missing" for each in self.lost)

    @property
    def balance(self) -> Fraction:
        """What the steps keep, less what is taken off; it may be below nothing."""
        lost = sum((each.marks for each in self.lost), NOTHING)
        return sum(self.worth.values(), NOTHING) - lost - self.taken_off

    @property
    def taken_off(self) -> Fraction:
        """What mistakes and slips cost together."""
        taken = [each.taken_off for each in (*self.mistakes, *self.slips)]
        return sum(taken, NOTHING)

    @property
    def lost_for_what_is_written(self) -> Fraction:
        """What is taken off, and the shares that are lost, but for what is missing."""
        lost = [each.marks for each in self.lost if each.reason != "missing"]
        return self.taken_off + sum(lost, NOTHING)

    @property
    def points(self) -> Fraction:
        """The marks of the solution."""
        return max(NOTHING, self.balance)


def cost_by_themselves(scheme: Scheme, share: Fraction, number: int) -> Fraction:
    """What so many wrong cells of a step cost that no cause explains, where each is worth this
    `share`: a slip each, and no more than a mistake, but at least their shares. None costs more
    than a slip.
    """
    shares = number * min(share, scheme.slip)
    return max(_as_slips(scheme, number), shares)


def _as_slips(scheme: Scheme, number: int) -> Fraction:
    """What so many slips in a step cost."""
    return min(number * scheme.slip, max(scheme.slip, scheme.mistake))


def marks_of(
    scheme: Scheme,
    steps: Sequence[MarkedStep],
    causes: Sequence[Cause],
    certain: Sequence[Cause] = (),
) -> Marks:
    """The marks by a scheme; `steps` are all that it marks, and all others with a wrong cell.

    The `causes` are possible, and the best reading takes those that save marks. The `certain` ones
    are in every reading.
    """
    coarse = {cell for step in steps for cell in step.coarse}
    # What only gives numbers with too few decimals explains nothing that rounding does not.
    able = [cause for cause in causes if not cause.explains <= coarse]
    ledger = _Ledger(scheme, steps, able)
    readings = [ledger.reading([*certain, *chosen]) for chosen in _choices(ledger)]
    # Of readings that cost the same, the one that explains most comes first, with few causes.
    best = min(readings, key=lambda reading: (reading.cost, reading.unexplained))
    lost = [*ledger.missing(), *best.lost]
    return Marks(
        scheme.marks, dict(scheme.steps), tuple(lost), tuple(best.mistakes), tuple(best.slips)
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to account for the wrong cells."""

    mistakes: list[TakenOff]
    slips: list[TakenOff]
    lost: list[LostShare]

    @property
    def cost(self) -> Fraction:
        taken = [each.taken_off for each in (*self.mistakes, *self.slips)]
        lost = [each.marks for each in self.lost]
        return sum(taken, NOTHING) + sum(lost, NOTHING)

    @property
    def unexplained(self) -> int:
        """How many wrong cells have no cause."""
        by_themselves = [len(each.cells) for each in self.slips if not each.said]
        return sum(by_themselves) + sum(each.cells for each in self.lost)


@dataclass(frozen=True)
class _Ledger:
    """The steps of a solution and what may explain them, with what all that costs."""

    scheme: Scheme
    steps: Sequence[MarkedStep]
    causes: Sequence[Cause]

    def share(self, step: MarkedStep) -> Fraction:
        """What each cell of a step is worth; nothing in a step that is not marked."""
        return self.scheme.steps.get(step.name, NOTHING) / max(step.cells, 1)

    def missing(self) -> Iterator[LostShare]:
        """The shares of what is missing."""
        for step in self.steps:
            shares = step.missing * self.share(step)
            if shares:
                yield LostShare(step.name, "missing", step.missing, shares)

    def reading(self, chosen: Sequence[Cause]) -> _Reading:
        """What the wrong cells cost, if these are the causes."""
        reading = _Reading([], [], [])
        left = set[WrongCell]().union(*(step.wrong for step in self.steps))
        slips = [cause for cause in chosen if cause.is_slip]
        mistakes = [cause for cause in chosen if not cause.is_slip]
        for cause in mistakes:
            excused = self._excused(cause, left)
            reading.mistakes.append(_taken_off(cause, excused))
            left -= excused
        hopeless = self._hopeless(slips, left)
        for cause in slips:
            excused = self._excused(cause, left) - hopeless
            reading.slips.append(_taken_off(cause, excused))
            left -= excused
        for step in self.steps:
            reading.lost.extend(self._lost_by_coarse(step, step.coarse.keys() & left))
            self._add_rest(reading, step, tuple(sorted(_wrong_of(step, left))))
        reading.lost.extend(self._lost_by_hollow(left))
        return reading

    @cached_property
    def unexplained(self) -> frozenset[WrongCell]:
        """The wrong cells that no cause likely explains, whether or not it is chosen: who made a
        mistake has worked, also where its cells are cheaper as wrong ones. A step that needs no
        work is explained as a whole, or not.
        """
        found = frozenset[WrongCell]().union(*(step.wrong for step in self.steps))
        patterns = [step.wrong for step in self.steps if step.hollow.get(step.name)]
        for cause in self.causes:
            if not cause.likely:
                continue
            explained = cause.explains - self._not_worked(cause)
            for pattern in patterns:
                if not pattern <= explained:
                    explained -= pattern
            found -= explained
        return found

    def _hopeless(self, slips: Sequence[Cause], left: Collection[WrongCell]) -> set[WrongCell]:
        """The wrong cells of each step in which nothing is right, and that slips do not give as a
        whole: they may give some of them by chance.
        """
        of_slips = set[WrongCell]().union(*(cause.explains for cause in slips))
        found = set[WrongCell]()
        for step in self.steps:
            wrong = _wrong_of(step, left)
            if self._has_nothing_right(step, len(wrong)) and not wrong <= of_slips:
                found |= wrong
        sure = [cause.explains for cause in slips if cause.beyond_chance]
        return found.difference(*sure)

    def _excused(self, cause: Cause, left: Collection[WrongCell]) -> frozenset[WrongCell]:
        """The cells that a cause accounts for: what is only possible excuses none that lose their
        shares without it.
        """
        explained = cause.explains & frozenset(left)
        if cause.likely:
            return explained - self._not_worked(cause)
        excused = frozenset[WrongCell]()
        for step in self.steps:
            wrong = _wrong_of(step, left)
            if not self._lose_their_shares(step, len(wrong)):
                excused |= explained & wrong
        return excused

    def _not_worked(self, cause: Cause) -> frozenset[WrongCell]:
        """The cells that a slip does not excuse, because their step has one number everywhere."""
        alike = [step.wrong for step in self.steps if step.alike and cause.is_slip]
        return frozenset[WrongCell]().union(*alike)

    def _lost_by_coarse(
        self, step: MarkedStep, coarse: Collection[WrongCell]
    ) -> Iterator[LostShare]:
        """What numbers lose of their shares by the decimals that are missing."""
        share = self.share(step)
        lost = NOTHING
        for cell in coarse:
            part = step.coarse[cell] * self.scheme.digit
            lost += min(part, Fraction(1)) * share
        if lost:
            padded = len(step.padded.intersection(coarse))
            number = len(coarse)
            yield LostShare(step.name, "too coarse", number, lost, step.rounded_to, padded)

    def _lost_by_hollow(self, left: Collection[WrongCell]) -> Iterator[LostShare]:
        """The shares of numbers that need no work after a step that is mostly wrong, but for those
        that are `left`, and lose theirs anyway.
        """
        mostly_wrong = set[str]()
        for step in self.steps:
            wrong = _wrong_of(step, self.unexplained)
            is_mostly_wrong = 2 * len(wrong) > step.cells
            if is_mostly_wrong or (step.alike and wrong):
                mostly_wrong.add(step.name)
        for step in self.steps:
            after = [step.hollow[name] for name in mostly_wrong if name in step.hollow]
            most = max(after, key=len, default=frozenset[WrongCell]())
            hollow = len(most.difference(left))
            lost = hollow * self.share(step)
            if lost:
                yield LostShare(step.name, "shows nothing", hollow, lost)

    def _add_rest(self, reading: _Reading, step: MarkedStep, wrong: tuple[WrongCell, ...]) -> None:
        """Add what wrong cells of a step cost that no cause explains.

        None costs more than a slip as long as something in the step is right. Where nothing is,
        they cost their shares: else who invents a whole step would lose no more than who makes a
        mistake in it.
        """
        if not wrong:
            return
        number = len(wrong)
        share = self.share(step)
        if self._lose_their_shares(step, number):
            reading.lost.append(LostShare(step.name, "wrong", number, number * share))
        else:
            costs = cost_by_themselves(self.scheme, share, number)
            is_capped = costs < number * self.scheme.slip
            reading.slips.append(TakenOff("", wrong, costs, is_capped))

    def _lose_their_shares(self, step: MarkedStep, number: int) -> bool:
        """Whether so many wrong cells of a step, without a cause, cost more than as slips."""
        share = self.share(step)
        costs_more = _as_slips(self.scheme, number) < number * share
        if step.alike:
            return costs_more
        if number == 1 < step.cells:
            return False
        return costs_more and (share <= self.scheme.slip or self._has_nothing_right(step, number))

    def _has_nothing_right(self, step: MarkedStep, wrong: int) -> bool:
        """Whether so many wrong cells are all that a step has, but for what is missing or too
        coarse.
        """
        return 0 < wrong == step.cells - step.missing - len(step.coarse)


def _taken_off(cause: Cause, cells: Collection[WrongCell]) -> TakenOff:
    """What a cause costs, with the cells that it accounts for."""
    ordered = tuple(sorted(cells))
    return TakenOff(cause.said, ordered, cause.costs, names=cause.names, perhaps=cause.perhaps)


def _wrong_of(step: MarkedStep, left: Collection[WrongCell]) -> frozenset[WrongCell]:
    """The wrong cells among these that do not only have too few decimals."""
    return (step.wrong - step.coarse.keys()).intersection(left)


def _choices(ledger: _Ledger) -> Iterator[Sequence[Cause]]:
    """The sets of causes that may be the best reading, small ones first."""
    causes = _needed(ledger.causes)
    if len(causes) <= MOST_CAUSES_TRIED:
        for number in range(len(causes) + 1):
            yield from combinations(causes, number)
        return
    chosen: list[Cause] = []
    yield ()
    for _ in causes:
        left = [cause for cause in causes if cause not in chosen]
        chosen.append(min(left, key=lambda cause: ledger.reading([*chosen, cause]).cost))
        yield tuple(chosen)


def _needed(causes: Collection[Cause]) -> list[Cause]:
    """The causes without those that explain no more than another one that is as cheap."""
    needed: list[Cause] = []
    for cause in sorted(causes, key=lambda each: (-len(each.explains), each.costs)):
        if not any(
            cause.explains <= other.explains
            and other.costs <= cause.costs
            and other.likely >= cause.likely
            for other in needed
        ):
            needed.append(cause)
    return needed
