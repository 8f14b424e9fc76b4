"""What is too long for a line, broken: prose between its words, formulas and sums where a reader can go on."""

from __future__ import annotations

import re
from typing import TypeAlias

from attncli.render.table.line import Line, cell_len

# A piece is not divided: it ends with spaces, with the sign between factors or with the parenthesis of a function,
# and what stands in brackets, the indices of a cell, stays in one; so does a number with its percent sign.
_PIECE = r"(?:\[[^\[\]]*\]|[^ ·*(]| (?=%)|(?<!\w)\()*(?: +|[·*]|(?<=\w)\(|$)"
# A term ends before an operator and after a comma, except within brackets.
_TERM = r"(?: +(?=(?:[-+=≈~/]|and|if|else) )|(?<=,) )(?![^\[\]]*\])"
_RELATIONS = ("=", "≈", "~")
_Term: TypeAlias = tuple[str, int]
HANG = 2  # how far the second line of a sum stands from the first


def broken(text: str, room: int | None) -> list[str]:
    """A sum on as many lines as it needs, each begun by an operator; numbers are never divided.

    Only a term that is too long for a line is broken after a sign between factors, after a function's parenthesis or,
    at last, between indices.
    """
    if room is None or len(text) <= room:
        return [text]
    lines: list[str] = []
    line: list[_Term] = []
    for term in _terms(text, room - HANG):
        while line and len(_joined([*line, term])) > (limit := room - (HANG if lines else 0)):
            cut = _before(line, term, limit)
            lines.append(_joined(line[:cut]))
            line = line[cut:]
        line.append(term)
    return [*lines, _joined(line)]


def _terms(text: str, room: int) -> list[_Term]:
    """The terms of a sum, each with how many parentheses are open before it; -1 where a new stage begins."""
    depth, terms = 0, []
    for term in re.split(_TERM, text):
        stage = term[:1] in _RELATIONS and not depth
        for piece in _divided(f"{term} ", room):
            terms.append((piece, depth - stage))
            depth, stage = depth + piece.count("(") - piece.count(")"), False
    return terms


def _divided(term: str, room: int) -> list[str]:
    """The factors of a term that is too long for a line, and of a cell its indices, where that is too long, too."""
    if len(term) - 1 <= room:
        return [term]
    first, *others = [found[0] for found in re.finditer(_PIECE, term) if found[0]]
    factors = [first + others[0], *others[1:]] if others and first.endswith(" ") else [first, *others]  # an operator
    return [part for each in factors for part in (re.split("(?<=, )", each) if len(each.rstrip()) > room else [each])]


def _before(line: list[_Term], term: _Term, room: int) -> int:
    """Of how many terms a full line is made: it ends within fewer parentheses if it is at least half full then."""
    ends = [*range(1, len(line)), len(line)]
    depths = [depth for _, depth in [*line[1:], term]]
    good = [(depth, -end) for end, depth in zip(ends, depths, strict=True) if len(_joined(line[:end])) * 2 >= room]
    return -min(good, default=(0, -len(line)))[1]


def _joined(terms: list[_Term]) -> str:
    return "".join(term for term, _ in terms).rstrip()


def wrap(text: Line, width: int) -> list[Line]:
    """The text in lines no wider than `width`; only a piece that is too long for a line is folded."""
    lines: list[Line] = []
    line = Line()
    for piece in _pieces(text):
        if line and _wide(line.plain + piece.plain) > width:
            lines.append(line)
            line = Line()
        line.append(piece)
        if _wide(line.plain) > width:
            *folded, line = line.folded(width)
            lines += folded
    lines = [*lines, line] if line or not lines else lines
    for line in lines:
        line.rstrip()
    return lines


def longest(text: Line) -> int:
    """How wide the text's longest piece is."""
    return max((_wide(piece.plain) for piece in _pieces(text)), default=0)


def _pieces(text: Line) -> list[Line]:
    ends = [found.end() for found in re.finditer(_PIECE, text.plain)]
    return [piece for piece in text.divide(ends) if piece]


def _wide(text: str) -> int:
    return cell_len(text.rstrip())
