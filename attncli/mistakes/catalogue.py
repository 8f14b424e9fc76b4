"""All known mistakes, in the order in which they can be made; which of them can be made in a
trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from attncli.mistakes.forward import FORWARD_MISTAKES
from attncli.mistakes.model import Changes, Mistake
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
    if not gradient:
        return FORWARD_MISTAKES
    # Most solutions have no gradient, and so none of these.
    from attncli.mistakes.backward import BACKWARD_MISTAKES

    return (*FORWARD_MISTAKES, *BACKWARD_MISTAKES)


def applicable(trace: Trace) -> Iterator[tuple[Mistake, Changes]]:
    """Every mistake that can be made in this trace, with the equations, or numbers, that it has for
    the steps.
    """
    for mistake in known_mistakes(gradient="d_output" in trace):
        if changes := mistake.change(trace):
            yield mistake, changes


def changes_of(name: str, trace: Trace) -> Changes:
    """What the mistake of this name changes in a trace; nothing for a name that none has."""
    known = known_mistakes(gradient="d_output" in trace)
    return next((mistake.change(trace) for mistake in known if mistake.name == name), {})
