"""What a difference may come from: the constants of a scale that was taken for another."""

from __future__ import annotations

import math
from collections.abc import Iterator

from attncli.tracing.model import Trace


def constants(factor: float, trace: Trace) -> tuple[str, ...]:
    """All that this factor may be in a problem of these sizes, the likeliest first: a root forgotten, one of another
    length in its place, one put in twice."""
    return tuple(name for name, square in _squares(trace) if square != 1 and _is_root(factor, square))


def _is_root(factor: float, square: float) -> bool:
    return math.isclose(factor, math.sqrt(square), rel_tol=1e-3)


def _squares(trace: Trace) -> Iterator[tuple[str, float]]:
    """What people multiply by in place of 1, squared."""
    d_k, n = float(trace.parameters["d_k"].value), trace["scores"].shape[-2]
    joined = d_k * (trace.settings.heads or 1)
    yield "√d_k", d_k
    d_model = trace["X"].shape[-1] if "X" in trace else 0
    widths = {"√d_model": d_model, "√(heads·d_k)": joined if joined not in (d_k, d_model) else 0}
    lengths = [(name, length) for name, length in widths.items() if length]
    yield from ((f"√d_k/{name}", d_k / length) for name, length in lengths)
    yield "1/√d_k", 1 / d_k
    yield "d_k", d_k**2
    yield "1/d_k", 1 / d_k**2
    yield "√d_k/√n", d_k / n
    yield from ((f"{name}/√d_k", length / d_k) for name, length in lengths)
