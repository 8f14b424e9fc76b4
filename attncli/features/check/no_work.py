"""Numbers that need no work: the same one everywhere, the same row again and again, or what was
read, copied.

They are no error. But after numbers that were invented they show nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim
from attncli.english import either
from attncli.features.check.cell_values import CellIndex, CellValues, steps_after
from attncli.features.check.verdicts import JudgedCell, Judgement, indices_where, rounds_to

# The rows of a matrix, as far as they tell something.
RowsOfNumbers: TypeAlias = Sequence[Sequence[float]]
Floats: TypeAlias = NDArray[np.float64]
# A matrix with no more numbers that are different is a pattern, such as a diagonal.
MOST_DIFFERENT = 2
# So many cells may have one number more, and are too many to be alike by chance.
CELLS_FOR_A_NUMBER = 4
# So many numbers of a row or a column are not alike by chance.
CELLS_OF_A_LINE = 3
# Numbers as far apart are alike: 0.98 is nearly 1, so the row with it is nearly copied. Where those
# that were copied are less than 1 apart, it is this share of that.
NEARLY = 0.05
# Rounding alone puts numbers as far apart.
ROUNDED = 0.01
_DECIMALS = 2
_DECIMALS_OF_LINES = 9
NO_WORK = (
    "Numbers show no work of their own if they are all alike, repeat a row, or are copied from the"
    " step before."
)


def no_work_of_their_own(cells: int) -> str:
    """show no work of their own, of so many numbers."""
    return either(cells, "shows no work of its own", "show no work of their own")


def without_work(judgement: Judgement, first: str, name: str) -> list[CellIndex]:
    """The cells of a step that are no error, and need no work if the numbers of `first` are what
    was written there; `name` is that step, or one that follows from it.

    Such cells are a pattern, or copied from what the step reads, and the right ones are not. In
    other steps they may be a row or a column that is one number, as 0 for a key that is 0. What
    is written between the two steps makes no difference: a slip is no work. Right numbers that do
    not follow from `first` are worked out from others. To copy all rows after it is no work, also
    where that is an error.
    """
    unseen = _unseen(judgement, first)
    if name != first and _is_copy(judgement, name, unseen):
        return _copied(judgement, name, unseen)
    done = indices_where(judgement.steps[name], "right", "carried", "rounding")
    values = judgement.values
    if name != first:
        values = _without_later_work(judgement, first)
        done = _without_worked(judgement, values, name, done)
    if not done or judgement.trace.steps[name].rule.given:
        return []
    if name != first and _is_copy_but_for_slips(judgement, name, unseen):
        return done
    cells = judgement.steps[name]
    written = _numbers(cells, _written) if name == first else _own_numbers(cells, values, name)
    rows = [*_matrices(written)]
    right = [*_matrices(_numbers(cells, _right))]
    if _are_copied(values, name, rows, right, unseen):
        return done
    if not _are_pattern(rows, right):
        return [] if name == first else _in_lines(written, _numbers(cells, _right), done)
    if name != first and _is_one_row_of_work(values, name, rows):
        return [index for index in done if any(index[-2:-1])]
    return done


def _without_worked(
    judgement: Judgement, values: CellValues, name: str, done: list[CellIndex]
) -> list[CellIndex]:
    """These cells without those that were worked out from other numbers than the values: if one is
    right, and not what the values come to, so are all that are right or come to something else.
    """
    right = {*indices_where(judgement.steps[name], "right")}
    come_to_it = []
    for index in done:
        if _comes_to(judgement, values, name, index):
            come_to_it.append(index)
    if right <= {*come_to_it}:
        return done
    return [index for index in come_to_it if index not in right]


def _comes_to(judgement: Judgement, values: CellValues, name: str, index: CellIndex) -> bool:
    """Whether these values come to what was written in a cell."""
    claim = cast("Claim", judgement.steps[name][index].given)
    return rounds_to(values.own(name, index), claim)


def _unseen(judgement: Judgement, first: str) -> frozenset[str]:
    """The steps after one that are not written: nobody copies from them without work."""
    answers = judgement.answers.steps
    written = {name for name, answer in answers.items() if not answer.blank}
    return steps_after(judgement.trace, {first}) - written


def _is_copy(judgement: Judgement, name: str, unseen: Collection[str]) -> bool:
    """Whether each row that was written in a step is one that it reads, and the right ones are not.
    A slip in one of the numbers is no work.
    """
    if judgement.trace.steps[name].rule.given:
        return False
    written, right = _written_and_right(judgement, name)
    wrong = indices_where(judgement.steps[name], "wrong")
    copied = _copied(judgement, name, unseen)
    slips = len([index for index in wrong if index not in copied])
    return _are_copied(judgement.values, name, written, right, unseen, slips)


def _copied(judgement: Judgement, name: str, unseen: Collection[str]) -> list[CellIndex]:
    """The cells of a step that was copied, without the slips: what stands in no column that was
    read.
    """
    read = [*_matrices_read(judgement.values, name, unseen)]
    found = []
    for index, cell in np.ndenumerate(judgement.steps[name]):
        if cell.given is None:
            continue
        number = float(cell.given.value)
        if any(matrix.has(number) for matrix in read):
            found.append(index)
    return found


def _is_copy_but_for_slips(judgement: Judgement, name: str, unseen: Collection[str]) -> bool:
    """Whether each row would be one that the step reads, if what is wrong were what follows."""
    cells = judgement.steps[name]
    numbers = _numbers(cells, _written)
    for index in indices_where(cells, "wrong"):
        numbers[index] = float(judgement.values.own(name, index))
    _, right = _written_and_right(judgement, name)
    return _are_copied(judgement.values, name, [*_matrices(numbers)], right, unseen)


def is_pattern(
    judgement: Judgement, name: str, instead: Mapping[CellIndex, Claim] = MappingProxyType({})
) -> bool:
    """Whether the numbers of a step say little, with some `instead` of those that were written, and
    the right ones do not.
    """
    if judgement.trace.steps[name].rule.given:
        return False
    cells = judgement.steps[name]
    written = _numbers(cells, _written)
    for index, claim in instead.items():
        written[index] = float(claim.value)
    rows = [*_matrices(written)]
    right = _numbers(cells, _right)
    right_rows = [*_matrices(right)]
    return _are_pattern(rows, right_rows)


def _written_and_right(
    judgement: Judgement, name: str
) -> tuple[list[RowsOfNumbers], list[RowsOfNumbers]]:
    """The matrices of a step as they were written, and as they should be."""
    cells = judgement.steps[name]
    written = [*_matrices(_numbers(cells, _written))]
    right = [*_matrices(_numbers(cells, _right))]
    return written, right


def is_one_number(judgement: Judgement, name: str) -> bool:
    """Whether all numbers of a step that tell something are the same one, at least four of them,
    and not right for the most part. One of them at least is wrong: where all are carried, that is
    no fault of this step.
    """
    cells = cast("list[JudgedCell]", judgement.steps[name].ravel().tolist())
    telling = [cell for cell in cells if _tells_something(cell)]
    if len(telling) < CELLS_FOR_A_NUMBER:
        return False
    different = {_written(cell) for cell in telling}
    verdicts = [cell.verdict for cell in telling]
    is_mostly_right = 2 * verdicts.count("right") >= len(telling)
    return len(different) == 1 and "wrong" in verdicts and not is_mostly_right


def is_nothing_but_zeros(judgement: Judgement, name: str) -> bool:
    """Whether every number that was written in a step is 0, and not all of them should be.

    A mask is worked out from no step: 0 everywhere says there that it hides no key.
    """
    trace = judgement.trace
    if trace.steps.keys().isdisjoint(trace.steps[name].rule.inputs):
        return False
    cells = cast("list[JudgedCell]", judgement.steps[name].ravel().tolist())
    claims = [cell.given for cell in cells if cell.given is not None]
    are_zeros = not any(claim.value for claim in claims)
    should_be_others = any(cell.expected for cell in cells)
    return are_zeros and should_be_others


def _are_pattern(written: Sequence[RowsOfNumbers], right: Sequence[RowsOfNumbers]) -> bool:
    return all(map(_say_little, written)) and not all(map(_say_little, right))


def _are_copied(
    values: CellValues,
    name: str,
    written: Sequence[RowsOfNumbers],
    right: Sequence[RowsOfNumbers],
    unseen: Collection[str],
    slips: int = 0,
) -> bool:
    """Whether each row of a step is one that the step reads, but for what is `unseen`, and the
    right ones are not. So many numbers may be slips, if these are few.

    To copy is all there is to do in a step that transposes or hides.
    """
    rule = values.trace.steps[name].rule
    if rule.is_copy or rule.only_hides:
        return False
    read = [*_matrices_read(values, name, unseen)]
    for rows in written:
        few = sum(map(len, rows)) // CELLS_FOR_A_NUMBER
        if not _is_among(rows, read, min(slips, few)):
            return False
    return not all(_is_among(rows, read) for rows in right)


def _is_one_row_of_work(values: CellValues, name: str, written: Sequence[RowsOfNumbers]) -> bool:
    """Whether all rows are the same one, which is not there without work: it comes from numbers
    that are not all alike, as averages do.
    """
    for rows in written:
        different_rows = {tuple(row) for row in rows}
        if len(different_rows) != 1 or not any(rows[0]):
            return False
    read = _matrices_read(values, name)
    return any(len(set[float]().union(*matrix.rows)) > 1 for matrix in read)


def _in_lines(written: Floats, right: Floats, done: Sequence[CellIndex]) -> list[CellIndex]:
    """The cells of rows and columns that are one number, where the right numbers are several."""
    found = set[CellIndex]()
    for axis in (-1, -2)[: written.ndim]:
        is_one_number = _range_along(axis, written) == 0
        hollow = is_one_number & (_range_along(axis, right) > 0)
        found.update(index for index in done if hollow[index])
    return sorted(found)


def _range_along(axis: int, numbers: Floats) -> Floats:
    """How far apart the numbers of each row or column are, for each of its cells; NaN where fewer
    than three tell something.
    """
    # Small weights are often alike to two decimals.
    exact = np.round(numbers, _DECIMALS_OF_LINES)
    tell = np.isfinite(exact)
    most = np.where(tell, exact, -np.inf).max(axis, keepdims=True)
    least = np.where(tell, exact, np.inf).min(axis, keepdims=True)
    enough = tell.sum(axis, keepdims=True) >= CELLS_OF_A_LINE
    apart = np.where(enough, most, np.nan) - least
    return np.broadcast_to(apart, numbers.shape)


def _without_later_work(judgement: Judgement, first: str) -> CellValues:
    """The values by what was written up to a step, without what was written after it."""
    answers, trace = judgement.answers, judgement.trace
    later = steps_after(trace, {first})
    kept = {name: answer for name, answer in answers.steps.items() if name not in later}
    return CellValues(trace, replace(answers, steps=kept))


def _numbers(cells: NDArray[np.object_], number_of: Callable[[JudgedCell], float]) -> Floats:
    found = np.full(cells.shape, np.nan)
    for index, cell in np.ndenumerate(cells):
        if _tells_something(cast("JudgedCell", cell)):
            found[index] = number_of(cast("JudgedCell", cell))
    return found


def _own_numbers(cells: NDArray[np.object_], values: CellValues, name: str) -> Floats:
    """What follows in a step from what is written before it."""
    own = values.own_step(name).astype(float)
    tells = np.isfinite(_numbers(cells, _right))
    return np.where(tells, own, np.nan)


def _written(cell: JudgedCell) -> float:
    return float(cast("Claim", cell.given).value)


def _right(cell: JudgedCell) -> float:
    return cell.expected


def _matrices(numbers: Floats) -> Iterator[RowsOfNumbers]:
    """The numbers of a step, a matrix for each head and entry; only those that tell something.

    A 0 that has to be one tells nothing, as where a mask hides a key.
    """
    *_, rows, columns = (1, 1, *numbers.shape)
    for block in numbers.reshape(-1, rows, columns).tolist():
        matrix = []
        for row in block:
            telling = [round(number, _DECIMALS) for number in row if not math.isnan(number)]
            if telling:
                matrix.append(telling)
        yield matrix


def _tells_something(cell: JudgedCell) -> bool:
    if cell.given is None:
        return False
    has_to_be_nothing = cell.expected in (0, -np.inf)
    return not (has_to_be_nothing and cell.verdict == "right")


def _say_little(rows: RowsOfNumbers) -> bool:
    """Whether there are hardly any different numbers, all of a row are alike, or all rows are.

    >>> _say_little([[9, 0, 0], [0, 9, 0], [0, 0, 9]]), _say_little([[1, 2, 3], [1, 2, 3]])
    (True, True)
    >>> _say_little([[1, 2], [2, 1]])
    False
    """
    size = sum(map(len, rows))
    if size < 2:
        return False
    different = set[float]().union(*rows)
    most = min(MOST_DIFFERENT, size // CELLS_FOR_A_NUMBER)
    if len(different) <= max(1, most):
        return True
    different_in_rows = {len(set(row)) for row in rows}
    rows_are_longer = size > len(rows)
    if rows_are_longer and different_in_rows == {1}:
        return True
    different_rows = {tuple(row) for row in rows}
    return len(rows) > 1 == len(different_rows)


class _Read(NamedTuple):
    """A matrix that a step reads, and how far off a number is nearly one of each column."""

    rows: RowsOfNumbers
    room: Sequence[float]

    def cells_off(self, rows: RowsOfNumbers) -> int:
        """How many cells of these rows are not nearly those of the rows that come next to them."""
        off = 0
        for row in rows:
            if len(row) != len(self.room) or len(row) < 2:
                return sum(map(len, rows))
            off += min(_numbers_off(row, other, self.room) for other in self.rows)
        return off

    def has(self, number: float) -> bool:
        """Whether a number is nearly one of these."""
        alike = [number] * len(self.room)
        return any(_numbers_off(alike, row, self.room) < len(row) for row in self.rows)


def _is_among(rows: RowsOfNumbers, read: Sequence[_Read], slips: int = 0) -> bool:
    """Whether each row is nearly one of one of these matrices, but for so many slips."""
    if not rows:
        return False
    return any(matrix.cells_off(rows) <= slips for matrix in read)


def _numbers_off(row: Sequence[float], other: Sequence[float], room: Sequence[float]) -> int:
    off = 0
    for one, two, most in zip(row, other, room, strict=True):
        apart = round(abs(one - two), _DECIMALS)
        off += apart > most
    return off


def _matrices_read(values: CellValues, name: str, unseen: Collection[str] = ()) -> Iterator[_Read]:
    """What a step reads, by the solution's own numbers, but for what is `unseen`. Where rows are
    mixed, as those of V, less is near if these are close together.
    """
    rule = values.trace.steps[name].rule
    for read in rule.inputs:
        step = values.trace.steps.get(read)
        if step is None or len(step.shape) < 2 or read in unseen:
            continue
        found = np.empty(step.shape)
        for index in np.ndindex(step.shape):
            found[index] = _number(values, read, index)
        rows = found.reshape(-1, step.shape[-1])
        apart = np.ones(step.shape[-1])
        if step.rule.target.letters != rule.target.letters:
            # What a mask hides is -inf.
            finite = np.nan_to_num(rows)
            apart = finite.max(axis=0) - finite.min(axis=0)
        room = np.maximum(NEARLY * np.minimum(apart, 1), ROUNDED)
        yield _Read(rows.tolist(), room.tolist())


def _number(values: CellValues, name: str, index: CellIndex) -> Decimal:
    """What was written in a cell, or else what follows from what was."""
    claim = values.written(name, index)
    if claim is not None:
        return claim.value
    return values.own(name, index)


@dataclass(frozen=True, slots=True)
class TrivialAnswer:
    """Wrong numbers from which all that comes after follows without any work.

    They are the `cells` of the `step`, and so many are `carried` from them. All of them say
    `claim`, or None if they are not all alike.
    """

    step: str
    claim: Claim | None
    cells: int
    carried: int


def trivial_answer(judgement: Judgement) -> TrivialAnswer | None:
    """The first step with wrong numbers that need no work, and no error in all that follows."""
    for name, cells in judgement.steps.items():
        if not indices_where(cells, "wrong"):
            continue
        if not is_pattern(judgement, name):
            continue
        carried = _carried_without_work(judgement, name)
        if carried:
            claims = judgement.answers.steps[name].claims
            different = {claim.value for claim in claims}
            claim = claims[0] if len(different) == 1 else None
            return TrivialAnswer(name, claim, len(claims), carried)
    return None


def _carried_without_work(judgement: Judgement, name: str) -> int:
    """How many numbers that need no work are carried from a step; 0 if any after it is wrong."""
    carried = 0
    after = steps_after(judgement.trace, {name})
    for step, cells in judgement.steps.items():
        if step not in after:
            continue
        if indices_where(cells, "wrong"):
            return 0
        hollow = without_work(judgement, name, step)
        carried += sum(cells[index].verdict == "carried" for index in hollow)
    return carried
