r"""Answers in LaTeX: the \bordermatrix of each step on a page of ours, as they are or with numbers
written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attncli.answers.model import Answer
from attncli.answers.pages import CellText, Page, Span, Table
from attncli.answers.texts import add_named
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.latex_numbers import LONGEST_CELL, from_latex
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

_COMMENT = re.compile(r"(\\.)|%[^\n]*", re.DOTALL)
_PART_OF_PAGE = re.compile(
    r"\\section\*?\{(?:\\centering\\LARGE )?(?P<heading>[^{}]*)\}"
    r"|\\LARGE\\bfseries (?P<title>.{0,2000}?)\\par\}"
    r"|\{\\small (?P<caption>[^{}]*):\}"
    r"|\\bordermatrix\s*\{"
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}&]|[^\\{}&]+", re.DOTALL)
_CAPTION = re.compile(r"(column|row)(?:s ([0-9]+)(?:--|–|-))? ?([0-9]+) of ([0-9]+)")
_SPACE = re.compile(r"(?:\s|\\hfill\b)*")
_LABEL = re.compile(
    r"\s*(?:\\hfill)?\s*\\hbox\{(.*?)\}\s*(?:\\vrule[^\\]*)?(?:\\;)?(?:\\hfill)?\s*", re.DOTALL
)
_SMASHED = re.compile(r"^\\smash\{(.{1,99})\}$")
# The corner of decimals that stand after closed forms.
_DECIMALS_CORNER = re.compile(r"\\vphantom\{(.{1,99})\}|(.{1,99}?)\s*(?:\\approx|=)")
_FORM = r"write S = \begin{pmatrix} 1 & 5 & 3 \\ 3 & 3 & 3 \\ 2 & 4 & 3 \end{pmatrix}"


def read(source: Source, trace: Trace) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    errors = ErrorCollector(source)
    page = Page(errors, trace)
    text = source.text
    if "%" in text:
        text = _COMMENT.sub(lambda found: found[1] or " " * len(found[0]), text)
    spans: dict[str, Span] = {}
    for found in _PART_OF_PAGE.finditer(text):
        if found["heading"] is not None:
            page.add_heading(re.sub(r"^[0-9]+\\quad ", "", found["heading"]), found.start())
        elif found["title"] is not None:
            page.add_heading(found["title"], found.start(), title=True)
        elif found["caption"] is not None:
            spans = dict(_spans(found["caption"]))
        else:
            try:
                rows = list(_rows(text, found.end()))
            except _Unclosed:
                help = "close it with a } after the last row"
                errors.fail(
                    "the matrix that begins here is not closed", at=found.start(), help=help
                )
            if table := _table(rows, spans, found.start()):
                page.add_table(table)
            spans = {}
    add_named(page)
    return page.finish(_FORM)


class _Unclosed(Exception):
    """The brace of a matrix has no partner."""


def _spans(caption: str) -> Iterator[tuple[str, Span]]:
    """Which columns and rows a part of a wide matrix has: columns 1--8 of 12, rows 1--30 of 40."""
    for what, first, last, total in _CAPTION.findall(caption):
        if max(len(first), len(last), len(total)) < 10:
            yield what, Span(int(first or last) - 1, int(last), int(total))


def _rows(text: str, start: int) -> Iterator[list[CellText]]:
    r"""The rows of a matrix whose brace has just been opened, cut at & and \cr (or \\)."""
    depth, cell, row = 0, start, []
    for found in _TOKEN.finditer(text, start):
        sign = found[0]
        if sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
        elif depth:
            continue
        elif sign in ("&", r"\cr", "\\\\", "}"):
            row.append(_cell_text(text, cell, found.start()))
            cell = found.end()
            if sign != "&":
                if len(row) > 1 or row[0].text:
                    yield row
                row = []
            if sign == "}":
                return
    raise _Unclosed


def _cell_text(text: str, start: int, end: int) -> CellText:
    found = _SPACE.match(text, start, end)
    assert found
    return CellText(text[found.end() : end].strip(), found.end())


def _table(rows: list[list[CellText]], spans: dict[str, Span], at: int) -> Table | None:
    if len(rows) < 2 or not all(len(row) > 1 for row in rows[1:]):
        return None
    (corner, *columns), *body = rows
    name = _SMASHED.sub(r"\1", corner.text)
    repeated = _DECIMALS_CORNER.fullmatch(name) if len(name) < LONGEST_CELL else None
    name = (repeated[1] or repeated[2]) if repeated else name
    return Table(
        name=name,
        at=corner.at,
        columns=tuple(_label(column.text) for column in columns),
        rows=tuple(_label(row[0].text) for row in body),
        starts=tuple(row[0].at for row in body),
        cells=tuple(_numbers(row[1:]) for row in body),
        row_span=spans.get("row"),
        column_span=spans.get("column"),
        repeats=repeated is not None,
    )


def _numbers(cells: Sequence[CellText]) -> tuple[CellText, ...]:
    return tuple(CellText(from_latex(cell.text), cell.at) for cell in cells)


def _label(cell: str) -> str:
    found = _LABEL.fullmatch(cell) if len(cell) < LONGEST_CELL else None
    return found[1] if found else cell
