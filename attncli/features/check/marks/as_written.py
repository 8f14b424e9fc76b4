"""Marks that a solution has with other numbers in it, told of the solution as it was written.

In the place of the other numbers, which are right as they were written, stand the wrong ones that
follow from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from attncli.features.check.cell_values import CellIndex, cell_of, ref_to
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.diagnosis_page import with_labels
from attncli.features.check.marks.model import NOTHING, LostShare, Marks, TakenOff, WrongCell
from attncli.features.check.marks.numbers_read import written_read
from attncli.features.check.marks.solution import PERHAPS
from attncli.features.check.single_cell_errors import cell_text
from attncli.features.check.verdicts import Judgement


def as_written(
    written: Judgement,
    other: Judgement,
    marks: Marks,
    replaced: Mapping[WrongCell, str],
    of_other: Sequence[Diagnosis],
) -> tuple[Marks, tuple[Diagnosis, ...]]:
    """The marks of a solution as it was written, which are those of the `other` one, where numbers
    were `replaced`; and what says from which number others follow, or from which of the mistakes
    that explain the other one.
    """
    follow = {*written.wrong - other.wrong}
    told = _Telling(written, replaced, _causes(written, replaced, follow), follow)
    mistakes: list[TakenOff] = []
    slips: list[TakenOff] = []
    further: list[Diagnosis] = []
    for slip in marks.slips:
        slips += told.slips(slip)
    for mistake in marks.mistakes:
        following = told.take_following(mistake)
        names = _names_of(written, mistake, of_other)
        further += told.diagnoses(following, names)
        mistakes.append(told.instead(mistake, following))
    further += told.diagnoses(told.left())
    lost = [told.lost(each) for each in marks.lost]
    found = replace(marks, mistakes=tuple(mistakes), slips=tuple(slips), lost=tuple(lost))
    return found, tuple(further)


def _names_of(
    judgement: Judgement, mistake: TakenOff, diagnoses: Sequence[Diagnosis]
) -> tuple[str, ...]:
    """What diagnoses call a mistake that was likely made, without those that give the same: the
    first step of it has these.
    """
    for found in diagnoses:
        said = with_labels(judgement, found.mistakes[0])
        if found.error is None and found.likely and said in mistake.said:
            return found.mistakes[:1]
    return ()


def further_mistakes(
    written: Judgement, known: Sequence[Diagnosis], other: Sequence[Diagnosis]
) -> Iterator[Diagnosis]:
    """The mistakes that were likely made in the `other` solution, and are not `known` of this one,
    as far as they explain wrong numbers of it.
    """
    names = {(found.step, name) for found in known for name in found.mistakes}
    for found in other:
        if found.error is not None or not found.likely:
            continue
        if any((found.step, name) in names for name in found.mistakes):
            continue
        cells = tuple(index for index in found.cells if (found.step, index) in written.wrong)
        if cells:
            yield replace(found, cells=cells, whole=False, slips=())


def _causes(
    judgement: Judgement, replaced: Mapping[WrongCell, str], follow: Collection[WrongCell]
) -> dict[WrongCell, set[WrongCell]]:
    """The cells replaced that each of these is worked out from, also by way of each other."""

    @cache
    def replaced_read(cell: WrongCell) -> set[WrongCell]:
        read = written_read(judgement.values, *cell)
        return {(ref.name, cell_of(ref)) for ref in read} & replaced.keys()

    causes: dict[WrongCell, set[WrongCell]] = {}
    for cell in follow:
        found = causes.setdefault(cell, set())
        waiting = [cell]
        while waiting:
            new = replaced_read(waiting.pop()) - found
            found |= new
            waiting += new
    return causes


@dataclass(frozen=True)
class _Telling:
    """The solution as it was written, what was `replaced` in it, and which wrong cells then
    `follow`, each from its `causes`: each of them is told once.
    """

    judgement: Judgement
    replaced: Mapping[WrongCell, str]
    causes: Mapping[WrongCell, set[WrongCell]]
    follow: set[WrongCell]

    def take_following(self, taken: TakenOff) -> tuple[WrongCell, ...]:
        """The cells that follow from those that a mistake or a slip accounts for, and that are not
        told yet: now they are.
        """
        before = self.replaced.keys() & set(taken.cells)
        found = []
        for cell in sorted(self.follow):
            if before & self.causes[cell]:
                found.append(cell)
        self.follow.difference_update(found)
        return tuple(found)

    def left(self) -> tuple[WrongCell, ...]:
        """The cells that follow from those replaced, and that nothing that costs accounts for."""
        return tuple(cell for cell in sorted(self.follow) if self.causes[cell])

    def instead(self, taken: TakenOff, following: tuple[WrongCell, ...]) -> TakenOff:
        """What was taken off, with the cells that follow in the place of those replaced."""
        left = tuple(cell for cell in taken.cells if cell not in self.replaced)
        # A slip is somewhere.
        cells = left + following or taken.cells
        return replace(taken, cells=cells)

    def slips(self, slip: TakenOff) -> Iterator[TakenOff]:
        """What a slip costs. Of several by themselves, each that was replaced stands for itself; so
        does a single one, whatever made it: it is not what was written.
        """
        is_not_written = len(slip.cells) == 1 and slip.cells[0] in self.replaced
        if slip.said and not is_not_written:
            yield self.instead(slip, self.take_following(slip))
            return
        left = tuple(cell for cell in slip.cells if cell not in self.replaced)
        of_each = slip.taken_off / len(slip.cells)
        if left:
            yield replace(slip, cells=left, taken_off=of_each * len(left))
        for cell in slip.cells:
            if cell in self.replaced:
                one = self._of_one(cell)
                taken = replace(one, taken_off=of_each, capped=slip.capped)
                yield self.instead(taken, self.take_following(taken))

    def _of_one(self, cell: WrongCell) -> TakenOff:
        name = self._used(cell)
        said = f"{PERHAPS} {with_labels(self.judgement, name)}"
        return TakenOff(said, (cell,), NOTHING, names=(name,), perhaps=True)

    def diagnoses(
        self, following: tuple[WrongCell, ...], names: tuple[str, ...] = ()
    ) -> Iterator[Diagnosis]:
        """What says from which numbers these follow, or from which mistake, for each of their
        steps.
        """
        found: dict[tuple[str, tuple[str, ...]], list[CellIndex]] = {}
        for step, index in following:
            used = names or (self._used_before((step, index)),)
            found.setdefault((step, used), []).append(index)
        for (step, used), cells in found.items():
            yield Diagnosis(step, used, tuple(cells), whole=False, of_unwritten=not names)

    def _used_before(self, cell: WrongCell) -> str:
        """What was used for the cell from which another one follows in the end, or for several."""
        first, *others = sorted(self._first_before(cell))
        if others:
            return f"other numbers were used for {first[0]}"
        return self._used(first)

    def _first_before(self, cell: WrongCell) -> set[WrongCell]:
        """The cells replaced that a cell follows from, and that follow from no others; in the first
        step that has any.
        """
        before = self.causes[cell]
        order = [*self.judgement.steps]
        first = min((name for name, _ in before), key=order.index)
        return {each for each in before if each[0] == first}

    def _used(self, cell: WrongCell) -> str:
        """0.33 was used for scaled[0][0]."""
        name, index = cell
        return f"{self.replaced[cell]} was used for {cell_text(ref_to(name, index))}"

    def lost(self, lost: LostShare) -> LostShare:
        """What lost its share, without counting numbers that are right as they were written."""
        if lost.reason != "wrong":
            return lost
        right = sum(name == lost.step for name, _ in self.replaced)
        return replace(lost, cells=max(1, lost.cells - right))
