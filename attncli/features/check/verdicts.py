"""Verdicts on a solution worked by hand: each cell is right, carried on, rounded otherwise, wrong
or missing.

A cell is carried where it follows from the solution's own earlier numbers, each anywhere within the
precision it was written with; steps that were left out are worked out on the way. What misses that
by a unit of the last digit written is a matter of rounding, if there was anything to round, and all
else is an error made in this very cell.

Most cells of most solutions are right, or follow from the numbers before them exactly as these
stand. Floating point shows that for a whole step at once; only what it leaves open is worked out
with ranges, cell by cell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from attncli.answers.digits_asked import with_decimals_asked
from attncli.answers.in_percent import RowIndices, rows_in_percent, with_hundredths
from attncli.answers.model import (
    CLOSE,
    FOR_LONG_CLAIMS,
    MINUS_INFINITY,
    ONE_UNIT_OFF,
    Answer,
    Answers,
    CellOfStep,
    Claim,
)
from attncli.answers.printed_doubles import with_room_for_doubles
from attncli.dtypes import PRECISION
from attncli.equation.intervals import Interval
from attncli.equation.nodes import Ref
from attncli.equation.rounding import EXACTLY
from attncli.errors import AttncliError
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of, steps_after
from attncli.features.check.reachability import CellEquation, Effort
from attncli.page.printer import format_number
from attncli.problem.model import Problem
from attncli.tracing import run
from attncli.tracing.model import Trace

Verdict: TypeAlias = Literal["right", "carried", "rounding", "wrong", "missing"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ONLY_SHIFTED = ("row_max", "shifted")
# Steps that have other numbers where the softmax is shifted.
DIFFER_WHEN_SHIFTED = ("exp", "row_sum")
# A number that is less may be written as 0.
LEAST_NOT_NEARLY_ZERO = 0.01
# By so many halves of a unit, rounding may put a number off that is worked out from others.
_UNITS_NEAR = 30
# How far the difference of two floats may be off, each of which was rounded once.
_FLOAT_ERROR = 4 * float(np.finfo(float).eps)
# In halves of a unit of a claim's last digit: so near to where the next claim begins, floats leave
# the verdict to decimals.
_LEFT_TO_DECIMALS = 1e-8
# The ends of a range do not belong to it: there the next claim begins.
_SHORT_OF_NEXT = 1 - 1e-9
# How far apart, for their size, numbers may be that doubles hardly tell apart.
_DOUBLES_ALIKE = 1e-13


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """One cell: what was written, the true value, and what follows from the solution's own earlier
    numbers.

    Where a mistake gives a number just as it was written, it has `enough_digits`, however few: the
    1 of scores that were not scaled is a 1. One that is `from_right` is carried from right numbers,
    though wrong ones were written in their place.
    """

    verdict: Verdict
    given: Claim | None
    expected: float
    own: float
    enough_digits: bool = False
    from_right: bool = False

    @property
    def too_coarse(self) -> bool:
        """Whether it is wrong only because it has fewer decimals than were asked for."""
        return self.looks_too_coarse and not self.enough_digits

    @property
    def looks_too_coarse(self) -> bool:
        """The same where no mistake is known."""
        return self._rounded_from is not None

    @property
    def rounded_from(self) -> float:
        """What a number that looks too coarse is rounded from: the true value, or else what
        follows.
        """
        found = self._rounded_from
        assert found is not None
        return found

    @property
    def _rounded_from(self) -> float | None:
        claim = self.given
        if self.verdict != "wrong" or claim is None or not claim.coarse:
            return None
        assert claim.half_as_written is not None
        written = replace(claim, half=claim.half_as_written)
        for number in (self.expected, self.own):
            if rounds_to(Decimal(repr(number)), written):
                return number
        return None

    @property
    def follows(self) -> bool:
        """Whether it is no error, and what the solution's own numbers before it come to."""
        if self.verdict == "right":
            claim = cast("Claim", self.given)
            return rounds_to(Decimal(repr(self.own)), claim)
        return self.verdict == "carried" and not self.from_right


