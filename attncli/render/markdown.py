"""Markdown as GitHub reads it, or with dollars around the formulas for pandoc and Jupyter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from attncli.equation.nodes import Expression
from attncli.equation.notation import LATEX, LATEX_LINE, UNICODE
from attncli.equation.printer import write, write_number
from attncli.equation.shapes import product_text
from attncli.escaping import label, visible
from attncli.kept_text import as_comment
from attncli.page import document as page
from attncli.page.colors import LEGEND
from attncli.page.document import formula, sides
from attncli.render import LOWEST_HEADING, Style
from attncli.render.cells import (
    BLANK_NUMBER,
    HIDDEN_SIGN,
    SHADE_SIGNS,
    chunks,
    has_sign_of_hidden,
    mark,
    product_width,
    shades_are,
    text_width,
)

if TYPE_CHECKING:
    from attncli.page.drawing import Drawing

# Entities where a backslash is not enough: | divides cells, the others are read by GitHub's own
# filters.
_ENTITIES = {"|": "&#124;", "<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "&#36;", "\\": "&#92;"}
_ESCAPES = str.maketrans(_ENTITIES | {sign: f"\\{sign}" for sign in "*_`[]#~!^{}"})
# Signs that fonts of LaTeX lack, in words of math; between dollars only, since GitHub shows them as
# they are.
_COMMANDS = {
    "·": r"\cdot",
    "⋅": r"\cdot",
    "×": r"\times",
    "÷": r"\div",
    "−": "-",
    "±": r"\pm",
    "√": r"\surd",
    "Σ": r"\sum",
    "∑": r"\sum",
    "∞": r"\infty",
    "ᵀ": r"{}^{\top}",
    "→": r"\to",
    "←": r"\gets",
    "↓": r"\downarrow",
    "≈": r"\approx",
    "≠": r"\neq",
    "≤": r"\leq",
    "≥": r"\geq",
    "∘": r"\circ",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "•": r"\bullet",
    "✓": r"\checkmark",
    "✗": r"\times",
    "»": r"\gg",
    "␣": r"\sqcup",
    **{
        sign: rf"\rule{{0.5em}}{{{height}em}}"
        for sign, height in zip(SHADE_SIGNS, (0.2, 0.4, 0.6, 0.8), strict=True)
    },
    **{sign: f"{{}}^{{{digit}}}" for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)},
}
# GitHub makes links of bare addresses, @names, #numbers and commits, and pictures of :emoji:,
# whatever is escaped in them. An empty comment inside shows nothing, and ends that.
# What a person wrote has no NUL when it is visible.
_COMMENT, _HERE = "<!-- -->", "\0"
_LINKED = re.compile(
    r"(?<![A-Za-z0-9])(?i:www)(?=\.)"
    r"|:(?=//)"
    r"|@(?=[A-Za-z0-9_])"
    r"|\#(?=[0-9])"
    r"|\b(?i:gh-)(?=[0-9])"
    r"|:(?=[A-Za-z0-9+_-]+:)"
    r"|(?P<commit>\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b)"
)
# No commit is known by so few digits.
_SHORT_OF_COMMIT = 6
_FENCE = re.compile("`+")
# Before a digit, pandoc reads no dollar as a closing one.
_RUN = re.compile(f"([{''.join(_COMMANDS)}]+)([0-9]*)")
_SIGNS = {"": "", "·": r"\cdot ", "+": "+ "}
# Matrices side by side are no wider, in digits.
WIDEST_FORMULA = 76
# Formulas that stand on a line together have no more signs; there are blanks and shapes, too.
WIDEST_FORMULAS = 40
# What a rule of a table needs.
NARROWEST_COLUMN = 3
# These would begin a list, a rule or a heading.
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)](?:\s|$)))")
# What would begin something on a line for pandoc alone: (a) and iv. a list, ::: a part of the page,
# Table: a caption.
_PANDOC_LINE_START = re.compile(
    r"^(\s*)("
    r"\((?:\w+|@[\w-]*)\)(?=\s|$)"
    r"|[A-Za-z][.)](?=\s|$)|[ivxlcdm]+[.)](?=\s|$)|[IVXLCDM]+[.)](?=\s|$)"
    r"|:|[Tt]able:"
    r")"
)
# Pandoc makes “, ’, – and … of these.
_PANDOC_TYPOGRAPHY = re.compile(r"[\"']|-(?=-)|(?<=-)-|\.(?=\.\.)")


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The page as Markdown: every table keeps all its cells, and every formula is one KaTeX
    knows.
    """
    writer = _BlockWriter(style)
    title = document.title if style.title else ""
    if title:
        yield f"{'#' * writer.title_level} {writer.escape(title)}\n"
    for place, run in enumerate(_runs(page.without_room(document.blocks))):
        if place or title:
            yield "\n"
        for line in writer.run(run):
            yield f"{line}\n"
    if not style.fragment and (problem := document.problem()):
        yield f"\n{as_comment(problem)}"


