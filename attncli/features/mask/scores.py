"""What a score_mod does to scores: a scale, a softcap, what it adds and what it hides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.attention.changes_of_scores import (
    LARGE_SCORE,
    ROUNDING,
    SCORES,
    ZERO,
    ScoreChange,
    is_close,
    possible_changes,
    why_no_change,
)
from attncli.english import count, grouped
from attncli.features.mask.positions import Seen
from attncli.tracing.warnings import HIGHEST_SENTINEL

Numbers = NDArray[np.float64]
# An entry, a head, a query and a key.
CellOfFunction: TypeAlias = tuple[int, int, int, int]
# What a score_mod makes of a score at a place.
ScoreFunction: TypeAlias = Callable[[CellOfFunction, float], float]
BREAKS = (
    "One such score makes all weights of its query NaN, so no problem has it. Look at what the"
    " function divides by, and at roots and logarithms."
)
HIDES_BY_SCORE = (
    "It hides a key by what its score is, and a mask of a problem hides it whatever the score."
)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreForm:
    """What becomes of a score s where a query sees a key: softcap · tanh(scale · s / softcap) +
    added, without what is None.

    `added` is by entry, head, query and key, 0 where it is hidden. `why_not` is a sentence on what
    else the function does; then there is nothing else. `is_broken` says that it makes weights of
    NaN. `visible` says which keys are seen.
    """

    visible: Seen
    scale: float | None = None
    softcap: float | None = None
    added: Numbers | None = None
    why_not: str = ""
    is_broken: bool = False

    @property
    def settings(self) -> tuple[float | None, float | None, str]:
        """What is the same for all positions."""
        return self.scale, self.softcap, self.why_not

    def of_scores(self) -> Numbers:
        """What it gives for the SCORES, by entry, head, query, key and score."""
        factor = 1.0 if self.scale is None else self.scale
        changed = ScoreChange(factor, self.softcap).of(np.array(SCORES), np.tanh)
        added = self.added
        if added is None:
            added = np.zeros(self.visible.shape)
        is_seen = self.visible[..., None]
        return np.where(is_seen, changed + added[..., None], -np.inf)


def score_form(values: NDArray[Any], given: ScoreFunction) -> ScoreForm:
    """The form of what a score_mod gives for the SCORES, by entry, head, query, key and score;
    `given` calls it with another score.
    """
    visible = visible_cells(values)
    cells = values[visible]
    if not cells.size:
        return ScoreForm(visible)
    if not np.isfinite(cells).all():
        return _without_numbers(values, visible)
    for found in _possible_forms(values, visible, given):
        if is_close(found.of_scores()[visible], cells):
            return found
    return ScoreForm(visible, why_not=why_no_change(cells))


def _possible_forms(
    values: NDArray[Any], visible: Seen, given: ScoreFunction
) -> Iterator[ScoreForm]:
    """The forms of what it does where least is added, with what is added everywhere."""
    added = np.where(visible, values[..., ZERO], 0.0)
    least = int(np.where(visible, np.abs(added), np.inf).argmin())
    entry, head, query, key = (int(each) for each in np.unravel_index(least, visible.shape))
    place = (entry, head, query, key)

    def tried(score: float) -> float:
        return given(place, score) - float(added[place])

    adds = bool(np.abs(added).max() > 1e-7)
    for change in possible_changes(tried, LARGE_SCORE):
        if change.factor <= ROUNDING:
            continue
        is_scaled = abs(change.factor - 1) > ROUNDING
        yield ScoreForm(
            visible,
            scale=rounded(change.factor) if is_scaled else None,
            softcap=None if change.softcap is None else rounded(change.softcap),
            added=added if adds else None,
        )


def _without_numbers(values: NDArray[Any], visible: Seen) -> ScoreForm:
    """The form of what gives NaN or infinity where a query may see a key."""
    is_wrong = ~np.isfinite(values) & visible[..., None]
    breaks = np.isnan(values) | np.isposinf(values)
    if not breaks.any():
        return ScoreForm(visible, why_not=f"{_first(values, is_wrong)}. {HIDES_BY_SCORE}")
    places = int(breaks.any(axis=-1).sum())
    pairs = f"{grouped(places)} of {count(visible.size, 'pair')} of a query and a key"
    why = f"{_first(values, breaks)}. It does so for {pairs}. {BREAKS}"
    return ScoreForm(visible, why_not=why, is_broken=True)


def _first(values: NDArray[Any], chosen: NDArray[np.bool_]) -> str:
    """What it gives in the first of the chosen cells, in words."""
    cell = tuple(np.argwhere(chosen)[0].tolist())
    entry, head, query, key, score = cell
    where = f"q_idx = {query} and kv_idx = {key}"
    if values.shape[0] > 1 or values.shape[1] > 1:
        where = f"b = {entry}, h = {head}, {where}"
    made = "infinity"
    if np.isnan(values[cell]):
        made = "NaN"
    elif np.isneginf(values[cell]):
        made = "minus infinity"
    return f"It makes {made} of the score {SCORES[score]:g} at {where}"


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


def rounded(number: float) -> float:
    """A number that was worked out, without the last digits of float32, if it has these alone.

    >>> rounded(49.99999999999), rounded(0.1234567890123)
    (50.0, 0.1234567890123)
    """
    short = float(f"{number:.6g}")
    return short if abs(short - number) <= 1e-7 * abs(number) else number
