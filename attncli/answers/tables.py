"""Matrices as they stand on a page, one by one under its headings, put together to the answers to whole steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.answers.claims import agreed, read_claim
from attncli.answers.matrices import Table
from attncli.answers.model import Answer
from attncli.answers.places import place_of
from attncli.answers.steps import BESIDE, OTHER, NoStep, Part, misfit, step_called
from attncli.english import count
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.problem.misread import NumberError
from attncli.problem.values import ErrorCollector
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import leading, length, serves

_PLAIN_LABEL = re.compile(r"[A-Za-z0-9 ]{1,14}")  # short ones of letters alone look the same in every format
_NAMES = {BATCH: "entry", HEAD: "head", KEY_HEAD: "KV head"}


@dataclass(slots=True)
class Page:
    """Takes in headings and tables in their order, and knows of which head and entry each is."""

    errors: ErrorCollector
    trace: Trace
    place: dict[str, int] | None = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    seen: dict[str, NDArray[np.int64]] = field(default_factory=dict)  # where each cell stands, -1 for nowhere

    def head(self, text: str, at: int, *, title: bool = False) -> None:
        """A heading, or the title of the page, which may say of which head and entry the tables beneath are."""
        place = place_of(text, title=title)
        if place is None:
            return
        for letter, number in place.items():
            there = self._there(letter)
            if number >= there:
                if not title:  # which may end in any words
                    what = _NAMES[letter]
                    help = f"the problem has {count(there, what)}, counted from 0" if there else OTHER
                    self.errors.add(f"there is no {what} {number}", at=at, help=help)
                    self.place = None
                return
        self.place = place

    def _there(self, letter: str) -> int:
        """How many entries or heads there are; 0 where they are no axis."""
        if letter == KEY_HEAD:
            return self._there(HEAD) // serves(self.trace)
        return length(self.trace, letter) if letter in leading(self.trace) else 0

    def add(self, table: Table) -> None:
        """A table: the answer to a step, or to the part of it that the headings say."""
        if table.name in BESIDE:
            return
        try:
            step = step_called(table.name, self.trace)
        except NoStep as error:
            self.errors.add(error.message, at=table.at, help=error.help)
            return
        index = self._index(step, table)
        if index is None:
            return
        cells, seen = self._arrays(step, table.at)
        part = Part.of(step, index).as_shown()
        path = step.name + "".join(f"[{place}]" for place in index)
        if self._of_other_shape(table, part, path) or self._of_other_labels(table, part, path):
            return
        self._fill(_part(cells, index, part), _part(seen, index, part), table, part, path)

    def done(self, form: str) -> dict[str, Answer]:
        """The answers, of which there must be some; `form` says how a matrix is written in this format."""
        if not self.answers and not self.errors.count:
            self.errors.fail("there is no matrix of a step here", at=0, help=form)
        for answer in self.answers.values():
            answer.cells.setflags(write=False)
        return self.answers

    def _arrays(self, step: Step, at: int) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
        if step.name not in self.answers:
            self.answers[step.name] = Answer(step.name, np.full(step.shape, None, dtype=object), at)
            self.seen[step.name] = np.full(step.shape, -1)
        return self.answers[step.name].cells, self.seen[step.name]

    def _index(self, step: Step, table: Table) -> tuple[int, ...] | None:
        """The place of the table on the leading axes of its step; None where the page does not say it."""
        letters = step.rule.target.letters
        own = [letter for letter in letters if letter in LEADING]
        if len(own) == len(letters):  # one number for each head: all of them stand in one table
            return ()
        if self.place is None:
            return None
        index = []
        for letter, size in zip(own, step.shape, strict=False):
            asked = HEAD if letter == KEY_HEAD and KEY_HEAD not in self.place else letter
            if asked not in self.place and size > 1:
                word = _NAMES[asked]
                help = f'put it under a heading that says so, such as "{word[0].upper() + word[1:]} 0"'
                self.errors.add(f"of which {word} is this {step.name}?", at=table.at, help=help)
                return None
            number = self.place.get(asked, 0)
            index.append(min(number // serves(self.trace) if letter != asked else number, size - 1))
        return tuple(index)

    def _of_other_shape(self, table: Table, part: Part, path: str) -> bool:
        """Whether a table does not fit, as a whole or in single rows, which is reported."""
        shapes = [table.shape(row) for row in table.cells]
        fitting = (part.shape,) if len(part.shape) > 1 else ((*part.shape, 1), (1, *part.shape))
        uneven = [number for number, shape in enumerate(shapes) if shape not in fitting]
        if len(uneven) == len(shapes):
            message, help = misfit(shapes[0], part)
            self.errors.add(message, at=table.at, help=help, path=path)
        else:
            usual = next(shape for shape in shapes if shape in fitting)[1]
            for number in uneven:
                row = table.cells[number]
                message = f"this row has {count(len(row), 'entry')} where {part.name} has {count(usual, 'column')}"
                at = row[0].at if row else table.starts[number]
                self.errors.add(message, at=at, help="every row has as many; _ is a blank one", path=path)
        return bool(uneven)

    def _of_other_labels(self, table: Table, part: Part, path: str) -> bool:
        """Whether a row or a column is called otherwise than in the problem, which is reported."""
        rows = part.labels[-2] if len(part.labels) > 1 else part.labels[0]
        for what, span, found, expected in (
            ("row", table.down, table.rows, rows),
            ("column", table.across, table.columns, part.labels[-1]),
        ):
            own = expected[span.start : span.end] if span else expected
            for number, (one, other) in enumerate(zip(found, own, strict=False), span.start if span else 0):
                if one != other and _PLAIN_LABEL.fullmatch(one) and _PLAIN_LABEL.fullmatch(other):
                    message = f"{what} {number} is called {one} where this problem has {other}"
                    self.errors.add(message, at=table.at, help=OTHER[0].upper() + OTHER[1:], path=path)
                    return True
        return False

    def _fill(self, cells: NDArray[np.object_], seen: NDArray[np.int64], table: Table, part: Part, path: str) -> None:
        top, left = (span.start if span else 0 for span in (table.down, table.across))
        upright = len(part.shape) > 1 or len(table.cells) > 1 or part.shape == (1,)
        for row, line in enumerate(table.cells, top):
            for column, cell in enumerate(line, left):
                place = (row, column) if len(part.shape) > 1 else (row,) if upright else (column,)
                if seen[place] >= 0 and not table.again:
                    first = self.errors.source.place(int(seen[place])).line
                    help = f"it stands on line {first} already: keep one of the two"
                    self.errors.add("is given twice", at=table.at, help=help, path=path)
                    return
                seen[place] = cell.at
                try:
                    cells[place] = agreed(cells[place], read_claim(cell.text, cell.at))
                except NumberError as error:
                    full = path + "".join(f"[{number}]" for number in place)
                    self.errors.add(error.message, at=cell.at, help=error.help.replace("null", "_"), path=full)


def _part(array: NDArray[Any], index: tuple[int, ...], part: Part) -> NDArray[Any]:
    """The cells at a place, in the shape in which a page shows them; what is written there is written in the array."""
    cells: Any = array
    return np.asarray(cells[(*index, ...)]).reshape(part.shape)
