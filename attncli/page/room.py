"""Before a page is written: whether all of its numbers fit into memory as text, and what to do if not."""

from __future__ import annotations

from attncli.memory import insist
from attncli.page.heads import shown
from attncli.page.view import View
from attncli.tracing.model import Trace

_EACH = 100  # bytes that a number on a page takes while it is laid out, in LaTeX; in other formats two thirds of it

LESS = "ask for less with --steps output, or for JSON, which is written row by row: -o page.json"


def require_page(trace: Trace, view: View, help: str = LESS) -> None:
    """Raises AttncliError (exit 3) where the numbers that the view asks for would not fit into memory as text."""
    if view.cell is not None:
        return
    here = shown(trace, view)
    names = tuple(here.steps)
    if view.steps is not None:
        from attncli.page.selection import chosen_steps  # which names every step

        names = chosen_steps(here, view.steps, trace)
    numbers = sum(here.steps[name].value.size for name in names)
    insist(_EACH * numbers, f"a page of {numbers:,} numbers", help)
