"""Where a number format parts from float64: the error of every step, rows that lose their sum,
overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attncli.backend import CPU
from attncli.dtypes import DTYPES, Dtype
from attncli.problem.model import Problem
from attncli.tracing.comparison import Comparison, Operand, compare
from attncli.tracing.difference import Numbers
from attncli.tracing.model import Trace
from attncli.tracing.run import run

LOWER = tuple(
    sorted((name for name in DTYPES if name != "float64"), key=lambda name: DTYPES[name].epsilon)
)


@dataclass(frozen=True, slots=True)
class UnevenRow:
    """A row of weights whose sum, rounded to the format, is not what it is in float64: 1, or less
    with a sink.
    """

    row: tuple[int, ...]
    sum: float
    true: float


@dataclass(frozen=True, slots=True)
class Overflow:
    """The first step with numbers too large for the format: how many, and the first of them in
    float64.
    """

    step: str
    cells: int
    where: tuple[int, ...]
    true: float


@dataclass(frozen=True, slots=True, eq=False)
class FormatDeviation:
    """One trace in a lower format against the same in float64.

    `comparison` counts every difference (its tolerance is 0); `vanished` weights are 0, and not so
    in float64.
    """

    dtype: Dtype
    comparison: Comparison
    uneven_rows: tuple[UnevenRow, ...]
    overflow: Overflow | None
    vanished: int


def deviation(low: Trace, double: Trace) -> FormatDeviation:
    """Where a trace in a lower format parts from the one of the same problem in float64."""
    dtype = DTYPES[low.settings.dtype]
    a, b = (
        Operand.of_trace(trace, name, name, f"in {name}")
        for trace, name in ((double, "float64"), (low, dtype.name))
    )
    comparison = compare(a, b, tolerance=0, sized=False)
    weights, true = low["weights"].astype(np.float64), double["weights"].astype(np.float64)
    vanished = int(((weights == 0) & (true != 0)).sum())
    return FormatDeviation(
        dtype, comparison, _uneven(weights, true, dtype), _overflow(low, double), vanished
    )


def deviation_from_float64(problem: Problem, low: Trace, precision: int = 3) -> FormatDeviation:
    """Where the trace of a problem in a lower format parts from float64, with the softmax shifted
    as it is there.
    """
    double = run(
        problem, device=low.settings.device, precision=precision, shifted=low.shifted or None
    )
    return deviation(low, double)


def deviations(
    problem: Problem, *, device: str = "cpu", precision: int = 3
) -> tuple[FormatDeviation, ...]:
    """The problem in every lower format against float64, the finest first.

    Where the softmax is shifted in one format it is so in all, since only the same steps can be
    compared.
    """
    formats = ("float64", *LOWER)
    traces = [run(problem, device=device, dtype=name, precision=precision) for name in formats]
    if any(trace.shifted for trace in traces):
        traces = [
            (
                trace
                if trace.shifted
                else run(problem, device=device, dtype=name, precision=precision, shifted=True)
            )
            for name, trace in zip(formats, traces, strict=True)
        ]
    double, *lower = traces
    return tuple(deviation(low, double) for low in lower)


def _uneven(weights: Numbers, true: Numbers, dtype: Dtype) -> tuple[UnevenRow, ...]:
    sums, expected = weights.sum(axis=-1), true.sum(axis=-1)
    rounded, wanted = (CPU.asarray(each, dtype) for each in (sums, expected))
    rows = np.argwhere((rounded != wanted) & np.isfinite(expected))
    return tuple(
        UnevenRow(row, float(sums[row]), float(expected[row]))
        for row in (tuple(map(int, each)) for each in rows)
    )


def _overflow(low: Trace, double: Trace) -> Overflow | None:
    for name, step in low.steps.items():
        true = double.steps.get(name)
        if true is None:
            continue
        lost = ~np.isfinite(step.value) & np.isfinite(true.value)
        if lost.any():
            where = tuple(map(int, np.argwhere(lost)[0]))
            return Overflow(name, int(lost.sum()), where, float(true.value[where]))
    return None
