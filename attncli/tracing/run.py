"""Run a problem: plan its rules, work them out in order, and note what a reader must be warned of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attncli.attention.plan import Plan, plan_for
from attncli.backend import CPU, Backend, backend_for
from attncli.dtypes import DTYPES, Dtype, check_run_options
from attncli.equation.rule import Rule
from attncli.problem.model import Matrix, Problem
from attncli.problem.shape_checks import require_scores
from attncli.tracing.model import Step, Trace, labelled_step
from attncli.tracing.settings import settings_of
from attncli.tracing.softmax_shift import Shift, lowest_shown
from attncli.tracing.warnings import fully_masked_rows, warnings_of
from attncli.tracing.workers import FloatWorker, Worker

if TYPE_CHECKING:
    from attncli.attention.parallel import Report

FLOAT64 = DTYPES["float64"]
# Decimals by which it is decided whether a softmax is shifted, even where fewer are shown: what is only printed shorter
# is the same trace. On paper these are the decimals that are worked with, however few.
FEWEST = 3


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

    - `device`: "cpu" or "gpu" (exit 5 where there is none).
    - `dtype`: a key of `dtypes.DTYPES`.
    - `rounding`: "shown" (full precision inside), "paper" (every step rounded to `precision` decimals feeds the next),
      or "exact" (fractions and closed forms); the last two work cell by cell on the CPU.
    - `precision`: the decimals that are shown, by which the softmax is shifted, too (`softmax_shift.py`).
    - `backend`: replaces the device's own where floats are worked with.
    - `shifted`: whether the softmax is shifted; None where the numbers decide.
    - `gradient`: whether the backward pass is worked out as well.
    - `keep`: the only steps whose numbers are wanted; large matrices among the others may then not be kept.
    - `report`: is told how much is done.

    Raises AttncliError, with exit code 2, for a choice that is none of these, and for a problem too large to be worked
    out exactly; TooLarge where matrices that are not wanted have to be held after all, and are larger than one may be.
    """
    check_run_options(device, dtype, rounding, precision)
    plan = plan_for(problem)
    if gradient:
        from attncli.tracing.backward import with_loss

        plan = with_loss(plan)
    with np.errstate(all="ignore"):  # overflow is found in the values, and warned of
        if rounding == "paper":
            return _on_paper(plan, precision, shifted, gradient)
        if rounding == "exact":
            return _exactly(plan, precision, shifted, gradient)
        backend, number_format = backend or backend_for(device), DTYPES[dtype]
        lowest = max(lowest_shown(max(precision, FEWEST)), number_format.lowest_exponent)
        if keep is not None and not gradient and shifted is None:
            from attncli.tracing.chunked import is_large, run_chunked  # with threads, and all that works in parts

            if is_large(plan):
                chunked = run_chunked(plan, number_format, lowest, keep, report, backend=backend)
                if chunked is not None:
                    return chunked
                require_scores(problem.given)  # the whole trace holds them, which those who keep little have not asked
        worker = FloatWorker(backend, number_format, plan.parameters, plan.sizes)
        shift = Shift(problem, number_format, lowest, shifted)
        return _trace(plan, worker, shift, dtype=number_format, device=backend.device, gradient=gradient)


def _on_paper(plan: Plan, precision: int, shifted: bool | None, gradient: bool) -> Trace:
    """The trace rounded at every step, with the truth in the same steps beside it."""
    from attncli.tracing.cell_workers import PaperWorker

    shift = Shift(plan.problem, FLOAT64, max(lowest_shown(precision), FLOAT64.lowest_exponent), shifted)
    decimals = PaperWorker(precision, plan.parameters, plan.sizes)
    paper = _trace(plan, decimals, shift, precision=precision, rounding="paper", gradient=gradient)
    floats = FloatWorker(CPU, FLOAT64, plan.parameters, plan.sizes)
    same = replace(shift, logits=paper.shifted, outputs="row_top" in paper)
    truth = _trace(plan, floats, same, gradient=gradient)
    besides = (f"not rounded, {warning}" for warning in truth.warnings if warning not in paper.warnings)
    return replace(paper, truth=truth, warnings=(*paper.warnings, *besides))


def _exactly(plan: Plan, precision: int, shifted: bool | None, gradient: bool) -> Trace:
    """The trace of closed forms; shifted where decimals of this precision would be."""
    from attncli.tracing.cell_workers import ExactWorker  # and all that closed forms need

    shift = Shift(plan.problem, FLOAT64, max(lowest_shown(max(precision, FEWEST)), FLOAT64.lowest_exponent), shifted)
    worker = ExactWorker(plan.parameters, plan.sizes)
    return _trace(plan, worker, shift, rounding="exact", gradient=gradient)


def _trace(
    plan: Plan,
    worker: Worker,
    shift: Shift,
    *,
    dtype: Dtype = FLOAT64,
    device: str = "cpu",
    precision: int | None = None,
    rounding: str = "shown",
    gradient: bool = False,
) -> Trace:
    """All steps by one worker, in order, with what a reader must be warned of.

    `_rules` reads the steps so far: each is put among them before the next rule is asked for.
    """
    steps: dict[str, Step] = {}
    for rule, given in _rules(plan, steps, shift, gradient):
        worked = worker.give(rule.name, given) if given else worker.work(rule)
        steps[rule.name] = labelled_step(plan.problem, rule, worked)
    fully_masked = fully_masked_rows(steps)
    settings = settings_of(plan, dtype=dtype, device=device, precision=precision, rounding=rounding)
    return Trace(
        plan.problem.title,
        plan.problem.tokens,
        plan.problem.context_tokens,
        settings,
        plan.parameters,
        steps,
        warnings_of(steps, plan.parameters, fully_masked, settings),
        fully_masked,
    )


def _rules(plan: Plan, steps: Mapping[str, Step], shift: Shift, gradient: bool) -> Iterator[tuple[Rule, Matrix | None]]:
    """The rules in order of work, each with its numbers if they are given.

    First up to the logits, which say whether the softmax is shifted; then to the output; and with a `gradient` back.
    `steps` are those worked out so far: each rule's own has to be among them before the next rule is asked for.
    """
    for rule in plan.rules:
        yield rule, plan.given.get(rule.name)
    for rule in plan.softmax_rules(shift=shift.of_logits(steps[plan.logits].value)):
        yield rule, None
    if gradient:
        from attncli.tracing.backward import backward_pass  # and all that derives an equation

        yield from backward_pass(plan, steps, shift)
