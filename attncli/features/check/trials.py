"""What is tried on a solution: each known mistake, and two of them together; and how its numbers
may have come about, within the precision of what is written or rounded on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain, combinations, starmap
from types import MappingProxyType
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Answers, Claim
from attncli.attention.registry import GRADIENT_RULES
from attncli.equation.rounding import round_half_up
from attncli.features.check.cell_values import CellIndex, CellValues, interval
from attncli.features.check.float_reading import FloatReading
from attncli.features.check.rough_values import Floats, RoughValues
from attncli.features.check.single_cell_errors import share_of_numbers_near
from attncli.features.check.verdicts import Judgement, indices_where, round_to_claims, rounds_to
from attncli.mistakes.blind_queries import blind_queries, blind_readings
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.forward import roundings_of
from attncli.mistakes.misread import misread
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import Changes, Mistake, together, with_changes
from attncli.tracing.model import Trace

# So many cells of a step are worked out one by one, before all of it is at once.
FEW_CELLS = 8
# A problem with more numbers in all its steps is not worked out on paper.
MOST_NUMBERS_ON_PAPER = 2000


# What is tried


@dataclass(frozen=True, eq=False)
class Trial:
    """A mistake in a trace with its equations; `affected` has, for every step that is answered,
    those of its changes that show in it. Queries that see no key with it are treated `as_ours`, or
    as other programs do. Of two mistakes, this is the second one, `after` the first.
    """

    mistake: Mistake
    changes: Changes
    as_ours: bool
    right: Trace
    affected: Mapping[str, set[str]]
    after: Trial | None = None
    both: tuple[Mistake, ...] = ()

    @cached_property
    def trace(self) -> Trace:
        """The trace with the mistake in it."""
        before = self.right if self.after is None else self.after.trace
        return with_changes(before, self.changes)

    @cached_property
    def all_changes(self) -> Changes:
        """What both mistakes change, where there are two."""
        return self.changes if self.after is None else {**self.after.changes, **self.changes}

    @property
    def each(self) -> tuple[Mistake, ...]:
        """The mistake, or the two that were made together."""
        return self.both or (self.mistake,)

    @property
    def has_slip(self) -> bool:
        """Whether a number was read wrongly, alone or besides."""
        return any(one.is_slip for one in self.each)


@dataclass(eq=False)
class Trials:
    """All that is tried on a solution. What was worked out for one step of it serves for others."""

    judgement: Judgement
    _rounded: dict[tuple[int, bool], RoundedOnTheWay] = field(default_factory=dict)
    _by: dict[tuple[Trial, int], Reproduction] = field(default_factory=dict)
    _leaves_out: dict[str, bool] = field(default_factory=dict)
    _of_two: dict[str, tuple[Trial, ...]] = field(default_factory=dict)
    # By the decimals to which steps that were left out are rounded.
    _roughly: dict[int | None, RoughValues] = field(default_factory=dict)

    @cached_property
    def of_mistakes(self) -> tuple[Trial, ...]:
        """Every mistake that can be made."""
        found = []
        trace = self.judgement.trace
        answers = self.judgement.answers.steps
        complete = [name for name, answer in answers.items() if answer.complete]
        for mistake, all_changes in chain(applicable(trace), misread(trace, complete)):
            # Who divides by another sum than the one that is written has written that one right.
            unmade = {name for name in mistake.optional if self._is_right(name)}
            changes = {name: how for name, how in all_changes.items() if name not in unmade}
            found.append(self._trial(mistake, changes, as_ours=True))
            for other in self._of_blind_queries(changes):
                found.append(self._trial(mistake, other, as_ours=False))
        return tuple(found)

    def of_two(self, step: str) -> tuple[Trial, ...]:
        """Every two mistakes that can be made together on the way to a step, in different steps."""
        if step not in self._of_two:
            pairs = combinations(self.on_the_way_to(step), 2)
            apart = [pair for pair in pairs if are_apart(*pair)]
            self._of_two[step] = tuple(starmap(made_together, apart))
        return self._of_two[step]

    def on_the_way_to(self, step: str) -> list[Trial]:
        """The mistakes that are made in a step, or in those left out before it, and nowhere else;
        without roundings.
        """
        found = []
        for trial in self.of_mistakes:
            is_rounding = any(trial.mistake.name in roundings_of(name) for name in trial.changes)
            if is_rounding or trial.mistake.of_own or not trial.as_ours:
                continue
            made = trial.affected.get(step, set())
            others = set(trial.changes) - made
            if made and others <= {*trial.mistake.optional}:
                found.append(trial)
        return found

    def like(self, trial: Trial, step: str) -> Sequence[Trial]:
        """All that are tried as this one is."""
        return self.of_mistakes if trial.after is None else self.of_two(step)

    def leaves_out(self, name: str) -> bool:
        """Whether a step is worked out from numbers that are not written, as it should be or by one
        of the mistakes: who takes the scores for the weights reads the scores.
        """
        if name not in self._leaves_out:
            judgement = self.judgement
            found = leaves_out(judgement.values, name)
            if not found and is_of_paper_size(judgement.values):
                made = [trial for trial in self.of_mistakes if name in trial.changes]
                found = any(_reads_unwritten(each.trace, judgement.answers, name) for each in made)
            self._leaves_out[name] = found
        return self._leaves_out[name]

    def _is_right(self, name: str) -> bool:
        """Whether a step is written in full, and nothing in it is wrong."""
        if name not in self.judgement.steps:
            return False
        return not indices_where(self.judgement.steps[name], "wrong", "missing")

    def _trial(self, mistake: Mistake, changes: Changes, as_ours: bool) -> Trial:
        affected: dict[str, set[str]] = {}
        trial = Trial(mistake, changes, as_ours, self.judgement.trace, affected)
        answers = self.judgement.answers
        for name in answers.steps:
            seen = set(changes) & left_out_before(trial.trace, answers, name)
            if seen:
                affected[name] = seen
        return trial

    def _of_blind_queries(self, changes: Changes) -> Iterator[Changes]:
        """A mistake that hides a row whole, with the weights that programs have there; no solution
        says NaN.
        """
        trace = self.judgement.trace
        if not {"mask", "masked"} & changes.keys():
            return
        blind = blind_queries(MistakenTrace(trace, changes)["masked"])
        yield from (each for each in blind_readings(trace, changes, blind) if "masked" in each)

    @cached_property
    def within_precision(self) -> WithinPrecision:
        """The solution's numbers, each anywhere within its precision."""
        return WithinPrecision.of(self.judgement.values)

    def rounded_on_the_way(self, decimals: int, forward_in_full: bool = False) -> RoundedOnTheWay:
        """Its numbers as they stand, with so many decimals in between."""
        if (decimals, forward_in_full) not in self._rounded:
            plain = RoundedOnTheWay(self.judgement.values, decimals, forward_in_full)
            self._rounded[decimals, forward_in_full] = plain
        return self._rounded[decimals, forward_in_full]

    def by(self, trial: Trial, plain: Reproduction) -> Reproduction:
        """How cells come about with a mistake; `plain` is how they do without it."""
        # The id stays: what is plain is kept as long as this object.
        key = trial, id(plain)
        if key not in self._by:
            before = plain if trial.after is None else self.by(trial.after, plain)
            self._by[key] = before.changed(trial.trace, trial.changes)
        return self._by[key]

    def roughly(self, trial: Trial, step: str, decimals: int | None = None) -> Floats | None:
        """About what a step comes to with a mistake: the same array for all that come to the same
        numbers; None where floats overflow. With `decimals`, steps that were left out are rounded
        to so many.
        """
        if decimals not in self._roughly:
            self._roughly[decimals] = RoughValues(self.judgement.values, decimals)
        return self._roughly[decimals].of(step, trial.all_changes)

    @cached_property
    def rough(self) -> FloatReading:
        """About what cells come to, for what is tried once."""
        return FloatReading(self.judgement.values, rough=True)

    def trial(self, mistake: Mistake) -> Trial:
        """A mistake that is none of those that are always tried."""
        return self._trial(mistake, mistake.change(self.judgement.trace), as_ours=True)


