"""The numbers that a problem gives, each of which may be read as another one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

import numpy as np

from attncli.attention.registry import GRADIENT_RULES
from attncli.equation.nodes import Call, Expression, Name, Ref, number_node, rewrite
from attncli.equation.parser import parse_expression
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.single_cell_errors import cell_text
from attncli.features.check.trials import (
    Trial,
    Trials,
    are_apart,
    is_of_paper_size,
    made_together,
)
from attncli.mistakes.in_weights import in_weights
from attncli.mistakes.model import Changes, Mistake
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Step

# In a problem that gives more numbers, nobody works by hand.
MOST_GIVEN = 120
# How many decimals given numbers have on paper, at most.
_MOST_DECIMALS = 3


@dataclass(frozen=True, slots=True)
class GivenNumber:
    """A number that the problem gives, and the steps that read it wrongly: all that do, or one."""

    step: Step
    index: CellIndex
    readers: tuple[str, ...]

    @property
    def right(self) -> float:
        return float(self.step.value[self.index])

    @property
    def decimals(self) -> int:
        """How many decimals the numbers of this array have."""
        for decimals in range(_MOST_DECIMALS):
            if np.allclose(self.step.value, np.round(self.step.value, decimals), 0, 1e-9):
                return decimals
        return _MOST_DECIMALS

    @property
    def unit(self) -> float:
        return float(10.0**-self.decimals)

    def in_places(self) -> Iterator[GivenNumber]:
        """The same, read wrongly everywhere, or in one step alone."""
        yield self
        if len(self.readers) > 1:
            for reader in self.readers:
                yield replace(self, readers=(reader,))

    def mistake(self, other: float) -> Mistake:
        """That this number was read as another one."""
        cell = Ref(self.step.name, tuple(map(str, self.index)))
        name = f"{cell_text(cell)} was copied as {other:.10g}"
        return Mistake(name, name, lambda trace: self._changes(trace.steps, other), is_slip=True)

    @property
    def likely_others(self) -> set[float]:
        """What it is likely read as: with the other sign, one more or less in its last place, or as
        a number beside it.
        """
        others = {-self.right, self.right + self.unit, self.right - self.unit}
        others.update(self._neighbours())
        # Nobody reads -0.
        return {round(other, self.decimals) + 0.0 for other in others} - {self.right}

    def _neighbours(self) -> Iterator[float]:
        """The numbers that stand beside it, and above and below it."""
        for axis, place in enumerate(self.index):
            for beside in (place - 1, place + 1):
                if 0 <= beside < self.step.shape[axis]:
                    yield float(self.step.value[_with_place(self.index, axis, beside)])

    def _changes(self, steps: Mapping[str, Step], other: float) -> Changes:
        def read(node: Expression) -> Expression:
            return self._read(node, other)

        changes = {}
        for reader in self.readers:
            own = steps[reader].rule.equation
            changes[reader] = rewrite(own.expression, read)
        return changes

    def _read(self, node: Expression, other: float) -> Expression:
        if not isinstance(node, Ref) or node.name != self.step.name:
            return node
        number = parse_expression(f"{other:.10f}")
        return Call("where", (self._is_read_by(node), number, node))

    def _is_read_by(self, node: Ref) -> Expression:
        """The condition that a cell of this array is this number: i = 0 and k + half = 2."""
        conditions: list[Expression] = []
        for index, place in zip(node.indices, self.index, strict=True):
            at = Name(index) if isinstance(index, str) else index
            conditions.append(Call("eq", (at, number_node(place))))
        return reduce(lambda one, other: Call("and_", (one, other)), conditions)


def _with_place(index: CellIndex, axis: int, place: int) -> CellIndex:
    return (*index[:axis], place, *index[axis + 1 :])


def arrays_given(trials: Trials) -> Iterator[Step]:
    """The arrays that the problem gives, and the solution does not repeat."""
    judgement = trials.judgement
    answers = judgement.answers.steps
    for step in judgement.trace.steps.values():
        is_array = step.rule.given and step.shape
        if is_array and step.name not in answers:
            yield step


def given_numbers(trials: Trials) -> list[GivenNumber]:
    """Each number that the problem gives, as far as the solution does not repeat it; none where
    these are too many.
    """
    found = []
    for step in arrays_given(trials):
        readers = _readers(trials, step)
        for index in np.ndindex(step.shape):
            found.append(GivenNumber(step, index, readers))
    return found if len(found) <= MOST_GIVEN else []


def _readers(trials: Trials, given: Step) -> tuple[str, ...]:
    """The steps that read a given array."""
    readers = []
    for step in trials.judgement.trace.computed():
        if step.name in GRADIENT_RULES:
            continue
        if given.name in step.rule.inputs:
            readers.append(step.name)
    return tuple(readers)


@lru_cache(maxsize=2)
def misreadings(trials: Trials) -> tuple[Trial, ...]:
    """Each number of the problem, read everywhere as one of those that it is likely read as."""
    found = []
    for number in _on_paper(trials):
        for other in _unknown(trials, number, number.likely_others):
            found.append(trials.trial(number.mistake(other)))
    return tuple(found)


@lru_cache(maxsize=8)
def misread_and_mistaken(trials: Trials, step: str) -> tuple[Trial, ...]:
    """Each number of the problem, read as one of those that it is likely read as; and besides a
    mistake on the way to a step.
    """
    found = []
    made = trials.on_the_way_to(step)
    for number in _on_paper(trials):
        for other in _unknown(trials, number, number.likely_others):
            misread = trials.trial(number.mistake(other))
            if step in misread.affected:
                found += [made_together(one, misread) for one in made if are_apart(one, misread)]
    return tuple(found)


def _on_paper(trials: Trials) -> list[GivenNumber]:
    """The numbers of a problem of a size to be worked on paper."""
    is_on_paper = is_of_paper_size(trials.judgement.values)
    return given_numbers(trials) if is_on_paper else []


def _unknown(trials: Trials, number: GivenNumber, others: Collection[float]) -> list[float]:
    """Those of these readings of a number that are no mistake of another kind."""
    return [other for other in sorted(others) if not is_known(trials, number, other)]


def is_known(trials: Trials, number: GivenNumber, other: float) -> bool:
    """Whether a known mistake reads the array just so: a bias that has one number, and this one as
    0, was left out.
    """
    step = number.step
    read = step.value.copy()
    read[number.index] = other
    for known in _known_readings(trials):
        if known.keys() == {step.name} and np.array_equal(known[step.name], read):
            return True
    return False


@lru_cache(maxsize=2)
def _known_readings(trials: Trials) -> list[dict[str, Doubles]]:
    """The given arrays as known mistakes read them, of those that change nothing else."""
    trace = trials.judgement.trace
    found = []
    for trial in trials.of_mistakes:
        arrays = in_weights(trace, trial.changes)
        # Most mistakes change an equation.
        if len(arrays) == 1:
            found.append(arrays)
    return found
