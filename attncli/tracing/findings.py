"""What a reader of a trace must be told: queries that see no key, and numbers that do not fit their format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from attncli.choices import Dtype
from attncli.english import either
from attncli.tracing.model import Step, masked_out


def rows_without_keys(steps: Mapping[str, Step]) -> tuple[int, ...]:
    """The rows from which the mask hides every key."""
    hidden = masked_out(steps)
    return () if hidden is None else tuple(int(row) for row in np.flatnonzero(hidden.all(axis=1)))


def warnings(
    tokens: tuple[str, ...], steps: Mapping[str, Step], fully_masked: tuple[int, ...], dtype: Dtype
) -> tuple[str, ...]:
    """One sentence for every query that sees no key, and one for the first step whose numbers do not fit."""
    unseeing = (
        f'query "{tokens[row]}" (row {row}) sees no key: its weights and its output are 0' for row in fully_masked
    )
    return (*unseeing, *list(_overflows(steps, dtype))[:1])


def _overflows(steps: Mapping[str, Step], dtype: Dtype) -> Iterator[str]:
    for step in steps.values():
        if np.isfinite(step.value.sum()):  # as it is only where every cell is
            continue
        bad = np.argwhere(~np.isfinite(step.value) & ~(_meant_infinite(steps, step) & (step.value == -math.inf)))
        if len(bad):
            where = ",".join(labels[at] for labels, at in zip(step.labels, bad[0], strict=True))
            cells = f"{len(bad)} of {step.value.size:,} cells {either(len(bad), 'does', 'do')}"
            yield f"{step.name}: {cells} not fit into {dtype.name} (the first at {step.name}[{where}])"


def _meant_infinite(steps: Mapping[str, Step], step: Step) -> NDArray[np.bool_]:
    """Where a mask puts -inf on purpose: in the cells it hides, and in a row of which it hides all."""
    hidden = masked_out(steps)
    if hidden is not None and step.rule.axes == ("query", "key"):
        return np.asarray(hidden)
    if hidden is not None and step.rule.axes == ("query",):
        return np.asarray(hidden.all(axis=1))
    return np.zeros(step.shape, dtype=bool)
