"""Formulas and worked lines for a terminal: on one line where they fit, else broken before their operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attncli.equation.nodes import Call, Equation, Expression
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render.table.line import Line
from attncli.render.table.script import Script
from attncli.render.table.wrapping import HANG, broken, wrap

NARROW = 10  # prose is not squeezed below this
WIDE = 40  # enough for every term of a sum
GAP = 3  # between the labels and the sums


def worked_lines(lines: Iterable[page.WorkedLine], script: Script, width: int | None) -> Iterator[Line]:
    """The lines with their labels in a column, and their results too where all fit the width.

    Labels that leave too little of it stand above.
    """
    parts = [
        (Line(script.label(line.label), "cyan"), tuple(map(script.text, sides(line, script.notation))), line.remark)
        for line in lines
    ]
    spelled = [sums for _, sums, _ in parts]
    gap = max(name.cell_len for name, _, _ in parts) + GAP
    above = width is not None and gap > HANG and _too_narrow(spelled, width - gap)
    if above:
        gap = HANG
    left = max(len(worked) for worked, _ in spelled)
    right = max(len(result) for _, result in spelled)
    room = None if width is None else width - gap
    aligned = room is None or left + 1 + right <= room
    for name, (worked, result), remark in parts:
        if above:
            yield from wrap(name, width or 1) if name else []
            name = Line()
        name.pad_right(gap - name.cell_len)
        whole = f"{worked:{left}} {result}" if aligned else f"{worked} {result}"
        pieces = [Line(piece) for piece in broken(whole.rstrip(), room)]
        if result:
            pieces[-1].stylize("bold", pieces[-1].plain.rfind(" ") + 1)
        pieces = _remarked(pieces, sentence(remark, script), room)
        heads = [name] + [Line(" " * (gap + HANG))] * (len(pieces) - 1)
        yield from (Line.assemble(head, piece) for head, piece in zip(heads, pieces, strict=True))


def _too_narrow(spelled: Sequence[tuple[str, ...]], room: int) -> bool:
    """Whether a sentence, or some sum, however it is broken, is too wide for the room."""
    if room >= WIDE:
        return False
    broken_sums = (broken(" ".join(line).rstrip(), room) for line in spelled)
    wide = any(len(first) > room or any(len(other) > room - HANG for other in others) for first, *others in broken_sums)
    return wide or room < NARROW + HANG


def sentence(text: page.Text, script: Script) -> Line:
    """A run of prose, its formulas in italics."""
    written = Line()
    for piece in text:
        if isinstance(piece, page.Math):
            written.append(script.formula(piece.expression), "italic")
        else:
            written.append(script.visible(piece))
    return written


def _remarked(pieces: list[Line], remark: Line, room: int | None) -> list[Line]:
    """The remark after the sum, or on lines of its own where the room is too narrow for both."""
    if not remark:
        return pieces
    *before, last = pieces
    together = Line.assemble(last, "  ", remark) if last else remark
    if room is None or together.cell_len <= room:
        return [*before, together]
    wrapped = wrap(remark, max(room - HANG, NARROW))
    return [*pieces, *wrapped] if last else [*before, *wrapped]


def formula_lines(equation: Equation | Expression, script: Script, room: int) -> list[str]:
    """A formula as lines; of a choice that does not fit on one, each case is a line that says when it holds."""
    whole = script.text(formula(equation, script.notation))
    if len(whole) <= room or not isinstance(equation, Equation) or not _is_choice(equation.expression):
        return _hanging(whole, room)
    cases = (_hanging(f"= {said}", room - HANG) for said in _cases(equation.expression, script))
    return [script.formula(equation.target), *(" " * HANG + line for case in cases for line in case)]


def _hanging(text: str, room: int) -> list[str]:
    first, *others = broken(text, room)
    return [first, *(" " * HANG + line for line in others)]


def _is_choice(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "where"


def _cases(expression: Expression, script: Script, instead: str = "") -> Iterator[str]:
    """What a choice may come to, each with its condition."""
    match expression:
        case Call("where", (condition, chosen, other)):
            yield f"{script.formula(chosen)}  {instead}if {script.formula(condition)}"
            yield from _cases(other, script, "else ")
        case _:
            yield f"{script.formula(expression)}  else"
