"""What explains a solution, and its verdicts in the light of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from attncli.features.check.cell_values import CellIndex
from attncli.features.check.cut_digits import cut_reading
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.single_cell_errors import cell_errors
from attncli.features.check.verdicts import JudgedCell, Judgement, Solution
from attncli.mistakes.forward import roundings_of


def diagnosed(solution: Solution) -> tuple[Solution, tuple[Diagnosis, ...]]:
    """What explains a solution, and its verdicts in the light of that. Its digits may have been
    cut off.
    """
    solution, diagnoses = diagnosed_as_rounded(solution)
    cut = cut_reading(solution.verdicts, diagnoses)
    if cut is not None:
        return replace(solution, read_as_cut=cut.judgement), cut.diagnoses
    return solution, diagnoses


def diagnosed_as_rounded(solution: Solution) -> tuple[Solution, tuple[Diagnosis, ...]]:
    """The same, if its numbers were rounded: one that a mistake gives as it was written has no
    digit too few.
    """
    diagnoses = diagnose(solution.verdicts)
    while enough := _given_with_few_digits(solution.verdicts, diagnoses):
        solution = solution.with_enough_digits(enough)
        diagnoses = diagnose(solution.verdicts)
    return solution, diagnoses


def _given_with_few_digits(
    judgement: Judgement, diagnoses: Sequence[Diagnosis]
) -> list[tuple[str, CellIndex]]:
    """The numbers that look as if they had too few decimals, and that a mistake or an error gives
    which others have, too. To round them early is no such mistake.
    """
    found = []
    for each in diagnoses:
        if roundings_of(each.step).intersection(each.mistakes):
            continue
        for index, cell in np.ndenumerate(judgement.steps[each.step]):
            if cast("JudgedCell", cell).too_coarse and _gives(judgement, each, index):
                found.append((each.step, index))
    return found


def _gives(judgement: Judgement, found: Diagnosis, index: CellIndex) -> bool:
    """Whether a diagnosis gives another cell of its step as well."""
    if found.whole:
        return index not in found.slips
    if found.error is None or len(found.cells) == 1:
        return False
    errors = cell_errors(judgement.values, found.step, index)
    return found.error.name in [error.name for error in errors]
