"""Where a function differs whose mistake has no name: what the cases have in common that differ,
and which part of their outputs is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from attncli.testing.asking import CaseResult
from attncli.testing.case import Case

# Scores of such queries are hundreds.
LARGE_NUMBERS = 100
MANY_KEYS = 1000
AXES = ("entry", "head", "query", "feature")
# What settings are in words, by their roles.
SETTINGS = {
    "causal": "a causal mask is asked for",
    "scale": "a scale is given",
    "window": "a window is given",
    "softcap": "a softcap is given",
    "sink": "a sink is given",
    "grouped": "heads share keys and values",
    "alibi": "ALiBi is asked for",
    "rope": "RoPE is asked for",
    "rope_parameters": "RoPE of a config.json is asked for",
    "offset": "queries come after a cache",
}


class Condition(NamedTuple):
    """What a case may have, in words."""

    words: str
    holds: Callable[[Case], bool]


def only_where(results: Sequence[CaseResult], left: Sequence[CaseResult]) -> str | None:
    """A sentence with what all cases that are `left` have and none that agrees; None where nothing
    is so, or no case agrees.
    """
    right = [each.case for each in results if each.result == "same"]
    wrong = [each.case for each in left]
    if not right or not wrong:
        return None
    common = [each for each in _conditions() if all(map(each.holds, wrong))]
    for number in (1, 2):
        for some in combinations(common, number):
            if not any(_has_all(case, some) for case in right):
                return f"It differs only where {' and '.join(each.words for each in some)}."
    return None


def patterns(results: Sequence[CaseResult], left: Sequence[CaseResult]) -> tuple[str, ...]:
    """All sentences that are true of the cases that are `left`."""
    outputs = [each for each in left if not each.is_of_gradients]
    found = (only_where(results, left), right_part(outputs))
    return tuple(each for each in found if each)


def _has_all(case: Case, conditions: Sequence[Condition]) -> bool:
    return all(each.holds(case) for each in conditions)


def right_part(left: Sequence[CaseResult]) -> str | None:
    """A sentence with the part of the outputs that is right, or wrong, in all cases that are
    `left`; None where there is none.
    """
    wrong = [_wrong_places(each) for each in left]
    if not wrong or not all(wrong):
        return None
    for axis in AXES:
        places = [each[axis] for each in wrong if axis in each]
        if len(places) < len(wrong):
            continue
        if all(0 not in found for found, _ in places):
            return f"The first {axis} is right in each."
        if all(found == {size - 1} for found, size in places):
            return f"Only the last {axis} is wrong in each."
        if all(found == {0} for found, _ in places):
            return f"Only the first {axis} is wrong in each."
    return None


def is_partly_right(result: CaseResult) -> bool:
    """Whether an output that differs is right in its first entry, or in its first head."""
    if result.result != "differs":
        return False
    places = _wrong_places(result)
    leading = [places[axis] for axis in AXES[:2] if axis in places]
    return any(0 not in found for found, _ in leading)


def _wrong_places(result: CaseResult) -> dict[str, tuple[set[int], int]]:
    """The places on each axis that have wrong cells, and how long it is."""
    assert result.output is not None
    wrong = result.right.wrong_cells(result.output)
    found = {}
    for axis, name in enumerate(AXES[-wrong.ndim :]):
        others = tuple(other for other in range(wrong.ndim) if other != axis)
        places = np.flatnonzero(wrong.any(axis=others))
        if len(places) and wrong.shape[axis] > 1:
            found[name] = ({int(place) for place in places}, wrong.shape[axis])
    return found


def _conditions() -> Iterator[Condition]:
    """What may be the reason, the most likely first."""
    for role, words in SETTINGS.items():
        yield Condition(words, _asks(role))
    yield Condition("a mask of truth values is given", lambda case: _is_mask_of(case, "b"))
    yield Condition("a mask of numbers is given", lambda case: _is_mask_of(case, "f"))
    yield Condition("there are fewer queries than keys", lambda case: _extra_keys(case) > 0)
    yield Condition("there are as many queries as keys", lambda case: _extra_keys(case) == 0)
    yield Condition("a query sees no key", lambda case: case.has_blind_query)
    yield Condition("numbers are in float16", lambda case: case.dtype == "float16")
    yield Condition("numbers are in bfloat16", lambda case: case.dtype == "bfloat16")
    yield Condition("numbers have 16 bits", lambda case: bool(case.dtype))
    yield Condition("the masks of heads differ", _differs_along(-3))
    yield Condition("the masks of entries differ", _differs_along(-4))
    yield Condition("scores are large", _has_large_scores)
    yield Condition("there are thousands of keys", lambda case: case.keys.shape[-2] > MANY_KEYS)


def _asks(role: str) -> Callable[[Case], bool]:
    return lambda case: role in case.asks


def _is_mask_of(case: Case, kind: str) -> bool:
    mask = case.asks.get("mask")
    return mask is not None and mask.dtype.kind == kind


def _extra_keys(case: Case) -> int:
    return int(case.keys.shape[-2] - case.queries.shape[-2])


def _has_large_scores(case: Case) -> bool:
    return bool(np.abs(case.queries).max() > LARGE_NUMBERS)


def _differs_along(axis: int) -> Callable[[Case], bool]:
    def differs(case: Case) -> bool:
        mask = case.asks.get("mask")
        return mask is not None and mask.ndim >= -axis and mask.shape[axis] > 1

    return differs
