"""The ends of what is long: how much of a matrix, of worked lines or of heads a screen shows.

A page that is read on a screen has the first and the last rows and columns of a long matrix, and
the first and the last of many heads, unless `--all` asks for all. `ViewOptions.view` in
`cli/view_options.py` decides so for a command, and `Trace.page` for a notebook: as `only_ends` of a
`View`. The `Printer` of a page knows it (`ends_or_all`, `left_out_of`), and everything that leaves
something out asks it. How many are too many, and what is then left, is said here alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from attncli.page.document import Grid, Item, LeftOut

# So many rows, or columns, are all shown.
MOST_ROWS_SHOWN = 40
# Of more, so many are shown at either end.
ROWS_AT_EACH_END = 4
# A matrix with more rows or columns does not stand beside others.
LONGEST_SIDE_BESIDE_OTHERS = 16
# So many heads in all entries are all shown; of more, the first and the last.
MOST_PARTS_SHOWN = 8


def too_many_rows(count: int) -> bool:
    """Whether so many rows, or columns, are cut to their ends."""
    return count > MOST_ROWS_SHOWN


def too_many_parts(count: int) -> bool:
    """Whether so many heads in all entries are cut to the first and the last."""
    return count > MOST_PARTS_SHOWN


def ends_of(items: Sequence[Item]) -> Sequence[Item]:
    """All of few, the first and the last of many.

    >>> len(ends_of(range(40))), ends_of(range(41))
    (40, [0, 1, 2, 3, 37, 38, 39, 40])
    """
    if not too_many_rows(len(items)):
        return items
    return [*items[:ROWS_AT_EACH_END], *items[-ROWS_AT_EACH_END:]]


def left_out_of(**counts: int) -> LeftOut:
    """Of which of these only the ends are there, and how many of each.

    >>> left_out_of(row=50, column=3)
    (('row', 50),)
    """
    long = {what: count for what, count in counts.items() if too_many_rows(count)}
    return tuple(long.items())


def ends_of_parts(count: int, in_all: int) -> Sequence[int]:
    """The numbers of the heads that are there, or of the entries, of so many of them.

    `in_all` is how many parts the page would have with those of all other leading axes.

    >>> ends_of_parts(4, in_all=8), ends_of_parts(4, in_all=16), ends_of_parts(2, in_all=16)
    (range(0, 4), (0, 3), range(0, 2))
    """
    if count < 3 or not too_many_parts(in_all):
        return range(count)
    return (0, count - 1)


def ends_of_picture(grid: Grid) -> Grid:
    """The ends of a picture, whose digits are shown."""
    rows = tuple(ends_of(grid.rows))
    columns = tuple(ends_of(grid.columns))
    shown = ends_of(grid.loaded().cells)
    cells = tuple(tuple(ends_of(row)) for row in shown)
    gone = left_out_of(row=len(grid.rows), column=len(grid.columns))
    return Grid(grid.name, rows, columns, cells, left_out=gone)
