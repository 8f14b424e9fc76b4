"""The page for a terminal: Rich lays it out, from text that holds no markup and steers nothing."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.text import Text

from attncli.equation.notation import UNICODE
from attncli.page import document as page
from attncli.render import Style
from attncli.render.labels import visible
from attncli.render.spelling import chain, opening, product, shapes_in
from attncli.render.table_grid import grid_lines
from attncli.render.table_table import table_lines
from attncli.render.table_worked import NARROW, sentence, worked_lines

PIPE = 80  # prose and rules on a pipe, where there is no width
WIDEST = 88  # longer lines of prose are hard to read
BODY, WORK = 2, 4  # how far prose, and formulas and numbers, stand from the left
KINDS = {"note": ("Note: ", "bold cyan"), "warning": ("Warning: ", "bold yellow")}


def render(document: page.Document, style: Style) -> str:
    """The page as lines; in colour if `style.color`, never wider than `style.width` unless a number needs it."""
    console = Console(
        file=StringIO(),
        width=style.width or PIPE,
        color_system="truecolor" if style.color else None,
        force_terminal=style.color,
        no_color=not style.color,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
    writer = _Writer(console, style)
    blocks = opening(document)
    lines: list[Text] = []
    for position, block in enumerate(blocks):
        run_on = isinstance(block, page.Formula) and isinstance(blocks[position - 1], page.Formula)
        if position and not run_on:
            lines.append(Text())
        lines += writer.block(block, blocks[position + 1 :])
    if lines:  # printed at once, since a print costs more than its line
        console.print(Text("\n").join(lines), soft_wrap=True)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


class _Writer:
    """Turns one block after another into lines of Rich text."""

    def __init__(self, console: Console, style: Style) -> None:
        self.console = console
        self.style = style
        self.page = style.width or PIPE
        self.prose = min(style.width or PIPE, WIDEST)
        self.titled: tuple[tuple[int, ...], ...] = ()  # the shapes that stand in the heading above

    def block(self, block: page.Block, following: Sequence[page.Block]) -> list[Text]:
        match block:
            case page.Heading():
                return self.heading(block, shapes_in(following))
            case page.Paragraph(text=text, kind=kind):
                prefix = Text(*KINDS[kind]) if kind in KINDS else Text()
                return self.wrapped(Text.assemble(prefix, sentence(text)), BODY)
            case page.Formula():
                return [self.formula(block)]
            case page.Worked(lines=lines):
                return _indented(worked_lines(self.console, lines, self.room()), WORK)
            case page.Grid():
                return _indented(grid_lines(block, self.room(), self.style.color), WORK)
            case page.Table(head=head, rows=rows, right=right):
                cells = [[sentence(cell) for cell in row] for row in rows]
                heads = [Text(visible(word)) for word in head]
                room = None if self.style.width is None else self.style.width - BODY
                return _indented(table_lines(self.console, heads, cells, right, room), BODY)
            case page.Listing(items=items):
                return [line for item in items for line in self.wrapped(sentence(item), BODY, "• ")]

    def room(self) -> int | None:
        return None if self.style.width is None else self.style.width - WORK

    def heading(self, block: page.Heading, shapes: tuple[tuple[int, ...], ...]) -> list[Text]:
        title = Text(visible(block.text), "bold")
        if block.level == 1:
            return [title, Text("━" * title.cell_len, "cyan")]
        if block.level > 2:
            return [Text.assemble(" " * BODY, title)]
        if block.number is not None:
            title = Text.assemble((f"{block.number} ", "bold cyan"), title)
        line = Text.assemble(("── ", "dim"), title, " ")
        right = Text(f" {product(shapes)}", "cyan") if shapes else Text()
        rule = self.prose - line.cell_len - right.cell_len
        self.titled = shapes if rule >= 3 else ()
        if not self.titled:
            return [Text.assemble(line, ("─" * (self.prose - line.cell_len), "dim"))]
        return [Text.assemble(line, ("─" * rule, "dim"), right)]

    def formula(self, block: page.Formula) -> Text:
        line = Text.assemble(" " * WORK, (chain(block.parts, UNICODE), "bold"))
        if block.shapes and block.shapes != self.titled:
            line.append(f"    {product(block.shapes)}", "cyan")
        return line

    def wrapped(self, text: Text, indent: int, bullet: str = "") -> list[Text]:
        """Prose broken into lines between words; a word too long for a line is folded, never cut off."""
        room = max(self.prose - indent - len(bullet), NARROW)
        lines = list(text.wrap(self.console, room))
        for line in lines:
            line.rstrip()
        heads = [bullet] + [" " * len(bullet)] * len(lines)
        return [Text.assemble(" " * indent + head, line) for head, line in zip(heads, lines, strict=False)]


def _indented(lines: Sequence[Text], indent: int) -> list[Text]:
    return [Text.assemble(" " * indent, line) if line else line for line in lines]
