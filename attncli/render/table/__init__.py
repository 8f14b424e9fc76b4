"""The page for a terminal: Rich lays it out, from text that holds no markup and steers nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from attncli.equation.nodes import Equation, Expression
from attncli.equation.notation import UNICODE
from attncli.equation.shapes import product_text
from attncli.escaping import visible
from attncli.page import document as page
from attncli.page.document import LeftOut, formula
from attncli.render import Style
from attncli.render.cells import left_out_text
from attncli.render.table.beside import Beside, laid_out
from attncli.render.table.broken_lines import NARROWEST_PROSE, formula_lines, sentence, worked_lines
from attncli.render.table.matrix import matrix_lines
from attncli.render.table.product import product_lines
from attncli.render.table.styled_line import Line, colored
from attncli.render.table.tabular import table_lines

# Prose and rules are as wide on a pipe, where there is no width.
WIDTH_OF_A_PIPE = 80
# Longer lines of prose are hard to read.
WIDEST_PROSE = 88
# A rule between a title and its shapes is no shorter.
SHORTEST_RULE = 3
BEFORE_FORMULA = "  "
# How far prose, and formulas and numbers, stand from the left.
INDENT_OF_PROSE, INDENT_OF_WORK = 2, 4
# Fewer columns are too few to leave any blank.
NARROWEST_WITH_INDENT = 24
DRAWN_SIGNS = "─━⎡⎢⎣⎤⎥⎦•·×≈→↓√ᵀΣ∞░▒▓█✓✗"
# So many lines in colour are printed together, since a print costs more than its line.
LINES_AT_ONCE = 256
PREFIXES = {"note": ("Note: ", "bold cyan"), "warning": ("Warning: ", "bold yellow")}


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The page as lines, some at a time; in colour if `style.color`, never wider than `style.width`
    unless a number needs it. Where the style asks for ASCII, or the encoding lacks the signs of a
    page, it is the page in words.
    """
    if style.ascii or not _has_signs(style.encoding):
        # Few pages need it, and it takes a while to import.
        from attncli.render.table.plain import stream as stream_in_words

        yield from stream_in_words(document, style)
        return
    writer = _BlockLines(style)
    lines = _lines(document, writer)
    while some := list(islice(lines, LINES_AT_ONCE)):
        if style.color:
            texts = colored(some, writer.page)
        else:
            texts = [line.plain for line in some]
        yield "".join(f"{text}\n" for text in texts)


def _has_signs(encoding: str) -> bool:
    """Whether an encoding has all that a page is drawn with."""
    try:
        DRAWN_SIGNS.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _lines(document: page.Document, writer: _BlockLines) -> Iterator[Line]:
    if document.title:
        yield from writer.title(document.title)
    blocks = laid_out(page.without_room(document.blocks))
    yield from writer.apart(blocks, below_title=bool(document.title))


