"""A trace in words: who attends to whom, and where each output row comes from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from attncli.english import either, listed
from attncli.equation.rounding import round_half_up
from attncli.problem.parts.axes import PLACES
from attncli.tracing.model import Trace, is_built_in_softmax, masked_out
from attncli.tracing.slices import axis_length, trace_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights: TypeAlias = "NDArray[np.float64]"

# So many keys are named one by one. The others are summed up.
MOST_KEYS_NAMED = 4
HALF_A_TENTH_PERCENT = 0.0005
ALMOST_NONE, ALMOST_ALL = "less than 0.1 %", "more than 99.9 %"
# Weights closer than this, in relation, are the same.
TIE = 1e-9
# A smaller part of an output says little about it.
LEAST_PART_SAID = 0.4
# What roundings may do to the sum of a row of weights.
NEARLY_1 = 1e-6


def percent(share: float) -> str:
    """A share as people say it, rounded half up: 70.7 %.

    What would be rounded to nothing or to all is not that: less than 0.1 %.
    """
    if 0 < share < HALF_A_TENTH_PERCENT:
        return ALMOST_NONE
    if 1 - HALF_A_TENTH_PERCENT <= share < 1 - TIE:
        return ALMOST_ALL
    return f"{round_half_up(Decimal(f'{100 * share:.13e}'), 1)} %"


def attention_in_words(
    trace: Trace, some: Callable[[Sequence[int]], Sequence[int]] = list
) -> tuple[str, ...]:
    """For each query, or some, how it spreads its attention and what its output is made of.

    "love" pays 70.7 % of its attention to itself, … With heads, it is head by head.
    """
    own = trace.leading_letters
    if own:
        word = PLACES[own[0]]
        word = word[0].upper() + word[1:]
        said: list[str] = []
        for place in range(axis_length(trace, own[0])):
            sentences = attention_in_words(trace_at(trace, {own[0]: place}), some)
            said.extend(f"{word} {place}: {sentence}" for sentence in sentences)
        return tuple(said)
    blind = frozenset(trace.fully_masked)
    often = Counter(trace.context_tokens)
    first = trace.own_key(0)
    said = []
    for row in some(range(len(trace.tokens))):
        query = _Query(trace, row, None if first is None else first + row, often)
        said.append(" ".join(_sentences(query, row in blind)))
    return tuple(said)


def query_in_words(trace: Trace, row: int) -> tuple[str, ...]:
    """The sentences of one query of a head: how it spreads its attention, and at last what its
    output is made of. Where it attends to one key or to none, one sentence says both.
    """
    first = trace.own_key(0)
    own = None if first is None else first + row
    query = _Query(trace, row, own, Counter(trace.context_tokens))
    return tuple(_sentences(query, row in trace.fully_masked))


class _Query(NamedTuple):
    """One query, and the key of its own token; `often` says how many keys are called alike."""

    trace: Trace
    row: int
    own: int | None
    often: Counter[str]


def _sentences(query: _Query, is_blind: bool) -> Iterator[str]:
    trace, row = query.trace, query.row
    who = f'"{trace.tokens[row]}"'
    weights = trace["weights"][row].astype(np.float64)
    output = "its output in this head" if "heads_output" in trace else "its output"
    if is_blind:
        yield f"{who} sees no key: it pays no attention to anything, and {output} is 0."
        return
    if not np.isfinite(weights).all():
        dtype = trace.settings.dtype
        yield f"{who} has scores that do not fit into {dtype}, so its weights are unknown."
        return
    seen = np.flatnonzero(weights > 0)
    if not len(seen):
        yield f"{who} pays so little attention to each key that every weight is rounded to 0."
        yield f"So {output} is 0, too."
        return
    to_sink = 0.0
    if "sink" in trace.parameters or "sink" in trace:
        to_sink = 1 - float(weights.sum())
    upper = output[0].upper() + output[1:]
    if to_sink > TIE:
        shares = ", ".join(_shares(query, _Ranking.of(weights, seen)))
        yield f"{who} pays {shares}, and {percent(to_sink)} to the sink."
        yield f"{upper} is the sum of the values, each times its share."
    elif not _is_whole(trace, weights):
        ranking = _Ranking.of(weights, np.flatnonzero(weights))
        yield f"{who} pays {_together(_shares(query, ranking))}."
        yield f"Together, this is {percent(float(weights.sum()))}."
        yield f"{upper} is the sum of the values, each times its weight."
    elif len(seen) == 1:
        key = int(seen[0])
        yield (
            f"{who} pays all of its attention to {_name(query, key)}, so {output} is"
            f" {_value(query, key)}."
        )
    elif _same(weights[seen]):
        yield from _equal_attention(query, who, weights, seen)
        whose = "all" if len(seen) == len(weights) else "their"
        yield f"{upper} is the average of {whose} values."
    else:
        ranking = _Ranking.of(weights, seen)
        yield f"{who} pays {_together(_shares(query, ranking))}."
        origin = _origin(query, ranking)
        if origin:
            yield f"{upper} is {origin}."


def _is_whole(trace: Trace, weights: Weights) -> bool:
    """Whether the weights of a row are shares of 1, as those of a softmax are."""
    if is_built_in_softmax(trace.steps):
        return True
    return abs(float(weights.sum()) - 1) <= NEARLY_1 and bool((weights >= 0).all())


def _equal_attention(
    query: _Query, who: str, weights: Weights, seen: NDArray[np.intp]
) -> Iterator[str]:
    """What a query says that pays the same attention to all keys with a weight."""
    vanished = int(_visible(query).sum()) - len(seen)
    if vanished:
        tokens = f"{len(seen):,} of the tokens it sees"
    elif len(seen) == len(weights):
        tokens = "every token"
    else:
        tokens = f"the {len(seen):,} tokens it sees"
    share = percent(float(weights[seen[0]]))
    yield f"{who} pays the same attention to {tokens} ({share} each)."
    if vanished:
        yield _vanished(vanished)


def _visible(query: _Query) -> NDArray[np.bool_]:
    """The keys that the mask lets a query see, also those whose weights are rounded to 0."""
    hidden = masked_out(query.trace.steps)
    if hidden is None:
        return np.ones(len(query.trace["weights"][query.row]), dtype=bool)
    visible: NDArray[np.bool_] = ~hidden[query.row]
    return visible


def _vanished(keys: int) -> str:
    what = either(keys, "weight of the other one is", f"weights of the other {keys:,} are")
    return f"The {what} so small that {either(keys, 'it is', 'they are')} rounded to 0."


class _Ranking(NamedTuple):
    """The keys, the heaviest first, and their weights."""

    keys: NDArray[np.intp]
    weights: Weights

    @classmethod
    def of(cls, weights: Weights, seen: NDArray[np.intp]) -> _Ranking:
        order = seen[np.argsort(-weights[seen], kind="stable")]
        return cls(order, weights[order])

    def group(self, start: int) -> tuple[float, list[int]]:
        """The keys from this place on that have its weight, in their own order."""
        weight = float(self.weights[start])
        # Weights of a problem's own equations may be below 0.
        least = weight - TIE * abs(weight)
        # The search needs numbers that grow, and the weights fall.
        remaining = -self.weights[start:]
        alike = int(np.searchsorted(remaining, -least, side="right"))
        keys = self.keys[start : start + alike]
        return weight, sorted(keys.tolist())


def _shares(query: _Query, ranking: _Ranking) -> list[str]:
    """The largest shares of attention: 70.7 % of its attention to itself, 15 % each to …"""
    said: list[str] = []
    named = 0
    while named < len(ranking.keys):
        weight, keys = ranking.group(named)
        if named and named + len(keys) > MOST_KEYS_NAMED:
            rest = float(ranking.weights[named:].sum())
            others = len(ranking.keys) - named
            whom = _name(query, keys[0])
            if others > 1:
                whom = f"the {others:,} others together"
            said.append(f"{percent(rest)} to {whom}")
            break
        share = percent(weight)
        if not said:
            share += " of its attention"
        if len(keys) > 1:
            share += " each"
        names = f"{len(keys):,} tokens"
        if len(keys) <= MOST_KEYS_NAMED:
            names = listed([_name(query, key) for key in keys])
        said.append(f"{share} to {names}")
        named += len(keys)
    return said


def _together(shares: Sequence[str]) -> str:
    """Shares as people say them: 70.7 % to "love", 22.3 % to "AI" and 7.0 % to itself.

    Beside an "and" within a share, a comma tells them apart.
    """
    *before, last = shares
    if not before:
        return last
    has_and = any(" and " in share for share in shares)
    return ", ".join(before) + (", and " if has_and else " and ") + last


def _origin(query: _Query, ranking: _Ranking) -> str:
    """What an output is made of: mostly the value of "love" (70.7 %).

    Nothing where no value has a large part in it.
    """
    weight, keys = ranking.group(0)
    share = weight * len(keys)
    names = f"{len(keys):,} values of equal weight"
    if len(keys) <= MOST_KEYS_NAMED:
        names = listed([_value(query, key) for key in keys])
    total = percent(share)
    parts_are = "part is"
    if len(keys) > 1:
        total = f"together {total}"
        parts_are = "parts are"
    if share < LEAST_PART_SAID:
        return ""
    if share <= 0.5:
        return f"a mixture. Its largest {parts_are} {names} ({total})"
    how = "almost entirely" if share > 0.95 else "mostly"
    return f"{how} {names} ({total})"


def _value(query: _Query, key: int) -> str:
    if key == query.own:
        return "its own value"
    return f"the value of {_name(query, key)}"


def _name(query: _Query, key: int) -> str:
    if key == query.own:
        return "itself"
    label = query.trace.context_tokens[key]
    return f'"{label}"' if query.often[label] == 1 else f'"{label}" (key {key})'


def largest(numbers: Weights) -> list[int]:
    """Where the largest of these numbers is, in all its places: 1 and 2 of 3, 5, 5.

    NaN and infinities are passed over.
    """
    places = np.flatnonzero(np.isfinite(numbers))
    finite = numbers[places]
    tolerance = TIE * np.abs(finite).max(initial=0)
    is_largest = finite >= finite.max(initial=-np.inf) - tolerance
    return [int(place) for place in places[is_largest]]


def _same(weights: Weights) -> bool:
    return math.isclose(weights.min(), weights.max(), rel_tol=TIE)
