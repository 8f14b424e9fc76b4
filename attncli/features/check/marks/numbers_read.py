"""The numbers from which wrong ones follow: right ones, in the place of which others fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias

from attncli.equation.nodes import Ref
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of
from attncli.features.check.marks.fitting_number import ROOM, FittingNumber, fitting_number
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.marks.other_numbers import OtherNumbers, WrittenNumbers, WrongOfSteps
from attncli.features.check.marks.shared_graph import SharedGraph
from attncli.features.check.marks.slips_before import named_tree, refs_of
from attncli.features.check.trials import Trial, trials_of
from attncli.features.check.verdicts import indices_where

# A number that gives fewer cells may be any.
FEWEST_CELLS = 2
# What reads the same number by a mistake, and is wrong with it.
CELLS_READ_BY_ALL = 3
# Right numbers between them were rounded.
ROOM_BY_WAY = 4.0
# If no number gives all cells that read it, so many are taken for slips, one after the other.
MOST_SLIPS_TRIED = 6
# The wrong cells that are worked out from a number.
Readers: TypeAlias = dict[Ref, list[WrongCell]]


def written_read(values: CellValues, step: str, cell: CellIndex) -> list[Ref]:
    """The numbers of the solution that a cell is worked out from, also by way of others that are
    not written.
    """
    return [ref for ref, is_written in _read_back(values, step, cell) if is_written]


def unwritten_read(values: CellValues, step: str, cell: CellIndex) -> list[Ref]:
    """The numbers that are not written, and that a cell is worked out from."""
    return [ref for ref, is_written in _read_back(values, step, cell) if not is_written]


def _read_back(values: CellValues, step: str, cell: CellIndex) -> Iterator[tuple[Ref, bool]]:
    """The numbers that a cell is worked out from, back to those that are written, and of each
    whether it is.
    """
    seen = set[Ref]()
    waiting = [(step, cell)]
    while waiting:
        for ref in _read(values, *waiting.pop()):
            if ref in seen:
                continue
            seen.add(ref)
            read = ref.name, cell_of(ref)
            is_written = values.written(*read) is not None
            yield ref, is_written
            if not is_written:
                waiting.append(read)


def _read(values: CellValues, step: str, cell: CellIndex) -> list[Ref]:
    """The numbers of other steps that the equation of a cell reads, but for what is given."""
    steps = values.trace.steps
    if steps[step].rule.given:
        return []
    found = refs_of(named_tree(values, step, cell))
    worked = [ref for ref in found if ref.name in steps and not steps[ref.name].rule.given]
    return sorted(worked, key=str)


@dataclass(frozen=True)
class NumbersRead:
    """The search in a solution with these wrong cells.

    In the `settled` steps, one wrong number more may cost less than a slip. There, a number that
    gives a single cell counts, too.
    """

    numbers: WrittenNumbers
    wrong: WrongOfSteps
    settled: Set[str]

    def at_once(
        self,
        values: CellValues,
        wrong: WrongOfSteps,
        mistake: Trial | None = None,
        fewest: int = FEWEST_CELLS,
    ) -> Iterator[OtherNumbers]:
        """The numbers from which wrong cells follow by some equations: the right ones, or those of
        a mistake.
        """
        graph = SharedGraph(values)
        for step, cells in wrong.items():
            of_step = {step: cells}
            for ref, of in self._readers(values, of_step, written_read).items():
                least = 1 if ref.name in self.settled else fewest
                for number in _numbers_that_fit(graph, ref, of, least):
                    yield from self._in_place_of(ref, number, mistake)

    def by_way(self, values: CellValues) -> Iterator[OtherNumbers]:
        """The numbers from which wrong cells follow by way of right ones, which then were put
        right, too. The `values` are those of the solution without its right numbers.
        """
        graph = SharedGraph(values)
        for ref, of in self._readers(values, self.wrong, unwritten_read).items():
            for number in _numbers_that_fit(graph, ref, of, FEWEST_CELLS, ROOM_BY_WAY):
                for others in self._in_place_of(ref, number, None):
                    yield replace(others, is_by_way=True)

    def by_all(self, known: Collection[str]) -> Iterator[OtherNumbers]:
        """The numbers that all cells of a step read by the equations of a mistake, as those of a
        softmax over the whole matrix do: with another one, it gives none of them. Those of `known`
        mistakes are sought elsewhere.
        """
        if not self._all_wrong:
            return
        trials = trials_of(self.numbers.judgement)
        steps = self.numbers.judgement.steps
        for trial in trials.of_mistakes:
            step = next((name for name in steps if name in trial.affected), "")
            if step not in self._all_wrong or trial.mistake.name in known:
                continue
            values = trials.by(trial, trials.within_precision).values
            cells = [(step, index) for index in self.wrong[step]]
            graph = SharedGraph(values)
            for ref in self._read_by_all(values, cells):
                # A few say soon that there is none.
                if fitting_number(graph, ref, cells[:CELLS_READ_BY_ALL]) is None:
                    continue
                for number in _numbers_that_fit(graph, ref, cells, len(cells)):
                    yield from self._in_place_of(ref, number, trial)

    @cached_property
    def _all_wrong(self) -> set[str]:
        """The settled steps in which no number is right."""
        found = set()
        for step in self.wrong.keys() & self.settled:
            wrong = self.wrong[step]
            cells = self.numbers.judgement.steps[step]
            others = indices_where(cells, "right", "carried", "rounding")
            is_all_wrong = not others and len(wrong) >= CELLS_READ_BY_ALL
            if is_all_wrong and step not in self.numbers.alike:
                found.add(step)
        return found

    def _readers(
        self,
        values: CellValues,
        wrong: WrongOfSteps,
        read: Callable[[CellValues, str, CellIndex], list[Ref]],
    ) -> Readers:
        """For each number that may be another one, the wrong cells that read it."""
        found: Readers = {}
        for step, cells in wrong.items():
            for cell in [(step, index) for index in cells]:
                if step in self.numbers.alike or not self.numbers.tells(cell):
                    continue
                for ref in self._others(read(values, *cell)):
                    found.setdefault(ref, []).append(cell)
        return found

    def _others(self, refs: Sequence[Ref]) -> list[Ref]:
        """Those that may be others; near to what is hidden is no number."""
        found = []
        for ref in refs:
            cell = ref.name, cell_of(ref)
            if self.numbers.may_be_another(cell) and not self.numbers.claim(cell).hidden:
                found.append(ref)
        return found

    def _read_by_all(self, values: CellValues, cells: Sequence[WrongCell]) -> list[Ref]:
        """The numbers that may be others, and that each of these cells reads."""
        first, *further = cells
        found = written_read(values, *first)
        # The last ones first: they are in other rows.
        for cell in reversed(further):
            read = written_read(values, *cell) if found else []
            found = [ref for ref in found if ref in read]
        return self._others(found)

    def _in_place_of(
        self, ref: Ref, number: FittingNumber, mistake: Trial | None
    ) -> Iterator[OtherNumbers]:
        """A number that fits, rounded down and up: either may have been written."""
        cell = ref.name, cell_of(ref)
        claim = self.numbers.claim(cell)
        half = float(claim.half)
        for end in (number.value - half, number.value + half):
            other = claim.with_number(Decimal(repr(end)))
            if other.value != claim.value:
                yield OtherNumbers({cell: other}, mistake, fits=True, is_open=number.open)


def _numbers_that_fit(
    graph: SharedGraph, ref: Ref, cells: Sequence[WrongCell], fewest: int, room: float = ROOM
) -> Iterator[FittingNumber]:
    """The number that gives all of these cells; if there is none, those that give all but one."""
    if len(cells) < fewest:
        return
    number = fitting_number(graph, ref, cells, room)
    if number is not None:
        yield number
        return
    if len(cells) == fewest:
        return
    for slip in cells[:MOST_SLIPS_TRIED]:
        others = [cell for cell in cells if cell != slip]
        number = fitting_number(graph, ref, others, room)
        if number is not None:
            yield number