@lru_cache(maxsize=2)
def trials_of(judgement: Judgement) -> Trials:
    """All that is tried on a solution. The last two are kept: marks try the same again, also on the
    solution without its right numbers.
    """
    return Trials(judgement)


def are_apart(one: Trial, other: Trial) -> bool:
    """Whether two mistakes are made in different steps."""
    return one.changes.keys().isdisjoint(other.changes)


def made_together(first: Trial, second: Trial) -> Trial:
    """Two mistakes, of which the second is made beside the first."""
    affected = {
        name: first.affected.get(name, set()) | second.affected.get(name, set())
        for name in {*first.affected, *second.affected}
    }
    both = first.mistake, second.mistake
    return Trial(together(*both), second.changes, True, first.right, affected, first, both)


# How numbers come about


class Reproduction(Protocol):
    """Whether equations give a cell as it was written, or as another claim has it."""

    @property
    def values(self) -> CellValues: ...

    def gives(self, name: str, index: CellIndex, claim: Claim | None = None) -> bool: ...

    def number(self, name: str, index: CellIndex) -> Decimal:
        """What a cell comes to."""
        ...

    def width(self, name: str, index: CellIndex) -> float:
        """How far apart the numbers are, at most, that a cell may be."""
        ...

    def changed(self, trace: Trace, changes: Collection[str]) -> Reproduction:
        """That of a trace with these steps changed."""
        ...


