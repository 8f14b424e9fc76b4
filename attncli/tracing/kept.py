"""A trace of which only some steps are kept: matrices of queries by keys that nobody asked for are never held whole.

Whatever a reader would have to be told of the steps that are not kept, beyond rows without keys, is left to the whole
trace: then this gives up and says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from attncli.attention.plan import Plan, plan_softmax
from attncli.attention.registry import is_small
from attncli.attention.rule import Rule
from attncli.attention.workers import Report
from attncli.backend import CPU, Backend, Host
from attncli.dtypes import Dtype
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD
from attncli.problem.model import Problem, read_only
from attncli.tracing.copies import written_as_given
from attncli.tracing.findings import warnings
from attncli.tracing.floats import FloatWorker
from attncli.tracing.labels import labels
from attncli.tracing.model import Row, Step, Trace
from attncli.tracing.sentinels import has_sentinels
from attncli.tracing.settings import Settings, settings_of

WORTH = 2**17  # weights; a trace of fewer takes no time, and no memory


@dataclass(frozen=True, slots=True)
class Inner:
    """The steps between K_T and the outputs of the heads, before they are worked out, and how that is to be done.

    `rules` are theirs in order, the last that of the outputs; `worker` has the arrays they read; `lowest` is the
    exponent below which a row asks for a shifted softmax.
    """

    problem: Problem
    plan: Plan
    worker: FloatWorker
    settings: Settings
    lowest: float

    def rules(self, shift: bool) -> tuple[Rule, ...]:
        """Those that the matrices of queries and keys are in the way of, up to the outputs of the heads."""
        whole = (*self.plan.rules, *plan_softmax(self.problem, self.plan, shift=shift))
        last = next(place for place, rule in enumerate(whole) if "weights" in rule.inputs)
        return tuple(rule for rule in whole[: last + 1] if not is_small(rule) or rule is whole[last])

    def shape(self, rule: Rule) -> tuple[int, ...]:
        """The shape of one of them."""
        axes, given = self.plan.axes, self.plan.sizes
        sizes = {BATCH: axes.batch or 1, HEAD: axes.number, KEY_HEAD: axes.kv_heads or 1, **given}
        value = self.worker.arrays["V"].shape[-1]
        return tuple(value if letter == "c" else sizes[letter] for letter in rule.target.letters)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of the inner steps: whether they were shifted, the values that were kept, and rows without keys."""

    shifted: bool
    values: Mapping[str, Host]
    fully_masked: tuple[Row, ...]


def run_kept(
    problem: Problem,
    plan: Plan,
    dtype: Dtype,
    lowest: float,
    keep: Collection[str],
    report: Report | None = None,
    threads: int | None = None,
    backend: Backend = CPU,
) -> Trace | None:
    """The trace with the numbers of these steps, and of small ones; None where only the whole trace can tell all."""
    settings = settings_of(problem, plan, dtype, backend.device, None, "shown")
    if has_sentinels(plan.parameters) or (settings.convention and any("additive" in name for name in plan.parameters)):
        return None
    worker = FloatWorker(backend, dtype, plan.parameters, plan.sizes)
    inner = Inner(problem, plan, worker, settings, lowest)
    steps: dict[str, Step] = {}
    _take(inner, (rule for rule in plan.rules if is_small(rule)), steps)
    if warnings(steps, plan.parameters, (), settings):
        return None
    found = _inner(inner, frozenset(keep), report, threads)
    if found is None:
        return None
    softmax = plan_softmax(problem, plan, shift=found.shifted)
    *between, last = inner.rules(found.shifted)
    steps[last.name] = _step(inner, last, found.values[last.name])
    after = softmax[softmax.index(last) + 1 :]
    if after:
        worker.arrays[last.name] = backend.asarray(found.values[last.name], dtype)
    _take(inner, after, steps)
    if warnings(steps, plan.parameters, (), settings):
        return None
    steps |= {rule.name: _step(inner, rule, found.values.get(rule.name)) for rule in between}
    ordered = {rule.name: steps[rule.name] for rule in (*plan.rules, *softmax)}
    told = warnings(ordered, plan.parameters, found.fully_masked, settings)
    labelled = (problem.title, problem.tokens, problem.context_tokens)
    return Trace(*labelled, settings, plan.parameters, ordered, told, found.fully_masked)


def is_worth_it(plan: Plan) -> bool:
    """Whether there are so many weights that it matters how many matrices of them are held."""
    return prod((plan.axes.batch or 1, plan.axes.number, plan.sizes["i"], plan.sizes["j"])) >= WORTH


def _inner(inner: Inner, keep: frozenset[str], report: Report | None, threads: int | None) -> Found | None:
    """The inner steps: in tiles where only the output is kept, which NumPy alone can, else some rows at a time."""
    last = inner.rules(False)[-1]
    if inner.worker.backend is CPU:
        from attncli.tracing.tiled import KEPT, run_tiled

        kept = keep & {rule.name for rule in inner.rules(True)[:-1]}
        if kept <= KEPT and (found := run_tiled(inner, last, kept, report, threads)) is not None:
            return found
    from attncli.tracing.rowwise import run_rowwise

    return run_rowwise(inner, keep | {last.name}, report, threads)


def _take(inner: Inner, rules: Iterable[Rule], steps: dict[str, Step]) -> None:
    """Give or work out small steps, in order."""
    plan, worker = inner.plan, inner.worker
    for rule in rules:
        given = plan.given[rule.name] if rule.given else None
        value = worker.give(rule.name, given) if given is not None else worker.work(rule)
        written = written_as_given(rule, given, plan, steps) if worker.dtype.name == "float64" else None
        steps[rule.name] = Step(rule, read_only(value), labels(inner.problem, rule, value.shape), written)


def _step(inner: Inner, rule: Rule, value: Host | None) -> Step:
    """An inner step, with its numbers if they were kept."""
    shape = inner.shape(rule)
    kept = value is not None
    numbers = read_only(value) if value is not None else np.broadcast_to(np.zeros(()), shape)
    return Step(rule, numbers, labels(inner.problem, rule, shape), kept=kept)
