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
from attncli.problem.text.pasted.printed import r_at
from attncli.problem.text.pasted.spellings import read_pasted, spelling_at
from attncli.problem.text.pasted.text import PastedText, PasteError

# How long the axes of the matrix of this name are, 0 where that is not known; nothing where it is
# the name of none.
ShapeOf: TypeAlias = Callable[[str], tuple[int, ...]]
# A matrix of which nothing is known.
_ANY_SHAPE = (0, 0)

_MATRIX = (
    r"(?:[\[⎡⎛┌│|]|[-+−–]?\s?[0-9.√½⅓¼¾]"
    r"|(?:[A-Za-z]\w*\.)*(?:array|asarray|matrix|tensor|Matrix|Array)\()"
)
# Or a formula that has nothing before it.
_MATRIX_OR_FORMULA = rf"(?:{_MATRIX}|(?<=\$)\\begin\{{|(?<=\$ )\\begin\{{)"
# Before a name may stand what makes a list, a quotation, or a formula of it. The first of these
# keeps what it shares with the next one: to try all ways of sharing a long line takes too long.
_BEFORE_NAME = r"[ \t>*+-]*+(?:\(?[0-9a-z]{1,2}[.)][ \t]+)?[*_`$]*+"
_NAME = r"(?P<name>[^\W\d][^\n=:≈|\[\]⎡⎛]{0,80}?)"
# S = and S: before a matrix, also with what it is equal to besides: S = Q K^T =.
_NAME_LINE = re.compile(
    rf"{_BEFORE_NAME}{_NAME}[*_`$ \t]*(?P<sign>:=|=|≈|[:：＝])[*_`$ \t]*"
    rf"(?:[^\n=\[\]⎡⎛]{{1,80}}[=≈][ \t]*)?(?=\n|\Z|{_MATRIX_OR_FORMULA})"
)
# Whatever stands before a matrix, or before the = or the colon that ends a line.
_WORDS_LINE = re.compile(
    rf"{_BEFORE_NAME}(?P<name>[^\W\d][^\n|\[\]⎡⎛]{{0,80}}?)[*_`$ \t]*(?P<sign>:=|[=≈:：＝])"
    rf"[*_`$ \t]*(?=\n|\Z|{_MATRIX_OR_FORMULA})"
)
# Step 4: Multiply by V.
_NUMBERED_WORDS = re.compile(r"[ \t]*[^\W\d_]{3,20} [0-9]{1,2}[.:)][ \t]+[^\n|\[\]⎡⎛]{1,80}")
_HEADING = re.compile(
    r"[ \t]*#{1,6}[ \t]+(?:[0-9]+[.)]?[ \t]+)?(?P<name>[^\n]*?)[ \t]*#*"
    r"|[ \t]*\\(?:(?:sub)*section|(?:sub)?paragraph|textbf)\*?"
    r"\{(?P<latex>[^{}\n]*)\}[ \t:.]*(?:\\\\)?"
)
_FORMULA_LINE = re.compile(r"[ \t]*[^\W\d][^\n=\[\]⎡⎛|\\]*=[^\n\[\]⎡⎛|\\]*")
# Programs print these before what was typed, and above a matrix.
_PROMPT = re.compile(r"[ \t]*(?:>{1,3}|\.\.\.|In \[[0-9]*\]:|julia>|octave(?::[0-9]+)?>)[ \t]+")
_OF_PRINT = re.compile(r"[ \t]*(?:Out\[[0-9]*\]:|[0-9]+[×x][0-9]+ [^\n]*:|ans[ \t]*=)[ \t]*")
# weights.round(3) prints the weights.
_CALL_BEHIND = re.compile(r"(?:\.(?:round|numpy|detach|cpu|tolist|float|double)\([^()]*\))+\Z")
# A page numbers its sections: 5 Scores, 4–5 Scores.
_SECTION_NUMBER = re.compile(r"[ \t]*[0-9]{1,2}(?:[–-][0-9]{1,2})?[.)]?[ \t]+")
# So many numbers are a row, and so many rows a matrix.
_FEWEST_NUMBERS = 2
# What stands around the numbers of a row, and between them.
_AROUND_NUMBERS = re.compile(
    r"[\[\](){}⎡⎤⎢⎥⎣⎦⎛⎞⎜⎟⎝⎠│|,;&$]|\\(?:begin|end)\{\w*\*?\}|\\(?:left|right)\b|\\[\[\]()]"
    r"|\\\\|(?<=\|)[ \t]*:?-+:?[ \t]*(?=\|)|tensor|array"
)
_LATEX_BEGIN = re.compile(r"\\begin\{\w*(?:matrix|array)\}")
_ROW_END = re.compile(r"\\\\|\],?\s*\[|;")
_BETWEEN_CELLS = re.compile(r"(?<=\S)[,;](?=\S)|[,;](?=\Z)|\A[,;]")
# What is or was meant to be a number, or is left blank.
_NUMBER = re.compile(r"[-+−–]?\(?(?:[.,]?[0-9OolI]|√|sqrt|[½⅓⅔¼¾]|∞|inf)|[_?…]|[,;|]\Z|%[,;|]?\Z")
_ROW_BELOW = re.compile(r",?[ \t]*\n[ \t]*\[")
_NEXT_MATRIX = re.compile(r"\s{,200}\[")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# A line of a formula ends, by so much: \\[4pt]. What has = in front goes on with the line before.
_LINE_BREAK = r"\\\\(?:\[-?[0-9.]+ *[a-z]{2}\]|(?!\[))(?!\s*&?\s*=)"
# These number a formula, and are none of its parts.
_NUMBER_OF_FORMULA = re.compile(r"\\(?:label|tag)\*?\{[^{}\n]*\}|\\(?:nonumber|notag)\b")
# A formula begins behind one of these, and ends with one.
_FORMULA_EDGE = re.compile(
    rf"\$\$?|\\[\[\]()]|\n[ \t]*\n|(?<!\\){_LINE_BREAK}"
    r"|\\(?:begin|end)\{(?:equation|align|aligned|gather|displaymath|math)\*?\}"
)
_EQUALS = re.compile(r"&?\s*(?::=|=|≔|≈|\\approx|\\coloneqq)\s*&?")
_LAYOUT = (
    r"\s|\\(?:left|right|[bB]igg?[lr]?|displaystyle|quad|qquad|,|;|:|!|\ )|[()\[\]{}.,;&~]|\\[{}]"
)
_NOTHING = re.compile(rf"(?:{_LAYOUT})*")
_FORMULA_END = re.compile(
    rf"(?:{_LAYOUT})*(?:\$|\\[\])]|\\end\{{|{_LINE_BREAK}|\Z)|[ \t.,;]*\n[ \t]*\n"
)
# Between two formulas on a line stands a comma, or a wide blank.
_WORDS = r"\\text\{\s*(?:and|with|und|mit|et)?\s*\}"
_BETWEEN_FORMULAS = rf"(?:[ \t]|\\[,;:!])*(?:[.,;]|\\q?quad\b|{_WORDS})(?:{_LAYOUT}|{_WORDS})*"
_NAME_NEXT = r"(?=\\?[A-Za-z][^\n=&,;\[\]]{0,40}&?\s*(?::=|=|\\approx))"
_NEXT_FORMULA = re.compile(_BETWEEN_FORMULAS + _NAME_NEXT)
_FORMULA_ON_NEXT_LINE = re.compile(rf"[ \t]*\n[ \t]*{_NAME_NEXT}")
_OPENS_FORMULA = ("$", "\\[", "\\(", "\\begin")


