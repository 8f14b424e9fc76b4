"""The steps from the scores to the outputs of the heads for some queries at a time, by the equations of the trace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

import numpy as np

from attncli.attention.part import part, runs
from attncli.attention.rule import Rule
from attncli.attention.workers import Report, share_out
from attncli.backend import CPU, Host
from attncli.problem.model import Matrix, Scalar
from attncli.tracing.findings import overflows, rows_without_keys
from attncli.tracing.kept import Found, Inner
from attncli.tracing.labels import labels
from attncli.tracing.model import Row, Step
from attncli.tracing.shift import Shift

CELLS = 2**19  # of one step at a time: several of them stay in the caches


class _Told(Exception):
    """Something that only the whole trace can tell."""


class _Shift(Exception):
    """A row asks for the softmax to be shifted."""


def run_rowwise(inner: Inner, keep: Collection[str], report: Report | None, threads: int | None) -> Found | None:
    """The steps to be kept, whole; None where something has to be told of one that only the whole trace can tell."""
    for shift in (False, True):
        try:
            return _run(inner, keep, shift, report, threads)
        except _Shift:
            continue
        except _Told:
            return None
    return None


def _run(inner: Inner, keep: Collection[str], shift: bool, report: Report | None, threads: int | None) -> Found:
    rules, parameters = inner.rules(shift), inner.plan.parameters
    dtype, problem = inner.worker.dtype, inner.problem
    needed = Shift(problem, dtype, inner.lowest).of_logits
    values = {rule.name: np.empty(inner.shape(rule), dtype.computed) for rule in rules if rule.name in keep}
    weights = next(rule for rule in rules if rule.name == "weights")
    rows = max(1, CELLS * inner.plan.sizes["i"] // prod(inner.shape(weights)))
    masks = {name: given.value for name, given in parameters.items() if isinstance(given, Matrix)}
    whole = {**inner.worker.arrays, **{name: CPU.asarray(array, dtype) for name, array in masks.items()}}
    scalars = {name: given.value for name, given in parameters.items() if isinstance(given, Scalar)}
    unseeing: dict[int, tuple[Row, ...]] = {}

    def work(queries: slice) -> None:
        steps: dict[str, Step] = {}
        parts: dict[str, Host] = {}
        for rule in rules:
            found = part(
                rule.equation, {"i": queries}, whole, {**scalars, "inf": np.inf},
                dtype=np.dtype(dtype.computed), sizes=_others(inner.plan.sizes), parts=_read(rule, parts),
            )  # fmt: skip
            found = CPU.round(found, dtype)
            if rule.name == inner.plan.logits and not shift and needed(found):
                raise _Shift
            parts[rule.name] = found
            steps[rule.name] = Step(rule, found, labels(problem, rule, found.shape))
            if rule.name in values:
                at = rule.target.letters.index("i")
                values[rule.name][(*(slice(None),) * at, queries)] = found
        if any(overflows(steps, dtype)):
            raise _Told
        unseeing[queries.start] = rows_without_keys(steps)

    share_out(list(runs(inner.plan.sizes["i"], rows)), lambda: work, threads, report)
    masked = [_moved(row, start) for start, found in unseeing.items() for row in found]
    return Found(shift, values, tuple(sorted(masked)))


def _read(rule: Rule, parts: Mapping[str, Host]) -> Mapping[str, Host]:
    return {name: parts[name] for name in rule.inputs if name in parts}


def _others(sizes: Mapping[str, int]) -> Mapping[str, int]:
    return {letter: size for letter, size in sizes.items() if letter != "i"}


def _moved(row: Row, by: int) -> Row:
    """A row of a part as one of the whole."""
    return row + by if isinstance(row, int) else (*row[:-1], row[-1] + by)
