"""What stands side by side on a terminal: a matrix and its worked lines, row by row, and small
matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attncli.equation.nodes import Equation
from attncli.page.document import Block, Formula, Grid, Heading, Lazy, Worked
from attncli.page.ends import LONGEST_SIDE_BESIDE_OTHERS
from attncli.render.table.broken_lines import formula_lines, worked_lines
from attncli.render.table.matrix import matrix_lines
from attncli.render.table.styled_line import Line

# It stands between two parts.
GAP = " " * 5
# A line is no wider than this before it is broken to stand beside others.
UNBROKEN = 1000


@dataclass(frozen=True, slots=True)
class Beside:
    """Parts that stand side by side where a page is wide enough, in as many rows as they need.

    `instead` stands in their place where even one of them is too wide.
    """

    parts: tuple[Sequence[Block], ...]
    instead: tuple[Block, ...]

    def lines(self, room: int, color: bool) -> list[Line]:
        """The parts in rows, a blank line between two; none where there is no room."""
        drawn = [_drawn(part, color) for part in self.parts]
        if any(_width(lines) > room for lines in drawn):
            return []
        rows = list(_in_rows(drawn, room))
        if len(rows) == len(drawn) > 1:
            return []
        found: list[Line] = []
        for row in rows:
            if found:
                found.append(Line())
            found += _together(row)
        return found


def laid_out(blocks: Iterable[Block]) -> Iterator[Block | Beside]:
    """The blocks in order; what may stand side by side is one."""
    waiting: list[Block] = []
    for block in blocks:
        if waiting and not _goes_on(waiting, block):
            yield from _closed(waiting)
            waiting = []
        if waiting or _begins(block):
            waiting.append(block)
        else:
            yield block
    yield from _closed(waiting)


def _begins(block: Block) -> bool:
    match block:
        case Heading(beside=True) | Formula(titled=False):
            return True
        case Grid():
            return _is_small(block)
        case _:
            return False


def _goes_on(waiting: Sequence[Block], block: Block) -> bool:
    last = waiting[-1]
    match block:
        case Worked():
            # Its lines stand at the rows of one matrix.
            is_of_one = len(waiting) == 1 and isinstance(last, Grid)
            return is_of_one and _stand_at_rows(last, block)
        case Formula():
            return isinstance(last, Heading) or _is_of_another_array(last, block)
        case Grid():
            is_sheet = isinstance(waiting[0], Grid | Heading)
            return is_sheet and not isinstance(last, Worked) and _is_small(block)
        case Heading(beside=True):
            return isinstance(waiting[0], Heading) and isinstance(last, Grid)
        case _:
            return False


def _is_of_another_array(before: Block, formula: Formula) -> bool:
    """Whether two formulas say what two arrays are: Q = X W_Q, K = X W_K."""
    if not isinstance(before, Formula):
        return False
    first, second = before.equation, formula.equation
    if not isinstance(first, Equation) or not isinstance(second, Equation):
        return False
    return first.target.name != second.target.name


def _stand_at_rows(grid: Block, worked: Worked) -> bool:
    """Whether there is one worked line for each row of a matrix."""
    if not isinstance(grid, Grid) or worked.left_out:
        return False
    lines = worked.lines
    if isinstance(lines, Lazy):
        # The matrix is small, and so are they.
        lines = tuple(lines)
    return len(lines) == len(grid.rows)


def _is_small(grid: Grid) -> bool:
    if grid.closed or grid.left_out or grid.picture:
        return False
    return max(len(grid.rows), len(grid.columns)) <= LONGEST_SIDE_BESIDE_OTHERS


def _closed(waiting: Sequence[Block]) -> Iterator[Block | Beside]:
    """What has come together, in parts; a section that is not whole stays as it is."""
    is_whole = all(isinstance(block, Formula) for block in waiting)
    if waiting and isinstance(waiting[-1], Grid | Worked):
        is_whole = True
    if len(waiting) < 2 or not is_whole:
        yield from waiting
        return
    parts: list[list[Block]] = []
    for block in waiting:
        match block:
            case Heading():
                parts.append([])
            case Grid() | Worked() | Formula() if not isinstance(waiting[0], Heading):
                parts.append([block])
            case _ if parts:
                parts[-1].append(block)
            case _:
                parts.append([block])
    if len(parts) == 1:
        yield from waiting
        return
    yield Beside(tuple(parts), tuple(waiting))


def _drawn(part: Sequence[Block], color: bool) -> list[Line]:
    found: list[Line] = []
    for block in part:
        match block:
            case Formula(equation=equation):
                found += formula_lines(equation, UNBROKEN, 0)
            case Grid():
                found += matrix_lines(block, None, color)
            case Worked(lines=lines):
                # The first row of the matrix is below its head.
                found += [Line(), *worked_lines(lines, UNBROKEN)]
            case _:
                pass
    return found


def _width(lines: Sequence[Line]) -> int:
    return max(line.cell_len for line in lines)


def _in_rows(parts: Sequence[list[Line]], room: int) -> Iterator[list[list[Line]]]:
    """As many parts in a row as fit."""
    row: list[list[Line]] = []
    width = 0
    for lines in parts:
        further = _width(lines) + len(GAP)
        if row and width + further - len(GAP) > room:
            yield row
            row, width = [], 0
        row.append(lines)
        width += further
    yield row


def _together(row: Sequence[list[Line]]) -> list[Line]:
    """The lines of the parts of a row, each part as wide as its widest line."""
    height = max(map(len, row))
    found = [Line() for _ in range(height)]
    for lines in row:
        width = _width(lines)
        for at, line in enumerate(found):
            part = lines[at] if at < len(lines) else Line()
            line.append(part)
            line.pad_right(width - part.cell_len)
            line.append(GAP)
    for line in found:
        line.rstrip()
    return found
