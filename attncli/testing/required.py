"""Settings that a function has to take: where no parameter stands for one, its cases fail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from attncli.english import listed
from attncli.testing.asking import CaseResult
from attncli.testing.trial import Trial

# The settings of cases by the roles that these have there; other names stand for the same.
SETTINGS = (
    "mask",
    "causal",
    "scale",
    "window",
    "softcap",
    "sink",
    "alibi",
    "rope",
    "rope_parameters",
    "offset",
)


def requiring(trial: Trial, settings: Collection[str]) -> Trial:
    """The same, in which cases are errors that ask for nothing but such settings, and could not be
    asked since the function lacks one of them.
    """
    lacking = {each for each in settings if not _is_asked(each, trial.results)}
    results = []
    for result in trial.results:
        asked = result.case.asks.keys()
        missing = [each for each in asked if each in lacking]
        if missing and asked <= {*settings} and _has_axes(trial, result):
            error = f"{listed(missing)}: {trial.not_asked}"
            result = replace(result, result="error", error=error)
        results.append(result)
    return replace(trial, results=tuple(results))


def _is_asked(setting: str, results: Sequence[CaseResult]) -> bool:
    """Whether a function has a parameter for a setting: it was asked in one case at least."""
    return any(setting in each.case.asks for each in results if each.result != "not asked")


def _has_axes(trial: Trial, result: CaseResult) -> bool:
    """Whether the function takes the axes that a case needs, such as heads."""
    return all(axis in trial.facts["layout"] for axis in result.case.needs)
