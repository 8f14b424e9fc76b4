"""Where pictures stand in a page: a chart of all shapes first, then one after some of the steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from attncli.english import listed
from attncli.errors import usage_error
from attncli.page.document import Picture
from attncli.page.drawing import Drawing
from attncli.page.pictures.composition import output_step
from attncli.page.pictures.kinds import Choice, draw
from attncli.page.printer import Printer
from attncli.page.view import place_title
from attncli.tracing.model import Trace


def chart(trace: Trace) -> Picture:
    """The shapes of all steps."""
    return _picture("dimensions", "dimensions", trace, "", 0)


def pictures_after(printer: Printer, step: str, place: Mapping[str, int]) -> Iterator[Picture]:
    """What is drawn of a step, after it; `place` is where its trace is among heads and entries."""
    trace = printer.trace
    kind = _pictured(trace).get(step)
    if kind:
        title = place_title(place) if place else ""
        words = title.lower().replace(",", "").split()
        name = "-".join((*words, kind))
        yield _picture(name, kind, trace, title, printer.precision)


def require_pictured(trace: Trace, steps: Collection[str]) -> None:
    """Raises AttncliError (exit 2) where none of these steps has a picture."""
    if not {*_pictured(trace)} & {*steps}:
        having = listed([*_pictured(trace)])
        message = f"--pictures has nothing to draw: of the steps, only {having} have a picture"
        raise usage_error(
            message, help="leave out --pictures, or draw any picture with attncli picture"
        )


def _pictured(trace: Trace) -> dict[str, str]:
    """The steps that have a picture, and which."""
    maps = [name for name in ("weights", "d_weights", "d_scores") if name in trace]
    pictures = {name: name for name in maps}
    if trace.is_plain:
        pictures[output_step(trace)] = "output"
    return pictures


def _picture(name: str, of: str, trace: Trace, title: str, precision: int) -> Picture:
    return Picture(name, cache(partial(_drawn, of, trace, title, precision)))


def _drawn(of: str, trace: Trace, title: str, precision: int) -> Drawing:
    return draw(of, replace(trace, title=title), Choice(precision=precision))
