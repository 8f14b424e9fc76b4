"""Marks for people and for programs: how they come about, in one sum and by steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from attncli.english import count, either, listed
from attncli.features.check.marks.model import LostShare, Marks, TakenOff, WrongCell
from attncli.features.check.marks.other_shapes import brings_no_marks
from attncli.features.check.marks.shown import in_hundredths, rounded_half_up
from attncli.features.check.no_work import NO_WORK, no_work_of_their_own
from attncli.features.check.trials import left_out_before
from attncli.features.check.verdicts import Judgement
from attncli.page.document import Block, Paragraph, Table, Text, with_symbols

KEEPS_ITS_MARKS = (
    "A wrong number that a mistake or a slip explains keeps its marks: the mistake or the slip is"
    " taken off once."
)
# More cells of a slip are only counted.
MOST_CELLS_NAMED = 3


def rounded_marks(marks: Fraction) -> float:
    """Marks to two decimals, half up; those of `in_hundredths` are shown as they are.

    >>> rounded_marks(Fraction(50, 3)), rounded_marks(Fraction(18))
    (16.67, 18.0)
    """
    return float(rounded_half_up(marks))


def marks_text(marks: Fraction) -> str:
    """The same as it is printed: 16.67, and 18 without decimals."""
    return f"{rounded_marks(marks):g}"


def marks_blocks(judgement: Judgement, marks: Marks) -> Iterator[Block]:
    """How the marks come about: a sum, and what each step keeps, less what is taken off."""
    marks = in_hundredths(marks)
    yield Paragraph(with_symbols(_sum(judgement, marks)))
    if marks.forgiven:
        are = either(marks.forgiven, "is", "are")
        keep = either(marks.forgiven, "It keeps its share.", "They keep their shares.")
        said = f"{count(marks.forgiven, 'number')} {are} off only because of rounding on the way"
        between = _not_written(judgement, marks)
        if between:
            said += f", in steps that are not written ({between})"
        yield Paragraph((f"{said}. {keep}",))
    rows: list[tuple[Text, ...]] = [
        ((name,), (marks_text(kept),), (marks_text(marks.worth[name]),))
        for name, kept in marks.steps.items()
    ]
    if taken := marks.taken_off:
        rows.append((("mistakes and slips",), (f"−{marks_text(taken)}",), ()))
    if taken or (marks.lost and len(marks.steps) > 1):
        rows.append((("in all",), (marks_text(marks.points),), (f"{marks.of}",)))
    yield Table(("step", "marks", "of"), tuple(rows), (1, 2))
    if taken:
        yield Paragraph((KEEPS_ITS_MARKS,))
    if any(each.reason == "shows nothing" for each in marks.lost):
        yield Paragraph((f"{NO_WORK} After a step that is mostly wrong, they bring no marks.",))


def _not_written(judgement: Judgement, marks: Marks) -> str:
    """The steps before those with marks that are not in the answers: exponentials and row sums."""
    trace, answered = judgement.trace, judgement.answers
    before: set[str] = set()
    for name in marks.steps:
        before |= left_out_before(trace, answered, name) - {name}
    titles = []
    for step in trace.computed():
        if step.name in before and not (step.rule.is_copy or step.rule.only_hides):
            titles.append(step.rule.title.lower())
    return listed(titles)


def _sum(judgement: Judgement, marks: Marks) -> str:
    """Marks: 20 − 2 (the scores were divided by d_k) − 1 (a slip in scores, t1 → t2) = 17 of 20."""
    points = marks_text(marks.points)
    parts = reasons(judgement, marks)
    if not parts:
        return f"Marks: {points} of {marks.of}."
    terms = "".join(f" − {marks_text(taken)} ({why})" for taken, why in parts)
    end = ", since marks do not go below 0" if marks.balance < 0 else ""
    return f"Marks: {marks.of}{terms} = {points} of {marks.of}{end}."


def reasons(judgement: Judgement, marks: Marks) -> list[tuple[Fraction, str]]:
    """What is lost or taken off, in hundredths that add up, and why: 2, the scores were not
    scaled.
    """
    return [part for part in _parts(judgement, in_hundredths(marks)) if part[0]]


def _parts(judgement: Judgement, marks: Marks) -> Iterator[tuple[Fraction, str]]:
    """What is lost or taken off, and why."""
    for lost in marks.lost:
        yield lost.marks, _why_lost(judgement, lost)
    for mistake in marks.mistakes:
        yield mistake.taken_off, mistake.said
    for slip in marks.slips:
        yield slip.taken_off, _slip(judgement, slip)


def _why_lost(judgement: Judgement, lost: LostShare) -> str:
    cells = judgement.trace.steps[lost.step].value.size
    numbers = count(lost.cells, "number")
    if lost.cells == cells and cells > 1:
        numbers = "both numbers" if cells == 2 else f"all {cells:,} numbers"
    are = either(lost.cells, "is", "are")
    if lost.reason == "missing":
        for other in judgement.answers.other_shapes:
            if other.step == lost.step and not other.place:
                return brings_no_marks(other)
        return f"{lost.step}: {numbers} {are} missing"
    if lost.reason == "too coarse":
        return f"{lost.step}: {numbers} {_too_coarse(lost)}"
    if lost.reason == "shows nothing":
        return f"{lost.step}: {numbers} {no_work_of_their_own(lost.cells)}"
    return f"{lost.step}: {numbers} {are} wrong, and nothing explains that"


def _too_coarse(lost: LostShare) -> str:
    """have too few decimals; or were rounded to 1 decimal, and zeros were put behind."""
    if lost.rounded_to is None or not lost.padded:
        return either(lost.cells, "has too few decimals", "have too few decimals")
    were = either(lost.cells, "was", "were")
    rounded = either(lost.cells, "a whole number", "whole numbers")
    if lost.rounded_to:
        rounded = count(lost.rounded_to, "decimal")
    of_them = "" if lost.padded == lost.cells else f" {lost.padded:,} of them"
    return f"{were} rounded to {rounded}, and zeros were put behind{of_them}"


def _slip(judgement: Judgement, slip: TakenOff) -> str:
    """A slip in scores, t1 → t2; or what it was, where that is known."""
    number = len(slip.cells)
    end = " – several in one step cost less" if slip.capped else ""
    if number > MOST_CELLS_NAMED:
        steps = listed([*dict.fromkeys(name for name, _ in slip.cells)])
        if slip.said:
            return f"{slip.said}, in {number:,} numbers of {steps}"
        return f"{number:,} slips in {steps}{end}"
    place = _place(judgement, slip.cells)
    if slip.said:
        return f"{place}: {slip.said}"
    return f"{either(number, 'a slip', f'{number} slips')} in {place}{end}"


def _place(judgement: Judgement, cells: Sequence[WrongCell]) -> str:
    """weights, t1 → t1; t1 → t3; output, t1, d4: each step with the labels of its cells."""
    labels: dict[str, list[str]] = {}
    for name, index in cells:
        label = judgement.trace.steps[name].cell_label(index, in_sentence=True)
        labels.setdefault(name, []).append(label)
    places = []
    for name, of_step in labels.items():
        where = "; ".join(of_step)
        places.append(f"{name}, {where}" if where else name)
    return "; ".join(places)


def marks_data(marks: Marks) -> dict[str, Any]:
    """Marks for programs: what each step keeps, what was taken off the whole, and what was lost."""
    marks = in_hundredths(marks)
    return {
        "points": rounded_marks(marks.points),
        "of": marks.of,
        "steps": {name: rounded_marks(kept) for name, kept in marks.steps.items()},
        "mistakes": [
            {"mistake": each.said, "taken_off": rounded_marks(each.taken_off)}
            for each in marks.mistakes
        ],
        "forgiven": marks.forgiven,
        "slips": [_slip_data(each) for each in marks.slips],
        "lost": [
            {
                "step": each.step,
                "reason": each.reason,
                "cells": each.cells,
                "marks": rounded_marks(each.marks),
            }
            for each in marks.lost
        ],
    }


def _slip_data(slip: TakenOff) -> dict[str, Any]:
    cells = [{"step": name, "index": list(index)} for name, index in slip.cells]
    return {
        "slip": slip.said or None,
        "cells": cells,
        "taken_off": rounded_marks(slip.taken_off),
    }
