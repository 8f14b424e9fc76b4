"""Where a number format parts from float64: the error of every step, rows that lose their sum,
overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attncli.backend import CPU
from attncli.dtypes import DTYPES, Dtype
from attncli.problem.model import Problem
from attncli.tracing.comparison import Comparison, Operand, compare
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace
from attncli.tracing.run import run

LOWER_FORMATS = tuple(
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
    a = _operand(double)
    b = _operand(low)
    comparison = compare(a, b, tolerance=0, sized=False)
    overflow = _overflow(low, double)
    if not (low.takes_softmax and low.is_plain):
        return FormatDeviation(dtype, comparison, (), overflow, 0)
    weights = low["weights"].astype(np.float64)
    true = double["weights"].astype(np.float64)
    uneven = tuple(_uneven_rows(weights, true, dtype))
    is_zero = weights == 0
    has_vanished = is_zero & (true != 0)
    number_vanished = int(has_vanished.sum())
    return FormatDeviation(dtype, comparison, uneven, overflow, number_vanished)


def _operand(trace: Trace) -> Operand:
    """A trace that goes by the name of its number format."""
    name = trace.settings.dtype
    return Operand.of_trace(trace, name, name, f"in {name}")


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

    def work(dtype: str, shifted: bool | None = None) -> Trace:
        return run(problem, device=device, dtype=dtype, precision=precision, shifted=shifted)

    formats = ("float64", *LOWER_FORMATS)
    traces = {dtype: work(dtype) for dtype in formats}
    if any(trace.shifted for trace in traces.values()):
        for dtype in formats:
            if not traces[dtype].shifted:
                traces[dtype] = work(dtype, shifted=True)
    double = traces.pop("float64")
    return tuple(deviation(low, double) for low in traces.values())


def _uneven_rows(weights: Doubles, true: Doubles, dtype: Dtype) -> Iterator[UnevenRow]:
    sums = weights.sum(axis=-1)
    expected = true.sum(axis=-1)
    in_format = CPU.asarray(sums, dtype)
    expected_in_format = CPU.asarray(expected, dtype)
    differs = in_format != expected_in_format
    is_uneven = differs & np.isfinite(expected)
    for place in np.argwhere(is_uneven):
        row = tuple(map(int, place))
        total = float(sums[row])
        true_total = float(expected[row])
        yield UnevenRow(row, total, true_total)


def _overflow(low: Trace, double: Trace) -> Overflow | None:
    for name, step in low.steps.items():
        true = double.steps.get(name)
        if true is None:
            continue
        fits = np.isfinite(step.value)
        fits_in_float64 = np.isfinite(true.value)
        lost = fits_in_float64 & ~fits
        if lost.any():
            first = np.argwhere(lost)[0]
            where = tuple(map(int, first))
            number = int(lost.sum())
            expected = float(true.value[where])
            return Overflow(name, number, where, expected)
    return None
