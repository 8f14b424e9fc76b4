"""What a teacher shows of a class: a number for each mistake, and how each step went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.many.result_row import Example
from attncli.features.check.verdicts import Solution
from attncli.features.check.worked import decimals_to_compare
from attncli.page.printer import format_number


def examples_of(solution: Solution, diagnoses: Sequence[Diagnosis]) -> tuple[Example | None, ...]:
    """For each diagnosis the wrong number that is read most quickly; None where it has none."""
    return tuple(_example(solution, found) for found in diagnoses)


def _example(solution: Solution, found: Diagnosis) -> Example | None:
    judgement = solution.verdicts
    step = judgement.trace.steps[found.step]
    cells = judgement.steps.get(found.step)
    if cells is None:
        return None
    examples = []
    for index in found.cells:
        cell = cells[index]
        if cell.given is None:
            continue
        digits = decimals_to_compare([cell.given])
        right = format_number(cell.expected, digits)
        where = step.cell_label(index, in_sentence=True)
        examples.append(Example(where, cell.given.as_written, right))
    return min(examples, key=lambda example: example.size, default=None)


def by_step(solution: Solution, asked: Sequence[str]) -> Mapping[str, tuple[int, int]]:
    """How many numbers of each step that is worked out are worth a mark, and of how many: of the
    steps `asked`, if some are, of which those that are not in the answers have none.
    """
    steps = solution.verdicts.trace.steps
    answered = [name for name in solution.verdicts.steps if not steps[name].rule.given]
    found = {}
    for name, step in steps.items():
        if asked and name not in asked:
            continue
        if name in answered:
            found[name] = solution.only([name]).earned(follow_through=True)
        elif name in asked:
            found[name] = (0, prod(step.shape))
    return found
