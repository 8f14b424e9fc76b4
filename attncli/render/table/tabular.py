"""A table of sentences for a terminal: text wraps inside its cells, numbers stay whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from attncli.render.table.line import Line
from attncli.render.table.wrapping import longest, wrap

GAP = 3
NARROWEST = 20  # a column is not squeezed below its longest word, up to this; the table overflows instead


def table_lines(
    head: Sequence[Line], rows: Sequence[Sequence[Line]], right: Sequence[int], room: int | None
) -> list[Line]:
    """The table as lines no wider than `room`, except where its numbers or narrowest columns need more."""
    columns = list(zip(head, *rows, strict=True))
    natural = [max(cell.cell_len for cell in column) for column in columns]
    floors = [min(NARROWEST, max(map(longest, column))) for column in columns]
    widths = natural if room is None else _squeezed(natural, floors, right, room)
    lines = _row([_bold(word) for word in head], widths, right)
    lines.append(Line("─" * (sum(widths) + GAP * (len(widths) - 1)), "dim"))
    for row in rows:
        lines += _row(row, widths, right)
    return lines


def _squeezed(natural: Sequence[int], floors: Sequence[int], right: Sequence[int], room: int) -> list[int]:
    """Widths that add up to `room`: the widest columns of text give way first, none below its floor."""
    widths = list(natural)
    while sum(widths) + GAP * (len(widths) - 1) > room:
        free = [place for place in range(len(widths)) if place not in right and widths[place] > floors[place]]
        if not free:
            break
        widths[max(free, key=lambda place: widths[place])] -= 1
    return widths


def _row(cells: Sequence[Line], widths: Sequence[int], right: Sequence[int]) -> list[Line]:
    columns = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        pieces = wrap(cell, width) if cell.cell_len > width else [cell.copy()]
        for piece in pieces:
            blank = width - piece.cell_len
            piece.pad_left(blank) if place in right else piece.pad_right(blank)
        columns.append(pieces)
    lines = []
    for parts in zip_longest(*columns):
        filled = [part or Line(" " * width) for part, width in zip(parts, widths, strict=True)]
        line = Line(" " * GAP).join(filled)
        line.rstrip()
        lines.append(line)
    return lines


def _bold(text: Line) -> Line:
    bold = text.copy()
    bold.stylize("bold")
    return bold
