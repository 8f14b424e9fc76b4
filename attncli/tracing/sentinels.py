"""Large negative numbers in place of -inf: what still leaks through them, and what a row of nothing else becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from attncli.dtypes import Dtype
from attncli.english import count, either
from attncli.tracing.model import Parameters, Step, over_weights
from attncli.tracing.rows import named

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGHEST = -1000.0  # a bias by distance stays above it, and what software writes for -inf is far below
CLOSE = 1e-3  # scores this close give the same weights, for a reader


def sentinel_warnings(steps: Mapping[str, Step], dtype: Dtype) -> Iterator[str]:
    """One sentence on weight that leaks, and one for every way in which rows of only sentinels come out."""
    if "mask" not in steps:
        return
    added = steps["mask"].value
    soft = (added <= HIGHEST) & (added > -np.inf)
    if not soft.any():
        return
    weights = steps["weights"].value.astype(np.float64)
    if not np.isfinite(weights).all():
        return
    soft, mask = over_weights(steps, "mask", soft), over_weights(steps, "mask", added)
    alone = (soft | (mask == -np.inf)).all(axis=-1) & soft.any(axis=-1)
    yield from _leaks(steps, np.where(soft & ~alone[..., None], weights, 0.0), mask)
    found: dict[str, list[tuple[int, ...]]] = {}
    for row in map(tuple, np.argwhere(alone).tolist()):
        by = _spelled(mask[row][soft[row]].max())
        with np.errstate(all="ignore"):  # scores that do not fit have a warning of their own
            outcome = f"only keys that {by} was to hide; {_outcome(steps, row, soft[row], dtype)}"
        found.setdefault(outcome, []).append(row)
    for outcome, rows in found.items():
        for who, where, number in named(steps, rows):
            yield f"{who}{where} {either(number, 'sees', 'see')} {outcome}"


def has_sentinels(parameters: Parameters) -> bool:
    """Whether some number of a mask may be such, or become one together with others."""
    added = [given.value for name, given in parameters.items() if name.startswith("additive")]
    finite = (array[np.isfinite(array)] for array in map(np.asarray, added))
    return sum(float(numbers.min(initial=0.0)) for numbers in finite) <= HIGHEST


def turned_infinite(parameters: Parameters, dtype: Dtype) -> Iterator[str]:
    """One sentence on numbers of a mask that the format has no room for: they hide as -inf does."""
    added = [given.value for name, given in parameters.items() if name.startswith("additive")]
    lowest = min((float(np.where(np.isfinite(array), array, 0).min()) for array in map(np.asarray, added)), default=0.0)
    if lowest <= -dtype.overflow:
        yield f"{dtype.name} has no number as low as {_spelled(lowest)}: it becomes -inf, and hides a key as that does"


def _leaks(steps: Mapping[str, Step], leaked: NDArray[np.float64], mask: NDArray[np.float64]) -> Iterator[str]:
    """How much of a row's attention goes to keys that were to be hidden from it, where any does."""
    rows = leaked.sum(axis=-1)
    giving = [tuple(row) for row in np.argwhere(rows > 0).tolist()]
    if not giving:
        return
    worst = max(giving, key=lambda row: float(rows[row]))
    by = _spelled(float(mask[worst][int(np.argmax(leaked[worst]))]))
    most = f", the most of {count(len(giving), 'row')}" if len(giving) > 1 else ""
    ((who, where, _),) = named(steps, [worst])
    yield f"{who}{where} gives {rows[worst]:.3g} of its attention to keys that {by} was to hide{most}"


def _outcome(steps: Mapping[str, Step], row: tuple[int, ...], soft: NDArray[np.bool_], dtype: Dtype) -> str:
    """What the weights of a row of only sentinels are."""

    def seen(name: str) -> NDArray[np.float64]:
        return np.asarray(over_weights(steps, name, steps[name].value)[row][soft], dtype=np.float64)

    if not steps["weights"].value[row].any():
        return "no key gets any of its attention"
    if np.ptp(seen("mask")):
        return "those with the largest number get its weights"
    before = seen(next(name for name in ("capped", "scaled", "scores") if name in steps))
    before = before + seen("bias") if "bias" in steps else before
    masked = seen("masked")
    if np.abs((masked - masked.max()) - (before - before.max())).max() <= CLOSE:
        return "the numbers cancel, and the weights are as if nothing were hidden"
    if not np.ptp(masked):
        return f"{dtype.name} loses the scores beside it, and all {len(masked):,} keys get the same weight"
    return f"{dtype.name} loses digits of the scores beside it, and the weights are neither hidden nor right"


def _spelled(number: float) -> str:
    """-1e9, -10000 or -3.4028e38."""
    return re.sub(r"e\+0?", "e", f"{number:.5g}")
