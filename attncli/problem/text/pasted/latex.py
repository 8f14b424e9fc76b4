r"""Matrices in LaTeX: \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}, with $ … $, \[ … \] or S =
around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attncli.english import shorten
from attncli.problem.text.decimal_commas import doubtful_pairs
from attncli.problem.text.latex_numbers import from_latex
from attncli.problem.text.nodes import PastedList
from attncli.problem.text.pasted.cells import list_of, table_of, write_points
from attncli.problem.text.pasted.grammar import Cell, CellRow, CellTable
from attncli.problem.text.pasted.text import TURNED, PastedText, require_not_turned

_ENVIRONMENTS = r"(?:[pbvBV]?(?:small)?matrix\*?|[pbvBV]?NiceMatrix|array|tabular)"
# Its columns, such as {cc|c}, and where it stands, such as [t].
_OPTIONS = r"(?:\s*\[[^\]]*\])?(?:\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})?"
# In plain TeX, a matrix stands in braces: \pmatrix{1 & 2 \cr 3 & 4}.
MATRIX_BEGIN = re.compile(
    rf"\\begin\s*\{{(?P<environment>{_ENVIRONMENTS})\}}|\\(?:p|b)?matrix\s*(?P<brace>\{{)"
)
_IN_BRACKETS = re.compile(r"\\begin\s*\{[pbvBV](?:(?:small)?matrix|NiceMatrix)|\\[pb]matrix")
_COLUMNS = re.compile(_OPTIONS)
_WITH_COLUMNS = ("array", "tabular")
# On a page of ours, the labels of a matrix are an array of their own, and both arrays have a line
# of names above their rows.
_ABOVE_THE_ROWS = r"\noalign{\vskip-\arraystretch\normalbaselineskip}"
_BEGIN_OF_OURS = (
    rf"\\begin\{{array\}}\{{(?:[^{{}}]|\{{[^{{}}]*\}}){{0,99}}\}}{re.escape(_ABOVE_THE_ROWS)}\s*"
)
_OF_OUR_PAGES = re.compile(
    rf"(?:\\rule\{{0pt\}}\{{[^{{}}]*\}}\s*)?{_BEGIN_OF_OURS}"
    r"(?:\\smash\{(?P<raised>[^{}]{1,20}(?:\{[^{}]{0,20}\}[^{}]{0,20})?)\}|(?P<plain>[^\s\\&]{1,40}))"
    r"\s*\\\\(?:(?!\\end\{array\}|\\begin)[\s\S]){0,20000}\\end\{array\}\s*\\left\(\s*"
    rf"{_BEGIN_OF_OURS}(?:(?!\\\\|\\end|\\begin)[\s\S]){{0,20000}}\\\\"
)
_COMMENT = re.compile(r"(\\.)|%[^\n]*", re.DOTALL)
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.?|[{}&]|[^\\{}&]+", re.DOTALL)
_ROW_ENDS = ("\\\\", r"\cr", r"\tabularnewline")
# \\[2pt] makes room below a row, and {} keeps a [ that follows from being read so.
_AFTER_ROW = re.compile(r"\*?(?:\s*\[\s*-?[0-9.]+\s*[a-z]{2}\s*\]|\{\})?")
_RULES = re.compile(
    r"\\(?:hline|hdashline|toprule|midrule|bottomrule|(?:cline|cmidrule)\s*(?:\([a-z]*\))?\s*\{[^{}]*\})"
)
# What shows no number, and may stand before a matrix or behind it.
_LAYOUT = (
    r"\$\$?|\\[\[\]()]|\\(?:displaystyle|textstyle|scriptsize|small|centering|quad|qquad|hspace\*?\{[^{}]*\}"
    r"|hskip[0-9.]+em(?:\ minus[0-9.]+em)?"
    r"|left|right|[bB]igg?[lr]?|lim|limits|nonumber|notag|par|,|;|:|!|\s)"
    r"|\\(?:begin|end)\{(?:equation|align|aligned|gather|gathered|displaymath|math|center|split)\*?\}"
    r"|\\label\{[^{}]*\}|\\tag\*?\{[^{}]*\}|[()|.,;&~]|\\[{}]|[\[\]]|\\\\|\s"
)
_BEFORE, _AFTER = re.compile(rf"(?:{_LAYOUT}|#[^\n]*\n)*"), re.compile(rf"(?:{_LAYOUT})*")
# A matrix may stand behind its name: S =, S := and S &=, with whatever it is equal to besides.
_NAMED = re.compile(r"(?P<name>.*?)&?\s*(?::=|=|≔|\\coloneqq|\\approx|≈)\s*&?\s*", re.DOTALL)
# It does not show: 2 \sqrt{3} is one number.
_BLANK_BEFORE_ROOT = re.compile(r"(?<=[0-9]) +(?=sqrt\()")
# Q \in \mathbb{R}^{2 \times 2} says how large a matrix is.
_SIZE = re.compile(r"\\in\s*\\(?:mathbb|R)\s*(?:\{R\}|R)?\s*\^\s*\{[^{}]*\}")
# A name stands on a line, whatever layout is above it, and no row of another matrix is one.
_ONE_LINE = re.compile(rf"(?![\s\S]*\[\s*[-−]?[\[0-9.√])(?:{_LAYOUT})*[^\n⎡⎢⎣⎛⎜⎝|]*(?:{_LAYOUT})*")
_ANYTHING = re.compile("")
_GAP_OR_COMMA = re.compile(r"[^\s,]\s*[\s,]\s*[^\s,]")


def latex_at(text: str, start: int) -> re.Match[str] | None:
    """Where a text begins that has a matrix in LaTeX; None for any other text."""
    if "\\" not in text or not MATRIX_BEGIN.search(without_comments(text), start):
        return None
    # Its name belongs to it: K^T = is another matrix than K.
    return _ANYTHING.match(text)


def read_latex(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The matrix of a text in LaTeX that has nothing else in it, but its name."""
    source = without_comments(text.text)
    found = MATRIX_BEGIN.search(source)
    assert found is not None, "else the text is none in LaTeX"
    _require_no_more_before(text, source, begin.start(), found.start())
    rows, end = rows_of(text, source, found)
    _require_no_more_behind(text, source, end)
    return list_of(text, table_of_latex(text, rows, has_names=may_have_names(found)), rank)


