"""The page of a function that was tested: what it does, and each mistake with the smallest case
that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.registry import cell_form
from attncli.english import count, either, listed, shape_text
from attncli.page.document import (
    Block,
    Document,
    Formula,
    Heading,
    Paragraph,
    Table,
    Text,
    Worked,
    WorkedLine,
)
from attncli.page.printer import Printer, format_number, number_node
from attncli.page.worked.worked_line import worked_line
from attncli.testing.asking import CaseResult
from attncli.testing.case import Case, PerHead
from attncli.testing.data import trial_data
from attncli.testing.diagnosis import Finding, differing, explanations, unexplained
from attncli.testing.facts import NOT_ASKED, missing
from attncli.testing.judgement import Expected
from attncli.testing.pattern import patterns
from attncli.testing.smallest import first_wrong_cell, smallest_problem, truth_of
from attncli.testing.trial import Trial
from attncli.tracing.model import Step

MOST_CASES_NAMED = 6
MOST_TERMS_SHOWN = 12
# What a number of a window means, by the fact of it.
WINDOWS = {
    "with the token itself": "with the token itself: 2 are itself and 1 before",
    "beside the token itself": "beside the token itself: 2 are 2 before",
    "with the token itself, to both sides": (
        "with the token itself, to both sides: 2 are itself, 1 before and 1 behind"
    ),
    "beside the token itself, to both sides": (
        "beside the token itself, to both sides: 2 are 2 before and 2 behind"
    ),
}
# Of gradients whose output is wrong already.
NOT_JUDGED = "not judged"
BLIND_IS_OTHER = "A query that sees no key gets neither 0, nor NaN, nor the average."


def trial_page(trial: Trial, precision: int = 3) -> Document:
    """The page; its data is that of `attncli test --format json`."""
    blocks = tuple(_blocks(trial, precision))
    return Document(f"{trial.name}: tested", blocks, lambda: trial_data(trial))


def case_page(result: CaseResult, precision: int = 3) -> Document:
    """The page of one case that differs."""
    found = explanations((result,))
    names = ", or ".join(found[0].mistakes) if found else ""
    title = f"{result.case.name}: {names or 'its output differs'}"
    blocks = tuple(_case_blocks(result, found, precision))
    return Document(title, blocks, dict)


def _case_blocks(result: CaseResult, found: Sequence[Finding], precision: int) -> Iterator[Block]:
    explained = found[0] if found else None
    if explained is None:
        yield Paragraph(("No mistake that attncli knows gives this output.",))
    elif len(explained.mistakes) > 1:
        yield Paragraph(("This case does not tell these mistakes apart.",))
    if wrong := first_wrong_cell(result):
        place = ", ".join(map(str, wrong.cell))
        yield Paragraph((f"The first wrong number is {wrong.step}[{place}].",))
    smallest = smallest_problem(result, explained)
    yield Paragraph(_described(smallest.case, "The problem"))
    yield from _wrong_cell(smallest, explained, precision)


def _blocks(trial: Trial, precision: int) -> Iterator[Block]:
    yield Paragraph((answer_of(trial),))
    for said in trial.remarks:
        yield Paragraph((said,), "warning")
    if all(each.output is None for each in trial.results):
        yield from _failed(trial.results)
        return
    yield Heading("What it does")
    asked = {name: words for name, words in trial.facts.items() if words != NOT_ASKED}
    rows = [((name,), (WINDOWS.get(words, words),)) for name, words in asked.items()]
    yield Table(("what", "how"), tuple(rows))
    if lacking := missing(trial.facts):
        yield Paragraph((f"Not asked, since {trial.not_asked}: {listed(lacking)}.",))
    for each in trial.explanations:
        yield from _explained(each, trial, precision)
    yield from _unexplained(trial, precision)
    yield from _failed(trial.results)
    yield Heading("The cases")
    yield _cases(trial.results)


def answer_of(trial: Trial) -> str:
    """Whether it is attention, in a sentence."""
    asked = [each for each in trial.results if each.result != "not asked"]
    wrong = len(differing(trial.results))
    failed = [each for each in asked if each.result == "error"]
    if len(failed) == len(asked):
        is_called = any(not each.is_raised for each in failed)
        why = "what it returns cannot be judged" if is_called else "every call of it failed"
        return f"It could not be tested: {why}."
    if trial.agrees:
        agree = _of(len(asked), len(asked), "agrees", "agree")
        return f"{_RIGHT[_asked_for(trial)]}, as far as it was asked: {agree}."
    said = [_of(wrong, len(asked), "differs", "differ")] if wrong else []
    if not wrong and not failed:
        said.append("something else is meant by --as")
    if failed:
        said.append(_of(len(failed), len(asked), "fails", "fail"))
    return f"{_wrong(trial)}: {listed(said)}."


def _asked_for(trial: Trial) -> str:
    """What is judged: outputs, gradients, or both."""
    if not trial.backward:
        return "output"
    return "both" if any(each.forward for each in trial.results) else "gradients"


# What is right where all is.
_RIGHT = {
    "output": "It is attention",
    "gradients": "Its gradients are those of attention",
    "both": "It is attention, and its gradients are right",
}


def _wrong(trial: Trial) -> str:
    """What is wrong, in a few words."""
    wrong = [each for each in trial.results if each.result in ("differs", "error")]
    if not wrong or not all(each.is_of_gradients for each in wrong):
        return "Something is wrong"
    if _asked_for(trial) == "both":
        return "Its output is right, but its gradients are not"
    return "Its gradients are wrong"


def _of(number: int, total: int, one: str, many: str) -> str:
    if number == total == 1:
        return f"its one case {one}"
    if number == total:
        return f"all {count(total, 'case')} {many}"
    return f"{number} of {count(total, 'case')} {either(number, one, many)}"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _explained(found: Finding, trial: Trial, precision: int) -> Iterator[Block]:
    """A mistake, the cases that it explains, and the smallest of them worked out."""
    first, *others = found.mistakes
    yield Heading(_sentence(first))
    if not found.results:
        yield Paragraph((found.advice,))
        return
    wrong = differing(trial.results)
    names = [each.case.name for each in found.results]
    is_all = len(names) == len(wrong)
    which = "what differs" if is_all else f"{len(names)} of the {count(len(wrong), 'case')}"
    said = f"This explains {which}: {_named(names)}."
    if found.beside:
        said += f" It comes beside another mistake: {listed(found.beside)}."
    if others:
        said += f" No case tells it apart from another: {listed(others, last='or')}."
    yield Paragraph((said,))
    smallest = smallest_problem(found.smallest, found)
    yield Paragraph(_described(smallest.case))
    yield from _wrong_cell(smallest, found, precision)


def _described(case: Case, lead: str = "The smallest") -> Text:
    """A case in a sentence: its sizes, and what is asked."""
    asked = ", ".join(_setting(role, value) for role, value in case.asks.items())
    also = f"; {asked}" if asked else ""
    return (f"{lead}: “{case.name}” ({', '.join(case.sizes)}{also}).",)


def _setting(role: str, value: Any) -> str:
    if isinstance(value, PerHead):
        return f"{role} {listed([f'{each:g}' for each in value.numbers.tolist()])}"
    if isinstance(value, np.ndarray):
        return f"a mask of {shape_text(value.shape)}"
    if isinstance(value, Mapping):
        return f"{role} {value['rope_type']}"
    return role if value is True else f"{role} {value:g}"


def _wrong_cell(result: CaseResult, found: Finding | None, precision: int) -> Iterator[Block]:
    """The first cell of the output that differs: what came out, and what is right, worked."""
    wrong = first_wrong_cell(result)
    if wrong is None:
        if result.agreement is not None and result.agreement.blind == "other":
            yield Paragraph((BLIND_IS_OTHER,))
        return
    assert result.output is not None
    right = truth_of(result) if found is not None and found.beside else result.right
    name, cell = wrong
    step = right.trace.steps[name]
    given = float(right.part(result.output, name)[cell])
    digits = _digits(given, float(step.value[cell]), precision)
    in_full = _is_short(right, step)
    work = worked_line(Printer(right.trace, digits), step, cell, in_full=in_full)
    lines = [
        WorkedLine("it gave", result=number_node(format_number(given, digits))),
        work._replace(label="right"),
    ]
    if result.is_of_gradients:
        yield Paragraph((_which_differ(result, right),))
    what = f"of {right.symbol(name)}" if result.is_of_gradients else "of its output"
    yield Paragraph((f"The first wrong cell {what} is {step.cell_label(cell)}:",))
    yield Worked(tuple(lines))
    if found is not None:
        for mistake in found.mistakes:
            yield from _made(result.right, found, mistake, cell, precision)


def _which_differ(result: CaseResult, right: Expected) -> str:
    """Which gradients are right, in a sentence."""
    assert result.output is not None
    cells = right.wrong_cells(result.output)
    wrong = [name for name in right.judged if right.part(cells, name).any()]
    names = [right.symbol(name) for name in wrong]
    said = f"{listed(names)} {either(len(names), 'differs', 'differ')}"
    others = [right.symbol(name) for name in right.judged if name not in wrong]
    if others:
        said += f"; {listed(others)} {either(len(others), 'is', 'are')} right"
    return f"{said}."


def _is_short(expected: Expected, step: Step) -> bool:
    """Whether the sums of a step have so few terms that all are shown."""
    sizes = expected.trace.sizes(step.rule.equation)
    summed = sizes.keys() - set(step.rule.target.letters)
    return prod(sizes[letter] for letter in summed) <= MOST_TERMS_SHOWN


def _digits(one: float, other: float, precision: int) -> int:
    """So many decimals that two numbers do not look alike."""
    digits = precision
    while digits < 12 and format_number(one, digits) == format_number(other, digits):
        digits += 1
    return digits


def _made(
    right: Expected, found: Finding, mistake: str, cell: tuple[int, ...], precision: int
) -> Iterator[Block]:
    """What a mistake makes of the first equation that it changes, worked in a cell of this row."""
    if mistake not in right.changes:
        return
    changed = right.assuming(mistake).trace
    name = right.with_mistake(mistake).trace.first_changed
    own, made = right.trace.steps[name], changed.steps[name]
    if made.rule.given or made.rule.expression is None:
        return
    place = _place(own.value, made.value, cell)
    in_full = _is_short(right, own)
    printer = Printer(changed, precision)
    with_it = worked_line(printer, made, place, in_full=in_full)
    without = worked_line(Printer(right.trace, precision), own, place, in_full=in_full)
    # The other mistakes are still in what this one alone is left out of.
    label = "without it" if found.beside else "right"
    which = f"the mistake “{mistake}”" if len(found.mistakes) > 1 else "this mistake"
    yield Paragraph((f"With {which} the step {name} is",))
    yield Formula(printer.formula(cell_form(made.rule)))
    yield Worked((with_it._replace(label="with it"), without._replace(label=label)))


def _place(own: NDArray[Any], made: NDArray[Any], cell: tuple[int, ...]) -> tuple[int, ...]:
    """A cell that a mistake changes: in the row of this one, if there is one."""
    is_alike = np.isclose(own, made, rtol=1e-9, atol=0, equal_nan=True)
    differs: NDArray[np.bool_] = ~is_alike
    row = cell[:-1]
    if differs.ndim == len(cell) and differs[row].any():
        return (*row, int(np.argmax(differs[row])))
    places = np.argwhere(differs)
    if not len(places):
        return (0,) * differs.ndim
    first: list[int] = places[0].tolist()
    return tuple(first)


def _unexplained(trial: Trial, precision: int) -> Iterator[Block]:
    left = unexplained(trial.results, trial.explanations)
    if not left:
        return
    yield Heading("What no known mistake explains")
    names = _named([each.case.name for each in left])
    differ = either(len(left), "One case differs", f"{len(left)} cases differ")
    yield Paragraph((f"{differ} in a way that attncli has no name for: {names}.",))
    if said := patterns(trial.results, left):
        yield Paragraph((" ".join(said),))
    smallest = smallest_problem(left[0])
    yield Paragraph(_described(smallest.case))
    yield from _wrong_cell(smallest, None, precision)


def _failed(results: Sequence[CaseResult]) -> Iterator[Block]:
    """The errors there were, each with its cases."""
    cases: dict[str, list[str]] = {}
    for each in results:
        if each.result == "error":
            cases.setdefault(each.error, []).append(each.case.name)
    if not cases:
        return
    yield Heading("What failed")
    rows = tuple(((_named(names),), (error,)) for error, names in cases.items())
    yield Table(("case", "error"), rows)


def _named(cases: Sequence[str]) -> str:
    """The names of cases; the first of many, and how many more there are."""
    shown = [f"“{name}”" for name in cases[:MOST_CASES_NAMED]]
    more = len(cases) - len(shown)
    if more > 0:
        return f"{', '.join(shown)} and {count(more, 'more case')}"
    return listed(shown)


def _cases(results: Sequence[CaseResult]) -> Table:
    """What came of each case that was asked."""
    asked = [each for each in results if each.result != NOT_ASKED]
    if not any(each.forward for each in asked):
        rows = tuple(((each.case.name,), (each.result,)) for each in asked)
        return Table(("case", "result"), rows)
    both = []
    for each in asked:
        output = each.forward or each
        gradients = each.result if each.is_of_gradients else NOT_JUDGED
        both.append(((each.case.name,), (output.result,), (gradients,)))
    return Table(("case", "output", "gradients"), tuple(both))
