"""The labels of a step: what each place on each of its axes is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from attncli.equation.indices import INDICES
from attncli.equation.rule import Rule
from attncli.problem.model import Problem
from attncli.problem.parts.axes import width
from attncli.tracing.model import Labels, Step
from attncli.tracing.workers import Worked

_COUNTED_LABELS = {index.axis: index.label for index in INDICES.values() if index.label}


def labelled_step(problem: Problem, rule: Rule, worked: Worked) -> Step:
    """A step as it was worked out, with its labels; its value is read-only, and a view where it is
    a transpose.
    """
    value = worked.value.view()
    value.flags.writeable = False
    of_axes = labels(problem, rule, value.shape)
    return Step(rule, value, of_axes, worked.written, worked.exact)


def labels(problem: Problem, rule: Rule, shape: Sequence[int]) -> Labels:
    """The labels of a step of this shape, axis by axis: heads and positions count from 0, features
    from d1.

    Side by side, features say whose they are: h0 d1, h0 d2, h1 d1, …
    """
    found = []
    for axis, size in zip(rule.axis_names, shape, strict=True):
        if len(axis) == 1:
            # It is a letter of the person's own.
            of_axis = _counted(f"{axis}{{}}", size)
        else:
            of_axis = _axis(problem, axis, size)
        found.append(of_axis)
    return tuple(found)


def _axis(problem: Problem, axis: str, size: int) -> tuple[str, ...]:
    if axis == "query" and size == len(problem.tokens):
        return problem.tokens
    # X may serve keys alone, and the last keys are those of the new tokens.
    if axis in ("query", "key", "new"):
        return problem.context_tokens[-size:]
    if axis == "cached":
        return problem.context_tokens[:size]
    if axis in _COUNTED_LABELS:
        return _counted(_COUNTED_LABELS[axis], size)
    if axis == "joined":
        of_a_head = width("V", problem.sized)
        if size > of_a_head:
            return tuple(_joined_features(size, of_a_head))
    return _features(size)


# Most steps of a trace have axes of a few lengths.
@lru_cache(maxsize=64)
def _features(size: int) -> tuple[str, ...]:
    return tuple(f"d{place + 1}" for place in range(size))


@lru_cache(maxsize=64)
def _counted(spelling: str, size: int) -> tuple[str, ...]:
    """Labels that count from 0: head 0, head 1."""
    return tuple(map(spelling.format, range(size)))


def _joined_features(size: int, of_a_head: int) -> Iterator[str]:
    """The labels of features of several heads side by side."""
    for place in range(size):
        head, feature = divmod(place, of_a_head)
        yield f"h{head} d{feature + 1}"