class NamedMatrix(NamedTuple):
    """A matrix of a text: its name as it was written, where that stands, and its numbers."""

    name: str
    at: int
    numbers: PastedList


def named_matrices(source: str, shape_of: ShapeOf, *, of_answers: bool) -> list[NamedMatrix]:
    """The matrices of a text that have names, in its order.

    Raises PasteError for what is wrong in one of them.
    """
    found = [*_Formulas(source, of_answers).matrices()]
    text = source
    for formula in found:
        text = blanked(text, formula.start, formula.end)
    matrices = [formula.matrix for formula in found]
    for part in _NamedParts(text, shape_of, of_answers):
        shape = shape_of(part.name) or _ANY_SHAPE
        content = _whole_list(text[part.start : part.end].rstrip())
        pasted = PastedText(content, part.start, of_answers=of_answers, shape=shape)
        if numbers := read_pasted(pasted, len(shape), may_be_one=True):
            matrices.append(NamedMatrix(part.name, part.at, numbers))
    return sorted(matrices, key=lambda matrix: matrix.at)


def _whole_list(content: str) -> str:
    """A list in brackets without the lines below it, which a program goes on with."""
    begin = LIST_BEGIN.match(content, len(content) - len(content.lstrip()))
    if begin is None or not content.startswith("[", begin.end()):
        return content
    if r_at(content, 0):
        # Its brackets are numbers of rows and columns.
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


