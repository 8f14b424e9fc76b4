"""All pictures by their names, and the file of each format that is made of one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from attncli.errors import usage_error
from attncli.features.picture.drawing import Drawing
from attncli.features.picture.parts import parts_of
from attncli.page.view import View, chosen_query, selected_part
from attncli.problem.keys import SCORES
from attncli.problem.model import Problem
from attncli.render.markdown import plain_text
from attncli.tracing.model import Trace


class Choice(NamedTuple):
    """What of a trace is drawn: one query, head or entry, or all of them; and how many decimals."""

    query: str | None = None
    head: int | None = None
    entry: int | None = None
    precision: int = 3


class Picture(NamedTuple):
    """A drawing, and the same as a chart in the language of Mermaid, if it is one."""

    drawing: Drawing
    mermaid: str = ""

    def text(self, format: str, *, fragment: bool = False) -> str:
        """The picture as the text of an SVG, Markdown or LaTeX file."""
        if format == "latex":
            from attncli.features.picture.tikz import tikz

            return tikz(self.drawing, fragment=fragment)
        from attncli.features.picture.svg import svg

        return svg(self.drawing) if format == "svg" else self._markdown(svg(self.drawing))

    def _markdown(self, svg: str) -> str:
        """A chart in a fence, as GitHub draws it; any other picture inside the file, as a link to its own data."""
        if self.mermaid:
            head, said = plain_text(self.drawing.title), plain_text(self.drawing.description)
            return f"# {head}\n\n```mermaid\n{self.mermaid}```\n\n{said}\n"
        from base64 import b64encode

        data = b64encode(svg.encode()).decode()
        return f"![{plain_text(self.drawing.description)}](data:image/svg+xml;base64,{data})\n"


def draw(of: str, trace: Trace, choice: Choice, other: Trace | None = None) -> Picture:
    """The picture of this name; `other` is the same problem with the scale if the trace has none, else without it.

    Raises AttncliError (exit 2) for a query, a head or an entry that is not there.
    """
    query = None if choice.query is None else chosen_query(trace, choice.query)
    view = View(head=choice.head, entry=choice.entry)
    chosen = selected_part(trace, view)
    if of == "dimensions":
        from attncli.features.picture.dimensions import dimensions

        return Picture(*dimensions(chosen.title, chosen))
    parts = parts_of(chosen, choice.precision)
    if of == "flow":
        from attncli.features.picture.flow import flow

        return Picture(flow(chosen.title, parts, query))
    if of == "output":
        from attncli.features.picture.composition import composition

        return Picture(composition(chosen.title, parts, query))
    if of == "softmax":
        from attncli.features.picture.softmax import softmax

        assert other is not None
        others = parts_of(selected_part(other, view), choice.precision)
        return Picture(softmax(chosen.title, parts, others, query))
    from attncli.features.picture.heatmap import heatmap

    return Picture(heatmap(chosen.title, parts, of))


def with_and_without_scale(problem: Problem) -> Problem:
    """The same problem without the scale, or with the default one if it has none; raises AttncliError (exit 2) for
    scores that are no dot products.
    """
    divided = SCORES[problem.score].divided
    if problem.scale == "none" or (problem.scale == "default" and not divided):
        if not SCORES[problem.score].is_dot:
            raise usage_error(
                f"--of softmax needs a scale or scores that are dot products, and the score is {problem.score}",
                help="use another picture, or a problem with score: scaled_dot or dot",
            )
        return replace(problem, score="scaled_dot", scale="default")
    return replace(problem, scale="none")
