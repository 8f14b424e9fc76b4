"""A trace as a workbook: what is worked out is a formula over other cells, and follows an edit.

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
    CellContent,
    CellKey,
    Document,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Picture,
    Product,
    Room,
    Sheet,
    SheetMatrix,
    Table,
    Verbatim,
    Workbook,
    Worked,
    text,
)
from attncli.page.gradient import backward_blocks
from attncli.page.notes_and_summary import about
from attncli.page.printer import Printer, printer_for
from attncli.page.view import View, selected_part
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import LEADING, PLACES
from attncli.problem.text.number_forms import is_plain
from attncli.problem.text.numbers import canonical
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import backward_steps, forward_steps, loss_steps

# As many take about half a minute to write, and a spreadsheet calculates them without a pause.
MOST_FORMULAS = 100_000
# A longer sum of products is not written out: it is a function of a row and a column.
MOST_TERMS_WRITTEN_OUT = 30
TITLE_OF_ONLY_SHEET = "Derivation"
TITLE_OF_NUMBERS = "Numbers in the formulas"
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

SheetBlock: TypeAlias = Heading | Paragraph | Formula | SheetMatrix


def with_workbook(page: Document, trace: Trace, view: View) -> Document:
    """The page of a trace with its workbook.

    Raises AttncliError (exit 2) where it would have too many formulas.
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
    return replace(page, workbook=lambda: _WorkbookMaker(here, view).workbook())


