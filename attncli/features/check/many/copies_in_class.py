"""What is alike in the rows of a class, and the notes that these rows get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from attncli.errors import AttncliError
from attncli.features.check.many.copies import Copies, Handed, Truth, copies
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.marking import name_of, problem_of
from attncli.features.check.many.result_row import Marked, Settings
from attncli.page.view import steps_back
from attncli.tracing import run


def copies_in(
    rows: Sequence[Marked], submissions: Iterable[Submission], settings: Settings
) -> Copies:
    """What is alike in the rows that were checked now; those of earlier results do not say what
    their students wrote. Whose answers cannot be read has a problem that others may have worked on.
    """
    handed = [
        Handed(row.student, row.problem, row.written) for row in rows if row.written is not None
    ]
    given: dict[str, object] = {}
    students: dict[str, list[str]] = defaultdict(list)
    for each in submissions:
        name = name_of(each.problem)
        given[name] = each.problem
        students[name].append(each.student)
    steps = {number.step for each in handed for number in each.written}
    gradient = bool(steps_back(tuple(steps)))
    return copies(handed, students, partial(_truth, given, settings, gradient))


def with_notes(rows: Sequence[Marked], found: Copies) -> list[Marked]:
    """The rows, each with what is to be said of its student."""
    noted = []
    for row in rows:
        is_old = row.written is None
        noted.append(row if is_old else replace(row, note=found.note(row.student)))
    return noted


def _truth(given: dict[str, object], settings: Settings, gradient: bool, name: str) -> Truth:
    """The numbers of a problem; none where it cannot be read."""
    try:
        trace = run(problem_of(given[name], settings), gradient=gradient)
    except AttncliError:
        return {}
    return {
        (step.name, index): float(number)
        for step in trace.steps.values()
        for index, number in np.ndenumerate(step.value)
    }
