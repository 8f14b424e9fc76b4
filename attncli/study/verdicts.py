"""Verdicts on a solution worked by hand: each cell is right, carried on, rounded otherwise, wrong or missing.

A cell is carried where it follows from the solution's own earlier numbers, each anywhere within the precision it was
written with; steps that were left out are worked out on the way. What misses that by a unit of the last digit written
is a matter of rounding, if there was anything to round, and all else is an error made in this very cell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Answers, Claim
from attncli.equation.decimals import EXACTLY
from attncli.equation.intervals import Interval
from attncli.study.reach import can_reach, value_at
from attncli.study.sentences import Cell, Sentence, Sentences
from attncli.tracing.model import Trace

Verdict: TypeAlias = Literal["right", "carried", "rounding", "wrong", "missing"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
CLOSE = 1e-12  # doubles this close, in relation, are the same


@dataclass(frozen=True, slots=True)
class Judged:
    """One cell: what was written, the true value, and what follows from the solution's own earlier numbers."""

    verdict: Verdict
    given: Claim | None
    expected: float
    own: float


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """A solution judged: `steps` holds for every step that it has an array of `Judged` in the shape of the step."""

    trace: Trace
    answers: Answers
    steps: Mapping[str, NDArray[np.object_]]

    def cells(self) -> Iterator[tuple[str, Cell, Judged]]:
        """Every cell, in the order of work."""
        for name, cells in self.steps.items():
            for index in np.ndindex(cells.shape):
                yield name, index, cast("Judged", cells[index])

    @property
    def counts(self) -> dict[Verdict, int]:
        found = Counter(judged.verdict for _, _, judged in self.cells())
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def first_wrong(self) -> tuple[str, Cell] | None:
        """The first cell in which an error was made."""
        return next(((name, index) for name, index, judged in self.cells() if judged.verdict == "wrong"), None)


def judge(trace: Trace, answers: Answers) -> Verdicts:
    """Every cell of a solution, judged; `trace` is that of the problem at full precision."""
    sentences = Sentences(trace, answers)
    steps = {}
    for name, answer in answers.steps.items():
        cells = np.empty(answer.cells.shape, dtype=object)
        for index in np.ndindex(cells.shape):
            cells[index] = _judged(sentences, name, index, cast("Claim | None", answer.cells[index]))
        steps[name] = cells
    return Verdicts(trace, answers, steps)


def _judged(sentences: Sentences, name: str, index: Cell, claim: Claim | None) -> Judged:
    true = sentences.true(name, index)
    if sentences.trace.steps[name].rule.given:
        return Judged(_plain(claim, true), claim, float(true), float(true))
    sentence = sentences.of(name, index)
    own = (
        _clean(value_at(sentence.tree, {ref: range.middle for ref, range in sentence.box.items()}))
        if sentence.box
        else float(true)
    )
    if claim is None:
        return Judged("missing", None, float(true), own)
    return Judged(_verdict(claim, true, sentence, own), claim, float(true), own)


def _clean(value: float) -> float:
    """Without the noise in the last bits, which would turn a tie: 0.9791, not 0.9790999999999999."""
    return float(f"{value:.15g}")


def _plain(claim: Claim | None, true: Decimal) -> Verdict:
    """The verdict on a number that is only copied."""
    return "missing" if claim is None else "right" if rounds_to(true, claim) else "wrong"


def _verdict(claim: Claim, true: Decimal, sentence: Sentence, own: float) -> Verdict:
    if rounds_to(true, claim):
        return "right"
    if sentence.box and can_reach(sentence.tree, sentence.box, _within(claim, claim.half)):
        return "carried"
    near = _within(claim, 3 * claim.half)  # the same, missed by one unit at either end
    if float(true) in near and not fits_into(true, claim):
        return "rounding"
    settled = sentence.sharp and math.isfinite(own) and fits_into(Decimal(repr(own)), claim)
    if sentence.box and not settled and can_reach(sentence.tree, sentence.box, near):
        return "rounding"
    return "wrong"


def fits_into(number: Decimal, claim: Claim) -> bool:
    """Whether a number has no more digits than a claim, so that writing it like that rounds nothing."""
    if claim.exact or not number.is_finite():
        return True
    units = number / (2 * claim.half)
    return abs(units - units.to_integral_value()) <= EXACTLY * max(Decimal(1), abs(units))


def rounds_to(true: Decimal, claim: Claim) -> bool:
    """Whether a number, rounded half up to the digits of a claim, is that claim; an exact one has to be it."""
    if not true.is_finite() or not claim.value.is_finite():
        return true == claim.value
    if claim.exact:
        return abs(true - claim.value) <= EXACTLY * max(Decimal(1), abs(true))
    unit = 2 * claim.half
    return (true / unit).to_integral_value(ROUND_HALF_UP) * unit == claim.value


def _within(claim: Claim, distance: Decimal) -> Interval:
    """The numbers within a distance of a claim; of an exact one, those that a double cannot tell from it."""
    value = float(claim.value)
    slack = float(distance) or abs(value) * 1e-13
    return Interval(value - slack, value + slack)


def apart_as_written(judged: Judged) -> bool:
    """Whether a carried cell is not what the numbers before it give exactly as they stand, but only within rounding."""
    if judged.verdict != "carried" or judged.given is None or not math.isfinite(judged.own):
        return False
    if judged.given.exact:
        return not math.isclose(judged.own, float(judged.given.value), rel_tol=CLOSE, abs_tol=CLOSE)
    return not rounds_to(Decimal(repr(judged.own)), judged.given)