def _runs(blocks: Iterable[page.Block]) -> Iterator[list[page.Block]]:
    """The blocks one by one, but formulas together that fit on a line."""
    run: list[page.Block] = []
    for block in blocks:
        if run and not _fits_on_a_line([*run, block]):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _fits_on_a_line(run: Sequence[page.Block]) -> bool:
    formulas = [block for block in run if isinstance(block, page.Formula)]
    wide = sum(len(formula(each.equation, UNICODE)) for each in formulas)
    # Shapes stand after the last one.
    has_end = any(each.shapes for each in formulas[:-1])
    return len(formulas) == len(run) and not has_end and wide <= WIDEST_FORMULAS


def plain_text(text: str) -> str:
    """What a person wrote, so that Markdown shows it letter for letter within a line."""
    return visible(text).translate(_ESCAPES)


def picture_files(document: page.Document, style: Style) -> Iterator[tuple[str, str]]:
    """The names of the files that stand beside a page with pictures, and what is in them."""
    from attncli.render.svg import svg

    for block in document.blocks:
        if isinstance(block, page.Picture) and not _is_chart(block.draw(), style):
            yield _file_name(block, style), svg(block.draw())


def _file_name(block: page.Picture, style: Style) -> str:
    return f"{style.pictures}-{block.name}.svg"


def _is_chart(drawing: Drawing, style: Style) -> bool:
    """Whether it is written in the language of Mermaid, which GitHub draws, and pandoc and Jupyter
    do not.
    """
    return bool(drawing.mermaid) and style.math == "fences"


def linked(drawing: Drawing, target: str = "") -> str:
    """A link to a picture, or to its own data: a picture in the page."""
    if not target:
        # Few pages have pictures, and the writer of SVG takes a while to import.
        from base64 import b64encode

        from attncli.render.svg import svg

        target = f"data:image/svg+xml;base64,{b64encode(svg(drawing).encode()).decode()}"
    return f"![{plain_text(drawing.description)}]({target})"


