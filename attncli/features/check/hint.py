"""What comes next in a solution that is not finished, in as many words as are asked for, and
without a number that could be copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncli.attention.registry import cell_form, headline
from attncli.english import count, either
from attncli.equation.nodes import Name
from attncli.features.check.verdicts import Judgement, Solution, indices_where
from attncli.page.document import Block, Document, Formula, Math, Paragraph, Text
from attncli.page.printer import Printer
from attncli.tracing.model import Step

# A name, what is done in words, and the formula.
MOST_WORDS = 3


def hint_page(solution: Solution, words: int) -> Document:
    """One sentence on what to do next; with more `words` also what the step means, and its
    formula.
    """
    judgement = solution.verdicts
    step, text = _next(judgement)
    if step is None and not solution.passed:
        step, text = _to_be_looked_at(judgement)

    def data() -> dict[str, Any]:
        return {"next": None if step is None else step.name}

    title = judgement.trace.title or judgement.answers.name
    return Document(f"{title}: what comes next", tuple(_blocks(judgement, step, text, words)), data)


def _blocks(judgement: Judgement, step: Step | None, text: Text, words: int) -> Iterator[Block]:
    yield Paragraph(text)
    if step is None:
        return
    printer = Printer(judgement.trace, 3)
    if words > 1:
        yield Paragraph(printer.prose(step.rule.meaning[0].upper() + step.rule.meaning[1:]))
    if words < MOST_WORDS or step.rule.given:
        return
    formula = headline(step.rule)
    if formula is not None:
        yield Formula(printer.formula(formula))
    yield Formula(printer.formula(cell_form(step.rule)))


def _next(judgement: Judgement) -> tuple[Step | None, Text]:
    """The step that comes next, and what to say of it; no step where all are there."""
    steps = judgement.trace.steps
    if judgement.first_wrong is not None:
        wrong = steps[judgement.first_wrong[0]]
        return wrong, (*_called(wrong), " has a number that is not right: look at it again first.")
    computed = [name for name, step in steps.items() if not step.rule.given]
    begun = [name for name in computed if _filled(judgement, name)]
    # Who writes the weights without the exponentials has worked those out, too.
    last = computed.index(begun[-1]) if begun else -1
    if begun and (blank := _blank(judgement, begun[-1])):
        step = steps[begun[-1]]
        return step, (*_called(step), f" is next: {count(blank, 'number')} of it to go.")
    if last + 1 == len(computed):
        return None, ("All steps are there.",)
    following = steps[computed[last + 1]]
    return following, (*_called(following), f" is next: {following.rule.title.lower()}.")


def _to_be_looked_at(judgement: Judgement) -> tuple[Step | None, Text]:
    """The first step that is not finished, or has a number that is off by one, where all steps are
    there.
    """
    for name, cells in judgement.steps.items():
        step = judgement.trace.steps[name]
        if _filled(judgement, name) and (blank := len(indices_where(cells, "missing"))):
            to_go = f" is not finished: {count(blank, 'number')} of it to go."
            return step, ("All steps are there, but ", *_called(step), to_go)
        if off := len(indices_where(cells, "rounding")):
            are = either(off, "is off by one in its last digit", "are off by one in the last digit")
            said = f" {are}: round again."
            return step, (f"All steps are there. {count(off, 'number')} of ", *_called(step), said)
    return None, ("All steps are there.",)


def _called(step: Step) -> Text:
    return (Math(Name(step.rule.symbol)),)


def _filled(judgement: Judgement, name: str) -> bool:
    answer = judgement.answers.steps.get(name)
    return answer is not None and not answer.blank


def _blank(judgement: Judgement, name: str) -> int:
    answer = judgement.answers.steps[name]
    return int(answer.cells.size) - len(answer.claims)
