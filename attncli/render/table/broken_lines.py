"""Formulas and worked lines for a terminal: on one line where they fit, else broken before their
operators.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from attncli.equation.nodes import Call, Equation, Expression
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.escaping import label, visible
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render.table.styled_line import PIECE, Line

# How far the second line of a sum stands from the first.
HANGING_INDENT = 2
# Prose is not squeezed below this.
NARROWEST_PROSE = 10
# It is enough for every term of a sum.
WIDE_ENOUGH_FOR_TERMS = 40
# Between the labels and the sums.
LABEL_GAP = 3
# A term ends before an operator and after a comma, except within brackets.
_TERM = r"(?: +(?=(?:[-+=≈~/]|and|if|else) )|(?<=,) )(?![^\[\]]*\])"
# The formula of an index, of which a part ends before an operator and after a sign between factors.
_WITHIN_INDEX = r"(?<=·)|(?<= )(?=(?:[-+/]|mod) )"
_RELATIONS = ("=", "≈", "~")
_OpenTerm: TypeAlias = tuple[str, int]


def worked_lines(lines: Iterable[page.WorkedLine], width: int | None) -> Iterator[Line]:
    """The lines with their labels in a column, and their results too where all fit the width.

    Labels that leave too little of it stand above.
    """
    lines = list(lines)
    names = [Line(label(line.label), "cyan") for line in lines]
    spelled = [sides(line, UNICODE) for line in lines]
    gap = max(name.cell_len for name in names) + LABEL_GAP
    above = width is not None and gap > HANGING_INDENT and _too_narrow(spelled, width - gap)
    if above:
        gap = HANGING_INDENT
    left = max(len(worked) for worked, _ in spelled)
    right = max(len(result) for _, result in spelled)
    room = None if width is None else width - gap
    aligned = room is None or left + 1 + right <= room
    for name, (worked, result), line in zip(names, spelled, lines, strict=True):
        if above:
            if name:
                yield from name.wrapped(width or 1)
            name = Line()
        if aligned:
            worked = worked.ljust(left)
        pieces = [Line(piece) for piece in broken(f"{worked} {result}".rstrip(), room)]
        if result:
            number = pieces[-1].plain.rfind(" ") + 1
            pieces[-1].stylize("bold", number)
        name.pad_right(gap - name.cell_len)
        first, *others = _remarked(pieces, sentence(line.remark), room)
        yield Line.assemble(name, first)
        for piece in others:
            yield Line.assemble(_margin(gap + HANGING_INDENT, piece.cell_len, width), piece)


def _too_narrow(spelled: Sequence[tuple[str, ...]], room: int) -> bool:
    """Whether a sentence, or some sum, however it is broken, is too wide for the room."""
    if room >= WIDE_ENOUGH_FOR_TERMS:
        return False
    if room < NARROWEST_PROSE + HANGING_INDENT:
        return True
    for line in spelled:
        whole = " ".join(line).rstrip()
        first, *others = broken(whole, room)
        widest = max((len(other) + HANGING_INDENT for other in others), default=0)
        if max(len(first), widest) > room:
            return True
    return False


def sentence(text: page.Text) -> Line:
    """A run of prose, its formulas in italics."""
    written = Line()
    for piece in text:
        if isinstance(piece, page.Math):
            written.append(write(piece.expression, UNICODE), "italic")
        else:
            written.append(visible(piece))
    return written


def _remarked(pieces: list[Line], remark: Line, room: int | None) -> list[Line]:
    """The remark after the sum, or on lines of its own where the room is too narrow for both."""
    if not remark:
        return pieces
    *before, last = pieces
    together = remark
    above = before
    if last:
        together = Line.assemble(last, "  ", remark)
        above = pieces
    if room is None or together.cell_len <= room:
        return [*before, together]
    wrapped = remark.wrapped(max(room - HANGING_INDENT, NARROWEST_PROSE))
    return [*above, *wrapped]


def formula_lines(equation: Equation | Expression, width: int, indent: int) -> list[Line]:
    """A formula in bold, as lines that stand so far from the left; of a choice that does not fit on
    one, each case is a line that says when it holds.
    """
    whole = formula(equation, UNICODE)
    if (
        indent + len(whole) <= width
        or not isinstance(equation, Equation)
        or not _is_choice(equation.expression)
    ):
        return _hanging(whole, width, indent)
    lines = _hanging(write(equation.target, UNICODE), width, indent)
    for said in _cases(equation.expression):
        lines += _hanging(f"= {said}", width, indent + HANGING_INDENT)
    return lines


def _hanging(text: str, width: int, indent: int) -> list[Line]:
    """A text in lines, the first of which stands so far from the left, and the others farther."""
    lines: list[Line] = []
    for line in broken(text, width - indent):
        margin = _margin(indent + HANGING_INDENT if lines else indent, len(line), width)
        lines.append(Line.assemble(margin, (line, "bold")))
    return lines


def _margin(indent: int, length: int, width: int | None) -> str:
    """The blank before a line of this length, which gives way where there is no room for both."""
    if width is None:
        return " " * indent
    return " " * min(indent, max(width - length, 0))


def _is_choice(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "where"


def _cases(expression: Expression, instead: str = "") -> Iterator[str]:
    """What a choice may come to, each with its condition."""
    match expression:
        case Call("where", (condition, chosen, other)):
            value = write(chosen, UNICODE)
            holds = write(condition, UNICODE)
            yield f"{value}  {instead}if {holds}"
            yield from _cases(other, "else ")
        case _:
            yield f"{write(expression, UNICODE)}  else"


def broken(text: str, room: int | None) -> list[str]:
    """A sum on as many lines as it needs, each begun by an operator; numbers are never divided.

    Only a term that is too long for a line is broken after a sign between factors, after a
    function's parenthesis or, at last, between indices and within one.
    """
    if room is None or len(text) <= room:
        return [text]
    hanging = room - HANGING_INDENT
    lines: list[str] = []
    line: list[_OpenTerm] = []
    for term in _terms(text, hanging):
        while line:
            limit = hanging if lines else room
            longer = _joined([*line, term])
            if len(longer) <= limit:
                break
            cut = _before(line, term, limit)
            lines.append(_joined(line[:cut]))
            line = line[cut:]
        line.append(term)
    return [*lines, _joined(line)]


def _terms(text: str, room: int) -> list[_OpenTerm]:
    """The terms of a sum, each with how many parentheses are open before it.

    It is -1 where a new stage begins.
    """
    terms: list[_OpenTerm] = []
    depth = 0
    for term in re.split(_TERM, text):
        begins_stage = depth == 0 and term[:1] in _RELATIONS
        first, *others = _divided(f"{term} ", room)
        terms.append((first, -1 if begins_stage else depth))
        depth += _opened(first)
        for piece in others:
            terms.append((piece, depth))
            depth += _opened(piece)
    return terms


def _opened(text: str) -> int:
    """How many more parentheses it opens than it closes."""
    return text.count("(") - text.count(")")


def _divided(term: str, room: int) -> list[str]:
    """The factors of a term that is too long for a line.

    Of a cell that is too long, too, they are its indices, and the terms of an index.
    """
    if len(term) - 1 <= room:
        return [term]
    found = (piece[0] for piece in re.finditer(PIECE, term))
    factors = list(filter(None, found))
    if len(factors) > 1 and factors[0].endswith(" "):
        # An operator is no factor: it stays with the first one.
        factors[:2] = [factors[0] + factors[1]]
    indices = _divided_again(factors, room, "(?<=, )")
    return _divided_again(indices, room, _WITHIN_INDEX)


def _divided_again(parts: Iterable[str], room: int, ends: str) -> list[str]:
    """The parts, those that are too long for a line in smaller ones, which end so."""
    divided: list[str] = []
    for part in parts:
        smaller = re.split(ends, part) if len(part.rstrip()) > room else [part]
        divided += smaller
    return divided


def _before(line: list[_OpenTerm], term: _OpenTerm, room: int) -> int:
    """Of how many terms a full line is made.

    It ends within fewer parentheses if it is at least half full then.
    """
    best: tuple[int, int] | None = None
    for end, (_, depth) in enumerate([*line[1:], term], 1):
        is_half_full = len(_joined(line[:end])) * 2 >= room
        if is_half_full and (best is None or (depth, -end) < best):
            best = (depth, -end)
    if best is None:
        return len(line)
    _, end = best
    return -end


def _joined(terms: list[_OpenTerm]) -> str:
    return "".join(term for term, _ in terms).rstrip()
