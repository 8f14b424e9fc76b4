"""LaTeX that compiles under pdflatex, xelatex and lualatex with nothing beyond the basic packages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from attncli.equation.notation import LATEX, LATEX_LINE, LATEX_TERMS, UNICODE
from attncli.equation.shapes import product_text
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render import Style
from attncli.render.escaping import label
from attncli.render.latex.escape import escape, lacks_letters, length
from attncli.render.latex.matrix import display, matrix_displays
from attncli.render.latex.sentences import sentence, tables

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[a4paper, margin=25mm]{geometry}
\usepackage{color}PACKAGES
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt plus 2pt minus 1pt}
\setlength{\emergencystretch}{3em}
\clubpenalty=10000 \widowpenalty=10000 \displaywidowpenalty=10000
\pagestyle{plain}
\begin{document}
\setlength{\abovedisplayshortskip}{6pt plus 2pt}
"""
CHECK = "✓"  # which needs amssymb
LABEL = 34  # digits; labels wider than this do not set the width of their column
SHORT = 60  # digits; labels and sums as wide as this together fit on a line


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """A complete document piece by piece, or its body alone where `style.fragment`; the same page gives the same text.

    The blocks are looked through first, for long labels and for what the preamble has to have.
    """
    short = _short_labels(document.blocks)
    said = _legend(short)
    yield _start(document, said, style)
    title = [_title(document.title)] if document.title else []
    legend = [rf"{{\raggedright {escape(said)}\par}}"] if said else []
    body = (part for block in document.blocks for part in _block(_shortened(block, short)))
    for place, part in enumerate(chain(title, legend, body)):
        if place:
            yield _before(part)
        yield part
    yield "\n" if style.fragment else "\n\n\\end{document}\n"


def _before(part: str) -> str:
    """What stands before a paragraph; a display belongs to the paragraph before it, and so to its page."""
    return "\n" if part.startswith("\\[") else "\n\n"


def _start(document: page.Document, said: str, style: Style) -> str:
    """The preamble, with amssymb where the page has its sign; of a fragment what the document it goes to needs."""
    checks = CHECK in document.title + said or any(map(_has_check, document.blocks))
    if not style.fragment:
        return PREAMBLE.replace("PACKAGES", "\n\\usepackage{amssymb}" if checks else "") + "\n"
    needed = r"\usepackage{color}" * any(map(_is_coloured, document.blocks)) + r"\usepackage{amssymb}" * checks
    return f"% Needs {needed} in the preamble.\n" if needed else ""


def _is_coloured(block: page.Block) -> bool:
    """Whether a number is set off by a colour."""
    return isinstance(block, page.Grid) and any(
        cell.text and (cell.hidden or cell.shade is not None or cell.verdict) for row in block.cells for cell in row
    )


def _has_check(block: page.Block) -> bool:
    """Whether there is a check mark: the verdict on a number, or a character of what somebody wrote.

    Lazy numbers have no verdicts, and what is written in lazy lines stands beside their matrices, too.
    """
    match block:
        case page.Grid(rows=rows, columns=columns, cells=cells):
            seen = () if isinstance(cells, page.Lazy) else cells
            judged = any(cell.text and cell.verdict == "right" for row in seen for cell in row)
            return judged or any(CHECK in name for name in (*rows, *columns))
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
    return False


def _says_check(text: page.Text) -> bool:
    return any(isinstance(piece, str) and CHECK in piece for piece in text)


def _title(text: str) -> str:
    return f"\\begin{{center}}\n{{\\LARGE\\bfseries {escape(text)}\\par}}\n\\end{{center}}"


