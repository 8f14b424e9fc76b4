"""Answers on a page: its matrices, one by one under their headings, put together to the answers to
whole steps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.claims import more_precise, read_claim
from attncli.answers.model import CLOSE, Answer, Claim, OtherShape, OtherShapes
from attncli.answers.nested import read_nested
from attncli.answers.percent import is_in_percent, percentage
from attncli.answers.steps import (
    NOT_STEPS,
    OTHER_PROBLEM,
    NoStep,
    StepPart,
    own_step_named,
    shape_error,
    step_named,
)
from attncli.english import count
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import ListNode
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import axis_length, group_size, steps_of_all_heads

# Only short labels of plain letters look the same in every format.
_PLAIN_LABEL = re.compile(r"[A-Za-z0-9 ]{1,14}")
_NAMES = {BATCH: "entry", HEAD: "head", KEY_HEAD: "KV head"}
_LETTERS = {name.lower(): letter for letter, name in _NAMES.items()}
_PLACE = re.compile(
    r"(entry|head|KV head) ([0-9]{1,9})(?:, (entry|head|KV head) ([0-9]{1,9}))?", re.IGNORECASE
)
_ALL_HEADS = re.compile(
    r"(?:All heads together|Before the heads)(?:, entry ([0-9]{1,9}))?", re.IGNORECASE
)
_SHARED = re.compile(r"What all (?:heads|entries) share|All entries together", re.IGNORECASE)


class CellText(NamedTuple):
    """What stands in one cell, in the spelling of claims, and where."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Span:
    """Which rows or columns a part of a long matrix has, from `start` up to and without `end`, of
    `total`.
    """

    start: int
    end: int
    total: int


def _length(span: Span | None, found: int) -> int:
    """How long an axis is of which so many places were found: the whole, if none of the span is
    missing.
    """
    if span is None or span.end - span.start != found:
        return found
    return span.total


@dataclass(frozen=True, slots=True)
class Table:
    """One matrix of a page: the name in its corner, its labels and its cells; a part of it where
    spans say so.

    `starts` are where its rows begin, each with its label: a row may have nothing else. `repeats`
    says that these numbers stand on the page already: the decimals of a matrix of closed forms.
    """

    name: str
    at: int
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    starts: tuple[int, ...]
    cells: tuple[tuple[CellText, ...], ...]
    row_span: Span | None = None
    column_span: Span | None = None
    repeats: bool = False

    def shape(self, row: Sequence[CellText]) -> tuple[int, int]:
        """Rows and columns of the whole matrix, of which the table may be a part, going by one of
        its rows.
        """
        down = _length(self.row_span, len(self.cells))
        across = _length(self.column_span, len(row))
        return down, across


