"""Rows of weights that do not add up to 1, which nobody needs a solution to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.verdicts import JudgedCell, Judgement

# How near the true numbers of a row add up to 1; with a sink they do not.
_NEARLY = 1e-9


class RowSum(NamedTuple):
    """What the numbers of a row that is labelled so add up to."""

    row: str
    sum: Decimal


def rows_off(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> Iterator[RowSum]:
    """The rows with a wrong number that nothing likely explains, if they do not add up to 1."""
    for name, cells in judgement.steps.items():
        step = judgement.trace.steps[name]
        if not step.rule.divides_rows:
            continue
        explained = _explained(diagnoses, name)
        for row in np.ndindex(cells.shape[:-1]):
            is_open = any(
                cell.verdict == "wrong" and (*row, at) not in explained
                for at, cell in enumerate(cells[row])
            )
            total = _sum_off(cells[row]) if is_open else None
            if total is not None:
                yield RowSum(step.row_label(row, in_sentence=True), total)


def _explained(diagnoses: Sequence[Diagnosis], name: str) -> set[CellIndex]:
    likely = [found.cells for found in diagnoses if found.step == name and found.likely]
    return set[CellIndex]().union(*likely)


def _sum_off(row: NDArray[np.object_]) -> Decimal | None:
    """The sum of what is written in a row; None if a number is blank, or the sum is 1 but for
    rounding.
    """
    cells = cast("list[JudgedCell]", row.tolist())
    claims = [cell.given for cell in cells]
    if any(claim is None or not claim.value.is_finite() for claim in claims):
        return None
    expected = sum(cell.expected for cell in cells)
    if abs(expected - 1) > _NEARLY:
        return None
    written = cast("list[Claim]", claims)
    total = sum((claim.value for claim in written), Decimal(0))
    room = sum((claim.half for claim in written), Decimal(0))
    return total if abs(total - 1) > room else None
