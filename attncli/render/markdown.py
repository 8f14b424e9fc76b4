"""Markdown as GitHub reads it, or with dollars around the formulas for pandoc and Jupyter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attncli.equation.nodes import Expression
from attncli.equation.notation import LATEX, LATEX_LINE, UNICODE
from attncli.equation.printer import write, write_number
from attncli.equation.shapes import product_text
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render import Style
from attncli.render.columns import BLANK, width
from attncli.render.labels import label, visible
from attncli.render.shades import HIDDEN, LEGEND, mark, needs_legend

# Entities where a backslash is not enough: | divides cells, the others are read by GitHub's own filters.
_ENTITIES = {"|": "&#124;", "<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "&#36;", "\\": "&#92;", "@": "&#64;"}
_ESCAPES = str.maketrans(_ENTITIES | {sign: f"\\{sign}" for sign in "*_`[]#~!^{}"})
NARROWEST = 3  # what a rule of a table needs
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")  # would begin a list, a rule or a heading


def render(document: page.Document, style: Style) -> str:
    """The page as Markdown: every table keeps all its cells, and every formula is one KaTeX knows."""
    return "".join(stream(document, style))


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The same piece by piece, large matrices line by line."""
    writer = _Writer(dollars=style.math == "dollars")
    if document.title:
        yield f"# {escape(document.title)}\n"
    for place, block in enumerate(document.blocks):
        if place or document.title:
            yield "\n"
        if isinstance(block, page.Grid) and block.digits is not None:
            yield from writer.digits(block, block.digits)
        else:
            yield writer.block(block) + "\n"


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

    def block(self, block: page.Block) -> str:
        match block:
            case page.Heading(text=text, part=True):
                self.section = "###"
                return f"## {escape(text)}"
            case page.Heading(text=text, number=number):
                head = f"{number}. " if number is not None else ""
                return f"{self.section} {head}{escape(text)}"
            case page.Paragraph(text=text, kind="text"):
                return self.sentence(text)
            case page.Paragraph(text=text, kind=kind):
                first = f"**{kind.capitalize()}:** " if self.dollars else f"[!{kind.upper()}]\n> "
                return f"> {first}{self.sentence(text)}"
            case page.Formula(equation=equation, shapes=shapes):
                tail = product_text(shapes, r" \times ", r" \cdot ") if shapes else ""
                return self.display(formula(equation, LATEX) + (rf" \qquad {tail}" if tail else ""))
            case page.Worked(lines=lines):
                return "\n".join(self.worked(line) for line in lines)
            case page.Grid():
                return self.grid(block)
            case page.Table(rows=rows, right=right):
                cells = [[self.sentence(cell) for cell in row] for row in rows]
                return _pipes([self.sentence(head) for head in block.heads], cells, right)
            case page.Listing(items=items):
                return "\n".join(f"- {self.sentence(item)}" for item in items)

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

    def grid(self, grid: page.Grid) -> str:
        columns = range(len(grid.cells[0]))
        closed = grid.closed or [[None] * len(columns)] * len(grid.rows)
        head, names = self.labels(grid)
        rows = [[name, *map(self.cell, row, forms)] for name, row, forms in zip(names, grid.cells, closed, strict=True)]
        legend = f"\n\n{HIDDEN} {LEGEND}" if needs_legend(grid) else ""
        return _pipes(head, rows, range(1, len(head))) + legend

    def labels(self, grid: page.Grid) -> tuple[list[str], list[str]]:
        """The first line of the table, and the first cell of each other."""
        columns = grid.columns or [""] * len(grid.cells[0])
        names = [f"**{_name(name)}**" if name.strip() else _name(name) for name in grid.rows]
        return [self.inline(write(grid.name, LATEX)), *map(_name, columns)], names

    def digits(self, grid: page.Grid, digits: page.Digits) -> Iterator[str]:
        """The table of a large matrix, line by line."""
        head, names = self.labels(grid)
        side = max(NARROWEST, width(head[0]), *map(width, names))
        widths = [
            max(NARROWEST, width(name), longest) for name, longest in zip(head[1:], digits.longest(), strict=True)
        ]
        yield "".join(f"{line}\n" for line in _top(head, [side, *widths], range(1, len(head))))
        starts = [f"| {name}{' ' * (side - width(name))}" for name in names]
        yield from digits.lines(starts, " | ", [(wide, 0) for wide in widths], end=" |")

    def cell(self, cell: page.Cell, closed: Expression | None) -> str:
        """A number, after its closed form where that says more."""
        if closed is None or write(closed, UNICODE) == write_number(cell.text, UNICODE):
            return _number(cell)
        return f"{self.inline(write(closed, LATEX_LINE))} {'≈' if cell.rounded else '='} {_number(cell)}"


def _name(text: str) -> str:
    return escape(label(text))


def _number(cell: page.Cell) -> str:
    if not cell.text:
        return BLANK
    sign, number = mark(cell), write_number(cell.text, UNICODE)
    return (f"**{number}**" if cell.verdict == "wrong" else number) + (f" {sign}" if sign else "")


def _pipes(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    """A table, its columns aligned in the source too."""
    lines = [head, *rows]
    widths = [max(NARROWEST, *(width(line[place]) for line in lines)) for place in range(len(head))]
    return "\n".join([*_top(head, widths, right), *(_line(row, widths, right) for row in rows)])


def _top(head: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    rule = ["-" * (wide - 1) + ":" if place in right else ":" + "-" * (wide - 1) for place, wide in enumerate(widths)]
    return [_line(head, widths, right), _line(rule, widths, right)]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    blanks = [" " * (wide - width(cell)) for cell, wide in zip(cells, widths, strict=True)]
    padded = (
        blank + cell if place in right else cell + blank
        for place, (cell, blank) in enumerate(zip(cells, blanks, strict=True))
    )
    return f"| {' | '.join(padded)} |"
