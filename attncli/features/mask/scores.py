"""What a score_mod does to scores: a scale, a softcap, what it adds and what it hides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.features.mask.asking import SCORES
from attncli.features.mask.positions import Seen
from attncli.tracing.warnings import HIGHEST_SENTINEL

Numbers = NDArray[np.float64]
# Numbers of a function are those of float32, mostly.
CLOSE = 1e-5
ZERO = SCORES.index(0.0)
HALF = SCORES.index(0.5)
LARGE, SMALL = SCORES.index(1e6), SCORES.index(-1e6)
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


@dataclass(frozen=True, slots=True, eq=False)
class ScoreForm:
    """What becomes of a score s where a query sees a key: softcap · tanh(scale · s / softcap) +
    added, without what is None.

    `added` is by entry, head, query and key, 0 where it is hidden. `why_not` is a sentence on what
    else the function does; then there is nothing else. `visible` says which keys are seen.
    """

    visible: Seen
    scale: float | None = None
    softcap: float | None = None
    added: Numbers | None = None
    why_not: str = ""

    @property
    def settings(self) -> tuple[float | None, float | None, str]:
        """What is the same for all positions."""
        return self.scale, self.softcap, self.why_not

    def of_scores(self) -> Numbers:
        """What it gives for the SCORES, by entry, head, query, key and score."""
        found = np.array(SCORES)
        if self.scale is not None:
            found = found * self.scale
        if self.softcap is not None:
            found = self.softcap * np.tanh(found / self.softcap)
        added = self.added
        if added is None:
            added = np.zeros(self.visible.shape)
        together: Numbers = found + added[..., None]
        is_seen = self.visible[..., None]
        return np.where(is_seen, together, -np.inf)


def score_form(values: NDArray[Any]) -> ScoreForm:
    """The form of what a score_mod gives for the SCORES, by entry, head, query, key and score."""
    visible = visible_cells(values)
    cells = values[visible]
    if not cells.size:
        return ScoreForm(visible)
    if not np.isfinite(cells).all():
        return ScoreForm(visible, why_not=OTHER)
    for find in (_linear, _capped):
        numbers = find(cells)
        if numbers is None:
            continue
        found = _form(visible, *numbers)
        if not found.why_not and is_close(found.of_scores()[visible], cells):
            return found
    return ScoreForm(visible, why_not=_reason(cells))


def visible_cells(values: NDArray[Any]) -> Seen:
    """Where a score_mod shows a key: where it does not give one very low number for any score, as
    minus infinity is.
    """
    lowest = values[..., :1]
    is_one = np.all(values == lowest, axis=-1)
    hidden: Seen = is_one & (values[..., 0] <= HIGHEST_SENTINEL)
    return ~hidden


def sentinels(values: NDArray[Any]) -> Numbers:
    """The numbers other than minus infinity that hide keys."""
    hidden: Numbers = values[~visible_cells(values)]
    return hidden[np.isfinite(hidden)]


def is_close(found: NDArray[Any], wanted: NDArray[Any]) -> bool:
    """Whether numbers are the same, up to roundings of float32."""
    return bool(np.allclose(found, wanted, rtol=CLOSE, atol=CLOSE))


def _form(visible: Seen, scale: float, softcap: float | None, added: Numbers) -> ScoreForm:
    spread = np.zeros(visible.shape)
    spread[visible] = added
    adds = bool(np.abs(added).max() > 1e-7)
    is_scaled = abs(scale - 1) > CLOSE
    if scale <= CLOSE:
        return ScoreForm(visible, why_not=OTHER)
    return ScoreForm(
        visible,
        scale=rounded(scale) if is_scaled else None,
        softcap=None if softcap is None else rounded(softcap),
        added=spread if adds else None,
    )


def _linear(cells: NDArray[Any]) -> tuple[float, None, Numbers] | None:
    added = cells[:, ZERO]
    factors = (cells[:, HALF] - added) / SCORES[HALF]
    return float(factors[0]), None, added


def _capped(cells: NDArray[Any]) -> tuple[float, float, Numbers] | None:
    """The scale before a softcap, the softcap, and what is added behind it."""
    added = cells[:, ZERO]
    softcap = float(cells[0, LARGE] - added[0])
    share = (cells[0, HALF] - added[0]) / softcap if softcap > 0 else 1.0
    if not abs(share) < 1:
        return None
    scale = softcap * float(np.arctanh(share)) / SCORES[HALF]
    return scale, softcap, added


def _reason(cells: NDArray[Any]) -> str:
    """Why no form fits, in a sentence."""
    scores = np.array(SCORES)
    added = cells[:, [ZERO]]
    factors = (cells[:, [HALF]] - added) / SCORES[HALF]
    if is_close(added + 0 * scores, cells):
        return CONSTANT
    if is_close(factors, factors[0]):
        return OTHER
    if is_close(added + factors * scores, cells):
        return PER_CELL
    largest = cells[:, [LARGE]]
    smallest = cells[:, [SMALL]]
    softcap = (largest - smallest) / 2
    middle = (largest + smallest) / 2
    if (softcap <= 0).any():
        return OTHER
    shares = (added - middle) / softcap
    if (np.abs(shares) >= 1).any():
        return OTHER
    inside = softcap * np.arctanh(shares)
    capped = middle + softcap * np.tanh((scores + inside) / softcap)
    return CAP_OF_SUM if is_close(capped, cells) else OTHER


def rounded(number: float) -> float:
    """A number that was worked out, without the last digits of float32, if it has these alone.

    >>> rounded(49.99999999999), rounded(0.1234567890123)
    (50.0, 0.1234567890123)
    """
    short = float(f"{number:.6g}")
    return short if abs(short - number) <= 1e-7 * abs(number) else number
