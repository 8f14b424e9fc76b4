"""Run a problem: plan its rules, work them out in order, and note what a reader must be told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from attncli.attention.masks import mask_names
from attncli.attention.plan import Plan, plan_logits, plan_softmax
from attncli.attention.rule import Rule
from attncli.backend import CPU, Backend, Host, backend_for
from attncli.choices import DTYPES, Dtype, check_working
from attncli.problem.model import Matrix, Problem, read_only
from attncli.tracing.copies import written_as_given
from attncli.tracing.findings import rows_without_keys, warnings
from attncli.tracing.floats import FloatWorker
from attncli.tracing.labels import labels
from attncli.tracing.model import Step, Trace
from attncli.tracing.paper import PaperWorker
from attncli.tracing.settings import Settings
from attncli.tracing.shift import lowest_shown, shift_where_needed


class Worker(Protocol):
    """Something that can work out steps: in floating point, or as on paper."""

    def give(self, name: str, matrix: Matrix) -> Host: ...

    def work(self, rule: Rule) -> Host: ...

    def written(self, name: str) -> Host | None: ...


def run(
    problem: Problem,
    *,
    device: str = "cpu",
    dtype: str = "float64",
    rounding: str = "shown",
    precision: int = 3,
    backend: Backend | None = None,
    shifted: bool = False,
) -> Trace:
    """Work a problem out, step by step.

    `device` is "cpu" or "gpu" (exit 5 where there is none), `dtype` a key of `choices.DTYPES`; `rounding`
    is "shown" (full precision inside) or "paper" (every step rounded to `precision` decimals feeds the next,
    which works in decimal and on the CPU); the softmax is shifted where a row of exponentials would show
    as 0 at this precision, or in any case if it is to be `shifted`. `backend` replaces the device's own (not on
    paper). Raises AttncliError, with exit code 2, for a choice that is none of these.
    """
    check_working(device, dtype, rounding, precision)
    plan = plan_logits(problem)
    with np.errstate(all="ignore"):  # overflow is found in the values and told as a warning
        if rounding == "paper":
            return _on_paper(problem, plan, precision, shifted)
        backend, format = backend or backend_for(device), DTYPES[dtype]
        worker = FloatWorker(backend, format, plan.parameters, plan.sizes)
        shift = shift_where_needed(problem, format, max(lowest_shown(max(precision, 3)), format.lowest_exponent))
        return _trace(problem, plan, worker, _always if shifted else shift, backend, format)


def _always(_: Host) -> bool:
    return True


def _on_paper(problem: Problem, plan: Plan, precision: int, shifted: bool) -> Trace:
    """The trace rounded at every step, with the truth in the same steps beside it."""
    double = DTYPES["float64"]
    shift = shift_where_needed(problem, double, max(lowest_shown(precision), double.lowest_exponent))
    decimals = PaperWorker(precision, plan.parameters, plan.sizes)
    paper = _trace(problem, plan, decimals, _always if shifted else shift, CPU, double, precision)
    floats = FloatWorker(CPU, double, plan.parameters, plan.sizes)
    truth = _trace(problem, plan, floats, lambda _: "shifted" in paper, CPU, double)
    besides = (f"not rounded, {warning}" for warning in truth.warnings if warning not in paper.warnings)
    return replace(paper, truth=truth, warnings=(*paper.warnings, *besides))


def _trace(
    problem: Problem,
    plan: Plan,
    worker: Worker,
    shift: Callable[[Host], bool],
    backend: Backend,
    dtype: Dtype,
    precision: int | None = None,
) -> Trace:
    steps: dict[str, Step] = {}

    def take(rule: Rule) -> Host:
        matrix = plan.given[rule.name] if rule.given else None
        value = worker.give(rule.name, matrix) if matrix else worker.work(rule)
        given = written_as_given(rule, plan, steps) if dtype.name == "float64" else None
        written = given if given is not None else worker.written(rule.name)
        steps[rule.name] = Step(rule, read_only(value), labels(problem, rule, value.shape), written)
        return value

    for rule in plan.rules:
        logits = take(rule)
    for rule in plan_softmax(problem, plan, shift=shift(logits)):
        take(rule)

    fully_masked = rows_without_keys(steps)
    settings = _settings(problem, plan, dtype, backend.device, precision)
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


def _settings(problem: Problem, plan: Plan, dtype: Dtype, device: str, precision: int | None) -> Settings:
    scale = None
    if any(rule.name == "scaled" for rule in plan.rules):
        given = plan.parameters.get("scale")
        scale = float(given.value) if given else 1 / math.sqrt(float(plan.parameters["d_k"].value))
    return Settings(
        problem.score,
        scale,
        tuple(mask_names(problem.mask)),
        dtype.name,
        device,
        "shown" if precision is None else "paper",
        corner=problem.mask.corner if problem.mask.corner != "top-left" else None,
        convention=problem.convention,
        softcap=problem.softcap.value if problem.softcap else None,
        exp_base=problem.exp_base.value if problem.exp_base else None,
        precision=precision,
        heads=plan.axes.number if plan.axes.has_heads else None,
        kv_heads=plan.axes.kv_heads if plan.axes.group > 1 else None,
        position=tuple(name for name, there in (("rope", problem.rope), ("alibi", problem.alibi)) if there) or None,
        pairing=problem.rope.pairing if problem.rope else None,
    )
