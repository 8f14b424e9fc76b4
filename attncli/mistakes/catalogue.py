"""All known mistakes, in the order in which they can be made; which of them can be made in a
trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from attncli.attention.registry import RULES
from attncli.mistakes.forward import FORWARD_MISTAKES
from attncli.mistakes.misread import misread_of
from attncli.mistakes.model import Changes, Mistake, each_of
from attncli.tracing.model import Trace


class KnownMistake(NamedTuple):
    """A mistake as programs hear of it: its `id` never changes, its `name` says what was done."""

    id: str
    name: str


def mistakes() -> tuple[KnownMistake, ...]:
    """All mistakes that attncli knows, in the order in which they can be made."""
    return tuple(KnownMistake(mistake.id, mistake.name) for mistake in known_mistakes())


def known_mistakes(*, gradient: bool = True) -> tuple[Mistake, ...]:
    """All of them; without `gradient` those of the forward pass."""
    mistakes = (*FORWARD_MISTAKES, *_of_masks(), *_of_positions(), *_of_weights())
    return (*mistakes, *_of_gradients()) if gradient else mistakes


def applicable(
    trace: Trace, *, doubles: bool = False, of_own: bool = True
) -> Iterator[tuple[Mistake, Changes]]:
    """Every mistake that can be made in this trace, with the equations, or numbers, that it has for
    the steps; those `of_own` equations last.

    A mistake that is another one in this trace is told with `doubles` alone.
    """
    found: dict[str, Changes] = {}
    for mistake in _of_features(trace):
        changes = _changes(mistake, trace)
        if not changes:
            continue
        found[mistake.id] = changes
        if doubles or not mistake.unlike or found.get(mistake.unlike) != changes:
            yield mistake, changes
    if of_own and _has_own(trace):
        yield from _of_own(trace)


def changes_of(name: str, trace: Trace) -> Changes:
    """What the mistake of this name changes in a trace, or mistakes that were made together;
    nothing for a name that none has.
    """
    changes: dict[str, Any] = {}
    for each in each_of(name):
        changes.update(_changes_of_one(each, trace))
    return changes


def _changes_of_one(name: str, trace: Trace) -> Changes:
    for mistake in _of_features(trace):
        if mistake.name == name:
            return _changes(mistake, trace)
    if changes := misread_of(name, trace):
        return changes
    if not _has_own(trace):
        return {}
    return next((changes for mistake, changes in _of_own(trace) if mistake.name == name), {})


def _has_own(trace: Trace) -> bool:
    """Whether some of the steps are of the problem's own equations."""
    return any(step.rule.own for step in trace.steps.values())


def _of_own(trace: Trace) -> Iterator[tuple[Mistake, Changes]]:
    from attncli.mistakes.own import own_mistakes

    return own_mistakes(trace)


def _changes(mistake: Mistake, trace: Trace) -> Changes:
    """What a mistake changes in a trace: nothing where a step that it changes, or looks at, is not
    that of attention.
    """
    if not _has_own(trace) and trace.result == "output":
        return mistake.change(trace)
    known = _as_attention_has_it(trace)
    try:
        changes = mistake.change(known)
    except (KeyError, ValueError, IndexError):
        # It looks at a step that equations of the problem's own have no need of, at the equation of
        # one that they make, or at an axis that they leave out.
        return {}
    is_of_own = any(trace.steps[name].rule.own for name in changes)
    return {} if is_of_own else changes


def _as_attention_has_it(trace: Trace) -> Trace:
    """The trace without steps that have the name of one of attention, and other axes. How a step of
    the problem's own is worked out is not known: no mistake of attention is in it.
    """
    steps = {}
    for name, step in trace.steps.items():
        rule = step.rule
        if not rule.own:
            steps[name] = step
        elif name not in RULES or rule.axis_names[-2:] == RULES[name].axis_names[-2:]:
            steps[name] = replace(step, rule=replace(rule, formula=rule.target))
    return replace(trace, steps=steps)


def _of_features(trace: Trace) -> Iterator[Mistake]:
    """The mistakes with what this trace has. Most solutions have neither a mask, positions nor a
    gradient: for them, nothing of that is read.
    """
    yield from FORWARD_MISTAKES
    there = {*trace, *trace.parameters}
    if there & {"masked", "capped", "sink"}:
        yield from _of_masks()
    if there & {"Q_rot", "bias", "past_K", "PE"}:
        yield from _of_positions()
    # After those of positions, which people make by hand: some give the same scores.
    if there >= {"W_Q", "W_K", "W_V"} and there & {"concat", "heads_output", "Q_rot", "b_Q"}:
        yield from _of_weights()
    if "d_output" in there:
        yield from _of_gradients()


def _of_weights() -> tuple[Mistake, ...]:
    from attncli.mistakes.weights import WEIGHT_MISTAKES

    return WEIGHT_MISTAKES


def _of_masks() -> tuple[Mistake, ...]:
    from attncli.mistakes.masks import MASK_MISTAKES

    return MASK_MISTAKES


def _of_positions() -> tuple[Mistake, ...]:
    from attncli.mistakes.positions import POSITION_MISTAKES

    return POSITION_MISTAKES


def _of_gradients() -> tuple[Mistake, ...]:
    from attncli.mistakes.backward import BACKWARD_MISTAKES

    return BACKWARD_MISTAKES
