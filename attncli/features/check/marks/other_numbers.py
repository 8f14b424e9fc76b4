"""Numbers with which a solution may have gone on, where right ones are written in their place.

Who works out all with a wrong number, and then puts this number right, has others that do not
follow any more. They follow from the wrong one, still.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias, cast

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.marks.model import WrongCell
from attncli.features.check.no_work import is_one_number
from attncli.features.check.trials import Trial
from attncli.features.check.verdicts import JudgedCell, Judgement

# The wrong cells of each step.
WrongOfSteps: TypeAlias = Mapping[str, tuple[CellIndex, ...]]


@dataclass(frozen=True, slots=True)
class OtherNumbers:
    """Numbers in the place of right ones: all that a `mistake` makes (then it `is_whole`), one
    of them, or one that `fits` the wrong numbers that read it.

    It fits by the equations of a `mistake`, or by the right ones. It `is_open` if many others fit
    as well, and `is_by_way` if right numbers stand between.
    """

    numbers: Mapping[WrongCell, Claim]
    mistake: Trial | None = None
    is_whole: bool = False
    fits: bool = False
    is_open: bool = False
    is_by_way: bool = False

    @property
    def are_many(self) -> bool:
        """Whether so many others may be tried that some are likely to fit."""
        return self.is_by_way or (self.mistake is not None and self.mistake.has_slip)

    @property
    def key(self) -> tuple[str, frozenset[tuple[WrongCell, Decimal]]]:
        """What two that are the same have in common."""
        name = "" if self.mistake is None else self.mistake.mistake.name
        return name, frozenset((cell, claim.value) for cell, claim in self.numbers.items())

    @property
    def said(self) -> dict[WrongCell, str]:
        """What each number is called."""
        if self.is_open:
            return dict.fromkeys(self.numbers, "another number")
        return {cell: claim.text for cell, claim in self.numbers.items()}

    def with_numbers(self, further: Mapping[WrongCell, Claim]) -> OtherNumbers:
        return replace(self, numbers={**self.numbers, **further})


@dataclass(frozen=True)
class WrittenNumbers:
    """The numbers of a solution, and which of them may have been others."""

    judgement: Judgement

    def may_be_another(self, cell: WrongCell) -> bool:
        """Whether a number is right, and was rounded or is hidden."""
        name, index = cell
        cells = self.judgement.steps.get(name)
        if cells is None or name in self.alike or cells[index].verdict != "right":
            return False
        claim = self.claim(cell)
        return claim.hidden or not claim.exact

    def tells(self, cell: WrongCell) -> bool:
        """Whether a wrong number says from which one it follows; one with few decimals does not."""
        name, index = cell
        judged = cast("JudgedCell", self.judgement.steps[name][index])
        claim = self.claim(cell)
        return claim.value.is_finite() and not (claim.exact or judged.looks_too_coarse)

    def claim(self, cell: WrongCell) -> Claim:
        """What stands in a cell."""
        name, index = cell
        return cast("Claim", self.judgement.steps[name][index].given)

    def another(self, cell: WrongCell, number: Decimal) -> Claim | None:
        """Another number in the place of what stands in a cell; None where there can be none, or
        where it would be the same.
        """
        name, index = cell
        other = self.judgement.answers.steps[name].another(index, number)
        if other is None or other.value == self.claim(cell).value:
            return None
        return other

    @cached_property
    def alike(self) -> frozenset[str]:
        """The steps in which all numbers are alike: who wrote them has not worked."""
        steps = self.judgement.steps
        return frozenset(name for name in steps if is_one_number(self.judgement, name))
