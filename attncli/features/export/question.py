"""A problem as a question with blanks: what is given, what is asked, and what every known mistake
would answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from attncli.english import count
from attncli.equation.nodes import Name
from attncli.errors import input_error, usage_error
from attncli.features.export.sets import place_in_set
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.page.document import Block, Cell, Grid, Math, Paragraph, Text, with_symbols
from attncli.page.grid import grid
from attncli.page.notes_and_summary import about, summary
from attncli.page.printer import Printer, format_number, printer_for
from attncli.page.sections import given_section
from attncli.page.view import View, chosen_steps, steps_back
from attncli.problem.model import Problem
from attncli.tracing import run
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Step, Trace

# An answer may be off by so many units of its last digit: by one, or by a number with further
# digits.
UNITS_OFF = Decimal("1.5")
# A browser shows each blank of a question as a field.
MOST_BLANKS = 300
# No larger number is to be typed.
LARGEST_TYPED_NUMBER = Decimal(10) ** 9


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of every problem: these `steps`, or without any its weights and its result;
    each number with so many `decimals`, off by `tolerance` at most.

    The `formulas` of the steps are part of a question, or not.
    """

    steps: Sequence[str]
    decimals: int
    tolerance: Decimal
    formulas: bool = True


class Wrong(NamedTuple):
    """A number that some known mistakes give in place of the right one."""

    number: Decimal
    mistakes: tuple[str, ...]

    @property
    def explained(self) -> Text:
        """W_Q and W_K were swapped, or if the scores were not scaled."""
        return with_symbols(f"{', or if '.join(self.mistakes)}.")


@dataclass(frozen=True, slots=True)
class Blank:
    """One cell to be filled in: its step, where it is, the right number, and the wrong ones that
    say what was done.
    """

    step: Step
    index: tuple[int, ...]
    key: Decimal
    wrong: tuple[Wrong, ...]

    @property
    def label(self) -> str:
        """Attention weights, I → love."""
        return f"{self.step.rule.title}, {self.step.cell_label(self.index)}"


@dataclass(frozen=True, slots=True)
class Question:
    """A problem to be worked out: its blocks, the matrices with the blanks, and these blanks in the
    same order.

    `asked` are steps with their titles; a cell without a text is a blank. `solved` are the same
    with their numbers.
    """

    title: str
    given: tuple[Block, ...]
    asked: tuple[Block, ...]
    solved: tuple[Block, ...]
    blanks: tuple[Blank, ...]
    asking: Asking
    warnings: tuple[str, ...]

    @property
    def instruction(self) -> str:
        """What to do, in a sentence for students."""
        decimals = self.asking.decimals
        return (
            f"Give every number with {count(decimals, 'decimal')}, such as"
            f" {Decimal('0.5'):.{decimals}f}."
        )


def question(problem: Problem, asking: Asking, name: str) -> Question:
    """The question that a problem is, worked out; `name` is what its file is called.

    Raises AttncliError: exit 2 for steps that are none, that are given or that have too many
    numbers, exit 3 for numbers that nobody types.
    """
    view = View(precision=asking.decimals, in_full=True)
    printer = printer_for(run(problem, gradient=bool(steps_back(asking.steps))), view)
    trace = printer.trace
    names = chosen_steps(trace, asking.steps or _usually_asked(trace))
    if given := [each for each in names if trace.steps[each].rule.given]:
        raise usage_error(
            f"{name}: {given[0]} cannot be asked for: the problem gives it",
            help=f"--ask {','.join(_usually_asked(trace))}",
        )
    matrices = {each: grid(printer, trace.steps[each]) for each in names}
    asked = {each: _cells_to_ask(trace.steps[each], matrix) for each, matrix in matrices.items()}
    _check_number(sum(map(len, asked.values())), name, trace.result)
    made = {mistake.name: MistakenTrace(trace, changes) for mistake, changes in applicable(trace)}
    blanks = []
    for each in names:
        wrong = {
            mistake: numbers[each] for mistake, numbers in made.items() if each in numbers.moved
        }
        blanks += [_blank(trace.steps[each], index, wrong, asking, name) for index in asked[each]]
    emptied = {
        each: _emptied(trace.steps[each], matrix, asked[each]) for each, matrix in matrices.items()
    }
    return Question(
        _title(trace, name),
        tuple(_given(printer, names, asking)),
        tuple(_asked(trace, emptied)),
        tuple(_asked(trace, matrices)),
        tuple(blanks),
        asking,
        trace.warnings,
    )