def without_comments(source: str) -> str:
    """A text of LaTeX, as long as before, without what stands behind a %, and with the matrices of
    our own pages as one array behind its name.
    """
    if "%" in source:
        source = _COMMENT.sub(lambda found: found[1] or _blanks_for(found), source)
    if _ABOVE_THE_ROWS in source:
        source = _OF_OUR_PAGES.sub(_as_one_array, source)
    return source


def _as_one_array(found: re.Match[str]) -> str:
    """Q = \\begin{array}, and blanks for the rest of what stands before its numbers."""
    name = found["raised"] or found["plain"]
    return f"{name} = \\begin{{array}}{{c}}".ljust(len(found[0]))


def may_have_names(begin: re.Match[str]) -> bool:
    """Whether the matrix that begins here may have names beside its rows and above its columns:
    between brackets of its own, a letter stands for a number.
    """
    return not _IN_BRACKETS.match(begin[0])


def table_of_latex(text: PastedText, rows: list[CellRow], *, has_names: bool) -> CellTable:
    """The numbers of these rows, and the names beside and above them where there can be any."""
    if all(len(row) < 2 for row in rows):
        cells = [cell for row in rows for cell in row]
        text.require_clear(doubtful_pairs((cell.at, cell.text) for cell in cells))
        if several := [cell for cell in cells if _GAP_OR_COMMA.search(cell.text)]:
            message = f"{shorten(several[0].text)} is one cell, since no & is in it"
            raise text.error(message, r"write & between numbers: 1 & 2 \\ 3 & 4", several[0].at)
    table = table_of(text, rows, has_names=has_names)
    write_points(table.rows)
    return table


