"""Solutions as drawn students write them, for what has to be true of all marks.

A student works out the steps of a sheet, with mistakes, slips and blanks, and rounds in one of
several ways. Everything is NumPy, as in `solutions_by_hand.py`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any, cast

import numpy as np

from tests.features.check.solutions_by_hand import (
    WORK,
    Array,
    Matrices,
    Rounding,
    Written,
    half_even,
    half_up,
)
from tests.tools.marks.sheets import MATRICES, Sheet, matrices_of

STEPS = tuple(WORK)


@dataclass(frozen=True)
class Drawn:
    """A problem, and a solution of it with so many decimals; `truth` has the right numbers of its
    sheet. A `short` one is written without zeros at the end of a number.
    """

    given: dict[str, Any]
    answers: dict[str, Any]
    truth: Matrices
    decimals: int
    sheet: Sheet = MATRICES
    short: bool = False

    def mended(self, step: str, index: tuple[int, ...]) -> Drawn:
        """The same with the right number in a cell."""
        answers = deepcopy(self.answers)
        _row_of(answers, step, index)[index[-1]] = self.right(step, index)
        return replace(self, answers=answers)

    def not_right(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The cells that have another number than the right one, wherever it comes from."""
        for name in self.answers:
            for index in np.ndindex(self.truth[name].shape):
                if self.written(name, index) != self.right(name, index):
                    yield name, index

    def written(self, step: str, index: tuple[int, ...]) -> str | None:
        return _row_of(self.answers, step, index)[index[-1]]

    @property
    def blanks(self) -> int:
        """How many numbers are left blank."""
        cells = [
            (name, index) for name in self.answers for index in np.ndindex(self.truth[name].shape)
        ]
        return sum(self.written(*cell) is None for cell in cells)

    def right(self, step: str, index: tuple[int, ...]) -> str:
        number = half_up(self.decimals)(self.truth[step])[index]
        text = f"{number:.{self.decimals}f}"
        return in_short(text) if self.short else text


def _row_of(answers: dict[str, Any], step: str, index: tuple[int, ...]) -> list[str | None]:
    """The row of a cell; a step of sums is one."""
    found = answers[step]
    for at in index[:-1]:
        found = found[at]
    return cast("list[str | None]", found)


def drawn_problem(choice: Random, *, square: bool = True) -> dict[str, Any]:
    """Queries, keys and values: whole numbers, or numbers with one decimal."""
    queries, d_k = choice.randint(2, 3), choice.choice([2, 3, 5])
    keys, d_v = (queries, d_k) if square else (choice.randint(2, 4), choice.randint(1, 3))

    def matrix(rows: int, columns: int) -> list[list[float]]:
        return [[number() for _ in range(columns)] for _ in range(rows)]

    whole = choice.random() < 0.6

    def number() -> float:
        return choice.randint(-2, 3) if whole else round(choice.uniform(-1.5, 1.5), 1)

    return {"Q": matrix(queries, d_k), "K": matrix(keys, d_k), "V": matrix(keys, d_v)}


def drawn_rounding(choice: Random, decimals: int) -> Rounding:
    return choice.choice([half_up, half_even])(decimals)


@dataclass(frozen=True)
class Errors:
    """What a student does wrong: mistakes by their names, slips and blanks by their cells, steps
    that are invented, and numbers of the problem that are read as others.
    """

    mistakes: tuple[str, ...] = ()
    slips: tuple[tuple[str, tuple[int, ...], int], ...] = ()
    blanks: tuple[tuple[str, tuple[int, ...]], ...] = ()
    invented: tuple[str, ...] = ()
    misread: tuple[tuple[str, tuple[int, ...], float], ...] = ()

    def each_mended(self) -> Iterator[tuple[Any, Errors]]:
        """Each error, and the same without it."""
        for field in ("mistakes", "slips", "blanks", "invented", "misread"):
            errors = getattr(self, field)
            for place, error in enumerate(errors):
                yield error, replace(self, **{field: errors[:place] + errors[place + 1 :]})


