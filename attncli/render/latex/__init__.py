"""LaTeX that compiles under pdflatex, xelatex and lualatex with nothing beyond the basic packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.equation.notation import LATEX, LATEX_LINE, LATEX_TERMS, UNICODE
from attncli.equation.shapes import product_text
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.render import Style
from attncli.render.labels import label
from attncli.render.latex.cell import GRAY
from attncli.render.latex.escape import escape, length
from attncli.render.latex.grid import display, grid_displays, is_large
from attncli.render.latex.legend import shortened
from attncli.render.latex.tabular import sentence, tables
from attncli.render.shades import LEGEND, needs_legend

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
PACKAGES = {"color": r"\color", "amssymb": r"\checkmark"}  # and a command that only is there with it
LABEL = 34  # digits; labels wider than this do not set the width of their column
SHORT = 60  # digits; labels and sums as wide as this together fit on a line


def render(document: page.Document, style: Style) -> str:
    """A complete document, or its body alone where `style.fragment`; the same page gives the same text."""
    return "".join(stream(document, style))


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The same piece by piece, large matrices block by block."""
    title = [_title(document.title)] if document.title else []
    said, blocks = shortened(document.blocks)
    legend = [rf"{{\raggedright {escape(said)}\par}}"] if said else []
    body = [*title, *legend, *(part for block in blocks for part in _parts(block))]
    texts = [part for part in body if isinstance(part, str)]  # a large matrix needs no package
    yield _needs(texts) if style.fragment else _preamble(texts) + "\n"
    parts = (piece for part in body for piece in ([part] if isinstance(part, str) else grid_displays(part)))
    for place, part in enumerate(parts):
        if place:
            yield _before(part)
        yield part
    yield "\n" if style.fragment else "\n\n\\end{document}\n"


def _parts(block: page.Block) -> Iterator[str | page.Grid]:
    """The paragraphs of a block; a large matrix as it is, to be written when it is its turn."""
    return iter([block]) if isinstance(block, page.Grid) and is_large(block) else _block(block)


def _before(part: str) -> str:
    """What stands before a paragraph; a display belongs to the paragraph before it, and so to its page."""
    return "\n" if part.startswith("\\[") else "\n\n"


def _preamble(body: Sequence[str]) -> str:
    """The preamble, with the signs of amssymb where the body has one."""
    return PREAMBLE.replace("PACKAGES", "\n\\usepackage{amssymb}" if _has(body, PACKAGES["amssymb"]) else "")


def _needs(body: Sequence[str]) -> str:
    """What a fragment needs in the preamble of the document that it is pasted into."""
    needed = "".join(rf"\usepackage{{{name}}}" for name, command in PACKAGES.items() if _has(body, command))
    return f"% Needs {needed} in the preamble.\n" if needed else ""


def _has(body: Sequence[str], command: str) -> bool:
    return any(command in piece for piece in body)


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
            yield from grid_displays(block)
            if needs_legend(block):  # within a paragraph, since a color before one lets the page break in spite of all
                yield rf"\nopagebreak{{\small\leavevmode\color[gray]{{{GRAY}}}Gray: {LEGEND}.\par}}"
        case page.Table(rows=rows, right=right):
            yield from tables(block.heads, rows, right)
        case page.Listing(items=items):
            bullets = "\n".join(rf"\item[$\bullet$] {sentence(item)}" for item in items)
            yield f"\\begin{{itemize}}\\raggedright\n{bullets}\n\\end{{itemize}}"


def _worked(lines: Sequence[page.WorkedLine]) -> str:
    """Paragraphs of inline math, which TeX breaks before terms, hanging from a column of labels."""
    widths = [length(label(line.label)) for line in lines]
    width = max((wide for wide in widths if wide <= LABEL), default=0) * 0.5 + 1.5
    written = []
    for line, wide in zip(lines, widths, strict=True):
        name = escape(label(line.label))
        head = rf"\makebox[{width:.1f}em][l]{{{name}}}" if wide <= LABEL else rf"{name}\quad"
        sums = _sums(line, SHORT - wide)
        parts = [f"${sums}$"] if sums else []
        parts += [sentence(line.remark)] if line.remark else []
        said = r"\quad ".join(parts)
        hang = rf"\hangindent={width + 1.5:.1f}em \hangafter=1"
        written.append(rf"{hang} \leavevmode{{}}{head}{said}\par")
    return "{\\raggedright\\parskip=2pt\\binoppenalty=10000\\relpenalty=10000\n" + "\n".join(written) + "\n}"


def _sums(line: page.WorkedLine, room: float) -> str:
    """What is worked and what comes out, with the places where it may be broken only if it has to be."""
    short = len(" ".join(sides(line, UNICODE))) <= room
    notation, gap = (LATEX_LINE, " ") if short else (LATEX_TERMS, r" \allowbreak ")
    return gap.join(side for side in sides(line, notation) if side)