class GivenCells(NamedTuple):
    """The cells of a step that a mistake gives, and how; and others, with what it would `make` of
    them.
    """

    cells: tuple[CellIndex, ...]
    by: Reproduction
    makes: Mapping[CellIndex, Claim] = MappingProxyType({})

    def shares_by_chance(self, values: CellValues, step: str) -> Iterator[float]:
        """How likely each number is by chance, each counted once."""
        of = values.trace.steps[step]
        written = values.answers.steps[step].cells
        claims = dict(self.makes)
        for cell in self.cells:
            claims[cell] = written[cell]
        different = {claim.value: cell for cell, claim in claims.items()}
        for cell in different.values():
            own = float(values.own(step, cell))
            width = self.by.width(step, cell)
            yield share_of_numbers_near(of, claims[cell], own, width)


@dataclass(frozen=True, slots=True)
class WithinPrecision:
    """Equations whose numbers may be anywhere within their precision, and are not rounded in
    between.

    A few cells rule out most mistakes. Where more of a step are asked for, all of it is worked out
    at once, from its numbers exactly as they stand; only what these do not give is looked at cell
    by cell.
    """

    values: CellValues
    floats: FloatReading
    _asked: Counter[str] = field(default_factory=Counter)
    _given: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @classmethod
    def of(cls, values: CellValues) -> WithinPrecision:
        return cls(values, FloatReading(values))

    def changed(self, trace: Trace, changes: Collection[str]) -> WithinPrecision:
        values = self.values.changed(trace, changes)
        return WithinPrecision(values, self.floats.changed(values))

    def gives(self, name: str, index: CellIndex, claim: Claim | None = None) -> bool:
        if claim is None:
            self._asked[name] += 1
            if self._asked[name] > FEW_CELLS and self._given_as_it_stands(name)[index]:
                return True
            claim = cast("Claim", self.values.answers.steps[name].cells[index])
        # What follows no answers is what it is.
        if not self.values.follows_answers(name):
            surely = self.floats.gives(name, index, claim)
            return rounds_to(self.values.true(name, index), claim) if surely is None else surely
        if rounds_to(self.values.true(name, index), claim):
            return True
        equation = self.values.equation(name, index)
        return bool(equation.ranges) and equation.reaches(interval(claim))

    def number(self, name: str, index: CellIndex) -> Decimal:
        return self.values.own(name, index)

    def width(self, name: str, index: CellIndex) -> float:
        if not self.values.follows_answers(name):
            return 0.0
        return self.values.equation(name, index).range.width

    def _given_as_it_stands(self, name: str) -> NDArray[np.bool_]:
        """Which cells of a step come out as written beyond doubt, from the numbers before them as
        these stand.
        """
        if name not in self._given:
            claims = self.values.answers.steps[name].cells
            rounded = round_to_claims(
                claims.ravel().tolist(), self.values.own_step(name).ravel().astype(float)
            )
            self._given[name] = np.array([one is True for one in rounded]).reshape(claims.shape)
        return self._given[name]


