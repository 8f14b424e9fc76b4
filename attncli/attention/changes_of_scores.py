"""What a function of somebody else does to scores: a scale, a softcap, and what it adds to each.

It is found by calling the function with scores of our own, so nothing of it has to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import atanh, isclose, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# What becomes of a score in one cell, less what becomes of a score of 0.
Tried: TypeAlias = Callable[[float], float]

# Scores near 0, where a softcap is hardly seen, and far from it, where it is all there is.
SCORES = (0.0, 0.5, 1.0, -1.0, 3.0, -7.0, 30.0, 100.0, 1e6, -1e6)
ZERO = SCORES.index(0.0)
HALF = SCORES.index(0.5)
LARGE, SMALL = SCORES.index(1e6), SCORES.index(-1e6)

# This score is tried, and half of it; for a softcap, smaller ones until it bends them.
LARGE_SCORE = 8192.0
_SMALLEST_SCORE = 1e-6
# What makes no sum of three numbers different, if one of them went through 32 bits.
ROUNDING = 1e-5
# The square of a tanh. Below the first, a softcap is not to be told from a product, and above the
# second, it has cut everything off.
_BENDS = (1e-10, 0.9)

PER_CELL = (
    "It multiplies each score by a number that is another for other positions, which no key of a"
    " problem does."
)
CAP_OF_SUM = (
    "It adds before the softcap, c·tanh((s + a)/c), and attncli adds after it, so no key of a"
    " problem does this."
)
CONSTANT = "What it gives does not depend on the score, and no key of a problem does this."
OTHER = "It is no sum, no softcap and no factor of scores."


class ScoreChange(NamedTuple):
    """What becomes of every score: `softcap · tanh(factor · score / softcap)`, or without a softcap
    `factor · score`.
    """

    factor: float = 1.0
    softcap: float | None = None

    def of(self, scores: Any, tanh: Callable[[Any], Any]) -> Any:
        """It done to scores, with the tanh of their kind of arrays."""
        multiplied = self.factor * scores
        if self.softcap is None:
            return multiplied
        return self.softcap * tanh(multiplied / self.softcap)

    def in_words(self, added: float) -> str:
        """It with what is added afterwards, as people write it.

        >>> ScoreChange(1.0, 5.0).in_words(-3.32), ScoreChange(0.5).in_words(0.0)
        ('5 · tanh(score / 5) - 3.32', '0.5 · score')
        """
        factor = f"{self.factor:.4g}"
        said = "score" if factor == "1" else f"{factor} · score"
        if self.softcap is not None:
            cap = f"{self.softcap:.4g}"
            said = f"tanh({said})" if cap == "1" else f"{cap} · tanh({said} / {cap})"
        number = f"{abs(added):.4g}"
        if number == "0":
            return said
        return f"{said} {'-' if added < 0 else '+'} {number}"


def possible_changes(tried: Tried, largest: float) -> Iterator[ScoreChange]:
    """The changes that may be the one of a function, by scores up to this one, whose half comes
    first; of a product and a softcap that hardly bends, the product is first.
    """
    # What a softcap cuts everything off at, once a score is seen that is so large.
    limit: float | None = None
    score = largest / 2
    while score > _SMALLEST_SCORE:
        once, twice = tried(score), tried(2 * score)
        if not once or not twice:
            return
        if once == twice:
            limit = abs(once)
        # With t = tanh(x), tanh(2x) is 2t / (1 + t²).
        squared = 2 * once / twice - 1
        if abs(squared) <= ROUNDING:
            yield ScoreChange(once / score)
        if _BENDS[0] < squared < _BENDS[1]:
            softcap = abs(once) / sqrt(squared)
            if limit is not None and isclose(softcap, limit, rel_tol=ROUNDING):
                softcap = limit
            share = once / softcap
            if abs(share) < 1:
                factor = softcap / score * atanh(share)
                yield ScoreChange(_without_rounding(factor), _without_rounding(softcap))
        if squared < _BENDS[1]:
            return
        score /= 4


def _without_rounding(number: float) -> float:
    """A number that was worked out, without its last digits."""
    return float(f"{number:.12g}")


def is_close(found: NDArray[Any], wanted: NDArray[Any]) -> bool:
    """Whether numbers are the same, up to roundings of float32."""
    return bool(np.allclose(found, wanted, rtol=ROUNDING, atol=ROUNDING))


def why_no_change(cells: NDArray[Any]) -> str:
    """Why no change and no sum makes what a function gives for the SCORES in each of these cells,
    in a sentence.
    """
    if not np.isfinite(cells).all():
        return OTHER
    scores = np.array(SCORES)
    added = cells[:, [ZERO]]
    half = cells[:, [HALF]]
    factors = (half - added) / SCORES[HALF]
    if is_close(added + 0 * scores, cells):
        return CONSTANT
    if is_close(factors, factors[0]):
        return OTHER
    if is_close(added + factors * scores, cells):
        return PER_CELL
    return CAP_OF_SUM if _caps_sums(cells) else OTHER


def _caps_sums(cells: NDArray[Any]) -> bool:
    """Whether a softcap comes after a sum in each of these cells."""
    scores = np.array(SCORES)
    largest, smallest = cells[:, [LARGE]], cells[:, [SMALL]]
    softcap = (largest - smallest) / 2
    middle = (largest + smallest) / 2
    if (softcap <= 0).any():
        return False
    shares = (cells[:, [ZERO]] - middle) / softcap
    if (np.abs(shares) >= 1).any():
        return False
    inside = softcap * np.arctanh(shares)
    capped = middle + softcap * np.tanh((scores + inside) / softcap)
    return is_close(capped, cells)
