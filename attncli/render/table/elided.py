"""A large matrix for a terminal, cut to its edges; a line below it says what was left out, and how to see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from attncli.page.document import Cell, Grid
from attncli.records import replace
from attncli.render.columns import caption
from attncli.render.table.script import Script

MOST = 40  # rows, or columns, that are shown whole
EDGE = 4  # of more, so many at either end
_Item = TypeVar("_Item")


def elided(grid: Grid, script: Script) -> tuple[Grid, str]:
    """The matrix without what is far from its edges, and a sentence on that, empty where all of it is there."""
    rows, columns = len(grid.cells), len(grid.cells[0])
    dots = Cell(script.text("…"))
    cells, names, heads, gone = grid.cells, grid.rows, grid.columns, []
    if rows > MOST:
        cells, names = _ends(cells, (dots,) * columns), tuple(_ends(names, "…"))
        gone.append(caption("row", EDGE, rows - EDGE, rows))
    if columns > MOST:
        cells, heads = [tuple(_ends(row, dots)) for row in cells], tuple(_ends(heads, "…")) if heads else ()
        gone.append(caption("column", EDGE, columns - EDGE, columns))
    if not gone:
        return grid, ""
    said = f"without {' and '.join(gone)}; --all shows all"
    return replace(grid, rows=names, columns=heads, cells=cells, closed=()), said


def _ends(items: Sequence[_Item], between: _Item) -> list[_Item]:
    return [*items[:EDGE], between, *items[-EDGE:]]
