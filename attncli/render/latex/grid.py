r"""A matrix in LaTeX: TeX's own \bordermatrix, with the labels outside the parentheses and the name above them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from attncli.equation.notation import LATEX, UNICODE
from attncli.equation.printer import write
from attncli.page.document import Cell, Digits, Grid
from attncli.render.columns import caption, decimals_alone, split
from attncli.render.labels import label
from attncli.render.latex.cell import column_cells
from attncli.render.latex.escape import escape, length
from attncli.render.shades import needs_legend

COLUMNS = 8  # the most that stand side by side on a page
LINE = 76  # digits of a matrix that fit on a line between its parentheses, its labels included
GAP = 2  # digits between columns
BOX = 1.5  # digits that the box around a shaded number adds
SIGN = 1  # digits that a minus is wider than one
POWER = 3  # digits that the power of ten in 1.5 x 10^20 is wider than in 1.5e+20
APPROX = 8  # digits that a sign between two matrices and their parentheses take
LINES = 30  # a matrix does not break across pages
TALL = r"\vrule height1.2em depth0.6em width0pt"  # keeps rows of fractions apart
BLANK_WIDTH = 7  # digits
TALL_LINES = 1.6  # how many lines such a row takes
Extent = tuple[int, int, int]  # from, to, of how many


def grid_displays(grid: Grid) -> Iterator[str]:
    """The matrix as displayed formulas, each with a line that says which part it is where one is not enough.

    Closed forms stand before their decimals, or above them where a line has no room for both.
    """
    if grid.closed:
        closed = _closed(grid)
        if _fits_a_line(grid):
            unnamed = _matrix(
                replace(grid, rows=("",) * len(grid.rows)),
                _names(rf"\vphantom{{{write(grid.name, LATEX)}}}", grid.columns),
                slice(None),
                slice(None),
            )
            relation = r"\approx" if grid.rounded else "="
            yield display(f"{closed}\n{relation}\n{unnamed}", keep=needs_legend(grid))
        else:
            yield display(closed)
            yield from grid_displays(decimals_alone(grid))
        return
    name = write(grid.name, LATEX)
    total = len(grid.cells[0])
    side = max(*(length(label(row)) for row in grid.rows), length(name.replace(r"\mathrm", "")))
    runs = _runs(grid, LINE - side)
    keep = needs_legend(grid)
    digits = _alone(grid)
    rows = int(LINES // (TALL_LINES if digits is None and any(map(_is_tall, grid.cells)) else 1))
    heads = [] if digits is None else [f"  {_side(row)}" for row in grid.rows]
    extents = [(top, min(top + rows, len(grid.rows)), len(grid.rows)) for top in range(0, len(grid.rows), rows)]
    along = [_extent("row", extent) for extent in extents]
    for start, end in runs:
        columns = slice(start, end)
        names, across = _names(name, grid.columns[columns]), _extent("column", (start, end, total))
        if digits is not None:
            blocks = digits.lines(heads, r" & \hfill ", None, columns, end=r" \cr", together=rows)
            before, after = display(_bordered(names, "\0")).split("\0")
            for down, block in zip(along, blocks, strict=True):
                said = _said(across, down)
                yield f"{said}\n{before}{block}{after}" if said else f"{before}{block}{after}"
            continue
        for (top, bottom, _), down in zip(extents, along, strict=True):
            if said := _said(across, down):
                yield said
            yield display(_matrix(grid, names, slice(top, bottom), columns), keep=keep)


def is_large(grid: Grid) -> bool:
    """Whether the matrix is written from its digits, and nothing but numbers is to be seen of it."""
    return _alone(grid) is not None and not grid.closed


def _said(across: str, down: str) -> str:
    """Which columns and rows a block has, where these are not all."""
    between = ", " if across and down else ""
    return rf"{{\small {across}{between}{down}:}}" if across or down else ""


def _extent(what: str, extent: Extent) -> str:
    """From where to where a block goes, if that is not all."""
    return escape(caption(what, *extent)) if extent[1] - extent[0] < extent[2] else ""


def _alone(grid: Grid) -> Digits | None:
    """The digits of a large matrix, if none of its numbers is shorter than others and needs a phantom."""
    return grid.digits if grid.digits is not None and not grid.digits.shortened else None


def _closed(grid: Grid) -> str:
    """The matrix of the closed forms."""
    strut = TALL if _has_fractions(grid) else ""
    lines = (
        [_side(row, strut), *(rf"\hfill {write(form, LATEX)}" for form in forms)]
        for row, forms in zip(grid.rows, grid.closed, strict=True)
    )
    names = _names(write(grid.name, LATEX), grid.columns or ("",) * len(grid.closed[0]))
    return _bordered(names, _lines(lines))


def _has_fractions(grid: Grid) -> bool:
    """Whether a closed form is taller than a line: then all rows are, so that their decimals stand beside them."""
    return any(r"\frac" in write(form, LATEX) for forms in grid.closed for form in forms)


def _fits_a_line(grid: Grid) -> bool:
    """Whether the closed forms have room beside their decimals, all rows on a page."""
    decimals = sum(GAP + _width(column) for column in zip(*grid.cells, strict=True))
    closed = sum(GAP + max(len(write(form, UNICODE)) for form in column) for column in zip(*grid.closed, strict=True))
    side = max(length(label(row)) for row in grid.rows)
    return (
        side + closed + decimals + APPROX <= LINE
        and len(grid.rows) * TALL_LINES <= LINES
        and len(grid.columns) <= COLUMNS
    )


def display(formula: str, *, keep: bool = False) -> str:
    """A formula on a line of its own; `keep` keeps it on the page of what follows."""
    penalty = "\\postdisplaypenalty=10000\n" if keep else ""
    return f"\\[\n{penalty}{formula}\n\\]"


def _runs(grid: Grid, room: float) -> list[tuple[int, int]]:
    """Runs of columns that fit on a line and are at most COLUMNS long."""
    heads = grid.columns or ("",) * len(grid.cells[0])
    digits = _alone(grid)
    numbers = map(_width, zip(*grid.cells, strict=True)) if digits is None else map(sum, digits.widths(1 + SIGN))
    widths = [GAP + max(length(label(head)), width) for head, width in zip(heads, numbers, strict=True)]
    return split(widths, room, COLUMNS)


def _width(column: Sequence[Cell]) -> float:
    """How many digits wide a column of numbers is at most, with points under points."""
    if not all(cell.text for cell in column):
        return BLANK_WIDTH
    parts = [cell.text.partition(".") for cell in column]
    before = max(len(whole) + SIGN * whole.count("-") for whole, _, _ in parts)
    after = max(len(point + digits) + POWER * ("e" in digits) for _, point, digits in parts)
    return before + after + BOX * any(cell.shade is not None or cell.verdict for cell in column)


def _is_tall(row: Sequence[Cell]) -> bool:
    return any("/" in cell.text or not cell.text for cell in row)


def _matrix(grid: Grid, names: str, rows: slice, columns: slice) -> str:
    cells = [row[columns] for row in grid.cells[rows]]
    spelled = zip(*(column_cells(column) for column in zip(*cells, strict=True)), strict=True)
    tall = _has_fractions(grid)
    lines = (
        [_side(row, TALL if tall or _is_tall(line) else ""), *numbers]
        for row, numbers, line in zip(grid.rows[rows], spelled, cells, strict=True)
    )
    return _bordered(names, _lines(lines))


def _bordered(names: str, body: str) -> str:
    """A matrix of these lines, below the line of its names."""
    return f"\\bordermatrix{{\n  {names} \\cr\n{body}}}"


def _lines(lines: Iterable[Sequence[str]]) -> str:
    return "".join(f"  {' & '.join(line)} \\cr\n" for line in lines)


def _names(name: str, heads: Sequence[str]) -> str:
    return " & ".join([name, *(rf"\hfill\hbox{{{escape(label(head))}}}" for head in heads)])


def _side(row: str, strut: str = "") -> str:
    return rf"\hbox{{{escape(label(row))}}}{strut}\hfill"