@dataclass(frozen=True)
class _WorkbookMaker:
    """Makes the sheets of a trace, and the formula of any cell."""

    trace: Trace
    view: View

    def workbook(self) -> Workbook:
        return Workbook(tuple(self._sheets()), self.entry, self.view.precision)

    # The sheets

    def _sheets(self) -> Iterator[Sheet]:
        """A sheet for each part of the page: what heads share, each head, and what they come to."""
        printer = printer_for(self.trace, replace(self.view, blank=frozenset()))
        brief = replace(self.view, detail="brief", heatmap=False, only_ends=False)
        title = TITLE_OF_ONLY_SHEET
        place: Place = {}
        blocks: list[SheetBlock] = [
            Paragraph(about(printer)),
            Paragraph((self._how_to_edit(),), "note"),
            *self._scalars(),
        ]
        for block in _without_words(_both_ways(printer, brief)):
            if not isinstance(block, Heading) or not block.part:
                blocks.extend(self._blocks(block, place))
                continue
            # What stands before the first part shares its sheet.
            if title != TITLE_OF_ONLY_SHEET:
                yield Sheet(title, tuple(blocks))
                blocks = []
            title = block.text
            place = dict(block.place)
        yield Sheet(title, tuple(blocks))

    def _how_to_edit(self) -> str:
        said = _EDITING
        if self.view.blank:
            said = _FILLING.format(count(self.view.precision, "decimal"))
        if "mask" in self.trace:
            said += _MASK
        return said

    def _scalars(self) -> Iterator[Heading | SheetMatrix]:
        if self._used:
            yield Heading(TITLE_OF_NUMBERS)
            keys = tuple(((name, ()),) for name in self._used)
            yield SheetMatrix(tuple(map(unicode_name, self._used)), (), keys, given=True)

    def _blocks(self, block: Block, place: Place) -> Iterator[SheetBlock]:
        match block:
            case Heading(step=name) if name:
                step = self.trace.steps[name]
                rule = step.rule.at_place(place)
                meaning = rule.meaning[:1].upper() + rule.meaning[1:]
                formula = headline(rule) or cell_form(rule)
                yield block
                yield Paragraph(text(meaning))
                yield Formula(formula, block.shapes)
            case Heading() | Paragraph():
                yield block
            case Grid(step=name):
                yield self._numbers(block, self.trace.steps[name], place)
            # Cells that work themselves out stand for products and worked lines.
            case (
                Formula()
                | Worked()
                | Product()
                | Table()
                | Listing()
                | Verbatim()
                | Room()
                | Picture()
            ):
                pass

    def _numbers(self, grid: Grid, step: Step, place: Place) -> SheetMatrix:
        """The cells of a step at a place of its leading axes."""
        lead = tuple(place[letter] for letter in step.rule.target.letters if letter in place)
        width = len(grid.columns) or 1
        every = [(step.name, (*lead, *index)) for index in np.ndindex(step.shape[len(lead) :])]
        starts = range(0, len(grid.rows) * width, width)
        return SheetMatrix(
            grid.rows,
            grid.columns,
            tuple(tuple(every[start : start + width]) for start in starts),
            given=self._is_typed(step),
            may_hide=step.name in self._hidable,
            shares=step.name == "weights",
            blank=step.name in self.view.blank,
        )

    # The numbers

    @staticmethod
    def _is_typed(step: Step) -> bool:
        """Whether its numbers are typed: what is given, and a mask.

        The conditions of a mask are no numbers of the page, so no formula could have them.
        """
        return step.rule.given or step.name == "mask"

    def entry(self, key: CellKey) -> CellContent:
        """What stands in a cell."""
        name, index = key
        step = self.trace.steps.get(name)
        # The gradient of v has the name of d_v, the width of the values.
        is_scalar = step is not None and bool(step.shape) and not index
        if step is None or is_scalar:
            scalar = self.trace.parameters[name]
            assert isinstance(scalar, Scalar)
            spelled = _as_written(scalar.written)
            return CellContent(scalar.value, spelled)
        value = float(step.value[index])
        if not self._is_typed(step):
            return CellContent(value, self._work(step, index))
        if step.written is None:
            return CellContent(value)
        written = str(step.written[index])
        return CellContent(value, _as_written(written))

    def _work(self, step: Step, index: tuple[int, ...]) -> Expression:
        place = dict(zip(step.rule.target.letters, index, strict=True))
        return self._put(self._trees[step.name], place, self._sizes[step.name])

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """The single numbers that stand in formulas, such as d_k."""
        found: set[str] = set()
        for step in self.trace.computed():
            if not self._is_typed(step):
                equation = step.rule.equation
                found.update(_names(equation.expression, all_letters(equation)))
        return tuple(name for name in self.trace.parameters if name in found)

    @cached_property
    def _scalar_values(self) -> Mapping[str, float]:
        return {
            name: given.value
            for name, given in self.trace.parameters.items()
            if isinstance(given, Scalar)
        }

    @cached_property
    def _sizes(self) -> Mapping[str, Mapping[str, int]]:
        return {step.name: self.trace.sizes(step.rule.equation) for step in self.trace.computed()}

    @cached_property
    def _hidable(self) -> frozenset[str]:
        """The steps in which −∞ may stand, which hides a key.

        They are the mask, an equation of a problem's own that chooses -inf somewhere, and what is
        worked out from these up to exp.
        """
        found: set[str] = set()
        for step in self.trace.computed():
            hides = step.name == "mask" or _chooses_to_hide(step)
            follows = found.intersection(step.rule.inputs) and not _ends_hiding(step)
            if hides or follows:
                found.add(step.name)
        return frozenset(found)

    @cached_property
    def _trees(self) -> Mapping[str, Expression]:
        """The right sides of the equations, which read a hidden cell in the forms that know one."""
        return {
            step.name: rewrite(step.rule.equation.expression, self._with_hidden)
            for step in self.trace.computed()
        }

    def _with_hidden(self, node: Expression) -> Expression:
        """An expression that knows of hidden cells: shown_exp for exp of a cell that may be −∞."""
        match node:
            case Call("exp" | "sub" as name, (cell, *_)) if self._may_hide(cell):
                return replace(node, function=f"shown_{name}")
            case Call("exp", (Call("shown_sub", (cell, taken)),)):
                shifted = Call("sub", (cell, taken))
                return Call("shown_exp_of", (cell, Call("exp", (shifted,))))
            case Call("pow", (_, cell)) if self._may_hide(cell):
                return replace(node, function="shown_pow")
            case Call("finite", (cell,)) if not self._may_hide(cell):
                return cell
            case Call("share", arguments) if not self._hidable:
                # Where nothing is hidden, no row is empty.
                return Call("div", arguments)
            case Reduce("max", index, cell) if self._may_hide(cell):
                return Reduce("shown_max", index, cell)
            case Call("max", (Reduce("shown_max", index, body), other)):
                # One of both is a number.
                return Call("max", (Reduce("max", index, body), other))
            case Number(value=value) if value == -inf:
                return Call("hidden", ())
            case Call("where", (Call("eq", (cell, Call("hidden"))), yes, no)):
                return Call("where_hidden", (cell, yes, no)) if self._may_hide(cell) else no
            case Call("add" | "mul" | "div", arguments) if any(map(self._may_hide, arguments)):
                cell = next(filter(self._may_hide, arguments))
                return Call("kept_hidden", (cell, node))
            case _:
                return node

    def _may_hide(self, cell: Expression) -> bool:
        return isinstance(cell, Ref) and cell.name in self._hidable

    # The equation at a place

    def _put(self, node: Expression, place: Place, sizes: Mapping[str, int]) -> Expression:
        """The sentence of a cell: its sums written out, or taken over a row or a column."""
        match node:
            case Ref(name=name, indices=indices):
                at = [position(index, place, self._scalar_values) for index in indices]
                return self._cell(name, tuple(at))
            case Name(name=name) if name in place:
                return number_node(place[name])
            case Reduce(function=function, index=index, body=body):
                found = self._over_cells(node, place, sizes)
                if found:
                    return found
                places = ({**place, index: at} for at in range(sizes[index]))
                return _joined(function, [self._put(body, at, sizes) for at in places])
            case Call("where", (condition, yes, no)) if not _reads_cells(condition):
                holds = position(condition, place, self._scalar_values)
                return self._put(yes if holds else no, place, sizes)
            case Call("add" | "max" as function, arguments):
                return _joined(function, [self._put(each, place, sizes) for each in arguments])
            case Call(function=function, arguments=arguments):
                return Call(function, tuple(self._put(each, place, sizes) for each in arguments))
            case Number() | Name():
                return node

    def _cell(self, name: str, index: tuple[int, ...]) -> Expression:
        if name in self.trace.steps:
            return Ref(name, tuple(map(number_node, index)))
        array = self.trace.parameters[name]
        assert isinstance(array, Matrix)
        return numeral(canonical(repr(float(array.value[index]))))

    def _over_cells(
        self, node: Reduce, place: Place, sizes: Mapping[str, int]
    ) -> Expression | None:
        """A sum or a maximum of a row or a column of cells.

        A sum of products is one only where it has too many terms to be written out.
        """
        match node:
            case Reduce(function, index, Ref() as cell):
                line = self._line(cell, index, place, sizes[index])
                if line is None:
                    return None
                cells, _ = line
                return Call("sum_of" if function == "add" else function, (cells,))
            case Reduce("add", index, Call("mul", (Ref() as one, Ref() as other))):
                size = sizes[index]
                if size <= MOST_TERMS_WRITTEN_OUT:
                    return None
                first = self._line(one, index, place, size)
                second = self._line(other, index, place, size)
                return _sum_of_products(first, second) if first and second else None
            case Reduce():
                return None

    def _line(
        self, cell: Ref, index: str, place: Place, size: int
    ) -> tuple[Expression, str] | None:
        """All cells along an index, and whether they are a row or a column of a sheet.

        None where they are no such line.
        """
        step = self.trace.steps.get(cell.name)
        if step is None or cell.indices.count(index) != 1 or _is_used_elsewhere(cell, index):
            return None
        at = cell.indices.index(index)
        direction = _direction(step, len(cell.indices) - at - 1)
        if direction is None:
            return None
        places = [position(each, {**place, index: 0}, self._scalar_values) for each in cell.indices]
        indices: list[Expression] = [number_node(each) for each in places]
        indices[at] = Call("range", (number_node(0), number_node(size - 1)))
        return Ref(cell.name, tuple(indices)), direction


