"""A sheet: which steps it asks for, which have room for numbers, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attncli.answers.blank import blank_answers
from attncli.answers.typed_forms import typed_forms
from attncli.marking.asked import asked_steps
from attncli.marking.scheme import Scheme
from attncli.marking.shares import marks_of_steps, numbers_of
from attncli.marking.sheet_marks import SheetMarks, plain_marks
from attncli.page.document import ToFillIn
from attncli.page.view import chosen_steps
from attncli.page.worksheet import Worth, blank_steps
from attncli.tracing.model import Trace


class SheetSteps(NamedTuple):
    """The steps that are `asked` for, and those that have `room` for numbers, in the order of the
    trace.
    """

    asked: tuple[str, ...]
    room: tuple[str, ...]

    @property
    def only(self) -> tuple[str, ...]:
        """What a sheet names as asked for; nothing where it asks for all that has room."""
        return self.asked if len(self.asked) < len(self.room) else ()

    def worth(self, trace: Trace, marks: SheetMarks) -> Worth:
        """What the steps are worth that are asked for.

        Raises AttncliError (exit 2) unless the marks are of these steps.
        """
        marks.require_all(numbers_of(trace, self.asked), self.asked)
        return Worth(marks.whole, marks_of_steps(trace, self.asked, marks))


def to_fill_in(trace: Trace, steps: SheetSteps, file: str, *, is_named: bool = False) -> ToFillIn:
    """What a page of the sheet saves of what is typed, as a `file` that may be named after
    somebody.
    """
    answers = blank_answers(trace, steps.room)
    return ToFillIn(file, answers, is_named=is_named, asked=steps.only, forms=typed_forms())


def sheet_steps(trace: Trace, names: Sequence[str] | None) -> SheetSteps:
    """The steps of these names, or all that are worked out, with room for all work before and after
    them.

    Raises what `asked_steps` raises.
    """
    asked = asked_steps(trace, names)
    return SheetSteps(asked, room_for(trace, asked))


def room_for(trace: Trace, asked: Sequence[str]) -> tuple[str, ...]:
    """The steps that have no numbers on a sheet on which these are asked for: all that are worked
    out.

    Of a trace with its gradient the forward pass keeps its numbers, unless some of it is asked for.
    """
    room = blank_steps(trace)
    if set(asked) <= set(room):
        return room
    return blank_steps(trace, [step.name for step in trace.computed()])


def sheet_of_scheme(trace: Trace, scheme: Scheme) -> tuple[SheetSteps, Worth]:
    """What a scheme asks for, and what that is worth.

    Raises AttncliError (exit 3) for a step that the problem has not, or that it gives.
    """
    scheme.require_steps(trace)
    asked = chosen_steps(trace, [*scheme.steps])
    marks = {name: plain_marks(scheme.steps[name]) for name in asked}
    return SheetSteps(asked, room_for(trace, asked)), Worth(scheme.marks, marks)
