"""Marks that a solution has with other numbers in it, told of the solution as it was written.

In the place of the other numbers, which are right as they were written, stand the wrong ones that
follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from attncli.features.check.cell_values import CellIndex, cell_of, ref_to
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.diagnosis_page import with_labels
from attncli.features.check.marks.model import NOTHING, LostShare, Marks, TakenOff, WrongCell
from attncli.features.check.marks.numbers_read import written_read
from attncli.features.check.marks.solution import PERHAPS
from attncli.features.check.single_cell_errors import cell_text
from attncli.features.check.verdicts import Judgement


def as_written(
    written: Judgement, other: Judgement, marks: Marks, replaced: Mapping[WrongCell, str]
) -> tuple[Marks, tuple[Diagnosis, ...]]:
    """The marks of a solution as it was written, which are those of the `other` one, where numbers
    were `replaced`; and what says from which number others follow.
    """
    follow = {*written.wrong - other.wrong}
    told = _Telling(written, replaced, follow)
    mistakes: list[TakenOff] = []
    slips: list[TakenOff] = []
    further: list[Diagnosis] = []
    for slip in marks.slips:
        slips += told.slips(slip)
    for mistake in marks.mistakes:
        following = told.following(mistake)
        further += told.diagnoses(following)
        mistakes.append(told.instead(mistake, following))
    further += told.diagnoses(told.left())
    lost = [told.lost(each) for each in marks.lost]
    found = replace(marks, mistakes=tuple(mistakes), slips=tuple(slips), lost=tuple(lost))
    return found, tuple(further)


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


@dataclass(frozen=True)
class _Telling:
    """The solution as it was written, what was `replaced` in it, and which wrong cells then
    `follow`: each of them is told once.
    """

    judgement: Judgement
    replaced: Mapping[WrongCell, str]
    follow: set[WrongCell]

    def following(self, taken: TakenOff) -> tuple[WrongCell, ...]:
        """The cells that follow from those that a mistake or a slip accounts for."""
        before = {cell for cell in taken.cells if cell in self.replaced}
        found = [cell for cell in sorted(self.follow) if before & self._read_by(cell)]
        self.follow.difference_update(found)
        return tuple(found)

    def left(self) -> tuple[WrongCell, ...]:
        """The cells that follow from those replaced, and that nothing that costs accounts for."""
        before = self.replaced.keys()
        return tuple(cell for cell in sorted(self.follow) if before & self._read_by(cell))

    def _read_by(self, cell: WrongCell) -> set[WrongCell]:
        read = written_read(self.judgement.values, *cell)
        return {(ref.name, cell_of(ref)) for ref in read}

    def instead(self, taken: TakenOff, following: tuple[WrongCell, ...]) -> TakenOff:
        """What was taken off, with the cells that follow in the place of those replaced."""
        left = tuple(cell for cell in taken.cells if cell not in self.replaced)
        # A slip is somewhere.
        cells = left + following or taken.cells
        return replace(taken, cells=cells)

    def slips(self, slip: TakenOff) -> Iterator[TakenOff]:
        """What a slip costs. Of several by themselves, each that was replaced stands for itself."""
        if slip.said:
            yield self.instead(slip, self.following(slip))
            return
        left = tuple(cell for cell in slip.cells if cell not in self.replaced)
        of_each = slip.taken_off / len(slip.cells)
        if left:
            yield replace(slip, cells=left, taken_off=of_each * len(left))
        for cell in slip.cells:
            if cell in self.replaced:
                one = self._of_one(cell)
                taken = replace(one, taken_off=of_each, capped=slip.capped)
                yield self.instead(taken, self.following(taken))

    def _of_one(self, cell: WrongCell) -> TakenOff:
        name = self._used(cell)
        said = f"{PERHAPS} {with_labels(self.judgement, name)}"
        return TakenOff(said, (cell,), NOTHING, names=(name,))

    def diagnoses(self, following: tuple[WrongCell, ...]) -> Iterator[Diagnosis]:
        """What says from which numbers these follow, for each of their steps."""
        steps: dict[str, list[CellIndex]] = {}
        for step, index in following:
            steps.setdefault(step, []).append(index)
        for step, cells in steps.items():
            name = self._used_before(step)
            yield Diagnosis(step, (name,), tuple(cells), whole=False, of_unwritten=True)

    def _used_before(self, step: str) -> str:
        """What was used in the last step before this one that has other numbers."""
        order = [*self.judgement.steps]
        before = order[: order.index(step)]
        last = max((name for name, _ in self.replaced if name in before), key=order.index)
        first, *others = [cell for cell in self.replaced if cell[0] == last]
        if others:
            return f"other numbers were used for {last}"
        return self._used(first)

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
