r"""Matrices in a text, each with its name: S = [[1, 2], [3, 4]], S = \begin{pmatrix} … in LaTeX, or
rows below a heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from attncli.english import shorten
from attncli.problem.text.nodes import PastedList
from attncli.problem.text.pasted.brackets import CALL_END, LIST_BEGIN
from attncli.problem.text.pasted.cells import list_of
from attncli.problem.text.pasted.grammar import brackets
from attncli.problem.text.pasted.latex import (
    MATRIX_BEGIN,
    may_have_names,
    rows_of,
    table_of_latex,
    without_comments,
)
from attncli.problem.text.pasted.spellings import read_pasted, spelling_at
from attncli.problem.text.pasted.text import PastedText, PasteError

# How many axes the matrix of this name has; 0 where it is the name of none.
AxesOf: TypeAlias = Callable[[str], int]

_MATRIX = (
    r"(?:[\[⎡⎛┌│|]|[-+−–]?\s?[0-9.√½⅓¼¾]"
    r"|(?:[A-Za-z]\w*\.)*(?:array|asarray|matrix|tensor|Matrix|Array)\()"
)
# Before a name may stand what makes a list, a quotation, or a formula of it.
_BEFORE_NAME = r"[ \t>*+-]*(?:\(?[0-9a-z]{1,2}[.)][ \t]+)?[*_`$]*"
_NAME = r"(?P<name>[^\W\d][^\n=:≈|\[\]⎡⎛]{0,80}?)"
# S = and S: before a matrix, also with what it is equal to besides: S = Q K^T =.
_NAME_LINE = re.compile(
    rf"{_BEFORE_NAME}{_NAME}[*_`$ \t]*(?P<sign>:=|=|≈|:)[*_`$ \t]*"
    rf"(?:[^\n=\[\]⎡⎛]{{1,80}}[=≈][ \t]*)?(?=\n|\Z|{_MATRIX})"
)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(?:[0-9]+[.)]?[ \t]+)?(?P<name>[^\n]*?)[ \t]*#*")
_FORMULA_LINE = re.compile(r"[ \t]*[^\W\d][^\n=\[\]⎡⎛|\\]*=[^\n\[\]⎡⎛|\\]*")
# A page numbers its sections: 5 Scores, 4–5 Scores.
_SECTION_NUMBER = re.compile(r"[ \t]*[0-9]{1,2}(?:[–-][0-9]{1,2})?[.)]?[ \t]+")
# So many numbers are a row, and so many rows a matrix.
_FEWEST_NUMBERS = 2
# What is or was meant to be a number, or is left blank.
_NUMBER = re.compile(r"[-+−–]?\(?(?:[.,]?[0-9OolI]|√|sqrt|[½⅓⅔¼¾]|∞|inf)|[_?…]|[,;|]\Z")
_ROW_BELOW = re.compile(r",?[ \t]*\n[ \t]*\[")
_NEXT_MATRIX = re.compile(r"\s{,200}\[")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# A formula begins behind one of these, and ends with one.
_FORMULA_EDGE = re.compile(
    r"\$\$?|\\[\[\]()]|\n[ \t]*\n|(?<!\\)\\\\(?!\[)"
    r"|\\(?:begin|end)\{(?:equation|align|aligned|gather|displaymath|math)\*?\}"
)
_EQUALS = re.compile(r"&?\s*(?::=|=|≔|≈|\\approx|\\coloneqq)\s*&?")
_LAYOUT = (
    r"\s|\\(?:left|right|[bB]igg?[lr]?|displaystyle|quad|qquad|,|;|:|!)|[()\[\]{}.,;&~]|\\[{}]"
)
_NOTHING = re.compile(rf"(?:{_LAYOUT})*")
_FORMULA_END = re.compile(rf"(?:{_LAYOUT})*(?:\$|\\[\])]|\\end\{{|\\\\|\Z)|[ \t.,;]*\n[ \t]*\n")


class NamedMatrix(NamedTuple):
    """A matrix of a text: its name as it was written, where that stands, and its numbers."""

    name: str
    at: int
    numbers: PastedList


def named_matrices(source: str, axes_of: AxesOf, *, of_answers: bool) -> list[NamedMatrix]:
    """The matrices of a text that have names, in its order.

    Raises PasteError for what is wrong in one of them.
    """
    found = [*_Formulas(source, of_answers).matrices()]
    text = source
    for formula in found:
        text = blanked(text, formula.start, formula.end)
    matrices = [formula.matrix for formula in found]
    for part in _named_parts(text, axes_of):
        axes = axes_of(part.name) or 2
        content = _whole_list(text[part.start : part.end].rstrip())
        pasted = PastedText(content, part.start, of_answers=of_answers)
        if numbers := read_pasted(pasted, axes, may_be_one=True):
            matrices.append(NamedMatrix(part.name, part.at, numbers))
    return sorted(matrices, key=lambda matrix: matrix.at)


def _whole_list(content: str) -> str:
    """A list in brackets without the lines below it, which a program goes on with."""
    begin = LIST_BEGIN.match(content, len(content) - len(content.lstrip()))
    if begin is None or not content.startswith("[", begin.end()):
        return content
    depth = 0
    for sign in brackets(content, begin.end()):
        depth += 1 if sign[0] == "[" else -1
        end = sign.end()
        if depth:
            continue
        closing = CALL_END.match(content, end) if begin[0] else None
        line_end = content.find("\n", closing.end() if closing else end)
        is_next_row = _ROW_BELOW.match(content, end) is not None
        return content if line_end < 0 or is_next_row else content[:line_end]
    return content


def blanked(text: str, start: int, end: int) -> str:
    """The text, as long as before, without what stands between two places."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


