"""The page in every setting: its blocks without their numbers, which the script fills in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attncli.page.derivation import beginning, sections_of
from attncli.page.document import (
    Block,
    Cell,
    Factor,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Picture,
    Product,
    Room,
    Table,
    Verbatim,
    Worked,
)
from attncli.page.printer import printer_for
from attncli.page.short.overview import overview
from attncli.page.view import View
from attncli.tracing.model import Trace


def layout_of(trace: Trace, view: View) -> Iterator[Block]:
    """The blocks of a page, without its numbers."""
    # What is given is changed in one place.
    view = replace(view, short=False)
    # Numbers and lines that are left out need not be made.
    printer = replace(printer_for(trace, view), lazy=True)
    yield from beginning(printer, view)
    yield from overview(printer, view)
    yield from map(_without_numbers, sections_of(printer, tuple(trace.steps), view))


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
                factors=tuple(map(_factor_with_zeros, block.factors)),
                added=tuple(map(_factor_with_zeros, block.added)),
                result=result,
                instead=(result,),
            )
        case Worked():
            return Worked(())
        case (
            Heading()
            | Paragraph()
            | Formula()
            | Table()
            | Listing()
            | Verbatim()
            | Room()
            | Picture()
        ):
            return block


def _factor_with_zeros(factor: Factor) -> Factor:
    return _with_zeros(factor) if isinstance(factor, Grid) else factor


def _with_zeros(grid: Grid) -> Grid:
    width = len(grid.columns) or len(next(iter(grid.cells)))
    row = (Cell("0"),) * max(1, width)
    return grid._replace(cells=tuple(row for _ in grid.rows))