def _title(trace: Trace, name: str) -> str:
    """What the question is called, in a bank too; of a set without the name of its student."""
    title = trace.title.strip() or "Attention"
    place = place_in_set(name)
    return title if place is None else place.neutral(title)


def _usually_asked(trace: Trace) -> list[str]:
    """The weights, where there are any, and the result."""
    names = dict.fromkeys(("weights", trace.result))
    return [name for name in names if name in trace]


def _check_number(blanks: int, name: str, result: str) -> None:
    if blanks > MOST_BLANKS:
        raise usage_error(
            f"{name}: {blanks:,} numbers would be asked for, and a question has at most"
            f" {MOST_BLANKS}",
            help="ask for fewer steps with --ask, or use a smaller problem",
        )
    if not blanks:
        raise usage_error(
            f"{name}: these steps have no number to ask for",
            help=f"ask for other steps: --ask {result}",
        )


def _cells(step: Step, matrix: Grid) -> Iterator[tuple[tuple[int, ...], Cell]]:
    """The cells of a step with their places, row by row, as its matrix has them."""
    return zip(np.ndindex(step.shape), (cell for row in matrix.cells for cell in row), strict=True)


def _cells_to_ask(step: Step, matrix: Grid) -> list[tuple[int, ...]]:
    """The places of all numbers but those that the mask hides."""
    return [
        index
        for index, cell in _cells(step, matrix)
        if not cell.hidden and np.isfinite(step.value[index])
    ]


def _changed(step: Step, matrix: Grid, texts: Mapping[tuple[int, ...], str]) -> Grid:
    """The matrix with other texts in some of its cells."""
    changed = [
        cell._replace(text=texts.get(index, cell.text)) for index, cell in _cells(step, matrix)
    ]
    rows = []
    for row in matrix.cells:
        rows.append(changed[: len(row)])
        del changed[: len(row)]
    return matrix._replace(cells=rows)


def _emptied(step: Step, matrix: Grid, asked: Sequence[tuple[int, ...]]) -> Grid:
    """The matrix with a blank in every cell that is asked for."""
    return _changed(step, matrix, dict.fromkeys(asked, ""))


def _asked(trace: Trace, matrices: Mapping[str, Grid]) -> Iterator[Block]:
    for name, matrix in matrices.items():
        rule = trace.steps[name].rule
        yield Paragraph((f"{rule.title} ", Math(Name(rule.symbol)), ":"))
        yield matrix


def _given(printer: Printer, asked: Sequence[str], asking: Asking) -> Iterator[Block]:
    """What a student has to know: sizes and settings, every array, the mask, and the formulas up to
    what is asked.
    """
    trace = printer.trace
    yield Paragraph(about(printer))
    for step in trace.steps.values():
        if step.rule.given:
            yield from given_section(printer, step, "brief")
    if "mask" in trace and "mask" not in asked:
        mask = trace.steps["mask"]
        yield Paragraph(
            (f"{mask.rule.title} ", Math(Name(mask.rule.symbol)), ", which is added to the scores:")
        )
        yield grid(printer, mask)
    if asking.formulas:
        computed = trace.computed()
        last = max(place for place, step in enumerate(computed) if step.name in asked)
        yield Paragraph(("These are the steps:",))
        yield from summary(printer, computed[: last + 1])


def _blank(
    step: Step, index: tuple[int, ...], wrong: Mapping[str, Doubles], asking: Asking, name: str
) -> Blank:
    """A cell with the numbers that the mistakes give there.

    Numbers near the right one tell nothing. Mistakes whose numbers are taken for one another share
    one.
    """
    value = float(step.value[index])
    key = _typed(value, asking.decimals)
    if key is None:
        raise input_error(
            f"{name}: {step.name}[{', '.join(map(str, index))}] is {value:.3g}, which is too large"
            " to be typed",
            help="give the problem smaller numbers",
        )
    found: list[Wrong] = []
    for mistake, numbers in wrong.items():
        number = _typed(float(numbers[index]), asking.decimals)
        if number is None or abs(number - key) <= 2 * asking.tolerance:
            continue
        near = next(
            (
                place
                for place, one in enumerate(found)
                if abs(one.number - number) <= asking.tolerance
            ),
            None,
        )
        if near is None:
            found.append(Wrong(number, (mistake,)))
        else:
            found[near] = Wrong(found[near].number, (*found[near].mistakes, mistake))
    return Blank(step, index, key, tuple(found))


def _typed(value: float, decimals: int) -> Decimal | None:
    """The number that somebody types who came to this value; None for one that nobody types."""
    if not np.isfinite(value) or abs(value) >= LARGEST_TYPED_NUMBER:
        return None
    return Decimal(format_number(value, decimals))
