"""What is too long for a line, broken: prose between its words, formulas and sums where a reader can go on."""

from __future__ import annotations

import re

from attncli.render.table.line import Line

# A piece is not divided: it ends with spaces, with the sign between factors or with the parenthesis of a function,
# and what stands in brackets, the indices of a cell, stays in one.
_PIECE = re.compile(r"(?:\[[^\[\]]*\]|[^ ·*(]|(?<!\w)\()*(?: +|[·*]|(?<=\w)\(|$)")
# A term ends before an operator and after a comma, except within brackets.
_TERM = re.compile(r"(?: +(?=(?:[-+=≈~/]|and|if|else) )|(?<=,) )(?![^\[\]]*\])")
HANG = 2  # how far the second line of a sum stands from the first


def broken(text: str, room: int | None) -> list[str]:
    """A sum on as many lines as it needs, each begun by an operator; numbers and indices are never divided."""
    if room is None or len(text) <= room:
        return [text]
    lines: list[str] = [""]
    for term in _TERM.split(text):
        limit = room - (HANG if len(lines) > 1 else 0)
        if lines[-1] and len(lines[-1]) + 1 + len(term) > limit:
            lines.append(term)
        else:
            lines[-1] = f"{lines[-1]} {term}" if lines[-1] else term
    return lines


def wrap(text: Line, width: int) -> list[Line]:
    """The text in lines no wider than `width`; only a piece that is too long for a line is folded."""
    lines: list[Line] = []
    line = Line()
    for piece in _pieces(text):
        if line and _wide(line + piece) > width:
            lines.append(line)
            line = Line()
        line.append(piece)
        if _wide(line) > width:
            *folded, line = line.folded(width)
            lines += folded
    lines = [*lines, line] if line or not lines else lines
    for line in lines:
        line.rstrip()
    return lines


def longest(text: Line) -> int:
    """How wide the text's longest piece is."""
    return max(map(_wide, _pieces(text)), default=0)


def _pieces(text: Line) -> list[Line]:
    ends = [found.end() for found in _PIECE.finditer(text.plain)]
    return [piece for piece in text.divide(ends) if piece]


def _wide(text: Line) -> int:
    shown = text.copy()
    shown.rstrip()
    return shown.cell_len