# What is said of numbers that were meant, where something else was written.
IN_PERCENT = "the weights were written in percent"
WITHOUT_MINUS = "inf was written for -inf, which hides a key"


@dataclass(frozen=True, eq=False)
class Judgement:
    """A solution judged: `steps` has an array of `JudgedCell` for every step it answers, in the
    shape of the step. In `by_value`, numbers that follow from those with too few decimals are
    carried still. Among the values is what was `meant` where something else was written: these
    cells are wrong, by what that is called and by their step.
    """

    values: CellValues
    steps: Mapping[str, NDArray[np.object_]]
    by_value: Mapping[str, NDArray[np.object_]]
    meant: Mapping[str, Mapping[str, tuple[CellIndex, ...]]] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        return self.values.trace

    @property
    def answers(self) -> Answers:
        return self.values.answers

    def cells(self) -> Iterator[tuple[str, JudgedCell]]:
        """Every cell with the name of its step, in the order of work."""
        for name, cells in self.steps.items():
            for cell in cells.flat:
                yield name, cast("JudgedCell", cell)

    def cells_that_are(self, *verdicts: Verdict) -> Iterator[tuple[str, CellIndex, JudgedCell]]:
        """The cells with one of these verdicts, and where they are, in the order of work."""
        for name, cells in self.steps.items():
            for index in indices_where(cells, *verdicts):
                yield name, index, cast("JudgedCell", cells[index])

    def with_enough_digits(self, cells: Collection[CellOfStep]) -> Judgement:
        """The same where a mistake gives these cells as they were written, and what follows from
        them is as good.
        """
        by_value = {name: judged.copy() for name, judged in self.by_value.items()}
        for name, index in cells:
            of_step = by_value[name]
            of_step[index] = replace(of_step[index], enough_digits=True)
        judged = _without_coarse(self.values, by_value)
        steps = {name: judged[name] for name in self.steps}
        return replace(self, steps=steps, by_value=by_value)

    @cached_property
    def with_enough(self) -> tuple[CellOfStep, ...]:
        """The cells that a mistake gives as they were written, however few digits they have."""
        found = []
        for name, cells in self.by_value.items():
            for index, cell in np.ndenumerate(cells):
                if cast("JudgedCell", cell).enough_digits:
                    found.append((name, index))
        return tuple(found)

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """How many cells have each verdict."""
        found = Counter(cell.verdict for _, cell in self.cells())
        return {verdict: found[verdict] for verdict in VERDICTS}

    @cached_property
    def first_wrong(self) -> CellOfStep | None:
        """The first cell in which an error was made."""
        return next(((name, index) for name, index, _ in self.cells_that_are("wrong")), None)

    @cached_property
    def wrong(self) -> frozenset[CellOfStep]:
        """The cells that are wrong, each with its step."""
        return frozenset((name, index) for name, index, _ in self.cells_that_are("wrong"))

    @cached_property
    def carried_by_rounding(self) -> tuple[CellOfStep, ...]:
        """The cells that are carried only within the rounding of the numbers before them."""
        carried = self.cells_that_are("carried")
        return tuple((name, index) for name, index, cell in carried if differs_as_written(cell))


