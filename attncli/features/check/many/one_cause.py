"""Wrong numbers of one row or column that may have one cause, so that they say no more than one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import cast

from attncli.answers.model import Claim
from attncli.equation.intervals import Interval, add, div, sub
from attncli.features.check.cell_values import CellIndex, interval
from attncli.features.check.marks.slips_before import is_one_slip
from attncli.features.check.verdicts import JudgedCell, Judgement


def of_one_cause(
    judgement: Judgement, step: str, cells: Sequence[CellIndex]
) -> Iterator[tuple[CellIndex, ...]]:
    """All groups of these wrong cells that may have one cause."""
    for number in range(2, len(cells) + 1):
        for group in combinations(cells, number):
            if not are_in_line(group):
                continue
            if _may_have_one_cause(judgement, step, group):
                yield group


def are_in_line(cells: Iterable[CellIndex]) -> bool:
    """Whether cells of a step are all in one row, or all in one column.

    >>> are_in_line([(0, 1), (0, 2)]), are_in_line([(0, 1), (2, 1)]), are_in_line([(0, 1), (1, 2)])
    (True, True, False)
    """
    rows, columns = set(), set()
    for cell in cells:
        *block, row, column = (0, *cell)
        rows.add((*block, row))
        columns.add((*block, column))
    return len(rows) == 1 or len(columns) == 1


def _may_have_one_cause(judgement: Judgement, step: str, cells: tuple[CellIndex, ...]) -> bool:
    """Whether one number was added to all of them, or multiplied with all; whether their sum is as
    it should be, as that of weights of which the last is what is left; or whether they all read one
    number wrongly.
    """
    judged = [cast("JudgedCell", judgement.steps[step][cell]) for cell in cells]
    if not all(math.isfinite(cell.own) for cell in judged):
        return True
    written = [interval(cast("Claim", cell.given)) for cell in judged]
    own = [Interval.at(cell.own) for cell in judged]
    differences = [sub(one, other) for one, other in zip(written, own, strict=True)]
    if _have_a_number_in_common(differences) or 0 in add(*differences):
        return True
    if all(cell.own for cell in judged):
        factors = [div(one, other) for one, other in zip(written, own, strict=True)]
        if _have_a_number_in_common(factors):
            return True
    return is_one_slip(judgement, step, cells)


def _have_a_number_in_common(ranges: Sequence[Interval]) -> bool:
    least = max(each.low for each in ranges)
    most = min(each.high for each in ranges)
    return least <= most
