"""Which weights moved where: for each query, how much of its attention moved from which keys to
which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.english import count, listed
from attncli.page.document import Text
from attncli.page.in_words import percent
from attncli.page.measures import number
from attncli.page.printer import format_number
from attncli.tracing.comparison import Comparison
from attncli.tracing.difference import doubles

# How many keys are named on each side of a move; the others are only counted.
MOST_KEYS_NAMED = 3


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What one key lost or gained: `amount` is a share of the row's attention, from 0 to 1."""

    key: int
    amount: float


@dataclass(frozen=True, slots=True)
class MovedWeights:
    """One row of weights: `row` is the query's index, after those of batch and head where there are
    any.

    `amount` is the share of attention that moved. `lost` and `gained` are the keys with the largest
    changes; the other keys are `others_lost` and `others_gained` (how many keys, how much). `sums`
    are the sums of the row on both sides.
    """

    row: tuple[int, ...]
    amount: float
    lost: tuple[KeyChange, ...]
    gained: tuple[KeyChange, ...]
    others_lost: tuple[int, float]
    others_gained: tuple[int, float]
    sums: tuple[float, float]


def moved_weights(comparison: Comparison) -> tuple[MovedWeights, ...]:
    """The rows of weights that moved; none if the weights do not differ, or if their shapes
    differ.
    """
    step = next((step for step in comparison.steps if step.name == "weights"), None)
    if step is None or step.difference is None or not step.differs:
        return ()
    before = step.arranged(comparison.a["weights"])
    after = step.arranged(comparison.b["weights"])
    return moved_rows(before, after, comparison.tolerance)


def moved_rows(a: NDArray[Any], b: NDArray[Any], tolerance: float) -> tuple[MovedWeights, ...]:
    """The rows of weights of which more than the tolerance moved, the largest move first.

    `a` and `b` have the same shape, … × queries × keys. Rows with infinities or NaN are left out.
    """
    a = doubles(a)
    b = doubles(b)
    with np.errstate(all="ignore"):
        has_numbers = np.isfinite(a).all(axis=-1, keepdims=True)
        change = np.where(has_numbers, b - a, np.nan)
        gained = np.maximum(change, 0).sum(axis=-1)
        lost = np.maximum(-change, 0).sum(axis=-1)
        amounts = np.maximum(gained, lost)
        is_large = amounts > tolerance
        has_moved = np.isfinite(amounts) & is_large

    def heaviest_first(row: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        # Noise of floats must not decide which of two rows is first.
        amount = round(float(amounts[row]), 12)
        return -amount, row

    rows: list[tuple[int, ...]] = [tuple(map(int, row)) for row in np.argwhere(has_moved)]
    rows.sort(key=heaviest_first)
    moves = []
    for row in rows:
        amount = float(amounts[row])
        move = _move(row, change[row], amount, a[row], b[row], tolerance)
        moves.append(move)
    return tuple(moves)


def _move(
    row: tuple[int, ...],
    change: NDArray[np.float64],
    amount: float,
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    tolerance: float,
) -> MovedWeights:
    lost, others_lost = _largest(-change, tolerance)
    gained, others_gained = _largest(change, tolerance)
    with np.errstate(all="ignore"):
        sums = float(a.sum()), float(b.sum())
    return MovedWeights(row, amount, lost, gained, others_lost, others_gained, sums)


def _largest(
    change: NDArray[np.float64], tolerance: float
) -> tuple[tuple[KeyChange, ...], tuple[int, float]]:
    """The largest changes by key, and how many others there are, with their sum."""
    keys = np.flatnonzero(change > tolerance)
    # Numbers that are no shares of anything may become infinite where they are rounded.
    with np.errstate(over="ignore"):
        rounded = np.round(change[keys], 12)
    largest_first = np.argsort(-rounded, kind="stable")
    keys = keys[largest_first]
    number = MOST_KEYS_NAMED
    if len(keys) == MOST_KEYS_NAMED + 1:
        # "1 other" would take as much room as its name.
        number = len(keys)
    named = keys[:number]
    others = keys[number:]
    of_others = float(change[others].sum())
    shifts = tuple(KeyChange(int(key), float(change[key])) for key in named)
    return shifts, (len(others), of_others)


MOST_ROWS_NAMED = 12
# A share of a row that is at least this is shown as 0.1 % or more.
LEAST_SHARE_SHOWN = 0.0005


def moved_sentences(comparison: Comparison) -> Iterator[Text]:
    """One sentence for each query, the largest move first; the smallest of many share one
    sentence.
    """
    moved = moved_weights(comparison)
    large = [move for move in moved if move.amount >= LEAST_SHARE_SHOWN]
    shown = large
    if len(large) > MOST_ROWS_NAMED + 1:
        shown = large[:MOST_ROWS_NAMED]
    for move in shown:
        yield _sentence(comparison, move)
    rest = moved[len(shown) :]
    if rest:
        largest = rest[0].amount
        most = f"less than {percent(LEAST_SHARE_SHOWN * 2)}"
        if largest >= LEAST_SHARE_SHOWN:
            most = f"at most {percent(largest)}"
        if len(rest) > 1:
            most += " each"
        rows = count(len(rest), "other row" if shown else "row")
        yield (f"{rows}: {most}.",)


def _sentence(comparison: Comparison, move: MovedWeights) -> Text:
    *outer, queries, _ = comparison["weights"].labels
    *place, query = move.row
    heads = "".join(f"{names[at]}, " for names, at in zip(outer, place, strict=True))
    who = f'{heads}"{queries[query]}": '
    before, after = move.sums
    lost = _side(comparison, move, gained=False)
    gained = _side(comparison, move, gained=True)
    total = percent(move.amount)
    if move.lost and move.gained:
        said: Text = (f"{who}{total} of its attention moved from {lost} to {gained}",)
    elif move.lost:
        said = (f"{who}{total} less attention to {lost}",)
    else:
        said = (f"{who}{total} more attention to {gained}",)
    if abs(before - after) > comparison.tolerance:
        return (
            *said,
            ". The row sums to ",
            *number(format_number(before, 3)),
            f" {comparison.a.phrase} and to ",
            *number(format_number(after, 3)),
            f" {comparison.b.phrase}.",
        )
    return (*said, ".")


def _side(comparison: Comparison, move: MovedWeights, *, gained: bool) -> str:
    shifts, (others, amount) = move.lost, move.others_lost
    if gained:
        shifts, (others, amount) = move.gained, move.others_gained
    if len(shifts) == 1 and not others:
        only = shifts[0]
        if _whole(move, only):
            return _key(comparison, move, only.key)
    names = []
    large = [shift for shift in shifts if shift.amount >= LEAST_SHARE_SHOWN]
    for shift in large or shifts[:1]:
        key = _key(comparison, move, shift.key)
        names.append(f"{key} ({percent(shift.amount)})")
    if others:
        names.append(f"{count(others, 'other')} ({percent(amount)})")
    return listed(names)


def _whole(move: MovedWeights, shift: KeyChange) -> bool:
    return percent(shift.amount) == percent(move.amount)


def _key(comparison: Comparison, move: MovedWeights, key: int) -> str:
    own_keys = set()
    for side in (comparison.a, comparison.b):
        if side.trace:
            *_, query, _ = side.index("weights", (*move.row, key))
            own_keys.add(side.trace.own_key(query))
    if own_keys == {key}:
        return "itself"
    labels = comparison["weights"].labels[-1]
    label = labels[key]
    if labels.count(label) > 1:
        return f'"{label}" (key {key})'
    return f'"{label}"'
