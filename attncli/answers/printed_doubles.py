"""Numbers that a program printed: their last digits say in which order it added, not what the
solution claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import numpy as np

from attncli.answers.model import Answer, Answers, CellOfStep, Claim
from attncli.dtypes import DTYPES
from attncli.equation.rounding import SCIENTIFIC
from attncli.tracing.magnitudes import Magnitudes
from attncli.tracing.model import Trace

# A number of so many significant digits is taken for a double that a program printed.
DIGITS_OF_A_DOUBLE = 15
# Two programs in one number format may differ by so many epsilons of a cell's magnitude.
EPSILONS_APART = 64.0


def with_room_for_doubles(trace: Trace, answers: Answers) -> Answers:
    """The answers, in which each printed double stands for all numbers that its number format may
    come to.

    That is float32 for a step whose long numbers all are float32, as a program writes that makes
    doubles of them. Where terms cancel, what is left is as uncertain as the terms were, those of
    the problem or of this solution.
    """
    doubles = {name: found for name, answer in answers.steps.items() if (found := _doubles(answer))}
    if not doubles:
        return answers
    formats = {name: DTYPES[_number_format(claims.values())] for name, claims in doubles.items()}
    written = _with_answers(trace, answers)
    sizes = {
        dtype: (Magnitudes(trace, dtype), Magnitudes(written, dtype))
        for dtype in set(formats.values())
    }
    with_room: dict[CellOfStep, Claim] = {}
    for name, claims in doubles.items():
        true, own = sizes[formats[name]]
        of_terms = np.maximum(true[name], own[name])
        rooms = (
            EPSILONS_APART
            * formats[name].epsilon
            * np.where(np.isfinite(trace[name]), of_terms, np.abs(written[name]))
        )
        for index, claim in claims.items():
            half = max(claim.half, Decimal(float(rooms[index])))
            with_room[name, index] = replace(claim, half=half, printed_double=True)
    return answers.with_claims(with_room)


def _doubles(answer: Answer) -> dict[tuple[int, ...], Claim]:
    """What a program printed: numbers of 15 digits, and in a step with such a number all with as
    many decimals, since programs print a matrix with the same decimals; and numbers of which a
    double does not hold the last whole digit.
    """
    if not any(
        len(claim.text) >= DIGITS_OF_A_DOUBLE or claim.value.adjusted() >= DIGITS_OF_A_DOUBLE
        for claim in answer.claims
    ):
        return {}
    claims = {
        index: claim
        for index, claim in np.ndenumerate(answer.cells)
        if claim is not None and not claim.exact
    }
    finest = max((claim.half for claim in claims.values() if _is_long(claim)), default=0)
    return {
        index: claim
        for index, claim in claims.items()
        if claim.half <= finest or abs(claim.value) >= SCIENTIFIC
    }


def _is_long(claim: Claim) -> bool:
    return len(claim.value.as_tuple().digits) >= DIGITS_OF_A_DOUBLE


def _number_format(claims: Iterable[Claim]) -> str:
    """float32 where all numbers of 15 digits are numbers of float32, which one double of 500
    million is by chance.

    One of them has to need its digits: 0.250000000000000 is a number of float32, but says nothing
    of the others.
    """
    long = [claim.value for claim in claims if _is_long(claim)]
    if not any(_needs_its_digits(value) for value in long):
        return "float64"
    numbers = [float(value) for value in long]
    with np.errstate(over="ignore"):
        single = all(float(np.float32(number)) == number for number in numbers)
    return "float32" if single else "float64"


def _needs_its_digits(value: Decimal) -> bool:
    """Whether 15 digits are left without the zeros at the end."""
    digits = "".join(map(str, value.as_tuple().digits))
    return len(digits.rstrip("0")) >= DIGITS_OF_A_DOUBLE


def _with_answers(trace: Trace, answers: Answers) -> Trace:
    """The trace with the numbers of a solution, as far as they were written."""
    steps = dict(trace.steps)
    for name, answer in answers.steps.items():
        value = steps[name].value.astype(float)
        for index, claim in np.ndenumerate(answer.cells):
            if isinstance(claim, Claim):
                value[index] = float(claim.value)
        steps[name] = replace(steps[name], value=value)
    return replace(trace, steps=steps)
