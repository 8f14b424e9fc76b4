"""Mistakes that are one in these numbers: which of them are, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from attncli.mistakes.mistaken_trace import ALIKE_WITHIN, MistakenTrace
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace


def groups_of_alike(made: Mapping[str, MistakenTrace]) -> list[tuple[str, ...]]:
    """The names of mistakes, in groups that make the same numbers of the first step that they
    change.

    With d_k = 4 and d_model = 16, a division by d_k and one by the root of d_model are one: by 4.
    """
    groups: list[list[str]] = []
    for name, mistaken in made.items():
        group = next((group for group in groups if _alike(made[group[0]], mistaken)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [tuple(group) for group in groups]


def shared_words(trace: Trace, names: tuple[str, ...], mistaken: MistakenTrace) -> str:
    """What a group of mistakes does, in numbers: All 4 mistakes divide scores by 4 instead of 2.

    `mistaken` are the numbers with any of them.
    """
    step = mistaken.first_changed
    who = "Both mistakes" if len(names) == 2 else f"All {len(names)} mistakes"
    right, made = trace[step].astype(np.float64), mistaken[step]
    read = _read_alone(trace, step)
    if read is not None:
        before = trace[read].astype(np.float64)
        own, other = _factor(before, right), _factor(before, made)
        if own is not None and other is not None:
            return f"{who} {_scaled(read, own, other)}."
    times = _factor(right, made)
    if times is not None:
        return f"{who} multiply the right {step} by {times:.4g}."
    return f"{who} give the same {step}."


def _alike(one: MistakenTrace, other: MistakenTrace) -> bool:
    step = one.first_changed
    return step == other.first_changed and np.allclose(
        one[step], other[step], ALIKE_WITHIN, 0, equal_nan=True
    )


def _read_alone(trace: Trace, step: str) -> str | None:
    """The step that this one is worked out from, cell by cell, if it is one alone."""
    inputs = () if trace.steps[step].rule.given else trace.steps[step].rule.inputs
    alone = len(inputs) == 1 and inputs[0] in trace and trace[inputs[0]].shape == trace[step].shape
    return inputs[0] if alone else None


def _factor(before: Doubles, after: Doubles) -> float | None:
    """c where every cell after is c times the one before; None where there is no such number, or it
    is 0.
    """
    if not (np.isfinite(before).all() and np.isfinite(after).all()) or not before.any():
        return None
    largest = np.unravel_index(np.argmax(np.abs(before)), before.shape)
    times = float(after[largest] / before[largest])
    if not isfinite(times) or not times:
        return None
    return (
        times
        if np.allclose(
            before * times, after, ALIKE_WITHIN, ALIKE_WITHIN * float(np.abs(after).max())
        )
        else None
    )


def _scaled(read: str, right: float, made: float) -> str:
    """divide scores by 4 instead of 2; multiply scores by 2 instead of dividing by 2."""
    if made <= 1 and right <= 1:
        return f"divide {read} by {1 / made:.4g} instead of {1 / right:.4g}"
    if made > 1 and right > 1:
        return f"multiply {read} by {made:.4g} instead of {right:.4g}"
    if made > 1:
        return f"multiply {read} by {made:.4g} instead of dividing by {1 / right:.4g}"
    return f"divide {read} by {1 / made:.4g} instead of multiplying by {right:.4g}"
