"""A trace read aloud: who attends to whom, and where each output row comes from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from attncli.english import listed
from attncli.equation.decimals import round_half_up
from attncli.problem.axes import PLACES
from attncli.tracing.model import Trace
from attncli.tracing.slices import at, leading, length

Weights = NDArray[np.float64]

MOST_KEYS = 4  # named one by one; the others are summed up
TIE = 1e-9  # weights closer than this, in relation, are the same


def percent(share: float) -> str:
    """A share as people say it, rounded half up: 70.7 %."""
    return f"{round_half_up(Decimal(f'{100 * share:.13e}'), 1)} %"


def reading(trace: Trace) -> tuple[str, ...]:
    """For each query, how it spreads its attention and what its output is made of, head by head."""
    if own := leading(trace):
        word = PLACES[own[0]]
        return tuple(
            f"{word[0].upper()}{word[1:]} {place}: {sentence}"
            for place in range(length(trace, own[0]))
            for sentence in reading(at(trace, {own[0]: place}))
        )
    return tuple(" ".join(_row(trace, row)) for row in range(len(trace.tokens)))


def _row(trace: Trace, row: int) -> Iterator[str]:
    who = f'"{trace.tokens[row]}"'
    weights = trace["weights"][row].astype(np.float64)
    found = "what it finds" if "heads_output" in trace else "its output"
    if row in trace.fully_masked:
        yield f"{who} sees no key: it pays no attention to anything, and {found} is 0."
        return
    if not np.isfinite(weights).all():
        yield f"{who} has scores that do not fit into {trace.settings.dtype}: its weights cannot be told."
        return
    seen = np.flatnonzero(weights > 0)
    if not len(seen):
        yield f"{who} spreads its attention so thinly that every weight is rounded to 0, and {found} with them."
        return
    sunk = 1 - float(weights.sum()) if "sink" in trace.parameters or "sink" in trace else 0.0
    if sunk > TIE:
        groups = _groups(weights, seen)
        yield f"{who} pays {', '.join(_shares(trace, row, groups))}, and {percent(sunk)} to the sink."
        yield f"{found[0].upper()}{found[1:]} is the sum of these shares of their values."
        return
    if len(seen) == 1:
        name = _name(trace, row, int(seen[0]))
        yield f"{who} pays all of its attention to {name}, so {found} is that value."
        return
    if _same(weights[seen]):
        everything = "every token" if len(seen) == len(weights) else f"the {len(seen)} tokens it sees"
        yield f"{who} looks evenly at {everything} ({percent(float(weights[seen[0]]))} each)."
        whose = "all" if len(seen) == len(weights) else "their"
        yield f"{found[0].upper()}{found[1:]} is the plain average of {whose} values."
        return
    groups = _groups(weights, seen)
    yield f"{who} pays {', '.join(_shares(trace, row, groups))}."
    yield f"{found[0].upper()}{found[1:]} is {_origin(trace, row, groups)}."


def _groups(weights: Weights, seen: NDArray[np.intp]) -> list[tuple[float, list[int]]]:
    """Keys of equal weight together, the heaviest first."""
    groups: list[tuple[float, list[int]]] = []
    for key in seen[np.argsort(-weights[seen], kind="stable")]:
        weight = float(weights[key])
        if groups and math.isclose(weight, groups[-1][0], rel_tol=TIE):
            groups[-1][1].append(int(key))
        else:
            groups.append((weight, [int(key)]))
    return [(weight, sorted(keys)) for weight, keys in groups]


def _shares(trace: Trace, row: int, groups: list[tuple[float, list[int]]]) -> list[str]:
    said: list[str] = []
    named = 0
    for place, (weight, keys) in enumerate(groups):
        if named and named + len(keys) > MOST_KEYS:
            rest = [(weight, len(keys)) for weight, keys in groups[place:]]
            count = sum(number for _, number in rest)
            total = percent(sum(weight * number for weight, number in rest))
            said.append(f"{total} to {f'the {count} others together' if count > 1 else _name(trace, row, keys[0])}")
            break
        names = listed([_name(trace, row, key) for key in keys]) if len(keys) <= MOST_KEYS else f"{len(keys)} tokens"
        share = percent(weight) if said else f"{percent(weight)} of its attention"
        said.append(f"{share} {'each ' if len(keys) > 1 else ''}to {names}")
        named += len(keys)
    return said


def _origin(trace: Trace, row: int, groups: list[tuple[float, list[int]]]) -> str:
    weight, keys = groups[0]
    share = weight * len(keys)
    names = listed([_value(trace, row, key) for key in keys])
    if len(keys) > MOST_KEYS:
        names = f"{len(keys)} values of equal weight"
    total = f"{'together ' if len(keys) > 1 else ''}{percent(share)}"
    if share <= 0.5:
        return f"a mixture, its largest part {names} ({total})"
    return f"{'almost entirely' if share > 0.95 else 'mostly'} {names} ({total})"


def _value(trace: Trace, row: int, key: int) -> str:
    name = _name(trace, row, key)
    return "its own value" if name == "itself" else f"the value of {name}"


def _name(trace: Trace, row: int, key: int) -> str:
    if key == trace.own_key(row):
        return "itself"
    label = trace.context_tokens[key]
    return f'"{label}"' if trace.context_tokens.count(label) == 1 else f'"{label}" (key {key})'


def _same(weights: Weights) -> bool:
    return math.isclose(weights.min(), weights.max(), rel_tol=TIE)
