"""A trace as a workbook: every number that is worked out is a formula over other cells, so that it
follows an edit.

The formula of a cell is its worked line, with the cells in place of their numbers: the equation at
one place, its sums written out. Where an index leads, and which branch of a choice holds, is
decided here, and no edit can change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, prod
from typing import TypeAlias

import numpy as np

from attncli.attention.registry import cell_form, headline
from attncli.english import count, grouped, listed
from attncli.equation.indexing import Place, all_letters, position
from attncli.equation.nodes import (
    Call,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    number_node,
    rewrite,
    walk,
)
from attncli.equation.printer import numeral
from attncli.equation.symbols import unicode_name
from attncli.errors import usage_error
from attncli.page.derivation import sections_of
from attncli.page.document import (
    Block,
    Document,
    Entry,
    Formula,
    Grid,
    Heading,
    Key,
    Listing,
    Numbers,
    Paragraph,
    Sheet,
    Workbook,
    text,
)
from attncli.page.gradient import backward_blocks
from attncli.page.printer import Printer, printer_for
from attncli.page.remarks import about
from attncli.page.view import View, selected_part
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import LEADING, PLACES
from attncli.problem.text.numbers import canonical, is_plain
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import backward_steps, forward_steps, loss_steps

# about half a minute, and as much as a spreadsheet calculates again without a pause
MOST_FORMULAS = 100_000
MOST_TERMS = 30  # of a sum that is written out
TITLE = "Derivation"  # of the only sheet
NUMBERS = "Numbers in the formulas"
_EDITING = (
    "Type over any blue number: every number that depends on it follows. F2 on a number shows the"
    " cells that it is worked out from."
)
_FILLING = (
    "Fill in the empty cells, with {} or as a formula such as =7/10 or =SQRT(3). A right number"
    " becomes green, and so does one that follows from your own earlier numbers. A wrong one"
    " becomes red."
)
_MASK = " A number of a mask is 0 or −∞. Any text counts as −∞."

Sizes: TypeAlias = Mapping[str, int]


def with_workbook(page: Document, trace: Trace, view: View) -> Document:
    """The page of a trace with its workbook. Raises AttncliError (exit 2) where it would have too
    many formulas.
    """
    here = selected_part(trace, view)
    formulas = sum(prod(step.shape) for step in here.computed())
    if formulas > MOST_FORMULAS:
        message = (
            f"the workbook would have {grouped(formulas)} formulas, and {grouped(MOST_FORMULAS)} is"
            " the most"
        )
        fewer = [
            f"choose one {PLACES[letter]} with --{PLACES[letter]} 0"
            for letter in here.leading_letters
        ]
        raise usage_error(message, help=listed([*fewer, "write .html or .json"], last="or"))
    return replace(page, workbook=lambda: _Writer(here, view).workbook())


@dataclass(frozen=True)
class _Writer:
    """Makes the sheets of a trace, and the formula of any cell."""

    trace: Trace
    view: View

    def workbook(self) -> Workbook:
        return Workbook(tuple(self._sheets()), self.entry, self.view.precision)

    # --- the sheets

    def _sheets(self) -> Iterator[Sheet]:
        """A sheet for each part of the page: what heads share, each of them, and what they come
        to.
        """
        printer = printer_for(self.trace, replace(self.view, blank=frozenset()))
        brief = replace(self.view, detail="brief", heatmap=False, ends=False)
        editing = (
            _FILLING.format(count(self.view.precision, "decimal")) if self.view.blank else _EDITING
        )
        editing += _MASK * ("mask" in self.trace)
        title, place = TITLE, dict[str, int]()
        blocks: list[Heading | Paragraph | Formula | Numbers] = [
            Paragraph(about(printer)),
            Paragraph((editing,), "note"),
            *self._scalars(),
        ]
        for block in _without_words(_both_ways(printer, brief)):
            if isinstance(block, Heading) and block.part:
                if title != TITLE:
                    yield Sheet(title, tuple(blocks))
                    blocks = []
                title, place = block.text, dict(block.place)
            else:
                blocks += self._blocks(block, place)
        yield Sheet(title, tuple(blocks))

    def _scalars(self) -> Iterator[Heading | Numbers]:
        if self._used:
            yield Heading(NUMBERS)
            keys = tuple(((name, ()),) for name in self._used)
            yield Numbers(tuple(map(unicode_name, self._used)), (), keys, given=True)

    def _blocks(
        self, block: Block, place: Place
    ) -> Iterator[Heading | Paragraph | Formula | Numbers]:
        match block:
            case Heading(step=name) if name:
                rule = self.trace.steps[name].rule.at_place(place)
                yield block
                yield Paragraph(text(f"{rule.meaning[:1].upper()}{rule.meaning[1:]}"))
                yield Formula(headline(rule) or cell_form(rule), block.shapes)
            case Heading() | Paragraph():
                yield block
            case Grid(step=name):
                yield self._numbers(block, self.trace.steps[name], place)

    def _numbers(self, grid: Grid, step: Step, place: Place) -> Numbers:
        """The cells of a step at a place of its leading axes."""
        letters = step.rule.target.letters
        lead = tuple(place[letter] for letter in letters if letter in place)
        every = iter(np.ndindex(step.shape[len(lead) :]))
        width = len(grid.columns) or 1
        keys = tuple(
            tuple((step.name, (*lead, *next(every))) for _ in range(width)) for _ in grid.rows
        )
        return Numbers(
            grid.rows,
            grid.columns,
            keys,
            self._is_typed(step),
            step.name in self._hidable,
            step.name == "weights",
            step.name in self.view.blank,
        )

    # --- the numbers

    @staticmethod
    def _is_typed(step: Step) -> bool:
        """Whether its numbers are typed: what is given, and a mask, whose conditions are no numbers
        of the page.
        """
        return step.rule.given or step.name == "mask"

    def entry(self, key: Key) -> Entry:
        """What stands in a cell."""
        name, index = key
        step = self.trace.steps.get(name)
        if step is None:
            scalar = self.trace.parameters[name]
            assert isinstance(scalar, Scalar)
            return Entry(scalar.value, _as_written(scalar.written))
        value = float(step.value[index])
        if not self._is_typed(step):
            return Entry(value, self._work(step, index))
        return Entry(value, None if step.written is None else _as_written(str(step.written[index])))

    def _work(self, step: Step, index: tuple[int, ...]) -> Expression:
        place = dict(zip(step.rule.target.letters, index, strict=True))
        return self._put(self._trees[step.name], place, self._sizes[step.name])

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """The single numbers that stand in formulas, such as d_k."""
        found = {
            name
            for step in self.trace.computed()
            if not self._is_typed(step)
            for name in _names(step.rule.equation.expression, all_letters(step.rule.equation))
        }
        return tuple(name for name in self.trace.parameters if name in found)

    @cached_property
    def _scalar_values(self) -> Mapping[str, float]:
        return {
            name: given.value
            for name, given in self.trace.parameters.items()
            if isinstance(given, Scalar)
        }

    @cached_property
    def _sizes(self) -> Mapping[str, Sizes]:
        return {step.name: self.trace.sizes(step.rule.equation) for step in self.trace.computed()}

    @cached_property
    def _hidable(self) -> frozenset[str]:
        """The steps in which −∞ may stand, which hides a key: the mask, and what is worked out from
        it up to exp.
        """
        found: set[str] = set()
        for step in self.trace.computed():
            calls = {
                node.function
                for node in walk(step.rule.equation.expression)
                if isinstance(node, Call)
            }
            if step.name == "mask" or (
                found.intersection(step.rule.inputs) and not calls & {"exp", "pow", "where"}
            ):
                found.add(step.name)
        return frozenset(found)

    @cached_property
    def _trees(self) -> Mapping[str, Expression]:
        """The right sides of the equations, where a hidden cell is read in the forms that know of
        one.
        """
        return {
            step.name: rewrite(step.rule.equation.expression, self._with_hidden)
            for step in self.trace.computed()
        }

    def _with_hidden(self, node: Expression) -> Expression:
        def hidden(cell: Expression) -> bool:
            return isinstance(cell, Ref) and cell.name in self._hidable

        match node:
            case Call("exp" | "sub" as name, (cell, *_)) if hidden(cell):
                return replace(node, function=f"shown_{name}")
            case Call("pow", (_, cell)) if hidden(cell):
                return replace(node, function="shown_pow")
            case Call("finite", (cell,)) if not hidden(cell):
                return cell
            case Call("share", arguments) if not self._hidable:  # then no row is empty
                return Call("div", arguments)
            case Reduce("max", index, cell) if hidden(cell):
                return Reduce("shown_max", index, cell)
            case Call("max", (Reduce("shown_max", index, body), other)):  # one of both is a number
                return Call("max", (Reduce("max", index, body), other))
            case Call("where", (Call("eq", (cell, Number(value=value))), yes, no)) if (
                hidden(cell) and value == -inf
            ):
                return Call("where_hidden", (cell, yes, no))
        return node

    # --- the equation at a place

    def _put(self, node: Expression, place: Place, sizes: Sizes) -> Expression:
        """The sentence of a cell: its sums written out, or taken over a row or a column of
        cells.
        """
        match node:
            case Ref(name=name, indices=indices):
                return self._cell(
                    name, tuple(position(index, place, self._scalar_values) for index in indices)
                )
            case Name(name=name) if name in place:
                return number_node(place[name])
            case Reduce(function=function, index=index, body=body):
                if found := self._over_cells(node, place, sizes):
                    return found
                return _joined(
                    function,
                    [self._put(body, {**place, index: at}, sizes) for at in range(sizes[index])],
                )
            case Call("where", (condition, yes, no)) if not any(
                isinstance(each, Ref) for each in walk(condition)
            ):
                return self._put(
                    yes if position(condition, place, self._scalar_values) else no, place, sizes
                )
            case Call("add" | "max" as function, arguments):
                return _joined(function, [self._put(each, place, sizes) for each in arguments])
            case Call(function=function, arguments=arguments):
                return Call(function, tuple(self._put(each, place, sizes) for each in arguments))
        return node

    def _cell(self, name: str, index: tuple[int, ...]) -> Expression:
        if name in self.trace.steps:
            return Ref(name, tuple(map(number_node, index)))
        array = self.trace.parameters[name]
        assert isinstance(array, Matrix)
        return numeral(canonical(repr(float(array.value[index]))))

    def _over_cells(self, node: Reduce, place: Place, sizes: Sizes) -> Expression | None:
        """A sum or a maximum of a row or a column; of products only where there are too many to be
        written out.
        """
        match node:
            case Reduce(function, index, Ref() as cell):
                cells = self._line(cell, index, place, sizes[index])
                return cells and Call("sum_of" if function == "add" else function, cells[:1])
            case Reduce("add", index, Call("mul", (Ref() as one, Ref() as other))) if (
                sizes[index] > MOST_TERMS
            ):
                first, second = (
                    self._line(each, index, place, sizes[index]) for each in (one, other)
                )
                if not first or not second:
                    return None
                if first[1] == second[1]:
                    return Call("products_of", (first[0], second[0]))
                return Call(
                    "row_by_column",
                    (first[0], second[0]) if first[1] == "row" else (second[0], first[0]),
                )
        return None

    def _line(
        self, cell: Ref, index: str, place: Place, size: int
    ) -> tuple[Expression, str] | None:
        """All cells along an index as a row or a column, and which of both; None where they are no
        such line.
        """
        step = self.trace.steps.get(cell.name)
        if step is None or cell.indices.count(index) != 1:
            return None
        at, own = (
            cell.indices.index(index),
            [letter for letter in step.rule.target.letters if letter not in LEADING],
        )
        behind = len(cell.indices) - at - 1  # axes
        if (
            behind >= len(own)
            or behind > 1
            or (behind == 1 and len(own) > 2)
            or _elsewhere(cell, index)
        ):
            return None
        upright = behind == 1 or (len(own) == 1 and step.rule.axis_names[-1] in ("query", "key"))
        places = [position(each, {**place, index: 0}, self._scalar_values) for each in cell.indices]
        cells: list[Expression] = [number_node(each) for each in places]
        indices = (
            *cells[:at],
            Call("range", (number_node(0), number_node(size - 1))),
            *cells[at + 1 :],
        )
        return Ref(cell.name, indices), "column" if upright else "row"


def _both_ways(printer: Printer, view: View) -> Iterator[Block]:
    """The sections of the forward pass, then those of the loss and of the backward pass where a
    trace has them.

    The parts of heads and entries are told apart by their titles, which name sheets.
    """
    trace = printer.trace
    yield from sections_of(printer, forward_steps(trace), view)
    for title, word, names in (
        ("The loss", "loss", loss_steps(trace)),
        ("The backward pass", "back", backward_steps(trace)),
    ):
        if names and not trace.leading_letters:
            yield Heading(title)
        for block in backward_blocks(printer, names, view) if names else ():
            if isinstance(block, Heading) and block.part:
                block = block._replace(text=f"{block.text}, {word}")
            yield block


def _elsewhere(cell: Ref, index: str) -> bool:
    """Whether another index depends on this letter, as in a diagonal."""
    others = (each for each in cell.indices if not isinstance(each, str))
    return any(
        isinstance(node, Name) and node.name == index for each in others for node in walk(each)
    )


def _names(expression: Expression, letters: Iterable[str]) -> Iterator[str]:
    """The names of numbers in an expression, but for those in conditions, which are decided for
    good.
    """
    match expression:
        case Name(name=name) if name not in letters:
            yield name
        case Call("where", (_, *branches)):
            for branch in branches:
                yield from _names(branch, letters)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from _names(argument, letters)
        case Reduce(body=body):
            yield from _names(body, letters)


def _joined(function: str, terms: list[Expression]) -> Expression:
    """One call of them all: sums of sums are a single sum."""
    found: list[Expression] = []
    for term in terms:
        found += term.arguments if isinstance(term, Call) and term.function == function else (term,)
    return found[0] if len(found) == 1 and function == "add" else Call(function, tuple(found))


def _as_written(written: str) -> Expression | None:
    """The fraction or the root that somebody wrote; None for a decimal, which is its own value."""
    if is_plain(written) or not any(character.isdigit() for character in written):
        return None
    found = numeral(canonical(written))
    return None if isinstance(found, Number) else found


def _without_words(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks without what is said of the numbers in words, which would not follow an edit."""
    heading: Heading | None = None
    for block in blocks:
        if heading and not isinstance(block, Listing):
            yield heading
        heading = block if isinstance(block, Heading) else None
        if not isinstance(block, Heading | Listing):
            yield block