@dataclass(slots=True)
class Page:
    """Takes in headings and tables in their order, and knows of which head and entry each is.

    Tables of another shape than their step count as blank, if `others` are kept.
    """

    errors: ErrorCollector
    trace: Trace
    others: OtherShapes = None
    place: dict[str, int] | None = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    # The place of each cell in the file; -1 where nothing stands for it.
    offsets: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def add_heading(self, text: str, at: int, *, title: bool = False) -> None:
        """A heading, or the title of the page, which may say of which head and entry the tables
        beneath are.
        """
        place = place_in_heading(text, title=title)
        if place is None:
            return
        for letter, number in place.items():
            if number < self._count(letter):
                continue
            # A title may end in any words, so these need not name a place.
            if not title:
                self._report_no_place(letter, number, at)
                self.place = None
            return
        self.place = place

    def _report_no_place(self, letter: str, number: int, at: int) -> None:
        word = _NAMES[letter]
        there = self._count(letter)
        help = f"the problem has {count(there, word)}, counted from 0" if there else OTHER_PROBLEM
        self.errors.add(f"there is no {word} {number}", at=at, help=help)

    def _count(self, letter: str) -> int:
        """How many entries or heads there are; 0 where they are no axis."""
        if letter == KEY_HEAD:
            return self._count(HEAD) // group_size(self.trace)
        return axis_length(self.trace, letter) if letter in self.trace.leading_letters else 0

    def add_table(self, table: Table) -> None:
        """A table: the answer to a step, or to the part of it that the headings say."""
        # A step of the problem's own may be called so, too.
        if table.name in NOT_STEPS and own_step_named(table.name, self.trace) is None:
            return
        try:
            step = step_named(table.name, self.trace)
        except NoStep as error:
            self.errors.add(error.message, at=table.at, help=error.help)
            return
        if is_in_percent(table.name):
            table = _of_percentages(table)
        index = self._index(step, table)
        if index is None:
            return
        cells, offsets = self._arrays(step)
        # A page shows W_O again for each entry.
        if step.rule.given:
            table = replace(table, repeats=True)
        part = StepPart.of(step, index).as_shown()
        path = step.name + "".join(f"[{place}]" for place in index)
        table = _with_rows_not_there(table, part)
        if self._keeps_other_shape(table, part, index) or self._reports_shape(table, part, path):
            return
        if self._reports_labels(table, part, path):
            return
        self._fill(_view(cells, index, part), _view(offsets, index, part), table, part, path)

    def add_nested(self, name: str, at: int, numbers: ListNode) -> None:
        """Nested lists: the answer to a whole step, with all its heads and entries."""
        try:
            step = step_named(name, self.trace)
        except NoStep as error:
            self.errors.add(error.message, at=at, help=error.help)
            return
        if step.name in self.answers:
            first = self.errors.source.place(int(self.offsets[step.name].max())).line
            help = f"it is already on line {first}: keep one of the two"
            self.errors.add("is given twice", at=at, help=help, path=step.name)
            return
        value = Value(numbers, step.name, Reading(self.errors))
        if answer := read_nested(value, step, self.others, in_percent=is_in_percent(name)):
            cells = np.array(answer.cells)
            self.answers[step.name] = Answer(step.name, cells)
            self.offsets[step.name] = np.full(step.shape, at)

    def finish(self, form: str) -> dict[str, Answer]:
        """The answers, without the arrays of the problem that the page repeats unchanged; `form`
        says how a matrix is written in this format. Raises AttncliError for what is wrong, or where
        there is no matrix.
        """
        if not self.answers and not self.errors.count:
            self.errors.fail("there is no matrix of a step in this file", at=0, help=form)
        self.errors.stop()
        for answer in self.answers.values():
            answer.cells.setflags(write=False)
        steps = self.trace.steps
        return {
            name: answer
            for name, answer in self.answers.items()
            if not _as_given(steps[name], answer)
        }

    def _arrays(self, step: Step) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
        if step.name not in self.answers:
            self.answers[step.name] = Answer(step.name, np.full(step.shape, None, dtype=object))
            self.offsets[step.name] = np.full(step.shape, -1)
        return self.answers[step.name].cells, self.offsets[step.name]

    def _index(self, step: Step, table: Table) -> tuple[int, ...] | None:
        """The place of the table on the leading axes of its step; None where the page does not say
        it.
        """
        letters = step.rule.target.letters
        own = [letter for letter in letters if letter in LEADING]
        # Of one number for each head, all stand in one table.
        if len(own) == len(letters):
            return ()
        # What comes after the heads are together has those that are left in rows of all.
        if step.name in steps_of_all_heads(self.trace):
            own = [letter for letter in own if letter == BATCH]
        # Where no step that is worked out has heads, a page has them below one another.
        if own == [KEY_HEAD] and not self.trace.leading_letters:
            return ()
        if self.place is None:
            return None
        index: list[int] = []
        for letter, size in zip(own, step.shape, strict=False):
            # A page says of which query head it is, and a group of these shares one head of keys.
            is_of_group = letter == KEY_HEAD and KEY_HEAD not in self.place
            asked = HEAD if is_of_group else letter
            if asked not in self.place:
                whole = StepPart.of(step, tuple(index))
                if _is_whole(table, whole) and (size > 1 or _has_rows_of(table, whole)):
                    # It has the rows of all heads or entries.
                    break
                if size > 1:
                    self._report_no_heading(asked, step, table)
                    return None
            number = self.place.get(asked, 0)
            if is_of_group:
                number //= group_size(self.trace)
            index.append(min(number, size - 1))
        return tuple(index)

    def _report_no_heading(self, letter: str, step: Step, table: Table) -> None:
        word = _NAMES[letter]
        heading = word[0].upper() + word[1:]
        self.errors.add(
            f"which {word} does this {step.name} belong to?",
            at=table.at,
            help=f'put it under a heading such as "{heading} 0"',
        )

    def _keeps_other_shape(self, table: Table, part: StepPart, index: tuple[int, ...]) -> bool:
        """Whether a table of numbers has another shape, and is kept as such."""
        shapes = {table.shape(row) for row in table.cells}
        if self.others is None or len(shapes) != 1 or not _are_claims(table):
            return False
        [shape] = shapes
        if shape in _fitting(part):
            return False
        other = OtherShape(part.name, index, shape, part.shape)
        # Closed forms stand before their decimals.
        if other not in self.others:
            self.others.append(other)
        return True

    def _reports_shape(self, table: Table, part: StepPart, path: str) -> bool:
        """Whether a table does not fit, as a whole or in single rows, which is reported."""
        shapes = [table.shape(row) for row in table.cells]
        fitting = _fitting(part)
        uneven = [number for number, shape in enumerate(shapes) if shape not in fitting]
        if len(uneven) == len(shapes):
            message, help = shape_error(OtherShape(part.name, (), shapes[0], part.shape), part)
            self.errors.add(message, at=table.at, help=help, path=path)
        else:
            usual = next(shape for shape in shapes if shape in fitting)[1]
            for number in uneven:
                row = table.cells[number]
                message = (
                    f"this row has {count(len(row), 'entry')}, but {part.name} has"
                    f" {count(usual, 'column')}"
                )
                at = row[0].at if row else table.starts[number]
                self.errors.add(
                    message,
                    at=at,
                    help=f"write {count(usual, 'entry')}; _ is a blank one",
                    path=path,
                )
        return bool(uneven)

    def _reports_labels(self, table: Table, part: StepPart, path: str) -> bool:
        """Whether a row or a column is called otherwise than in the problem, which is reported."""
        rows = part.labels[-2] if len(part.labels) > 1 else part.labels[0]
        columns = part.labels[-1]
        message = _other_label("row", table.row_span, table.rows, rows) or _other_label(
            "column", table.column_span, table.columns, columns
        )
        if not message:
            return False
        help = OTHER_PROBLEM[0].upper() + OTHER_PROBLEM[1:]
        self.errors.add(message, at=table.at, help=help, path=path)
        return True

    def _fill(
        self,
        cells: NDArray[np.object_],
        offsets: NDArray[np.int64],
        table: Table,
        part: StepPart,
        path: str,
    ) -> None:
        top = table.row_span.start if table.row_span else 0
        left = table.column_span.start if table.column_span else 0
        is_column = len(table.cells) > 1 or part.shape == (1,)
        for row, line in enumerate(table.cells, top):
            for column, cell in enumerate(line, left):
                place: tuple[int, ...] = (row, column)
                if len(part.shape) == 1:
                    place = (row,) if is_column else (column,)
                if offsets[place] >= 0 and not table.repeats:
                    first = self.errors.source.place(int(offsets[place])).line
                    help = f"it is already on line {first}: keep one of the two"
                    self.errors.add("is given twice", at=table.at, help=help, path=path)
                    return
                offsets[place] = cell.at
                try:
                    cells[place] = more_precise(cells[place], read_claim(cell.text))
                except NumberError as error:
                    where = path + "".join(f"[{number}]" for number in place)
                    help = error.help.replace("null", "_")
                    self.errors.add(error.message, at=cell.at, help=help, path=where)


