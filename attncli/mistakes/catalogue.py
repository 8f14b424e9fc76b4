"""All known mistakes, in the order in which they can be made; which of them can be made in a trace."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.mistakes.backward import BACKWARD_MISTAKES
from attncli.mistakes.forward import FORWARD_MISTAKES
from attncli.mistakes.model import Changes, Mistake
from attncli.tracing.model import Trace

MISTAKES: tuple[Mistake, ...] = (*FORWARD_MISTAKES, *BACKWARD_MISTAKES)


def applicable(trace: Trace) -> Iterator[tuple[Mistake, Changes]]:
    """Every mistake that can be made in this trace, with the equations, or numbers, that it has for the steps."""
    for mistake in MISTAKES:
        if changes := mistake.change(trace):
            yield mistake, changes
