"""A table of sentences for a terminal: text wraps inside its cells, numbers stay whole; too narrow,
row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from attncli.render.table.formulas import HANG
from attncli.render.table.line import Line

GAP = 3
# a column is not squeezed below its longest word, up to this, and one of sentences not below this
NARROWEST = 20
# where the columns would not fit otherwise; longer words are divided
TIGHT_GAP, TIGHT_WORD = 2, 15
SENTENCE = 40  # a longer cell is one
# less than this is too narrow for a sentence
LEAST = 10


def table_lines(
    head: Sequence[Line], rows: Sequence[Sequence[Line]], right: Sequence[int], room: int | None
) -> list[Line]:
    """The table as lines no wider than `room`, the cells of each row one under another where its
    columns need more.

    Only a number that is wider by itself goes beyond it.
    """
    columns = list(zip(head, *rows, strict=True))
    natural = [max(cell.cell_len for cell in column) for column in columns]
    floors = [
        NARROWEST if width > SENTENCE else min(NARROWEST, max(cell.longest for cell in column))
        for width, column in zip(natural, columns, strict=True)
    ]
    widths, gap = natural, GAP
    if room is not None:
        tight = [
            floor if width > SENTENCE else min(floor, TIGHT_WORD)
            for floor, width in zip(floors, natural, strict=True)
        ]
        for gap, least in ((GAP, floors), (TIGHT_GAP, tight)):
            widths = _squeezed(natural, least, right, room, gap)
            if _together(widths, gap) <= room:
                break
        else:
            return _one_by_one([_bold(word) for word in head], rows, right, room)
    lines = _row([_bold(word) for word in head], widths, right, gap)
    lines.append(Line("─" * _together(widths, gap), "dim"))
    for row in rows:
        lines += _row(row, widths, right, gap)
    return lines


def _together(widths: Sequence[int], gap: int) -> int:
    """How wide columns are side by side."""
    return sum(widths) + gap * (len(widths) - 1)


def _squeezed(
    natural: Sequence[int], floors: Sequence[int], right: Sequence[int], room: int, gap: int
) -> list[int]:
    """Widths that add up to `room`: the widest columns of text give way first, none below its
    floor.
    """
    widths = list(natural)
    while _together(widths, gap) > room:
        free = [
            place
            for place in range(len(widths))
            if place not in right and widths[place] > floors[place]
        ]
        if not free:
            break
        widths[max(free, key=lambda place: widths[place])] -= 1
    return widths


def _row(
    cells: Sequence[Line], widths: Sequence[int], right: Sequence[int], gap: int = GAP
) -> list[Line]:
    columns = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        pieces = cell.wrapped(width) if cell.cell_len > width else [cell.copy()]
        for piece in pieces:
            blank = width - piece.cell_len
            piece.pad_left(blank) if place in right else piece.pad_right(blank)
        columns.append(pieces)
    lines = []
    for parts in zip_longest(*columns):
        filled = [part or Line(" " * width) for part, width in zip(parts, widths, strict=True)]
        line = Line(" " * gap).join(filled)
        line.rstrip()
        lines.append(line)
    return lines


def _one_by_one(
    head: Sequence[Line], rows: Sequence[Sequence[Line]], right: Sequence[int], room: int
) -> list[Line]:
    """The rows one after the other, each cell beside the head of its column, or under it where that
    is too narrow.
    """
    beside = max(word.cell_len for word in head)
    left = room - beside - GAP
    lines: list[Line] = []
    for row in rows:
        lines += [Line()] * bool(lines)
        for word, cell, number in _cells(head, row, right):
            if cell.cell_len <= left or (not number and max(LEAST, cell.longest) <= left):
                lines += _row((word, cell), (beside, left), ())
                continue
            pieces = [cell] if number else cell.wrapped(max(room - HANG, 1))
            lines += [
                *(word.wrapped(room) if word else ()),
                *(Line.assemble(" " * HANG, piece) for piece in pieces),
            ]
    return lines


def _cells(
    head: Sequence[Line], row: Sequence[Line], right: Sequence[int]
) -> Iterator[tuple[Line, Line, bool]]:
    """What a row has, with the heads, and whether it is a number; the numbers of steps stand before
    their titles.
    """
    before = Line()
    for place, (word, cell) in enumerate(zip(head, row, strict=True)):
        if not word and not place:
            before = Line.assemble(cell, " ")
        elif cell:
            yield word, Line.assemble(before, cell), place in right
            before = Line()


def _bold(text: Line) -> Line:
    bold = text.copy()
    bold.stylize("bold")
    return bold
