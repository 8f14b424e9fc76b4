"""One head, or one entry of a batch, taken out of a trace: a trace of its own, of a single head."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import dropwhile, takewhile
from math import isfinite

from attncli.attention.registry import GIVEN_RULES
from attncli.equation.indexing import GROUP_MEMBER, all_letters, is_fixed, position
from attncli.equation.nodes import Expression, Ref, walk
from attncli.problem.axes import HEAD, KEY_HEAD, KEY_HEAD_OF, LEADING
from attncli.problem.model import Matrix, Scalar
from attncli.tracing.model import Row, Step, Trace
from attncli.tracing.warnings import warnings_of


def axis_length(trace: Trace, letter: str) -> int:
    """How many places a leading axis has."""
    steps = (step for step in trace.computed() if letter in step.rule.target.letters)
    return next(step.shape[step.rule.target.letters.index(letter)] for step in steps)


def group_size(trace: Trace) -> int:
    """How many query heads each head of keys and values serves."""
    group = trace.parameters.get("group")
    return int(group.value) if isinstance(group, Scalar) else 1


def with_key_head(trace: Trace, place: Mapping[str, int]) -> dict[str, int]:
    """The place with the head of keys and values that its query head uses, where it has a query head."""
    if HEAD not in place:
        return dict(place)
    return {**place, KEY_HEAD: position(KEY_HEAD_OF[KEY_HEAD], place, {"group": group_size(trace)})}


def steps_of_all_heads(trace: Trace) -> tuple[str, ...]:
    """The steps that belong to all heads together: those after concat, concat itself, and W_O and b_O for them."""
    names = forward_steps(trace)
    if HEAD not in trace.leading_letters or "concat" not in trace:
        return ()
    return (*(name for name in ("W_O", "b_O") if name in trace), *names[names.index("concat") :])


def forward_steps(trace: Trace) -> tuple[str, ...]:
    """The steps up to the output; those after it are of the loss and of the backward pass."""
    return tuple(takewhile(lambda name: name not in ("target", "d_output"), trace.steps))


def loss_steps(trace: Trace) -> tuple[str, ...]:
    """The steps from the output to the loss, the target first; none where the problem has no loss."""
    return tuple(trace.steps)[len(forward_steps(trace)) : len(trace) - len(backward_steps(trace))]


def backward_steps(trace: Trace) -> tuple[str, ...]:
    """The steps of the backward pass, from the gradient of the output on; none where there was no backward pass."""
    return tuple(dropwhile(lambda name: name != "d_output", trace.steps))


def trace_at(trace: Trace, place: Mapping[str, int]) -> Trace:
    """The trace at one place of some leading axes, {"h": 0}; what belongs to all heads together is not in it."""
    found = cut_trace(trace, place, _together(trace, place))
    masked = tuple(_rows_left(trace, place))
    return replace(
        found,
        fully_masked=masked,
        warnings=warnings_of(found.steps, found.parameters, masked, trace.settings),
        truth=None if trace.truth is None else trace_at(trace.truth, place),
    )


def cut_trace(trace: Trace, place: Mapping[str, int], without: Collection[str] = ()) -> Trace:
    """The steps and parameters at one place of some leading axes, be it {"g": 1} of the heads of keys and values.

    Axes that the place does not fix are left as they are; warnings and what is fully masked are those of the whole.
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
        else:  # one number for each head, as a slope or a sink: for this head, just a number
            scalars[name] = Scalar(float(taken.value), _text(taken))
    parameters = {
        name: _parameter(name, given, trace, fixed) if isinstance(given, Matrix) else given
        for name, given in trace.parameters.items()
    }
    return replace(trace, parameters={**parameters, **scalars}, steps=steps)


def _together(trace: Trace, place: Mapping[str, int]) -> tuple[str, ...]:
    """What a single place has no part in: what heads come to together; of the loss and on the way back, what adds up.

    What follows from it has none either, but for the gradient of the output, which comes to every head.
    """
    heads = steps_of_all_heads(trace) if HEAD in place else ()
    lost, back = loss_steps(trace), backward_steps(trace)
    if not back:
        return heads
    gone = {*heads} - {"W_O"}  # through which the gradient of the output comes to the heads
    added = {*place, *((HEAD, KEY_HEAD, GROUP_MEMBER) if HEAD in place else ())}
    for name in (*lost, *back):
        rule = trace.steps[name].rule
        summed = all_letters(rule.equation) - {*rule.target.letters} if not rule.given else set()
        follows = {*rule.inputs} & gone and name != "d_output"
        of_all = HEAD in place and (name == "d_b_O" or (name in lost and HEAD not in rule.target.letters))
        if follows or of_all or summed & added:
            gone.add(name)
    return tuple(gone)


def _received(step: Step, without: Collection[str]) -> Step:
    """The step; the gradient of the output as it comes to a head from the loss of all of them."""
    if step.name != "d_output" or not {*step.rule.inputs} & {*without}:
        return step
    return replace(step, rule=replace(GIVEN_RULES["d_output"], formula=step.rule.target))


def _rows_left(trace: Trace, place: Mapping[str, int]) -> Iterator[Row]:
    """The rows without keys that are at this place, by what is left of their axes."""
    own = [letter for letter in trace.steps["weights"].rule.target.letters if letter in LEADING]
    for row in trace.fully_masked:
        if isinstance(row, int):
            yield row
            continue
        lettered = tuple(zip(own, row, strict=False))
        if all(place.get(letter, each) == each for letter, each in lettered):
            left = (*(each for letter, each in lettered if letter not in place), row[-1])
            yield left if len(left) > 1 else row[-1]


def _step(step: Step, fixed: Mapping[str, int]) -> Step:
    index = tuple(fixed.get(letter, slice(None)) for letter in step.rule.target.letters)
    labels = tuple(
        names for letter, names in zip(step.rule.target.letters, step.labels, strict=True) if letter not in fixed
    )
    # The three dots keep an array where no axis is left; without them, one of objects gives the object itself.
    written = None if step.written is None else step.written[*index, ...]
    exact = None if step.exact is None else step.exact[*index, ...]
    return Step(step.rule.at_place(fixed), step.value[index], labels, written, exact, step.kept)


def _text(step: Step) -> str:
    """The one number of a step, as it would be written in a problem."""
    exact = None if step.exact is None else step.exact.item()
    if isinstance(exact, Fraction):
        return str(exact)
    value = float(step.value)  # inf or nan where on paper, too, a number does not fit
    return str(step.written) if step.written is not None and isfinite(value) else repr(value)


def _parameter(name: str, matrix: Matrix, trace: Trace, fixed: Mapping[str, int]) -> Scalar | Matrix:
    """An array of the mask at this place; its letters are those with which equations read it."""
    indices = _indices(name, trace)
    index = tuple(position(each, fixed, {}) if is_fixed(each, fixed) else slice(None) for each in indices)
    value, written = matrix.value[index], None if matrix.written is None else matrix.written[index]
    if value.ndim:
        return Matrix(value, written)
    return Scalar(float(value), str(written) if written is not None else repr(float(value)))


def _indices(name: str, trace: Trace) -> tuple[str | Expression, ...]:
    for step in trace.computed():
        for node in walk(step.rule.equation.expression):
            if isinstance(node, Ref) and node.name == name:
                return node.indices
    return ()