@dataclass(frozen=True)
class Student:
    """A problem, how somebody writes and rounds, and which steps are left out; each solution of
    this student is worked through, with errors or without.
    """

    given: dict[str, Any]
    decimals: int
    rounding: Rounding
    left_out: tuple[str, ...]
    seed: int
    sheet: Sheet = MATRICES
    short: bool = False

    def solution(self, errors: Errors) -> Drawn:
        """The solution with these errors: what comes after is worked out from what is written."""
        numbers = matrices_of(self.given)
        for name, index, number in errors.misread:
            numbers[name][index] = number
        work = {**self.sheet.work, **dict(map(self.sheet.mistakes.__getitem__, errors.mistakes))}
        for name in work:
            with np.errstate(all="ignore"):
                found = self.rounding(work[name](numbers))
            for step, index, kind in errors.slips:
                if step == name:
                    found[index] = _slip(Random(f"{self.seed}{index}"), found[index], kind)
            if name in errors.invented:
                choice = Random(f"{self.seed}{name}")
                found = self.rounding(np.array([[choice.uniform(-3, 3) for _ in r] for r in found]))
            numbers[name] = found
        answers: dict[str, Any] = {
            name: _texts(numbers[name], self.decimals) for name in work if name not in self.left_out
        }
        for step, index in errors.blanks:
            if step in answers:
                _row_of(answers, step, index)[index[-1]] = None
        if self.short:
            answers = in_short(answers)
        truth = self.sheet.worked(self.given)
        return Drawn(self.given, answers, truth, self.decimals, self.sheet, self.short)

    def hidden(self, errors: Errors) -> list[Any]:
        """The errors that do not show: without one of them, the same numbers would be written."""
        written = self.solution(errors).answers
        return [
            error
            for error, fewer in errors.each_mended()
            if self.solution(fewer).answers == written
        ]


def drawn_student(choice: Random, seed: int) -> tuple[Student, Errors]:
    """A student with errors: none of each kind, or some."""
    given = drawn_problem(choice)
    decimals = choice.choice([2, 2, 2, 3])
    rounding = choice.choice([half_up, half_up, half_up, half_even])(decimals)
    left_out = tuple(name for name in STEPS[:-1] if choice.random() < 0.15)
    truth = MATRICES.worked(given)

    def cell() -> tuple[str, tuple[int, ...]]:
        step = choice.choice(STEPS)
        return step, tuple(choice.randrange(length) for length in truth[step].shape)

    made = {
        MATRICES.mistakes[name][0]: name
        for name in choice.sample([*MATRICES.mistakes], choice.choice([0, 1, 2]))
    }
    slips = {cell(): choice.randrange(SLIPS) for _ in range(choice.choice([0, 1, 1, 2, 3]))}
    # A blank that is filled in with a wrong number is no error less.
    blanks = {cell() for _ in range(choice.choice([0, 0, 1, 2]))} - slips.keys()
    return Student(given, decimals, rounding, left_out, seed), Errors(
        tuple(made.values()),
        tuple((*where, kind) for where, kind in slips.items()),
        tuple(sorted(blanks)),
        (choice.choice(STEPS),) if choice.random() < 0.1 else (),
    )


# So many numbers are others in a solution that is right but for these.
SCATTERED = (2, 8)


def scattered_slips(
    choice: Random, given: dict[str, Any]
) -> tuple[Drawn, list[tuple[str, tuple[int, ...]]]]:
    """A right solution in which some numbers are others, and which these are. Nothing follows from
    them.
    """
    decimals = choice.choice([2, 2, 3])
    truth = MATRICES.worked(given)
    right = {name: half_up(decimals)(truth[name]) for name in STEPS}
    cells = [(name, index) for name in STEPS for index in np.ndindex(right[name].shape)]
    slips = choice.sample(cells, choice.randint(*SCATTERED))
    for name, index in slips:
        right[name][index] = _slip(choice, right[name][index], choice.randrange(SLIPS))
    answers = {name: _texts(right[name], decimals) for name in STEPS}
    return Drawn(given, answers, truth, decimals), slips


def student_of_a_class(
    choice: Random, given: dict[str, Any], seed: int, sheet: Sheet = MATRICES
) -> tuple[Student, Errors]:
    """A student with a mistake, a slip, or both, who writes two decimals, or three."""
    decimals = choice.choice([2, 2, 3])
    truth = sheet.worked(given)
    step = choice.choice([*sheet.work])
    slip = step, tuple(map(choice.randrange, truth[step].shape)), choice.randrange(SLIPS)
    mistake = choice.choice([*sheet.mistakes])
    mistakes, slips = choice.choice([((mistake,), ()), ((), (slip,)), ((mistake,), (slip,))])
    return Student(given, decimals, half_up(decimals), (), seed, sheet), Errors(mistakes, slips)


def student_who_misreads(
    choice: Random, given: dict[str, Any], seed: int, sheet: Sheet, asked: Collection[str]
) -> tuple[Student, Errors]:
    """A student who reads a number of the problem as another one, and makes a mistake or a slip
    besides, or neither; or who makes both, and reads all numbers as they are. Only what is `asked`
    is written.
    """
    left_out = tuple(name for name in sheet.work if name not in asked)
    student, errors = student_of_a_class(choice, given, seed, sheet)
    step = choice.choice([*asked])
    truth = sheet.worked(given)
    slip = step, tuple(map(choice.randrange, truth[step].shape)), choice.randrange(SLIPS)
    if errors.slips:
        errors = replace(errors, slips=(slip,))
    if not (errors.slips and errors.mistakes):
        errors = replace(errors, misread=(_misread(choice, given),))
    if choice.random() < 0.3:
        errors = replace(errors, mistakes=(), slips=())
    return replace(student, left_out=left_out), errors


