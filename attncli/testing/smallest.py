"""The smallest problem that shows what is wrong: one head of one entry, where that is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncli.problem.model import Problem
from attncli.testing.asking import CaseResult
from attncli.testing.case import MOST_AXES
from attncli.testing.diagnosis import Finding, differing
from attncli.testing.judgement import Expected, WrongCell
from attncli.testing.trial import Trial


def smallest_problem(result: CaseResult, explained: Finding | None = None) -> CaseResult:
    """A case that differs, with the head alone that has the first wrong cell.

    It is the case itself where it is about heads or entries, or where the mistake that explains it
    does not show in this head.
    """
    wrong = first_wrong_cell(result)
    if wrong is None or result.case.needs or len(wrong.cell) != MOST_AXES:
        return result
    alone = _alone(result, wrong.cell[:2], explained.beside if explained else ())
    if explained is not None and not _is_explained(alone, explained.mistakes):
        return result
    return alone


def smallest_failing_problem(trial: Trial) -> Problem | None:
    """The smallest problem in which a function differs; None where it differs in none."""
    explained = [each for each in trial.explanations if each.results]
    if explained:
        first = explained[0]
        found = smallest_problem(first.smallest, first)
    else:
        wrong = differing(trial.results)
        if not wrong:
            return None
        found = smallest_problem(wrong[0])
    return found.case.problem(found.meaning)


def first_wrong_cell(result: CaseResult) -> WrongCell | None:
    """The first cell that differs, in the order of rows; None where only rows do that see no
    key.
    """
    assert result.output is not None
    return result.right.first_wrong(result.output)


def truth_of(result: CaseResult) -> Expected:
    """What is right in a case, also where a mistake was assumed in it."""
    return result.right.of(result.case, result.meaning, result.right.dtype.name)


def _alone(result: CaseResult, place: tuple[int, ...], assumed: Sequence[str]) -> CaseResult:
    assert result.output is not None
    entry, head = place
    case = result.case.alone(entry, head)
    meaning = case.meanings[result.chosen]
    right = result.right
    expected = right.of(case, meaning, right.dtype.name)
    for mistake in assumed:
        expected = expected.assuming(mistake)
    given = result.output
    output = expected.joined(lambda name: right.part(given, name)[entry, head])
    return replace(
        result,
        case=replace(case, meanings=(meaning,)),
        output=output,
        expected=(expected,),
        chosen=0,
        agreement=expected.agreement(output),
    )


def _is_explained(result: CaseResult, mistakes: Sequence[str]) -> bool:
    output, right = result.output, result.right
    assert output is not None
    return all(
        name in right.changes and right.evidence(name, output) == "gives" for name in mistakes
    )
