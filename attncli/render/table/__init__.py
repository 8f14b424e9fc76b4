"""The page for a terminal: Rich lays it out, from text that holds no markup and steers nothing."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.equation.shapes import product_text
from attncli.page import document as page
from attncli.page.document import LeftOut
from attncli.render import Style
from attncli.render.table.formula import formula_lines
from attncli.render.table.grid import grid_lines
from attncli.render.table.line import Line, colored
from attncli.render.table.script import script
from attncli.render.table.tabular import table_lines
from attncli.render.table.worked import NARROW, sentence, worked_lines
from attncli.render.table.wrapping import wrap

PIPE = 80  # prose and rules on a pipe, where there is no width
WIDEST = 88  # longer lines of prose are hard to read
SHORTEST = 3  # a rule between a title and its shapes
BODY, WORK = 2, 4  # how far prose, and formulas and numbers, stand from the left
TINY = 24  # fewer columns than these are too few to leave any blank
KINDS = {"note": ("Note: ", "bold cyan"), "warning": ("Warning: ", "bold yellow")}


def render(document: page.Document, style: Style) -> str:
    """The page as lines; in colour if `style.color`, never wider than `style.width` unless a number needs it."""
    writer = _Writer(style)
    lines = writer.title(document.title) if document.title else []
    for before, block in zip((None, *document.blocks), document.blocks, strict=False):
        run_on = isinstance(block, page.Formula) and isinstance(before, page.Formula)
        if lines and not run_on:
            lines.append(Line())
        lines += writer.block(block)
    texts = [line.plain for line in lines]
    return writer.script.text("".join(f"{line}\n" for line in (colored(lines, writer.page) if style.color else texts)))


class _Writer:
    """Turns one block after another into lines."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.script = script(style.encoding)
        self.page = style.width or PIPE
        self.prose = min(style.width or PIPE, WIDEST)
        self.body, self.work = (BODY, WORK) if self.page >= TINY else (0, 0)

    def block(self, block: page.Block) -> list[Line]:
        match block:
            case page.Heading(text=text, part=True):
                return self.title(text)
            case page.Heading():
                return self.heading(block)
            case page.Paragraph(text=text, kind=kind):
                prefix = Line(*KINDS[kind]) if kind in KINDS else Line()
                return self.wrapped(Line.assemble(prefix, sentence(text, self.script)), self.body)
            case page.Formula(equation=equation):  # its shapes stand in the heading
                lines = formula_lines(equation, self.script, self.page - self.work)
                return _indented([Line(line, "bold") for line in lines], self.work)
            case page.Worked(lines=lines, left_out=left_out):
                return _indented([*worked_lines(lines, self.script, self.room()), *self.said(left_out)], self.work)
            case page.Grid(left_out=left_out):
                grid = self.with_dots(block) if left_out else block
                matrix = grid_lines(grid, self.script, self.room(), self.style.color)
                return _indented([*matrix, *self.said(left_out)], self.work)
            case page.Table(rows=rows, right=right):
                cells = [[sentence(cell, self.script) for cell in row] for row in rows]
                heads = [sentence(head, self.script) for head in block.heads]
                room = None if self.style.width is None else self.style.width - self.body
                return _indented(table_lines(heads, cells, right, room), self.body)
            case page.Listing(items=items, left_out=left_out):
                bullets = [
                    line for item in items for line in self.wrapped(sentence(item, self.script), self.body, "• ")
                ]
                return bullets + _indented(self.said(left_out), self.body)

    def said(self, left_out: LeftOut) -> list[Line]:
        if not left_out:
            return []
        from attncli.render.table.elided import said  # on a terminal only

        return self.folded(Line(self.script.text(said(left_out)), "dim"), self.work)

    def with_dots(self, grid: page.Grid) -> page.Grid:
        from attncli.render.table.elided import with_dots

        return with_dots(grid, self.script)

    def room(self) -> int | None:
        return None if self.style.width is None else self.style.width - self.work

    def title(self, text: str) -> list[Line]:
        lines = self.folded(Line(self.script.visible(text), "bold"))
        return [*lines, Line("━" * max(line.cell_len for line in lines), "cyan")]

    def heading(self, block: page.Heading) -> list[Line]:
        title = Line(self.script.visible(block.text), "bold")
        if block.number is not None:
            title = Line.assemble((f"{block.number} ", "bold cyan"), title)
        folded = self.folded(title, len("──  "))
        if len(folded) > 1:
            below = _indented(folded[1:], len("── "))
            return [Line.assemble(("── ", "dim"), folded[0]), *below, *self.product(block)]
        line = Line.assemble(("── ", "dim"), title, " ")
        rule = self.prose - line.cell_len
        shapes = Line(self.script.text(product_text(block.shapes)), "cyan") if block.shapes else Line()
        if rule - shapes.cell_len - 1 < SHORTEST:
            return [Line.assemble(line, ("─" * rule, "dim")), *self.product(block)]
        if shapes:
            shapes = Line.assemble(" ", shapes)
        return [Line.assemble(line, ("─" * (rule - shapes.cell_len), "dim"), shapes)]

    def product(self, block: page.Heading) -> list[Line]:
        """The shapes under a heading that has no room for them."""
        if not block.shapes:
            return []
        return _indented(self.folded(Line(self.script.text(product_text(block.shapes)), "cyan"), self.work), self.work)

    def folded(self, title: Line, indent: int = 0) -> list[Line]:
        """A title in as many lines as it needs on a narrow terminal; one where it fits, or there is no width."""
        if self.style.width is None or title.cell_len + indent <= self.style.width:
            return [title]
        return wrap(title, max(self.style.width - indent, NARROW))

    def wrapped(self, text: Line, indent: int, bullet: str = "") -> list[Line]:
        """Prose broken into lines between words; a word too long for a line is folded, never cut off."""
        room = max(self.prose - indent - len(bullet), NARROW)
        lines = wrap(text, room)
        heads = [bullet] + [" " * len(bullet)] * len(lines)
        return [Line.assemble(" " * indent + head, line) for head, line in zip(heads, lines, strict=False)]


def _indented(lines: Sequence[Line], indent: int) -> list[Line]:
    return [Line.assemble(" " * indent, line) if line else line for line in lines]
