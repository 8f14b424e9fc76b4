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
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import CLOSE, Answers, Claim
from attncli.equation.intervals import Interval
from attncli.equation.nodes import Ref
from attncli.equation.rounding import EXACTLY
from attncli.features.check.carried_values import Sentence, Sentences
from attncli.features.check.cell_equations import Cell
from attncli.features.check.reachability import can_reach
from attncli.tracing.model import Trace

Verdict: TypeAlias = Literal["right", "carried", "rounding", "wrong", "missing"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_WIDE = Context(prec=1000)  # for claims of up to 400 digits
INSIDE = 1 - 1e-9


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
        cells, blank = np.empty(answer.cells.shape, dtype=object), answer.blank
        for index in np.ndindex(cells.shape):
            if blank:
                cells[index] = _missing(trace, name, index)
            else:
                cells[index] = _judged(sentences, name, index, cast("Claim | None", answer.cells[index]))
        steps[name] = cells
    return Verdicts(trace, answers, steps)


def _missing(trace: Trace, name: str, index: Cell) -> Judged:
    """A cell of a step that was left out: what it is, which nobody held against what leads there."""
    true = float(trace.steps[name].value[index])
    return Judged("missing", None, true, true)


def _judged(sentences: Sentences, name: str, index: Cell, claim: Claim | None) -> Judged:
    true = sentences.true(name, index)
    if sentences.trace.steps[name].rule.given:
        return Judged(_plain(claim, true), claim, float(true), float(true))
    own = sentences.own(name, index)
    if claim is None or rounds_to(true, claim):  # most of a good solution, whose sentences take time and memory to make
        return Judged("missing" if claim is None else "right", claim, float(true), float(own))
    return Judged(_verdict(claim, true, sentences.of(name, index), own), claim, float(true), float(own))


def _plain(claim: Claim | None, true: Decimal) -> Verdict:
    """The verdict on a number that is only copied."""
    return "missing" if claim is None else "right" if rounds_to(true, claim) else "wrong"


def _verdict(claim: Claim, true: Decimal, sentence: Sentence, own: Decimal) -> Verdict:
    """The verdict on a cell that is not right."""
    if sentence.box and _reached(claim, claim.half, sentence, own):
        return "carried"
    if _near(true, claim) and not fits_into(true, claim):
        return "rounding"
    exact = (sentence.sharp or isinstance(sentence.tree, Ref)) and fits_into(own, claim)
    if sentence.box and not exact and _reached(claim, 3 * claim.half, sentence, own):  # missed by a unit at either end
        return "rounding"
    return "wrong"


def _reached(claim: Claim, distance: Decimal, sentence: Sentence, own: Decimal) -> bool:
    """Whether the solution's own numbers give one within a distance of the claim."""
    if not sentence.sharp:
        return can_reach(sentence.tree, sentence.box, _within(claim, distance), in_doubt=True)
    return rounds_to(own, claim) if distance == claim.half else _near(own, claim)


def _near(number: Decimal, claim: Claim) -> bool:
    """Whether a number misses what rounds to the claim by one unit of its last digit at most."""
    return number.is_finite() and abs(number - claim.value) <= 3 * claim.half


def fits_into(number: Decimal, claim: Claim) -> bool:
    """Whether a number has no more digits than a claim, so that writing it like that rounds nothing."""
    if claim.exact or not number.is_finite():
        return True
    with localcontext(_WIDE):
        units = number / (2 * claim.half)
        return abs(units - units.to_integral_value()) <= EXACTLY * max(Decimal(1), abs(units))


def rounds_to(true: Decimal, claim: Claim) -> bool:
    """Whether a number, rounded half up to the digits of a claim, is that claim; an exact one has to be it.

    Digits beyond those that a number is worked out to are not held against it.
    """
    if not true.is_finite() or not claim.value.is_finite():
        return true == claim.value
    with localcontext(_WIDE):
        told = EXACTLY * max(Decimal(1), abs(true))
        if claim.half < told:
            return abs(true - claim.value) <= told
        unit = 2 * claim.half
        return (true / unit).to_integral_value(ROUND_HALF_UP) * unit == claim.value


def _within(claim: Claim, distance: Decimal) -> Interval:
    """The numbers within a distance of a claim, but not at it, where the next claim begins; of an exact one, those
    that a double cannot tell from it."""
    value = float(claim.value)
    slack = float(distance) * INSIDE or abs(value) * 1e-13
    return Interval(value - slack, value + slack)


def apart_as_written(judged: Judged) -> bool:
    """Whether a carried cell is not what the numbers before it give exactly as they stand, but only within rounding."""
    if judged.verdict != "carried" or judged.given is None or not math.isfinite(judged.own):
        return False
    if judged.given.exact:
        return not math.isclose(judged.own, float(judged.given.value), rel_tol=CLOSE, abs_tol=CLOSE)
    return not rounds_to(Decimal(repr(judged.own)), judged.given)
