"""What explains that gradients differ: known mistakes, and what is wrong with how they are got."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from attncli.english import listed
from attncli.testing.asking import CaseResult
from attncli.testing.diagnosis import Finding, differing, evidence, explanations
from attncli.testing.gradients.judgement import OF_ROWS, ExpectedGradients

NAN_WHERE_BLIND = "the gradients are NaN where a query sees no key, though the output is not"
NAN = "the gradients are NaN, though the output is not"


def gradient_findings(results: Sequence[CaseResult]) -> tuple[Finding, ...]:
    """What explains the cases whose gradients differ.

    Where a gradient is NaN or none reaches an argument, no mistake in the equations is looked for.
    """
    found = [*_nan(results), *_unreached(results)]
    explained: set[str] = set()
    for each in found:
        explained |= {result.case.name for result in each.results}
    left = [each for each in results if each.case.name not in explained]
    return (*found, *explanations(left))


def with_gradients(found: Finding, results: Sequence[CaseResult]) -> Finding:
    """A mistake in outputs with the cases where it shows in the gradients alone."""
    if len(found.mistakes) > 1 or found.beside:
        return found
    (name,) = found.mistakes
    also = [each for each in differing(results) if evidence(each, name) == "gives"]
    return replace(found, results=(*found.results, *also))


def _nan(results: Sequence[CaseResult]) -> Iterator[Finding]:
    """That gradients are NaN, in cases with a query that sees no key and in others."""
    found: dict[str, list[CaseResult]] = {}
    for result in differing(results):
        assert result.output is not None
        if np.isnan(result.output).any():
            is_blind = _right(result).has_blind_queries
            found.setdefault(NAN_WHERE_BLIND if is_blind else NAN, []).append(result)
    for words, of_these in found.items():
        yield Finding((words,), tuple(of_these))


def _unreached(results: Sequence[CaseResult]) -> Iterator[Finding]:
    """That some gradients are 0 in all cases, though they should not be, and the others right."""
    wrong = differing(results)
    if not wrong:
        return
    right = _right(wrong[0])
    zeros = set(right.judged)
    needed: set[str] = set()
    for each in wrong:
        zeros &= _zeros(each)
        needed |= _wrong_ones(each)
    names = [name for name in right.judged if name in zeros & needed]
    if not names:
        return
    # Nothing reaches the rows of a layer through a weight that nothing reaches.
    also = [name for name in OF_ROWS if name in right.judged and name not in names]
    explained = tuple(each for each in wrong if _is_right_but_for(each, [*names, *also]))
    if explained:
        arrays = [name.removeprefix("d_") for name in names]
        what = listed(arrays)
        yield Finding((f"no gradient reaches {what}",), explained)


def _zeros(result: CaseResult) -> set[str]:
    """The gradients that are 0."""
    output, right = result.output, _right(result)
    assert output is not None
    return {name for name in right.judged if not right.part(output, name).any()}


def _wrong_ones(result: CaseResult) -> set[str]:
    """The gradients that differ."""
    right = _right(result)
    assert result.output is not None
    is_wrong = right.wrong_cells(result.output)
    return {name for name in right.judged if right.part(is_wrong, name).any()}


def _is_right_but_for(result: CaseResult, names: Sequence[str]) -> bool:
    """Whether nothing differs besides these gradients."""
    assert result.output is not None
    right = _right(result)
    filled = result.output.copy()
    for name in names:
        place = right.places[name]
        filled[place] = right.output[place]
    return right.agreement(filled).agrees


def _right(result: CaseResult) -> ExpectedGradients:
    right = result.right
    assert isinstance(right, ExpectedGradients)
    return right
