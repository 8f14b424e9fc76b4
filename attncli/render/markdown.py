"""Markdown as GitHub reads it, or with dollars around the formulas for pandoc and Jupyter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import chain

from attncli.equation.nodes import Expression
from attncli.equation.notation import LATEX, LATEX_LINE, UNICODE
from attncli.equation.printer import write, write_number
from attncli.equation.shapes import product_text
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render import Style
from attncli.render.cells import BLANK, HIDDEN, LEGEND, chunks, has_sign_of_hidden, mark
from attncli.render.escaping import label, visible

# Entities where a backslash is not enough: | divides cells, the others are read by GitHub's own filters.
_ENTITIES = {"|": "&#124;", "<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "&#36;", "\\": "&#92;", "@": "&#64;"}
_ESCAPES = str.maketrans(_ENTITIES | {sign: f"\\{sign}" for sign in "*_`[]#~!^{}"})
NARROWEST = 3  # what a rule of a table needs
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")  # would begin a list, a rule or a heading


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The page as Markdown: every table keeps all its cells, and every formula is one KaTeX knows."""
    writer = _Writer(dollars=style.math == "dollars")
    if document.title:
        yield f"# {escape(document.title)}\n"
    for place, block in enumerate(document.blocks):
        if place or document.title:
            yield "\n"
        yield from (f"{line}\n" for line in writer.block(block))


def escape(text: str) -> str:
    """What a person wrote, so that Markdown shows it letter for letter, in a sentence or in a table's cell."""
    return _line_start(visible(text).translate(_ESCAPES))


def _line_start(text: str) -> str:
    return _LINE_START.sub(lambda found: f"{found[1]}&#{ord(found[2][0])};{found[2][1:]}", text)


class _Writer:
    """Turns one block after another into Markdown, with formulas marked as the reader wants them."""

    def __init__(self, dollars: bool) -> None:
        self.dollars = dollars
        self.section = "##"  # one level lower from the first part on

    def block(self, block: page.Block) -> Iterator[str]:
        """The lines of a block, one or some at a time."""
        match block:
            case page.Heading(text=text, part=True):
                self.section = "###"
                yield f"## {escape(text)}"
            case page.Heading(text=text, number=number):
                head = f"{number}. " if number is not None else ""
                yield f"{self.section} {head}{escape(text)}"
            case page.Paragraph(text=text, kind="text"):
                yield self.sentence(text)
            case page.Paragraph(text=text, kind=kind):
                first = f"**{kind.capitalize()}:** " if self.dollars else f"[!{kind.upper()}]\n> "
                yield f"> {first}{self.sentence(text)}"
            case page.Formula(equation=equation, shapes=shapes):
                tail = product_text(shapes, r" \times ", r" \cdot ") if shapes else ""
                yield self.display(formula(equation, LATEX) + (rf" \qquad {tail}" if tail else ""))
            case page.Worked(lines=lines):
                yield from map(self.worked, lines)
            case page.Grid():
                yield from self.grid(block)
            case page.Table(rows=rows, right=right):
                cells = [[self.sentence(cell) for cell in row] for row in rows]
                yield from _pipes([self.sentence(head) for head in block.heads], cells, right)
            case page.Listing(items=items):
                yield from (f"- {self.sentence(item)}" for item in items)

    def inline(self, math: str) -> str:
        math = math.replace("|", r"\vert ")
        return f"${math}$" if self.dollars else f"$`{math}`$"

    def display(self, math: str) -> str:
        return f"$$\n{math}\n$$" if self.dollars else f"```math\n{math}\n```"

    def sentence(self, text: page.Text) -> str:
        pieces = (
            self.inline(write(piece.expression, LATEX_LINE))
            if isinstance(piece, page.Math)
            else visible(piece).translate(_ESCAPES)
            for piece in text
        )
        return _line_start("".join(pieces).strip())

    def worked(self, line: page.WorkedLine) -> str:
        sums = " ".join(side for side in sides(line, LATEX_LINE) if side)
        parts = [self.inline(sums)] if sums else []
        parts += [self.sentence(line.remark)] if line.remark else []
        return f"- **{escape(label(line.label))}**: {' — '.join(parts)}"

    def grid(self, grid: page.Grid) -> Iterator[str]:
        grid = grid.loaded()
        head = [self.inline(write(grid.name, LATEX)), *map(_name, grid.columns or [""])]
        names = [f"**{_name(name)}**" if name.strip() else _name(name) for name in grid.rows]
        legend = False

        def lines() -> Iterator[list[str]]:
            nonlocal legend
            remaining = iter(names)
            if grid.closed:
                legend = has_sign_of_hidden(grid.cells)
                for cells, forms in zip(grid.cells, grid.closed, strict=True):
                    yield [next(remaining), *map(self.cell, cells, forms)]
            else:
                for rows in chunks(grid.cells):
                    legend = legend or has_sign_of_hidden(rows)
                    known = {
                        key: _number(cell) for key, cell in {id(cell): cell for row in rows for cell in row}.items()
                    }
                    yield from ([next(remaining), *(known[id(cell)] for cell in row)] for row in rows)

        yield from _pipes(head, page.sequence(lines, lazy=isinstance(grid.cells, page.Lazy)), range(1, len(head)))
        if legend:
            yield f"\n{HIDDEN} {LEGEND}"

    def cell(self, cell: page.Cell, closed: Expression) -> str:
        """A number, after its closed form where that says more."""
        if write(closed, UNICODE) == write_number(cell.text, UNICODE):
            return _number(cell)
        return f"{self.inline(write(closed, LATEX_LINE))} {'≈' if cell.rounded else '='} {_number(cell)}"


def _name(text: str) -> str:
    return escape(label(text))


def _number(cell: page.Cell) -> str:
    if not cell.text:
        return BLANK
    sign, number = mark(cell), write_number(cell.text, UNICODE)
    return (f"**{number}**" if cell.verdict == "wrong" else number) + (f" {sign}" if sign else "")


def _pipes(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> Iterator[str]:
    """The lines of a table, its columns aligned in the source too."""
    widths = [max(NARROWEST, width(name)) for name in head]
    for some in chunks(rows):
        widths = [
            max(wide, *map(width, {*column})) for wide, column in zip(widths, zip(*some, strict=True), strict=True)
        ]
    pads = [str.rjust if place in right else str.ljust for place in range(len(head))]
    rule = ["-" * (wide - 1) + ":" if place in right else ":" + "-" * (wide - 1) for place, wide in enumerate(widths)]
    for cells in chain((head, rule), rows):
        padded = (
            pad(cell, wide if cell.isascii() else wide + len(cell) - width(cell))
            for pad, cell, wide in zip(pads, cells, widths, strict=True)
        )
        yield f"| {' | '.join(padded)} |"


def width(text: str) -> int:
    """How many columns of a fixed-width font the text takes, nearly: two for what East Asia writes wide."""
    return len(text) + sum(_width(character) - 1 for character in _NOT_ASCII.findall(text))


@cache
def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
