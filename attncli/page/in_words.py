"""A trace read aloud: who attends to whom, and where each output row comes from."""

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
from attncli.tracing.model import Trace, masked_out
from attncli.tracing.slices import axis_length, trace_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights: TypeAlias = "NDArray[np.float64]"

# named one by one; the others are summed up
MOST_KEYS = 4
HALF = 0.0005  # of the last place of a share
# weights closer than this, in relation, are the same
TIE = 1e-9


def percent(share: float) -> str:
    """A share as people say it, rounded half up: 70.7 %; what would be rounded to nothing or to all
    is not that.
    """
    if 0 < share < HALF:
        return "less than 0.1 %"
    if 1 - HALF <= share < 1 - TIE:
        return "more than 99.9 %"
    return f"{round_half_up(Decimal(f'{100 * share:.13e}'), 1)} %"


def reading(trace: Trace, some: Callable[[Sequence[int]], Sequence[int]] = list) -> tuple[str, ...]:
    """For each query, or some, how it spreads its attention and what its output is made of, head by
    head.
    """
    if own := trace.leading_letters:
        word = PLACES[own[0]]
        return tuple(
            f"{word[0].upper()}{word[1:]} {place}: {sentence}"
            for place in range(axis_length(trace, own[0]))
            for sentence in reading(trace_at(trace, {own[0]: place}), some)
        )
    masked, often, first = (
        frozenset(trace.fully_masked),
        Counter(trace.context_tokens),
        trace.own_key(0),
    )
    rows = some(range(len(trace.tokens)))
    queries = (_Row(trace, row, None if first is None else first + row, often) for row in rows)
    return tuple(" ".join(_row(query, query.row in masked)) for query in queries)


class _Row(NamedTuple):
    """One query, and the key of its own token; `often` says how many keys are called alike."""

    trace: Trace
    row: int
    own: int | None
    often: Counter[str]


def _row(query: _Row, masked: bool) -> Iterator[str]:
    trace, row = query.trace, query.row
    who = f'"{trace.tokens[row]}"'
    weights = trace["weights"][row].astype(np.float64)
    found = "its output in this head" if "heads_output" in trace else "its output"
    if masked:
        yield f"{who} sees no key: it pays no attention to anything, and {found} is 0."
        return
    if not np.isfinite(weights).all():
        yield (
            f"{who} has scores that do not fit into {trace.settings.dtype}, so its weights are"
            " unknown."
        )
        return
    seen = np.flatnonzero(weights > 0)
    if not len(seen):
        yield (
            f"{who} pays so little attention to each key that every weight is rounded to 0. So"
            f" {found} is 0, too."
        )
        return
    sunk = 1 - float(weights.sum()) if "sink" in trace.parameters or "sink" in trace else 0.0
    if sunk > TIE:
        shares = _shares(query, _Ranking.of(weights, seen))
        yield f"{who} pays {', '.join(shares)}, and {percent(sunk)} to the sink."
        yield f"{found[0].upper()}{found[1:]} is the sum of the values, each times its share."
        return
    if len(seen) == 1:
        name, value = _name(query, int(seen[0])), _value(query, int(seen[0]))
        yield f"{who} pays all of its attention to {name}, so {found} is {value}."
        return
    if _same(weights[seen]):
        vanished = int(_visible(query).sum()) - len(seen)
        everything = (
            "every token" if len(seen) == len(weights) else f"the {len(seen):,} tokens it sees"
        )
        tokens = f"{len(seen):,} of the tokens it sees" if vanished else everything
        yield (
            f"{who} pays the same attention to {tokens} ({percent(float(weights[seen[0]]))} each)."
        )
        if vanished:
            yield _vanished(vanished)
        whose = "all" if len(seen) == len(weights) else "their"
        yield f"{found[0].upper()}{found[1:]} is the average of {whose} values."
        return
    ranking = _Ranking.of(weights, seen)
    yield f"{who} pays {', '.join(_shares(query, ranking))}."
    yield f"{found[0].upper()}{found[1:]} is {_origin(query, ranking)}."


def _visible(query: _Row) -> NDArray[np.bool_]:
    """The keys that the mask lets a query see, also those whose weights are rounded to 0."""
    hidden = masked_out(query.trace.steps)
    return (
        np.ones(len(query.trace["weights"][query.row]), dtype=bool)
        if hidden is None
        else ~hidden[query.row]
    )


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
        end = start + int(
            np.searchsorted(-self.weights[start:], -(weight - TIE * weight), side="right")
        )
        return weight, sorted(self.keys[start:end].tolist())


def _shares(query: _Row, ranking: _Ranking) -> list[str]:
    said: list[str] = []
    named = 0
    while named < len(ranking.keys):
        weight, keys = ranking.group(named)
        if named and named + len(keys) > MOST_KEYS:
            count, total = len(ranking.keys) - named, percent(float(ranking.weights[named:].sum()))
            said.append(
                f"{total} to"
                f" {f'the {count:,} others together' if count > 1 else _name(query, keys[0])}"
            )
            break
        names = (
            listed([_name(query, key) for key in keys])
            if len(keys) <= MOST_KEYS
            else f"{len(keys):,} tokens"
        )
        share = percent(weight) if said else f"{percent(weight)} of its attention"
        said.append(f"{share} {'each ' if len(keys) > 1 else ''}to {names}")
        named += len(keys)
    return said


def _origin(query: _Row, ranking: _Ranking) -> str:
    weight, keys = ranking.group(0)
    share = weight * len(keys)
    names = (
        listed([_value(query, key) for key in keys])
        if len(keys) <= MOST_KEYS
        else f"{len(keys):,} values of equal weight"
    )
    total = f"{'together ' if len(keys) > 1 else ''}{percent(share)}"
    if share <= 0.5:
        are = "s are" if len(keys) > 1 else " is"
        return f"a mixture. Its largest part{are} {names} ({total})"
    return f"{'almost entirely' if share > 0.95 else 'mostly'} {names} ({total})"


def _value(query: _Row, key: int) -> str:
    name = _name(query, key)
    return "its own value" if name == "itself" else f"the value of {name}"


def _name(query: _Row, key: int) -> str:
    if key == query.own:
        return "itself"
    label = query.trace.context_tokens[key]
    return f'"{label}"' if query.often[label] == 1 else f'"{label}" (key {key})'


def largest(numbers: Weights) -> list[int]:
    """Where the largest of these numbers is, in all its places; NaN and infinities are passed
    over.
    """
    places = np.flatnonzero(np.isfinite(numbers))
    finite = numbers[places]
    top = finite.max(initial=-np.inf) - TIE * np.abs(finite).max(initial=0)
    return [int(place) for place in places[finite >= top]]


def _same(weights: Weights) -> bool:
    return math.isclose(weights.min(), weights.max(), rel_tol=TIE)
