r"""A matrix in LaTeX: an array of its labels below its name, and beside it an array of its numbers
in parentheses, with the names of the columns above.

All rows of both arrays are as high, by \arraystretch, so each label stands beside its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf
from typing import NamedTuple, TypeAlias

from attncli.equation.notation import LATEX, UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label
from attncli.page.colors import LEGEND, background, foreground, ramp_of
from attncli.page.document import Cell, Grid, Math, Product, Shading
from attncli.render.cells import (
    caption,
    chunks,
    decimals_alone,
    has_sign_of_hidden,
    shades_are,
    split,
)
from attncli.render.latex.escape import escape, length

# What is worked stands further right than prose.
INDENT = r"\leftskip=1.5em"
# Between two boxes on a line, and between matrices to fill in where there are several.
GAP, NARROW_GAP = r"\hskip2em minus1em", r"\hskip1em minus.4em"
MANY_BLANKS = 3
# The gray of what a mask hides: on white, it has the contrast that small text needs.
HIDDEN_GRAY = 0.4
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
BLANK_NUMBER = r"\underline{\hspace{2.7em}}"
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
# So many digits of two matrices that are not indented fit on a line, their labels included.
WIDEST_PAIR = 82
# A heading and a formula above a matrix need so many.
NARROWEST_OF_A_PAIR = 33
# Such a matrix has no more rows than this, either.
MOST_SMALL_ROWS = 10
# How wide a blank is, in digits.
BLANK_WIDTH = 5.6
# So many lines a row is high, by what stands in any of the rows: rows to write in are as far apart
# as the lines of a notebook.
HEIGHTS = {
    BLANK_NUMBER: 1.85,
    r"\frac": 1.5,
    r"\sqrt": 1.2,
    r"\colorbox": 1.2,
    "^": 1.2,
}
# A row with fractions or blanks takes at most so many lines.
LINES_OF_A_TALL_ROW = 1.9
# The line of names stands above the first row, and takes no room from the rows.
ABOVE_THE_ROWS = r"\noalign{\vskip-\arraystretch\normalbaselineskip}"
# From, to, and of how many.
Extent = tuple[int, int, int]
# The cells of a matrix as they are written, by their identity and their phantoms.
Spelled: TypeAlias = dict[tuple[int, str, str, bool, bool], str]
_PLAIN_NUMBER = re.compile(r"-?[0-9]*\.?[0-9]*")


class Box(NamedTuple):
    """Something in math that stands on a line, and how many lines each of its rows is high."""

    written: str
    height: float = 1


def _column_cells(
    cells: Sequence[Cell], spelled: Spelled, head: str = "", *, signed: bool = False
) -> list[str]:
    """The cells of one column, with phantoms so that decimal points stand in one line; `signed` are
    their shades.

    Fractions stand in the middle of their column, and so do numbers below a name that is wider than
    they are; all others end where the widest of them ends.
    """
    parts = [cell.text.partition(".") for cell in cells]
    has_fractions = any("/" in cell.text for cell in cells)
    tails = [point + digits for _, point, digits in parts]
    longest = "" if has_fractions else max(tails, key=len)
    boxed = any(cell.shade is not None for cell in cells)
    is_below_wider = not boxed and length(label(head)) > _width(cells)
    in_the_middle = has_fractions or (is_below_wider and _are_plain(cells))
    widest = ""
    if boxed or (in_the_middle and not has_fractions):
        widest = _widest_whole([whole for whole, _, _ in parts])
    found = []
    for cell, (whole, _, _), tail in zip(cells, parts, tails, strict=True):
        before = _lacking(whole, widest)
        key = (id(cell), before, longest[len(tail) :], boxed, in_the_middle)
        text = spelled.get(key)
        if text is None:
            text = _cell(cell, boxed, *key[1:3], signed=signed)
            if not in_the_middle:
                text = rf"\hfill {text}"
            spelled[key] = text
        found.append(text)
    return found


def _are_plain(cells: Sequence[Cell]) -> bool:
    """Whether all numbers are made of digits, a point and a minus."""
    return all(_PLAIN_NUMBER.fullmatch(cell.text) for cell in cells)


def _widest_whole(wholes: Sequence[str]) -> str:
    """What is as wide as any of these numbers before their points: -12 of 12 and -3."""
    digits = max((whole.removeprefix("-") for whole in wholes), key=len)
    has_minus = any(whole.startswith("-") for whole in wholes)
    return f"-{digits}" if has_minus else digits


def _lacking(whole: str, widest: str) -> str:
    """What a number lacks before its point to be as wide as the widest."""
    lacks_minus = widest.startswith("-") and not whole.startswith("-")
    digits = len(widest.removeprefix("-")) - len(whole.removeprefix("-"))
    return "-" * lacks_minus + "0" * digits


def _cell(cell: Cell, boxed: bool, before: str, after: str, *, signed: bool) -> str:
    if not cell.text:
        return BLANK_NUMBER
    number = write_number(cell.text, LATEX) + _phantom(after)
    if cell.marked:
        number = rf"\underline{{\color[rgb]{{{MARK_COLOR}}}\mathbf{{{number}}}}}"
    if cell.verdict is not None:
        return _judged(number, cell.verdict)
    if cell.hidden:
        number = rf"{{\color[gray]{{{HIDDEN_GRAY}}}{number}}}"
        if boxed:
            number += r"\kern\fboxsep"
    elif before:
        # After a phantom, a minus would stand between two numbers.
        number = f"{_phantom(before)}{{{number}}}"
    return number if cell.shade is None else _shaded(number, cell.shade, signed=signed)


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


def side_by_side(
    boxes: Iterable[Box], *, keep: bool = True, indent: str = INDENT, gap: str = GAP
) -> str:
    """Boxes side by side, indented, with a gap between them; TeX begins a new line before a box
    that does not fit.

    Their rows are as high as those of the highest. With `keep` they stand on the same page as the
    paragraph before them.
    """
    boxes = list(boxes)
    start = r"\nopagebreak" if keep else ""
    height = max(box.height for box in boxes)
    if height != 1:
        start += rf"\renewcommand{{\arraystretch}}{{{height:g}}}"
    inside = f"{gap}\n".join(box.written for box in boxes)
    spacing = rf"\raggedright{indent}\parskip=4pt\lineskip=4pt\linepenalty=1000"
    return f"{{{start}{spacing}\n{inside}\\par}}"


def height_of_rows(rows: str) -> float:
    """How many lines each of these rows is high, by what stands in any of them."""
    return max((lines for sign, lines in HEIGHTS.items() if sign in rows), default=1)


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


def width_beside(grid: Grid) -> float:
    """How much of a line a matrix needs beside another one, in digits; infinity if it must stand
    alone.
    """
    if len(grid.rows) > MOST_SMALL_ROWS or len(grid.columns) > MOST_COLUMNS:
        return inf
    widths, _, _ = _extents(grid)
    return max(_side_width(grid) + sum(widths), NARROWEST_OF_A_PAIR)


def matrix_rows(
    matrices: Sequence[Grid | Product], beside: Sequence[Box] = (), indent: str = INDENT
) -> Iterator[str]:
    """Small matrices and products in a row, with what stands `beside` them; any other matrix in
    parts that fit.
    """
    if len(matrices) == 1 and isinstance(matrices[0], Grid) and not beside:
        yield from _alone(matrices[0].loaded(), indent)
        return
    boxes = []
    results: list[Grid] = []
    for each in matrices:
        match each:
            case Product(result=result):
                boxes.append(_product(each))
                results.append(result)
            case Grid():
                boxes.append(_whole(each))
                results.append(each)
    gap = GAP
    if len(boxes) >= MANY_BLANKS and all(_is_blank(grid) for grid in results):
        # So three of them have room on a line.
        indent, gap = "", NARROW_GAP
    yield side_by_side([*boxes, *beside], indent=indent, gap=gap)
    for grid in results:
        if grid.shading:
            yield _legend_of_shades(grid.shading)
    if any(has_sign_of_hidden(grid.cells) for grid in results):
        yield LEGEND_OF_HIDDEN


def _is_blank(grid: Grid) -> bool:
    """Whether it is a matrix to fill in."""
    return not any(cell.text for row in grid.cells for cell in row)


def _legend_of_shades(shading: Shading, more: str = "") -> str:
    """The colors from the first to the last, and what they stand for; and `more` behind it."""
    colors = ramp_of(signed=shading.signed).day
    boxes: list[str] = []
    for place in range(BOXES_OF_LEGEND):
        color = background(place / (BOXES_OF_LEGEND - 1), colors)
        boxes.append(rf"\colorbox[rgb]{{{_parts_of_color(color)}}}{{\hbox to.7em{{\strut}}}}")
    said = shades_are(shading, lambda text: f"${write_number(text, LATEX)}$")
    return rf"{BEGINNING_OF_LEGEND}{{\fboxsep=0pt{''.join(boxes)}}}\ {said}{more}.\par}}"


def _alone(grid: Grid, indent: str = INDENT) -> Iterator[str]:
    """A matrix; closed forms stand before their decimals, or above them where a line has no room
    for both.
    """
    widths, tall, legend = _extents(grid)
    if not grid.closed:
        yield from _parts(grid, widths, tall, indent)
    elif not _fits_a_line(grid):
        yield side_by_side([_closed(grid)])
        yield from _alone(decimals_alone(grid))
        return
    else:
        closed = _closed(grid)
        relation = r"\approx" if grid.rounded else "="
        decimals, height = _numbers(grid, grid.columns, grid.cells, {})
        name = write(grid.name, LATEX)
        both = f"{closed.written.removesuffix('$')}\n{relation} \\vphantom{{{name}}}{decimals}$"
        yield side_by_side([Box(both, max(closed.height, height))])
    if grid.shading:
        yield _legend_of_shades(grid.shading)
    if legend:
        yield LEGEND_OF_HIDDEN


def _whole(grid: Grid) -> Box:
    return _matrix(grid, grid.columns, tuple(grid.cells), 0, {})


def _product(product: Product) -> Box:
    """Matrices side by side, each with its name above, and the result with its labels."""
    marked = product.marked()
    before = ""
    result = _whole(marked.result)
    heights = [result.height]
    for sign, factor in marked.operands:
        written, height = _unlabelled(factor) if isinstance(factor, Grid) else _letter(factor)
        before += f"{PRODUCT_SIGNS[sign]}{written}\n"
        heights.append(height)
    return Box(f"${before}\\;=\\;\\; {result.written.removeprefix('$')}", max(heights))


def small_map(grid: Grid) -> str:
    """A small matrix as shades alone: its numbers stand further below."""
    heads = " & ".join(escape(label(head)) for head in grid.columns)
    lines = [rf"${write(grid.name, LATEX)}$ & {heads} \\"]
    for name, cells in zip(grid.rows, grid.cells, strict=True):
        shades = " & ".join(_patch(cell, signed=_is_signed(grid)) for cell in cells)
        lines.append(rf"{escape(label(name))} & {shades} \\")
    body = "\n".join(lines)
    columns = "@{}c@{}" * len(grid.columns)
    start = rf"\begin{{tabular}}{{@{{}}l@{{\quad}}{columns}@{{}}}}"
    shades = f"{{\\fboxsep=0pt\n{start}\n{body}\n\\end{{tabular}}}}"
    if grid.shading is None:
        return shades
    is_hidden = has_sign_of_hidden(grid.cells)
    legend = _legend_of_shades(grid.shading, rf"; $\cdot$ {LEGEND}" if is_hidden else "")
    return f"{shades}\n\n{legend}"


def _is_signed(grid: Grid) -> bool:
    return grid.shading is not None and grid.shading.signed


def _patch(cell: Cell, *, signed: bool) -> str:
    """A cell of a map."""
    if cell.shade is None:
        return r"$\cdot$"
    paper = _parts_of_color(background(cell.shade, ramp_of(signed=signed).day))
    return rf"\colorbox[rgb]{{{paper}}}{{\rule[-0.5em]{{0pt}}{{1.5em}}\hskip3em}}"


def _letter(factor: Math) -> Box:
    """A matrix that stands before on the page."""
    return Box(write(factor.expression, LATEX))


def _unlabelled(grid: Grid) -> Box:
    """A matrix below its name. It has no labels, so that it is not read as an answer."""
    columns = [_column_cells(column, {}) for column in zip(*grid.cells, strict=True)]
    rows = _rows(zip(*columns, strict=True))
    name = rf"\textstyle {write(grid.name, LATEX)}\strut"
    written = rf"\mathop{{{_parenthesized(len(columns), rows)}}}\limits^{{{name}}}"
    return Box(written, height_of_rows(rows))


def _parts(grid: Grid, widths: Sequence[float], tall: bool, indent: str) -> Iterator[str]:
    """The matrix of decimals in parts that fit on a line and leave no hole on a page, and which
    part each is.
    """
    total = len(grid.columns) or 1
    most_rows = MOST_LINES
    if tall:
        most_rows = int(MOST_LINES // LINES_OF_A_TALL_ROW)
    parts = ceil(len(grid.rows) / most_rows)
    rows = ceil(len(grid.rows) / parts)
    room = WIDEST_LINE - _side_width(grid)
    for start, end in split(widths, room, MOST_COLUMNS):
        cells = grid.block(start, end)
        heads = grid.columns[start:end]
        across = _extent("column", (start, end, total))
        spelled = Spelled()
        for top in range(0, len(cells), rows):
            bottom = min(top + rows, len(cells))
            down = _extent("row", (top, bottom, len(cells)))
            said = _said(across, down)
            if said:
                yield said
            keep = bool(said) or rows <= MOST_SMALL_ROWS
            shown = _matrix(grid, heads, cells[top:bottom], top, spelled)
            yield side_by_side([shown], keep=keep, indent=indent)


def _side_width(grid: Grid) -> float:
    """How many digits wide the labels of the rows are, with the name above them."""
    name = write(grid.name, LATEX).replace(r"\mathrm", "").replace(r"^{\top}", "T")
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


def _closed(grid: Grid) -> Box:
    """The matrix of the closed forms."""
    lines: list[list[str]] = []
    for forms in grid.closed:
        lines.append([write(form, LATEX) for form in forms])
    numbers, height = _array_of_numbers(grid.columns, lines)
    return Box(_labelled(grid, grid.rows, numbers), height)


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
    grid: Grid, heads: Sequence[str], cells: Sequence[Sequence[Cell]], top: int, spelled: Spelled
) -> Box:
    """Some rows of some columns, the first of them `top`."""
    numbers, height = _numbers(grid, heads, cells, spelled)
    labels = grid.rows[top : top + len(cells)]
    return Box(_labelled(grid, labels, numbers), height)


def _labelled(grid: Grid, labels: Sequence[str], numbers: str) -> str:
    """Numbers beside their labels, with room for the names above them."""
    name = write(grid.name, LATEX)
    # Else the line of names would be higher than a row.
    corner = rf"\smash{{{name}}}" if "^" in name else name
    names = " \\\\\n  ".join([corner, *map(_side, labels)])
    array = f"\\begin{{array}}{{@{{}}l@{{\\;}}}}{ABOVE_THE_ROWS}\n  {names}\n\\end{{array}}"
    return f"${_strut(len(labels))}\n{array}\n{numbers}$"


def _strut(rows: int) -> str:
    """What is as high as a matrix of so many rows and the line of names above it."""
    tenths = 5 * rows + 3
    height = rf"\dimexpr\arraystretch\normalbaselineskip*{tenths}/10+1.1em\relax"
    return rf"\rule{{0pt}}{{{height}}}"


def _numbers(
    grid: Grid, heads: Sequence[str], cells: Sequence[Sequence[Cell]], spelled: Spelled
) -> Box:
    """Some numbers of a matrix, below the names of its columns where these have any."""
    columns = list(zip(*cells, strict=True))
    names = heads or [""] * len(columns)
    signed = grid.shading is not None and grid.shading.signed
    written = [
        _column_cells(column, spelled, head, signed=signed)
        for column, head in zip(columns, names, strict=True)
    ]
    return _array_of_numbers(heads, zip(*written, strict=True))


def _array_of_numbers(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Box:
    lines = list(rows)
    body = _rows(lines)
    # One name stands above any other, even where it has no letters.
    names = " & ".join(map(_side, heads or ("",)))
    written = _parenthesized(len(lines[0]), f"  {names} \\\\\n{body}", ABOVE_THE_ROWS)
    return Box(written, height_of_rows(body))


def _parenthesized(columns: int, rows: str, above: str = "") -> str:
    """An array in parentheses; `above` stands before its first row."""
    start = rf"\left(\begin{{array}}{{@{{\,}}{'c' * columns}@{{\,}}}}{above}"
    return f"{start}\n{rows}\n\\end{{array}}\\right)"


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return " \\\\\n".join(f"  {' & '.join(row)}" for row in rows)


# The same labels stand beside each run of columns.
@lru_cache(maxsize=2**12)
def _side(name: str) -> str:
    """The label of a row or a column, no higher than a line."""
    shown = label(name)
    box = rf"\hbox{{{escape(shown)}}}"
    return box if shown.isascii() else rf"\smash{{{box}}}"
