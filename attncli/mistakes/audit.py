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
from attncli.mistakes.mistaken import Mistaken
from attncli.problem.matrix import Scalar
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace

# In units of the last digit: numbers this far apart stay apart, however each of them was rounded.
UNITS_APART = 2
# A larger step is refused: every mistake gives as many numbers, and is compared with every other.
MOST_NUMBERS_AUDITED = 10_000
# Relative: numbers this near are one, worked out in another order.
_ALIKE_WITHIN = 1e-9


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
    made = mistaken_numbers(trace, step)
    numbers = {name: array.ravel() for name, array in made.items()}
    same = tuple(
        name
        for name, array in numbers.items()
        if np.allclose(array, right, _ALIKE_WITHIN, _ALIKE_WITHIN)
    )
    shown = tuple(name for name, array in numbers.items() if told_apart(array, right, decimals))
    hidden = tuple(name for name in numbers if name not in (*same, *shown))
    pairs = all_told_apart(
        np.array([numbers[name] for name in shown]).reshape(len(shown), right.size), decimals
    )
    alike = _groups(shown, pairs)
    return Audit(
        step, decimals, equal_sizes(trace, {*same, *chain(*alike)}), shown, same, hidden, alike
    )


def equal_sizes(trace: Trace, mistakes: Collection[str]) -> tuple[str, ...]:
    """Which sizes are d_k, or its square, though some of these mistakes divide by them instead."""
    d_k = trace.parameters.get("d_k")
    if not isinstance(d_k, Scalar):
        return ()
    sizes = {"n": trace[trace.logits].shape[-2]} | (
        {"d_model": trace["X"].shape[-1]} if "X" in trace else {}
    )
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
    tried = ((mistake, Mistaken(trace, changes)) for mistake, changes in applicable(trace))
    return {mistake.name: mistaken[step] for mistake, mistaken in tried if step in mistaken.moved}


def told_apart(one: Doubles, other: Doubles, decimals: int) -> NDArray[np.bool_]:
    """Whether any two numbers along the last axis are at least two units of the last of these
    decimals apart.
    """
    least = UNITS_APART * 10.0**-decimals - _ALIKE_WITHIN
    # Infinities less themselves are NaN, which is not near.
    with np.errstate(invalid="ignore"):
        near = abs(one - other) < least
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.asarray(~(near | same).all(axis=-1))


def all_told_apart(numbers: Doubles, decimals: int) -> NDArray[np.bool_]:
    """The same for every two of several rows of numbers (rows × … × numbers): rows × rows × …"""
    rows = [told_apart(row, numbers, decimals) for row in numbers]
    return np.array(rows, dtype=bool).reshape(len(numbers), *numbers.shape[:-1])


def _groups(names: Sequence[str], apart: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    """The groups of those that are not apart, nor apart from another of their group; without groups
    of one.
    """
    group = list(range(len(names)))
    for one, other in np.argwhere(~apart):
        joined, gone = group[one], group[other]
        group = [joined if each == gone else each for each in group]
    return _with_several(names, group)


def _with_several(names: Sequence[str], group: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The names by the number of their group, where a group has two or more."""
    members: dict[int, list[str]] = {}
    for name, number in zip(names, group, strict=True):
        others = members.setdefault(number, [])
        others.append(name)
    several = [tuple(each) for each in members.values() if len(each) > 1]
    return tuple(several)
