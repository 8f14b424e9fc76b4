"""What was done to given arrays when they were converted, found from the arrays of both sides:
heads or features in another order, or weights that were never read.

The known mistakes come first: each of them says what was meant. An order that nobody has a name for
is found by what stands in which place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from attncli.comparison.mistaken_numbers import Attempt
from attncli.english import either, listed
from attncli.mistakes.model import Changes
from attncli.tracing.difference import Doubles

_WEIGHTS = ("W_Q", "W_K", "W_V")
_BIASES = ("b_Q", "b_K", "b_V")
_OF_HEADS = ("Q", "K", "V")
# Relative to the largest number.
_SAME_WITHIN = 1e-5
# So many places of an order are said.
_MOST_PLACES = 8
# In fewer cells, numbers that have nothing to do with each other may look alike.
_FEWEST_UNRELATED = 64
# The correlation of unrelated numbers is beyond so many standard deviations once in 15,000 times.
_MOST_DEVIATIONS = 4.0
# So large a share of features is like others by chance.
_BY_CHANCE = 0.1


class Conversion(NamedTuple):
    """What was done, in words, and the arrays that this made."""

    name: str
    changes: Changes


class _Pair(NamedTuple):
    """An array as it is right, and as it is there."""

    name: str
    right: Doubles
    there: Doubles


def conversions(attempt: Attempt) -> Iterator[Conversion]:
    """What may have been done to the arrays that differ, of which the first is the first step that
    does; the likeliest first.
    """
    pairs = list(_differing(attempt))
    if not pairs or pairs[0].name != attempt.first.name:
        return
    yield from _reordered(pairs, "the heads of", _axis_of_heads)
    yield from _reordered(pairs, "the features of each head of", lambda _: -1)
    yield from _cut_from_others(attempt, pairs)
    yield from _not_loaded(attempt, pairs)


def _differing(attempt: Attempt) -> Iterator[_Pair]:
    weights = (*_WEIGHTS, *_BIASES)
    names = weights if attempt.first.name in weights else _OF_HEADS
    for step in attempt.comparison.steps:
        if step.name not in names or not step.differs:
            continue
        right = attempt.ours[step.name].astype(np.float64)
        there = attempt.theirs[step.name].astype(np.float64)
        if right.shape == there.shape:
            yield _Pair(step.name, right, there)


def _axis_of_heads(name: str) -> int:
    return -2 if name in _BIASES else -3


# Heads of keys and values that are repeated


def tiled_kv_heads(attempt: Attempt) -> int | None:
    """How many KV heads there are, if the keys or the values that differ first have been tiled for
    all query heads: head h is KV head h mod their number. None where they have not.
    """
    step = attempt.first
    if step.name not in ("K", "V") or step.difference is None:
        return None
    right = step.arranged(attempt.ours[step.name])
    there = step.arranged(attempt.theirs[step.name])
    if right.ndim < 3:
        return None
    order = _places(_as_rows(right, -3), _as_rows(there, -3))
    different = len(set(order))
    group = len(order) // max(different, 1)
    tiled = tuple(head % different * group for head in range(len(order)))
    return different if group > 1 and order == tiled else None


# Heads and features in another order


def _reordered(
    pairs: Sequence[_Pair], what: str, axis_of: Callable[[str], int]
) -> Iterator[Conversion]:
    """The arrays whose places on an axis stand in another order; nothing where those of the first
    do not.
    """
    changes: dict[str, Doubles] = {}
    named: dict[tuple[int, ...], list[str]] = {}
    for pair in pairs:
        axis = axis_of(pair.name)
        order = _order(pair, axis)
        if order:
            named.setdefault(order, []).append(pair.name)
            changes[pair.name] = np.take(pair.right, order, axis=axis)
    if pairs[0].name in changes:
        said = []
        for order, names in named.items():
            weights = [name for name in names if name not in _BIASES] or names
            said.append(f"{listed(weights)} ({_in_words(order)})")
        yield Conversion(f"{what} {listed(said)} were put in another order", changes)


def _order(pair: _Pair, axis: int) -> tuple[int, ...]:
    """Which place each one there has been; empty where there is no other order."""
    if pair.right.ndim < -axis:
        return ()
    right = _as_rows(pair.right, axis)
    there = _as_rows(pair.there, axis)
    order = _places(right, there)
    own = tuple(range(len(right)))
    is_other = order != own and sorted(order) == [*own]
    return order if is_other else ()


def _places(right: Doubles, there: Doubles) -> tuple[int, ...]:
    """Which of the right rows each row there is; empty where one of them is none."""
    if not (np.isfinite(right).all() and np.isfinite(there).all()):
        return ()
    # One number says which row it may be, and all numbers if it is.
    by = np.cos(np.arange(right.shape[-1]))
    of_right, of_there = right @ by, there @ by
    order = np.abs(of_there[:, None] - of_right).argmin(axis=-1)
    allowed = _SAME_WITHIN * np.abs(right).max(initial=0)
    if np.abs(right[order] - there).max(initial=0) > allowed:
        return ()
    return tuple(order.tolist())


def _as_rows(array: Doubles, axis: int) -> Doubles:
    """The array with a row for each place on an axis."""
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)


def _in_words(places: Sequence[object]) -> str:
    """The places of an order, as far as they are said: 2, 0, 3, 1."""
    said = ", ".join(map(str, places[:_MOST_PLACES]))
    return f"{said}, …" if len(places) > _MOST_PLACES else said


# Heads that are those of another matrix


def _cut_from_others(attempt: Attempt, pairs: Sequence[_Pair]) -> Iterator[Conversion]:
    """The weights whose heads are all among those of the three, and not of their own alone."""
    if any(name not in attempt.trace or attempt.trace[name].ndim != 3 for name in _WEIGHTS):
        return
    heads = []
    rows = []
    for name in _WEIGHTS:
        array = attempt.ours[name].astype(np.float64)
        heads += [f"{name} {head}" for head in range(len(array))]
        rows.append(array.reshape(len(array), -1))
    if len({each.shape[-1] for each in rows}) > 1:
        return
    right = np.concatenate(rows)
    said = []
    changes: dict[str, Doubles] = {}
    for pair in pairs:
        places = _places(right, _as_rows(pair.there, 0)) if pair.name in _WEIGHTS else ()
        if places:
            changes[pair.name] = right[list(places)].reshape(pair.right.shape)
            said.append(f"{pair.name} ({_in_words([heads[place] for place in places])})")
    if pairs[0].name in changes:
        yield Conversion(f"{listed(said)} were cut from the heads of several", changes)


# Weights that were not read


def _not_loaded(attempt: Attempt, pairs: Sequence[_Pair]) -> Iterator[Conversion]:
    """The arrays that are one number everywhere, or that nothing relates to the right ones."""
    alike: dict[float, list[str]] = {}
    unrelated = []
    changes: dict[str, Doubles] = {}
    for pair in pairs:
        if pair.name in _OF_HEADS or np.ptp(pair.right) == 0:
            continue
        if np.ptp(pair.there) == 0:
            alike.setdefault(float(pair.there.flat[0]), []).append(pair.name)
        elif _is_unrelated(pair) and not _has_right_columns(attempt, pair):
            unrelated.append(pair.name)
        else:
            continue
        changes[pair.name] = pair.there
    if pairs[0].name not in changes:
        return
    said = []
    for number, names in alike.items():
        were = either(len(names), "was", "were")
        said.append(f"{listed(names)} {were} not loaded: all cells are {number:.4g}")
    if unrelated:
        were = either(len(unrelated), "was", "were")
        other = either(len(unrelated), "is another layer's", "are another layer's")
        like = either(len(unrelated), "it is like the right one", "them is like the right ones")
        said.append(f"{listed(unrelated)} {were} not loaded, or {other}: nothing in {like}")
    yield Conversion("; ".join(said), changes)


def _is_unrelated(pair: _Pair) -> bool:
    """Whether the numbers are new ones, and go up and down without the right ones."""
    right, there = pair.right.ravel(), pair.there.ravel()
    if right.size < _FEWEST_UNRELATED or np.ptp(right) == 0:
        return False
    correlation = float(np.corrcoef(right, there)[0, 1])
    is_same_numbers = np.allclose(np.sort(right), np.sort(there), _SAME_WITHIN, 0)
    return abs(correlation) * right.size**0.5 <= _MOST_DEVIATIONS and not is_same_numbers


def _has_right_columns(attempt: Attempt, pair: _Pair) -> bool:
    """Whether a feature of it is one of the right ones, of any head of the queries, keys and
    values: then it was read, and cut in another way.
    """
    rows = []
    for name in _WEIGHTS:
        if name in attempt.trace and attempt.ours[name].shape[-2] == pair.right.shape[-2]:
            rows.append(_features(attempt.ours[name].astype(np.float64)))
    if not rows:
        return False
    by = np.cos(np.arange(pair.right.shape[-2]))
    right = np.sort(np.concatenate(rows) @ by)
    there = _features(pair.there) @ by
    nearest = np.searchsorted(right, there).clip(1, len(right) - 1)
    apart = np.minimum(abs(right[nearest] - there), abs(right[nearest - 1] - there))
    allowed = _SAME_WITHIN * np.abs(right).max(initial=0)
    return bool((apart <= allowed).mean() > _BY_CHANCE)


def _features(weights: Doubles) -> Doubles:
    """A row for each feature of each head."""
    return np.moveaxis(weights, -2, -1).reshape(-1, weights.shape[-2])
