"""The numbers of a matrix in LaTeX, column by column: points under points, shades, verdicts, room to write."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.equation.notation import LATEX
from attncli.equation.printer import write_number
from attncli.page.document import Cell
from attncli.render.shades import background, foreground

GRAY = 0.5  # what a mask hides
BLANK = r"\underline{\hspace{3.5em}}"  # room to write a number
VERDICTS = {  # the sign and the color of each
    "right": (r"\checkmark", "0,0.45,0"), "carried": (r"\gg", "0,0.4,0.6"), "rounding": (r"\approx", "0.6,0.4,0"),
    "wrong": (r"\times", "0.8,0,0"), "missing": ("", "0,0,0"),
}  # fmt: skip


def column_cells(cells: Sequence[Cell]) -> list[str]:
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
