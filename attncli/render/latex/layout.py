r"""What stands side by side: the arrays of a problem, the formulas of a step, a matrix and its
worked lines.

They are boxes of one paragraph, so TeX begins a new line if a page or a slide is too narrow for
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import TypeAlias

from attncli.equation.notation import UNICODE
from attncli.escaping import label
from attncli.page.document import (
    Block,
    Formula,
    Grid,
    Heading,
    Paragraph,
    Product,
    Worked,
    WorkedLine,
    plain,
    sides,
)
from attncli.render.latex.escape import length
from attncli.render.latex.matrix import NARROWEST_OF_A_PAIR, WIDEST_PAIR, is_small, width_beside

# Blocks that stand side by side, or one alone.
Run: TypeAlias = tuple[Block, ...]
# A heading and what is below it, or what stands before the first heading.
SectionRuns: TypeAlias = tuple[Run, ...]
# Lines of this width, in digits, still fit on a slide.
WIDEST_LINE_BESIDE = 46
# More lines are no box: TeX does not break a box across pages.
MOST_LINES_OF_A_BOX = 12
MOST_ROWS_TO_FILL_IN = 40


def runs(blocks: Iterable[Block]) -> Iterator[tuple[Block, ...]]:
    """The blocks in order; those that may stand side by side are in one tuple."""
    run: list[Block] = []
    for block in blocks:
        if run and not _continues(run, block):
            yield from _cut(run)
            run = []
        run.append(block)
    if run:
        yield from _cut(run)


def _continues(run: Sequence[Block], block: Block) -> bool:
    match run[-1], block:
        case Formula(), Formula():
            return True
        case (Paragraph(kind="text"), Grid()) | (Grid(), Paragraph(kind="text")):
            grid = block if isinstance(block, Grid) else run[-1]
            return isinstance(run[0], Paragraph) and isinstance(grid, Grid) and is_small(grid)
        case Grid() as first, Grid() as second:
            return isinstance(run[0], Paragraph) and is_small(first) and is_small(second)
        case Grid() | Product() as matrix, Worked(lines=lines):
            return (isinstance(matrix, Product) or is_small(matrix)) and are_short(lines)
        case _:
            return False


def _cut(run: list[Block]) -> Iterator[tuple[Block, ...]]:
    """The run as one, or, if two matrices have the same name, each matrix with its paragraph."""
    if isinstance(run[-1], Paragraph) and len(run) > 1:
        # It belongs to what follows.
        yield from _cut(run[:-1])
        yield (run[-1],)
        return
    names = [block.name for block in run if isinstance(block, Grid)]
    if len(set(names)) == len(names):
        yield tuple(run)
        return
    pair: list[Block] = []
    for block in run:
        if isinstance(block, Paragraph) and pair:
            yield tuple(pair)
            pair = []
        pair.append(block)
    yield tuple(pair)


def are_short(lines: Sequence[WorkedLine]) -> bool:
    """Whether worked lines are few enough, and short enough, to stand beside a matrix unbroken."""
    first = list(islice(lines, MOST_LINES_OF_A_BOX + 1))
    names = max((length(label(line.label)) for line in first), default=0)
    return len(first) <= MOST_LINES_OF_A_BOX and all(
        names + line_width(line) <= WIDEST_LINE_BESIDE for line in first
    )


def sections(pieces: Iterable[Run]) -> Iterator[tuple[SectionRuns, ...]]:
    """The sections in order: two to fill in stand beside each other if a line has room for both,
    any other one alone.
    """
    waiting: SectionRuns = ()
    for section in _cut_at_headings(pieces):
        if waiting and sum(map(room_beside, (waiting, section))) <= WIDEST_PAIR:
            yield waiting, section
            waiting = ()
            continue
        if waiting:
            yield (waiting,)
        waiting = ()
        if room_beside(section) <= WIDEST_PAIR - NARROWEST_OF_A_PAIR:
            waiting = section
        else:
            yield (section,)
    if waiting:
        yield (waiting,)


def _cut_at_headings(pieces: Iterable[Run]) -> Iterator[SectionRuns]:
    section: list[Run] = []
    for piece in pieces:
        if section and isinstance(piece[0], Heading):
            yield tuple(section)
            section = []
        section.append(piece)
    if section:
        yield tuple(section)


def is_to_fill_in(section: SectionRuns) -> bool:
    """Whether a section has nothing but formulas and a matrix with room for numbers."""
    match [run[0] for run in section]:
        case [Heading(), Formula(), Grid(rows=rows, cells=cells)]:
            # Nobody writes into a large matrix, and its cells may not be there at once.
            is_short = len(rows) <= MOST_ROWS_TO_FILL_IN
            return is_short and not any(cell.text for row in cells for cell in row)
        case _:
            return False


def room_beside(section: SectionRuns) -> float:
    """How much of a line a section needs beside another one, in digits; infinity if it must stand
    alone.
    """
    matrix = section[-1][0]
    if is_to_fill_in(section) and isinstance(matrix, Grid):
        return width_beside(matrix)
    return inf


def line_width(line: WorkedLine) -> float:
    """How wide what is worked in a line is, in digits."""
    said = " ".join(side for side in sides(line, UNICODE) if side)
    return len(said) + length(plain(line.remark))
