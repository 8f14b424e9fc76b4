"""What explains the wrong numbers: each mistake with the equation it makes of a step, and a cell
worked by that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attncli.attention.registry import cell_form
from attncli.english import count, either
from attncli.equation.symbols import unicode_name
from attncli.features.check.cell_values import CellIndex, CellValues
from attncli.features.check.diagnosis import (
    ROUNDED_ON_THE_WAY,
    Diagnosis,
)
from attncli.features.check.trials import (
    left_out_before,
)
from attncli.features.check.verdicts import Judgement
from attncli.features.check.worked import worked_from_own_numbers, worked_with_error
from attncli.mistakes.alike import groups_of_alike, shared_words
from attncli.mistakes.catalogue import changes_of
from attncli.mistakes.misread import misread_of
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import with_changes
from attncli.page.document import (
    Block,
    Formula,
    Heading,
    Paragraph,
    Worked,
    WorkedLine,
    with_symbols,
)
from attncli.tracing.model import Step, cell_text

# So many cells are named one by one; of more, only their number is said.
MOST_CELLS_NAMED = 4
# A cell in the name of a mistake, Q[1][1], with the sign of a product before it; or a row, Q[1],
# or a column, Q[:, 1].
_CELL = re.compile(r"(?P<times>·)?(?P<step>[A-Za-z_]\w*)(?P<places>(?:\[(?:[0-9]+|:, [0-9]+)\])+)")
_PLACES = re.compile(r"[0-9]+")


def diagnosis_blocks(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> Iterator[Block]:
    """A paragraph for every step that is explained; below it what the mistake makes of the
    equations.
    """
    if diagnoses:
        yield Heading("What explains the errors")
    for found in diagnoses:
        yield from _of_one_step(judgement, found)


def _of_one_step(judgement: Judgement, found: Diagnosis) -> Iterator[Block]:
    first, *others = found.mistakes
    sentence = _sentence(judgement, found, first) + _slips(judgement, found)
    yield Paragraph(with_symbols(sentence))
    yield from _made(judgement, found, first)
    for other in others:
        said = f"Or {with_labels(judgement, other)}."
        if other == others[-1]:
            said += f" {_alike(len(found.mistakes))} these numbers."
        yield Paragraph(with_symbols(said))
        yield from _made(judgement, found, other)
    for said in shared(judgement, found):
        yield Paragraph((said,))


def _sentence(judgement: Judgement, found: Diagnosis, mistake: str) -> str:
    """scores: perhaps K was not transposed. This would explain 2 of 3 wrong cells (I; AI).

    scores, I → AI: the sign is wrong. This explains the wrong cell.
    """
    perhaps, explains = "", "This explains"
    if not found.likely:
        perhaps, explains = "perhaps ", "This would explain"
    where, what = found.step, explained(judgement, found)
    cells = _cells(judgement, found.step, found.cells)
    if found.error is not None and len(found.cells) == 1:
        where += f", {cells}" if cells else ""
    elif not found.whole and len(found.cells) <= MOST_CELLS_NAMED:
        what += f" ({cells})"
    said = with_labels(judgement, mistake)
    return f"{where}: {perhaps}{said}{_rounding(found)}. {explains} {what}."


def with_labels(judgement: Judgement, mistake: str) -> str:
    """A mistake with cells called as the page calls them: Q of love, d2 for Q[1][1]; rows and
    columns, too: love of Q for Q[1], and d2 of Q for Q[:, 1].
    """
    steps = judgement.trace.steps

    def labelled(found: re.Match[str]) -> str:
        step = steps.get(found["step"])
        called = "" if step is None else _called(step, found["places"])
        times = " times " if found["times"] and called else ""
        return f"{times}{called}" or found[0]

    return _CELL.sub(labelled, mistake)


def _called(step: Step, places: str) -> str:
    """What the page calls a cell, a row or a column of a step; nothing for what it has not."""
    index = tuple(map(int, _PLACES.findall(places)))
    if ":" in places:
        labels = (*step.labels[:-2], *step.labels[-1:])
        of_columns = tuple(map(len, labels))
        if _is_inside(index, of_columns):
            column = cell_text(labels, index, of_pairs=False, in_sentence=True)
            return f"{column} of {step.name}"
    elif _is_inside(index, step.shape[:-1]):
        return f"{step.row_label(index, in_sentence=True)} of {step.name}"
    elif _is_inside(index, step.shape):
        return f"{step.name} of {step.cell_label(index, in_sentence=True)}"
    return ""


def _is_inside(index: CellIndex, shape: tuple[int, ...]) -> bool:
    return len(index) == len(shape) and all(
        place < length for place, length in zip(index, shape, strict=True)
    )


def shared(judgement: Judgement, found: Diagnosis) -> list[str]:
    """What those of its mistakes do that are one in the numbers of this problem."""
    trace = judgement.trace
    made = {}
    for name in found.mistakes:
        changes = changes_of(name, trace)
        if changes:
            made[name] = MistakenTrace(trace, changes)
    if len(made) < 2:
        return []
    said = []
    for names in groups_of_alike(made):
        if len(names) > 1:
            first = made[names[0]]
            said.append(shared_words(trace, names, first))
    return said


def _alike(mistakes: int) -> str:
    return "Both mistakes give" if mistakes == 2 else f"All {mistakes} mistakes give"


def _slips(judgement: Judgement, found: Diagnosis) -> str:
    """What is said of the cells that have an error of their own beside the mistake."""
    if not found.slips:
        return ""
    number, where = len(found.slips), _cells(judgement, found.step, found.slips)
    return either(
        number,
        f" The other one, {where}, has a slip of its own.",
        f" The other {number} have slips of their own: {where}.",
    )


def _rounding(found: Diagnosis) -> str:
    """What was done to the steps that were left out, if that has to be known."""
    if found.rounded is None:
        return ""
    to = count(found.rounded, "decimal") if found.rounded else "whole numbers"
    if found.forward_in_full:
        to += ", the forward pass only at its end"
    if ROUNDED_ON_THE_WAY in found.mistakes:
        return f", to {to}"
    return f", and the steps between were rounded to {to}"


def diagnosis_data(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    """One entry for every mistake; `alike` are those that give the same numbers, and `shared` is
    what they do.
    """
    entries = []
    for found in diagnoses:
        said = shared(judgement, found)
        for name in found.mistakes:
            _, changed_steps = _mistaken(judgement, name)
            entry = {
                "mistake": name,
                "step": found.step,
                "explains": explained(judgement, found),
                "likely": found.likely,
                "cells": [list(cell) for cell in found.cells],
                "slips": [list(cell) for cell in found.slips],
                "alike": [other for other in found.mistakes if other != name],
                "shared": list(said),
                "rounded_to": found.rounded,
                "there_in_full": found.forward_in_full,
                "equations": [step.rule.source for step in changed_steps],
            }
            entries.append(entry)
    return entries


def explained(judgement: Judgement, found: Diagnosis) -> str:
    """How much of its step a mistake explains: all 9 cells, 8 of 9 cells, the one wrong cell, 2 of
    3 wrong cells.
    """
    cells = judgement.steps[found.step].ravel()
    filled = sum(cell.given is not None for cell in cells)
    wrong = sum(cell.verdict == "wrong" for cell in cells)
    explained = len(found.cells)
    if found.slips:
        return f"{filled - len(found.slips):,} of {filled:,} cells"
    if found.whole and filled > 1:
        return "both cells" if filled == 2 else f"all {filled:,} cells"
    if explained == wrong == 1:
        return "the wrong cell"
    if explained == wrong == 2:
        return "both wrong cells"
    if explained == wrong:
        return f"all {wrong:,} wrong cells"
    return f"{explained:,} of {wrong:,} wrong cells"


def _cells(judgement: Judgement, step: str, cells: Sequence[CellIndex]) -> str:
    labels = judgement.trace.steps[step]
    return "; ".join(labels.cell_label(cell, in_sentence=True) for cell in cells)


def _made(judgement: Judgement, found: Diagnosis, name: str) -> Iterator[Block]:
    """The equations of a mistake that lead to the step, and the first cell worked with them; of an
    error in one cell just that cell.
    """
    error = found.error
    if error is not None and error.on_the_way and error.name == name:
        line = worked_with_error(judgement, found.step, found.cells[0], error)
        yield Worked((line,))
    mistaken, steps = _mistaken(judgement, name)
    leading = left_out_before(mistaken.trace, judgement.answers, found.step)
    made = [step for step in steps if step.name in leading]
    # What was read in the place of something else is said in words, and would be a long equation.
    is_misread = bool(misread_of(name, judgement.trace))
    for step in [] if is_misread else made:
        yield Formula(cell_form(step.rule))
    if made:
        yield Worked(tuple(_worked(judgement, mistaken, step, found) for step in made))


def _worked(judgement: Judgement, mistaken: Judgement, step: Step, found: Diagnosis) -> WorkedLine:
    """A cell worked with the mistake; one of a step that was left out is called by the step's name
    and letter.
    """
    cell = found.cells[0]
    claim = judgement.steps[found.step][cell].given
    # A step that was left out shows where it is another one: a mask often shows the same key.
    if step.name != found.step and not _is_changed(judgement, mistaken, step, cell):
        cell = _first_changed_cell(judgement.values, mistaken.values, step)
    line = worked_from_own_numbers(mistaken, step.name, cell, as_precise_as=claim)
    if step.name == found.step:
        return line
    letter = unicode_name(step.rule.symbol)
    named = step.name if letter == step.name else f"{step.name} ({letter})"
    return line._replace(label=f"{named}, {line.label}" if cell else named)


def _is_changed(judgement: Judgement, mistaken: Judgement, step: Step, cell: CellIndex) -> bool:
    """Whether a cell is one of this step, and another number with the mistake."""
    if not _is_inside(cell, step.shape):
        return False
    return judgement.values.own(step.name, cell) != mistaken.values.own(step.name, cell)


def _first_changed_cell(values: CellValues, mistaken: CellValues, step: Step) -> CellIndex:
    """The first cell of a step that is another number with the mistake."""
    for cell in np.ndindex(step.shape):
        right = values.own(step.name, cell)
        if mistaken.own(step.name, cell) != right:
            return cell
    return (0,) * len(step.shape)


def _mistaken(judgement: Judgement, name: str) -> tuple[Judgement, list[Step]]:
    """The solution by the equations of a mistake, and the steps that have another one, in the order
    of work: none for an error in one cell, or for rounding.
    """
    changes = changes_of(name, judgement.trace)
    trace = with_changes(judgement.trace, changes)
    changed_steps = [step for name, step in trace.steps.items() if name in changes]
    computed = [step for step in changed_steps if not step.rule.given]
    values = judgement.values.changed(trace, changes)
    return replace(judgement, values=values), computed