def indices_where(cells: NDArray[np.object_], *verdicts: Verdict) -> list[CellIndex]:
    """The indices of the cells with one of these verdicts, in order."""
    return [
        index
        for index, cell in np.ndenumerate(cells)
        if cast("JudgedCell", cell).verdict in verdicts
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Verdicts, by their name in the Python interface, and how strictly they are taken: `lenient`
    counts what is a matter of rounding as right.

    `other_form` says that these answers have a softmax shifted where ours is not, or the other way
    round. Where only some steps are judged, `whole` has the verdicts on all that were answered.
    """

    verdicts: Judgement
    lenient: bool
    other_form: bool = False
    whole: Judgement | None = None
    read_as_cut: Judgement | None = None

    @property
    def of_all(self) -> Judgement:
        """The verdicts on all that was answered."""
        return self.whole or self.verdicts

    @property
    def for_marks(self) -> Judgement:
        """The same, with each number read as cut off if the solution was `read_as_cut`."""
        return self.read_as_cut or self.of_all

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong or missing; a matter of rounding passes only where that is
        `lenient`.
        """
        counts = self.verdicts.counts
        return not (
            counts["wrong"]
            or counts["missing"]
            or (counts["rounding"] and not self.lenient)
            or self.wrong_outside
        )

    @property
    def wrong_outside(self) -> dict[str, int]:
        """How many numbers are wrong in steps that were not asked for, but answered."""
        if self.whole is None:
            return {}
        outside = Counter(
            name
            for name, _, _ in self.whole.cells_that_are("wrong")
            if name not in self.verdicts.steps
        )
        return dict(outside)

    def share(self, *, follow_through: bool) -> Fraction:
        """The part of all cells worked out that earns marks: what is right, and with follow-through
        what is carried.
        """
        earned, asked = self.earned(follow_through=follow_through)
        return Fraction(earned, max(asked, 1))

    def earned(self, *, follow_through: bool) -> tuple[int, int]:
        """How many of the cells worked out earn marks, and how many of these cells there are."""
        earning: list[Verdict] = ["right"]
        if follow_through:
            earning.append("carried")
        if self.lenient:
            earning.append("rounding")
        steps = self.verdicts.trace.steps
        earned = worked = 0
        for name, cell in self.verdicts.cells():
            if steps[name].rule.given:
                continue
            worked += 1
            earned += cell.verdict in earning
        return earned, worked

    def with_enough_digits(self, cells: Collection[CellOfStep]) -> Solution:
        """The solution where a mistake gives these cells as they were written."""
        whole, cut = self.whole, self.read_as_cut
        if whole is not None:
            whole = whole.with_enough_digits(cells)
        if cut is not None:
            cut = cut.with_enough_digits(cells)
        verdicts = self.verdicts.with_enough_digits(cells)
        return replace(self, verdicts=verdicts, whole=whole, read_as_cut=cut)

    def only(self, names: Sequence[str]) -> Solution:
        """The verdicts on these steps, which still follow from what was written in all others."""
        steps = {name: cells for name, cells in self.verdicts.steps.items() if name in names}
        return replace(self, verdicts=replace(self.verdicts, steps=steps), whole=self.of_all)


def judge_solution(
    problem: Problem,
    read: Callable[[Trace], Answers],
    *,
    lenient: bool = False,
    gradient: bool = False,
    decimals: int | None = None,
) -> Solution:
    """The solution that `read` finds for a trace, judged; for one with its `gradient`, if so asked.

    With `decimals`, these were asked for, and come before the digits that were written.

    Exponentials of the plain scores are as good as those of scores less the largest of their row.
    Which of the two an answer has is seen from the steps it names, and else from which has fewer
    errors. Raises what `read` raises.
    """

    def work(shifted: bool | None = None, loss_shifted: bool | None = None) -> Trace:
        return run(problem, shifted=shifted, loss_shifted=loss_shifted, gradient=gradient)

    plain = work()
    try:
        answers = read(plain)
    except AttncliError as error:
        forms = ((True, None), (plain.shifted, True), (True, True))
        traces = (work(*form) for form in forms)
        return _judge_in_other_form(traces, plain, read, error, lenient, decimals)
    judgement = judge(plain, answers, decimals)
    if _answers_any(answers, ONLY_SHIFTED) or not _errors_of_form(judgement):
        return Solution(judgement, lenient)
    trace = replace(work(not plain.shifted), warnings=plain.warnings)
    if trace.shifted and _above_one(answers):
        return Solution(judgement, lenient)
    other = judge(trace, answers, decimals)
    if _errors_of_form(other) < _errors_of_form(judgement):
        return Solution(other, lenient, other_form=True)
    return Solution(judgement, lenient)


def _judge_in_other_form(
    traces: Iterable[Trace],
    plain: Trace,
    read: Callable[[Trace], Answers],
    error: AttncliError,
    lenient: bool,
    decimals: int | None,
) -> Solution:
    """The solution read as one of the first of these traces that has its steps: its softmax is
    shifted where that of `plain` is not, or the softmax of the loss is. `error` is what is wrong
    with it as one of `plain`.
    """
    known = {tuple(plain.steps)}
    for trace in traces:
        if tuple(trace.steps) in known:
            continue
        known.add(tuple(trace.steps))
        try:
            answers = read(trace)
        except AttncliError as other:
            error = error if other.message == error.message else other
        else:
            return Solution(
                judge(trace, answers, decimals),
                lenient,
                other_form=_answers_any(answers, ONLY_SHIFTED),
            )
    raise error


def _answers_any(answers: Answers, names: Sequence[str]) -> bool:
    return any(name in answers.steps and not answers.steps[name].blank for name in names)


def _above_one(answers: Answers) -> bool:
    """Whether an exponential is above 1, as none is where the largest score is subtracted first."""
    claims = answers.steps["exp"].claims if "exp" in answers.steps else ()
    return any(claim.value - claim.half > 1 for claim in claims)


def _errors_of_form(judgement: Judgement) -> int:
    """How many exponentials and sums are not as they should be."""
    return sum(
        name in DIFFER_WHEN_SHIFTED and cell.verdict in ("wrong", "rounding")
        for name, cell in judgement.cells()
    )


def judge(trace: Trace, answers: Answers, decimals: int | None = None) -> Judgement:
    """Every cell of a solution, judged by the `decimals` that were asked for, or else by the digits
    that were written; `trace` is that of the problem at full precision.

    Infinity is taken for minus infinity, which hides a key, and is wrong as it was written.
    """
    infinite = answers.infinite
    if not infinite:
        return _judge_in_percent(trace, answers, decimals)
    hidden = answers.with_claims(dict.fromkeys(infinite, MINUS_INFINITY))
    judged = _judge_in_percent(trace, hidden, decimals)
    return _with_infinity_wrong(judged, infinite, answers)


def _with_infinity_wrong(
    judgement: Judgement, infinite: Sequence[CellOfStep], written: Answers
) -> Judgement:
    """The judgement with infinity as it was written; it was meant to hide what the right numbers
    hide.
    """
    cells: dict[str, list[CellIndex]] = {}
    for name, index in infinite:
        cells.setdefault(name, []).append(index)
    steps = dict(judgement.steps)
    by_value = dict(judgement.by_value)
    meant = {}
    for name, of_step in cells.items():
        claims = written.steps[name].cells
        steps[name] = _as_written(steps[name], of_step, claims)
        by_value[name] = _as_written(by_value[name], of_step, claims)
        right = judgement.trace[name]
        hidden = tuple(index for index in of_step if np.isneginf(right[index]))
        if hidden:
            meant[name] = hidden
    return replace(
        judgement,
        steps=steps,
        by_value=by_value,
        meant={**judgement.meant, WITHOUT_MINUS: meant},
    )


def _judge_in_percent(trace: Trace, answers: Answers, decimals: int | None) -> Judgement:
    """The same for numbers that are finite or hidden.

    A row of weights in percent is taken for the hundredths of its numbers, if all of these are
    right or carried. What follows may have been worked out from these, or from what is written.
    """
    as_written = _judged(trace, answers, decimals)
    rows = rows_in_percent(trace, answers)
    while rows:
        meant = _judged(trace, with_hundredths(answers, rows), decimals)
        right = _rows_that_follow(meant, rows)
        if right == rows:
            fewest = min(meant, as_written, key=lambda judged: _wrong_outside(judged, rows))
            return _with_percent_wrong(fewest, rows, answers)
        rows = right
    return as_written


def _wrong_outside(judgement: Judgement, steps: Collection[str]) -> int:
    """How many numbers are wrong in other steps."""
    return sum(cell.verdict == "wrong" for name, cell in judgement.cells() if name not in steps)


def _rows_that_follow(judgement: Judgement, rows: RowIndices) -> RowIndices:
    """Those of these rows that have no error."""
    found = {}
    for name, of_step in rows.items():
        cells = judgement.steps[name]
        meant = [row for row in of_step if not indices_where(cells[row], "wrong")]
        if meant:
            found[name] = meant
    return found


def _with_percent_wrong(judgement: Judgement, rows: RowIndices, written: Answers) -> Judgement:
    """The judgement with what was written in percent as it was written, which is wrong; a 0 is
    right.
    """
    steps = dict(judgement.steps)
    by_value = dict(judgement.by_value)
    in_percent = {}
    for name, of_step in rows.items():
        claims = written.steps[name].cells
        cells = [(*row, column) for row in of_step for column in range(claims.shape[-1])]
        steps[name] = _as_written(steps[name], cells, claims)
        by_value[name] = _as_written(by_value[name], cells, claims)
        in_percent[name] = tuple(cell for cell in cells if claims[cell].value)
    return replace(judgement, steps=steps, by_value=by_value, meant={IN_PERCENT: in_percent})


def _as_written(
    judged: NDArray[np.object_], cells: Sequence[CellIndex], claims: NDArray[np.object_]
) -> NDArray[np.object_]:
    found = judged.copy()
    for index in cells:
        claim = claims[index]
        cell = replace(found[index], given=claim)
        found[index] = replace(cell, verdict="wrong") if claim.value else cell
    return found


def _judged(trace: Trace, answers: Answers, decimals: int | None) -> Judgement:
    answers = with_room_for_doubles(trace, answers)
    return judge_answers(trace, with_decimals_asked(answers, decimals))


def judge_answers(trace: Trace, answers: Answers) -> Judgement:
    """Every cell of a solution, judged by what each of its claims stands for."""
    return _judge(CellValues(trace, answers), {})


def judge_with(judgement: Judgement, claims: Mapping[CellOfStep, Claim | None]) -> Judgement:
    """The same solution, judged with other claims in some cells. Only steps that have one of them,
    or that come after, are judged anew. What has enough digits has them still.
    """
    answers = judgement.answers.with_claims(claims)
    changed = {name for name, _ in claims}
    values = judgement.values.with_answers(answers, changed)
    moved = changed | steps_after(judgement.trace, changed)
    known = {name: cells for name, cells in judgement.by_value.items() if name not in moved}
    judged = _judge(values, known)
    enough = [cell for cell in judgement.with_enough if cell[0] in moved and cell not in claims]
    return judged.with_enough_digits(enough) if enough else judged


def _judge(values: CellValues, known: Mapping[str, NDArray[np.object_]]) -> Judgement:
    """The verdicts on all steps, those that are `known` as they are."""
    effort = Effort()
    by_value: dict[str, NDArray[np.object_]] = {}
    for name, answer in values.answers.steps.items():
        if name in known:
            by_value[name] = known[name]
            continue
        cells = _judge_step(values, answer, effort)
        by_value[name] = _with_carried_from_right(values, name, cells, by_value)
    steps = _without_coarse(values, by_value)
    return Judgement(values, steps, by_value)


def _without_coarse(
    values: CellValues, by_value: Mapping[str, NDArray[np.object_]]
) -> dict[str, NDArray[np.object_]]:
    """The verdicts where numbers with too few decimals that follow from such numbers are wrong as
    those are. Whole numbers follow from whole numbers exactly, and would be better than one
    decimal.
    """
    judged: dict[str, NDArray[np.object_]] = {}
    for name, cells in by_value.items():
        judged[name] = cells
        if any(_any_too_coarse(step) for step in judged.values()):
            judged[name] = _refused(values, name, cells, judged)
    return judged


def _refused(
    values: CellValues,
    name: str,
    cells: NDArray[np.object_],
    judged: Mapping[str, NDArray[np.object_]],
) -> NDArray[np.object_]:
    found = cells.copy()
    for index in indices_where(cells, "carried"):
        cell = cast("JudgedCell", cells[index])
        if is_coarse_as_before(values, judged, name, index, cell):
            found[index] = replace(cell, verdict="wrong")
    return found


def is_coarse_as_before(
    values: CellValues,
    judged: Mapping[str, NDArray[np.object_]],
    name: str,
    index: CellIndex,
    cell: JudgedCell,
) -> bool:
    """Whether a number has too few decimals, as has one of those that it is worked out from."""
    if cell.given is None or not cell.given.coarse:
        return False
    for ref in values.equation(name, index).ranges:
        if ref.name in judged and judged[ref.name][cell_of(ref)].too_coarse:
            return True
    return False


def _any_too_coarse(cells: NDArray[np.object_]) -> bool:
    return any(cast("JudgedCell", cell).too_coarse for cell in cells.flat)


def _judge_step(values: CellValues, answer: Answer, effort: Effort) -> NDArray[np.object_]:
    name, step = answer.name, values.trace.steps[answer.name]
    cells = np.empty(answer.cells.size, dtype=object)
    # Nothing was written that could be compared with the numbers before it.
    if answer.blank:
        cells[:] = [
            JudgedCell("missing", None, number, number)
            for number in step.value.astype(float).ravel().tolist()
        ]
        return cells.reshape(answer.cells.shape)
    claims: list[Claim | None] = answer.cells.ravel().tolist()
    true, own = (
        numbers.ravel().astype(float) for numbers in (values.true_step(name), values.own_step(name))
    )
    right, follows = round_to_claims(claims, true), round_to_claims(claims, own)
    for place, (claim, expected, carried, is_right, does_follow) in enumerate(
        zip(claims, true.tolist(), own.tolist(), right, follows, strict=True)
    ):
        verdict: Verdict
        if claim is None:
            verdict = "missing"
        elif is_right:
            verdict = "right"
        elif does_follow and is_right is False:
            verdict = "carried"
        else:
            index = cast("CellIndex", tuple(int(at) for at in np.unravel_index(place, step.shape)))
            verdict = _judge_cell(values, name, index, claim, effort)
        cells[place] = JudgedCell(verdict, claim, expected, carried)
    return cells.reshape(answer.cells.shape)


def _with_carried_from_right(
    values: CellValues,
    name: str,
    cells: NDArray[np.object_],
    before: Mapping[str, NDArray[np.object_]],
) -> NDArray[np.object_]:
    """The verdicts on a step where wrong numbers were written `before`: who miscopies a number into
    the solution works on with the right one, rounded as the others are.
    """
    off = indices_where(cells, "wrong", "rounding")
    if not off or values.trace.steps[name].rule.given:
        return cells
    miswritten = {of: indices for of, judged in before.items() if (indices := _miswritten(judged))}
    if not miswritten:
        return cells
    right = _with_right_numbers(values, miswritten)
    found = cells.copy()
    for index in off:
        cell = cast("JudgedCell", cells[index])
        if _is_carried(right, name, index, cast("Claim", cell.given)):
            found[index] = replace(cell, verdict="carried", from_right=True)
    return found


def _miswritten(cells: NDArray[np.object_]) -> list[CellIndex]:
    """The wrong numbers of a step that do not only have too few decimals."""
    return [index for index in indices_where(cells, "wrong") if not cells[index].looks_too_coarse]


def _with_right_numbers(
    values: CellValues, miswritten: Mapping[str, Sequence[CellIndex]]
) -> CellValues:
    """The values of a solution where in the place of these numbers stood what follows from those
    before them.
    """
    follow: dict[CellOfStep, Claim] = {}
    for name, indices in miswritten.items():
        for index in indices:
            claim = cast("Claim", values.written(name, index))
            follow[name, index] = claim.with_number(values.own(name, index))
    answers = values.answers.with_claims(follow)
    return values.with_answers(answers, miswritten)


def _is_carried(values: CellValues, name: str, index: CellIndex, claim: Claim) -> bool:
    """Whether a number follows from those before it, each within its precision."""
    own = values.own(name, index)
    if rounds_to(own, claim):
        return True
    if claim.coarse or not own.is_finite() or not claim.value.is_finite():
        return False
    if abs(own - claim.value) > _UNITS_NEAR * claim.half:
        return False
    equation = values.equation(name, index)
    return not equation.exact and equation.reaches(_within(claim, claim.half))


def round_to_claims(
    claims: Sequence[Claim | None], number: NDArray[np.float64]
) -> list[bool | None]:
    """For each number whether it rounds to its claim, None where floating point cannot tell, or
    there is no claim.
    """
    value = np.array([math.nan if claim is None else float(claim.value) for claim in claims])
    half = np.array([0.0 if claim is None else float(claim.half) for claim in claims])
    with np.errstate(invalid="ignore", over="ignore"):
        distance = abs(number - value)
        error = _FLOAT_ERROR * (abs(number) + abs(value))
        inside = (distance < half * (1 - _LEFT_TO_DECIMALS) - error) | (
            (number == value) & np.isinf(value)
        )
        outside = distance > half * (1 + _LEFT_TO_DECIMALS) + error
    return [
        _told_by_floats(is_inside, is_outside)
        for is_inside, is_outside in zip(inside.tolist(), outside.tolist(), strict=True)
    ]


def _told_by_floats(is_inside: bool, is_outside: bool) -> bool | None:
    if is_inside:
        return True
    return False if is_outside else None


def _is_printed(number: float, claim: Claim) -> bool:
    """Whether a page of ours shows the double as this: one that is 0.5 where the truth is a little
    less, say.

    It is no excuse for a 0: terms that cancel in doubles may not do so in truth.
    """
    if claim.exact or claim.coarse or not claim.value or not math.isfinite(number):
        return False
    # It is 2 for 0.50.
    places = -int(claim.value.as_tuple().exponent)
    # The claim has a power of ten, as in 2.5e3: places are counted after its digits.
    if places < 0:
        places = max(0, places + claim.value.adjusted())
    return places <= PRECISION[-1] and Decimal(format_number(number, places)) == claim.value


def _judge_cell(
    values: CellValues, name: str, index: CellIndex, claim: Claim, effort: Effort
) -> Verdict:
    """The verdict on a cell that was filled in: the first that holds, from what is best for the
    solution to `wrong`.
    """
    true = values.true(name, index)
    if rounds_to(true, claim) or _is_printed(float(values.trace[name][index]), claim):
        return "right"
    # It is copied from the problem, and nothing comes before it.
    if values.trace.steps[name].rule.given:
        return "wrong"
    equation = values.equation(name, index) if values.follows_answers(name) else None
    # Nothing before it was written, so nothing can be carried on.
    if equation is None or not equation.ranges:
        if claim.coarse:
            return "wrong"
        return "rounding" if _is_near(true, claim) and not fits_into(true, claim) else "wrong"
    own = values.own(name, index)
    if _follows(claim, equation, own, effort):
        return "carried"
    # What was not written to the last decimal that was asked for was not rounded there.
    if claim.coarse:
        return "wrong"
    # A unit off is rounding only where there was something to round, so not where the truth has no
    # more digits than that.
    if _is_near(true, claim) and not fits_into(true, claim):
        return "rounding"
    # Nor is it where the numbers before it come to one that has no more digits, if none of them
    # was rounded, or if one is just copied.
    nothing_rounded = (equation.exact or isinstance(equation.tree, Ref)) and fits_into(own, claim)
    if not nothing_rounded and _nearly_follows(claim, equation, own, effort):
        return "rounding"
    return "wrong"


def _follows(claim: Claim, equation: CellEquation, own: Decimal, effort: Effort) -> bool:
    """Whether the solution's own numbers, each within the precision it was written with, give the
    claim.
    """
    # As they stand, the numbers may give it however near the next claim begins.
    if rounds_to(own, claim):
        return True
    return not equation.exact and equation.may_reach(_within(claim, claim.half), effort)


def _nearly_follows(claim: Claim, equation: CellEquation, own: Decimal, effort: Effort) -> bool:
    """Whether they give what is off by a unit of the claim's last digit at most."""
    if equation.exact:
        return _is_near(own, claim)
    return equation.may_reach(_within(claim, ONE_UNIT_OFF * claim.half), effort)


def _is_near(number: Decimal, claim: Claim) -> bool:
    """Whether a number misses what rounds to the claim by one unit of its last digit at most."""
    return number.is_finite() and abs(number - claim.value) <= ONE_UNIT_OFF * claim.half


def fits_into(number: Decimal, claim: Claim) -> bool:
    """Whether a number has no more digits than a claim, so that writing it like that rounds
    nothing.

    >>> from attncli.answers.claims import read_claim
    >>> claim = read_claim("0.50")
    >>> fits_into(Decimal("0.5"), claim), fits_into(Decimal("0.501"), claim)
    (True, False)
    """
    if claim.exact or not number.is_finite():
        return True
    with localcontext(FOR_LONG_CLAIMS):
        units = number / (2 * claim.half)
        return abs(units - units.to_integral_value()) <= EXACTLY * max(Decimal(1), abs(units))


def rounds_to(true: Decimal, claim: Claim) -> bool:
    """Whether a number, rounded to the digits of a claim, is that claim; an exact one has to be it.

    A number that lies exactly between two roundings is both: people round 0.125 to 0.13, and Python
    to 0.12. Digits beyond those that a number is worked out to are not held against it.

    >>> from attncli.answers.claims import read_claim
    >>> third = Decimal(1) / 3
    >>> rounds_to(third, read_claim("0.33")), rounds_to(third, read_claim("0.34"))
    (True, False)
    """
    if not true.is_finite() or not claim.value.is_finite():
        return true == claim.value
    with localcontext(FOR_LONG_CLAIMS):
        tolerance = EXACTLY * max(Decimal(1), abs(true))
        return abs(true - claim.value) <= claim.half + tolerance


def _within(claim: Claim, distance: Decimal) -> Interval:
    """The numbers within a distance of a claim, but not at it, where the next claim begins; of an
    exact one, those that a double cannot tell from it.
    """
    value = float(claim.value)
    slack = float(distance) * _SHORT_OF_NEXT or abs(value) * _DOUBLES_ALIKE
    return Interval(value - slack, value + slack)


def differs_as_written(cell: JudgedCell) -> bool:
    """Whether a carried cell is not what the numbers before it give exactly as they stand, but only
    within rounding.
    """
    if cell.verdict != "carried" or cell.from_right or cell.given is None:
        return False
    if not math.isfinite(cell.own):
        return False
    if cell.given.exact:
        given = float(cell.given.value)
        is_close = math.isclose(cell.own, given, rel_tol=CLOSE, abs_tol=CLOSE)
        return not is_close
    own = Decimal(repr(cell.own))
    return not rounds_to(own, cell.given)


def too_coarse(judgement: Judgement) -> int:
    """How many cells claim so little that 0 would be right as well, though they are not nearly
    0. Those that have the decimals that were asked for claim enough.
    """
    return sum(
        not cell.given.exact
        and LEAST_NOT_NEARLY_ZERO <= abs(cell.expected) < math.inf
        # This rules out nearly all.
        and 2 * float(cell.given.half) >= abs(cell.expected)
        and cell.given.half >= abs(Decimal(repr(cell.expected)))
        for _, cell in judgement.cells()
        if cell.given is not None
        and cell.verdict in ("right", "carried")
        # Else decimals were asked for.
        and cell.given.half_as_written is None
    )
