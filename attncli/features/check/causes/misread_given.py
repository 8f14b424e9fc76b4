"""What was read wrongly of what the problem gives: one number, or two rows that were exchanged.

Who reads -1 as 1 in X, and works on with it, has wrong numbers in Q, K and V, in a row and a column
of the scores, and in the output. All of them have one cause. It is looked for in all steps at once:
the other number is worked out from one wrong cell, and has to give the others, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim
from attncli.features.check.causes.given_number import (
    GivenNumber,
    arrays_given,
    given_numbers,
    is_known,
)
from attncli.features.check.causes.nearly_given import UNITS_NEAR
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.float_reading import FloatReading
from attncli.features.check.trials import (
    GivenCells,
    Reproduction,
    Trial,
    Trials,
    decimals_of,
    is_of_paper_size,
    left_out_before,
)
from attncli.mistakes.model import Mistake
from attncli.tracing.model import Step

# Two wrong numbers, or more, say that they have one cause.
FEWEST_CELLS = 2
# What would give the same by chance is not named.
MOST_BY_CHANCE = 0.1
# Of so many wrong cells one may have another cause.
CELLS_FOR_A_SLIP = 4
MOST_ROWS = 6
# So many times the other number is brought nearer to what gives a cell.
_MOST_TURNS = 6
# Less than this is no effect.
_LEAST_EFFECT = 1e-6
# The cells that are wrong, by their steps.
CellsOfSteps = Mapping[str, tuple[CellIndex, ...]]


@dataclass(frozen=True, slots=True)
class MisreadGiven:
    """What was read wrongly, by its `name`: one number, or two rows; and the wrong `cells` of all
    steps that this gives. It is `near` where it shows in one step alone, which reads it: an error
    in this step may have given the same.
    """

    name: str
    cells: CellsOfSteps
    one_number: bool
    near: bool

    @property
    def number(self) -> int:
        """How many wrong cells it gives."""
        return sum(map(len, self.cells.values()))


def misread_given(trials: Trials, wrong: CellsOfSteps) -> list[MisreadGiven]:
    """What may have been read wrongly: what gives the most of the wrong cells, more than chance
    would, and denies no other number; several where these cannot be told apart.
    """
    number = sum(map(len, wrong.values()))
    if number < FEWEST_CELLS or not is_of_paper_size(trials.judgement.values):
        return []
    return _found(trials, tuple(wrong.items()))


@lru_cache(maxsize=2)
def _found(
    trials: Trials, wrong: tuple[tuple[str, tuple[CellIndex, ...]], ...]
) -> list[MisreadGiven]:
    """What is found is asked for step by step."""
    search = _Misreadings(trials, dict(wrong))
    found = [*search.numbers(), *search.rows()]
    most = max((each.number for each in found), default=0)
    return [each for each in found if each.number == most]


@dataclass(frozen=True)
class _Misreadings:
    """The search for what gives these wrong cells."""

    trials: Trials
    wrong: CellsOfSteps

    def numbers(self) -> Iterator[MisreadGiven]:
        """The given numbers that give many of the cells if they are others."""
        numbers = given_numbers(self.trials)
        for anywhere in numbers:
            for number in anywhere.in_places():
                for other in self._others(number):
                    found = self._tried(number.mistake(other), len(numbers), one_number=True)
                    if found is not None and not is_known(self.trials, number, other):
                        yield found

    def rows(self) -> Iterator[MisreadGiven]:
        """Each two rows of a given matrix that give the cells if they are exchanged."""
        for step in arrays_given(self.trials):
            if step.name.startswith("W_") or len(step.shape) != 2:
                continue
            rows = len(step.value)
            if rows > MOST_ROWS:
                continue
            pairs = [*combinations(range(rows), 2)]
            for pair in pairs:
                mistake = _exchanged(step, pair)
                found = self._tried(mistake, len(pairs), one_number=False)
                if found is not None:
                    yield found

    def _others(self, number: GivenNumber) -> set[float]:
        """The numbers that nearly give one of the wrong cells in the place of the right one."""
        trial = self.trials.trial(number.mistake(number.right + number.unit))
        before, after = self.trials.rough, self._roughly(trial)
        for step in trial.affected:
            if step not in self.wrong:
                continue
            effect = _apart(before, after, step)
            if effect is None:
                return set()
            felt = [cell for cell in self.wrong[step] if abs(effect[cell]) > _LEAST_EFFECT]
            # Some may be slips besides.
            if 2 * len(felt) <= len(self.wrong[step]):
                return set()
            most_felt = sorted(felt, key=lambda cell: -abs(effect[cell]))[:FEWEST_CELLS]
            found = {self._other(number, step, cell) for cell in most_felt}
            return found - {number.right}
        return set()

    def _other(self, number: GivenNumber, step: str, cell: CellIndex) -> float:
        """The number that gives a cell nearly, as the problem might have it; the right one where
        there is none.
        """
        claim = cast("Claim", self.trials.judgement.answers.steps[step].cells[cell])
        wanted = float(claim.value)
        at, further = number.right, number.right + number.unit
        result = self._result(number, at, step, cell)
        next_result = self._result(number, further, step, cell)
        for _ in range(_MOST_TURNS):
            rise = next_result - result
            if not math.isfinite(rise) or abs(rise) < _LEAST_EFFECT**2:
                return number.right
            nearer = further + (wanted - next_result) * (further - at) / rise
            at, result = further, next_result
            further = nearer
            next_result = self._result(number, further, step, cell)
            if abs(next_result - wanted) <= float(claim.half) / UNITS_NEAR:
                break
        # Nobody reads -0.
        snapped = round(further, number.decimals) + 0.0
        near = UNITS_NEAR * float(claim.half)
        is_near = abs(self._result(number, snapped, step, cell) - wanted) <= near
        return snapped if is_near else number.right

    def _result(self, number: GivenNumber, other: float, step: str, cell: CellIndex) -> float:
        """What a cell comes to with another number."""
        reading = self._roughly(self.trials.trial(number.mistake(other)))
        found = reading.worked(step)
        return math.nan if found is None else float(found.value[cell])

    def _roughly(self, trial: Trial) -> FloatReading:
        """About what cells come to with a mistake; one of many, which is not kept."""
        before = self.trials.rough
        values = before.values.changed(trial.trace, trial.changes)
        return before.changed(values)

    def _tried(self, mistake: Mistake, tried: int, *, one_number: bool) -> MisreadGiven | None:
        """What a mistake gives of the wrong cells, if it gives most of them in each step that it
        changes, and most numbers there that are not wrong.
        """
        trial = self.trials.trial(mistake)
        values = self.trials.judgement.values
        given: dict[str, tuple[CellIndex, ...]] = {}
        shares: list[float] = []
        for step in trial.affected:
            readings = [*self._readings(trial, step)]
            wrong = self.wrong.get(step, ())
            by = max(readings, key=lambda by: sum(by.gives(step, cell) for cell in wrong))
            cells = tuple(cell for cell in wrong if by.gives(step, cell))
            # Some may be slips besides, or were put right.
            others = len(wrong) - len(cells) + self._denied(step, readings[0])
            if others > len(wrong) // CELLS_FOR_A_SLIP:
                return None
            given[step] = cells
            shares += GivenCells(cells, by).shares_by_chance(values, step)
            # Any of the numbers may be the others.
            tried *= comb(len(wrong) + others, others)
        # One of the numbers said what the other one is.
        telling = sorted(shares)[1:] if one_number else shares
        number = sum(map(len, given.values()))
        if number < FEWEST_CELLS or not telling:
            return None
        if tried * prod(telling) > MOST_BY_CHANCE:
            return None
        found = {step: cells for step, cells in given.items() if cells}
        near = len(found) == 1 and not self._is_far(trial, *found)
        # Rows of one step may have been exchanged in this step.
        if near and not one_number:
            return None
        # If only one number follows from it that is not written, that one may be wrong itself.
        if len(found) == 1 and self._unwritten_moved(trial) == 1:
            return None
        return MisreadGiven(mistake.name, found, one_number, near)

    def _unwritten_moved(self, trial: Trial) -> int:
        """How many numbers that are not written are other ones in the steps that read it."""
        before, after = self.trials.rough, self._roughly(trial)
        values = before.values
        moved = 0
        for step in trial.changes:
            apart = _apart(before, after, step)
            if apart is None:
                continue
            for index, effect in np.ndenumerate(apart):
                if values.written(step, index) is None and abs(effect) > _LEAST_EFFECT:
                    moved += 1
        return moved

    def _is_far(self, trial: Trial, step: str) -> bool:
        """Whether a step that is not written stands between what was read wrongly and this one, and
        more than copies it.
        """
        judgement = self.trials.judgement
        unwritten = left_out_before(judgement.trace, judgement.answers, step) - {step}
        changed = trial.changes.keys()
        for name in unwritten:
            rule = judgement.trace.steps[name].rule
            if rule.given or rule.is_copy:
                continue
            if name in changed or changed & {*rule.inputs}:
                return True
        return False

    def _readings(self, trial: Trial, step: str) -> Iterator[Reproduction]:
        """How the numbers of a step may come about, those that leave the most room first."""
        plain: list[Reproduction] = [self.trials.within_precision]
        if self.trials.leaves_out(step):
            decimals = decimals_of(self.trials.judgement.values, step)
            plain.append(self.trials.rounded_on_the_way(decimals))
            plain.append(self.trials.rounded_on_the_way(decimals + 1))
        for each in plain:
            yield each.changed(trial.trace, trial.changes)

    def _denied(self, step: str, by: Reproduction) -> int:
        """How many numbers that are not wrong would be others."""
        wrong = self.wrong.get(step, ())
        denied = 0
        for index, cell in np.ndenumerate(self.trials.judgement.steps[step]):
            if cell.given is None or index in wrong:
                continue
            if not by.gives(step, index):
                denied += 1
        return denied


def _exchanged(step: Step, pair: tuple[int, int]) -> Mistake:
    one, other = pair
    rows = step.value.copy()
    rows[one] = step.value[other]
    rows[other] = step.value[one]
    name = f"rows {step.name}[{one}] and {step.name}[{other}] were exchanged"
    return Mistake(name, name, lambda _: {step.name: rows})


def _apart(before: FloatReading, after: FloatReading, step: str) -> NDArray[np.float64] | None:
    """How far each cell of a step moves."""
    one = before.worked(step)
    other = after.worked(step)
    if one is None:
        return None
    if other is None:
        return None
    # What a mask hides is -inf.
    with np.errstate(invalid="ignore"):
        moved = other.value - one.value
    return np.nan_to_num(moved)
