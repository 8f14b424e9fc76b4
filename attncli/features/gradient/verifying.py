"""Which gradients `--verify` holds against finite differences: those that are shown, or those of the steps that are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attncli.attention.gradients import gradient_name
from attncli.errors import usage_error
from attncli.features.gradient.finite_differences import Held, Part, can_be_held, held
from attncli.page.heads import chosen_place, shown
from attncli.page.selection import chosen_cell, chosen_steps
from attncli.problem.axes import HEAD, KEY_HEAD
from attncli.tracing.slices import backward, serves

if TYPE_CHECKING:
    from attncli.page.view import View
    from attncli.problem.model import Problem
    from attncli.tracing.model import Trace


def verified_of(problem: Problem, trace: Trace, view: View) -> tuple[Held, ...]:
    """The gradients of a whole trace that this view shows; raises (exit 2) where none of them can be held."""
    part, place = shown(trace, view), dict(chosen_place(trace, view))
    if HEAD in place:
        place[KEY_HEAD] = place[HEAD] // serves(trace)
    able = tuple(name for name in can_be_held(trace) if name in part or name in part.parameters)
    names, cell, asked = able, None, ""
    if view.cell is not None:
        step, index = chosen_cell(part, view.cell, trace)
        names, asked = (_gradient(trace, step.name),), f"--cell {view.cell!r}"
        left = iter(index)
        letters = trace.steps[step.name].rule.target.letters
        cell = tuple(place[each] if each in place else next(left) for each in letters)
    elif view.steps is not None:
        chosen = chosen_steps(part, view.steps, trace)
        names, asked = tuple(_gradient(trace, name) for name in chosen), f"--steps {','.join(view.steps)}"
    if not {*names} & {*able}:
        message = f"--verify has no gradient to hold against differences in {asked}"
        raise usage_error(message, help=f"those that it can hold are {', '.join(able)}")
    return tuple(held(problem, trace, Part([name for name in names if name in able], place, cell)))


def _gradient(trace: Trace, name: str) -> str:
    """The step itself, where it is one of the way back, or its gradient."""
    return name if name in backward(trace) else gradient_name(name)
