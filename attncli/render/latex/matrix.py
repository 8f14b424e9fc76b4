r"""A matrix in LaTeX: TeX's own \bordermatrix, with the labels outside the parentheses and the name
above them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import TypeAlias

from attncli.equation.notation import LATEX, UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label
from attncli.page.colors import LEGEND, background, foreground, ramp_of
from attncli.page.document import Cell, Grid, Product, Shading
from attncli.render.cells import (
    caption,
    chunks,
    decimals_alone,
    has_sign_of_hidden,
    shades_are,
    split,
)
from attncli.render.latex.escape import escape, length

# The gray of what a mask hides.
HIDDEN_GRAY = 0.5
# A legend is a paragraph of its own.
BEGINNING_OF_LEGEND = r"\nopagebreak{\small\leftskip=1.5em\leavevmode"
# The color begins inside the paragraph: TeX could break the page at a color before it.
LEGEND_OF_HIDDEN = rf"{BEGINNING_OF_LEGEND}\color[gray]{{{HIDDEN_GRAY}}}Gray: {LEGEND}.\par}}"
# The boxes of color in the legend of shades.
BOXES_OF_LEGEND = 5
PRODUCT_SIGNS = {"": "", "·": r"\cdot ", "+": "+ "}
# The color of the numbers that meet in a cell.
MARK_COLOR = "0.7,0.1,0"
# Room to write a number by hand.
BLANK_NUMBER = r"\underline{\hspace{4.5em}}"
# The sign and the color of each verdict.
SIGNS_OF_VERDICTS = {
    "right": (r"\checkmark", "0,0.45,0"),
    "carried": (r"\gg", "0,0.4,0.6"),
    "rounding": (r"\approx", "0.6,0.4,0"),
    "wrong": (r"\times", "0.8,0,0"),
    "missing": ("", "0,0,0"),
}
# No more columns stand side by side on a page.
MOST_COLUMNS = 8
# So many digits of a matrix fit on a line, its labels included.
WIDEST_LINE = 76
# Between two columns, in digits.
COLUMN_GAP = 2
# The box around a shaded number is as wide as so many digits.
BOX_WIDTH = 1.5
# So many digits is a minus wider than one.
MINUS_WIDTH = 1
# So many digits is the power of ten in 1.5 x 10^20 wider than in 1.5e+20.
POWER_WIDTH = 3
# A sign between two matrices and their parentheses are as wide as so many digits.
RELATION_WIDTH = 8
# TeX does not break a matrix across pages, so a long one would leave a hole.
MOST_LINES = 18
# Something may stand beside a matrix that is no wider than this, in digits.
WIDEST_SMALL_MATRIX = 46
# Such a matrix has no more rows than this, either.
MOST_SMALL_ROWS = 10
# It keeps rows of fractions apart.
STRUT_OF_FRACTIONS = r"\vrule height1.2em depth0.6em width0pt"
# How wide a blank is, in digits.
BLANK_WIDTH = 9
# It keeps rows to write in as far apart as the lines of a notebook.
STRUT_OF_BLANKS = r"\vrule height1.6em depth0.6em width0pt"
# A row that one of these two keeps apart takes so many lines.
LINES_OF_A_TALL_ROW = 1.9
# From, to, and of how many.
Extent = tuple[int, int, int]
# The cells of a matrix as they are written, by their identity and their phantoms.
Spelled: TypeAlias = dict[tuple[int, str, str, bool], str]


def _column_cells(cells: Sequence[Cell], spelled: Spelled, signed: bool) -> list[str]:
    """The cells of one column, all as wide, with phantoms so that decimal points stand in one
    line; `signed` are their shades.
    """
    parts = [cell.text.partition(".") for cell in cells]
    tails = [point + digits for _, point, digits in parts]
    longest = max(tails, key=len)
    boxed = any(cell.shade is not None for cell in cells)
    before = max([whole for whole, _, _ in parts], key=len) if boxed else ""
    found = []
    for cell, (whole, _, _), tail in zip(cells, parts, tails, strict=True):
        key = (
            id(cell),
            before[: len(before) - len(whole)] if boxed else "",
            longest[len(tail) :],
            boxed,
        )
        text = spelled.get(key)
        if text is None:
            text = spelled[key] = _cell(cell, boxed, *key[1:3], signed)
        found.append(text)
    return found


def _cell(cell: Cell, boxed: bool, before: str, after: str, signed: bool) -> str:
    if not cell.text:
        return rf"\hfill {BLANK_NUMBER}"
    number = write_number(cell.text, LATEX) + _phantom(after)
    if cell.marked:
        number = rf"\underline{{\color[rgb]{{{MARK_COLOR}}}\mathbf{{{number}}}}}"
    if cell.verdict is not None:
        number = _judged(number, cell.verdict)
    elif cell.hidden:
        number = rf"{{\color[gray]{{{HIDDEN_GRAY}}}{number}}}"
        if boxed:
            number += r"\kern\fboxsep"
    elif cell.shade is not None:
        number = _shaded(_phantom(before) + f"{{{number}}}", cell.shade, signed=signed)
    return rf"\hfill {number}"


def _judged(number: str, verdict: str) -> str:
    """A number with the sign of its verdict, in its color, and as wide with any sign."""
    sign, color = SIGNS_OF_VERDICTS[verdict]
    return rf"{{\color[rgb]{{{color}}}{number}\rlap{{${{}}^{{{sign}}}$}}}}\kern0.7em"


def _phantom(text: str) -> str:
    return rf"\phantom{{{text}}}" if text else ""


def _shaded(number: str, shade: float, *, signed: bool) -> str:
    back = background(shade, ramp_of(signed=signed).day)
    paper = _parts_of_color(back)
    ink = _parts_of_color(foreground(back))
    return rf"\colorbox[rgb]{{{paper}}}{{\color[rgb]{{{ink}}}${number}$}}"


def _parts_of_color(color: Iterable[int]) -> str:
    """Red, green and blue from 0 to 1: 0.502,0.502,1.000."""
    return ",".join(f"{part / 255:.3f}" for part in color)


def side_by_side(boxes: Iterable[str], *, keep: bool = True) -> str:
    """Boxes side by side, indented; TeX begins a new line before a box that does not fit.

    With `keep` they stand on the same page as the paragraph before them.
    """
    start = r"\nopagebreak" if keep else ""
    inside = "\\hskip2em minus1em\n".join(boxes)
    spacing = r"\raggedright\leftskip=1.5em\parskip=4pt\lineskip=4pt\linepenalty=1000"
    return f"{{{start}{spacing}\n{inside}\\par}}"


def is_small(grid: Grid) -> bool:
    """Whether something may stand beside a matrix.

    Such a matrix is narrow, in one piece, and without closed forms.
    """
    if grid.closed or grid.left_out:
        return False
    if len(grid.rows) > MOST_SMALL_ROWS or len(grid.columns) > MOST_COLUMNS:
        return False
    widths, tall, _ = _extents(grid)
    if tall and len(grid.rows) * LINES_OF_A_TALL_ROW > MOST_SMALL_ROWS:
        return False
    width = _side_width(grid) + sum(widths)
    return width <= WIDEST_SMALL_MATRIX


def matrix_rows(matrices: Sequence[Grid | Product], beside: Sequence[str] = ()) -> Iterator[str]:
    """Small matrices and products in a row, with what stands `beside` them; any other matrix in
    parts that fit.
    """
    if len(matrices) == 1 and isinstance(matrices[0], Grid) and not beside:
        yield from _alone(matrices[0].loaded())
        return
    boxes = []
    results: list[Grid] = []
    for each in matrices:
        match each:
            case Product(result=result):
                boxes.append(f"${_product(each)}$")
                results.append(result)
            case Grid():
                boxes.append(f"${_whole(each)}$")
                results.append(each)
    yield side_by_side([*boxes, *beside])
    for grid in results:
        if grid.shading:
            yield _legend_of_shades(grid.shading)
    if any(has_sign_of_hidden(grid.cells) for grid in results):
        yield LEGEND_OF_HIDDEN


def _legend_of_shades(shading: Shading) -> str:
    """The colors from the first to the last, and what they stand for."""
    colors = ramp_of(signed=shading.signed).day
    boxes: list[str] = []
    for place in range(BOXES_OF_LEGEND):
        color = background(place / (BOXES_OF_LEGEND - 1), colors)
        boxes.append(rf"\colorbox[rgb]{{{_parts_of_color(color)}}}{{\hbox to.7em{{\strut}}}}")
    said = shades_are(shading, lambda text: f"${write_number(text, LATEX)}$")
    return rf"{BEGINNING_OF_LEGEND}{{\fboxsep=0pt{''.join(boxes)}}}\ {said}.\par}}"


def _alone(grid: Grid) -> Iterator[str]:
    """A matrix; closed forms stand before their decimals, or above them where a line has no room
    for both.
    """
    widths, tall, legend = _extents(grid)
    if not grid.closed:
        yield from _parts(grid, widths, tall)
    elif not _fits_a_line(grid):
        yield side_by_side([f"${_closed(grid)}$"])
        yield from _alone(decimals_alone(grid))
        return
    else:
        unnamed = _matrix(
            grid._replace(rows=("",) * len(grid.rows)),
            _names(rf"\vphantom{{{write(grid.name, LATEX)}}}", grid.columns),
            grid.cells,
            0,
            {},
        )
        relation = r"\approx" if grid.rounded else "="
        yield side_by_side([f"${_closed(grid)}\n{relation}\n{unnamed}$"])
    if grid.shading:
        yield _legend_of_shades(grid.shading)
    if legend:
        yield LEGEND_OF_HIDDEN


def _whole(grid: Grid) -> str:
    return _matrix(grid, _names(write(grid.name, LATEX), grid.columns), tuple(grid.cells), 0, {})


def _product(product: Product) -> str:
    """Matrices side by side, each with its name above, and the result with its labels."""
    marked = product.marked()
    before = ""
    for sign, factor in marked.operands:
        before += f"{PRODUCT_SIGNS[sign]}{_unlabelled(factor)}\n"
    return f"{before}\\;=\\; {_whole(marked.result)}"


def _unlabelled(grid: Grid) -> str:
    """A matrix below its name. It is no bordermatrix, so that it is not read as an answer."""
    columns = (_column_cells(column, {}, False) for column in zip(*grid.cells, strict=True))
    rows = " \\\\{}\n".join(f"  {' & '.join(row)}" for row in zip(*columns, strict=True))
    aligned = "r" * len(grid.cells[0])
    start = rf"\left(\begin{{array}}{{@{{}}{aligned}@{{}}}}"
    end = r"\end{array}\right)"
    name = rf"\textstyle {write(grid.name, LATEX)}\strut"
    return f"\\mathop{{{start}\n{rows}\n{end}}}\\limits^{{{name}}}"


def _parts(grid: Grid, widths: Sequence[float], tall: bool) -> Iterator[str]:
    """The matrix of decimals in parts that fit on a line and leave no hole on a page, and which
    part each is.
    """
    name = write(grid.name, LATEX)
    total = len(grid.columns) or 1
    most_rows = MOST_LINES
    if tall:
        most_rows = int(MOST_LINES // LINES_OF_A_TALL_ROW)
    parts = ceil(len(grid.rows) / most_rows)
    rows = ceil(len(grid.rows) / parts)
    room = WIDEST_LINE - _side_width(grid)
    for start, end in split(widths, room, MOST_COLUMNS):
        cells = grid.block(start, end)
        names = _names(name, grid.columns[start:end])
        across = _extent("column", (start, end, total))
        spelled = Spelled()
        for top in range(0, len(cells), rows):
            bottom = min(top + rows, len(cells))
            down = _extent("row", (top, bottom, len(cells)))
            said = _said(across, down)
            if said:
                yield said
            keep = bool(said) or rows <= MOST_SMALL_ROWS
            shown = _matrix(grid, names, cells[top:bottom], top, spelled)
            yield side_by_side([f"${shown}$"], keep=keep)


def _side_width(grid: Grid) -> float:
    """How many digits wide the labels of the rows are, with the name above them."""
    name = write(grid.name, LATEX).replace(r"\mathrm", "")
    return max(*(length(label(row)) for row in grid.rows), length(name))


def _extents(grid: Grid) -> tuple[list[float], bool, bool]:
    """How wide the columns are, whether any row is taller than a line, and whether the sign for
    hidden is there.
    """
    heads = [length(label(head)) for head in grid.columns or ("",)]
    extents, tall, legend = [ColumnExtent() for _ in heads], False, False
    for rows in chunks(grid.cells):
        tall = tall or any(map(_is_tall, rows))
        legend = legend or has_sign_of_hidden(rows)
        for extent, column in zip(extents, zip(*rows, strict=True), strict=True):
            extent.add(column)
    return (
        [COLUMN_GAP + max(head, extent.width) for head, extent in zip(heads, extents, strict=True)],
        tall,
        legend,
    )


def _said(across: str, down: str) -> str:
    """Which columns and rows a block has, where these are not all."""
    said = ", ".join(filter(None, (across, down)))
    return rf"{{\small {said}:}}" if said else ""


def _extent(what: str, extent: Extent) -> str:
    """From where to where a block goes, if that is not all."""
    return escape(caption(what, *extent)) if extent[1] - extent[0] < extent[2] else ""


def _closed(grid: Grid) -> str:
    """The matrix of the closed forms."""
    strut = STRUT_OF_FRACTIONS if _has_fractions(grid) else ""
    lines = []
    for row, forms in zip(grid.rows, grid.closed, strict=True):
        cells = [rf"\hfill {write(form, LATEX)}" for form in forms]
        lines.append([_side(row, strut), *cells])
    names = _names(write(grid.name, LATEX), grid.columns or ("",))
    return _bordered(names, _lines(lines))


def _has_fractions(grid: Grid) -> bool:
    """Whether a closed form is taller than a line: then all rows are, so that their decimals stand
    beside them.
    """
    return any(r"\frac" in write(form, LATEX) for forms in grid.closed for form in forms)


def _fits_a_line(grid: Grid) -> bool:
    """Whether the closed forms have room beside their decimals, all rows on a page."""
    if len(grid.rows) * LINES_OF_A_TALL_ROW > MOST_LINES:
        return False
    if len(grid.columns) > MOST_COLUMNS:
        return False
    width = max(length(label(row)) for row in grid.rows)
    width += RELATION_WIDTH
    for column in zip(*grid.cells, strict=True):
        width += COLUMN_GAP + _width(column)
    for forms in zip(*grid.closed, strict=True):
        widest = max(len(write(form, UNICODE)) for form in forms)
        width += COLUMN_GAP + widest
    return width <= WIDEST_LINE


@dataclass(slots=True)
class ColumnExtent:
    """How many digits wide the numbers of a column are, before the point and from it on, with
    points under points.
    """

    before: int = 0
    after: int = 0
    blank: bool = False
    boxed: bool = False

    def add(self, column: Sequence[Cell]) -> None:
        # In a large matrix the same cell stands in many places.
        for cell in {id(cell): cell for cell in column}.values():
            whole, point, digits = cell.text.partition(".")
            before = len(whole) + MINUS_WIDTH * whole.count("-")
            after = len(point + digits)
            if "e" in digits:
                after += POWER_WIDTH
            self.before = max(self.before, before)
            self.after = max(self.after, after)
            self.blank |= not cell.text
            self.boxed |= cell.shade is not None or bool(cell.verdict)

    @property
    def width(self) -> float:
        return BLANK_WIDTH if self.blank else self.before + self.after + BOX_WIDTH * self.boxed


def _width(column: Sequence[Cell]) -> float:
    extent = ColumnExtent()
    extent.add(column)
    return extent.width


def _is_tall(row: Sequence[Cell]) -> bool:
    return _has_blank(row) or any("/" in cell.text for cell in row)


def _has_blank(row: Sequence[Cell]) -> bool:
    return not all(cell.text for cell in row)


def _matrix(
    grid: Grid, names: str, cells: Sequence[Sequence[Cell]], top: int, spelled: Spelled
) -> str:
    """Some rows of some columns, the first of them `top`."""
    signed = grid.shading is not None and grid.shading.signed
    columns = [_column_cells(column, spelled, signed) for column in zip(*cells, strict=True)]
    labels = grid.rows[top : top + len(cells)]
    all_tall = _has_fractions(grid)
    lines: list[list[str]] = []
    for label_of_row, row, numbers in zip(labels, cells, zip(*columns, strict=True), strict=True):
        strut = _strut(row, all_tall)
        lines.append([_side(label_of_row, strut), *numbers])
    return _bordered(names, _lines(lines))


def _strut(row: Sequence[Cell], all_tall: bool) -> str:
    """What keeps a row apart from the next one."""
    if _has_blank(row):
        return STRUT_OF_BLANKS
    if all_tall or _is_tall(row):
        return STRUT_OF_FRACTIONS
    return ""


def _bordered(names: str, body: str) -> str:
    """A matrix of these lines, below the line of its names."""
    return f"\\bordermatrix{{\n  {names} \\cr\n{body}}}"


def _lines(lines: Iterable[Sequence[str]]) -> str:
    return "".join(f"  {' & '.join(line)} \\cr\n" for line in lines)


def _names(name: str, heads: Sequence[str]) -> str:
    # Else the parentheses would become too high.
    corner = rf"\smash{{{name}}}" if "^" in name else name
    return " & ".join([corner, *(rf"\hfill\hbox{{{escape(label(head))}}}" for head in heads)])


# The same labels stand beside each run of columns.
@lru_cache(maxsize=2**12)
def _side(row: str, strut: str = "") -> str:
    return rf"\hbox{{{escape(label(row))}}}{strut}\;\hfill"
