"""What a reader of a trace must be told: queries that see no key, and numbers that do not fit their format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from attncli.backend import Host
from attncli.dtypes import DTYPES, Dtype
from attncli.english import either
from attncli.tracing.hidden import meant_infinite
from attncli.tracing.model import Parameters, Row, Step, masked_out
from attncli.tracing.rows import named
from attncli.tracing.sentinels import sentinel_warnings, turned_infinite
from attncli.tracing.settings import Settings

if TYPE_CHECKING:
    pass


def rows_without_keys(steps: Mapping[str, Step]) -> tuple[Row, ...]:
    """The rows from which the mask hides every key."""
    hidden = masked_out(steps)
    if hidden is None:
        return ()
    rows = [tuple(map(int, row)) for row in np.argwhere(hidden.all(axis=-1))]
    return tuple(row[0] for row in rows) if hidden.ndim == 2 else tuple(rows)


def warnings(
    steps: Mapping[str, Step], parameters: Parameters, fully_masked: tuple[Row, ...], settings: Settings
) -> tuple[str, ...]:
    """What queries see that see no key, or none that was not to be hidden; ones that hide nothing; what overflows.

    Where some step was not kept, there was nothing to tell but rows without keys.
    """
    if not all(step.kept for step in steps.values()):
        return tuple(_unseeing(steps, fully_masked))
    dtype = DTYPES[settings.dtype]
    sentinels = (*turned_infinite(parameters, dtype), *sentinel_warnings(steps, dtype))
    ones = _added_ones(steps, settings.convention)
    return (*_unseeing(steps, fully_masked), *sentinels, *ones, *overflows(steps, dtype))


def _unseeing(steps: Mapping[str, Step], fully_masked: tuple[Row, ...]) -> Iterator[str]:
    for who, where, number in named(steps, fully_masked) if fully_masked else ():
        whose = either(number, "its weights and its output are", "their weights and their outputs are")
        yield f"{who} {either(number, 'sees', 'see')} no key{where}: {whose} 0{' there' if where else ''}"


def _added_ones(steps: Mapping[str, Step], convention: str | None) -> Iterator[str]:
    """A mask of 0 and 1 that other software adds, where truth values may have been meant."""
    if convention is None or "mask" not in steps:
        return
    added = steps["mask"].value
    if (added == 1).any() and np.isin(added, (0, 1, -math.inf)).all():
        yield f"the 0 and 1 of this mask are added to the scores, as {convention} adds them, and hide no key"


def overflows(steps: Mapping[str, Step], dtype: Dtype) -> Iterator[str]:
    """One sentence for every step that does not fit its number format, though all that it is made of does."""
    lost: set[str] = set()
    for step in steps.values():
        with np.errstate(all="ignore"):
            if np.isfinite(step.value.sum()):  # as it is only where every cell is
                continue
        meant = meant_infinite(step.rule, step.value, masked_out(steps), np)
        bad = ~np.isfinite(step.value)
        bad = bad if meant is None else bad & ~(meant & (step.value == -math.inf))
        if bad.any():
            if lost.isdisjoint(step.rule.inputs):
                yield _overflow(step, bad, dtype)
            lost.add(step.name)


def _overflow(step: Step, bad: Host, dtype: Dtype) -> str:
    if not step.shape:
        return f"{step.name} does not fit into {dtype.name}"
    where = ",".join(labels[at] for labels, at in zip(step.labels, np.argwhere(bad)[0], strict=True))
    number, undefined = int(bad.sum()), int(np.isnan(step.value).sum())
    does = f"{either(number, 'does', 'do')} not fit into {dtype.name}"
    if undefined == number:
        does = f"{either(number, 'is', 'are')} NaN: numbers on the way do not fit into {dtype.name}"
    elif undefined:
        does += f", {undefined:,} of them NaN"
    return f"{step.name}: {number:,} of {step.value.size:,} cells {does} (the first at {step.name}[{where}])"
