"""What explains the wrong numbers: each mistake with the equation it makes of a step, and a cell
worked by that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attncli.attention.registry import cell_form
from attncli.english import count, either
from attncli.equation.symbols import unicode_name
from attncli.features.check.carried_values import CarriedValues, CellIndex
from attncli.features.check.diagnosis import ROUNDED_ON_THE_WAY, Diagnosis, left_out_before
from attncli.features.check.verdicts import Judgement
from attncli.features.check.worked import worked_from_own_numbers, worked_with_error
from attncli.mistakes.alike import groups_of_alike, shared_words
from attncli.mistakes.catalogue import changes_of
from attncli.mistakes.mistaken import Mistaken
from attncli.mistakes.model import with_changes
from attncli.page.document import Block, Formula, Heading, Paragraph, Worked, WorkedLine
from attncli.tracing.model import Step

# So many cells are named one by one; of more, only their number is said.
MOST_CELLS_NAMED = 4


def diagnosis_blocks(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> Iterator[Block]:
    """A paragraph for every step that is explained; below it what the mistake makes of the
    equations.
    """
    if diagnoses:
        yield Heading("What explains the errors")
    for found in diagnoses:
        first, *others = found.mistakes
        perhaps, explains = (
            ("", "This explains") if found.likely else ("perhaps ", "This would explain")
        )
        where = (
            ""
            if found.whole or len(found.cells) > MOST_CELLS_NAMED
            else f" ({_cells(judgement, found.step, found.cells)})"
        )
        said = (
            f"{found.step}: {perhaps}{first}{_rounding(found)}. {explains}"
            f" {explained(judgement, found)}{where}."
        )
        yield Paragraph((said + _slips(judgement, found),))
        yield from _made(judgement, found, first)
        for other in others:
            alike = "" if other != others[-1] else f" {_alike(len(found.mistakes))} these numbers."
            yield Paragraph((f"Or {other}.{alike}",))
            yield from _made(judgement, found, other)
        yield from (Paragraph((said,)) for said in shared(judgement, found))


def shared(judgement: Judgement, found: Diagnosis) -> list[str]:
    """What those of its mistakes do that are one in the numbers of this problem."""
    trace = judgement.trace
    changes = {name: of for name in found.mistakes if (of := changes_of(name, trace))}
    if len(changes) < 2:
        return []
    made = {name: Mistaken(trace, of) for name, of in changes.items()}
    groups = (names for names in groups_of_alike(made) if len(names) > 1)
    return [shared_words(trace, names, made[names[0]]) for names in groups]


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
    to += ", the forward pass only at its end" if found.forward_in_full else ""
    return (
        f", to {to}"
        if ROUNDED_ON_THE_WAY in found.mistakes
        else f", and the steps between were rounded to {to}"
    )


def diagnosis_data(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    """One entry for every mistake; `alike` are those that give the same numbers, and `shared` is
    what they do.
    """
    shared_by = [shared(judgement, found) for found in diagnoses]
    return [
        {
            "mistake": name,
            "step": found.step,
            "explains": explained(judgement, found),
            "likely": found.likely,
            "cells": [list(cell) for cell in found.cells],
            "slips": [list(cell) for cell in found.slips],
            "alike": [other for other in found.mistakes if other != name],
            "shared": shared_by[place],
            "rounded_to": found.rounded,
            "there_in_full": found.forward_in_full,
            "equations": [step.rule.source for step in _mistaken(judgement, name)[1]],
        }
        for place, found in enumerate(diagnoses)
        for name in found.mistakes
    ]


def explained(judgement: Judgement, found: Diagnosis) -> str:
    """How much of its step a mistake explains: all 9 cells, 8 of 9 cells, the one wrong cell, 2 of
    3 wrong cells.
    """
    cells = judgement.steps[found.step].ravel()
    filled = sum(cell.given is not None for cell in cells)
    wrong, explained = sum(cell.verdict == "wrong" for cell in cells), len(found.cells)
    if found.slips:
        return f"{filled - len(found.slips):,} of {filled:,} cells"
    if found.whole and filled > 1:
        return either(
            filled, "the one cell", "both cells" if filled == 2 else f"all {count(filled, 'cell')}"
        )
    if explained == wrong:
        return either(
            wrong,
            "the wrong cell",
            "both wrong cells" if wrong == 2 else f"all {wrong:,} wrong cells",
        )
    return f"{explained:,} of {wrong:,} wrong cells"


def _cells(judgement: Judgement, step: str, cells: Sequence[CellIndex]) -> str:
    return "; ".join(judgement.trace.steps[step].cell_label(cell) for cell in cells)


def _made(judgement: Judgement, found: Diagnosis, name: str) -> Iterator[Block]:
    """The equations of a mistake that lead to the step, and the first cell worked with them; of an
    error in one cell just that cell.
    """
    if found.error is not None and found.error.on_the_way and found.error.name == name:
        yield Worked((worked_with_error(judgement, found.step, found.cells[0], found.error),))
    mistaken, steps = _mistaken(judgement, name)
    leading = left_out_before(mistaken.trace, judgement.answers, found.step)
    made = [step for step in steps if step.name in leading]
    for step in made:
        yield Formula(cell_form(step.rule))
    if made:
        yield Worked(tuple(_worked(judgement, mistaken, step, found) for step in made))


def _worked(judgement: Judgement, mistaken: Judgement, step: Step, found: Diagnosis) -> WorkedLine:
    """A cell worked with the mistake; one of a step that was left out is called by the step's name
    and letter.
    """
    claim = judgement.steps[found.step][found.cells[0]].given
    same_shape = step.shape == judgement.steps[found.step].shape
    cell = (
        found.cells[0]
        if same_shape
        else _first_changed_cell(judgement.values, mistaken.values, step)
    )
    line = worked_from_own_numbers(mistaken, step.name, cell, as_precise_as=claim)
    if step.name == found.step:
        return line
    letter = unicode_name(step.rule.symbol)
    named = step.name if letter == step.name else f"{step.name} ({letter})"
    return line._replace(label=f"{named}, {line.label}" if cell else named)


def _first_changed_cell(values: CarriedValues, mistaken: CarriedValues, step: Step) -> CellIndex:
    """The first cell of a step that is another number with the mistake."""
    cells = list(np.ndindex(step.shape))
    return next(
        (cell for cell in cells if values.own(step.name, cell) != mistaken.own(step.name, cell)),
        cells[0],
    )


def _mistaken(judgement: Judgement, name: str) -> tuple[Judgement, list[Step]]:
    """The solution by the equations of a mistake, and the steps that have another one, in the order
    of work: none for an error in one cell, or for rounding.
    """
    changes = changes_of(name, judgement.trace)
    trace = with_changes(judgement.trace, changes)
    changed = [trace.steps[step] for step in trace if step in changes]
    steps = [step for step in changed if not step.rule.given]
    values = judgement.values.changed(trace, changes)
    return replace(judgement, values=values), steps