def blanks_for(found: re.Match[str]) -> str:
    """As many blanks as what was found is long."""
    return " " * len(found[0])


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
        if "\\" in source:
            source = _NUMBER_OF_FORMULA.sub(blanks_for, without_comments(source))
        self.source = source
        self.of_answers = of_answers
        self.reached = 0
        # Between dollars, a line break is only a blank.
        self.is_in_dollars = False

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
        start = self.reached
        for edge in _FORMULA_EDGE.finditer(self.source, self.reached, end):
            start = edge.end()
            if not edge[0].startswith(r"\\"):
                self.is_in_dollars = edge[0].startswith(_OPENS_FORMULA)
        behind = self._next_formula(start)
        return behind.end() if behind else start

    def _next_formula(self, at: int) -> re.Match[str] | None:
        """What stands between the formula that ends there and the next one with a name."""
        found = _NEXT_FORMULA.match(self.source, at)
        if found or self.is_in_dollars:
            return found
        return _FORMULA_ON_NEXT_LINE.match(self.source, at)

    def _name(self, start: int, begin: int, end: int) -> str:
        """What stands before the first =, if between the last one and the matrix there is nothing,
        and nothing behind it.
        """
        signs = [*_EQUALS.finditer(self.source, start, begin)]
        ends_there = _FORMULA_END.match(self.source, end) or self._next_formula(end)
        if not signs or not ends_there:
            return ""
        if not _NOTHING.fullmatch(self.source, signs[-1].end(), begin):
            return ""
        return self.source[start : signs[0].start()].strip()


@dataclass(slots=True)
class _NamedPart:
    """A name, where it stands, and where what it is the name of begins and ends; the name may be
    one of no step, or none at all, where it `is_any` line above the matrix.
    """

    name: str
    at: int
    start: int
    end: int
    is_any: bool = False


class _NamedParts:
    """Finds what stands behind a name, or below it, up to an empty line or to the next name.

    Of answers also each matrix that has no name: the line above it is its name then.
    """

    def __init__(self, text: str, shape_of: ShapeOf, of_answers: bool) -> None:
        self.text = text
        self.shape_of = shape_of
        self.of_answers = of_answers
        self.part: _NamedPart | None = None
        # The last line that is no row of a matrix, and where it stands.
        self.above = ("", 0)

    def __iter__(self) -> Iterator[_NamedPart]:
        place = depth = 0
        # An empty line ends the last one.
        for line in [*self.text.split("\n"), ""]:
            end = place + len(line) + 1
            begun = _begun(line, place, self.shape_of) or self._begun_without_name(line, place)
            # Programs print an empty line between the matrices of an open list.
            goes_on = depth > 0 and _NEXT_MATRIX.match(self.text, place) is not None
            is_gap = (_is_empty(line) and not goes_on) or _FENCE.match(line) is not None
            depth = 0 if begun or is_gap else depth
            depth += line.count("[") - line.count("]")
            if not begun:
                self._pass_formula(line, place)
            if begun or is_gap or self._goes_on_in_words(line, place):
                yield from self._ended(place)
            if begun:
                self.part = begun
            elif is_gap and self.part:
                self.part.start = end
            elif _says_more(line) and not _OF_PRINT.fullmatch(line):
                self.above = (line, place)
            place = end

    def _begun_without_name(self, line: str, place: int) -> _NamedPart | None:
        """What a row of numbers begins that stands below no name; None for any other line."""
        if self.part or not self.of_answers or not _is_row(line):
            return None
        words, at = self.above
        name = _heading_text(words)
        begin = at + words.find(name) if name else place
        return _NamedPart(name, begin, place, place, is_any=True)

    def _goes_on_in_words(self, line: str, place: int) -> bool:
        """Whether words stand below the rows of a matrix: below one with a name, these are a
        heading.
        """
        part = self.part
        if part is None or _is_row(line) or not _says_more(line):
            return False
        headings = (_HEADING, _WORDS_LINE, _NUMBERED_WORDS)
        is_heading = any(form.fullmatch(line) for form in headings)
        return part.is_any or (is_heading and is_matrix(self.text[part.start : place]))

    def _pass_formula(self, line: str, place: int) -> None:
        """A formula above the rows says how they are worked out: S = Q K^T. What a program prints
        there says nothing more.
        """
        part = self.part
        if part is None or part.start != place or part.is_any:
            return
        if _FORMULA_LINE.fullmatch(line) or _OF_PRINT.fullmatch(line):
            part.start = place + len(line) + 1

    def _ended(self, place: int) -> Iterator[_NamedPart]:
        """The part that ends here, if there is a matrix in it."""
        part = self.part
        if part is None:
            return
        part.end = place
        content = self.text[part.start : place]
        if part.is_any and not is_matrix(content):
            self.part = None
        elif _are_rows(content):
            yield part
            self.part, self.above = None, ("", 0)
        elif self.shape_of(part.name) and _looks_like_rows(content):
            message = f"the matrix below {shorten(part.name)} cannot be read"
            help = f"write {shorten(part.name)} = [[1, 2], [3, 4]], or rows of numbers alone"
            raise PasteError(message, help, at=part.at)


