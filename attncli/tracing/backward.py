"""The backward pass of a problem whose forward pass has been worked out: its rules, and the
gradient it begins with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from attncli.attention.backward import Backward
from attncli.attention.losses import loss_rules
from attncli.attention.plan import Plan
from attncli.attention.registry import gradient_name
from attncli.english import count, shape_text
from attncli.equation.indexing import IndexSpace, all_letters, avoiding
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes
from attncli.errors import input_error
from attncli.problem.matrix import Matrix, Scalar, read_only
from attncli.tracing.model import Parameters, Step, StepsByName, Trace
from attncli.tracing.shift import Shift


def backward_pass(
    plan: Plan, steps: StepsByName, shift: Shift
) -> Iterator[tuple[Rule, Matrix | None]]:
    """The rules from the output to the loss and back to the input, each with its numbers if they
    are given.

    `steps` are those of the forward pass; each rule's own has to be among them before the next rule
    is asked for.
    """
    problem = plan.problem
    if problem.loss:
        output = steps[plan.result]
        _require_shape(problem.loss.target, output, "loss", "target")
        has_softmax = problem.loss.kind != "mse"
        rules = loss_rules(
            problem.loss.kind,
            output.rule.target,
            shifted=has_softmax and shift.of_outputs(output.value),
            far=has_softmax and shift.is_far(output.value),
        )
        for rule in rules:
            of_result = rule.bind({"output": plan.result})
            yield of_result, problem.loss.target if rule.given else None
    for rule in _backward_rules(plan, steps):
        yield rule, _output_gradient(plan, steps) if rule.given else None


def _backward_rules(plan: Plan, steps: StepsByName) -> tuple[Rule, ...]:
    """The rules of the gradients of these steps, the given one of the output first, in order of
    work.
    """
    rules = []
    for name, step in steps.items():
        rules.append((name, step.rule, step.shape))
    lengths = _lengths(plan, steps)
    return _derived(
        tuple(rules),
        plan.logits,
        tuple(lengths.items()),
        _scalars(plan.parameters),
        plan.result,
    )


def _scalars(parameters: Parameters) -> tuple[tuple[str, float], ...]:
    scalars = []
    for name, given in parameters.items():
        if isinstance(given, Scalar):
            scalars.append((name, given.value))
    return tuple(scalars)


def rules_back(trace: Trace) -> tuple[Rule, ...]:
    """The rules of the gradients of a trace that has a backward pass, by the equations of its
    forward pass, whatever these are now.

    Raises ValueError for a softmax whose gradient is not known.
    """
    rules = []
    lengths: dict[str, int] = {}
    for name, step in trace.steps.items():
        if name == gradient_name(trace.result):
            break
        rules.append((name, step.rule, step.shape))
        own = zip(step.rule.target.letters, step.shape, strict=True)
        lengths |= {**dict(own), **dict(step.rule.lengths)}
        if not step.rule.given:
            lengths |= trace.sizes(step.rule.equation)
    return _derived(
        tuple(rules),
        trace.logits,
        tuple(lengths.items()),
        _scalars(trace.parameters),
        trace.result,
    )


# A study, or a descent, runs a thousand problems that differ in their numbers alone. A tested
# function is held against every mistake, in many problems.
@lru_cache(maxsize=256)
def _derived(
    steps: tuple[tuple[str, Rule, tuple[int, ...]], ...],
    logits: str,
    lengths: tuple[tuple[str, int], ...],
    scalars: tuple[tuple[str, float], ...],
    result: str,
) -> tuple[Rule, ...]:
    rules = {}
    shapes = {}
    for name, rule, shape in steps:
        rules[name] = rule
        shapes[name] = shape
    own_letters = set()
    of_arrays: dict[str, tuple[int, ...]] = {}
    if any(rule.own for rule in rules.values()):
        of_gradients = {gradient_name(name): shape for name, shape in shapes.items()}
        of_arrays = {**shapes, **of_gradients}
    of_letters = dict(lengths)
    space = IndexSpace(of_letters, dict(scalars), of_arrays)
    backward = Backward(rules, shapes, logits, space, result)
    for rule in rules.values():
        if rule.own:
            own_letters |= {*rule.target.letters}
            if not rule.given:
                own_letters |= all_letters(rule.equation)
    if not of_arrays:
        return tuple(backward.steps())
    with avoiding(own_letters, of_letters):
        found = []
        for rule in backward.steps():
            of = rules.get(rule.name.removeprefix("d_"))
            found.append(_like_its_step(rule, of, shapes, of_letters))
        return tuple(found)


def _like_its_step(
    rule: Rule,
    of: Rule | None,
    shapes: Mapping[str, tuple[int, ...]],
    lengths: Mapping[str, int],
) -> Rule:
    """The rule of a gradient that knows what each of its letters is, and how long: an axis of the
    step `of` which it is the gradient, or as in the equations that it comes from.

    An equation may read the step with any letters, which are those of the gradient then.
    """
    if rule.given:
        return rule
    found = {letter: lengths[letter] for letter in all_letters(rule.equation) if letter in lengths}
    letters = rule.target.letters
    if of is not None and len(of.target.letters) == len(letters):
        found |= dict(zip(letters, shapes[of.name], strict=True))
        rule = rule.with_axes(of.axis_names)
    return replace(rule, lengths=tuple(found.items()))


def with_loss(plan: Plan) -> Plan:
    """The plan with the `N` of the loss, where there is one: of how many numbers, or rows, it is
    the mean.
    """
    loss = plan.problem.loss
    if loss is None:
        return plan
    target = loss.target.value
    number = target.size
    if loss.kind != "mse":
        number //= target.shape[-1]
    given = Scalar(number, str(number))
    parameters = {**plan.parameters, "N": given}
    return replace(plan, parameters=parameters)


def _output_gradient(plan: Plan, steps: StepsByName) -> Matrix:
    """What the problem gives as d_output, or ones: the gradient of the sum of all outputs."""
    shape = steps[plan.result].shape
    given = plan.problem.d_output
    if given is None:
        return Matrix(read_only(np.ones(shape)))
    _require_shape(given, steps[plan.result], "d_output", "d_output")
    return given


def _require_shape(given: Matrix, result: Step, path: str, called: str) -> None:
    """Raises AttncliError (exit 3) where what is given for the result has another shape."""
    if given.shape != result.shape:
        here, there = map(_numbers_of, (given.shape, result.shape))
        raise input_error(
            f"{called} is {here}, and {result.name} is {there}",
            path=path,
            help=f"give a number for each number of {result.name}",
        )


def _numbers_of(shape: tuple[int, ...]) -> str:
    """How many numbers: one number, a list of 3 numbers, 3×2."""
    if len(shape) > 1:
        return shape_text(shape)
    return f"a list of {count(shape[0], 'number')}" if shape else "one number"


def _lengths(plan: Plan, steps: StepsByName) -> Mapping[str, int]:
    """How far each letter runs; of one that arrays disagree on, as what a token and its context are
    made of, some.
    """
    lengths = dict(plan.sizes)
    for step in steps.values():
        lengths |= dict(step.rule.lengths)
    shapes = {}
    for name, given in plan.parameters.items():
        if isinstance(given, Matrix):
            shapes[name] = given.value.shape
    for name, step in steps.items():
        shapes[name] = step.shape
    for step in steps.values():
        if not step.rule.given:
            lengths = index_sizes(step.rule.equation, shapes) | lengths
    for step in steps.values():
        own = zip(step.rule.target.letters, step.shape, strict=True)
        lengths = dict(own) | lengths
    return lengths
