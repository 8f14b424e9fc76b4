"""One step of gradient descent: the step size times the gradient is subtracted from every learned
array.

All arrays that the problem gives are learned, except the inputs: X, the context and a cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from attncli.attention.registry import RULES, gradient_name
from attncli.backend import CPU
from attncli.dtypes import DTYPES
from attncli.equation.nodes import Call, Equation, Expression, Name, Ref
from attncli.equation.rule import Rule
from attncli.equation.symbols import primed
from attncli.features.gradient.verification import loss_of
from attncli.problem.matrix import Matrix, Scalar, read_only
from attncli.problem.model import Problem
from attncli.tracing import run
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import backward_steps
from attncli.tracing.warnings import overflows
from attncli.tracing.workers import FloatWorker

# These are not learned.
INPUTS = ("X", "context", "past_K", "past_V")
STEP_SIZE = "step_size"


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """The new arrays as steps (`updated`, by the names of the arrays they replace), and the losses.

    `before` and `after` are the losses before and after the step. `expected` is the loss to first
    order: the loss before, less the step size times the sum of all squared gradients. `warnings`
    say what overflows.
    """

    step_size: Scalar
    updated: Mapping[str, Step]
    before: float
    expected: float
    after: float
    warnings: tuple[str, ...] = ()


def descend(problem: Problem, trace: Trace, step_size: Scalar) -> Descent:
    """One step of gradient descent, from a trace in floating point that has gradients."""
    updated = {name: _updated(trace, name, step_size) for name in _learned_arrays(trace)}
    settings = trace.settings
    after = run(
        _with_arrays(problem, updated), device=settings.device, dtype=settings.dtype, gradient=True
    )
    with np.errstate(all="ignore"):
        squares = 0.0
        for name in updated:
            gradient = trace[gradient_name(name)].astype(np.float64)
            squares += float((gradient**2).sum())
        before = loss_of(trace)
        now = loss_of(after)
        expected = before - step_size.value * squares
    warnings = list(_overflows_after(trace, after, updated))
    is_finite_after = math.isfinite(expected) and math.isfinite(now)
    if not warnings and math.isfinite(before) and not is_finite_after:
        warnings = ["the loss after the step does not fit into float64"]
    return Descent(step_size, updated, before, expected, now, tuple(warnings))


def _overflows_after(trace: Trace, after: Trace, updated: Mapping[str, Step]) -> Iterator[str]:
    """What no longer fits after the step, and did before: new arrays, then the steps from them."""
    dtype = DTYPES[trace.settings.dtype]
    scalars = {step.name: step for name, step in updated.items() if name not in after}
    yield from overflows(scalars, dtype)
    backward = backward_steps(after)
    forward = {name: step for name, step in after.steps.items() if name not in backward}
    for warning in overflows(forward, dtype, after.parameters):
        if warning not in trace.warnings:
            yield f"after the step, {warning}"


def _learned_arrays(trace: Trace) -> Iterator[str]:
    for name in backward_steps(trace):
        of = name.removeprefix("d_")
        if of == name or of in INPUTS:
            continue
        is_given = of in trace.parameters
        if of in trace:
            is_given = trace.steps[of].rule.given
        if is_given:
            yield of


def _updated(trace: Trace, name: str, step_size: Scalar) -> Step:
    """The new array as a step: the array less the step size times its gradient."""
    gradient = trace.steps[gradient_name(name)]
    letters = gradient.rule.target.indices
    own: Expression = (
        Ref(name, trace.steps[name].rule.target.indices) if name in trace else Name(name)
    )
    own = Ref(name, letters) if isinstance(own, Ref) and letters else own
    step = Call("mul", (Name(STEP_SIZE), replace(gradient.rule.target)))
    known = RULES[name] if name in RULES else trace.steps[name].rule
    # The name of the gradient of v, d_v, is that of a size, too.
    gradients = Name(gradient.rule.symbol)
    form = Call("sub", (Name(known.symbol), Call("mul", (Name(STEP_SIZE), gradients))))
    target = Ref(f"new_{name}", letters)
    rule = Rule(
        target.name,
        primed(known.symbol),
        known.title,
        Equation(target, Call("sub", (own, step))),
        form,
    )
    arrays = {each: trace[each] for each in (name, gradient.name) if each in trace}
    worker = FloatWorker(
        CPU, DTYPES[trace.settings.dtype], {**trace.parameters, STEP_SIZE: step_size}, {}, arrays
    )
    with np.errstate(all="ignore"):
        return Step(rule, read_only(worker.work(rule).value), gradient.labels)


def _with_arrays(problem: Problem, updated: Mapping[str, Step]) -> Problem:
    """The problem with the new arrays in place of the old ones."""
    given = dict(problem.given)
    sink, system = problem.sink, problem.system
    for name, step in updated.items():
        own = name.removeprefix("new_")
        value = step.value.astype(np.float64)
        if own in given:
            given[own] = Matrix(read_only(value))
        elif system is not None and any(name == array.name for array in system.arrays):
            arrays = []
            for array in system.arrays:
                is_this = array.name == name
                new = Matrix(read_only(value)) if is_this else array.matrix
                arrays.append(replace(array, matrix=new))
            system = replace(system, arrays=tuple(arrays))
        else:
            sink = Scalar.of(float(step.value))
    return replace(problem, given=given, sink=sink, system=system)
