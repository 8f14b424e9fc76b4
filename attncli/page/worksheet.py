"""A worksheet: the page of a problem with some of its steps left blank; and its key, the same page
with all numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from attncli.english import count, listed
from attncli.equation.nodes import Equation
from attncli.errors import usage_error
from attncli.mistakes.audit import Audit
from attncli.page.audit import audit_blocks
from attncli.page.derivation import derivation
from attncli.page.document import (
    Block,
    Document,
    Field,
    Formula,
    Grid,
    Heading,
    Math,
    Paragraph,
    Text,
)
from attncli.page.gradient import gradient_page
from attncli.page.printer import format_number
from attncli.page.view import View, chosen_steps
from attncli.problem.matrix import Matrix
from attncli.tracing.model import Trace, hides_keys
from attncli.tracing.slices import backward_steps, loss_steps

# What a sheet has room for at its top, and for how many letters.
FIELDS = {"Name": 24, "Date": 12, "Marks": 8}
# Whoever marks the sheet writes here, and not who hands it in.
MARKS = "Marks"


class Worth(NamedTuple):
    """What a sheet is worth: the marks of the whole, and those of each step that has some, as they
    are written.
    """

    of: int
    steps: Mapping[str, str]


def worksheet(
    trace: Trace,
    view: View,
    asked: Sequence[str] = (),
    copies: int = 1,
    *,
    fields: Sequence[str] = tuple(FIELDS),
    compact: bool = False,
    worth: Worth | None = None,
    decimals: int | None = None,
) -> Document:
    """The page for this view, whose `blank` steps have room for numbers, and no line that gives
    these numbers away.

    Given numbers have all the digits that the answers are judged by. If only some of the blank
    steps are `asked` for, the note at the beginning says so, what they are `worth`, and how many
    `decimals` they need; by default as many as the page shows. At the top is room for these
    `fields`.
    A `compact` page has the formulas of all steps to fill in in one paragraph, and their matrices
    below it.
    """
    page = _page(trace, view)
    blocks = tuple(_compact(page.blocks, "What is to be worked out")) if compact else page.blocks
    said = _what_to_do(trace, asked, worth)
    head: list[Block] = []
    if fields:
        head.append(Paragraph(_room_for(fields, worth)))
    if "weights" in view.blank and hides_keys(trace):
        said += " Where the mask hides a key, the weight is 0: write 0."
    needed = view.precision if decimals is None else decimals
    note = Paragraph((f"{said} {_rounding(needed)}",), "note")
    # What begins a page in a browser says what attention does: that is the method.
    opening = page.opening if view.explains else ""
    return replace(page, blocks=(*head, note, *blocks), copies=copies, opening=opening)


def _what_to_do(trace: Trace, asked: Sequence[str], worth: Worth | None) -> str:
    if asked:
        results = listed([f"the {_with_marks(trace, name, worth)}" for name in asked])
        return (
            f"Hand in {results}. The other steps bring no marks: their room is for your work, from"
            " the first step to the last. But an error in one of them costs marks, once."
        )
    said = "Work through the steps from the first to the last, and write a number on every line."
    if worth is not None:
        marks = listed([_with_marks(trace, name, worth) for name in worth.steps])
        said += f" What they are worth: {marks}."
    return said


def _with_marks(trace: Trace, name: str, worth: Worth | None) -> str:
    """scores (4.5 marks), or scores alone where they have none."""
    title = trace.steps[name].rule.title.lower()
    if worth is None or name not in worth.steps:
        return title
    marks = worth.steps[name]
    return f"{title} ({marks} {'mark' if marks == '1' else 'marks'})"


def _room_for(fields: Sequence[str], worth: Worth | None) -> Text:
    """Name: ..........   Date: ......   Marks: .... of 20"""
    room: list[str] = []
    for field in fields:
        before = "   " if room else ""
        # Underscores would be read as blanks for numbers.
        dots = FIELDS[field] * "."
        room += [f"{before}{field}: ", dots if field == MARKS else Field(field, FIELDS[field])]
    if worth is not None and fields[-1] == MARKS:
        room.append(f" of {worth.of}")
    return tuple(room)


def _compact(
    blocks: Iterable[Block], heading: str, *, with_numbers: bool = False
) -> Iterator[Block]:
    """The blocks, with one paragraph and then the matrices in the place of steps to fill in that
    follow each other, or of steps with their numbers.
    """
    steps: list[Sequence[Block]] = []
    for section in _sections(blocks):
        if _is_step(section) and (with_numbers or _has_room(section)):
            steps.append(section)
            continue
        yield from _together(steps, heading)
        yield from section
        steps = []
    yield from _together(steps, heading)


def _sections(blocks: Iterable[Block]) -> Iterator[Sequence[Block]]:
    """The blocks, cut before each heading."""
    section: list[Block] = []
    for block in blocks:
        if section and isinstance(block, Heading):
            yield section
            section = []
        section.append(block)
    yield section


def _is_step(section: Sequence[Block]) -> bool:
    """Whether it is a step with a formula, and nothing below it but its matrix."""
    match section:
        case [Heading(), Formula(equation=Equation()), Grid()]:
            return True
        case _:
            return False


def _has_room(section: Sequence[Block]) -> bool:
    """Whether nothing stands in the matrix of a step."""
    matrix = section[-1]
    assert isinstance(matrix, Grid)
    return not any(cell.text for row in matrix.cells for cell in row)


def _together(steps: Sequence[Sequence[Block]], title: str) -> Iterator[Block]:
    said: list[str | Math] = []
    matrices: list[Block] = []
    for heading, formula, matrix in steps:
        assert isinstance(heading, Heading)
        assert isinstance(formula, Formula)
        assert isinstance(formula.equation, Equation)
        before = "; " if said else ""
        said.append(f"{before}({heading.number})\u00a0{heading.text}: ")
        said += [Math(formula.equation.target), " = ", Math(formula.equation.expression)]
        matrices.append(matrix)
    if said:
        yield Heading(title)
        yield Paragraph((*said, "."))
        yield from matrices


def _rounding(decimals: int) -> str:
    """How precise a number has to be, for a student."""
    exact = "You can also write an exact number, such as 7/10 or √3."
    if not decimals:
        return f"Round every number to a whole number. {exact}"
    example = format_number(0.123456789, decimals)
    return f"Give {count(decimals, 'decimal')}, as in {example}; a whole number needs none. {exact}"


def longest_given(trace: Trace) -> tuple[str, int]:
    """The given array whose numbers have most decimals, and how many these are."""
    longest = (0, "")
    for step in trace.steps.values():
        if step.rule.given and step.written is None:
            decimals = max(map(_decimals_of, step.value.ravel().tolist()))
            longest = max(longest, (decimals, step.name))
    most, name = longest
    return name, most


def _decimals_of(number: float) -> int:
    """How many digits stand after the point: 2 of 0.25."""
    _, _, decimals = repr(number).partition(".")
    return len(decimals)


def answer_key(trace: Trace, view: View, audit: Audit) -> Document:
    """The page for this view with all of its numbers; last, for the teacher, which mistakes they
    show.
    """
    page = _page(trace, replace(view, blank=frozenset()))
    return _as_key(page, (*page.blocks, *audit_blocks(audit)))


def compact_key(trace: Trace, view: View) -> Document:
    """The matrices of all steps, side by side, as a compact worksheet has them."""
    page = _page(trace, replace(view, detail="brief", blank=frozenset()))
    blocks = _compact(page.blocks, "What comes out", with_numbers=True)
    return _as_key(page, tuple(blocks))


def _as_key(page: Document, blocks: tuple[Block, ...]) -> Document:
    title = "Key"
    if page.title:
        title = f"Key: {page.title}"
    return replace(page, title=title, blocks=blocks)


def _page(trace: Trace, view: View) -> Document:
    # A student needs all that is given in one place.
    view = replace(view, in_full=True, short=False, forward=True)
    return gradient_page(trace, view) if backward_steps(trace) else derivation(trace, view)


def blank_steps(trace: Trace, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The steps to leave blank, all that are worked out or those of these names, in the order of
    the trace.

    Of a trace with its gradient these are all of the loss and of the backward pass; the forward
    pass stays. A mask that the problem gives as a matrix stays, too, since the page has that matrix
    nowhere else.

    With a step all are blank that only copy it, as K_T copies K. Raises AttncliError (exit 2) for a
    name that is none, and for an array that the problem gives.
    """
    if names is None:
        asked = (*loss_steps(trace), *backward_steps(trace)) or tuple(trace.steps)
        return tuple(
            name
            for name in asked
            if not (trace.steps[name].rule.given or _shows_a_given_matrix(trace, name))
        )
    chosen = chosen_steps(trace, names)
    if given := [name for name in chosen if trace.steps[name].rule.given]:
        raise usage_error(
            f"{listed(given)} cannot be blank: the problem gives"
            f" {'it' if len(given) == 1 else 'them'}",
            help=(
                "the steps that can be blank are"
                f" {listed([step.name for step in trace.computed()])}"
            ),
        )
    blank = set(chosen)
    for step in trace.computed():
        if step.rule.is_copy and blank.intersection(step.rule.inputs):
            blank.add(step.name)
    return tuple(name for name in trace.steps if name in blank)


def _shows_a_given_matrix(trace: Trace, name: str) -> bool:
    """Whether a step is worked out from a matrix that is no step, as a mask is from `keep`."""
    for read in trace.steps[name].rule.inputs:
        given = trace.parameters.get(read)
        if isinstance(given, Matrix) and given.ndim > 1:
            return True
    return False
