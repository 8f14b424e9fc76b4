"""Run a problem: plan its rules, work them out in order, and note what a reader must be warned
of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attncli.attention.plan import Plan, plan_for
from attncli.attention.registry import holds_scores
from attncli.backend import CPU, Backend, backend_for
from attncli.dtypes import DTYPES, check_run_options
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.shape_checks import WITHOUT_SCORES, require_scores
from attncli.tracing.labels import labelled_step
from attncli.tracing.model import Settings, Step, StepsByName, Trace
from attncli.tracing.shift import FEWEST_DECIMALS, Shift
from attncli.tracing.warnings import blind_rows, unread_of, warnings_of
from attncli.tracing.workers import FloatWorker, Worker

if TYPE_CHECKING:
    from attncli.attention.parallel import Report

FLOAT64 = DTYPES["float64"]
WHY_THE_GRADIENT_NEEDS_ALL = f"the backward pass needs all of them, and {WITHOUT_SCORES}"
WHY_ALL_STEPS = "all steps are worked out here, because one that is left out may need a warning"


def run(
    problem: Problem,
    *,
    device: str = "cpu",
    dtype: str = "float64",
    rounding: str = "shown",
    precision: int = 3,
    backend: Backend | None = None,
    shifted: bool | None = None,
    loss_shifted: bool | None = None,
    gradient: bool = False,
    keep: Collection[str] | None = None,
    report: Report | None = None,
) -> Trace:
    """Work a problem out, step by step; with its `gradient`, back again as well, from d_output to
    the input.

    run(problem)["weights"] are the weights; run(problem, rounding="paper", precision=2) works as
    one does with two decimals on paper.

    - `device`: "cpu" or "gpu" (exit 5 where there is none).
    - `dtype`: a key of `dtypes.DTYPES`.
    - `rounding`: "shown" (full precision inside), "paper" (every step rounded to `precision`
      decimals feeds the next), or "exact" (fractions and closed forms); the last two work cell by
      cell on the CPU.
    - `precision`: the decimals that are shown, by which the softmax is shifted, too (`Shift`).
    - `backend`: replaces the device's own where floats are worked with.
    - `shifted`: whether the softmax is shifted; None where the numbers decide.
    - `loss_shifted`: the same of the softmax of a loss.
    - `gradient`: whether the backward pass is worked out as well.
    - `keep`: the only steps whose numbers are wanted; large matrices among the others may then not
      be kept.
    - `report`: is told how much is done.

    Raises AttncliError, with exit code 2, for a choice that is none of these, and for a problem too
    large to be worked out exactly; with 3 where matrices that are not wanted have to be held after
    all, and are larger than one may be.
    """
    check_run_options(device, dtype, rounding, precision)
    keeps_little = (
        keep is not None and not holds_scores(keep) and rounding == "shown" and not gradient
    )
    if gradient:
        require_scores(problem, WHY_THE_GRADIENT_NEEDS_ALL)
    elif not keeps_little:
        require_scores(problem)
    plan = plan_for(problem)
    if gradient:
        from attncli.tracing.backward import with_loss

        plan = with_loss(plan)
    # Overflow is found in the values, and warned of.
    with np.errstate(all="ignore"):
        if rounding == "paper":
            return _on_paper(plan, precision, shifted, gradient)
        if rounding == "exact":
            return _exactly(plan, precision, shifted, gradient)
        backend, number_format = backend or backend_for(device), DTYPES[dtype]
        shift = Shift.at(max(precision, FEWEST_DECIMALS), problem, number_format, shifted)._replace(
            outputs=loss_shifted
        )
        settings = Settings.of(plan, dtype=dtype, device=backend.device)
        # Those paths know the equations of attention by hand.
        is_ours = problem.system is None
        if keep is not None and not gradient and shifted is None and is_ours:
            # Its import brings threads, and all that works in parts.
            from attncli.tracing.chunked import is_large, run_chunked

            if is_large(plan):
                chunked = run_chunked(plan, shift, settings, keep, report, backend=backend)
                if chunked is not None:
                    return chunked
        if keeps_little:
            require_scores(problem, WHY_ALL_STEPS)
        worker = FloatWorker(backend, number_format, plan.parameters, plan.sizes)
        return _trace(plan, worker, shift, settings, gradient)


def _on_paper(plan: Plan, precision: int, shifted: bool | None, gradient: bool) -> Trace:
    """The trace rounded at every step, with the truth in the same steps beside it."""
    from attncli.tracing.cell_workers import PaperWorker

    shift = Shift.at(precision, plan.problem, FLOAT64, shifted)
    decimals = PaperWorker(precision, plan.parameters, plan.sizes)
    settings = Settings.of(plan, precision=precision, rounding="paper")
    paper = _trace(plan, decimals, shift, settings, gradient)
    floats = FloatWorker(CPU, FLOAT64, plan.parameters, plan.sizes)
    # A shifted loss has a step of its own for its maxima, so that its steps tell.
    same = shift._replace(logits=paper.shifted, outputs="row_top" in paper)
    truth = _trace(plan, floats, same, Settings.of(plan), gradient)
    warnings = list(paper.warnings)
    for warning in truth.warnings:
        if warning not in paper.warnings:
            warnings.append(f"not rounded, {warning}")
    paper = replace(paper, warnings=tuple(warnings))
    return replace(paper, truth=truth)


def _exactly(plan: Plan, precision: int, shifted: bool | None, gradient: bool) -> Trace:
    """The trace of closed forms; shifted where decimals of this precision would be."""
    # What closed forms need takes time to import, and only this function needs it.
    from attncli.tracing.cell_workers import ExactWorker

    decimals = max(precision, FEWEST_DECIMALS)
    shift = Shift.at(decimals, plan.problem, FLOAT64, shifted)
    worker = ExactWorker(plan.parameters, plan.sizes)
    settings = Settings.of(plan, rounding="exact")
    return _trace(plan, worker, shift, settings, gradient)


def _trace(plan: Plan, worker: Worker, shift: Shift, settings: Settings, gradient: bool) -> Trace:
    """All steps by one worker, in order, with what a reader must be warned of.

    `_rules` reads the steps so far: each is put among them before the next rule is asked for.
    """
    steps: dict[str, Step] = {}
    for rule, given in _rules(plan, steps, shift, gradient):
        worked = worker.give(rule.name, given) if given else worker.work(rule)
        steps[rule.name] = labelled_step(plan.problem, rule, worked)
    fully_masked = blind_rows(steps)
    return Trace(
        plan.problem.title,
        plan.problem.tokens,
        plan.problem.context_tokens,
        settings,
        plan.parameters,
        steps,
        (*unread_of(plan, steps), *warnings_of(steps, plan.parameters, fully_masked, settings)),
        fully_masked,
    )


def _rules(
    plan: Plan, steps: StepsByName, shift: Shift, gradient: bool
) -> Iterator[tuple[Rule, Matrix | None]]:
    """The rules in order of work, each with its numbers if they are given.

    First up to the logits, which say whether the softmax is shifted; then to the output; and with a
    `gradient` back. `steps` are those worked out so far: each rule's own has to be among them
    before the next rule is asked for.
    """
    for rule in plan.rules:
        yield rule, plan.given.get(rule.name)
    is_shifted = plan.takes_softmax and _is_shifted(steps[plan.logits], shift)
    for rule in plan.softmax_rules(shift=is_shifted):
        yield rule, plan.given.get(rule.name)
    if gradient:
        # Its import brings all that derives an equation.
        from attncli.tracing.backward import backward_pass

        yield from backward_pass(plan, steps, shift)


def _is_shifted(logits: Step, shift: Shift) -> bool:
    """Whether the softmax of these logits is shifted."""
    return shift.of_logits(logits.value, logits.rule.target.letters)
