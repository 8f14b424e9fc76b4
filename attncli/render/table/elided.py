"""What a terminal has only the ends of: dots in place of what is left out, and a line that says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from attncli.page.document import EDGE, Cell, Grid, LeftOut
from attncli.render.columns import caption
from attncli.render.table.script import Script

_Item = TypeVar("_Item")


def with_dots(grid: Grid, script: Script) -> Grid:
    """The matrix with dots between its ends."""
    gone, dots = dict(grid.left_out), Cell(script.text("…"))
    cells, names, heads = grid.cells, grid.rows, grid.columns
    if "column" in gone:
        cells, heads = [tuple(_parted(row, dots)) for row in cells], tuple(_parted(heads, "…"))
    if "row" in gone:
        cells, names = _parted(cells, (dots,) * len(cells[0])), tuple(_parted(names, "…"))
    return replace(grid, rows=names, columns=heads, cells=cells)


def said(left_out: LeftOut) -> str:
    """Which rows and columns are not there."""
    gone = " and ".join(caption(what, EDGE, count - EDGE, count) for what, count in left_out)
    return f"without {gone}; --all shows all"


def _parted(items: Sequence[_Item], between: _Item) -> list[_Item]:
    return [*items[:EDGE], between, *items[EDGE:]]
