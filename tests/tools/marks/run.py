"""What has to be true of all marks, tried on drawn solutions:

    python tests/tools/marks/run.py right --cases 5000
    python tests/tools/marks/run.py monotony --cases 20000
    python tests/tools/marks/run.py sheets --cases 20000
    python tests/tools/marks/run.py asked --cases 20000
    python tests/tools/marks/run.py causal --cases 20000
    python tests/tools/marks/run.py heads --cases 20000
    python tests/tools/marks/run.py short --cases 20000
    python tests/tools/marks/run.py exam --cases 20000
    python tests/tools/marks/run.py messy --cases 20000
    python tests/tools/marks/run.py corrected --cases 20000
    python tests/tools/marks/run.py scattered --cases 20000
    python tests/tools/marks/run.py fewer --cases 20000
    python tests/tools/marks/run.py fairness --cases 200

right: no right solution is below full marks, however it was rounded and written. monotony: who puts
a number right never loses a mark. A case is a solution before and after: one number put right, and
all others as they were, also those that follow from it. The solution has a mistake, a slip, or
both, in a problem of a class. sheets: so, too, with all steps that a set asks for, from the queries
to the output. asked: so, too, with only some of the matrices. causal: so, too, where queries do not
see the keys after them, and the mask is written. heads: so, too, with two heads. short: causal,
too, with one decimal, no zeros at the end of a number, and numbers that are read wrongly. exam: so,
too, where only weights and output are asked for, and the problem has biases. messy: the
same with up to two mistakes and three slips, blanks, and now and then a step that is invented.
corrected: one number after the other of such a solution, until all are right. scattered: so, too,
but wrong are two to eight numbers of a right solution, and nothing follows from them. fewer: who
makes one error less never loses a mark. A case has one mistake, slip or blank less, and what
follows worked out again. One error may hide another; a pair in which the hidden one shows now says
nothing, and is no case. Who fills in a blank with a wrong number may lose a slip.
fairness: one mistake costs the same in every problem in which two numbers or more show it, whether
all steps are asked or only some, with or without the exponentials and their sums, and also where
whole numbers are written without decimals.

Told is each case that breaks this, with the seed that draws it. The exit code is 1 if any does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

# A script finds only what stands beside it.
sys.path.insert(0, str(Path(__file__).parents[3]))

import numpy as np

import attncli
from attncli.features.check.rounded_between import rounded_between
from attncli.features.check.verdicts import Verdict
from attncli.problem.text.source import decode
from tests.features.check.solutions_by_hand import half_up
from tests.tools.marks.drawn import (
    STEPS,
    Drawn,
    Errors,
    Student,
    drawn_student,
    in_latex,
    in_short,
    marking,
    right_solution,
    scattered_slips,
    student_of_a_class,
    student_who_misreads,
    wrong_numbers,
)
from tests.tools.marks.sheets import CAUSAL, EXAM, HEADS, MATRICES, SUMS, WHOLE, Sheet

# What a single number costs.
SLIP = 1
# Of each solution, so many numbers are put right, each in a copy of its own.
MENDED = 3


def checked(drawn: Drawn) -> Any:
    return attncli.check(drawn.given, drawn.answers, marking=marking(drawn))


def wrong_right_marks(seed: int) -> Iterator[str]:
    """A right solution that is below full marks, but for what it left out."""
    drawn = right_solution(Random(f"right:{seed}"))
    there = {
        name: share for name, share in marking(drawn)["steps"].items() if name in drawn.answers
    }
    scheme = marking(drawn) | {"steps": there, "marks": sum(there.values())}
    answers: Any = drawn.answers
    if seed % 4 == 0:
        answers = decode(in_latex(drawn.answers).encode(), "answers.tex")
    found = attncli.check(drawn.given, answers, marking=scheme)
    if found.earned.points != sum(there.values()):
        yield f"{found.earned.points} of {sum(there.values())}: {found.earned}"


def lost_by_mending(seed: int) -> Iterator[str | None]:
    """One number put right, and all others left as they were written: None, or what that lost.
    Three numbers are drawn of each solution.
    """
    choice = Random(f"mended:{seed}")
    yield from _lost_on_a_sheet(choice, seed, "qkv", MATRICES)


def lost_by_mending_a_sheet(seed: int) -> Iterator[str | None]:
    """The same where exponentials, their sums, queries, keys and values are written, too."""
    choice = Random(f"sheet:{seed}")
    yield from _lost_on_a_sheet(choice, seed, "x", WHOLE)


def lost_by_mending_some_steps(seed: int) -> Iterator[str | None]:
    """The same where a teacher asks for some of the matrices, and the others are not written."""
    choice = Random(f"asked:{seed}")
    student, errors = student_of_a_class(choice, _problem_of_a_class(seed), seed)
    student = replace(student, left_out=choice.choice(NOT_ASKED))
    drawn = student.solution(errors)
    what = f"{errors} without {student.left_out}"
    yield from _lost_by_each(checked(drawn), drawn, [*drawn.not_right()], what, choice)


# What a teacher leaves out.
NOT_ASKED = (
    ("scores", "scaled"),
    ("scores",),
    ("scaled",),
    ("scores", "scaled", "weights"),
    ("weights",),
    ("scaled", "weights"),
)


def lost_by_mending_a_masked_sheet(seed: int) -> Iterator[str | None]:
    """The same where queries do not see the keys after them, and the mask is written, too."""
    choice = Random(f"causal:{seed}")
    yield from _lost_on_a_sheet(choice, seed, "causal", CAUSAL)


def lost_by_mending_a_sheet_of_heads(seed: int) -> Iterator[str | None]:
    """The same for all that a set asks for with two heads."""
    choice = Random(f"heads:{seed}")
    yield from _lost_on_a_sheet(choice, seed, "heads", HEADS)


def lost_by_mending_a_short_sheet(seed: int) -> Iterator[str | None]:
    """The same with one decimal, without zeros at the end of a number, and with numbers of the
    problem that are read as others.
    """
    choice = Random(f"short:{seed}")
    given = _problem_of_a_class(seed, "causal")
    student, errors = student_who_misreads(choice, given, seed, CAUSAL, CAUSAL.work)
    drawn = replace(student, decimals=1, rounding=half_up(1), short=True).solution(errors)
    yield from _lost_by_each(checked(drawn), drawn, [*drawn.not_right()], f"{errors}", choice)


def lost_by_mending_an_exam(seed: int) -> Iterator[str | None]:
    """The same where only weights and output are asked for, with numbers that are read wrongly."""
    choice = Random(f"exam:{seed}")
    given = _with_biases(choice, _problem_of_a_class(seed, "small"))
    student, errors = student_who_misreads(choice, given, seed, EXAM, EXAM.worth)
    drawn = student.solution(errors)
    yield from _lost_by_each(checked(drawn), drawn, [*drawn.not_right()], f"{errors}", choice)


def _with_biases(choice: Random, given: dict[str, Any]) -> dict[str, Any]:
    """A problem with small numbers that are added to its queries, keys and values."""
    biases = {}
    for letter in "QKV":
        width = len(given[f"W_{letter}"][0])
        biases[f"b_{letter}"] = [choice.randint(-1, 1) for _ in range(width)]
    return given | biases


def _lost_on_a_sheet(choice: Random, seed: int, name: str, sheet: Sheet) -> Iterator[str | None]:
    """The same on a sheet of a class of this name."""
    given = _problem_of_a_class(seed, name)
    student, errors = student_of_a_class(choice, given, seed, sheet)
    drawn = student.solution(errors)
    yield from _lost_by_each(checked(drawn), drawn, [*drawn.not_right()], f"{errors}", choice)


def lost_by_mending_a_mess(seed: int) -> Iterator[str | None]:
    """The same for a wrong number of a solution with many errors."""
    choice = Random(f"monotony:{seed}")
    student, errors = drawn_student(choice, seed)
    drawn = student.solution(errors)
    before = checked(drawn)
    wrong = [*wrong_numbers(drawn, before.solution.verdicts)]
    yield from _lost_by_each(before, drawn, wrong, f"{errors}", choice)


def _lost_by_each(
    before: Any, drawn: Drawn, cells: list[tuple[str, Any]], errors: str, choice: Random
) -> Iterator[str | None]:
    for step, index in choice.sample(cells, min(len(cells), MENDED)):
        after = checked(drawn.mended(step, index))
        lost = before.earned.points - after.earned.points
        what = f"{errors}: {step}{[*index]} put right"
        yield _told(before, after, what, drawn) if lost > 0 else None


def lost_by_correcting(seed: int) -> Iterator[str | None]:
    """The wrong numbers put right one after the other, in any order, until all are: for each of
    them None, or what it lost.
    """
    choice = Random(f"corrected:{seed}")
    student, errors = drawn_student(choice, seed)
    yield from _lost_until_right(student.solution(errors), f"{errors}", choice)


def lost_by_scattered_numbers(seed: int) -> Iterator[str | None]:
    """The same for some numbers of a right solution that are others, from which nothing follows."""
    choice = Random(f"scattered:{seed}")
    drawn, slips = scattered_slips(choice, _problem_of_a_class(seed))
    yield from _lost_until_right(drawn, f"{slips}", choice)


def _lost_until_right(drawn: Drawn, errors: str, choice: Random) -> Iterator[str | None]:
    before = checked(drawn)
    while wrong := [*wrong_numbers(drawn, before.solution.verdicts)]:
        step, index = choice.choice(wrong)
        drawn = drawn.mended(step, index)
        after = checked(drawn)
        lost = before.earned.points - after.earned.points
        what = f"{errors}: {step}{[*index]} put right"
        yield _told(before, after, what, drawn) if lost > 0 else None
        before = after


def lost_by_fewer_errors(seed: int) -> Iterator[str | None]:
    """One error less in a solution, and what follows worked out again: None, or what that lost."""
    choice = Random(f"monotony:{seed}")
    student, errors = drawn_student(choice, seed)
    drawn = student.solution(errors)
    before = checked(drawn)
    hidden = student.hidden(errors)
    for error, fewer in errors.each_mended():
        still_hidden = [error, *student.hidden(fewer)]
        mended = student.solution(fewer)
        may_be_worked = mended.blanks <= drawn.blanks
        if may_be_worked and all(each in still_hidden for each in hidden):
            yield _loss(before, checked(mended), f"{errors} without {error}", drawn)


def _loss(before: Any, after: Any, what: str, drawn: Drawn) -> str | None:
    lost = before.earned.points - after.earned.points
    if lost <= 0 or _not_right(after) - _not_right(before):
        return None
    filled_in_wrong = _cells(before, "missing") & _cells(after, "wrong")
    if lost <= len(filled_in_wrong) * SLIP:
        return None
    return _told(before, after, what, drawn)


def _told(before: Any, after: Any, what: str, drawn: Drawn) -> str:
    lost = before.earned.points - after.earned.points
    lines = [
        f"-{float(lost):.2f}: {what}",
        f"  {drawn.answers} of {drawn.given}",
        f"  {_short(before)}",
        f"  {_short(after)}",
    ]
    return "\n".join(lines)


def _not_right(found: Any) -> set[tuple[str, Any]]:
    """The cells that are missing or wrong. What is off by rounding alone hides an error as what is
    right does.
    """
    not_right = _cells(found, "wrong", "missing")
    for name, cells in rounded_between(found.solution.verdicts).items():
        not_right -= {(name, index) for index in cells}
    return not_right


def _cells(found: Any, *verdicts: Verdict) -> set[tuple[str, Any]]:
    cells = found.solution.verdicts.cells_that_are(*verdicts)
    return {(name, index) for name, index, _ in cells}


def _short(found: Any) -> str:
    marks = found.earned
    parts = [f"{each.step} {each.reason} {each.cells}" for each in marks.lost]
    parts += [f"{each.said or 'by itself'} {[*each.cells]}" for each in marks.mistakes]
    parts += [f"slip {each.said} {[*each.cells]}" for each in marks.slips]
    return "; ".join(parts)


def unfair(seed: int) -> Iterator[str | None]:
    """Each mistake in one problem, where all steps are asked, and where some are, and where the
    exponentials and their sums are, too: None, or what it costs, if that is not 2.
    """
    given = _problem_of_a_class(seed)
    choice = Random(f"fairness:{seed}")
    some = choice.sample(STEPS, choice.randint(1, len(STEPS) - 1))
    yield from _unfair_in(given, MATRICES, STEPS)
    yield from _unfair_in(given, MATRICES, some)
    yield from _unfair_in(given, SUMS, tuple(SUMS.work))


def _unfair_in(given: dict[str, Any], sheet: Sheet, asked: Collection[str]) -> Iterator[str | None]:
    left_out = tuple(name for name in sheet.work if name not in asked)
    student = Student(given, 2, half_up(2), left_out, 0, sheet)
    scheme = marking(student.solution(Errors()))
    steps = {name: scheme["steps"][name] for name in asked}
    full = sum(steps.values())
    scheme |= {"steps": steps, "marks": full}
    for name in sheet.mistakes:
        solution = student.solution(Errors((name,)))
        # Shares of nothing are no numbers.
        if solution.blanks:
            continue
        for form in (solution.answers, in_short(solution.answers)):
            found = attncli.check(given, form, marking=scheme)
            assert found.earned is not None
            # One number that is wrong by itself is a slip, whatever made it; and one that may have
            # been rounded to fewer decimals says little.
            wrong = found.solution.verdicts.cells_that_are("wrong")
            if sum(not cell.looks_too_coarse for _, _, cell in wrong) < 2:
                continue
            cost = full - found.earned.points
            yield None if cost == 2 else f"{name}: {cost} in {form} of {given}: {found.earned}"


@dataclass(frozen=True)
class _Class:
    """What the problems of a class give, with its `dims`: tokens, features of a token, of a key,
    and of a value.
    """

    given: Literal["x", "qkv"]
    dims: tuple[int, int, int, int]
    mask: str | None = None
    heads: int = 1

    def drawn(self, seed: str, number: int) -> list[dict[str, Any]]:
        """A set, as `attncli generate` draws it."""
        problems = attncli.problems(
            seed, number, given=self.given, dims=self.dims, mask=self.mask, heads=self.heads
        )
        return [*map(self._as_given, problems)]

    def _as_given(self, problem: Any) -> dict[str, Any]:
        names = {"x": ("X", "W_Q", "W_K", "W_V"), "qkv": ("Q", "K", "V")}[self.given]
        arrays = {name: problem.given[name].value for name in names}
        found: dict[str, Any] = {name: _side_by_side(array) for name, array in arrays.items()}
        if self.mask is not None:
            found["mask"] = self.mask
        if self.heads > 1:
            found["heads"] = self.heads
        return found


def _side_by_side(array: Any) -> Any:
    """A matrix as rows; those of several heads side by side."""
    return (np.concatenate([*array], axis=-1) if array.ndim > 2 else array).tolist()


CLASSES = {
    "qkv": _Class("qkv", (3, 2, 2, 2)),
    "x": _Class("x", (4, 2, 3, 5)),
    "causal": _Class("qkv", (3, 2, 2, 2), "causal"),
    "heads": _Class("x", (3, 2, 2, 2), heads=2),
    "small": _Class("x", (3, 2, 2, 2)),
}
_PROBLEMS: dict[tuple[str, int], list[dict[str, Any]]] = {}


def _problem_of_a_class(seed: int, name: str = "qkv") -> dict[str, Any]:
    of_a_set = 20
    number = seed // of_a_set
    if (name, number) not in _PROBLEMS:
        _PROBLEMS[name, number] = CLASSES[name].drawn(f"fairness {number}", of_a_set)
    return _PROBLEMS[name, number][seed % of_a_set]


CASES = {
    "monotony": lost_by_mending,
    "sheets": lost_by_mending_a_sheet,
    "asked": lost_by_mending_some_steps,
    "causal": lost_by_mending_a_masked_sheet,
    "heads": lost_by_mending_a_sheet_of_heads,
    "short": lost_by_mending_a_short_sheet,
    "exam": lost_by_mending_an_exam,
    "messy": lost_by_mending_a_mess,
    "corrected": lost_by_correcting,
    "scattered": lost_by_scattered_numbers,
    "fewer": lost_by_fewer_errors,
    "fairness": unfair,
}


def main() -> int:
    """Draw, mark, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["right", *CASES])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    start, found, seed = time.monotonic(), Counter[str](), asked.first
    while found["cases"] < asked.cases:
        for said in _cases(asked, seed):
            found["cases"] += 1
            if said is not None:
                found["broken"] += 1
                print(f"{seed}: {said}", flush=True)
            if found["cases"] == asked.cases:
                break
        seed += 1
    seconds = time.monotonic() - start
    print(f"{found['broken']} of {found['cases']:,} cases broken ({seconds:.0f} s)")
    return 1 if found["broken"] else 0


def _cases(asked: argparse.Namespace, seed: int) -> Iterator[str | None]:
    if asked.what == "right":
        yield next(wrong_right_marks(seed), None)
    else:
        yield from CASES[asked.what](seed)


if __name__ == "__main__":
    sys.exit(main())
