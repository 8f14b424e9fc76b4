"""What a page says before its steps: what they mean in words, a small heat map, and the shapes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from attncli.page.document import Block, Heading, Paragraph
from attncli.page.grid import grid
from attncli.page.notes_and_summary import WORDS, flow_of_shapes, in_words
from attncli.page.printer import Printer
from attncli.page.view import View

# A matrix with more rows or columns is no small map.
MOST_ROWS_OF_A_MAP, MOST_COLUMNS_OF_A_MAP = 16, 32


def overview(printer: Printer, view: View) -> Iterator[Block]:
    """What a whole trace means, and its shapes; each of several heads has words of its own."""
    trace = printer.trace
    has_words = trace.is_plain and not trace.leading_letters and not view.blank
    if has_words:
        yield from words(printer, view, WORDS)
    flow = flow_of_shapes(trace)
    if flow:
        yield Paragraph(("Shapes: ", *flow))


def words(printer: Printer, view: View, title: str) -> Iterator[Block]:
    """A plain trace in words, and the map of its weights."""
    yield Heading(title)
    yield in_words(printer)
    if view.short and view.detail != "brief":
        yield from _map(printer)


def _map(printer: Printer) -> Iterator[Block]:
    """The weights as shades, where they are few and not all in one cell."""
    weights = printer.trace.steps["weights"]
    rows, columns = weights.shape
    if rows > MOST_ROWS_OF_A_MAP or columns > MOST_COLUMNS_OF_A_MAP:
        return
    if prod(weights.shape) > 1:
        yield grid(printer, weights, heatmap=True)._replace(closed=(), picture="map")
