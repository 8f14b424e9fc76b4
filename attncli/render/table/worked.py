"""Worked lines for a terminal: labels and results in columns, long sums broken before their operators."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.page import document as page
from attncli.page.document import sides
from attncli.render.table.line import Line
from attncli.render.table.script import Script
from attncli.render.table.wrapping import HANG, broken, wrap

NARROW = 10  # prose is not squeezed below this
WIDE = 40  # enough for every term of a sum
GAP = 3  # between the labels and the sums


def worked_lines(lines: Sequence[page.WorkedLine], script: Script, width: int | None) -> list[Line]:
    """The lines with their labels in a column, and their results too where all fit the width.

    Labels that leave too little of it stand above.
    """
    names = [Line(script.label(line.label), "cyan") for line in lines]
    gap = max(name.cell_len for name in names) + GAP
    spelled = [tuple(map(script.text, sides(line, script.notation))) for line in lines]
    above = width is not None and gap > HANG and _too_narrow(spelled, width - gap)
    if above:
        gap = HANG
    left = max(len(worked) for worked, _ in spelled)
    right = max(len(result) for _, result in spelled)
    room = None if width is None else width - gap
    aligned = room is None or left + 1 + right <= room
    written = []
    for line, name, (worked, result) in zip(lines, names, spelled, strict=True):
        if above:
            written += wrap(name, width or 1) if name else []
            name = Line()
        name.pad_right(gap - name.cell_len)
        whole = f"{worked:{left}} {result}" if aligned else f"{worked} {result}"
        pieces = [Line(piece) for piece in broken(whole.rstrip(), room)]
        if result:
            pieces[-1].stylize("bold", pieces[-1].plain.rfind(" ") + 1)
        pieces = _remarked(pieces, sentence(line.remark, script), room)
        heads = [name] + [Line(" " * (gap + HANG))] * (len(pieces) - 1)
        written += [Line.assemble(head, piece) for head, piece in zip(heads, pieces, strict=True)]
    return written


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
