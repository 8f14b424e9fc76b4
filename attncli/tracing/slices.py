"""One head, or one entry of a batch, taken out of a trace: a trace of its own, of a single head."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction
from itertools import dropwhile, takewhile
from math import isfinite

from attncli.attention.registry import GIVEN_RULES, gradient_name
from attncli.equation.indexing import GROUP_MEMBER, all_letters, is_fixed, position
from attncli.equation.nodes import Expression, Ref, walk
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import HEAD, KEY_HEAD, KEY_HEAD_OF, LEADING
from attncli.tracing.model import Step, Trace, WeightsRow, step_of_pairs
from attncli.tracing.warnings import warnings_of


def axis_length(trace: Trace, letter: str) -> int:
    """How many places a leading axis has."""
    for step in trace.steps.values():
        letters = step.rule.target.letters
        if letter in letters:
            return step.shape[letters.index(letter)]
    raise KeyError(letter)


def group_size(trace: Trace) -> int:
    """How many query heads each head of keys and values serves."""
    group = trace.parameters.get("group")
    return int(group.value) if isinstance(group, Scalar) else 1


def with_key_head(trace: Trace, place: Mapping[str, int]) -> dict[str, int]:
    """The place with the head of keys and values that its query head uses, where it has a query
    head.
    """
    if HEAD not in place:
        return dict(place)
    group = group_size(trace)
    of_query_head = KEY_HEAD_OF[KEY_HEAD]
    key_head = position(of_query_head, place, {"group": group})
    found = dict(place)
    found[KEY_HEAD] = key_head
    return found


def steps_of_all_heads(trace: Trace) -> tuple[str, ...]:
    """The steps that belong to all heads together: those after concat, concat itself, and W_O and
    b_O for them.
    """
    if HEAD not in trace.leading_letters:
        return ()
    found: dict[str, None] = {}
    before = _before_concat(trace)
    for name in forward_steps(trace):
        rule = trace.steps[name].rule
        # A concat of the problem's own stands for one head, if it adds up none.
        joins = HEAD in _summed(rule) and name not in before if rule.own else name == "concat"
        if joins or not found.keys().isdisjoint(rule.inputs):
            found[name] = None
    if "concat" not in found:
        return tuple(found)
    of_heads = [step.rule.inputs for name, step in trace.steps.items() if name not in found]
    read = {name for inputs in of_heads for name in inputs}
    # A step of the problem's own may read them in every head, too.
    weights = [name for name in ("W_O", "b_O") if name in trace and name not in read]
    return (*weights, *found)


def _before_concat(trace: Trace) -> Set[str]:
    """The steps that a head needs before heads come together, such as a mean over all heads that
    its queries are divided by: all heads share these.
    """
    found: set[str] = set()
    for name in reversed(forward_steps(trace)):
        if name in found or name in ("weights", "concat"):
            found.update(trace.steps[name].rule.inputs)
    return found - {"concat"}


def forward_steps(trace: Trace) -> tuple[str, ...]:
    """The steps up to the output; those after it are of the loss and of the backward pass."""
    ends = ("target", gradient_name(trace.result))
    return tuple(takewhile(lambda name: name not in ends, trace.steps))


def loss_steps(trace: Trace) -> tuple[str, ...]:
    """The steps from the output to the loss, the target first; none where the problem has no
    loss.
    """
    names = tuple(trace.steps)
    before = forward_steps(trace)
    after = backward_steps(trace)
    begin = len(before)
    end = len(names) - len(after)
    return names[begin:end]


def backward_steps(trace: Trace) -> tuple[str, ...]:
    """The steps of the backward pass, from the gradient of the output on; none where there was no
    backward pass.
    """
    first = gradient_name(trace.result)
    return tuple(dropwhile(lambda name: name != first, trace.steps))


def trace_at(trace: Trace, place: Mapping[str, int]) -> Trace:
    """The trace at one place of some leading axes, {"h": 0}; what belongs to all heads together is
    not in it.

    >>> from attncli.problem.python_values import problem
    >>> from attncli.tracing.run import run
    >>> two_heads = problem(Q=[[[1]], [[2]]], K=[[[3]], [[4]]], V=[[[5]], [[6]]])
    >>> trace = run(two_heads)
    >>> trace["scores"].tolist(), trace_at(trace, {"h": 1})["scores"].tolist()
    ([[[3.0]], [[8.0]]], [[8.0]])
    """
    found = cut_trace(trace, place, _together(trace, place))
    masked = tuple(_rows_left(trace, place))
    return replace(
        found,
        fully_masked=masked,
        warnings=warnings_of(found.steps, found.parameters, masked, trace.settings),
        truth=None if trace.truth is None else trace_at(trace.truth, place),
    )


def cut_trace(trace: Trace, place: Mapping[str, int], without: Collection[str] = ()) -> Trace:
    """The steps and parameters at one place of some leading axes, be it {"g": 1} of the heads of
    keys and values.

    Axes that the place does not fix are left as they are; warnings and what is fully masked are
    those of the whole.
    """
    fixed = with_key_head(trace, place)
    steps: dict[str, Step] = {}
    scalars: dict[str, Scalar] = {}
    for name, step in trace.steps.items():
        if name in without:
            continue
        taken = _step(_received(step, without), fixed)
        if taken.shape or not step.shape:
            steps[name] = taken
        else:
            # What has one number for each head, as a slope or a sink, is just a number for one.
            scalars[name] = Scalar(float(taken.value), _text(taken))
    parameters = {}
    for name, given in trace.parameters.items():
        if isinstance(given, Matrix):
            given = _parameter(name, given, trace, fixed)
        parameters[name] = given
    return replace(trace, parameters={**parameters, **scalars}, steps=steps)


def _together(trace: Trace, place: Mapping[str, int]) -> tuple[str, ...]:
    """What a single place has no part in: what heads come to together; of the loss and on the way
    back, what adds up.

    What follows from it has none either, but for the gradient of the output, which comes to every
    head.
    """
    heads = steps_of_all_heads(trace) if HEAD in place else ()
    lost, back = loss_steps(trace), backward_steps(trace)
    if not back:
        return heads
    # Through W_O the gradient of the output comes to the heads.
    gone = {*heads} - {"W_O"}
    added = {*place}
    if HEAD in place:
        added |= {HEAD, KEY_HEAD, GROUP_MEMBER}
        gone |= {name for name in lost if HEAD not in trace.steps[name].rule.target.letters}
        gone.add("d_b_O")
    joined = (name for name in heads if not trace.steps[name].rule.given)
    come = {gradient_name(name) for name in (*joined, trace.result)}
    for name in (*lost, *back):
        rule = trace.steps[name].rule
        follows = name not in come and not gone.isdisjoint(rule.inputs)
        adds_up = not added.isdisjoint(_summed(rule))
        if follows or adds_up:
            gone.add(name)
    return tuple(gone)


def _summed(rule: Rule) -> Set[str]:
    """The letters over which an equation adds up."""
    if rule.given:
        return frozenset()
    return all_letters(rule.equation) - {*rule.target.letters}


def _received(step: Step, without: Collection[str]) -> Step:
    """The step; of what belongs to all heads together, the gradient as it comes to a head from what
    all of them lead to.
    """
    of_all = step.name == "d_output" or step.name.removeprefix("d_") in without
    if not of_all or {*step.rule.inputs}.isdisjoint(without):
        return step
    known = GIVEN_RULES["d_output"] if step.name == "d_output" else step.rule
    return replace(step, rule=replace(known, formula=step.rule.target))


def _rows_left(trace: Trace, place: Mapping[str, int]) -> Iterator[WeightsRow]:
    """The rows without keys that are at this place, by what is left of their axes."""
    if not trace.fully_masked:
        return
    of_pairs = step_of_pairs(trace.steps)
    assert of_pairs is not None
    letters = of_pairs.rule.target.letters
    own = [letter for letter in letters if letter in LEADING]
    for row in trace.fully_masked:
        if isinstance(row, int):
            yield row
            continue
        *outer, query = row
        left = []
        is_there = True
        for letter, at in zip(own, outer, strict=True):
            if letter not in place:
                left.append(at)
            elif place[letter] != at:
                is_there = False
        if is_there:
            yield (*left, query) if left else query


def _step(step: Step, fixed: Mapping[str, int]) -> Step:
    index: list[int | slice] = []
    labels: list[tuple[str, ...]] = []
    for letter, names in zip(step.rule.target.letters, step.labels, strict=True):
        index.append(fixed.get(letter, slice(None)))
        if letter not in fixed:
            labels.append(names)
    # The three dots keep an array where no axis is left; without them, one of objects gives the
    # object itself.
    written = step.written
    if written is not None:
        written = written[*index, ...]
    exact = step.exact
    if exact is not None:
        exact = exact[*index, ...]
    rule = step.rule.at_place(fixed)
    value = step.value[tuple(index)]
    return Step(rule, value, tuple(labels), written, exact, step.kept)


def _text(step: Step) -> str:
    """The one number of a step, as it would be written in a problem."""
    exact = None if step.exact is None else step.exact.item()
    if isinstance(exact, Fraction):
        return str(exact)
    # On paper, too, a number that does not fit is inf or nan.
    value = float(step.value)
    if step.written is not None and isfinite(value):
        return str(step.written)
    return repr(value)


def _parameter(
    name: str, matrix: Matrix, trace: Trace, fixed: Mapping[str, int]
) -> Scalar | Matrix:
    """An array of the mask at this place; its letters are those with which equations read it."""
    places: list[int | slice] = []
    for index in _indices(name, trace):
        if is_fixed(index, fixed):
            places.append(position(index, fixed, {}))
        else:
            places.append(slice(None))
    value = matrix.value[*places]
    written = matrix.written
    if written is not None:
        written = written[*places]
    if value.ndim:
        return Matrix(value, written)
    number = float(value)
    text = repr(number) if written is None else str(written)
    return Scalar(number, text)


def _indices(name: str, trace: Trace) -> tuple[str | Expression, ...]:
    for step in trace.computed():
        expression = step.rule.equation.expression
        for node in walk(expression):
            if isinstance(node, Ref) and node.name == name:
                return node.indices
    return ()
