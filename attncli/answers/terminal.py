"""Answers on a page for the terminal: the matrices of a worksheet in a .txt file, with numbers
written in.

A matrix is drawn with brackets, or said in words, as `--ascii` has it: "A, columns: I, love", "row
I: 0.1, 0.9".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from attncli.answers.model import Answer, OtherShapes
from attncli.answers.pages import CellText, Page, Span, Table
from attncli.answers.texts import add_named
from attncli.english import shorten
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.pasted.named import blanked, blanks_for
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

# People put no blanks inside: [1 2 3].
_TIGHT = r"[-+−0-9.√½_Ol/ ]+"
_BRACKETS = re.compile(
    rf"(?:[⎡⎢⎣]|(?<!\S)\[(?=\s|{_TIGHT}\](?!\S)))([^⎡⎢⎣⎤⎥⎦]*?)"
    r"(?:[⎤⎥⎦]|(?<=[\s0-9._Ol½])\](?!\S))"
)
_COLUMNS = re.compile(r"\s*columns? (?:([0-9,]{1,9})[–-])?([0-9,]{1,9}) of ([0-9,]{1,9})\s*")
_RULE = re.compile(r"\s*[━=]+\s*")
_HEADING = re.compile(r"(?:──|--) (?:[0-9]+ )?(.*?) (?:─|--)")
# Two blanks or more end a number, or one where no number has a blank in it.
_APART = re.compile(r"(?:(?!\s{2}).)+")
_WORD = re.compile(r"\S+")
# Letters may stand for digits, which is told later.
_NUMBERS = re.compile(r"[-+−]?[0-9.½√Ol]\S*(?: [-+−]?[0-9.½√Ol]\S*)+")
# What a mask hides has a dot behind it, and a page without colours has shades.
_MARK = re.compile(r"\s[·░▒▓█](?=\s{2}|\s*$)")
# The decimals of closed forms have the relation behind their name: E ≈.
_NAME_OF_DECIMALS = re.compile(r"(.+?)\s*[≈=]")
# A matrix that somebody wrote may be the end of an equation: S = Q K^T =.
_NAME_IN_EQUATION = re.compile(r"([^=]+?)\s*=[^=]*=")
# This many characters stand between a matrix and the next: "  =  ", and then the labels, if any.
_RELATION_WIDTH = 5
# So many blanks at least stand between two parts that are side by side.
_GAP_OF_PARTS = 5
_SIGN_OF_PRODUCT = re.compile(r"(?<=\s\s)[·+=≈](?=\s\s)")
_SAID_HEAD = re.compile(r"\s*(?P<name>.+?)(?:, columns:\s+(?P<columns>.*)|:)\s*", re.DOTALL)
_SAID_ROW = re.compile(r"\s*row(?:\s+(?P<label>.*?))?:\s+(?P<cells>.*)", re.DOTALL)
_SAID_CELL = re.compile(r"(?:(?!,\s).)+", re.DOTALL)
_SAID_REMARK = re.compile(
    r" \((?:hidden|(?:very )?(?:light|dark)|right|carried|rounding|wrong)\)$|^blank$"
)
# A narrow terminal goes on in the next line, where a blank stood.
_WRAPPED = re.compile(r"\s*\n\s*")
_SAID_RELATION = re.compile(" about ")
_FORM = "a matrix has its letter and its columns above its rows, as attncli worksheet writes it"


@dataclass(frozen=True, slots=True)
class _PageLine:
    """A line of a page and where it begins; the parts of it in brackets stand in rows of
    matrices.
    """

    at: int
    text: str
    bracketed: tuple[re.Match[str], ...]

    @property
    def outside(self) -> str:
        """The line without its matrices."""
        return _BRACKETS.sub(blanks_for, self.text)

    def place(self, column: int) -> int:
        """Where a column of the terminal is in the text."""
        if self.text.isascii():
            return min(column, len(self.text))
        return min(bisect_left(_columns(self.text), column), len(self.text))

    def first_column(self, left: int, right: int) -> int:
        """Where the first letter stands from one column on, up to another."""
        start = self.place(left)
        gap = self.text[start : self.place(right)]
        return self.column(start + len(gap) - len(gap.lstrip()))

    def between(self, left: int, right: int | None) -> _PageLine:
        """The part of the line from one column up to another, or to its end."""
        start = self.place(left)
        text = self.text[start : None if right is None else self.place(right)]
        return _PageLine(self.at + start, text, tuple(_BRACKETS.finditer(text)))

    @property
    def ends_matrix(self) -> bool:
        """Whether the last row of a drawn matrix stands in it."""
        return any(found[0].startswith("⎣") for found in self.bracketed)

    @property
    def is_above_row(self) -> bool:
        """Whether another row of a drawn matrix has to follow."""
        return any(found[0].startswith(("⎡", "⎢")) for found in self.bracketed)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())

    def column(self, place: int) -> int:
        """How many columns of a terminal stand before a place: letters may take two of them, or
        none.
        """
        return place if self.text.isascii() else _columns(self.text)[place]


class _PlacedMatrix(NamedTuple):
    """Where a matrix stands in a paragraph: its columns of the terminal, and the lines of its
    rows.
    """

    start: int
    end: int
    rows: list[int]


@dataclass(frozen=True, slots=True)
class _MatrixRow:
    """A row of a drawn matrix: the line of its paragraph, and which of the brackets there are
    its own.
    """

    number: int
    line: _PageLine
    order: int

    @property
    def brackets(self) -> re.Match[str]:
        return self.line.bracketed[self.order]

    @property
    def start_column(self) -> int:
        return self.line.column(self.brackets.start())

    @property
    def room_before(self) -> int:
        """How many characters stand between the matrix before and this one."""
        end = self.line.bracketed[self.order - 1].end() if self.order else 0
        return self.brackets.start() - end

    @property
    def continues_label(self) -> bool:
        """Whether nothing but the rest of a long label stands there."""
        return not self.brackets[1].strip()

    def before(self) -> _MatrixRow:
        """The row of the matrix before, on the same line."""
        return _MatrixRow(self.number, self.line, self.order - 1)

    def cells(self, columns: int) -> tuple[CellText, ...]:
        """The numbers in it: two blanks stand between them, or one where that makes as many as
        there are columns.
        """
        text = _MARK.sub(blanks_for, self.brackets[1])
        at = self.line.at + self.brackets.start(1)
        cells = tuple(_words(_APART, text, at))
        words = tuple(_words(_WORD, text, at))
        is_cut = len(cells) != columns == len(words)
        # Where nothing stands above the columns, one blank is between numbers alone.
        if is_cut or (not columns and len(cells) == 1 and _NUMBERS.fullmatch(cells[0].text)):
            cells = words
        return tuple(map(_without_line, cells))


def read(source: Source, trace: Trace, others: OtherShapes = None) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    page = Page(ErrorCollector(source), trace, others)
    text = source.text
    for number, lines in enumerate(_paragraphs(source.text)):
        is_title = number == 0
        heading = _title(lines) if is_title else _heading(lines[0])
        page.add_heading(heading, lines[0].at, title=is_title)
        if between := _between_rows(lines):
            page.errors.add(
                f"{shorten(between.text.strip())} stands between two rows of a matrix",
                at=between.at + between.indent,
                help="end the matrix before it with ⎣ ⎦, or leave the line out",
            )
            continue
        drawn = [table for part in _side_by_side(lines) for table in _drawn(part)]
        for table in drawn or _said(lines):
            page.add_table(table)
            text = blanked(text, lines[0].at, lines[-1].at + len(lines[-1].text))
    add_named(page, text)
    return page.finish(_FORM)


def _between_rows(lines: Sequence[_PageLine]) -> _PageLine | None:
    """The first line without brackets below a row of a drawn matrix that goes on; None for none."""
    for line, below in pairwise(lines):
        if line.is_above_row and not below.bracketed:
            return below
    return None


def _title(lines: Sequence[_PageLine]) -> str:
    """The title of a page, which a narrow terminal may have wrapped, without the rule below it."""
    words = [line.text.strip() for line in lines if not _RULE.fullmatch(line.text)]
    return _heading(replace(lines[0], text=" ".join(words)))


def _heading(line: _PageLine) -> str:
    """What a heading says, without the rules around it and its number."""
    text = line.text.strip()
    drawn = _HEADING.match(text)
    return drawn[1].strip() if drawn else text


def _paragraphs(text: str) -> Iterator[list[_PageLine]]:
    """The lines of a page, cut at empty ones."""
    at = 0
    lines: list[_PageLine] = []
    for line in text.split("\n"):
        if line.strip():
            lines.append(_PageLine(at, line, tuple(_BRACKETS.finditer(line))))
        elif lines:
            yield from _below_each_other(lines)
            lines = []
        at += len(line) + 1
    if lines:
        yield from _below_each_other(lines)


def _below_each_other(lines: list[_PageLine]) -> Iterator[list[_PageLine]]:
    """The parts of a paragraph in which people left out the empty line between two matrices: below
    the last row of one there are words, and then the first row of another.
    """
    start = 0
    for number, (line, below) in enumerate(pairwise(lines), 1):
        is_end = line.ends_matrix and not below.bracketed
        if is_end and any(each.bracketed for each in lines[number:]):
            yield lines[start:number]
            start = number
    yield lines[start:]


def _side_by_side(lines: Sequence[_PageLine]) -> list[Sequence[_PageLine]]:
    """The parts of a paragraph that stand side by side, each a matrix with what stands above it; a
    product is one.
    """
    matrices = _matrices_by_column(lines)
    if len(matrices) < 2 or any(_SIGN_OF_PRODUCT.search(line.outside) for line in lines):
        return [lines]
    cuts = [0]
    for before, matrix in pairwise(matrices):
        begin = _begin_of_labels(lines, before.end, matrix)
        if begin - before.end < _GAP_OF_PARTS:
            return [lines]
        cuts.append(begin)
    parts: list[Sequence[_PageLine]] = []
    for left, right in zip(cuts, [*cuts[1:], None], strict=True):
        cut = [line.between(left, right) for line in lines]
        parts.append([line for line in cut if line.text.strip()])
    return parts


def _matrices_by_column(lines: Sequence[_PageLine]) -> list[_PlacedMatrix]:
    """The matrices of a paragraph from left to right: brackets that open in one column are one."""
    found: dict[int, _PlacedMatrix] = {}
    for number, line in enumerate(lines):
        for each in line.bracketed:
            start, end = line.column(each.start()), line.column(each.end())
            matrix = found.setdefault(start, _PlacedMatrix(start, end, []))
            matrix.rows.append(number)
            found[start] = matrix._replace(end=max(matrix.end, end))
    return sorted(found.values())


def _begin_of_labels(lines: Sequence[_PageLine], end: int, matrix: _PlacedMatrix) -> int:
    """The column in which the labels of a matrix begin, after the end of the one before; of a
    matrix without labels, its name.
    """
    begins: list[int] = []
    for number in matrix.rows:
        # The name stands above the labels of the rows.
        above = lines[max(number - 1, 0) : number + 1]
        begins += [line.first_column(end, matrix.start) for line in above]
    return min(begins)


def _drawn(lines: Sequence[_PageLine]) -> list[Table]:
    """The matrix of a paragraph; of a product the last one, which has labels. Its decimals, if
    they stand behind closed forms, are a second table. None where nothing is drawn.
    """
    rows = _last_matrix(lines)
    if not rows or not rows[0].number:
        return []
    decimals: list[_MatrixRow] = []
    # A matrix without room for labels has the decimals of the closed forms before it.
    if rows[0].order and rows[0].room_before <= _RELATION_WIDTH:
        decimals = rows
        rows = [row.before() for row in rows]
    left = _end_of_factors(lines, rows)
    words = _words_above(lines, rows, left)
    if not words:
        return []
    name, *columns = words
    if decimals:
        # Both matrices have the labels of the columns above them.
        columns = columns[: len(columns) // 2]
    if equation := _NAME_IN_EQUATION.fullmatch(name.text):
        name = name._replace(text=equation[1])
    named = _NAME_OF_DECIMALS.fullmatch(name.text)
    table = Table(
        name=(named[1] if named else name.text).removesuffix(":"),
        at=name.at,
        columns=tuple(column.text for column in columns),
        rows=tuple(_label(row, left) for row in rows),
        starts=tuple(row.line.at + row.brackets.start() for row in rows),
        cells=_cells(rows, columns),
        column_span=_span(lines[0].text),
        repeats=named is not None,
    )
    if not decimals:
        return [table]
    return [table, replace(table, cells=_cells(decimals, columns), repeats=True)]


def _words_above(
    lines: Sequence[_PageLine], rows: Sequence[_MatrixRow], left: int
) -> list[CellText]:
    """The name of a matrix and those of its columns: two blanks stand between them, or one where
    somebody typed them so.
    """
    above = lines[rows[0].number - 1]
    words = [*_words(_APART, above.text[left:], above.at + left)]
    one_by_one = [*_words(_WORD, above.text[left:], above.at + left)]
    numbers = rows[0].brackets[1].strip()
    if len(words) > 2 or not _NUMBERS.fullmatch(numbers):
        return words
    columns = len(numbers.split())
    whole = above.text.strip()
    if left == 0 and len(one_by_one) > 1 and whole.endswith((":", "=")):
        # My result after softmax: has as many words as a line of names may have.
        return [CellText(whole.rstrip(":= "), above.at + above.indent)]
    if len(one_by_one) == columns + 1:
        return one_by_one
    before = lines[rows[0].number - 2] if rows[0].number > 1 else None
    has_own_line = before is not None and before.text.rstrip().endswith((":", "="))
    if before is not None and has_own_line and len(one_by_one) == columns:
        name = CellText(before.text.strip().rstrip(":= "), before.at + before.indent)
        return [name, *one_by_one]
    return words


def _last_matrix(lines: Sequence[_PageLine]) -> list[_MatrixRow]:
    """The rows of the matrix that stands furthest to the right."""
    rows = [
        _MatrixRow(number, line, len(line.bracketed) - 1)
        for number, line in enumerate(lines)
        if line.bracketed
    ]
    # Matrices that are as high as each other may be moved by numbers that are written in.
    is_even = len({row.order for row in rows}) == 1
    if not is_even:
        furthest = max((row.start_column for row in rows), default=0)
        rows = [row for row in rows if row.start_column == furthest]
    return [row for row in rows if row is rows[0] or not row.continues_label]


def _end_of_factors(lines: Sequence[_PageLine], rows: Sequence[_MatrixRow]) -> int:
    """Where the labels of a matrix begin: after all that stands left of it in a product."""
    if not any(row.order for row in rows):
        return 0
    start = rows[0].start_column
    ends = [
        brackets.end()
        for line in lines
        for brackets in line.bracketed
        if line.column(brackets.start()) < start
    ]
    left = max(ends) + _RELATION_WIDTH
    # A factor is as wide as its name, if this is wider than its rows.
    for name in _words(_APART, lines[rows[0].number - 1].text, 0):
        end = name.at + len(name.text)
        if name.at < left < end:
            return end + _RELATION_WIDTH
    return left


def _label(row: _MatrixRow, left: int) -> str:
    return row.line.text[left : row.brackets.start()].strip()


def _cells(
    rows: Sequence[_MatrixRow], columns: Sequence[CellText]
) -> tuple[tuple[CellText, ...], ...]:
    return tuple(row.cells(len(columns)) for row in rows)


def _span(caption: str) -> Span | None:
    """Which columns a part of a wide matrix has: columns 1–8 of 12."""
    found = _COLUMNS.fullmatch(caption)
    if found is None:
        return None
    last, total = _whole(found[2]), _whole(found[3])
    first = _whole(found[1]) if found[1] else last
    return Span(first - 1, last, total)


def _whole(digits: str) -> int:
    return int(digits.replace(",", ""))


def _said(lines: Sequence[_PageLine]) -> list[Table]:
    """The matrix of a paragraph that says its rows one by one; none where nothing is said so."""
    first, *others = _unwrapped(lines)
    head = _SAID_HEAD.fullmatch(first.text)
    rows = [(line.at, row) for line in others if (row := _SAID_ROW.fullmatch(line.text))]
    if not head or not rows:
        return []
    columns = _words(_SAID_CELL, head["columns"] or "", 0)
    table = Table(
        name=_on_one_line(head["name"]).replace(" transposed", "^T"),
        at=first.at + head.start("name"),
        columns=tuple(_on_one_line(label.text) for label in columns),
        rows=tuple(_on_one_line(row["label"] or "") for _, row in rows),
        starts=tuple(at + row.start("cells") for at, row in rows),
        cells=tuple(_said_cells(row["cells"], at + row.start("cells")) for at, row in rows),
    )
    return [table]


def _unwrapped(lines: Sequence[_PageLine]) -> list[_PageLine]:
    """The lines of a paragraph as they were before a narrow terminal wrapped them: what goes on is
    indented.
    """
    first, *others = lines
    whole = [first]
    for line in others:
        if line.indent > first.indent:
            begun = whole[-1]
            whole[-1] = replace(begun, text=f"{begun.text}\n{line.text}")
        else:
            whole.append(line)
    return whole


def _on_one_line(text: str) -> str:
    return _WRAPPED.sub(" ", text).strip()


def _said_cells(text: str, at: int) -> tuple[CellText, ...]:
    """The numbers of a row that is said, closed forms with their decimals: e about 2.718."""
    cells = []
    for cell in _words(_SAID_CELL, text, at):
        number = _SAID_REMARK.sub("", _on_one_line(cell.text))
        number = _SAID_RELATION.sub(" ≈ ", number)
        cells.append(_without_line(cell._replace(text=number)))
    return tuple(cells)


def _without_line(cell: CellText) -> CellText:
    """The cell without what is left of a line to write on, 0.07 for 0.07__; all of a line is a
    blank.
    """
    return cell._replace(text=cell.text.strip("_") or "_")


# A paragraph has no more lines than this, mostly.
@lru_cache(64)
def _columns(text: str) -> list[int]:
    """In which column of a terminal each letter of a line stands, and where the line ends."""
    return [0, *accumulate(map(_letter_width, text))]


def _letter_width(letter: str) -> int:
    """How many columns of a terminal a letter takes."""
    if east_asian_width(letter) in "WF":
        return 2
    return 0 if combining(letter) else 1


def _words(pattern: re.Pattern[str], text: str, at: int) -> Iterator[CellText]:
    for found in pattern.finditer(text):
        word = found[0].strip()
        if word:
            indent = len(found[0]) - len(found[0].lstrip())
            yield CellText(word, at + found.start() + indent)
