"""Our numbers with what other software means to give a query that sees no key.

attncli gives such a query weights of 0. The softmax of a row of -inf is NaN, and a large negative
number in the place of -inf gives equal weights, and so the mean of all values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.errors import usage_error
from attncli.mistakes.blind_queries import Blind, blind_queries
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import Changes
from attncli.tracing.comparison import STEPS_THAT_HIDE, Operand
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Step, Trace
from attncli.tracing.warnings import warnings_of

OPTION = "--sees-no-key"
_IN_SOFTMAX = ("shifted", "exp", "row_sum")


def with_blind_rows(a: Operand, b: Operand, meant: str) -> tuple[Operand, Operand]:
    """Both sides, with what is `meant` in our queries that see no key: zero, nan or mean.

    Raises AttncliError (exit 2) where there is not a problem on one side and other software's
    numbers on the other.
    """
    if (a.trace is None) == (b.trace is None):
        what = "problems" if a.trace else "dumps"
        raise usage_error(
            f"{OPTION} is about another program's numbers beside a problem, and both sides are"
            f" {what}",
            help=f"leave out {OPTION}",
        )
    if a.trace is None:
        return a, _as_meant(b, a, meant)
    return _as_meant(a, b, meant), b


def _as_meant(ours: Operand, theirs: Operand, meant: str) -> Operand:
    trace = ours.trace
    assert trace is not None
    blind = _blind(trace)
    if not blind.any():
        return ours
    if meant != "zero":
        # attncli warns that such a row is 0, which it is not here.
        warnings = warnings_of(trace.steps, trace.parameters, (), trace.settings)
        steps = _steps(trace, _numbers(trace, theirs, meant, blind))
        trace = replace(trace, steps=steps, warnings=warnings)
    found = Operand.of_trace(trace, ours.name, ours.word, ours.phrase)
    return replace(found, sees_no_key=meant)


def _blind(trace: Trace) -> Blind:
    """Which queries see no key, by entry and head; none where a sink has all of their weight."""
    if "masked" not in trace:
        return np.zeros(0, dtype=bool)
    has_no_sink = trace["row_sum"] == 0
    return np.asarray(blind_queries(trace["masked"]) & has_no_sink)


def _numbers(trace: Trace, theirs: Operand, meant: str, blind: Blind) -> Changes:
    """The first step that is another one in these rows, with its numbers."""
    if meant == "mean":
        return {"masked": _filled(trace["masked"], blind, 0.0)}
    start = "weights"
    if any(np.isnan(theirs[name]).any() for name in _IN_SOFTMAX if name in theirs):
        # -inf less the largest of a row of -inf is NaN already.
        start = "shifted" if trace.shifted else "exp"
    return {start: _filled(trace[start], blind, np.nan)}


def _filled(rows: NDArray[Any], blind: Blind, number: float) -> Doubles:
    return np.where(blind[..., np.newaxis], number, rows)


def _steps(trace: Trace, numbers: Changes) -> Mapping[str, Step]:
    """The steps of a trace, with what follows from these numbers wherever it is something else."""
    (start,) = numbers
    as_ours = MistakenTrace(trace, {start: trace[start]})
    as_theirs = MistakenTrace(trace, numbers)
    steps = dict(trace.steps)
    for name in as_theirs.moved:
        # Software that gives the mean hides by a large number, which counts as -inf there.
        if name in STEPS_THAT_HIDE and name != "shifted":
            continue
        own, other = as_ours[name], as_theirs[name]
        is_same = (own == other) | (np.isnan(own) & np.isnan(other))
        value = np.where(is_same, trace[name], other)
        steps[name] = replace(steps[name], value=value, written=None, exact=None)
    return steps