def chart(drawing: Drawing) -> str:
    """A chart in a fence."""
    return f"```mermaid\n{drawing.mermaid}```"


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Lines in a fence that none of them ends."""
    shown = [*map(visible, lines)]
    longest = max(map(len, _FENCE.findall("\n".join(shown))), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield from shown
    yield fence


def _as_text(start: re.Pattern[str], text: str) -> str:
    """A line with the first letter of such a start as an entity."""
    return start.sub(lambda found: f"{found[1]}&#{ord(found[2][0])};{found[2][1:]}", text)


class _BlockWriter:
    """Turns one block after another into Markdown, with formulas marked as the reader wants
    them.
    """

    def __init__(self, style: Style) -> None:
        self.style = style
        self.dollars = style.math == "dollars"
        self.title_level, self.part_level = style.levels(1)
        # From the first part on, sections are one level lower.
        self.section_level = self.part_level

    def run(self, run: Sequence[page.Block]) -> Iterator[str]:
        """The lines of a block, or of formulas on a line."""
        formulas = [block for block in run if isinstance(block, page.Formula)]
        if len(formulas) > 1:
            yield self.display(r" \qquad ".join(map(self.formula, formulas)))
            return
        for block in run:
            yield from self.block(block)

    def formula(self, block: page.Formula) -> str:
        """A formula, and the shapes of its product after it."""
        shown = formula(block.equation, LATEX)
        if block.shapes:
            tail = product_text(block.shapes, r" \times ", r" \cdot ")
            shown += rf" \qquad {tail}"
        return shown

    def block(self, block: page.Block) -> Iterator[str]:
        """The lines of a block, one or some at a time."""
        match block:
            case page.Heading(text=text, part=True):
                self.section_level = min(self.part_level + 1, LOWEST_HEADING)
                yield f"{'#' * self.part_level} {self.escape(text)}"
            case page.Heading(text=text, number=number):
                head = f"{number}. " if number is not None else ""
                yield f"{'#' * self.section_level} {head}{self.escape(text)}"
            case page.Paragraph(text=text, kind="text"):
                yield self.sentence(text)
            case page.Paragraph(text=text, kind=kind):
                first = f"**{kind.capitalize()}:** " if self.dollars else f"[!{kind.upper()}]\n> "
                yield f"> {first}{self.sentence(text)}"
            case page.Formula():
                yield self.display(self.formula(block))
            case page.Worked(lines=lines):
                yield from map(self.worked, lines)
            case page.Grid(picture="map"):
                yield from self.map(block)
            case page.Grid():
                yield from self.grid(block)
            case page.Product():
                yield from self.product(block)
            case page.Table(rows=rows, right=right):
                heads = self.sentences(block.heads)
                cells = [self.sentences(row) for row in rows]
                yield from _pipes(heads, cells, right)
            case page.Listing(items=items):
                for item in items:
                    yield f"- {self.sentence(item)}"
            case page.Verbatim(lines=lines):
                yield from _fenced(lines)
            case page.Picture():
                yield self.picture(block)
            # Only paper has room to write by hand.
            case page.Room():
                pass

    def escape(self, text: str) -> str:
        """What a person wrote, so that Markdown shows it letter for letter, in a sentence or in a
        table's cell.
        """
        return self.at_line_start(self.plain(text))

    def plain(self, text: str, *, keeps_typography: bool = False) -> str:
        """The same within a line; between dollars, its signs are formulas."""
        escaped = _LINKED.sub(_parted, visible(text)).translate(_ESCAPES)
        if self.dollars and keeps_typography:
            escaped = _PANDOC_TYPOGRAPHY.sub(r"\\\g<0>", escaped)
        if self.dollars and not escaped.isascii():
            escaped = _RUN.sub(_in_dollars, escaped)
        return escaped.replace(_HERE, _COMMENT)

    def at_line_start(self, text: str) -> str:
        """Text that begins no list, rule or heading, and nothing else that is no text."""
        safe = _as_text(_LINE_START, text)
        return _as_text(_PANDOC_LINE_START, safe) if self.dollars else safe

    def inline(self, math: str) -> str:
        math = math.replace("|", r"\vert ")
        return f"${math}$" if self.dollars else f"$`{math}`$"

    def display(self, math: str) -> str:
        return f"$$\n{math}\n$$" if self.dollars else f"```math\n{math}\n```"

    def sentence(self, text: page.Text) -> str:
        pieces = (
            (
                self.inline(write(piece.expression, LATEX_LINE))
                if isinstance(piece, page.Math)
                else self.plain(piece)
            )
            for piece in text
        )
        # Two formulas without a blank would be one.
        return self.at_line_start("".join(pieces).strip().replace("$$", " "))

    def sentences(self, texts: Iterable[page.Text]) -> list[str]:
        return [self.sentence(text) for text in texts]

    def worked(self, line: page.WorkedLine) -> str:
        sums = " ".join(side for side in sides(line, LATEX_LINE) if side)
        parts = []
        if sums:
            parts.append(self.inline(sums))
        if line.remark:
            parts.append(self.sentence(line.remark))
        return f"- **{self.name(line.label)}**: {' — '.join(parts)}"

    def grid(self, grid: page.Grid) -> Iterator[str]:
        grid = grid.loaded()
        head = [self.inline(write(grid.name, LATEX)), *map(self.name, grid.columns or [""])]
        names = []
        for row_name in grid.rows:
            name = self.name(row_name)
            names.append(f"**{name}**" if row_name.strip() else name)
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
                    for numbers in self.numbers(rows):
                        yield [next(remaining), *numbers]

        is_lazy = isinstance(grid.cells, page.Lazy)
        yield from _pipes(head, page.sequence(lines, lazy=is_lazy), range(1, len(head)))
        said: list[str] = []
        if grid.shading:
            numbers = shades_are(grid.shading, self.printed)
            said.append(f"{self.plain(SHADE_SIGNS)} {numbers}")
        if legend:
            said.append(f"{self.plain(HIDDEN_SIGN)} {LEGEND}")
        if said:
            yield f"\n{'; '.join(said)}"

    def map(self, grid: page.Grid) -> Iterator[str]:
        """A small matrix as shades alone: its numbers stand further below.

        Without a name it is not taken for an answer.
        """
        head = ["", *map(self.name, grid.columns)]
        rows: list[list[str]] = []
        for name, cells in zip(grid.rows, grid.cells, strict=True):
            bold = f"**{self.name(name)}**"
            rows.append([bold, *map(self.shade, cells)])
        yield from _pipes(head, rows, ())
        if grid.shading:
            said = f"{self.plain(SHADE_SIGNS)} {shades_are(grid.shading, self.printed)}"
            if has_sign_of_hidden(grid.cells):
                said += f"; {self.plain(HIDDEN_SIGN)} {LEGEND}"
            yield f"\n{said}"

    def shade(self, cell: page.Cell) -> str:
        """A cell of a map, twice its sign."""
        sign = mark(cell) or HIDDEN_SIGN
        return self.plain(sign) * 2

    def numbers(self, rows: Iterable[Sequence[page.Cell]]) -> Iterator[list[str]]:
        """The numbers of each row; a cell that stands in many places is written once."""
        written: dict[int, str] = {}
        for row in rows:
            numbers = []
            for cell in row:
                key = id(cell)
                if key not in written:
                    written[key] = self.number(cell)
                numbers.append(written[key])
            yield numbers

    def product(self, product: page.Product) -> Iterator[str]:
        """What is multiplied as a formula, and what comes out: with its labels in a table."""
        if product_width(product) > WIDEST_FORMULA:
            for place, block in enumerate(product.instead):
                if place:
                    yield ""
                yield from self.block(block)
            return
        marked = product.marked()
        factors: list[str] = []
        for sign, factor in marked.operands:
            shown = _array(factor) if isinstance(factor, page.Grid) else _letter(factor)
            factors.append(f"{_SIGNS[sign]}{shown}\n")
        if product.meeting is not None or not product.shows_step:
            yield self.display(f"{''.join(factors)}= {_array(marked.result)}")
            if product.shows_step:
                yield ""
                yield from self.block(product.result)
            return
        # The result stands below, with its labels.
        name = write(product.result.name, LATEX)
        yield self.display(f"{name} = {''.join(factors)}".rstrip())
        yield ""
        yield from self.block(product.result)

    def cell(self, cell: page.Cell, closed: Expression) -> str:
        """A number, after its closed form where that says more."""
        number = self.number(cell)
        if write(closed, UNICODE) == write_number(cell.text, UNICODE):
            return number
        relation = self.plain("≈") if cell.rounded else "="
        form = self.inline(write(closed, LATEX_LINE))
        return f"{form} {relation} {number}"

    def number(self, cell: page.Cell) -> str:
        """A printed number with its sign."""
        if not cell.text:
            return BLANK_NUMBER
        number = self.printed(cell.text)
        if cell.verdict == "wrong":
            number = f"**{number}**"
        sign = self.plain(mark(cell))
        if sign:
            number += f" {sign}"
        return number

    def printed(self, text: str) -> str:
        """A printed number; between dollars where it has signs that fonts of LaTeX lack."""
        number = write_number(text, UNICODE)
        if self.dollars and not number.isascii():
            return self.inline(write_number(text, LATEX_LINE))
        return number

    def picture(self, block: page.Picture) -> str:
        drawing = block.draw()
        if _is_chart(drawing, self.style):
            return chart(drawing)
        if not self.style.pictures:
            return linked(drawing)
        from urllib.parse import quote

        return linked(drawing, quote(_file_name(block, self.style)))

    def name(self, text: str) -> str:
        """A label, which keeps its quotation marks and dashes where pandoc makes other ones of
        those of a sentence.
        """
        return self.at_line_start(self.plain(label(text), keeps_typography=True))


def _letter(factor: page.Math) -> str:
    """A matrix that stands before on the page."""
    return f"{write(factor.expression, LATEX)} "


def _array(grid: page.Grid) -> str:
    """A matrix in a formula, under its name."""
    rows = [" & ".join(map(_in_formula, row)) for row in grid.cells]
    # Rows of fractions would touch each other.
    apart = "[3pt]" if any("\\frac" in row for row in rows) else ""
    body = f" \\\\{apart}\n".join(rows)
    aligned = "r" * len(grid.cells[0])
    start = rf"\left[\begin{{array}}{{{aligned}}}"
    end = r"\end{array}\right]"
    name = write(grid.name, LATEX)
    return f"\\overset{{{name}}}{{{start}\n{body}\n{end}}}"


def _in_formula(cell: page.Cell) -> str:
    number = write_number(cell.text, LATEX)
    return rf"\boxed{{{number}}}" if cell.marked else number


def _parted(found: re.Match[str]) -> str:
    """What GitHub looks for, with a place in it where a comment ends that."""
    said = found[0]
    if not found["commit"]:
        return said + _HERE
    return _HERE.join(
        said[at : at + _SHORT_OF_COMMIT] for at in range(0, len(said), _SHORT_OF_COMMIT)
    )


def _in_dollars(signs: re.Match[str]) -> str:
    commands = " ".join(_COMMANDS[sign] for sign in signs[1])
    # Signs such as ⁻⁶ are one power.
    math = commands.replace("} {}^{", "")
    digits = signs[2]
    if digits:
        math += f" {digits}"
    return f"${math}$"


def _pipes(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]
) -> Iterator[str]:
    """The lines of a table, its columns aligned in the source too."""
    widths = [max(NARROWEST_COLUMN, text_width(name)) for name in head]
    for some in chunks(rows):
        widths = [
            max(wide, *map(text_width, {*column}))
            for wide, column in zip(widths, zip(*some, strict=True), strict=True)
        ]
    pads = []
    rule = []
    for place, wide in enumerate(widths):
        dashes = "-" * (wide - 1)
        if place in right:
            pads.append(str.rjust)
            rule.append(f"{dashes}:")
        else:
            pads.append(str.ljust)
            rule.append(f":{dashes}")
    for cells in chain((head, rule), rows):
        padded = []
        for pad, cell, wide in zip(pads, cells, widths, strict=True):
            letters = wide
            if not cell.isascii():
                letters += len(cell) - text_width(cell)
            padded.append(pad(cell, letters))
        yield f"| {' | '.join(padded)} |"
