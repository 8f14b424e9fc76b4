"""Which steps a sheet asks for, and which of them only have the numbers of another one again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.errors import usage_error
from attncli.page.view import chosen_steps
from attncli.page.worksheet import blank_steps
from attncli.tracing.model import Trace


def asked_steps(trace: Trace, names: Sequence[str] | None) -> tuple[str, ...]:
    """The steps of these names, or all that are worked out, in the order of the trace.

    Raises AttncliError (exit 2) for a name that is none, for an array that the problem gives, and
    where two names are of the same numbers.
    """
    blank = blank_steps(trace, names)
    if names is None:
        return blank
    chosen = chosen_steps(trace, names)
    for name in chosen:
        again = copied_from(trace, name, chosen)
        if again:
            what = f"{name} has the numbers of {again} again, which is asked for"
            raise usage_error(what, help=f"leave out {name}, or {again}")
    return chosen


def copied_from(trace: Trace, name: str, steps: Sequence[str]) -> str:
    """The one of these steps of which another has the same numbers: heads_output, of the output of
    several heads that stands side by side. Empty for none.
    """
    return next((each for each in _sources(trace, name) if each in steps), "")


def has_given_numbers(trace: Trace, name: str) -> bool:
    """Whether a step only has the numbers of an array that the problem gives, as K_T of K."""
    return any(trace.steps[each].rule.given for each in _sources(trace, name))


def _sources(trace: Trace, name: str) -> Iterator[str]:
    """What a step copies, and what that copies; nothing for a step that is worked out."""
    rule = trace.steps[name].rule
    if not rule.is_copy:
        return
    for read in rule.inputs:
        if read in trace.steps:
            yield read
            yield from _sources(trace, read)
