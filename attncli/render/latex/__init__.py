"""LaTeX that compiles under pdflatex, xelatex and lualatex with nothing beyond the basic
packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from attncli.equation.notation import LATEX, LATEX_LINE, LATEX_TERMS, UNICODE
from attncli.equation.shapes import product_text
from attncli.escaping import label
from attncli.kept_text import as_latex_comment
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render import Style
from attncli.render.cells import product_width
from attncli.render.latex.escape import escape, lacks_letters, length
from attncli.render.latex.layout import (
    SectionRuns,
    is_to_fill_in,
    line_width,
    room_beside,
    runs,
    sections,
)
from attncli.render.latex.matrix import (
    INDENT,
    WIDEST_PAIR,
    Box,
    height_of_rows,
    matrix_rows,
    side_by_side,
    small_map,
)
from attncli.render.latex.sentences import sentence, tables
from attncli.render.latex.short_labels import labels_of, legend, relabelled, short_labels

# The file has these lines as they stand, whatever their length.
PREAMBLE = r"""\documentclass{article}
\usepackage[a4paper, hmargin=25mm, vmargin={18mm, 21mm}]{geometry}
\usepackage{color}PACKAGES
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt plus 2pt minus 1pt}
\setlength{\emergencystretch}{3em}
\clubpenalty=10000 \widowpenalty=10000WHOLE
\pagestyle{plain}
\makeatletter
% A section that does not fit begins on a new page, unless more than a fifth of this one would stay blank.
\renewcommand{\section}{\par
  \if@nobreak\else\vskip0pt plus.045\textheight\penalty-200\vskip0pt plus-.045\textheight\fi
  \@startsection{section}{1}{0pt}{-12pt plus-4pt minus-2pt}{2pt}{\normalfont\large\bfseries\raggedright}}
