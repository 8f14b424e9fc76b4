"""RowIndices of weights that were written in percent, and without its sign: 22 for 0.22."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import CLOSE, Answers, CellOfStep, Claim
from attncli.tracing.model import Trace

# By the name of a step, the indices of some of its rows.
RowIndices: TypeAlias = Mapping[str, Sequence[tuple[int, ...]]]
_WHOLE = 100


def rows_in_percent(trace: Trace, answers: Answers) -> RowIndices:
    """The rows that add up to 100 but for rounding, where the right numbers add up to 1."""
    found = {}
    for name, answer in answers.steps.items():
        step = trace.steps[name]
        if not step.rule.divides_rows:
            continue
        rows = []
        for row in np.ndindex(answer.cells.shape[:-1]):
            is_share = abs(step.value[row].sum() - 1) < CLOSE
            if is_share and _add_up_to_hundred(answer.cells[row]):
                rows.append(row)
        if rows:
            found[name] = rows
    return found


def _add_up_to_hundred(row: NDArray[np.object_]) -> bool:
    if any(claim is None for claim in row):
        return False
    claims = cast("list[Claim]", row.tolist())
    if not all(0 <= claim.value <= _WHOLE for claim in claims):
        return False
    room = sum((claim.half for claim in claims), Decimal(0))
    total = sum((claim.value for claim in claims), Decimal(0))
    return abs(total - _WHOLE) <= room


def with_hundredths(answers: Answers, rows: RowIndices) -> Answers:
    """The answers with a hundredth of each number of these rows, as precise as it was written."""
    hundredths: dict[CellOfStep, Claim] = {}
    for name, of_step in rows.items():
        for row in of_step:
            for at, claim in enumerate(answers.steps[name].cells[row]):
                hundredths[name, (*row, at)] = hundredth_of(claim)
    return answers.with_claims(hundredths)


def hundredth_of(claim: Claim) -> Claim:
    """0.22 of 22."""
    value = hundredth(claim.value)
    return replace(claim, text=str(value), value=value, half=hundredth(claim.half))


def hundredth(value: Decimal) -> Decimal:
    """A hundredth, with all digits, of a finite number."""
    sign, digits, exponent = value.as_tuple()
    # A quotient would be rounded to the digits of a context.
    return Decimal((sign, digits, int(exponent) - 2))
