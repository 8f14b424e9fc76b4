"""The marks of a solution: its verdicts and diagnoses, put into the model of `model.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from attncli.features.check.cell_values import CellIndex, steps_after
from attncli.features.check.cut_digits import cut_off
from attncli.features.check.diagnosis import ROUNDED_ON_THE_WAY, Diagnosis
from attncli.features.check.diagnosis_page import with_labels
from attncli.features.check.marks.model import Cause, MarkedStep, Marks, WrongCell, marks_of
from attncli.features.check.marks.partial_mistakes import (
    coarse_roundings,
    is_nothing_but_zeros,
    partial_mistakes,
)
from attncli.features.check.marks.rounded_between import rounded_between
from attncli.features.check.marks.scheme import Scheme
from attncli.features.check.single_cell_errors import ErrorKind
from attncli.features.check.verdicts import Judgement, Solution, indices_where

# Who reads one number wrongly, and works on with it, has made one slip, whatever follows from it.
READ_WRONGLY = {ErrorKind.NEIGHBOUR_READ, ErrorKind.DIGITS_SWAPPED, ErrorKind.MISCOPIED}


def solution_marks(solution: Solution, diagnoses: Sequence[Diagnosis], scheme: Scheme) -> Marks:
    """What a solution earns by a scheme. The diagnoses are those of all that was answered.

    Raises AttncliError (exit 3) for a step of the scheme that the problem has not.
    """
    judgement = solution.whole or solution.verdicts
    scheme.require_steps(judgement.trace)
    rounded = rounded_between(judgement)
    steps = [
        _marked_step(judgement, name, rounded.get(name, set()), diagnoses)
        for name in _steps(judgement, scheme)
    ]
    certain = _certain(judgement, scheme)
    possible = causes(judgement, diagnoses, scheme)
    marks = marks_of(scheme, steps, possible, certain)
    wrong = {step.name: _indices(step) for step in steps if step.wrong}
    forgiven = sum(map(len, rounded.values()))
    if not _may_be_better(marks):
        return replace(marks, forgiven=forgiven)
    found = partial_mistakes(judgement, wrong)
    possible += [
        Cause(
            f"perhaps {with_labels(judgement, name)}",
            scheme.mistake,
            frozenset(partly.cells),
            likely=partly.likely,
        )
        for name, partly in found.items()
    ]
    return replace(marks_of(scheme, steps, possible, certain), forgiven=forgiven)


def without_guesses_at_slips(diagnoses: Sequence[Diagnosis], marks: Marks) -> tuple[Diagnosis, ...]:
    """The diagnoses without those that only perhaps explain a single number, where that is a slip
    without a name.
    """
    slips = set[WrongCell]()
    for each in marks.slips:
        if not each.said:
            slips.update(each.cells)
    kept = [found for found in diagnoses if not _is_guess_at_slip(found, slips)]
    return tuple(kept)


def _is_guess_at_slip(found: Diagnosis, slips: Collection[WrongCell]) -> bool:
    if found.likely or len(found.cells) != 1:
        return False
    return (found.step, found.cells[0]) in slips


def _may_be_better(marks: Marks) -> bool:
    """Whether several wrong cells of a step have no cause."""
    return any(len(each.cells) > 1 and not each.said for each in marks.slips) or any(
        each.reason == "wrong" for each in marks.lost
    )


def _indices(step: MarkedStep) -> tuple[CellIndex, ...]:
    return tuple(index for _, index in sorted(step.wrong))


def _steps(judgement: Judgement, scheme: Scheme) -> Iterator[str]:
    """Those that are marked and those that were answered, in the order of work."""
    for name in judgement.trace.steps:
        if name in scheme.steps or name in judgement.steps:
            yield name


def _marked_step(
    judgement: Judgement,
    name: str,
    rounded: Collection[CellIndex],
    diagnoses: Sequence[Diagnosis],
) -> MarkedStep:
    """A step with its wrong cells, but for those that were only `rounded` on the way."""
    size = prod(judgement.trace.steps[name].shape)
    cells = judgement.steps.get(name)
    if cells is None:
        return MarkedStep(name, size, missing=size)
    wrong = [index for index in indices_where(cells, "wrong") if index not in rounded]
    coarse = [index for index in wrong if cells[index].too_coarse]
    if _was_rounded_to_too_few(judgement, name, diagnoses):
        coarse = indices_where(cells, "wrong", "rounding")
    hollow = 0
    if is_nothing_but_zeros(judgement, name):
        hollow = len(indices_where(cells, "right", "carried", "rounding"))
    return MarkedStep(
        name,
        size,
        missing=len(indices_where(cells, "missing")),
        coarse=len(coarse),
        wrong=frozenset((name, index) for index in wrong if index not in coarse),
        hollow=hollow,
        before=_before(judgement, name),
    )


def _was_rounded_to_too_few(
    judgement: Judgement, name: str, diagnoses: Sequence[Diagnosis]
) -> bool:
    """Whether a step was rounded to fewer decimals than were asked for, and then written with
    zeros: 1.00 for 0.93 is no better than 1.
    """
    names = coarse_roundings(judgement, name)
    return any(found.step == name and names & {*found.mistakes} for found in diagnoses)


def _before(judgement: Judgement, name: str) -> frozenset[str]:
    """The steps that a step is worked out from, through all between them."""
    trace = judgement.trace
    return frozenset(other for other in trace.steps if name in steps_after(trace, {other}))


def _certain(judgement: Judgement, scheme: Scheme) -> list[Cause]:
    """What explains numbers that are nearly right: the digits were cut off."""
    cut = cut_off(judgement)
    if cut is None:
        return []
    return [Cause(cut.said, scheme.slip, frozenset(cut.cells))]


def causes(judgement: Judgement, diagnoses: Sequence[Diagnosis], scheme: Scheme) -> list[Cause]:
    """What may explain the wrong cells. A mistake that shows in several steps is one cause, and
    mistakes that explain the same cells are one, too.
    """
    explained: dict[tuple[str, int], set[WrongCell]] = {}
    of: dict[tuple[str, int], Diagnosis] = {}
    for number, found in enumerate(diagnoses):
        for name in found.mistakes:
            if name in coarse_roundings(judgement, found.step):
                continue
            # The same slip in two steps is two slips.
            key = (name, number if found.error else -1)
            explained.setdefault(key, set()).update((found.step, cell) for cell in found.cells)
            if key not in of or found.likely:
                of[key] = found
    names: dict[tuple[frozenset[WrongCell], Fraction, bool, bool], list[str]] = {}
    for key, cells in explained.items():
        name, found = key[0], of[key]
        is_slip = _is_slip(found)
        costs = scheme.slip if is_slip else scheme.mistake
        if name == ROUNDED_ON_THE_WAY:
            costs = Fraction(0)
        # Zeros alone are a sign of nothing.
        likely = found.likely and not is_nothing_but_zeros(judgement, found.step)
        said = with_labels(judgement, name)
        if not likely:
            said = f"perhaps {said}"
        names.setdefault((frozenset(cells), costs, is_slip, likely), []).append(said)
    return [
        Cause(", or ".join(said), costs, cells, is_slip, likely)
        for (cells, costs, is_slip, likely), said in names.items()
    ]


def _is_slip(found: Diagnosis) -> bool:
    """Whether a single number went wrong: one that was written, or one that was read."""
    if found.error is None:
        return False
    return len(found.cells) == 1 or found.error.kind in READ_WRONGLY