def _of_percentages(table: Table) -> Table:
    """The table with a % in each cell that has none."""
    rows = []
    for row in table.cells:
        cells = [cell._replace(text=percentage(cell.text)) for cell in row]
        rows.append(tuple(cells))
    return replace(table, cells=tuple(rows))


def _fitting(part: StepPart) -> tuple[tuple[int, ...], ...]:
    """The shapes that a table may have: a vector is a column or a row."""
    return (part.shape,) if len(part.shape) > 1 else ((*part.shape, 1), (1, *part.shape))


def _are_claims(table: Table) -> bool:
    """Whether all cells can be read."""
    try:
        for row in table.cells:
            for cell in row:
                read_claim(cell.text)
    except NumberError:
        return False
    return True


def _is_whole(table: Table, part: StepPart) -> bool:
    """Whether a table has the rows of all that a part of a step has."""
    shape = part.as_shown().shape
    return len(shape) == 2 and all(table.shape(row) == shape for row in table.cells)


def _has_rows_of(table: Table, part: StepPart) -> bool:
    """Whether its rows are called as those of a part of a step are: head 0."""
    return table.rows == tuple(part.as_shown().labels[0])


def _with_rows_not_there(table: Table, part: StepPart) -> Table:
    """The table with blanks for the rows that a solution has not come to, for those that have only
    their labels, and for the last cells of its last row.
    """
    if len(part.shape) != 2 or table.row_span or table.column_span or not table.cells:
        return table
    down, across = part.shape
    *before, last = table.cells
    if len(table.cells) > down or any(len(row) not in (0, across) for row in before):
        return table
    if len(last) > across or (len(last) < across and last and not before):
        return table
    places = _places_of_rows(table.rows, part.labels[-2]) if len(table.cells) < down else []
    cells = [(*row, *_blank(across - len(row))) for row in table.cells]
    at = places or range(len(cells))
    by_place = dict(zip(at, cells, strict=True))
    starts = dict(zip(at, table.starts, strict=True))
    return replace(
        table,
        rows=part.labels[-2] if places else table.rows,
        cells=tuple(by_place.get(place, _blank(across)) for place in range(down)),
        starts=tuple(starts.get(place, table.at) for place in range(down)),
    )


