"""Answers on a page for the terminal: the matrices of a worksheet in a .txt file, with numbers
written in.

A matrix is drawn with brackets, or said in words, as `--ascii` has it: "A, columns: I, love", "row
I: 0.1, 0.9".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from attncli.answers.model import Answer
from attncli.answers.pages import CellText, Page, Span, Table
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

_BRACKETS = re.compile(r"(?:[⎡⎢⎣]|(?<!\S)\[(?=\s))([^⎡⎢⎣⎤⎥⎦]*?)(?:[⎤⎥⎦]|(?<=\s)\](?!\S))")
_COLUMNS = re.compile(r"\s*columns? (?:([0-9,]{1,9})[–-])?([0-9,]{1,9}) of ([0-9,]{1,9})\s*")
_HEADING = re.compile(r"(?:──|--) (?:[0-9]+ )?(.*?) (?:─|--)")
_APART = re.compile(r"(?:(?!\s{2}).)+")  # what two blanks or more end
_WORD = re.compile(r"\S+")
_MARK = re.compile(r"\s[·░▒▓█](?=\s{2}|\s*$)")  # hidden by a mask, or a shade
_SAID_HEAD = re.compile(r"\s*(?P<name>.+?)(?:, columns: (?P<columns>.*)|:)\s*")
_SAID_ROW = re.compile(r"\s*row(?: (?P<label>.*))?: (?P<cells>.*)")
_BETWEEN_SAID = re.compile(r"(?:(?!,\s).)+")
# hidden by the mask, or a shade
_SAID_MARK = re.compile(r"\s*\([a-z ]+\)|^blank$")
# columns that "  =  " takes between two matrices
_SIGN = 5
_FORM = "a matrix has its letter and its columns above its rows, as attncli worksheet writes it"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page and where it begins; the parts of it in brackets stand in rows of
    matrices.
    """

    at: int
    text: str
    rows: tuple[re.Match[str], ...]

    def column(self, place: int) -> int:
        """How many columns of a terminal stand before a place: letters may take two of them, or
        none.
        """
        text = self.text[:place]
        if text.isascii():
            return place
        return sum(
            2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text
        )


def read(source: Source, trace: Trace) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    page = Page(ErrorCollector(source), trace)
    for number, lines in enumerate(_paragraphs(source.text)):
        first = lines[0].text.strip()
        drawn = _HEADING.match(first)
        page.add_heading(drawn[1].strip() if drawn else first, lines[0].at, title=number == 0)
        if table := _drawn(lines) or _said(lines):
            page.add_table(table)
    return page.finish(_FORM)


def _paragraphs(text: str) -> Iterator[list[_Line]]:
    """The lines of a page, cut at empty ones."""
    at, lines = 0, []
    for line in text.split("\n"):
        if line.strip():
            lines.append(_Line(at, line, tuple(_BRACKETS.finditer(line))))
        elif lines:
            yield lines
            lines = []
        at += len(line) + 1
    if lines:
        yield lines


def _drawn(lines: Sequence[_Line]) -> Table | None:
    """The matrix of a paragraph; of a product the last one, which has labels; None where there is
    none.
    """
    left = 0
    rows = [(number, line, line.rows[-1]) for number, line in enumerate(lines) if line.rows]
    if any(len(line.rows) > 1 for line in lines):
        starts = [line.column(row.start()) for _, line, row in rows]
        rows = [row for row, start in zip(rows, starts, strict=True) if start == max(starts)]
        left = (
            max(
                row.end()
                for line in lines
                for row in line.rows
                if line.column(row.start()) < max(starts)
            )
            + _SIGN
        )
        # no labels: decimals beside the closed forms, which count
        if any(row.start() <= left for _, _, row in rows):
            rows, left = [(number, line, line.rows[0]) for number, line, _ in rows], 0
    words = (
        list(_words(_APART, lines[rows[0][0] - 1].text[left:], lines[rows[0][0] - 1].at + left))
        if rows
        else []
    )
    if not words or not rows[0][0]:
        return None
    name, *columns = words
    labels = [
        CellText(line.text[left : row.start()].strip(), line.at + row.start())
        for _, line, row in rows
    ]
    return Table(
        name.text,
        name.at,
        tuple(column.text for column in columns),
        tuple(label.text for label in labels),
        tuple(label.at for label in labels),
        tuple(
            _cells(row[1], line.at + row.start(1), max(len(columns), 1)) for _, line, row in rows
        ),
        column_span=_span(lines[0].text),
    )


def _span(caption: str) -> Span | None:
    """Which columns a part of a wide matrix has: columns 1–8 of 12."""
    found = _COLUMNS.fullmatch(caption)
    if found is None:
        return None
    first, last, total = (
        int(number.replace(",", "")) for number in (found[1] or found[2], found[2], found[3])
    )
    return Span(first - 1, last, total)


def _said(lines: Sequence[_Line]) -> Table | None:
    """The matrix of a paragraph that says its rows one by one; None where there is none."""
    head = _SAID_HEAD.fullmatch(lines[0].text)
    rows = [(line.at, row) for line in lines[1:] if (row := _SAID_ROW.fullmatch(line.text))]
    if not head or not rows:
        return None
    return Table(
        head["name"].replace(" transposed", "^T"),
        lines[0].at + head.start("name"),
        tuple(label.text for label in _words(_BETWEEN_SAID, head["columns"] or "", 0)),
        tuple((row["label"] or "").strip() for _, row in rows),
        tuple(at + row.start("cells") for at, row in rows),
        tuple(
            tuple(
                cell._replace(text=_SAID_MARK.sub("", cell.text).strip("_") or "_")
                for cell in _words(_BETWEEN_SAID, row["cells"], at + row.start("cells"))
            )
            for at, row in rows
        ),
    )


def _cells(text: str, at: int, columns: int) -> tuple[CellText, ...]:
    """The numbers of a row: two blanks stand between them, or one where that makes as many as there
    are columns.
    """
    text = _MARK.sub(lambda found: " " * len(found[0]), text)
    apart, words = (tuple(_words(pattern, text, at)) for pattern in (_APART, _WORD))
    cells = words if len(apart) != columns == len(words) else apart
    return tuple(cell._replace(text=cell.text.strip("_") or "_") for cell in cells)


def _words(pattern: re.Pattern[str], text: str, at: int) -> Iterator[CellText]:
    for found in pattern.finditer(text):
        if word := found[0].strip():
            yield CellText(word, at + found.start() + len(found[0]) - len(found[0].lstrip()))
