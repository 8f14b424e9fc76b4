"""Solutions for Python: judge what somebody worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

from attncli.answers.reader import mentions_gradients, read_answers
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.page import check_page
from attncli.features.check.solution import Solution, judge_solution
from attncli.problem.model import Problem
from attncli.problem.source import decode, read_source
from attncli.render import Style, render


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A solution judged: a notebook shows it as the page of `attncli check`.

    `solution` holds the verdicts, `diagnoses` the known mistakes that give what is wrong.
    """

    solution: Solution
    diagnoses: tuple[Diagnosis, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong or missing, or, unless it was judged leniently, off by rounding."""
        return self.solution.passed

    def to_dict(self) -> dict[str, Any]:
        """The verdicts as JSON data, format 1: plain lists, numbers and strings."""
        return check_page(self.solution, diagnoses=self.diagnoses).data()

    def to_markdown(self) -> str:
        """The page as Markdown with dollar math."""
        return render(check_page(self.solution, diagnoses=self.diagnoses), "markdown", Style(math="dollars"))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def check(problem: Problem, answers: str | PathLike[str] | Mapping[str, Any], *, lenient: bool = False) -> Checked:
    """Judge what somebody worked out by hand, cell by cell.

    `answers` is a file, or a mapping of steps to nested lists of numbers, or of strings where the digits matter
    ("0.70"), with None for a blank. `lenient` lets pass what is off by rounding. Raises AttncliError where the answers
    cannot be read, or do not fit the problem.
    """
    if isinstance(answers, Mapping):
        source = decode(json.dumps(answers).encode(), "answers")
    else:
        source = read_source(str(answers))
    read, back = partial(read_answers, source), mentions_gradients(source)
    solution = judge_solution(problem, read, lenient=lenient, gradient=back)
    return Checked(solution, diagnose(solution.verdicts))