def _places_of_rows(names: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Where rows with these names belong, if all are known and in order; none for others."""
    places = [labels.index(name) for name in names if name in labels]
    if not names or len(places) < len(names) or places != sorted({*places}):
        return []
    return places


def _blank(number: int) -> tuple[CellText, ...]:
    """So many cells of which nothing stands in the file."""
    return (CellText("", -1),) * number


def _other_label(
    what: str, span: Span | None, found: Sequence[str], expected: Sequence[str]
) -> str:
    """What to say of the first row or column that the problem calls otherwise; empty for none."""
    first = 0
    if span is not None:
        first = span.start
        expected = expected[span.start : span.end]
    for number, (one, other) in enumerate(zip(found, expected, strict=False), first):
        are_plain = _PLAIN_LABEL.fullmatch(one) and _PLAIN_LABEL.fullmatch(other)
        if one != other and are_plain:
            return f"{what} {number} is called {one}, but this problem calls it {other}"
    return ""


def _view(array: NDArray[Any], index: tuple[int, ...], part: StepPart) -> NDArray[Any]:
    """The cells at a place, in the shape in which a page shows them; what is written there is
    written in the array.
    """
    whole: Any = array
    place = (*index, ...)
    # With ... even a single cell is a view.
    shown = np.asarray(whole[place])
    return shown.reshape(part.shape)


def place_in_heading(heading: str, *, title: bool = False) -> dict[str, int] | None:
    """The place that a heading says, {"h": 1}, none at all for what is shared; None for any other
    heading.

    The title of a page ends in it, where the page is of one head: I love AI: head 1.
    """
    if _SHARED.fullmatch(heading):
        return {}
    if found := _ALL_HEADS.fullmatch(heading):
        return {BATCH: int(found[1])} if found[1] else {}
    said = heading.rpartition(": ")[2] if title else heading
    found = _PLACE.fullmatch(said)
    if found is None:
        return None
    place: dict[str, int] = {}
    for axis, number in ((found[1], found[2]), (found[3], found[4])):
        if not axis:
            continue
        letter = _LETTERS[axis.lower()]
        if letter in place:
            return None
        place[letter] = int(number)
    return place


def _as_given(step: Step, answer: Answer) -> bool:
    """Whether it is an array that the problem gives, with the problem's numbers or blanks in all
    its cells.
    """
    if not step.rule.given:
        return False
    claims = (cast("Claim | None", cell) for cell in answer.cells.flat)
    for claim, value in zip(claims, step.value.flat, strict=True):
        if claim is None:
            continue
        slack = float(claim.half) + CLOSE * abs(value)
        # An infinity less itself is NaN, which is no difference of any size.
        if not abs(float(claim.value) - value) <= slack:
            return False
    return True
