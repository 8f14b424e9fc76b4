"""What difference quotients say of one derivative: it agrees, it does not, or they cannot tell.

The first h is the one that suits most functions: about the cube root of what a float64 can tell, where what the curve
of the function and what rounding do to the quotient are about equally small. Where the quotient disagrees there, or
rounding hides it, h is made smaller by fours, from that one or from a wide one, and the curve taken out of each
quotient by those before it (Ridders, Accurate computation of F'(x) and F'(x)F''(x), 1982): each of these has an error
of its own, by how far it is from those that it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

STEP, TOLERANCE, FARTHEST = 6e-6, 1e-6, 6e-3
HIDDEN = 0.1  # of their size: what rounding may do to a quotient that is to say anything
SURE = 1e-3  # of their size: the own error of an extrapolated quotient that is to say anything
SAFETY = 10.0  # own errors of it, within which a derivative may be
NARROWER, LEVELS, WIDE = 4.0, 11, 8  # h by h; how many times from the first one; how many times wider is a wide one
MADE_OF = 2  # quotients before the first that is believed
Verdict: TypeAlias = Literal["agree", "unknown", "disagree"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A quotient beside a derivative; `apart` is how far they are from each other, 1 being as far as they may be."""

    quotient: float
    apart: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Scale:
    """What differences are measured by: how large the derivatives beside this one are, and what rounding does to the
    function.

    Where the derivative is 0, a quotient says so if its error is at most `zero`.
    """

    typical: float
    rounding: float
    zero: float = 0.0

    def size(self, derivative: float, quotient: float) -> float:
        return max(abs(derivative), abs(quotient)) + self.typical


def first_step(x: float) -> float:
    """How far a number is moved at first."""
    return min(STEP * max(1.0, abs(x)), FARTHEST)


def compare(derivative: float, quotient: Callable[[float], float], x: float, scale: Scale) -> Compared:
    """A derivative at x beside the quotients that `quotient` makes for each h."""
    h = first_step(x) if math.isfinite(x) else math.inf
    first = quotient(h)
    if not math.isfinite(derivative):
        return Compared(first, 0.0, "unknown")
    size, noise = scale.size(derivative, first), scale.rounding / h
    away = _away(derivative, first, TOLERANCE * size + noise)
    if away <= 1 and noise <= max(HIDDEN * size, scale.zero):
        return Compared(first, away, "agree")
    wide = WIDE if away <= 1 or math.isnan(first) else 0
    best, error = math.nan, math.inf
    for found, own in _extrapolated(quotient, h * NARROWER**wide, LEVELS + wide, scale.rounding):
        size = scale.size(derivative, found)
        enough, allowed = own <= TOLERANCE * size, TOLERANCE * size + SAFETY * max(own, error)
        if own < error or (enough and abs(found - best) > allowed):  # then the wider h has missed what is near x
            best, error = found, own
        if (enough or own <= scale.zero) and abs(derivative - found) <= TOLERANCE * size + SAFETY * own:
            break
    if math.isnan(best):
        return Compared(first, 0.0, "unknown")
    size = scale.size(derivative, best)
    away = _away(derivative, best, TOLERANCE * size + SAFETY * error)
    told: Verdict = "disagree" if away > 1 else "agree" if error <= max(SURE * size, scale.zero) else "unknown"
    return Compared(best, away, told)


def _extrapolated(
    quotient: Callable[[float], float], h: float, levels: int, rounding: float
) -> Iterator[tuple[float, float]]:
    """For smaller and smaller h, the best that can be made of the quotients so far, and its own error."""
    before: list[float] = []
    for level in range(levels):
        row = [quotient(h)]
        found, error = math.nan, math.inf
        for order, above in enumerate(before, 1):
            curve = NARROWER ** (2 * order)
            row.append(row[-1] + (row[-1] - above) / (curve - 1))
            own = max(abs(row[-1] - row[-2]), abs(row[-1] - above))
            if own < error:
                found, error = row[-1], own
        if level >= MADE_OF and math.isfinite(found):
            yield found, error + rounding / h
        before, h = row, h / NARROWER


def _away(derivative: float, quotient: float, allowed: float) -> float:
    apart = abs(derivative - quotient)
    return apart / allowed if allowed else math.inf if apart else 0.0
