"""Classes as they might be: students with mistakes and slips of their own, and some who copy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from attncli.features.check.many.copies import Copies
from attncli.features.check.many.copies_in_class import copies_in
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.marking import mark
from attncli.features.check.many.result_row import Settings
from attncli.problem.text.source import Source, decode
from tests.reference.back_in_arrays import sheet_of, steps_of
from tests.reference.in_arrays import Problem, Sheet, Steps, worked
from tests.reference.mistaken import GROUPS, Again, steps_mistaken
from tests.reference.on_paper import half_up

ASKED = ("scores", "scaled", "weights", "output")
# As often as a class of a first semester makes them.
WITH_A_MISTAKE = 0.4
SLIPS = 0.8
STUDENTS = 40
# A copy of fewer wrong numbers than these is like many others.
SEEN_FROM = 3
PAIRS = 2
MISTAKES = tuple(
    kind.name
    for kind in GROUPS["in attention"]
    if not kind.name.startswith(("(no name)", "a query that sees no key"))
)

Answers = dict[str, Any]


class DrawnClass(NamedTuple):
    """The problems and the answers of all students, and the pairs of those who copied."""

    problems: list[Problem]
    answers: list[Answers]
    pairs: list[tuple[int, int]]


def drawn_class(choice: Generator, *, own_problems: bool, pairs: int) -> DrawnClass:
    """A class in which so many students copied from another one.

    Where all have one problem, only copies of a solution with errors of its own can be seen.
    """
    one = drawn_problem(choice)
    problems = [drawn_problem(choice) if own_problems else one for _ in range(STUDENTS)]
    answers = [solution(choice, problem) for problem in problems]
    chosen = choice.permutation(STUDENTS)[: 2 * pairs].reshape(pairs, 2)
    copied = []
    for source, copy in chosen.tolist():
        while not own_problems and unexplained(problems[source], answers[source]) < SEEN_FROM:
            answers[source] = solution(choice, problems[source])
        answers[copy] = json.loads(json.dumps(answers[source]))
        copied.append((source, copy))
    return DrawnClass(problems, answers, copied)


def drawn_problem(choice: Generator) -> Problem:
    def whole(*shape: int) -> Any:
        return choice.integers(-2, 4, size=shape).tolist()

    return {"X": whole(3, 2), "W_Q": whole(2, 2), "W_K": whole(2, 2), "W_V": whole(2, 2)}


def unexplained(problem: Problem, answers: Answers) -> int:
    """How many wrong numbers no mistake explains."""
    row = mark(Submission("", as_source(problem), as_source(answers)), Settings())
    return sum(number.unexplained for number in row.written or ())


def solution(choice: Generator, problem: Problem) -> Answers:
    """A solution to two decimals; what comes after an error follows from it."""
    sheet = sheet_of(problem)
    steps = steps_of(sheet)
    if choice.random() < WITH_A_MISTAKE:
        steps = {**steps, **mistake_in(choice, sheet, steps)}
    for _ in range(int(choice.poisson(SLIPS))):
        steps = with_slip(choice, sheet, steps)
    with np.errstate(all="ignore"):
        solved = worked(sheet, steps)
    return {name: half_up(np.squeeze(solved[name]), 2).tolist() for name in ASKED}


def mistake_in(choice: Generator, sheet: Sheet, right: Steps) -> Steps:
    """The steps of a mistake that can be made in this problem."""
    while True:
        try:
            made = steps_mistaken(str(choice.choice(MISTAKES)), sheet)
            with np.errstate(all="ignore"):
                solved = worked(sheet, {**right, **made})
        except (AttributeError, KeyError, ValueError, Again):
            continue
        is_there = set(made) <= set(right)
        if is_there and all(np.isfinite(solved[name]).all() for name in ASKED):
            return made


def with_slip(choice: Generator, sheet: Sheet, steps: Steps) -> Steps:
    """One number of a step that is asked is another one, as a calculator gives it for a key that is
    next to the right one.
    """
    name = str(choice.choice(ASKED))
    place = tuple(
        int(choice.integers(length)) for length in np.squeeze(worked(sheet, steps)[name]).shape
    )
    off = round(float(choice.choice([-1, 1]) * choice.uniform(0.03, 2.5)), 2)
    work = steps[name]

    def slipped(s: Sheet) -> Any:
        array = np.array(work(s), dtype=float)
        array[(..., *place)] += off
        return array

    return {**steps, name: slipped}


def found_in(drawn: DrawnClass) -> Copies:
    """What is noted of a class."""
    submissions = [
        Submission(student_of(at), as_source(problem), as_source(answers))
        for at, (problem, answers) in enumerate(zip(drawn.problems, drawn.answers, strict=True))
    ]
    rows = [mark(each, Settings()) for each in submissions]
    assert not [row.error for row in rows if row.error]
    return copies_in(rows, submissions, Settings())


def student_of(at: int) -> str:
    return f"S{at + 1}"


def as_source(data: Any) -> Source:
    """A file, whose name is what stands in it: the same problem has the same name."""
    text = json.dumps(data)
    return decode(text.encode(), text)


def noted_pairs(found: Copies) -> Iterator[set[str]]:
    """Who is alike."""
    for each in found.of_another:
        yield {each.student, *each.others}
    for group in found.alike:
        yield set(group.students)


def is_noted(pair: tuple[int, int], found: Copies) -> bool:
    return any({*map(student_of, pair)} <= group for group in noted_pairs(found))