def _is_empty(line: str) -> bool:
    """Whether nothing stands in a line, or only what a spreadsheet puts between empty cells."""
    return not line.strip(",; \t\r")


def _heading_text(line: str) -> str:
    """What a line says as a heading, without its number and how it looks; of a line that was typed
    to a program, what is printed.
    """
    if prompt := _PROMPT.match(line):
        line = _CALL_BEHIND.sub("", line[prompt.end() :].rstrip())
    heading = _HEADING.fullmatch(line)
    if heading:
        line = heading["name"] or heading["latex"] or ""
    elif number := _SECTION_NUMBER.match(line):
        line = line[number.end() :]
    # A spreadsheet fills up the row.
    return line.strip().strip("*_`$:=,; \t")


def _numbers_of(line: str) -> list[str]:
    """The numbers of a row, in whatever brackets; none where something else stands in it besides a
    name before them.
    """
    numbers = _AROUND_NUMBERS.sub(" ", line).split()
    has_name = bool(numbers) and not _NUMBER.match(numbers[0])
    if has_name:
        numbers = numbers[1:]
    if not all(map(_NUMBER.match, numbers)):
        return []
    # 22 % is one number.
    return [number for number in numbers if number != "%"]


def _says_more(line: str) -> bool:
    """Whether anything stands in a line besides brackets and signs between numbers."""
    return bool(_AROUND_NUMBERS.sub(" ", line).strip())


def _is_row(line: str) -> bool:
    return len(_numbers_of(line)) >= _FEWEST_NUMBERS


def is_matrix(text: str) -> bool:
    """Whether this is one matrix and nothing besides."""
    # Two of them are factors.
    if len(_LATEX_BEGIN.findall(text)) > 1:
        return False
    # Between rows on lines of their own, a semicolon is one between cells.
    row_end = _ROW_END if _has_one_line(text) else "\n"
    lines = re.split(row_end, text)
    rows = [line for line in lines if _says_more(line)]
    return len(rows) >= _FEWEST_NUMBERS and all(map(_is_row, rows))


def _has_one_line(text: str) -> bool:
    """Whether one line has all the numbers."""
    return len([*filter(_says_more, text.split("\n"))]) == 1


def _are_rows(text: str) -> bool:
    """Whether this is a matrix, and no prose: numbers alone, with at most a name before each row
    and names above.
    """
    begin = text.lstrip()
    if not begin:
        return False
    if spelling_at(text, len(text) - len(begin)):
        return True
    # A spreadsheet has no blanks between its cells.
    lines = [_BETWEEN_CELLS.sub(" ", line).split() for line in begin.splitlines()]
    lines = [line for line in lines if line]
    below = lines if _NUMBER.match(lines[0][-1]) else lines[1:]
    cells = [cell for line in below for cell in (line[1:] or line)]
    return bool(cells) and all(map(_NUMBER.match, cells))


def _looks_like_rows(text: str) -> bool:
    """Whether some of the lines are rows of numbers, and prose has none."""
    lines = [line.split() for line in text.splitlines() if "=" not in line]
    rows = [line for line in lines if len([*filter(_NUMBER.match, line)]) >= _FEWEST_NUMBERS]
    return len(rows) >= _FEWEST_NUMBERS and 2 * len(rows) > len(lines)


def _begun(line: str, place: int, shape_of: ShapeOf) -> _NamedPart | None:
    """What a line with a name begins; None for any other line."""
    end = place + len(line) + 1
    for form in (_NAME_LINE, _WORDS_LINE):
        found = form.match(line)
        if found is None:
            continue
        name = found["name"].strip()
        begins_matrix = found["sign"] not in ":：" and spelling_at(line, found.end()) is not None
        if shape_of(name) or begins_matrix:
            return _NamedPart(name, place + found.start("name"), place + found.end(), end)
    name = _heading_text(line)
    if _HEADING.fullmatch(line) or shape_of(name):
        return _NamedPart(name, place, end, end)
    return None
