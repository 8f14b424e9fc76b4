"""The number that scores were divided by, where that is not the right one: 1.7 for √3."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex, CellValues
from attncli.mistakes.model import Mistake, equations

SCALED, SCORES = "scaled", "scores"
# Fewer numbers may have one divisor by chance.
FEWEST_NUMBERS = 3
# Of a larger number, nobody takes the root.
LARGEST_UNDER_ROOT = 64
# Nobody divides by a number with more decimals.
MOST_DECIMALS = 3


def other_scale(values: CellValues, step: str, cells: tuple[CellIndex, ...]) -> Mistake | None:
    """The scores divided by another number, if one and the same gives all of these cells of the
    scaled scores.

    The cells say between which numbers it lies. Of these, the simplest one is named.
    """
    if step != SCALED or SCORES not in values.trace:
        return None
    least, most = 0.0, math.inf
    different = set[float]()
    for cell in cells:
        claim = values.answers.steps[step].cells[cell]
        score = float(values.own(SCORES, cell))
        if claim is None or not _says_something(claim, score):
            return None
        different.add(score)
        ends = [score / float(claim.value + way * claim.half) for way in (-1, 1)]
        least = max(least, min(ends))
        most = min(most, max(ends))
    if len(different) < FEWEST_NUMBERS or least > most:
        return None
    for divisor in _simple_numbers(least, most):
        said = re.sub(r"sqrt\((\d+)\)", r"the root of \1", divisor)
        name = f"the scores were divided by {said}"
        return Mistake(name, name, equations(f"scaled[i, j] = scores[i, j] / {divisor}"))
    return None


def _says_something(claim: Claim, score: float) -> bool:
    """Whether a number says what the score was divided by: it has the same sign, and is no 0."""
    is_sure = abs(claim.value) > claim.half
    return is_sure and math.isfinite(score) and float(claim.value) * score > 0


def _simple_numbers(least: float, most: float) -> Iterator[str]:
    """The numbers between these, those first that somebody is likely to divide by.

    >>> [*_simple_numbers(2.23, 2.25)]
    ['sqrt(5)', '2.23', '2.230']
    """
    if least <= (whole := math.ceil(least)) <= most and whole:
        yield str(whole)
    under_root = math.ceil(least**2)
    if under_root <= min(most**2, LARGEST_UNDER_ROOT):
        yield f"sqrt({under_root})"
    for decimals in range(1, MOST_DECIMALS + 1):
        rounded = math.ceil(least * 10**decimals) / 10**decimals
        if rounded <= most:
            yield f"{rounded:.{decimals}f}"
