"""A worksheet: the page of a problem with some of its steps left blank, to be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncli.english import listed
from attncli.errors import usage_error
from attncli.page.derivation import derivation
from attncli.page.document import Document, Paragraph
from attncli.page.gradient import gradient_page
from attncli.page.selection import chosen_steps
from attncli.page.view import View
from attncli.tracing.model import Trace
from attncli.tracing.slices import backward, of_loss

_TOLD = (
    "Fill in what is blank. The digits you write are the precision you claim: 0.70 says more than 0.7. "
    "What is exact may be written so: 7/10, √3."
)


def worksheet(trace: Trace, view: View) -> Document:
    """The page for this view, whose `blank` steps have room for numbers, and no line that tells these numbers."""
    page = gradient_page(trace, view) if backward(trace) else derivation(trace, view)
    return replace(page, blocks=(Paragraph((_TOLD,), "note"), *page.blocks))


def blank_steps(trace: Trace, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The steps to leave blank, all that are worked out or those of these names, in the order of the trace.

    Of a trace with its gradient these are all of the loss and of the way back; the way forward stays.

    With a step all are blank that only copy it, as K_T copies K. Raises AttncliError (exit 2) for a name that is
    none, and for an array that the problem gives.
    """
    if names is None:
        asked = (*of_loss(trace), *backward(trace)) or tuple(trace.steps)
        return tuple(name for name in asked if not trace.steps[name].rule.given)
    chosen = chosen_steps(trace, names)
    if given := [name for name in chosen if trace.steps[name].rule.given]:
        raise usage_error(
            f"{listed(given)} cannot be blank: the problem gives {'it' if len(given) == 1 else 'them'}",
            help=f"what is worked out are {listed([step.name for step in trace.computed()])}",
        )
    blank = set(chosen)
    for step in trace.computed():
        if step.rule.copies and blank.intersection(step.rule.inputs):
            blank.add(step.name)
    return tuple(name for name in trace.steps if name in blank)