def _block(block: page.Block) -> Iterator[str]:
    match block:
        case page.Heading(text=text, part=True):
            yield f"\\section*{{\\centering\\LARGE {escape(text)}}}"
        case page.Heading(text=text, number=number):
            head = rf"{number}\quad " if number is not None else ""
            yield f"\\section*{{{head}{escape(text)}}}"
        case page.Paragraph(text=text, kind="text"):
            yield sentence(text)
        case page.Paragraph(text=text, kind=kind):
            yield f"\\begin{{quote}}\\raggedright\n\\textbf{{{kind.capitalize()}.}} {sentence(text)}\n\\end{{quote}}"
        case page.Formula(equation=equation, shapes=shapes):
            tail = r" \qquad " + product_text(shapes, r" \times ", r" \cdot ") if shapes else ""
            yield display(formula(equation, LATEX) + tail, keep=True)
        case page.Worked(lines=lines):
            yield _worked(lines)
        case page.Grid():
            yield from matrix_displays(block)
        case page.Table(rows=rows, right=right):
            yield from tables(block.heads, rows, right)
        case page.Listing(items=items):
            bullets = "\n".join(rf"\item[$\bullet$] {sentence(item)}" for item in items)
            yield f"\\begin{{itemize}}\\raggedright\n{bullets}\n\\end{{itemize}}"


def _worked(lines: Iterable[page.WorkedLine]) -> str:
    """Paragraphs of inline math, which TeX breaks before terms, hanging from a column of labels."""
    parts = [_worked_parts(line) for line in lines]
    width = max((wide for _, wide, _ in parts if wide <= LABEL), default=0) * 0.5 + 1.5
    written = []
    for name, wide, said in parts:
        head = rf"\makebox[{width:.1f}em][l]{{{name}}}" if wide <= LABEL else rf"{name}\quad"
        hang = rf"\hangindent={width + 1.5:.1f}em \hangafter=1"
        written.append(rf"{hang} \leavevmode{{}}{head}{said}\par")
    return "{\\raggedright\\parskip=2pt\\binoppenalty=10000\\relpenalty=10000\n" + "\n".join(written) + "\n}"


def _worked_parts(line: page.WorkedLine) -> tuple[str, float, str]:
    """The label of a line, how wide that is, and what is said of it."""
    wide = length(label(line.label))
    sums = _sums(line, SHORT - wide)
    parts = [f"${sums}$"] if sums else []
    parts += [sentence(line.remark)] if line.remark else []
    return escape(label(line.label)), wide, r"\quad ".join(parts)


def _sums(line: page.WorkedLine, room: float) -> str:
    """What is worked and what comes out, with the places where it may be broken only if it has to be."""
    short = len(" ".join(sides(line, UNICODE))) <= room
    notation, gap = (LATEX_LINE, " ") if short else (LATEX_TERMS, r" \allowbreak ")
    return gap.join(side for side in sides(line, notation) if side)


LONGEST = 30  # digits wide
NBSP = "\u00a0"


def _short_labels(blocks: Iterable[page.Block]) -> dict[str, str]:
    """What stands for each label that is too long for a matrix: T1, T2 and so on."""
    grids = (block for block in blocks if isinstance(block, page.Grid))
    names = list(dict.fromkeys(name for grid in grids for name in (*grid.rows, *grid.columns)))
    long = [name for name in names if lacks_letters(label(name)) or length(label(name)) > LONGEST]
    letter = "T"
    while any(name.startswith(letter) for name in names):
        letter += "T"
    return {name: f"{letter}{number}" for number, name in enumerate(long, 1)}


def _legend(short: Mapping[str, str]) -> str:
    """The line that explains short labels; empty where there are none."""
    said = ", ".join(f"{brief}{NBSP}={NBSP}{label(name)}" for name, brief in short.items())
    return f"In labels, {said}." if said else ""


def _shortened(block: page.Block, short: Mapping[str, str]) -> page.Block:
    """The block with short labels in the place of long ones."""
    if not short:
        return block
    match block:
        case page.Grid(rows=rows, columns=columns):
            return block._replace(
                rows=tuple(short.get(name, name) for name in rows),
                columns=tuple(short.get(name, name) for name in columns),
            )
        case page.Worked(lines=lines):
            # In "long → short" only the long label is replaced; no shorter label can hold it.
            found = re.compile("|".join(map(re.escape, sorted(short, key=len, reverse=True))))

            def changed() -> Iterator[page.WorkedLine]:
                return (line._replace(label=found.sub(lambda name: short[name[0]], line.label)) for line in lines)

            return block._replace(lines=page.Lazy(changed))
    return block
