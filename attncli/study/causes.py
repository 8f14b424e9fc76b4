"""What a difference may come from: the constants of a scale that was taken for another."""

from __future__ import annotations

import math
from collections.abc import Mapping

from attncli.tracing.model import Trace


def constants(factor: float, trace: Trace) -> tuple[str, ...]:
    """All that this factor may be in a problem of these sizes, the likeliest first: a root forgotten, one of another
    length in its place, one put in twice; what is unlikely only where nothing else is."""
    d_k, n = float(trace.parameters["d_k"].value), trace["scores"].shape[-2]
    joined = d_k * (trace.settings.heads or 1)
    d_model = trace["X"].shape[-1] if "X" in trace else 0
    lengths = {"√d_model": d_model, "√(heads·d_k)": joined if joined not in (d_k, d_model) else 0}
    widths = {name: length / d_k for name, length in lengths.items() if length}
    likely = {"√d_k": d_k, **{f"√d_k/{name}": 1 / ratio for name, ratio in widths.items()},
              "1/√d_k": 1 / d_k, "d_k": d_k**2, "1/d_k": 1 / d_k**2}  # fmt: skip
    unlikely = {"√d_k/√n": d_k / n, **{f"{name}/√d_k": ratio for name, ratio in widths.items()}}
    return _fitting(factor, likely) or _fitting(factor, unlikely)


def _fitting(factor: float, squares: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(
        name
        for name, square in squares.items()
        if square != 1 and math.isclose(factor, math.sqrt(square), rel_tol=1e-3)
    )