def _misread(choice: Random, given: dict[str, Any]) -> tuple[str, tuple[int, ...], float]:
    """A number of a problem, and what it is read as: with the other sign, or one more or less."""
    numbers = matrices_of(given)
    name = choice.choice(sorted(name for name in numbers if name[0] != "b"))
    index = tuple(map(choice.randrange, numbers[name].shape))
    right = float(numbers[name][index])
    others = {-right, right + 1, right - 1} - {right}
    return name, index, choice.choice(sorted(others))


def _slip(choice: Random, number: float, kind: int) -> float:
    kinds = [
        -number,
        number + 1,
        number - 2,
        number + 0.1,
        number * 10,
        choice.randint(-30, 30) / 10,
    ]
    return float(kinds[kind])


SLIPS = 6


def _texts(array: Array, decimals: int) -> Any:
    """A matrix, or a row of sums. What nobody can work out, as shares of a row whose sum is 0, is
    left blank.
    """
    if array.ndim > 1:
        return [_texts(row, decimals) for row in array]
    return [_text(number, decimals) for number in array.tolist()]


def _text(number: float, decimals: int) -> str | None:
    if math.isnan(number) or number == math.inf:
        return None
    # What is hidden is -inf.
    return f"{number + 0.0:.{decimals}f}"


def right_solution(choice: Random) -> Drawn:
    """One without any error: rounded on the way or only at its end, half up or half even, in any
    form of writing, some steps left out.
    """
    given = drawn_problem(choice, square=choice.random() < 0.5)
    asked = choice.choice([2, 2, 3])
    decimals = asked + choice.choice([0, 0, 1, 2])
    rounding = drawn_rounding(choice, decimals)
    on_the_way = choice.random() < 0.6
    numbers: Matrices = {name: np.array(array, dtype=float) for name, array in given.items()}
    shown: Written = {}
    form = choice.choice(["digits", "digits", "short", "exact", "double"])
    if form in ("exact", "double"):
        on_the_way = False
    for name in STEPS:
        found = WORK[name](numbers)
        rounded = rounding(found)
        numbers[name] = rounded if on_the_way else found
        shown[name] = _texts(rounded, decimals)
        if form == "short":
            shown[name] = in_short(shown)[name]
        elif form == "double":
            shown[name] = [[repr(float(one)) for one in row] for row in found]
    if form == "exact":
        _write_exactly(choice, given, shown)
    left_out = [name for name in STEPS[:-1] if choice.random() < 0.25]
    answers: dict[str, Any] = {name: rows for name, rows in shown.items() if name not in left_out}
    return Drawn(given, answers, MATRICES.worked(given), asked)


def in_short(written: Any) -> Any:
    """The same as spreadsheets write it, without zeros at the end of a number."""
    if isinstance(written, dict):
        return {name: in_short(rows) for name, rows in written.items()}
    if isinstance(written, list):
        return [*map(in_short, written)]
    if written is None or not written[-1:].isdigit() or "." not in written:
        return written
    text = written.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _write_exactly(choice: Random, given: dict[str, Any], shown: Written) -> None:
    """Scores as fractions, and scaled scores as these over a root, in one of several spellings."""
    d_k = len(given["K"][0])
    root = choice.choice([f"sqrt({d_k})", f"√{d_k}"])
    for i, query in enumerate(given["Q"]):
        for j, key in enumerate(given["K"]):
            terms = [Fraction(str(q)) * Fraction(str(k)) for q, k in zip(query, key, strict=True)]
            score = sum(terms, Fraction(0))
            shown["scores"][i][j] = str(score)
            shown["scaled"][i][j] = f"({score})/{root}" if score else "0"


def in_latex(answers: dict[str, Any]) -> str:
    """The same as somebody writes it in LaTeX."""
    parts = []
    for name, letter in zip(STEPS, "SZAO", strict=True):
        if name in answers:
            rows = r" \\ ".join(" & ".join(row) for row in answers[name])
            parts.append(rf"$$ {letter} = \begin{{pmatrix}} {rows} \end{{pmatrix}} $$")
    return "\n\n".join(parts)


def wrong_numbers(drawn: Drawn, verdicts: Any) -> Iterator[tuple[str, Any]]:
    """The cells that are wrong, of all steps."""
    for name, index, _ in verdicts.cells_that_are("wrong"):
        if drawn.written(name, index) != drawn.right(name, index):
            yield name, index


def marking(drawn: Drawn) -> dict[str, Any]:
    """A usual one: 20 marks, of which a mistake costs 2."""
    return {
        "marks": 20,
        "decimals": drawn.decimals,
        "steps": dict(drawn.sheet.worth),
        "mistake": 2,
    }
