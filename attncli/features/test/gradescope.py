"""What a tested function earns as Gradescope reads it: the results.json of an autograder.

https://gradescope-autograders.readthedocs.io/en/latest/specs/ has its form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attncli.cli.classes.summary import plain_marks
from attncli.errors import AttncliError
from attncli.escaping import visible
from attncli.features.test.points import Scheme, asked_cases, earned, mistakes_of
from attncli.render import Style, render
from attncli.testing.asking import CaseResult
from attncli.testing.page import trial_page
from attncli.testing.trial import Trial

CANNOT_BE_LOADED = "The function can be loaded"


def gradescope_results(trial: Trial, scheme: Scheme, precision: int) -> str:
    """The text of results.json: a test for each case that was asked, and the page as its output.

    Each case has its share of the marks, unless mistakes are taken off: then no case alone has
    marks.
    """
    found = earned(trial, scheme)
    asked = asked_cases(trial)
    share = None
    if scheme.mistake is None:
        share = found.of / len(asked)
    tests = [_test(each, share, trial) for each in asked]
    score = _score_in_words(found.marks, found.of, trial, scheme)
    page = render(trial_page(trial, precision), "table", Style())
    return _results(found.marks, f"{score}\n\n{page}", tests)


def gradescope_error(error: AttncliError, scheme: Scheme) -> str:
    """The same where the function could not be loaded: no marks, and one test, which says why."""
    said = visible(error.message)
    of = 1 if scheme.marks is None else scheme.marks
    test = _entry(CANNOT_BE_LOADED, said, is_right=False)
    return _results(0, said, [test | {"score": 0, "max_score": of}])


def _score_in_words(marks: float, of: int, trial: Trial, scheme: Scheme) -> str:
    """Marks: 8 of 10. For each mistake 2 are taken off: the mask was inverted."""
    said = f"Marks: {plain_marks(marks):g} of {of}."
    made = mistakes_of(trial)
    if scheme.mistake is None or not made:
        return said
    return f"{said} For each mistake {scheme.mistake:g} are taken off: {'; '.join(made)}."


def _results(score: float, output: str, tests: list[dict[str, Any]]) -> str:
    found = {
        "score": plain_marks(score),
        "visibility": "visible",
        # It has nothing that students need.
        "stdout_visibility": "hidden",
        # What a function says is not read as HTML or Markdown.
        "output_format": "text",
        "output": output,
        "tests": tests,
    }
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n"


def _test(result: CaseResult, share: float | None, trial: Trial) -> dict[str, Any]:
    is_right = result.result == "same"
    output = "" if is_right else "\n".join(_reasons(result, trial))
    entry = _entry(result.case.name, output, is_right=is_right)
    if share is not None:
        entry["score"] = plain_marks(share) if is_right else 0
        entry["max_score"] = plain_marks(share)
    return entry


def _reasons(result: CaseResult, trial: Trial) -> Iterator[str]:
    """Why a case earns nothing, each on a line."""
    if result.result == "error":
        yield visible(result.error)
        return
    yield "Its output differs."
    named = False
    for found in trial.explanations:
        if any(each.case.name == result.case.name for each in found.results):
            named = True
            yield f"Mistake: {', or '.join(found.mistakes)}."
    if not named:
        yield "No mistake that attncli knows explains it."


def _entry(name: str, output: str, *, is_right: bool) -> dict[str, Any]:
    return {
        "name": name,
        "status": "passed" if is_right else "failed",
        "visibility": "visible",
        "output_format": "text",
        "output": output,
    }
