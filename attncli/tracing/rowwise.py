"""The steps from the scores to the outputs of the heads for some queries at a time, by the equations of the trace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attncli.attention.part import part, runs
from attncli.attention.rule import Rule
from attncli.attention.workers import Report, share_out
from attncli.backend import CPU, Host
from attncli.equation.evaluator import Array
from attncli.problem.model import Matrix, Scalar
from attncli.tracing.kept import Found, Inner
from attncli.tracing.model import Row
from attncli.tracing.parts import queries_at_once
from attncli.tracing.softmax_shift import Shift
from attncli.tracing.watch import Watch


class _Told(Exception):
    """Something that only the whole trace can tell."""


class _Shift(Exception):
    """A row asks for the softmax to be shifted."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What is worked out of each part, and what has come of it: `values` in host memory, rows that are `blind`.

    `arrays` are those that equations read whole or cut, on the device; `until` says after which rule a step of the part
    is read no more.
    """

    inner: Inner
    rules: tuple[Rule, ...]
    shift: Shift | None  # None where it is settled
    arrays: Mapping[str, Array]
    scalars: Mapping[str, float]
    until: Mapping[str, int]
    values: Mapping[str, Host]
    blind: dict[int, Sequence[tuple[int, ...]]] = field(default_factory=dict)

    def do(self, queries: slice) -> None:
        """Work these queries out; _Shift and _Told where the whole has to be gone about in another way."""
        backend, dtype, plan = self.inner.worker.backend, self.inner.worker.dtype, self.inner.plan
        sizes = {letter: size for letter, size in plan.sizes.items() if letter != "i"}
        weights = next(rule for rule in self.rules if rule.name == "weights")
        *leading, _, keys = self.inner.shape(weights)
        watch = Watch(backend, weights, (*leading, queries.stop - queries.start, keys))
        parts: dict[str, Array] = {}
        for place, rule in enumerate(self.rules):
            found = part(
                rule.equation, {"i": queries}, self.arrays, self.scalars, dtype=backend.computed(dtype), sizes=sizes,
                parts={name: parts[name] for name in rule.inputs if name in parts}, xp=backend.xp,
            )  # fmt: skip
            found = backend.round(found, dtype)
            if self.shift and rule.name == plan.logits:
                maxima = backend.to_host(backend.xp.max(found, axis=-1))
                if self.shift.of_maxima(maxima, keys):
                    raise _Shift
            watch.see(rule, found)
            if rule.name in self.values:
                at = rule.target.letters.index("i")
                self.values[rule.name][(*(slice(None),) * at, queries)] = backend.to_host(found)
            parts[rule.name] = found
            parts = {name: array for name, array in parts.items() if self.until.get(name, 0) > place}
        if not watch.fits():
            raise _Told
        self.blind[queries.start] = watch.blind()


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
    parameters, worker = inner.plan.parameters, inner.worker
    # the mask first: a score that it hides may be -inf
    rules = tuple(sorted(inner.rules(shift), key=lambda rule: rule.name != "mask"))
    masks = {name: given.value for name, given in parameters.items() if isinstance(given, Matrix)}
    scalars = {name: given.value for name, given in parameters.items() if isinstance(given, Scalar)}
    work = _Work(
        inner,
        rules,
        None if shift else Shift(inner.problem, worker.dtype, inner.lowest),
        {**worker.arrays, **{name: worker.backend.asarray(array, worker.dtype) for name, array in masks.items()}},
        {**scalars, "inf": np.inf},
        {name: place for place, rule in enumerate(rules) for name in rule.inputs},
        {rule.name: np.empty(inner.shape(rule), worker.dtype.computed) for rule in rules if rule.name in keep},
    )
    tasks = list(runs(inner.plan.sizes["i"], queries_at_once(inner.plan, worker.dtype, worker.backend)))
    if worker.backend is CPU:
        share_out(tasks, lambda: work.do, threads, report)
    else:
        _one_by_one(tasks, work.do, report)
    masked = [_moved(row, start) for start, found in work.blind.items() for row in found]
    return Found(shift, work.values, tuple(sorted(masked)))


def _one_by_one(tasks: Sequence[slice], do: Callable[[slice], None], report: Report | None) -> None:
    """All parts in the thread that asks: a device shares the work of each out by itself."""
    for done, task in enumerate(tasks, 1):
        do(task)
        if report is not None:
            report(done / len(tasks))


def _moved(row: Sequence[int], by: int) -> Row:
    """A row of a part as one of the whole."""
    *leading, query = row
    return (*leading, query + by) if leading else query + by
