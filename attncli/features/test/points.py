"""What a function earns: a share of the marks for its cases, of which mistakes may be taken off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attncli.cli.classes.summary import rounded_share
from attncli.testing.asking import CaseResult
from attncli.testing.trial import Trial


class Scheme(NamedTuple):
    """How marks are given: `marks` is how many there are, one for each case where it is None.

    With `mistake`, so many are taken off once for each mistake, and a case that one explains keeps
    its share.
    """

    marks: int | None = None
    mistake: float | None = None


class Earned(NamedTuple):
    """The marks, and of how many."""

    marks: float
    of: int


def earned(trial: Trial, scheme: Scheme) -> Earned:
    """What a function earns; never less than nothing."""
    asked = asked_cases(trial)
    of = len(asked) if scheme.marks is None else scheme.marks
    keeping = {each.case.name for each in asked if each.result == "same"}
    off = 0.0
    if scheme.mistake is not None:
        keeping |= {each.case.name for found in trial.explanations for each in found.results}
        off = scheme.mistake * len(mistakes_of(trial))
    share = rounded_share(of, len(keeping), len(asked))
    return Earned(max(0.0, round(share - off, 2)), of)


def asked_cases(trial: Trial) -> Sequence[CaseResult]:
    """The cases that a function was asked, in their order."""
    return [each for each in trial.results if each.result != "not asked"]


def mistakes_of(trial: Trial) -> tuple[str, ...]:
    """What explains the cases that differ, in words; those that no case tells apart together."""
    found = [", or ".join(each.mistakes) for each in trial.explanations]
    return tuple(dict.fromkeys(found))
