"""A number with how far a computation in floating point may be from it: see docs/reliability.md.

`value` is right to 40 digits. `error` bounds |computed − value| for every computation that rounds
as IEEE 754 does, whatever the order of its sums, with or without fused multiply-add. Nothing here
is measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

mp.dps = 40
UNIT = 2.0**-53  # u: the largest relative error of one rounding in double precision
# roundings that exp, tanh, a power, sine or cosine of a library may cost: 4 units in the last place
FUNCTION = 8
SMALLEST = 2.0**-1022  # below it, rounding is no longer relative
_OURS = 1 + 2.0**-20  # the bounds themselves are worked out in doubles


@dataclass(frozen=True, slots=True)
class Bounded:
    """A real number, the bound of its error, and the sum of the sizes of what it was summed
    from.
    """

    value: Any
    error: float = 0.0
    size: float = 0.0

    @property
    def most(self) -> float:
        """The largest size that the computed number can have."""
        return abs(float(self.value)) + self.error

    def rounded(self, times: float = 1) -> Bounded:
        """After so many more roundings, which may be of each of its terms."""
        size = max(self.size, self.most)
        return Bounded(self.value, (self.error + gamma(times) * size) * _OURS, size)


ZERO = Bounded(mpf(0))


def gamma(times: float) -> float:
    """γ_n = n·u / (1 − n·u): the most that n roundings make of a number, relative to it (Higham,
    lemma 3.1).
    """
    return times * UNIT / (1 - times * UNIT)


def given(number: float) -> Bounded:
    """A number of the file, which a double holds."""
    return Bounded(mpf(number), 0.0, abs(number))


def times(left: Bounded, right: Bounded) -> Bounded:
    """A product, before it is rounded."""
    error = left.most * right.error + right.most * left.error
    return Bounded(
        left.value * right.value, error, max(left.size, left.most) * max(right.size, right.most)
    )


def total(terms: Iterable[Bounded], more: int = 0) -> Bounded:
    """A sum of n terms in any order: n − 1 roundings of each at most, and so many more."""
    terms = list(terms)
    size = sum(max(term.size, term.most) for term in terms)
    error = sum(term.error for term in terms) + gamma(len(terms) - 1 + more) * sum(
        term.most for term in terms
    )
    return Bounded(sum((term.value for term in terms), mpf(0)), error * _OURS, size)


def dot(
    left: Sequence[Bounded], right: Sequence[Bounded], *plus: Bounded, more: int = 0
) -> Bounded:
    """Σ l·r, and what is added to it: each product is rounded once more than it is added."""
    return total(
        [*(times(one, other) for one, other in zip(left, right, strict=True)), *plus], 1 + more
    )


def tanh(number: Bounded) -> Bounded:
    """No steeper than 1; its own rounding besides."""
    value = mp.tanh(number.value)
    size = abs(float(value))
    return Bounded(
        value, (number.error + gamma(FUNCTION) * (size + number.error)) * _OURS + SMALLEST, size
    )


def turn(angle: Bounded) -> tuple[Bounded, Bounded]:
    """Cosine and sine; neither is steeper than 1."""
    found = []
    for function in (mp.cos, mp.sin):
        value = function(angle.value)
        size = abs(float(value))
        found.append(
            Bounded(value, (angle.error + gamma(FUNCTION) * (size + angle.error)) * _OURS, size)
        )
    return found[0], found[1]


def power(base: Any, exponent: Any, *, rounded: int = 0) -> Bounded:
    """base^exponent, where the exponent has been rounded so often before: that is multiplied by
    |exponent·ln base|.
    """
    value = mpf(base) ** exponent
    relative = math.expm1(gamma(rounded) * abs(float(exponent * mp.log(base)))) + gamma(FUNCTION)
    return Bounded(value, float(value) * relative * _OURS, float(value))


def softmax(
    logits: Sequence[Bounded | None],
    sink: float | None = None,
    base: float | None = None,
    parts: int = 1,
) -> list[Bounded]:
    """The shares of one row; None is a hidden key, whose share is 0, as all are where every key is
    hidden.

    The number that is subtracted before makes no difference to the share, only to the rounding:
    u·|difference|. Where the row is worked in so many parts, each one may put a larger number in
    its place: one more power, and a product.
    """
    seen = [logit for logit in logits if logit is not None]
    if not seen:
        return [ZERO for _ in logits]
    others = [] if sink is None else [given(sink)]
    log = mpf(1) if base is None else mp.log(base)
    top = max(logit.value for logit in [*seen, *others])
    slack = max(logit.error for logit in seen)
    powers: list[Bounded | None] = []
    for logit in [*logits, *others]:
        if logit is None:
            powers.append(None)
            continue
        away = float(top - logit.value) + logit.error + slack
        error = logit.error + UNIT * away  # of the exponent
        # ln of the base has an error of its own, and may have been multiplied in before
        if base is not None:
            error = float(log) * (error + gamma(4) * (away + max(logit.size, logit.most)))
        value = mp.exp(log * (logit.value - top))
        functions = gamma(FUNCTION * parts + (parts - 1))
        relative = math.expm1(error) * (1 + functions) + functions
        powers.append(Bounded(value, float(value) * relative * _OURS + SMALLEST))
    whole = total([each for each in powers if each is not None], 1)
    shares = []
    for each in powers[: len(logits)]:
        if each is None:
            shares.append(ZERO)
            continue
        share = float(each.value / whole.value)
        error = (each.error + share * whole.error) / (float(whole.value) - whole.error)
        shares.append(Bounded(each.value / whole.value, error).rounded())
    return shares
