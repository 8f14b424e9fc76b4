"""A worksheet: the page of a problem with some of its steps left blank, and a file for the answers to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from attncli.english import listed
from attncli.errors import usage_error
from attncli.page.derivation import derivation
from attncli.page.document import Document, Paragraph
from attncli.page.gradient import gradient_page
from attncli.page.view import View, chosen_steps
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import backward_steps, loss_steps

_INTRODUCTION = (
    "Fill in the blanks. The digits that you write say how precise a number is: 0.70 is more precise than 0.7. "
    "You can write an exact number as 7/10 or √3."
)

_NULL = "null"
_ANSWERS_HEAD = """\
# Answers{title}: replace each null with a number, or leave it blank.
# The digits that you write say how precise a number is: 0.70 is more precise than 0.7.
# You can write an exact number as 7/10, 5/sqrt(3) or e^(5/sqrt(3)).
"""


def worksheet(trace: Trace, view: View) -> Document:
    """The page for this view, whose `blank` steps have room for numbers, and no line that gives these numbers away."""
    page = gradient_page(trace, view) if backward_steps(trace) else derivation(trace, view)
    return replace(page, blocks=(Paragraph((_INTRODUCTION,), "note"), *page.blocks))


def blank_steps(trace: Trace, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The steps to leave blank, all that are worked out or those of these names, in the order of the trace.

    Of a trace with its gradient these are all of the loss and of the backward pass; the forward pass stays.

    With a step all are blank that only copy it, as K_T copies K. Raises AttncliError (exit 2) for a name that is
    none, and for an array that the problem gives.
    """
    if names is None:
        asked = (*loss_steps(trace), *backward_steps(trace)) or tuple(trace.steps)
        return tuple(name for name in asked if not trace.steps[name].rule.given)
    chosen = chosen_steps(trace, names)
    if given := [name for name in chosen if trace.steps[name].rule.given]:
        raise usage_error(
            f"{listed(given)} cannot be blank: the problem gives {'it' if len(given) == 1 else 'them'}",
            help=f"the steps that can be blank are {listed([step.name for step in trace.computed()])}",
        )
    blank = set(chosen)
    for step in trace.computed():
        if step.rule.is_copy and blank.intersection(step.rule.inputs):
            blank.add(step.name)
    return tuple(name for name in trace.steps if name in blank)


def blank_answers(trace: Trace, names: Sequence[str]) -> str:
    """YAML that `read_answers` reads, with comments that name steps, rows and columns."""
    title = f' to "{_printable(trace.title)}"' if trace.title else ""
    steps = ("".join(f"{line}\n" for line in _step(trace.steps[name])) for name in names)
    return "\n".join([_ANSWERS_HEAD.format(title=title), *steps])


def _step(step: Step) -> Iterator[str]:
    columns = f"; columns: {_joined(step.labels[-1])}" if len(step.shape) > 1 else ""
    yield f"# {step.rule.title}{columns}"
    if not step.shape:
        yield f"{step.name}: {_NULL}"
        return
    if len(step.shape) == 1:
        yield f"{step.name}: {_row(step.shape[0])}  # {_joined(step.labels[0])}"
        return
    yield f"{step.name}:"
    yield from _nested(step.shape, step.labels, "  ", "")


def _nested(shape: tuple[int, ...], labels: tuple[tuple[str, ...], ...], indent: str, above: str) -> Iterator[str]:
    """The lists of one matrix, row by row, or those of each head or entry after a comment that says which it is."""
    for label in labels[0]:
        said = f"{above}, {label}" if above else label
        if len(shape) == 2:
            yield f"{indent}- {_row(shape[1])}  # {_printable(said)}"
        else:
            first, *others = _nested(shape[1:], labels[1:], f"{indent}  ", said)
            yield f"{indent}- {first.strip()}"
            yield from others


def _row(length: int) -> str:
    return f"[{', '.join([_NULL] * length)}]"


def _joined(labels: Sequence[str]) -> str:
    return ", ".join(map(_printable, labels))


def _printable(text: str) -> str:
    """What a person wrote, on one line of a comment."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
