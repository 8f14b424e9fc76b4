r"""A matrix in LaTeX: TeX's own \bordermatrix, with the labels outside the parentheses and the name above them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from attncli.equation.notation import LATEX, UNICODE
from attncli.equation.printer import write, write_number
from attncli.page.document import Cell, Grid
from attncli.render.cells import (
    LEGEND,
    background,
    caption,
    chunks,
    decimals_alone,
    foreground,
    has_sign_of_hidden,
    split,
)
from attncli.render.escaping import label
from attncli.render.latex.escape import escape, length

GRAY = 0.5  # what a mask hides
BLANK = r"\underline{\hspace{3.5em}}"  # room to write a number
VERDICTS = {  # the sign and the color of each
    "right": (r"\checkmark", "0,0.45,0"), "carried": (r"\gg", "0,0.4,0.6"), "rounding": (r"\approx", "0.6,0.4,0"),
    "wrong": (r"\times", "0.8,0,0"), "missing": ("", "0,0,0"),
}  # fmt: skip
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
Spelled: TypeAlias = dict[tuple[int, str, str, bool], str]  # the cells of a matrix, by identity and phantoms


def _column_cells(cells: Sequence[Cell], spelled: Spelled) -> list[str]:
    """The cells of one column, all as wide, with phantoms so that decimal points stand in one line."""
    parts = [cell.text.partition(".") for cell in cells]
    tails = [point + digits for _, point, digits in parts]
    longest = max(tails, key=len)
    boxed = any(cell.shade is not None for cell in cells)
    before = max([whole for whole, _, _ in parts], key=len) if boxed else ""
    found = []
    for cell, (whole, _, _), tail in zip(cells, parts, tails, strict=True):
        key = (id(cell), before[: len(before) - len(whole)] if boxed else "", longest[len(tail) :], boxed)
        text = spelled.get(key)
        if text is None:
            text = spelled[key] = _cell(cell, boxed, *key[1:3])
        found.append(text)
    return found


def _cell(cell: Cell, boxed: bool, before: str, after: str) -> str:
    if not cell.text:
        return rf"\hfill {BLANK}"
    number = write_number(cell.text, LATEX) + _phantom(after)
    if cell.verdict is not None:
        number = _judged(number, cell.verdict)
    elif cell.hidden:
        number = rf"{{\color[gray]{{{GRAY}}}{number}}}" + (r"\kern\fboxsep" if boxed else "")
    elif cell.shade is not None:
        number = _shaded(_phantom(before) + f"{{{number}}}", cell.shade)
    return rf"\hfill {number}"


def _judged(number: str, verdict: str) -> str:
    """A number with the sign of its verdict, in its color, and as wide with any sign."""
    sign, color = VERDICTS[verdict]
    return rf"{{\color[rgb]{{{color}}}{number}\rlap{{${{}}^{{{sign}}}$}}}}\kern0.7em"


def _phantom(text: str) -> str:
    return rf"\phantom{{{text}}}" if text else ""


def _shaded(number: str, shade: float) -> str:
    back = background(shade)
    paper, ink = (",".join(f"{part / 255:.3f}" for part in color) for color in (back, foreground(back)))
    return rf"\colorbox[rgb]{{{paper}}}{{\color[rgb]{{{ink}}}${number}$}}"


def matrix_displays(grid: Grid) -> Iterator[str]:
    """The matrix as displayed formulas, each with a line that says which part it is where one is not enough.

    Closed forms stand before their decimals, or above them where a line has no room for both.
    """
    grid = grid.loaded()
    widths, tall, legend = _extents(grid)
    if grid.closed:
        closed = _closed(grid)
        if not _fits_a_line(grid):
            yield display(closed)
            yield from matrix_displays(decimals_alone(grid))
            return
        unnamed = _matrix(
            grid._replace(rows=("",) * len(grid.rows)),
            _names(rf"\vphantom{{{write(grid.name, LATEX)}}}", grid.columns),
            grid.cells,
            0,
            {},
        )
        relation = r"\approx" if grid.rounded else "="
        yield display(f"{closed}\n{relation}\n{unnamed}", keep=legend)
    else:
        yield from _displays(grid, widths, tall, legend)
    if legend:  # within a paragraph, since a color before one lets the page break in spite of all
        yield rf"\nopagebreak{{\small\leavevmode\color[gray]{{{GRAY}}}Gray: {LEGEND}.\par}}"


def _displays(grid: Grid, widths: Sequence[float], tall: bool, keep: bool) -> Iterator[str]:
    """The matrix of decimals in parts that fit on a line and on a page."""
    name, total = write(grid.name, LATEX), len(grid.columns) or 1
    side = max(*(length(label(row)) for row in grid.rows), length(name.replace(r"\mathrm", "")))
    rows = int(LINES // (TALL_LINES if tall else 1))
    for start, end in split(widths, LINE - side, COLUMNS):
        cells, spelled = grid.block(start, end), Spelled()
        names, across = _names(name, grid.columns[start:end]), _extent("column", (start, end, total))
        for top in range(0, len(cells), rows):
            bottom = min(top + rows, len(cells))
            if said := _said(across, _extent("row", (top, bottom, len(cells)))):
                yield said
            yield display(_matrix(grid, names, cells[top:bottom], top, spelled), keep=keep)


def _extents(grid: Grid) -> tuple[list[float], bool, bool]:
    """How wide the columns are, whether any row is taller than a line, and whether the sign for hidden is there."""
    heads = [length(label(head)) for head in grid.columns or ("",)]
    extents, tall, legend = [ColumnExtent() for _ in heads], False, False
    for rows in chunks(grid.cells):
        tall = tall or any(map(_is_tall, rows))
        legend = legend or has_sign_of_hidden(rows)
        for extent, column in zip(extents, zip(*rows, strict=True), strict=True):
            extent.add(column)
    return [GAP + max(head, extent.width) for head, extent in zip(heads, extents, strict=True)], tall, legend


def _said(across: str, down: str) -> str:
    """Which columns and rows a block has, where these are not all."""
    between = ", " if across and down else ""
    return rf"{{\small {across}{between}{down}:}}" if across or down else ""


def _extent(what: str, extent: Extent) -> str:
    """From where to where a block goes, if that is not all."""
    return escape(caption(what, *extent)) if extent[1] - extent[0] < extent[2] else ""


def _closed(grid: Grid) -> str:
    """The matrix of the closed forms."""
    strut = TALL if _has_fractions(grid) else ""
    lines = (
        [_side(row, strut), *(rf"\hfill {write(form, LATEX)}" for form in forms)]
        for row, forms in zip(grid.rows, grid.closed, strict=True)
    )
    names = _names(write(grid.name, LATEX), grid.columns or ("",))
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


@dataclass(slots=True)
class ColumnExtent:
    """How many digits wide the numbers of a column are, before the point and from it on, with points under points."""

    before: int = 0
    after: int = 0
    blank: bool = False
    boxed: bool = False

    def add(self, column: Sequence[Cell]) -> None:
        cells = {id(cell): cell for cell in column}.values()
        for whole, point, digits in (cell.text.partition(".") for cell in cells):
            self.before = max(self.before, len(whole) + SIGN * whole.count("-"))
            self.after = max(self.after, len(point + digits) + POWER * ("e" in digits))
        self.blank = self.blank or not all(cell.text for cell in cells)
        self.boxed = self.boxed or any(cell.shade is not None or cell.verdict for cell in cells)

    @property
    def width(self) -> float:
        return BLANK_WIDTH if self.blank else self.before + self.after + BOX * self.boxed


def _width(column: Sequence[Cell]) -> float:
    extent = ColumnExtent()
    extent.add(column)
    return extent.width


def _is_tall(row: Sequence[Cell]) -> bool:
    texts = [cell.text for cell in row]
    return "" in texts or "/" in "".join(texts)


def _matrix(grid: Grid, names: str, cells: Sequence[Sequence[Cell]], top: int, spelled: Spelled) -> str:
    """Some rows of some columns, the first of them `top`."""
    numbers = zip(*(_column_cells(column, spelled) for column in zip(*cells, strict=True)), strict=True)
    tall, labels = _has_fractions(grid), grid.rows[top : top + len(cells)]
    lines = (
        [_side(row, TALL if tall or _is_tall(line) else ""), *numbered]
        for row, numbered, line in zip(labels, numbers, cells, strict=True)
    )
    return _bordered(names, _lines(lines))


def _bordered(names: str, body: str) -> str:
    """A matrix of these lines, below the line of its names."""
    return f"\\bordermatrix{{\n  {names} \\cr\n{body}}}"


def _lines(lines: Iterable[Sequence[str]]) -> str:
    return "".join(f"  {' & '.join(line)} \\cr\n" for line in lines)


def _names(name: str, heads: Sequence[str]) -> str:
    return " & ".join([name, *(rf"\hfill\hbox{{{escape(label(head))}}}" for head in heads)])


@lru_cache(maxsize=2**12)  # the same labels stand beside each run of columns
def _side(row: str, strut: str = "") -> str:
    return rf"\hbox{{{escape(label(row))}}}{strut}\hfill"
