"""Problem files from NumPy arrays and a seed, for tests that choose the shapes themselves."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_data(value: Any) -> Any:
    """The value as JSON holds it: lists of numbers, with infinities as words."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: as_data(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(part) for part in value]
    return "-inf" if isinstance(value, float) and value == -np.inf else value


def problem_file(**keys: Any) -> dict[str, Any]:
    """A problem file with these keys; what is None is left out."""
    return as_data({key: value for key, value in keys.items() if value is not None})


def arrays(
    random: np.random.Generator,
    *,
    batch: int = 2,
    heads: int = 4,
    kv_heads: int = 2,
    n: int = 3,
    m: int = 5,
    d: int = 4,
    d_v: int = 3,
) -> dict[str, np.ndarray]:
    """Q, K and V of every head of every entry."""
    shapes = {
        "Q": (batch, heads, n, d),
        "K": (batch, kv_heads, m, d),
        "V": (batch, kv_heads, m, d_v),
    }
    return {name: random.normal(scale=2, size=shape) for name, shape in shapes.items()}


def heads_of(found: dict[str, np.ndarray]) -> np.ndarray:
    """What each head gives: the output itself where no W_O joins them."""
    return found["heads_output" if "heads_output" in found else "output"]
