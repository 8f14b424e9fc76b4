"""Solutions as students write them: four matrices, each worked out from what was written before.

Everything is NumPy. A solution is right unless it is told otherwise: by another function for a
step, by cells that are written otherwise, by cells or steps that are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Matrices: TypeAlias = dict[str, Array]
Work: TypeAlias = Callable[[Matrices], Array]
Rounding: TypeAlias = Callable[[Array], Array]
Written: TypeAlias = dict[str, list[list[str | None]]]


def softmax(z: Array) -> Array:
    exponentials = np.exp(z)
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


WORK: dict[str, Work] = {
    "scores": lambda m: m["Q"] @ m["K"].T,
    "scaled": lambda m: m["scores"] / math.sqrt(m["K"].shape[-1]),
    "weights": lambda m: softmax(m["scaled"]),
    "output": lambda m: m["weights"] @ m["V"],
}


def half_up(decimals: int = 2) -> Rounding:
    """A half is rounded away from 0, as on paper."""

    def rounded(array: Array) -> Array:
        units = np.floor(abs(array) * 10.0**decimals + 0.5 + 1e-9)
        return np.asarray(np.copysign(units, array) / 10.0**decimals + 0.0)

    return rounded


def half_even(decimals: int = 2) -> Rounding:
    """As NumPy and Python round."""
    return lambda array: np.round(array, decimals) + 0.0


def cut(decimals: int = 2) -> Rounding:
    """Digits are cut off: 0.66 for 0.667."""

    def shortened(array: Array) -> Array:
        return np.asarray(np.trunc(array * 10.0**decimals + np.sign(array) * 1e-9) / 10**decimals)

    return shortened


def written(
    given: Mapping[str, Any],
    *,
    rounding: Rounding | None = None,
    decimals: int = 2,
    on_the_way: bool = True,
    work: Mapping[str, Work] | None = None,
    cells: Mapping[str, Mapping[tuple[int, int], float]] | None = None,
    only: tuple[str, ...] = tuple(WORK),
) -> Written:
    """The matrices of a solution as texts with so many decimals.

    Each step is worked out from the rounded numbers before it, or `on_the_way` from those in full.
    `cells` are written so, and what comes after is worked out from them.
    """
    rounding = rounding or half_up(decimals)
    numbers: Matrices = {name: np.array(array, dtype=float) for name, array in given.items()}
    texts: Written = {}
    for name, right in WORK.items():
        found = (work or {}).get(name, right)(numbers)
        rounded = rounding(found)
        for index, number in (cells or {}).get(name, {}).items():
            rounded[index] = found[index] = number
        numbers[name] = rounded if on_the_way else found
        if name in only:
            texts[name] = [[f"{number:.{decimals}f}" for number in row] for row in rounded]
    return texts