def rows_of(text: PastedText, source: str, begin: re.Match[str]) -> tuple[list[CellRow], int]:
    r"""The rows of the matrix that begins here, cut at & and \\, and where it ends."""
    start = begin.end()
    environment = begin["environment"] or ""
    if environment.startswith(_WITH_COLUMNS) or environment.endswith("*"):
        columns = _COLUMNS.match(source, start)
        start = columns.end() if columns else start
    closing = "\\end" if environment else "}"
    rows: list[CellRow] = [[]]
    at = start
    for token, place in _tokens(text, source, start, begin.start()):
        end = place + len(token)
        is_end = token == closing
        if token != "&" and token not in _ROW_ENDS and not is_end:
            continue
        rows[-1].append(_cell(source, at, place))
        at = end
        if token in _ROW_ENDS:
            after = _AFTER_ROW.match(source, end)
            at = after.end() if after else end
            rows.append([])
        if is_end:
            brace = re.compile(r"\s*\{[^{}]*\}").match(source, end) if environment else None
            return [*filter(_has_text, rows)], brace.end() if brace else end
    message = "this matrix has no end"
    ending = rf"\end{{{environment}}}" if environment else "}"
    raise text.error(message, f"write {ending} behind its last row", begin.start())


def _has_text(row: CellRow) -> bool:
    return any(cell.text for cell in row)


def _tokens(text: PastedText, source: str, start: int, begin: int) -> Iterator[tuple[str, int]]:
    """Commands, signs and other words from there on, but for those in braces, and their places."""
    depth = 0
    at = start
    while at < len(source):
        found = _TOKEN.match(source, at)
        assert found is not None, "every character is of a token"
        token, place = found[0], at
        at = found.end()
        # An exponent of a row end is no part of its name.
        after = _AFTER_ROW.match(source, at) if token in _ROW_ENDS else None
        at = after.end() if after else at
        if token == "{":
            depth += 1
        elif token == "}" and depth:
            depth -= 1
        elif token == r"\begin" and not depth:
            message = "a matrix in a matrix is not read"
            raise text.error(message, "write its numbers into the rows of one matrix", place)
        elif not depth:
            yield token, place


def _cell(source: str, start: int, end: int) -> Cell:
    r"""A cell with its number as people type it: 1/2 for \frac{1}{2}."""
    written = _RULES.sub(_blanks_for, source[start:end])
    indent = len(written) - len(written.lstrip())
    number = from_latex(written.strip()).strip()
    return Cell(start + indent, _BLANK_BEFORE_ROOT.sub("", number))


def _blanks_for(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _require_no_more_before(text: PastedText, source: str, start: int, end: int) -> None:
    """Raises what is wrong where anything but a name stands before a matrix, as a factor does, or
    another matrix.
    """
    at = start
    for named in _NAMED.finditer(source, start, end):
        if not _ONE_LINE.fullmatch(named["name"]):
            break
        if named.start() == start:
            name = _SIZE.sub("", named["name"])
            require_not_turned(text, name.strip(" \n$\\[]()"), start)
        at = named.end()
    before = _BEFORE.match(source, at, end)
    at = before.end() if before else at
    if at < end:
        word = shorten(source[at:end].strip())
        help = r"write one matrix alone: \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"
        raise text.error(f"{word} does not belong before a matrix", help, at)


def _require_no_more_behind(text: PastedText, source: str, start: int) -> None:
    """Raises what is wrong where anything but the end of a formula stands behind a matrix."""
    layout = _AFTER.match(source, start)
    at = layout.end() if layout else start
    if turned := TURNED.match(source, at):
        message = f"this matrix is transposed, or raised to a power ({turned[0].strip()})"
        raise text.error(message, "write the rows of the matrix itself", turned.start())
    if at < len(source):
        word = shorten(source[at:].strip())
        help = "write one matrix alone, and put a second one under a key of its own"
        raise text.error(f"{word} does not belong behind a matrix", help, at)