def _direction(step: Step, axes_behind: int) -> str | None:
    """How an axis of a step runs on a sheet, as a row or a column; None where it does neither."""
    own = [letter for letter in step.rule.target.letters if letter not in LEADING]
    if axes_behind >= len(own):
        return None
    if axes_behind == 0:
        # A number for each token is a column.
        last_axis = step.rule.axis_names[-1]
        if len(own) == 1 and last_axis in ("query", "key"):
            return "column"
        return "row"
    # Of an array with more axes, each pair of a query and a key is a row.
    if axes_behind == 1 and len(own) == 2:
        return "column"
    return None


def _sum_of_products(first: tuple[Expression, str], second: tuple[Expression, str]) -> Expression:
    """The products of two lines of cells, added up; those of a row and a column are a function."""
    (cells, direction), (other_cells, other_direction) = first, second
    if direction == other_direction:
        return Call("products_of", (cells, other_cells))
    if direction == "row":
        return Call("row_by_column", (cells, other_cells))
    return Call("row_by_column", (other_cells, cells))


def _chooses_to_hide(step: Step) -> bool:
    """Whether a step of a problem's own puts -inf where a key is hidden: where(j <= i, …, -inf)."""
    if not step.rule.own or step.rule.given:
        return False
    for node in walk(step.rule.equation.expression):
        if isinstance(node, Call) and node.function == "where":
            _, *branches = node.arguments
            if Number(-inf, "-inf") in branches:
                return True
    return False


