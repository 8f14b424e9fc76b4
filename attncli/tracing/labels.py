"""The labels of a step: what each place on each of its axes is called."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.equation.indices import INDICES
from attncli.equation.rule import Rule
from attncli.problem.model import Problem
from attncli.problem.parts.axes import width
from attncli.tracing.model import Step
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


def labels(problem: Problem, rule: Rule, shape: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The labels of a step of this shape, axis by axis: heads and positions count from 0, features
    from d1.

    Side by side, features say whose they are: h0 d1, h0 d2, h1 d1, …
    """
    found = []
    for axis, size in zip(rule.axis_names, shape, strict=True):
        found.append(_axis(problem, axis, size))
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
        return tuple(_COUNTED_LABELS[axis].format(place) for place in range(size))
    own = width("V", problem.given)
    if axis == "joined" and size > own:
        return tuple(f"h{place // own} d{place % own + 1}" for place in range(size))
    return tuple(f"d{place + 1}" for place in range(size))
