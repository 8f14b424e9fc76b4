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
from attncli.render.table.line import PIECE, Line

# how far the second line of a sum stands from the first
HANG = 2
# prose is not squeezed below this
NARROW = 10
# enough for every term of a sum
WIDE = 40
# between the labels and the sums
GAP = 3
# A term ends before an operator and after a comma, except within brackets.
_TERM = r"(?: +(?=(?:[-+=≈~/]|and|if|else) )|(?<=,) )(?![^\[\]]*\])"
_RELATIONS = ("=", "≈", "~")
_Term: TypeAlias = tuple[str, int]


def worked_lines(lines: Iterable[page.WorkedLine], width: int | None) -> Iterator[Line]:
    """The lines with their labels in a column, and their results too where all fit the width.

    Labels that leave too little of it stand above.
    """
    lines = list(lines)
    names = [Line(label(line.label), "cyan") for line in lines]
    spelled = [sides(line, UNICODE) for line in lines]
    gap = max(name.cell_len for name in names) + GAP
    above = width is not None and gap > HANG and _too_narrow(spelled, width - gap)
    if above:
        gap = HANG
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
            yield Line.assemble(Line(" " * (gap + HANG)), piece)


def _too_narrow(spelled: Sequence[tuple[str, ...]], room: int) -> bool:
    """Whether a sentence, or some sum, however it is broken, is too wide for the room."""
    if room >= WIDE:
        return False
    broken_sums = (broken(" ".join(line).rstrip(), room) for line in spelled)
    wide = any(
        len(first) > room or any(len(other) > room - HANG for other in others)
        for first, *others in broken_sums
    )
    return wide or room < NARROW + HANG


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
    together = Line.assemble(last, "  ", remark) if last else remark
    if room is None or together.cell_len <= room:
        return [*before, together]
    wrapped = remark.wrapped(max(room - HANG, NARROW))
    return [*pieces, *wrapped] if last else [*before, *wrapped]


def formula_lines(equation: Equation | Expression, room: int) -> list[str]:
    """A formula as lines; of a choice that does not fit on one, each case is a line that says when
    it holds.
    """
    whole = formula(equation, UNICODE)
    if (
        len(whole) <= room
        or not isinstance(equation, Equation)
        or not _is_choice(equation.expression)
    ):
        return _hanging(whole, room)
    cases = (_hanging(f"= {said}", room - HANG) for said in _cases(equation.expression))
    return [
        write(equation.target, UNICODE),
        *(" " * HANG + line for case in cases for line in case),
    ]


def _hanging(text: str, room: int) -> list[str]:
    first, *others = broken(text, room)
    return [first, *(" " * HANG + line for line in others)]


def _is_choice(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "where"


def _cases(expression: Expression, instead: str = "") -> Iterator[str]:
    """What a choice may come to, each with its condition."""
    match expression:
        case Call("where", (condition, chosen, other)):
            yield f"{write(chosen, UNICODE)}  {instead}if {write(condition, UNICODE)}"
            yield from _cases(other, "else ")
        case _:
            yield f"{write(expression, UNICODE)}  else"


def broken(text: str, room: int | None) -> list[str]:
    """A sum on as many lines as it needs, each begun by an operator; numbers are never divided.

    Only a term that is too long for a line is broken after a sign between factors, after a
    function's parenthesis or, at last, between indices.
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
    """The terms of a sum, each with how many parentheses are open before it; -1 where a new stage
    begins.
    """
    depth, terms = 0, []
    for term in re.split(_TERM, text):
        stage = term[:1] in _RELATIONS and not depth
        for piece in _divided(f"{term} ", room):
            terms.append((piece, depth - stage))
            depth, stage = depth + piece.count("(") - piece.count(")"), False
    return terms


def _divided(term: str, room: int) -> list[str]:
    """The factors of a term that is too long for a line, and of a cell its indices, where that is
    too long, too.
    """
    if len(term) - 1 <= room:
        return [term]
    first, *others = [found[0] for found in re.finditer(PIECE, term) if found[0]]
    # an operator
    factors = (
        [first + others[0], *others[1:]] if others and first.endswith(" ") else [first, *others]
    )
    return [
        part
        for each in factors
        for part in (re.split("(?<=, )", each) if len(each.rstrip()) > room else [each])
    ]


def _before(line: list[_Term], term: _Term, room: int) -> int:
    """Of how many terms a full line is made: it ends within fewer parentheses if it is at least
    half full then.
    """
    ends = [*range(1, len(line)), len(line)]
    depths = [depth for _, depth in [*line[1:], term]]
    good = [
        (depth, -end)
        for end, depth in zip(ends, depths, strict=True)
        if len(_joined(line[:end])) * 2 >= room
    ]
    return -min(good, default=(0, -len(line)))[1]


def _joined(terms: list[_Term]) -> str:
    return "".join(term for term, _ in terms).rstrip()
