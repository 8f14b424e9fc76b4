"""A block of columns of a matrix as lines: labels, brackets and numbers, each in its look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from attncli.page.document import EDGE, Cell, Grid
from attncli.render.columns import caption, split
from attncli.render.shades import background, foreground
from attncli.render.table.line import Line, cell_len
from attncli.render.table.script import Script
from attncli.render.table.wrapping import wrap

GAP = 2  # between columns
AROUND = 3  # a space and the brackets; the blanks inside them are as wide as the gap between two columns
LABEL = 6  # labels are not folded to less
LOOKS = {"right": "green", "carried": "cyan", "rounding": "yellow", "wrong": "bold red", "missing": "magenta"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a matrix, every text already padded to the column's width."""

    head: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.cells[0])  # no sign of a number is wide


@dataclass(frozen=True, slots=True)
class Side:
    """What stands left of a matrix: its name over the labels of the rows, all as wide; a label may take some lines."""

    name: str
    labels: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        return cell_len(self.name)


def side_of(grid: Grid, script: Script, room: int | None = None, widest: int = 0) -> Side:
    """The labels of the rows, folded where they leave no room for the `widest` column."""
    name, whole = script.formula(grid.name), [script.label(row) for row in grid.rows]
    left = None if room is None else max(room - AROUND - GAP - widest, LABEL, cell_len(name))
    labels = [(label,) if left is None or cell_len(label) <= left else _folded(label, left) for label in whole]
    width = max(map(cell_len, (name, *chain.from_iterable(labels))))
    return Side(_padded(name, width), tuple(tuple(_padded(piece, width) for piece in label) for label in labels))


def _folded(label: str, width: int) -> tuple[str, ...]:
    return tuple(piece.plain for piece in wrap(Line(label), width))


def divided(grid: Grid, side: Side, widths: Sequence[int], room: int | None) -> Iterator[tuple[int, int, list[Line]]]:
    """Which columns of a matrix stand in one block, no wider than `room`, and what is written before them."""
    runs = split([width + GAP for width in widths], room and room - side.width - AROUND)
    total = dict(grid.left_out).get("column", len(widths))
    for start, end in runs:
        before = [Line()] * (start > 0)
        if len(runs) > 1:  # dots, which follow the first columns, stand for all those between the ends
            first, last = (place + (total - len(widths)) * (place > EDGE) for place in (start, end))
            before.append(Line(caption("column", first, last, total), "dim"))
        yield start, end, before


def block(side: Side, columns: Sequence[Column], colored: Sequence[Sequence[Cell]] | None) -> list[Line]:
    """One block of columns as lines; `colored` are its cells where they have looks."""
    gap = " " * GAP
    heads = gap.join(column.head for column in columns)
    lines = [headed(side, heads)]
    for place in range(len(side.labels)):
        numbers = Line(gap.join([column.cells[place] for column in columns]))
        if colored:
            _paint(numbers, columns, colored[place])
        lines += bracketed(side, place, numbers)
    return lines


def headed(side: Side, heads: str) -> Line:
    """The name of a matrix, and the labels of its columns."""
    line = Line.assemble((side.name, "bold"), ("   " + heads if heads.strip() else "", "cyan"))
    line.rstrip()
    return line


def bracketed(side: Side, place: int, numbers: Line) -> Iterator[Line]:
    """A row of numbers between its brackets, after its label; beside the rest of a long label is nothing."""
    first, *others = side.labels[place]
    opening, closing = _brackets(place, len(side.labels), last=not others)
    yield Line.assemble((first, "cyan"), f" {opening} ", numbers, f" {closing}")
    for number, rest in enumerate(others, 1):
        opening, closing = _brackets(place or 1, len(side.labels), last=number == len(others))
        yield Line.assemble((rest, "cyan"), f" {opening} {' ' * numbers.cell_len} {closing}")


def _paint(numbers: Line, columns: Sequence[Column], cells: Sequence[Cell]) -> None:
    at = 0
    for column, cell in zip(columns, cells, strict=True):
        if look := _look(cell):
            numbers.stylize(look, at, at + column.width)
        at += column.width + GAP


def _look(cell: Cell) -> str:
    if cell.verdict is not None:
        return LOOKS[cell.verdict]
    if cell.hidden:
        return "dim"
    if cell.shade is None:
        return ""
    back = background(cell.shade)
    front = foreground(back)
    return "rgb({},{},{}) on rgb({},{},{})".format(*front, *back)


def _brackets(place: int, count: int, *, last: bool) -> tuple[str, str]:
    """Those of a row of so many; `last` where it is the last of its lines."""
    if count == 1:
        return "[", "]"
    if place == 0:
        return "⎡", "⎤"
    return ("⎣", "⎦") if last and place == count - 1 else ("⎢", "⎥")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
