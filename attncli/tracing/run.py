"""Run a problem: plan its rules, work them out in order, and note what a reader must be told."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from attncli.attention.plan import Plan, plan_logits, plan_softmax
from attncli.attention.rule import Rule
from attncli.backend import CPU, Backend, Host, backend_for
from attncli.dtypes import DTYPES, Dtype, check_working
from attncli.problem.extent import require_scores
from attncli.problem.model import Matrix, Problem, read_only
from attncli.tracing.copies import written_as_given
from attncli.tracing.findings import rows_without_keys, warnings
from attncli.tracing.floats import FloatWorker
from attncli.tracing.labels import labels
from attncli.tracing.model import Step, Trace
from attncli.tracing.room import require_room
from attncli.tracing.settings import settings_of
from attncli.tracing.softmax_shift import Shift, lowest_shown

if TYPE_CHECKING:
    from attncli.attention.workers import Report


class Worker(Protocol):
    """Something that can work out steps: in floating point, as on paper, or exactly."""

    def give(self, name: str, matrix: Matrix) -> Host: ...

    def work(self, rule: Rule) -> Host: ...

    def written(self, name: str) -> Host | None: ...

    def exact(self, name: str) -> Host | None: ...


def run(
    problem: Problem,
    *,
    device: str = "cpu",
    dtype: str = "float64",
    rounding: str = "shown",
    precision: int = 3,
    backend: Backend | None = None,
    shifted: bool | None = None,
    gradient: bool = False,
    keep: Collection[str] | None = None,
    report: Report | None = None,
) -> Trace:
    """Work a problem out, step by step; with its `gradient`, back again as well, from d_output to the input.

    `device` is "cpu" or "gpu" (exit 5 where there is none), `dtype` a key of `choices.DTYPES`; `rounding`
    is "shown" (full precision inside), "paper" (every step rounded to `precision` decimals feeds the next) or "exact"
    (fractions and closed forms), of which the last two work cell by cell on the CPU; the softmax is shifted where a
    row of exponentials would show as 0 at this precision, or as `shifted` says, if it is not None. `backend` replaces
    the device's own where floats are worked with. `keep` names the only steps whose numbers are wanted: where that
    saves time and memory, large matrices among the others are then not kept. `report` is told how much is done.
    Raises AttncliError, with exit code 2, for a choice that is none of these, and for a problem too large to be worked
    out exactly; with exit code 3 where matrices that are not wanted have to be held after all, and cannot be.
    """
    check_working(device, dtype, rounding, precision)
    plan = plan_logits(problem)
    if gradient:
        from attncli.tracing.backward import with_loss

        plan = with_loss(plan, problem)
    with np.errstate(all="ignore"):  # overflow is found in the values and told as a warning
        if rounding == "paper":
            return _on_paper(problem, plan, precision, shifted, gradient)
        if rounding == "exact":
            return _exactly(problem, plan, precision, shifted, gradient)
        backend, format = backend or backend_for(device), DTYPES[dtype]
        lowest = max(lowest_shown(max(precision, 3)), format.lowest_exponent)
        if keep is not None and not gradient and shifted is None:
            from attncli.tracing.kept import is_worth_it, run_kept  # with threads, and all that works in parts

            if is_worth_it(plan):
                kept = run_kept(problem, plan, format, lowest, keep, report, backend=backend)
                if kept is not None:
                    return kept
                require_scores(problem.given)
        require_room(problem, plan, format, backend)
        worker = FloatWorker(backend, format, plan.parameters, plan.sizes)
        shift = Shift(problem, format, lowest, shifted)
        return _trace(problem, plan, worker, shift, backend, format, gradient=gradient)


def _on_paper(problem: Problem, plan: Plan, precision: int, shifted: bool | None, gradient: bool) -> Trace:
    """The trace rounded at every step, with the truth in the same steps beside it."""
    from attncli.tracing.paper import PaperWorker

    double = DTYPES["float64"]
    shift = Shift(problem, double, max(lowest_shown(precision), double.lowest_exponent), shifted)
    decimals = PaperWorker(precision, plan.parameters, plan.sizes)
    paper = _trace(problem, plan, decimals, shift, CPU, double, precision, "paper", gradient)
    floats = FloatWorker(CPU, double, plan.parameters, plan.sizes)
    same = replace(shift, logits=paper.shifted, outputs="row_top" in paper)
    truth = _trace(problem, plan, floats, same, CPU, double, gradient=gradient)
    besides = (f"not rounded, {warning}" for warning in truth.warnings if warning not in paper.warnings)
    return replace(paper, truth=truth, warnings=(*paper.warnings, *besides))


def _exactly(problem: Problem, plan: Plan, precision: int, shifted: bool | None, gradient: bool) -> Trace:
    """The trace of closed forms; shifted where decimals of this precision would be."""
    from attncli.tracing.exact import ExactWorker  # and all that closed forms need

    double = DTYPES["float64"]
    shift = Shift(problem, double, max(lowest_shown(max(precision, 3)), double.lowest_exponent), shifted)
    worker = ExactWorker(plan.parameters, plan.sizes)
    return _trace(problem, plan, worker, shift, CPU, double, rounding="exact", gradient=gradient)


def _trace(
    problem: Problem,
    plan: Plan,
    worker: Worker,
    shift: Shift,
    backend: Backend,
    dtype: Dtype,
    precision: int | None = None,
    rounding: str = "shown",
    gradient: bool = False,
) -> Trace:
    steps: dict[str, Step] = {}

    def take(rule: Rule, matrix: Matrix | None = None) -> Host:
        matrix = plan.given.get(rule.name, matrix)
        value = worker.give(rule.name, matrix) if matrix else worker.work(rule)
        given = written_as_given(rule, matrix, plan, steps) if dtype.name == "float64" else None
        written = given if given is not None else worker.written(rule.name)
        exact = None if rule.given else worker.exact(rule.name)
        steps[rule.name] = Step(rule, read_only(value), labels(problem, rule, value.shape), written, exact)
        return value

    for rule in plan.rules:
        value = take(rule)
    for rule in plan_softmax(problem, plan, shift=shift.of_logits(value)):
        value = take(rule)
    if gradient:
        from attncli.tracing.backward import way_back  # and all that derives an equation

        for rule, matrix in way_back(problem, plan, steps, shift):
            take(rule, matrix)

    fully_masked = rows_without_keys(steps)
    settings = settings_of(problem, plan, dtype, backend.device, precision, rounding)
    return Trace(
        problem.title,
        problem.tokens,
        problem.context_tokens,
        settings,
        plan.parameters,
        steps,
        warnings(steps, plan.parameters, fully_masked, settings),
        fully_masked,
    )