@dataclass(slots=True)
class RoundedOnTheWay:
    """A solution's numbers exactly as they stand; between them those of the steps left out, with so
    many decimals.

    With `forward_in_full` the forward pass was left to a calculator: its numbers are rounded only
    where the backward pass, which is worked on paper, takes them up.
    """

    values: CellValues
    decimals: int
    forward_in_full: bool = False
    # The reading without the changes by which the values have moved.
    before: RoundedOnTheWay | None = None
    _found: dict[tuple[str, CellIndex], Decimal] = field(default_factory=dict)
    _floats: FloatReading | None = None

    @property
    def floats(self) -> FloatReading:
        """The same reading in floats."""
        if self._floats is None:
            before = None if self.before is None else self.before.floats
            self._floats = FloatReading(self.values, self.decimals, self.forward_in_full, before)
        return self._floats

    def changed(self, trace: Trace, changes: Collection[str]) -> RoundedOnTheWay:
        """The same solution by a trace with these steps changed."""
        return RoundedOnTheWay(
            self.values.changed(trace, changes), self.decimals, self.forward_in_full, self
        )

    def gives(self, name: str, index: CellIndex, claim: Claim | None = None) -> bool:
        """Whether the equations give this cell as it was written, or as this claim has it."""
        if claim is None:
            claim = cast("Claim", self.values.answers.steps[name].cells[index])
        if self.values.trace.steps[name].rule.given:
            return rounds_to(self.values.true(name, index), claim)
        surely = self.floats.gives(name, index, claim)
        if surely is not None:
            return surely
        return rounds_to(self._worked(name, index), claim)

    def number(self, name: str, index: CellIndex) -> Decimal:
        """What a cell comes to by the numbers before it, of which those left out are rounded."""
        if self.values.trace.steps[name].rule.given:
            return self.values.true(name, index)
        return self._worked(name, index)

    def width(self, name: str, index: CellIndex) -> float:
        """None: each of its numbers is the one that is written."""
        return 0.0

    def read(self, name: str, index: CellIndex) -> Decimal:
        """The number that stands for a cell: written, given, or worked out and rounded."""
        if self.before is not None and name not in self.values.moved:
            return self.before.read(name, index)
        claim = self.values.written(name, index)
        if claim is not None:
            return claim.value
        step = self.values.trace.steps.get(name)
        if step is None or step.rule.given:
            return self.values.true(name, index)
        if (name, index) not in self._found:
            in_full = self.forward_in_full and name not in GRADIENT_RULES
            value = self.values.own(name, index) if in_full else self._worked(name, index)
            plain = step.rule.is_copy or step.rule.only_hides or not value.is_finite()
            self._found[name, index] = value if plain else round_half_up(value, self.decimals)
        return self._found[name, index]

    def _worked(self, name: str, index: CellIndex) -> Decimal:
        return self.values.from_equation(name, index, self.read)


# What is left out


def decimals_of(values: CellValues, name: str) -> int:
    """How many decimals the numbers of a step have, at most."""
    claims = values.answers.steps[name].claims
    most = 0
    for claim in claims:
        if not claim.exact:
            last_place = -claim.half.adjusted() - 1
            most = max(most, last_place)
    return most


def left_out_before(trace: Trace, answers: Answers, name: str) -> set[str]:
    """A step, and every step before it whose numbers the solution leaves out on the way."""
    found, waiting = set(), [name]
    while waiting:
        step = waiting.pop()
        if step in found or step not in trace:
            continue
        found.add(step)
        left_out = (
            read
            for read in trace.steps[step].rule.inputs
            if read not in answers.steps or not answers.steps[read].complete
        )
        waiting += left_out
    return found


def leaves_out(values: CellValues, name: str) -> bool:
    """Whether a step is worked out from numbers that are not written, in a problem of a size to be
    worked on paper.
    """
    is_unwritten = _reads_unwritten(values.trace, values.answers, name)
    return is_unwritten and is_of_paper_size(values)


def is_of_paper_size(values: CellValues) -> bool:
    """Whether a problem has so few numbers that it may be worked on paper."""
    numbers = sum(step.value.size for step in values.trace.computed())
    return numbers <= MOST_NUMBERS_ON_PAPER


def _reads_unwritten(trace: Trace, answers: Answers, name: str) -> bool:
    for read in trace.steps[name].rule.inputs:
        is_computed = read in trace and not trace.steps[read].rule.given
        is_written = read in answers.steps and answers.steps[read].complete
        if is_computed and not is_written:
            return True
    return False


def is_after_left_out_forward_pass(values: CellValues, name: str) -> bool:
    """Whether a step is one of the backward pass, and something of the forward pass is left out
    before it.
    """
    if name not in GRADIENT_RULES:
        return False
    computed = (step.name for step in values.trace.computed() if step.name not in GRADIENT_RULES)
    return any(step not in values.answers.steps for step in computed)
