"""Whether the numbers of a page can be changed, and what the page then needs besides its blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from attncli.page.document import Block, Document, Lazy, Live, Once, Paragraph
from attncli.page.ends import too_many_parts, too_many_rows
from attncli.page.live.data import data_of
from attncli.page.live.layouts import layout_of
from attncli.page.live.offered_settings import layout_name, traces_of
from attncli.page.live.sizes import MOST_CELLS
from attncli.page.view import View
from attncli.problem.model import Problem
from attncli.tracing.model import Trace
from attncli.tracing.slices import axis_length, backward_steps


def with_live(page: Document, problem: Problem, trace: Trace, view: View) -> Document:
    """The page of a whole trace with what it needs to work itself out.

    A page that cannot do so has a note that says why. A part of a page has neither.
    """
    if view.is_part:
        return page
    why = why_static(trace, view)
    if why is None:
        return replace(page, live=lambda: live(problem, trace, view))
    note = Paragraph((f"The numbers of this page cannot be changed: {why}.",), "note")

    def blocks() -> Iterator[Block]:
        remaining = iter(page.blocks)
        yield next(remaining)
        yield note
        yield from remaining

    if isinstance(page.blocks, Lazy | Once):
        return replace(page, blocks=type(page.blocks)(blocks))
    return replace(page, blocks=tuple(blocks()))


def live(problem: Problem, trace: Trace, view: View) -> Live:
    """What the page of this trace needs: the problem as data, and the page in every setting."""
    traces = traces_of(problem, view.precision, first=trace.shifted)
    layouts = {
        layout_name(*setting): tuple(layout_of(found, view)) for setting, found in traces.items()
    }
    return Live(data_of(problem, view.precision, view.detail, traces), layouts)


def why_static(trace: Trace, view: View) -> str | None:
    """Why a page cannot work this trace out, such as "they are float16"; None where it can."""
    settings = trace.settings
    if settings.rounding == "exact":
        return "they are exact"
    if settings.rounding != "shown":
        return "they are rounded as on paper"
    if settings.dtype != "float64":
        return f"they are {settings.dtype}"
    if settings.device != "cpu":
        return "they were worked out on a GPU"
    if view.heatmap:
        return "they are shaded"
    if backward_steps(trace):
        return "gradients are worked out by attncli alone"
    if view.only_ends and (_has_many_rows(trace) or _has_many_parts(trace)):
        return "the page does not have all of them; --all shows all"
    if _has_many_cells(trace):
        return "there are too many of them"
    return None


def _has_many_rows(trace: Trace) -> bool:
    longest = max(max(step.shape, default=0) for step in trace.steps.values())
    return too_many_rows(longest)


def _has_many_parts(trace: Trace) -> bool:
    lengths = [axis_length(trace, letter) for letter in trace.leading_letters]
    return too_many_parts(math.prod(lengths))


def _has_many_cells(trace: Trace) -> bool:
    if not all(step.kept for step in trace.steps.values()):
        return True
    return sum(step.value.size for step in trace.computed()) > MOST_CELLS