\makeatother
\begin{document}
"""  # noqa: E501
# Lengths of the preamble, and less of each.
_TIGHTER = (
    ("vmargin={18mm, 21mm}", "vmargin={12mm, 16mm}, footskip=8mm"),
    (r"\parskip}{6pt plus 2pt minus 1pt}", r"\parskip}{3pt plus 2pt minus 1pt}"),
    ("{-12pt plus-4pt minus-2pt}{2pt}", "{-8pt plus-4pt minus-2pt}{1pt}"),
)
# The paragraphs of a fragment are like those of a page, and the text around it keeps its own.
FRAGMENT_BEGINS = "\\par\\begingroup\\parindent=0pt\\parskip=6pt plus 2pt minus 2pt\\relax\n"
DOCUMENT_ENDS = "\n\n\\end{document}\n"
FRAGMENT_ENDS = "\n\\par\\endgroup\n"
# A copy begins on a right-hand page, so that both sides of the paper can be printed.
_FIRST_PAGE = "\\setcounter{page}{1}\n\n"
NEW_PAGE = f"\n\n\\clearpage{_FIRST_PAGE}"
NEW_PAPER = (
    "\n\n\\clearpage"
    "\\ifodd\\value{page}\\else\\thispagestyle{empty}\\hbox{}\\clearpage\\fi"
    f"{_FIRST_PAGE}"
)
PACKAGES = ("color", "amssymb", "tikz")
# In a worksheet, a paragraph would be parted where its step fits on no page's rest.
WHOLE_PARAGRAPHS = r" \interlinepenalty=10000"
# The sign of a right number, which needs amssymb.
CHECK = "✓"
# Between the parts of a title: what the page is of, who it is for, and what was done.
_BETWEEN_PARTS = re.compile(r"(: | – )")
# Labels wider than this, in digits, do not set the width of their column.
WIDEST_LABEL = 34
# A line has room for so many digits. TeX can break a product after its =.
WIDEST_PRODUCT = 86
# The levels of headings, the highest first.
HEADINGS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph")
# A line to write by hand is as high, in mm.
LINE_BY_HAND = 8
# So many lines are kept on one page, with the matrix above them.
MOST_LINES_TOGETHER = 20
# Two sections beside each other.
SPACE_BEFORE_A_ROW = r"\par\addvspace{12pt plus4pt minus2pt}"
SPACE_AFTER_A_ROW = r"\par\addvspace{8pt}"
SIDE_BEGINS = r"\begin{minipage}[t]{SHARE\linewidth}\raggedright"
SIDE_ENDS = r"\end{minipage}"
# Of a line, the two of them take this, in hundredths.
SHARE_OF_SIDES = 98
# So many signs of what matrices are called fit on a line.
WIDEST_NAMES = 80
# A label and a sum that together are as wide, in digits, fit on a line of a slide.
WIDEST_SHORT_LINE = 46


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """A complete document piece by piece, or its body alone where `style.fragment`; the same page
    gives the same text.

    The blocks are looked through first, for long labels and for what the preamble has to have.
    """
    needs = needs_of(document)
    yield _fragment_begins(needs) if style.fragment else preamble(needs)
    for copy in range(document.copies):
        yield NEW_PAPER if copy else ""
        yield from body(document, style)
    yield FRAGMENT_ENDS if style.fragment else DOCUMENT_ENDS
    # What follows the end of a document is no part of it.
    if not style.fragment and (problem := document.problem()):
        yield f"\n{as_latex_comment(problem)}"


def tightened(document: str) -> str:
    """A whole document with less room between its paragraphs, and smaller margins."""
    for wide, tight in _TIGHTER:
        document = document.replace(wide, tight, 1)
    return document


def body(document: page.Document, style: Style) -> Iterator[str]:
    """The title and the blocks, part by part."""
    short = _short_labels(document.blocks)
    said = legend(short)
    heads = _heads(document, style)
    title = [heads.title(settable(document.title))] if document.title and style.title else []
    explained = [rf"{{\raggedright {escape(said)}\par}}"] if said else []
    blocks = (each for block in document.blocks for each in _fitting(_shortened(block, short)))
    parts = (part for row in sections(runs(blocks)) for part in _row(row, heads))
    for place, part in enumerate(chain(title, explained, parts)):
        if place:
            yield "\n\n"
        yield part


def settable(title: str) -> str:
    """A title of several parts without those that TeX's basic fonts lack letters for, such as a
    name: half of a name could be that of somebody else. A title of a single part keeps its codes.

    >>> settable("Attention – 王 Ann: checked"), settable("王")
    ('Attention: checked', '王')
    """
    first, *others = _BETWEEN_PARTS.split(title)
    kept = "" if lacks_letters(first) else first
    for sign, part in zip(others[::2], others[1::2], strict=True):
        if not lacks_letters(part):
            kept += f"{sign}{part}" if kept else part
    return kept or title


class Needs(NamedTuple):
    """What a page needs of its preamble: packages that not every page has, and whether its
    paragraphs are to be whole.
    """

    packages: frozenset[str]
    has_room: bool

    def and_of(self, other: Needs) -> Needs:
        """What two pages need together."""
        return Needs(self.packages | other.packages, self.has_room or other.has_room)

    @property
    def commands(self) -> dict[str, str]:
        """The line for each package, by its name."""
        needed = (name for name in PACKAGES if name in self.packages)
        return {name: rf"\usepackage{{{name}}}" for name in needed}


def needs_of(document: page.Document) -> Needs:
    """What a page needs of its preamble; the blocks are looked through for it."""
    found: set[str] = set()
    has_room = False
    for block in document.blocks:
        found.update(_packages(block))
        has_room = has_room or isinstance(block, page.Room)
    if CHECK in settable(document.title) + legend(_short_labels(document.blocks)):
        found.add("amssymb")
    return Needs(frozenset(found), has_room)


def preamble(needs: Needs) -> str:
    """The beginning of a document with all that its pages need."""
    further = [f"\n{line}" for name, line in needs.commands.items() if name != "color"]
    text = PREAMBLE.replace("PACKAGES", "".join(further))
    text = text.replace("WHOLE", WHOLE_PARAGRAPHS if needs.has_room else "")
    return f"{text}\n"


def _fragment_begins(needs: Needs) -> str:
    """The beginning of a fragment, which says what the document that it goes to needs."""
    commands = "".join(needs.commands.values())
    said = f"% Needs {commands} in the preamble.\n" if commands else ""
    return said + FRAGMENT_BEGINS


def _packages(block: page.Block) -> Iterator[str]:
    """What a block needs, from the packages that not every page has."""
    if _is_coloured(block):
        yield "color"
    if _has_check(block):
        yield "amssymb"
    if isinstance(block, page.Picture):
        yield "tikz"


def _is_coloured(block: page.Block) -> bool:
    """Whether a number is set off by a colour."""
    if isinstance(block, page.Product) and block.meeting is not None:
        return True
    return any(_has_coloured_cell(grid) for grid in _grids(block))


def _has_coloured_cell(grid: page.Grid) -> bool:
    return any(_has_color(cell) for row in grid.cells for cell in row)


def _has_color(cell: page.Cell) -> bool:
    if not cell.text:
        return False
    return cell.hidden or cell.shade is not None or bool(cell.verdict)


def _has_check(block: page.Block) -> bool:
    """Whether there is a check mark: the verdict on a number, or a character of what somebody
    wrote.

    Lazy numbers have no verdicts, and what is written in lazy lines stands beside their matrices,
    too.
    """
    match block:
        case page.Grid(rows=rows, columns=columns, cells=cells):
            seen = () if isinstance(cells, page.Lazy) else cells
            judged = any(cell.text and cell.verdict == "right" for row in seen for cell in row)
            return judged or any(CHECK in name for name in (*rows, *columns))
        case page.Product(result=result):
            return _has_check(result)
        case page.Worked(lines=lines):
            there = () if isinstance(lines, page.Lazy) else lines
            return any(CHECK in line.label or _says_check(line.remark) for line in there)
        case page.Heading(text=title):
            return CHECK in title
        case page.Paragraph(text=text):
            return _says_check(text)
        case page.Table(rows=table):
            return any(_says_check(cell) for row in (block.heads, *table) for cell in row)
        case page.Listing(items=items):
            return any(map(_says_check, items))
        case page.Verbatim(lines=lines):
            return any(CHECK in line for line in lines)
        case page.Formula() | page.Room() | page.Picture():
            return False


def _says_check(text: page.Text) -> bool:
    return any(isinstance(piece, str) and CHECK in piece for piece in text)


class _Heads(NamedTuple):
    """How the headings of a page are written, each with its text at the place of TEXT; those of a
    fragment have no numbers of their own beside those of the document around it.
    """

    of_title: str = "\\begin{center}\n{\\LARGE\\bfseries TEXT\\par}\n\\end{center}"
    of_part: str = r"\section*{\Large TEXT}"
    of_section: str = r"\section*{TEXT}"
    numbered: bool = True

    def title(self, text: str) -> str:
        return self.of_title.replace("TEXT", escape(text))

    def part(self, text: str) -> str:
        return self.of_part.replace("TEXT", escape(text))

    def section(self, text: str, number: int | str | None) -> str:
        before = ""
        if number is not None and self.numbered:
            # TeX makes a dash of two signs.
            before = rf"{number}\quad ".replace("–", "--")
        title = before + escape(text)
        return self.of_section.replace("TEXT", title)


def _heads(document: page.Document, style: Style) -> _Heads:
    """The headings of a page of its own, or those of the levels that another document asks for."""
    if style.heading_level is None:
        return _Heads(numbered=not style.fragment)
    of_title, highest = style.levels(1)
    has_parts = any(isinstance(block, page.Heading) and block.part for block in document.blocks)
    below = highest + 1 if has_parts else highest
    return _Heads(
        _heading_of(of_title), _heading_of(highest), _heading_of(below), not style.fragment
    )


def _heading_of(level: int) -> str:
    name = HEADINGS[min(level, len(HEADINGS)) - 1]
    return rf"\{name}*{{TEXT}}"


def _fitting(block: page.Block) -> Iterator[page.Block]:
    """The block; for a product that is too wide for a line, the blocks to show instead."""
    if isinstance(block, page.Product) and product_width(block) > WIDEST_PRODUCT:
        yield from chain.from_iterable(map(_fitting, block.instead))
    else:
        yield block


def _row(row: Sequence[SectionRuns], heads: _Heads) -> Iterator[str]:
    """A section, or two beside each other."""
    if len(row) == 1:
        # They begin where those beside each other begin.
        indent = "" if is_to_fill_in(row[0]) else INDENT
        for run, following in zip_longest(row[0], row[0][1:]):
            parts = _run(run, heads, indent)
            if following and _belongs_to(run, following):
                parts = _kept_with_the_next(parts)
            yield from parts
        return
    written: list[str] = []
    for section, share in zip(row, _shares_of(row), strict=True):
        begins = SIDE_BEGINS.replace("SHARE", f".{share}")
        body = "\n\n".join(part for run in section for part in _run(run, heads, indent=""))
        written.append(f"{begins}\n{body}\n{SIDE_ENDS}")
    inside = "\\hfill\n".join(written)
    yield f"{SPACE_BEFORE_A_ROW}\\noindent\n{inside}{SPACE_AFTER_A_ROW}"


def _belongs_to(run: Sequence[page.Block], following: Sequence[page.Block]) -> bool:
    """Whether what stands below a formula, or below words about a matrix, is on the same page."""
    match run[-1], following[0]:
        case page.Formula(), _:
            return True
        case page.Paragraph(kind="text"), page.Grid() | page.Product():
            return True
        case _:
            return False


def _kept_with_the_next(parts: Iterable[str]) -> Iterator[str]:
    """The parts, after whose last one TeX breaks no page."""
    *before, last = parts
    yield from before
    yield f"{last}\\par\\nopagebreak"


def _shares_of(row: Sequence[SectionRuns]) -> Iterator[int]:
    """What each of two sections takes of a line, in hundredths: half of it, if it fits there."""
    rooms = [room_beside(section) for section in row]
    half = WIDEST_PAIR / 2
    if max(rooms) <= half:
        rooms = [half, half]
    for room in rooms:
        yield int(SHARE_OF_SIDES * room / sum(rooms))


def _run(run: Sequence[page.Block], heads: _Heads, indent: str = INDENT) -> Iterator[str]:
    """Blocks that stand side by side; paragraphs about the matrices stand above them."""
    if isinstance(run[0], page.Formula):
        formulas = _formulas([block for block in run if isinstance(block, page.Formula)])
        yield side_by_side(map(Box, formulas), indent=indent)
        return
    if len(run) == 1:
        yield from _block(run[0], heads, indent)
        return
    said: list[str] = []
    words = 0
    matrices: list[page.Grid | page.Product] = []
    beside: list[Box] = []
    for block in run:
        match block:
            case page.Paragraph(text=text):
                said.append(sentence(text))
                words += len(page.plain(text))
            case page.Grid() | page.Product():
                matrices.append(block)
            case page.Worked(lines=lines):
                beside.append(_beside(lines))
            case (
                page.Heading()
                | page.Formula()
                | page.Table()
                | page.Listing()
                | page.Verbatim()
                | page.Room()
                | page.Picture()
            ):
                pass
    if said and words <= WIDEST_NAMES:
        # They are the names of matrices.
        yield r"\quad ".join(said)
    elif said:
        yield _tight(said)
    yield from matrix_rows(matrices, beside, indent)


def _tight(paragraphs: Sequence[str]) -> str:
    """Paragraphs close together, and on one page."""
    if len(paragraphs) == 1:
        return paragraphs[0]
    body = "\\par\\nopagebreak\n".join(paragraphs)
    return f"{{\\parskip=2pt\n{body}\\par}}"


def _formulas(formulas: Sequence[page.Formula]) -> Iterator[str]:
    """Formulas, and the shapes of a product after them."""
    for each in formulas:
        yield rf"$\displaystyle {formula(each.equation, LATEX)}$"
    for each in formulas:
        if each.shapes:
            shapes = product_text(each.shapes, r" \times ", r" \cdot ")
            yield f"${shapes}$"


def _beside(lines: Sequence[page.WorkedLine]) -> Box:
    """Worked lines as a box whose lines are as high as the rows of the matrix beside it."""
    rows = []
    for line in lines:
        name, _, said = _worked_parts(line)
        rows.append(rf"{name} & {said} \\")
    body = "\n".join(rows)
    written = f"\\begin{{tabular}}{{@{{}}l@{{\\quad}}l@{{}}}}\n{body}\n\\end{{tabular}}"
    return Box(written, height_of_rows(body))


def _block(block: page.Block, heads: _Heads, indent: str) -> Iterator[str]:
    match block:
        case page.Heading(text=text, part=True):
            yield heads.part(text)
        case page.Heading(text=text, number=number):
            yield heads.section(text, number)
        case page.Paragraph(text=text, kind="text"):
            yield sentence(text)
        case page.Paragraph(text=text, kind=kind):
            yield (
                f"{{\\raggedright\\leftskip=1.5em\\rightskip=1.5em plus 2em\n"
                f"\\textbf{{{kind.capitalize()}.}} {sentence(text)}\\par}}"
            )
        case page.Worked(lines=lines):
            yield _worked(lines)
        case page.Grid(picture="map"):
            yield small_map(block)
        case page.Grid() | page.Product():
            yield from matrix_rows([block], indent=indent)
        case page.Picture(draw=draw):
            # Few pages need it, and it takes a while to import.
            from attncli.render.latex.tikz import boxed

            yield boxed(draw())
        case page.Table(rows=rows, right=right):
            yield from tables(block.heads, rows, right)
        case page.Room(lines=lines):
            yield rf"\nopagebreak\vskip{lines * LINE_BY_HAND}mm"
        case page.Listing(items=items):
            bullets = "\n".join(rf"\item[$\bullet$] {sentence(item)}" for item in items)
            yield f"\\begin{{itemize}}\\raggedright\\itemsep=0pt\n{bullets}\n\\end{{itemize}}"
        case page.Verbatim(lines=lines):
            yield f"{{\\ttfamily\\raggedright\\parindent=0pt\n{_as_they_stand(lines)}\\par}}"
        # Formulas are written together with those beside them.
        case page.Formula():
            pass


def _as_they_stand(lines: Iterable[str]) -> str:
    """Lines with all of their blanks."""
    shown = []
    for line in lines:
        words = line.split(" ")
        # TeX leaves out a blank at the beginning of a line unless a box stands before it.
        shown.append(r"\null{}" + r"\ ".join(map(escape, words)))
    return "\\\\\n".join(shown)


def _worked(lines: Iterable[page.WorkedLine]) -> str:
    """Paragraphs of inline math, which TeX breaks before terms, hanging from a column of labels.

    They stay on the page of the matrix above them; of many, the first two and the last two stay
    together.
    """
    lines = list(lines)
    parts = [_worked_parts(line) for line in lines]
    height = sum(1 + int(line_width(line) / WIDEST_PRODUCT) for line in lines)
    widths = [wide for _, wide, _ in parts if wide <= WIDEST_LABEL]
    width = max(widths, default=0) * 0.5 + 1.5
    hang = rf"\hangindent={width + 1.5:.1f}em \hangafter=1"
    written: list[str] = []
    for place, (name, wide, said) in enumerate(parts):
        is_at_an_end = place < 2 or place == len(parts) - 1
        stays = ""
        if height <= MOST_LINES_TOGETHER or is_at_an_end:
            stays = r"\nopagebreak"
        head = rf"{name}\quad"
        if wide <= WIDEST_LABEL:
            head = rf"\makebox[{width:.1f}em][l]{{{name}}}"
        written.append(rf"{stays}{hang} \leavevmode{{}}{head}{said}\par")
    start = r"\raggedright\leftskip=1.5em\parskip=2pt\binoppenalty=10000\relpenalty=10000"
    body = "\n".join(written)
    return f"{{{start}\n{body}\n}}"


def _worked_parts(line: page.WorkedLine) -> tuple[str, float, str]:
    """The label of a line, how wide that is, and what is said of it."""
    name = label(line.label)
    wide = length(name)
    parts: list[str] = []
    room = WIDEST_SHORT_LINE - wide
    sums = _sums(line, room)
    if sums:
        parts.append(f"${sums}$")
    if line.remark:
        parts.append(sentence(line.remark))
    return escape(name), wide, r"\quad ".join(parts)


def _sums(line: page.WorkedLine, room: float) -> str:
    """What is worked and what comes out.

    There are places where it may be broken only if it has to be.
    """
    notation = LATEX_TERMS
    gap = r" \allowbreak "
    plain = " ".join(sides(line, UNICODE))
    if len(plain) <= room:
        notation = LATEX_LINE
        gap = " "
    written = sides(line, notation)
    return gap.join(filter(None, written))


def _short_labels(blocks: Sequence[page.Block]) -> dict[str, str]:
    """What stands for each label that is too long for the matrices, in pictures too."""
    names: list[str] = []
    drawn: list[str] = []
    for block in blocks:
        for grid in _grids(block):
            names += grid.rows
            names += grid.columns
        if isinstance(block, page.Picture):
            drawn += labels_of(block.draw())
    there = {label(name) for name in names}
    others = [name for name in drawn if name not in there]
    return short_labels([*names, *others])


def _grids(block: page.Block) -> Iterator[page.Grid]:
    """The matrices of a block that may show their labels."""
    match block:
        case page.Grid():
            yield block
        case page.Product():
            yield from block.matrices
        case (
            page.Heading()
            | page.Paragraph()
            | page.Formula()
            | page.Worked()
            | page.Table()
            | page.Listing()
            | page.Verbatim()
            | page.Room()
            | page.Picture()
        ):
            pass


def _shortened(block: page.Block, short: Mapping[str, str]) -> page.Block:
    """The block with short labels in the place of long ones."""
    if not short:
        return block
    match block:
        case page.Grid():
            return _short_grid(block, short)
        # Only the result has its labels.
        case page.Product(result=result, instead=instead):
            others = tuple(_shortened(each, short) for each in instead)
            return block._replace(result=_short_grid(result, short), instead=others)
        case page.Worked(lines=lines):
            # In "long → short" only the long label is replaced; no shorter label can hold it.
            found = re.compile("|".join(map(re.escape, sorted(short, key=len, reverse=True))))

            def changed() -> Iterator[page.WorkedLine]:
                return (
                    line._replace(label=found.sub(lambda name: short[name[0]], line.label))
                    for line in lines
                )

            return block._replace(lines=page.sequence(changed, lazy=isinstance(lines, page.Lazy)))
        case page.Picture(draw=draw):
            shown = {label(name): brief for name, brief in short.items()}
            return block._replace(draw=lambda: relabelled(draw(), shown))
        case (
            page.Heading()
            | page.Paragraph()
            | page.Formula()
            | page.Table()
            | page.Listing()
            | page.Verbatim()
            | page.Room()
            | page.Picture()
        ):
            return block


def _short_grid(grid: page.Grid, short: Mapping[str, str]) -> page.Grid:
    rows = tuple(short.get(name, name) for name in grid.rows)
    columns = tuple(short.get(name, name) for name in grid.columns)
    return grid._replace(rows=rows, columns=columns)
