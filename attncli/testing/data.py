"""A tested function for programs; `test.schema.json` describes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncli.testing.asking import CaseResult
from attncli.testing.case import Case, PerHead
from attncli.testing.diagnosis import Finding, unexplained
from attncli.testing.pattern import patterns
from attncli.testing.trial import Trial
from attncli.tracing.json_numbers import json_values
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

# Of larger cases, only the name and the result are told.
MOST_NUMBERS = 1000


def trial_data(trial: Trial) -> dict[str, Any]:
    """The function, its facts, the mistakes, and every case."""
    mistakes = dict.fromkeys(name for each in trial.explanations for name in each.mistakes)
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "agrees": trial.agrees,
        "function": trial.name,
        "facts": dict(trial.facts),
        "remarks": list(trial.remarks),
        "mistakes": list(mistakes),
        "explanations": [_explanation(each) for each in trial.explanations],
        "unexplained": _unexplained(trial),
        "cases": [_case(result) for result in trial.results],
    }


def _explanation(found: Finding) -> dict[str, Any]:
    return {
        "mistakes": list(found.mistakes),
        "beside": list(found.beside),
        "cases": [each.case.name for each in found.results],
    }


def _unexplained(trial: Trial) -> dict[str, Any]:
    """The cases that no mistake explains, and what is true of all of them."""
    left = unexplained(trial.results, trial.explanations)
    return {
        "cases": [each.case.name for each in left],
        "patterns": list(patterns(trial.results, left)),
    }


def _case(result: CaseResult) -> dict[str, Any]:
    case = result.case
    data: dict[str, Any] = {"name": case.name, "result": result.result}
    if result.error:
        data["error"] = result.error
    if case.size > MOST_NUMBERS:
        return data
    if _has_numbers(result) or (result.forward and _has_numbers(result.forward)):
        data["problem"] = problem_data(case, result.chosen)
    output = result.forward if result.is_of_gradients else result
    if output is not None and _has_numbers(output):
        assert output.output is not None
        data["given"] = json_values(output.output)
        data["expected"] = json_values(output.right.output)
    if result.is_of_gradients:
        data["gradients"] = _gradients(result)
    return data


def _has_numbers(result: CaseResult) -> bool:
    return result.output is not None and bool(result.expected)


def _gradients(result: CaseResult) -> dict[str, Any]:
    """What came of its gradients: those that were given and those that are right, by their
    steps.
    """
    found: dict[str, Any] = {"result": result.result}
    if result.output is not None:
        right = result.right
        for key, numbers in (("given", result.output), ("expected", right.output)):
            found[key] = {name: json_values(right.part(numbers, name)) for name in right.judged}
    return found


def problem_data(case: Case, meaning: int) -> dict[str, Any]:
    """The problem of a case as JSON, which attncli reads."""
    named = case.named(case.meanings[meaning])
    return {"title": case.title, **{key: _plain(value) for key, value in named.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, PerHead):
        return value.numbers.tolist()
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == np.bool_ else _numbers(value.tolist())
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _numbers(value: Any) -> Any:
    """Nested lists of numbers with the words that a problem has for infinities."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return value if np.isfinite(value) else str(value)
