"""Whether the numbers of a step say which mistake was made: what they cannot show, and what they
cannot tell apart.

This is asked of a problem before anybody works it out. `attncli check` asks the same of a solution.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.errors import usage_error
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.mistaken_trace import ALIKE_WITHIN, MistakenTrace
from attncli.problem.matrix import Scalar
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace

# In units of the last digit: numbers this far apart stay apart, however each of them was rounded.
UNITS_APART = 2
# A larger step is refused: every mistake gives as many numbers, and is compared with every other.
MOST_NUMBERS_AUDITED = 10_000


class Audit(NamedTuple):
    """What the numbers of `step` say, written with so many `decimals`, of the mistakes that change
    it.

    `shown` are the mistakes that these numbers show, in the order in which they can be made. Those
    that are `same` give the right numbers, as a division by the root of n does where n = d_k; those
    that are `hidden` give others, but less than two units of the last digit away. `alike` are
    groups of shown mistakes that the numbers cannot tell apart. `equal_sizes` say why a division by
    the wrong size does not show: "n = d_k = 3".
    """

    step: str
    decimals: int
    equal_sizes: tuple[str, ...]
    shown: tuple[str, ...]
    same: tuple[str, ...]
    hidden: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]


def audit(trace: Trace, step: str, decimals: int) -> Audit:
    """Which mistakes the numbers of this step show; AttncliError (exit 2) if the step is too large
    for that.
    """
    if trace[step].size > MOST_NUMBERS_AUDITED:
        raise usage_error(
            f"{step} has {trace[step].size:,} numbers, and attncli compares mistakes in at most"
            f" {MOST_NUMBERS_AUDITED:,}",
            help="ask for a smaller step, or for a problem that can be worked out on paper",
        )
    right = trace[step].astype(np.float64).ravel()
    numbers = {}
    same, shown, hidden = [], [], []
    for name, array in mistaken_numbers(trace, step).items():
        cells = array.ravel()
        numbers[name] = cells
        is_same = np.allclose(cells, right, ALIKE_WITHIN, ALIKE_WITHIN)
        is_shown = told_apart(cells, right, decimals)
        if is_same:
            same.append(name)
        if is_shown:
            shown.append(name)
        if not is_same and not is_shown:
            hidden.append(name)
    by_shown = np.array([numbers[name] for name in shown])
    pairs = all_told_apart(by_shown.reshape(len(shown), right.size), decimals)
    alike = _groups(shown, pairs)
    unclear = {*same, *chain(*alike)}
    return Audit(
        step,
        decimals,
        equal_sizes(trace, unclear),
        tuple(shown),
        tuple(same),
        tuple(hidden),
        alike,
    )


def equal_sizes(trace: Trace, mistakes: Collection[str]) -> tuple[str, ...]:
    """Which sizes are d_k, or its square, though some of these mistakes divide by them instead."""
    d_k = trace.parameters.get("d_k")
    if not isinstance(d_k, Scalar):
        return ()
    sizes = {"n": len(trace.tokens)} | ({"d_model": trace["X"].shape[-1]} if "X" in trace else {})
    found = []
    for name, size in sizes.items():
        if not {
            f"the scores were divided by {name}",
            f"the scores were divided by the root of {name}",
        } & {*mistakes}:
            continue
        if size == d_k.value:
            found.append(f"{name} = d_k = {size}")
        elif size == d_k.value**2:
            found.append(f"the root of {name} is d_k = {d_k.value:g}")
    return tuple(found)


def mistaken_numbers(trace: Trace, step: str) -> dict[str, Doubles]:
    """The numbers of a step by each mistake that can be made on the way to it."""
    tried = ((mistake, MistakenTrace(trace, changes)) for mistake, changes in applicable(trace))
    return {mistake.name: mistaken[step] for mistake, mistaken in tried if step in mistaken.moved}


def told_apart(one: Doubles, other: Doubles, decimals: int) -> NDArray[np.bool_]:
    """Whether any two numbers along the last axis are at least two units of the last of these
    decimals apart.
    """
    least = UNITS_APART * 10.0**-decimals - ALIKE_WITHIN
    # Infinities less themselves are NaN, which is not near.
    with np.errstate(invalid="ignore"):
        is_near = abs(one - other) < least
    both_nan = np.isnan(one) & np.isnan(other)
    is_same = (one == other) | both_nan
    is_alike = (is_near | is_same).all(axis=-1)
    return np.asarray(~is_alike)


def all_told_apart(numbers: Doubles, decimals: int) -> NDArray[np.bool_]:
    """The same for every two of several rows of numbers (rows × … × numbers): rows × rows × …"""
    rows = [told_apart(row, numbers, decimals) for row in numbers]
    return np.array(rows, dtype=bool).reshape(len(numbers), *numbers.shape[:-1])


def _groups(names: Sequence[str], apart: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    """The groups of those that are not apart, nor apart from another of their group; without groups
    of one.
    """
    number_of_group = list(range(len(names)))
    for one, other in np.argwhere(~apart):
        kept = number_of_group[one]
        gone = number_of_group[other]
        for place, number in enumerate(number_of_group):
            if number == gone:
                number_of_group[place] = kept
    return _with_several(names, number_of_group)


def _with_several(names: Sequence[str], group: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The names by the number of their group, where a group has two or more."""
    groups: dict[int, list[str]] = {}
    for name, number in zip(names, group, strict=True):
        members = groups.setdefault(number, [])
        members.append(name)
    several = []
    for members in groups.values():
        if len(members) > 1:
            several.append(tuple(members))
    return tuple(several)
