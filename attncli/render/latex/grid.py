r"""A matrix in LaTeX: TeX's own \bordermatrix, which puts the labels outside the parentheses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.equation.notation import LATEX
from attncli.equation.write import write, write_number
from attncli.page.document import Cell, Grid
from attncli.render.columns import caption, split
from attncli.render.labels import label
from attncli.render.latex.escape import escape, length
from attncli.render.shades import background, foreground

COLUMNS = 8  # the most that stand side by side on a page
LINE = 76  # characters of a matrix that fit on a line, the space between columns counted as GAP
GAP = 3
LABEL = 24  # letters of a label that stand on one line
GRAY = 0.5  # what a mask hides
ROWS = 30  # a matrix does not break across pages


def grid_displays(grid: Grid) -> Iterator[str]:
    """The matrix as displayed formulas, in blocks of rows and columns where it is too large for one."""
    name = write(grid.name, LATEX)
    total = len(grid.cells[0])
    side = max(map(_width, grid.rows)) + len(name.replace(r"\mathrm", "")) + GAP
    for start, end in _runs(grid, LINE - side):
        for top in range(0, len(grid.rows), ROWS):
            bottom = min(top + ROWS, len(grid.rows))
            parts = [caption("column", start, end, total)] * (end - start < total)
            parts += [caption("row", top, bottom, len(grid.rows))] * (bottom - top < len(grid.rows))
            said = escape(", ".join(parts))
            matrix = _matrix(grid, name, slice(top, bottom), slice(start, end))
            yield display(matrix, rf"\hbox{{\small {said}}}" if said else "")


def display(formula: str, beside: str = "") -> str:
    r"""A formula on a line of its own, with something at the right margin: \eqno, which needs $$."""
    return f"$$\n{formula}\n\\eqno{{{beside}}}\n$$" if beside else f"\\[\n{formula}\n\\]"


def _runs(grid: Grid, room: int) -> list[tuple[int, int]]:
    """Runs of columns that fit on a line and are at most COLUMNS long."""
    heads = grid.columns or ("",) * len(grid.cells[0])
    widths = [
        GAP + max(_width(head), *(len(row[place].text) for row in grid.cells)) for place, head in enumerate(heads)
    ]
    return split(widths, room, COLUMNS)


def _width(name: str) -> int:
    return min(length(label(name)), LABEL)


def _label(name: str) -> str:
    """A label beside or above the matrix, on several lines where it is long."""
    text = escape(label(name))
    if length(label(name)) <= LABEL:
        return rf"\hbox{{{text}}}"
    return rf"\parbox{{{LABEL // 2}em}}{{\raggedright {text}}}"


def _matrix(grid: Grid, name: str, rows: slice, columns: slice) -> str:
    heads = (grid.columns or ("",) * len(grid.cells[0]))[columns]
    cells = [row[columns] for row in grid.cells[rows]]
    spelled = list(zip(*(_column(column) for column in zip(*cells, strict=True)), strict=True))
    lines = [" & " + " & ".join(rf"\hfill{_label(head)}" for head in heads)]
    lines += [
        rf"{_label(row)}\hfill & " + " & ".join(numbers) for row, numbers in zip(grid.rows[rows], spelled, strict=True)
    ]
    body = "\n".join(rf"  {line} \cr" for line in lines)
    return f"{name} = \\bordermatrix{{\n{body}\n}}"


def _column(cells: Sequence[Cell]) -> list[str]:
    """The cells of one column, all as wide, with phantoms so that decimal points stand in one line."""
    parts = [cell.text.partition(".") for cell in cells]
    before = max((whole for whole, _, _ in parts), key=len)
    after = max((point + digits for _, point, digits in parts), key=len)
    boxed = any(cell.shade is not None for cell in cells)
    return [
        _cell(cell, boxed, before[: len(before) - len(whole)], after[len(point + digits) :])
        for cell, (whole, point, digits) in zip(cells, parts, strict=True)
    ]


def _cell(cell: Cell, boxed: bool, before: str, after: str) -> str:
    number = write_number(cell.text, LATEX) + _phantom(after)
    if cell.hidden:
        number = rf"{{\color[gray]{{{GRAY}}}{number}}}" + (r"\kern\fboxsep" if boxed else "")
    elif cell.shade is not None:
        number = _shaded(_phantom(before) + number, cell.shade)
    return rf"\hfill {number}"


def _phantom(text: str) -> str:
    return rf"\phantom{{{text}}}" if text else ""


def _shaded(number: str, shade: float) -> str:
    back = background(shade)
    paper, ink = (",".join(f"{part / 255:.3f}" for part in color) for color in (back, foreground(back)))
    return rf"\colorbox[rgb]{{{paper}}}{{\color[rgb]{{{ink}}}${number}$}}"