def _ends_hiding(step: Step) -> bool:
    """Whether a step makes a number of −∞, as exp does."""
    calls = [node for node in walk(step.rule.equation.expression) if isinstance(node, Call)]
    return any(call.function in ("exp", "pow", "where") for call in calls)


def _reads_cells(condition: Expression) -> bool:
    return any(isinstance(node, Ref) for node in walk(condition))


def _both_ways(printer: Printer, view: View) -> Iterator[Block]:
    """The sections of the forward pass, then those of the loss and of the backward pass where a
    trace has them.

    The parts of heads and entries are told apart by their titles, which name sheets.
    """
    trace = printer.trace
    # A sheet has what is given in one place.
    view = replace(view, short=False)
    yield from sections_of(printer, forward_steps(trace), view)
    parts = (
        ("The loss", "loss", loss_steps(trace)),
        ("The backward pass", "back", backward_steps(trace)),
    )
    for title, word, names in parts:
        if not names:
            continue
        if not trace.leading_letters:
            yield Heading(title)
        for block in backward_blocks(printer, names, view):
            if isinstance(block, Heading) and block.part:
                block = block._replace(text=f"{block.text}, {word}")
            yield block


def _is_used_elsewhere(cell: Ref, letter: str) -> bool:
    """Whether another index depends on this letter, as in a diagonal."""
    others = [index for index in cell.indices if not isinstance(index, str)]
    return any(Name(letter) in walk(index) for index in others)


def _names(expression: Expression, letters: Iterable[str]) -> Iterator[str]:
    """The names of numbers in an expression.

    Those in conditions are not among them: conditions are decided for good.
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
        case Number() | Name() | Ref():
            pass


def _joined(function: str, terms: list[Expression]) -> Expression:
    """One call of them all: sums of sums are a single sum."""
    found: list[Expression] = []
    for term in terms:
        if isinstance(term, Call) and term.function == function:
            found.extend(term.arguments)
        else:
            found.append(term)
    if len(found) == 1 and function == "add":
        return found[0]
    return Call(function, tuple(found))


def _as_written(written: str) -> Expression | None:
    """The fraction or the root that somebody wrote; None for a decimal, which is its own value."""
    if is_plain(written):
        return None
    if not any(character.isdigit() for character in written):
        return None
    found = numeral(canonical(written))
    if isinstance(found, Number):
        return None
    return found


def _without_words(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks without what is said of the numbers in words, which would not follow an edit."""
    # A heading waits for what stands under it.
    waiting: list[Block] = []
    for block in blocks:
        match block:
            case Heading():
                yield from waiting
                waiting = [block]
            case Listing():
                waiting = []
            case (
                Paragraph()
                | Formula()
                | Worked()
                | Grid()
                | Product()
                | Table()
                | Verbatim()
                | Room()
                | Picture()
            ):
                yield from waiting
                yield block
                waiting = []