class _Formula(NamedTuple):
    """A matrix of LaTeX behind an =, and where the formula with it begins and ends."""

    matrix: NamedMatrix
    start: int
    end: int


class _Formulas:
    """Finds matrices of LaTeX that have an = before them, one by one."""

    def __init__(self, source: str, of_answers: bool) -> None:
        self.source = without_comments(source) if "\\" in source else source
        self.of_answers = of_answers
        self.reached = 0

    def matrices(self) -> Iterator[_Formula]:
        while begin := MATRIX_BEGIN.search(self.source, self.reached):
            text = PastedText(self.source, 0, of_answers=self.of_answers)
            rows, end = rows_of(text, self.source, begin)
            start = self._formula_start(begin.start())
            if name := self._name(start, begin.start(), end):
                at = self.source.index(name, start)
                table = table_of_latex(text, rows, has_names=may_have_names(begin))
                numbers = list_of(text, table, 2)
                yield _Formula(NamedMatrix(name, at, numbers), at, end)
                self.reached = end
            else:
                # S = A · B = C is named at its beginning.
                self.source = blanked(self.source, begin.start(), end)
                self.reached = start

    def _formula_start(self, end: int) -> int:
        edges = _FORMULA_EDGE.finditer(self.source, self.reached, end)
        return max((edge.end() for edge in edges), default=self.reached)

    def _name(self, start: int, begin: int, end: int) -> str:
        """What stands before the first =, if between the last one and the matrix there is nothing,
        and nothing behind it.
        """
        signs = [*_EQUALS.finditer(self.source, start, begin)]
        if not signs or not _FORMULA_END.match(self.source, end):
            return ""
        if not _NOTHING.fullmatch(self.source, signs[-1].end(), begin):
            return ""
        return self.source[start : signs[0].start()].strip()


@dataclass(slots=True)
class _NamedPart:
    """A name, where it stands, and where what it is the name of begins and ends."""

    name: str
    at: int
    start: int
    end: int


def _named_parts(text: str, axes_of: AxesOf) -> Iterator[_NamedPart]:
    """What stands behind a name, or below it, up to an empty line or to the next name."""
    part: _NamedPart | None = None
    place = depth = 0
    # An empty line ends the last one.
    for line in [*text.split("\n"), ""]:
        begun = _begun(line, place, axes_of)
        # Programs print an empty line between the matrices of an open list.
        goes_on = depth > 0 and _NEXT_MATRIX.match(text, place) is not None
        is_gap = (not line.strip() and not goes_on) or _FENCE.match(line) is not None
        depth = 0 if begun or is_gap else depth
        depth += line.count("[") - line.count("]")
        # A formula above the rows says how they are worked out: S = Q K^T.
        is_above = part is not None and part.start == place and not begun
        if part and is_above and _FORMULA_LINE.fullmatch(line):
            part.start = place + len(line) + 1
        if part and (begun or is_gap):
            part.end = place
            if _are_rows(text[part.start : place]):
                yield part
                part = None
            elif part.name and _looks_like_rows(text[part.start : place]):
                message = f"the matrix below {shorten(part.name)} cannot be read"
                help = f"write {shorten(part.name)} = [[1, 2], [3, 4]], or rows of numbers alone"
                raise PasteError(message, help, at=part.at)
        place += len(line) + 1
        if begun:
            part = begun
        elif is_gap and part:
            part.start = place


def _are_rows(text: str) -> bool:
    """Whether this is a matrix, and no prose: numbers alone, with at most a name before each row
    and names above.
    """
    begin = text.lstrip()
    if not begin:
        return False
    if spelling_at(text, len(text) - len(begin)):
        return True
    lines = [line.split() for line in begin.splitlines()]
    below = lines if _NUMBER.match(lines[0][-1]) else lines[1:]
    cells = [cell for line in below for cell in (line[1:] or line)]
    return bool(cells) and all(map(_NUMBER.match, cells))


def _looks_like_rows(text: str) -> bool:
    """Whether some of the lines are rows of numbers, and prose has none."""
    lines = [line.split() for line in text.splitlines() if "=" not in line]
    rows = [line for line in lines if len([*filter(_NUMBER.match, line)]) >= _FEWEST_NUMBERS]
    return len(rows) >= _FEWEST_NUMBERS and 2 * len(rows) > len(lines)


def _begun(line: str, place: int, axes_of: AxesOf) -> _NamedPart | None:
    """What a line with a name begins; None for any other line."""
    end = place + len(line) + 1
    if found := _NAME_LINE.match(line):
        name = found["name"].strip()
        is_matrix = found["sign"] != ":" and spelling_at(line, found.end()) is not None
        if axes_of(name) or is_matrix:
            return _NamedPart(name, place + found.start("name"), place + found.end(), end)
    heading = _HEADING.fullmatch(line)
    number = _SECTION_NUMBER.match(line)
    name = heading["name"] if heading else line[number.end() if number else 0 :]
    name = name.strip().strip("*_`$: ")
    if heading or axes_of(name):
        return _NamedPart(name if axes_of(name) else "", place, end, end)
    return None
