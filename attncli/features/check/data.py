"""Verdicts for programs; `verdict.schema.json` describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.diagnosis_page import diagnosis_data
from attncli.features.check.marks.model import Marks
from attncli.features.check.marks.other_shapes import other_shapes_data
from attncli.features.check.marks.page import marks_data
from attncli.features.check.verdicts import JudgedCell, Solution
from attncli.tracing.json_numbers import json_float
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__


def check_data(
    solution: Solution,
    *,
    marks: int | None,
    diagnoses: Sequence[Diagnosis],
    earned: Marks | None = None,
) -> dict[str, Any]:
    """Every cell with its verdict, the first wrong one, how many there are of each, and the
    diagnoses; format 1.
    """
    judgement = solution.verdicts
    first = judgement.first_wrong
    data: dict[str, Any] = {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "title": judgement.trace.title,
        "steps": {
            name: {"cells": _nested(cells.tolist())} for name, cells in judgement.steps.items()
        },
        "first_wrong": None if first is None else {"step": first[0], "index": list(first[1])},
        "counts": judgement.counts,
        "carried_by_rounding": [
            {"step": name, "index": list(index)} for name, index in judgement.carried_by_rounding
        ],
        "diagnoses": diagnosis_data(solution.of_all, diagnoses),
        "passed": solution.passed,
    }
    if outside := solution.wrong_outside:
        data["wrong_outside"] = outside
    if others := judgement.answers.other_shapes:
        data["other_shapes"] = other_shapes_data(others)
    if earned is not None:
        data["marks"] = marks_data(earned)
    elif marks is not None:
        data["marks"] = {
            "of": marks,
            "right": float(marks * solution.share(follow_through=False)),
            "follow_through": float(marks * solution.share(follow_through=True)),
        }
    return data


def _nested(cells: list[Any] | JudgedCell) -> Any:
    if isinstance(cells, list):
        return [_nested(cell) for cell in cells]
    given = None if cells.given is None else json_float(float(cells.given.value))
    data = {
        "verdict": cells.verdict,
        "given": given,
        "expected": json_float(cells.expected),
        "own": json_float(cells.own),
    }
    if cells.too_coarse:
        data["too_coarse"] = True
    return data
