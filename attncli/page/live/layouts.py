"""The page in every setting: its blocks without their numbers, which the script fills in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attncli.page.derivation import beginning, sections_of
from attncli.page.document import (
    Block,
    Cell,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Picture,
    Product,
    Room,
    Table,
    Worked,
)
from attncli.page.notes_and_summary import closing
from attncli.page.printer import printer_for
from attncli.page.view import View
from attncli.tracing.model import Trace


def layout_of(trace: Trace, view: View) -> Iterator[Block]:
    """The blocks of a page, without its numbers and its summary."""
    # Numbers and lines that are left out need not be made.
    printer = replace(printer_for(trace, view), lazy=True)
    yield from beginning(printer, view)
    yield from map(_without_numbers, sections_of(printer, tuple(trace.steps), view))
    yield from closing(printer, words=not trace.leading_letters)


def _without_numbers(block: Block) -> Block:
    """The same block for any numbers."""
    match block:
        case Heading(number=int()):
            return block._replace(number=0)
        case Grid():
            return _with_zeros(block)
        case Product():
            result = _with_zeros(block.result)
            return block._replace(
                factors=tuple(map(_with_zeros, block.factors)),
                added=tuple(map(_with_zeros, block.added)),
                result=result,
                instead=(result,),
            )
        case Worked():
            return Worked(())
        case Heading() | Paragraph() | Formula() | Table() | Listing() | Room() | Picture():
            return block


def _with_zeros(grid: Grid) -> Grid:
    width = len(grid.columns) or len(next(iter(grid.cells)))
    row = (Cell("0"),) * max(1, width)
    return grid._replace(cells=tuple(row for _ in grid.rows))
