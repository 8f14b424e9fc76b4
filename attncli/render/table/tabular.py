"""A table of sentences for a terminal: text wraps inside its cells, numbers stay whole; too narrow,
row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from attncli.render.cells import LONGEST_NAME
from attncli.render.table.broken_lines import HANGING_INDENT
from attncli.render.table.styled_line import Line

COLUMN_GAP = 3
# No column is squeezed below its longest word, up to this, and none of sentences below this.
NARROWEST_TEXT = 20
# Where columns would not fit otherwise, longer words are divided.
TIGHT_COLUMN_GAP, LONGEST_TIGHT_WORD = 2, 15
# A longer cell is one.
LONGEST_PHRASE = 40
# Less than this is too narrow for a sentence.
NARROWEST_SENTENCE = 10


def table_lines(
    head: Sequence[Line],
    rows: Sequence[Sequence[Line]],
    right: Sequence[int],
    room: int | None,
    whole: Sequence[int] = (),
) -> list[Line]:
    """The table as lines no wider than `room`.

    Columns that are `whole` give way last. Where the columns need more, the cells of each row stand
    one under another. Only a number that is wider by itself goes beyond it.
    """
    columns = list(zip(head, *rows, strict=True))
    natural = []
    for column in columns:
        natural.append(max(cell.cell_len for cell in column))
    bold_head = [_bold(word) for word in head]
    widths, gap = natural, COLUMN_GAP
    if room is not None:
        found = _fitting(columns, natural, right, room, whole)
        if found is None and whole:
            found = _fitting(columns, natural, right, room)
        if found is None:
            return _one_by_one(bold_head, rows, right, room)
        widths, gap = found
    lines = _row(bold_head, widths, right, gap)
    lines.append(Line("─" * _together(widths, gap), "dim"))
    for row in rows:
        lines += _row(row, widths, right, gap)
    return lines


def _fitting(
    columns: Sequence[Sequence[Line]],
    natural: list[int],
    right: Sequence[int],
    room: int,
    whole: Sequence[int] = (),
) -> tuple[list[int], int] | None:
    """Widths of columns that fit the room, and the gap between them; None where there are none."""
    floors: list[int] = []
    tight: list[int] = []
    # A name that is longer than all others is broken before anything else is.
    names_alone = [
        min(width, NARROWEST_TEXT) if place in whole and width > LONGEST_NAME else width
        for place, width in enumerate(natural)
    ]
    for place, (width, column) in enumerate(zip(natural, columns, strict=True)):
        if place in whole and width <= LONGEST_NAME:
            floors.append(width)
            tight.append(width)
            continue
        if width > LONGEST_PHRASE:
            floors.append(NARROWEST_TEXT)
            tight.append(NARROWEST_TEXT)
            continue
        word = max(cell.longest for cell in column)
        floors.append(min(NARROWEST_TEXT, word))
        tight.append(min(NARROWEST_TEXT, word, LONGEST_TIGHT_WORD))
    ways = (
        (COLUMN_GAP, names_alone),
        (TIGHT_COLUMN_GAP, names_alone),
        (COLUMN_GAP, floors),
        (TIGHT_COLUMN_GAP, tight),
    )
    for gap, least in ways:
        widths = _squeezed(natural, least, right, room, gap)
        if _together(widths, gap) <= room:
            return widths, gap
    return None


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
    cells: Sequence[Line], widths: Sequence[int], right: Sequence[int], gap: int = COLUMN_GAP
) -> list[Line]:
    columns = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        pieces = [cell.copy()]
        if cell.cell_len > width:
            pieces = cell.wrapped(width)
        for piece in pieces:
            blank = width - piece.cell_len
            if place in right:
                piece.pad_left(blank)
            else:
                piece.pad_right(blank)
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
    """The rows one after the other, each cell beside the head of its column.

    Where that is too narrow, it stands under it.
    """
    beside = max(word.cell_len for word in head)
    left = room - beside - COLUMN_GAP
    hang = " " * HANGING_INDENT
    lines: list[Line] = []
    for row in rows:
        if lines:
            lines.append(Line())
        for word, cell, number in _cells(head, row, right):
            can_wrap = not number and max(NARROWEST_SENTENCE, cell.longest) <= left
            if can_wrap or cell.cell_len <= left:
                lines += _row((word, cell), (beside, left), ())
                continue
            if word:
                lines += word.wrapped(room)
            pieces = [cell]
            if not number:
                pieces = cell.wrapped(max(room - HANGING_INDENT, 1))
            for piece in pieces:
                lines.append(Line.assemble(hang, piece))
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