class _BlockLines:
    """Turns one block after another into lines."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.page = style.width or WIDTH_OF_A_PIPE
        self.prose = min(style.width or WIDTH_OF_A_PIPE, WIDEST_PROSE)
        self.body = 0
        self.work = 0
        # The formula that the last title had room for.
        self.in_title: Equation | Expression | None = None
        if self.page >= NARROWEST_WITH_INDENT:
            self.body = INDENT_OF_PROSE
            self.work = INDENT_OF_WORK

    def has_in_title(self, block: page.Formula) -> bool:
        """Whether the title above has said this formula."""
        return block.titled and block.equation == self.in_title

    def block(self, block: page.Block | Beside) -> Iterable[Line]:
        match block:
            case Beside():
                return self.beside(block)
            case page.Heading(text=text, part=True):
                return self.title(text)
            case page.Heading():
                return self.heading(block)
            case page.Paragraph(text=text, kind=kind):
                prefix = Line(*PREFIXES[kind]) if kind in PREFIXES else Line()
                return self.wrapped(Line.assemble(prefix, sentence(text)), self.body)
            # Its shapes stand in the heading.
            case page.Formula(equation=equation):
                return formula_lines(equation, self.page, self.work)
            case page.Worked(lines=lines, left_out=left_out):
                worked = worked_lines(lines, self.room())
                return _indented(chain(worked, self.said(left_out)), self.work)
            case page.Grid(left_out=left_out):
                matrix = matrix_lines(block, self.room(), self.style.color)
                return _indented(chain(matrix, self.said(left_out)), self.work)
            case page.Product(instead=instead):
                if together := product_lines(block, self.room(), self.style.color):
                    return _indented(together, self.work)
                return self.apart(instead)
            case page.Table(rows=rows, right=right, whole=whole):
                cells = [list(map(sentence, row)) for row in rows]
                heads = list(map(sentence, block.heads))
                # On a pipe, sentences wrap as prose does, and numbers stay in line.
                room = None if self.style.width is None and right else self.page - self.body
                return _indented(table_lines(heads, cells, right, room, whole), self.body)
            case page.Picture(draw=draw):
                return self.wrapped(Line(visible(draw().description)), self.body)
            case page.Listing(items=items, left_out=left_out):
                bullets = (self.wrapped(sentence(item), self.body, "• ") for item in items)
                said = _indented(self.said(left_out), self.body)
                return chain(chain.from_iterable(bullets), said)
            case page.Verbatim(lines=lines):
                shown = (self.folded(Line(visible(line)), self.body) for line in lines)
                return _indented(chain.from_iterable(shown), self.body)
            case page.Room():
                return ()

    def apart(
        self, blocks: Iterable[page.Block | Beside], *, below_title: bool = False
    ) -> Iterator[Line]:
        """Blocks one under the other, but for formulas that a title has said."""
        before: page.Block | Beside | None = None
        for block in blocks:
            if isinstance(block, page.Formula) and self.has_in_title(block):
                continue
            run_on = isinstance(block, page.Formula) and isinstance(before, page.Formula)
            is_first = before is None and not below_title
            if not run_on and not is_first:
                yield Line()
            yield from self.block(block)
            before = block

    def beside(self, block: Beside) -> Iterable[Line]:
        """Parts side by side, or, where a page is too narrow, one under the other."""
        if together := block.lines(self.page - self.work, self.style.color):
            return _indented(together, self.work)
        return self.apart(block.instead)

    def said(self, left_out: LeftOut) -> list[Line]:
        if not left_out:
            return []
        return self.folded(Line(left_out_text(left_out), "dim"), self.work)

    def room(self) -> int | None:
        return None if self.style.width is None else self.style.width - self.work

    def title(self, text: str) -> list[Line]:
        lines = self.folded(Line(visible(text), "bold"))
        return [*lines, Line("━" * max(line.cell_len for line in lines), "cyan")]

    def heading(self, block: page.Heading) -> list[Line]:
        self.in_title = None
        title = Line(visible(block.text), "bold")
        if block.number is not None:
            title = Line.assemble((f"{block.number} ", "bold cyan"), title)
        first, *others = self.folded(title, len("──  "))
        if others:
            begun = Line.assemble(("── ", "dim"), first)
            below = _indented(others, len("── "))
            return [begun, *below, *self.product(block)]
        line = Line.assemble(("── ", "dim"), title, " ")
        rule = self.prose - line.cell_len
        if block.formula is not None:
            said = Line.assemble((formula(block.formula, UNICODE), "bold"), " ")
            right = product_text(block.shapes) if block.shapes else ""
            left = rule - len(BEFORE_FORMULA) - said.cell_len - len(right) - 1
            if left >= SHORTEST_RULE:
                self.in_title = block.formula
                line = Line.assemble(line, BEFORE_FORMULA, said)
                rule = self.prose - line.cell_len
        whole = Line.assemble(line, ("─" * rule, "dim"))
        if not block.shapes:
            return [whole]
        shapes = Line.assemble(" ", Line(product_text(block.shapes), "cyan"))
        shorter = rule - shapes.cell_len
        if shorter < SHORTEST_RULE:
            return [whole, *self.product(block)]
        return [Line.assemble(line, ("─" * shorter, "dim"), shapes)]

    def product(self, block: page.Heading) -> list[Line]:
        """The shapes under a heading that has no room for them."""
        if not block.shapes:
            return []
        shapes = self.folded(Line(product_text(block.shapes), "cyan"), self.work)
        return list(_indented(shapes, self.work))

    def folded(self, title: Line, indent: int = 0) -> list[Line]:
        """A title in as many lines as it needs on a narrow terminal.

        It is one line where it fits, or there is no width.
        """
        width = self.style.width
        if width is None or title.cell_len + indent <= width:
            return [title]
        return title.wrapped(max(width - indent, NARROWEST_PROSE))

    def wrapped(self, text: Line, indent: int, bullet: str = "") -> list[Line]:
        """Prose broken into lines between words.

        A word too long for a line is folded, never cut off.
        """
        room = max(self.prose - indent - len(bullet), NARROWEST_PROSE)
        margin = " " * indent
        head = margin + bullet
        lines: list[Line] = []
        for line in text.wrapped(room):
            lines.append(Line.assemble(head, line))
            head = margin + " " * len(bullet)
        return lines


def _indented(lines: Iterable[Line], indent: int) -> Iterator[Line]:
    return (Line.assemble(" " * indent, line) if line else line for line in lines)
