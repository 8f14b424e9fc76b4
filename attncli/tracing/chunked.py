"""A trace of which only some steps are kept: matrices of queries by keys that nobody asked for are
never held whole.

The steps from the scores to the outputs of the heads are worked out for some queries at a time, by
the equations of the trace, or where only outputs are kept on the fused path (`attention/fused/`).
What a reader would be warned of in steps that are not kept, beyond rows without keys, only the
whole trace can say: then this gives up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attncli.attention.chunks import chunks, evaluate_chunk
from attncli.attention.fused.outputs import fused_outputs
from attncli.attention.parallel import Report, run_tasks
from attncli.attention.plan import Plan
from attncli.attention.registry import is_small
from attncli.backend import CPU, Backend, Host
from attncli.dtypes import Dtype
from attncli.equation.evaluator import Array
from attncli.equation.rule import Rule
from attncli.problem.matrix import read_only
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD
from attncli.tracing.labels import labelled_step, labels
from attncli.tracing.model import Settings, Step, Trace, WeightsRow, repeat_along
from attncli.tracing.shift import Shift
from attncli.tracing.warnings import expected_infinities, may_have_sentinels, warnings_of
from attncli.tracing.workers import FloatWorker

# A trace of fewer weights takes no time, and no memory.
MANY_WEIGHTS = 2**17
# So many cells of one step: several steps stay in a processor's caches.
CELLS_IN_CACHES = 2**19
# So many cells of one step: a GPU works on them for longer than it takes to start it.
CELLS_OF_A_BUSY_GPU = 2**26
# Matrices of a chunk that are there at once, at most: steps that nothing reads any more are gone.
MATRICES_HELD = 8


def is_large(plan: Plan) -> bool:
    """Whether there are so many weights that it matters how many matrices of them are held."""
    queries, keys = plan.sizes["i"], plan.sizes["j"]
    weights = (plan.axes.batch or 1) * plan.axes.number * queries * keys
    return weights >= MANY_WEIGHTS


def run_chunked(
    plan: Plan,
    shift: Shift,
    settings: Settings,
    keep: Collection[str],
    report: Report | None = None,
    threads: int | None = None,
    backend: Backend = CPU,
) -> Trace | None:
    """The trace with the numbers of these steps, and of small ones; None where only the whole trace
    can tell all.
    """
    adds = any(name.startswith("additive") for name in plan.parameters)
    if may_have_sentinels(plan.parameters) or (settings.convention and adds):
        return None
    worker = FloatWorker(backend, shift.dtype, plan.parameters, plan.sizes)
    steps: dict[str, Step] = {}

    def take(rules: Iterable[Rule]) -> bool:
        """Give or work out small steps, in order; whether there is nothing to warn of in them."""
        taken: dict[str, Step] = {}
        for rule in rules:
            if rule.given:
                worked = worker.give(rule.name, plan.given[rule.name])
            else:
                worked = worker.work(rule)
            taken[rule.name] = labelled_step(plan.problem, rule, worked)
        steps.update(taken)
        return not warnings_of(taken, plan.parameters, (), settings)

    if not take(rule for rule in plan.rules if is_small(rule)):
        return None
    inner = Inner(plan, worker, shift)
    found = _inner_steps(inner, frozenset(keep), settings.scale, report, threads)
    if found is None:
        return None
    softmax = plan.softmax_rules(shift=found.shifted)
    *between, last = inner.rules(found.shifted)
    steps[last.name] = _inner_step(inner, last, found.values[last.name])
    after = softmax[softmax.index(last) + 1 :]
    if after:
        worker.arrays[last.name] = backend.asarray(found.values[last.name], shift.dtype)
    if not take(after):
        return None
    steps |= {rule.name: _inner_step(inner, rule, found.values.get(rule.name)) for rule in between}
    ordered = {rule.name: steps[rule.name] for rule in (*plan.rules, *softmax)}
    warnings = warnings_of(ordered, plan.parameters, found.fully_masked, settings)
    names = (plan.problem.title, plan.problem.tokens, plan.problem.context_tokens)
    return Trace(*names, settings, plan.parameters, ordered, warnings, found.fully_masked)


@dataclass(frozen=True, slots=True)
class Inner:
    """The steps between K_T and the outputs of the heads, before they are worked out.

    `worker` has the arrays they read; `shift` says whether their softmax is to be shifted.
    """

    plan: Plan
    worker: FloatWorker
    shift: Shift

    def rules(self, shift: bool) -> tuple[Rule, ...]:
        """Their rules in order: of what has a number for each query and key, and last of the
        outputs of the heads.
        """
        found: list[Rule] = []
        for rule in (*self.plan.rules, *self.plan.softmax_rules(shift=shift)):
            is_last = "weights" in rule.inputs
            if is_last or not is_small(rule):
                found.append(rule)
            if is_last:
                break
        return tuple(found)

    def shape(self, rule: Rule) -> tuple[int, ...]:
        """The shape of one of them."""
        axes = self.plan.axes
        sizes = {
            BATCH: axes.batch or 1,
            HEAD: axes.number,
            KEY_HEAD: axes.kv_heads or 1,
            **self.plan.sizes,
            "c": self.worker.arrays["V"].shape[-1],
        }
        return tuple(sizes[letter] for letter in rule.target.letters)


@dataclass(frozen=True, slots=True)
class InnerResult:
    """What came of the inner steps: whether they were shifted, the values that were kept, and rows
    without keys.
    """

    shifted: bool
    values: Mapping[str, Host]
    fully_masked: tuple[WeightsRow, ...]


def _inner_steps(
    inner: Inner,
    keep: frozenset[str],
    scale: float | None,
    report: Report | None,
    threads: int | None,
) -> InnerResult | None:
    """The inner steps: on the fused path where only outputs are kept, which NumPy alone can, else
    in chunks.
    """
    worker = inner.worker
    *between, last = inner.rules(shift=False)
    large = {"row_max", "shifted"} | {rule.name for rule in between}
    if worker.backend is CPU and keep.isdisjoint(large):
        weights = next(rule for rule in between if rule.name == "weights")
        fused = fused_outputs(
            inner.plan,
            weights,
            last,
            inner.shape(last),
            worker.arrays,
            scale=scale,
            dtype=worker.dtype,
            lowest=inner.shift.lowest,
            report=report,
            threads=threads,
        )
        if fused is not None:
            return InnerResult(fused.shifted, {last.name: fused.value}, fused.fully_masked)
    return run_in_chunks(inner, keep | {last.name}, report, threads)


def _inner_step(inner: Inner, rule: Rule, value: Host | None) -> Step:
    """An inner step, with its numbers if they were kept."""
    shape = inner.shape(rule)
    numbers = np.broadcast_to(np.zeros(()), shape) if value is None else read_only(value)
    return Step(rule, numbers, labels(inner.plan.problem, rule, shape), kept=value is not None)


# Some queries at a time


class _NeedsWholeTrace(Exception):
    """There is something to warn of that only the whole trace can tell."""


class _NeedsShift(Exception):
    """A row asks for the softmax to be shifted."""


def run_in_chunks(
    inner: Inner, keep: Collection[str], report: Report | None, threads: int | None
) -> InnerResult | None:
    """The steps to be kept, whole; None where there is something to warn of that only the whole
    trace can tell.
    """
    try:
        return _run(inner, keep, False, report, threads)
    except _NeedsShift:
        # The second run is below. In here, the error that is handled would hold the arrays of the
        # first one.
        pass
    except _NeedsWholeTrace:
        return None
    try:
        return _run(inner, keep, True, report, threads)
    except _NeedsWholeTrace:
        return None


def queries_at_once(plan: Plan, dtype: Dtype, backend: Backend) -> int:
    """How many queries a chunk has, at least 1; on a device, all of its matrices fit into half of
    what is left there.

    A query has cells for all entries, heads and keys, and in an additive score for all of its
    features.
    """
    entries = plan.axes.batch or 1
    heads = plan.axes.number
    keys = plan.sizes["j"]
    cells_of_a_query = entries * heads * keys
    if "v" in plan.given:
        cells_of_a_query *= plan.given["v"].shape[-1]
    cells = CELLS_IN_CACHES
    if backend is not CPU:
        cells = _cells_on_a_device(dtype, backend)
    return max(1, cells // cells_of_a_query)


def _cells_on_a_device(dtype: Dtype, backend: Backend) -> int:
    """How many cells of each matrix keep a device busy, and fit into half of what is free."""
    free = backend.free()
    if free is None:
        return CELLS_OF_A_BUSY_GPU
    of_a_cell = MATRICES_HELD * np.dtype(dtype.computed).itemsize
    return min(CELLS_OF_A_BUSY_GPU, free // 2 // of_a_cell)


def _run(
    inner: Inner, keep: Collection[str], shifted: bool, report: Report | None, threads: int | None
) -> InnerResult:
    worker, queries = inner.worker, inner.plan.sizes["i"]
    # The mask is the first: a score that it hides may be -inf.
    rules = tuple(sorted(inner.rules(shifted), key=lambda rule: rule.name != "mask"))
    last_use: dict[str, int] = {}
    values: dict[str, Host] = {}
    for place, rule in enumerate(rules):
        if rule.name in keep:
            values[rule.name] = np.empty(inner.shape(rule), worker.dtype.computed)
        for name in rule.inputs:
            last_use[name] = place
            # A parameter is read here, before several threads want it.
            if name in inner.plan.parameters:
                worker.array(name)
    shift = None if shifted else inner.shift
    work = _Chunks(inner, rules, shift, last_use, values)
    tasks = list(chunks(queries, queries_at_once(inner.plan, worker.dtype, worker.backend)))
    if worker.backend is CPU:
        run_tasks(tasks, lambda: work.work, threads, report)
    else:
        _one_by_one(tasks, work.work, report)
    return InnerResult(shifted, work.values, tuple(sorted(work.fully_masked)))


def _one_by_one(
    tasks: Sequence[slice], work: Callable[[slice], None], report: Report | None
) -> None:
    """All chunks in the thread that asks: a device shares the work of each out by itself."""
    for done, task in enumerate(tasks, 1):
        work(task)
        if report is not None:
            report(done / len(tasks))


@dataclass(frozen=True, slots=True)
class _Chunks:
    """What is worked out of each chunk, and what has come of it: `values` in host memory, and rows
    without keys.

    `shift` decides whether the softmax is to be shifted, None where it is; `last_use` says after
    which rule a step of the chunk is read no more.
    """

    inner: Inner
    rules: tuple[Rule, ...]
    shift: Shift | None
    last_use: Mapping[str, int]
    values: Mapping[str, Host]
    fully_masked: list[WeightsRow] = field(default_factory=list)

    def work(self, queries: slice) -> None:
        """Work these queries out; raises _NeedsShift or _NeedsWholeTrace where that is no use."""
        worker, plan = self.inner.worker, self.inner.plan
        backend, dtype = worker.backend, worker.dtype
        sizes = {letter: size for letter, size in plan.sizes.items() if letter != "i"}
        weights = next(rule for rule in self.rules if rule.name == "weights")
        *leading, _, keys = self.inner.shape(weights)
        check = ChunkCheck(backend, weights, (*leading, queries.stop - queries.start, keys))
        done: dict[str, Array] = {}
        for place, rule in enumerate(self.rules):
            found = evaluate_chunk(
                rule.equation,
                {"i": queries},
                worker.arrays,
                worker.scalars,
                dtype=backend.computed(dtype),
                sizes=sizes,
                done={name: done[name] for name in rule.inputs if name in done},
                xp=backend.xp,
            )
            found = backend.round(found, dtype)
            if self.shift and rule.name == plan.logits:
                maxima = backend.to_host(backend.xp.max(found, axis=-1))
                if self.shift.of_maxima(maxima, keys):
                    raise _NeedsShift
            check.see(rule, found)
            if rule.name in self.values:
                before = (slice(None),) * rule.target.letters.index("i")
                self.values[rule.name][(*before, queries)] = backend.to_host(found)
            done[rule.name] = found
            for name in [name for name in done if self.last_use.get(name, 0) <= place]:
                del done[name]
        if not check.all_fit():
            raise _NeedsWholeTrace
        for *leads, query in check.fully_masked():
            row = query + queries.start
            self.fully_masked.append((*leads, row) if leads else row)


class ChunkCheck:
    """Looks at each step of some queries once, the mask before all others, for what a reader must
    be warned of.

    It asks nothing of the device until the end, since a copy from it waits until all work there is
    done: one truth value, and with a mask one for each query, are all that is brought back. `shape`
    is that of the weights for these queries, `weights` their rule.
    """

    def __init__(self, backend: Backend, weights: Rule, shape: Sequence[int]) -> None:
        self._backend, self._letters, self._shape = backend, weights.target.letters, tuple(shape)
        self._fits: Array = backend.xp.asarray(True)
        self._hidden: Array | None = None
        self._blind: Array | None = None

    def see(self, rule: Rule, value: Array) -> None:
        """Take note of a step that was worked out."""
        xp = self._backend.xp
        if rule.name == "mask":
            self._see_mask(rule, value)
        expected = expected_infinities(rule, value, self._hidden, xp)
        finite = value
        if expected is not None:
            zero = xp.zeros((), dtype=value.dtype)
            finite = xp.where(expected, zero, value)
        # Neither comparison is true of NaN.
        fits_below = xp.min(finite) > -math.inf
        fits_above = xp.max(value) < math.inf
        self._fits = self._fits & fits_below & fits_above

    def _see_mask(self, mask: Rule, value: Array) -> None:
        """Take note of the cells that the mask hides, and of the rows that it hides whole."""
        xp = self._backend.xp
        letters = mask.target.letters
        hidden = value == -math.inf
        self._hidden = repeat_along(hidden, letters, self._letters, self._shape, xp)
        blind = xp.all(hidden, axis=-1)
        *rows, _ = letters
        *all_rows, _ = self._letters
        *shape, _ = self._shape
        self._blind = repeat_along(blind, rows, all_rows, shape, xp)

    def all_fit(self) -> bool:
        """Whether every number fits its format."""
        return bool(self._fits)

    def fully_masked(self) -> list[tuple[int, ...]]:
        """The rows of the weights from which the mask hides every key, as places on all axes but
        the last.
        """
        if self._blind is None:
            return []
        is_blind = self._backend.to_host(self._blind)
        rows = np.argwhere(is_blind)
        return list(map(tuple, rows.tolist()))
