"""What the shades of a heat map stand for: one rule for all pictures, and for matrices of pages.

Weights go from 0 to the largest one. Numbers with a sign have 0 in the middle. Any others go from
the smallest to the largest. A few numbers far beyond all others have the last shade.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.attention.registry import GRADIENT_RULES
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Outliers are at most one of 20, four times as large as the rest, where there are five at least.
ONE_OUTLIER_OF, OUTLIER_RATIO, FEWEST_WITH_OUTLIERS = 20, 4, 5


class Scale(NamedTuple):
    """What the first and the last shade stand for.

    `by_row`: shades are compared within a row. `signed`: the shade in the middle is that of 0.
    `least` and `most` are the smallest and the largest number where they lie beyond these shades.
    """

    low: float
    high: float
    by_row: bool = False
    signed: bool = False
    least: float | None = None
    most: float | None = None

    @property
    def has_beyond(self) -> bool:
        """Whether any number lies beyond the shades, and is not from 0 to 1 among them."""
        return self.least is not None or self.most is not None

    def shades(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """From 0 to 1, or beyond; NaN where there is no number to shade."""
        finite = np.where(np.isfinite(values), values, np.nan)
        nothing = np.isnan(finite)
        if self.by_row:
            top = np.max(np.nan_to_num(finite), axis=-1, keepdims=True)
            shades = np.where(nothing, np.nan, 0.0)
            np.divide(finite, top, out=shades, where=top > 0)
            return shades
        if self.high == self.low:
            return np.where(nothing, np.nan, 0.5)
        # Of halves, the distance of the largest numbers is finite, too.
        low, high = self.low / 2, self.high / 2
        return (finite / 2 - low) / (high - low)


def scale_of(
    trace: Trace,
    step: str,
    numbers: NDArray[np.float64],
    *,
    by_row: bool = False,
    ends: Sequence[float] | None = None,
) -> Scale:
    """What shades stand for in a step, of which these numbers are seen, each an array of any shape.

    With `by_row`, weights are compared within their rows. With `ends`, these have the first and the
    last shade.
    """
    finite = numbers[np.isfinite(numbers)]
    signed = is_signed(trace, step, finite)
    if ends is not None:
        low, high = ends
        return _between(low, high, finite, signed=signed)
    if step == "weights" and not trace.steps[step].rule.own:
        largest = float(finite.max(initial=0.0))
        return Scale(0.0, largest or 1.0, by_row=by_row)
    if not finite.size:
        return Scale(0, 0)
    if signed:
        most = _without_outliers(np.abs(finite))
        return _between(-most, most, finite, signed=True)
    low = float(finite.min())
    with np.errstate(over="ignore"):
        sizes = finite - low
    top = float(finite[sizes <= _without_outliers(sizes)].max())
    return _between(low, top, finite, signed=False)


def is_signed(trace: Trace, step: str, finite: NDArray[np.float64]) -> bool:
    """Whether 0 has the shade in the middle: in all gradients, and where any number is negative and
    0 means something.
    """
    if step in GRADIENT_RULES:
        return True
    return has_sign(trace, step) and bool((finite < 0).any())


def has_sign(trace: Trace, step: str) -> bool:
    """Whether 0 means something in a step: of scores, only how far they are apart does."""
    letters = trace.steps[step].rule.target.letters
    weights = trace.steps.get("weights")
    return step in GRADIENT_RULES or weights is None or letters != weights.rule.target.letters


def _between(low: float, high: float, finite: NDArray[np.float64], *, signed: bool) -> Scale:
    smallest = float(finite.min(initial=np.inf))
    largest = float(finite.max(initial=-np.inf))
    least = smallest if smallest < low else None
    most = largest if largest > high else None
    return Scale(low, high, signed=signed, least=least, most=most)


def _without_outliers(sizes: NDArray[np.float64]) -> float:
    """The largest size that is no outlier.

    Outliers are few sizes that are many times as large as all others: of 1, 2, 3, 2, 90, the 90.
    """
    ordered = np.sort(sizes[sizes > 0])
    number = len(ordered)
    if not number:
        return 0.0
    largest = float(ordered[-1])
    if number < FEWEST_WITH_OUTLIERS:
        return largest
    if not np.isfinite(largest):
        return largest
    few = max(1, number // ONE_OUTLIER_OF)
    # The widest gap, as a ratio, among the few largest.
    ratios = ordered[-few:] / ordered[-few - 1 : -1]
    place = int(ratios.argmax())
    if ratios[place] < OUTLIER_RATIO:
        return largest
    return float(ordered[place - few - 1])
