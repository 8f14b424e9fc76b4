r"""Answers in LaTeX: the matrices of a page of ours, as they are or with numbers written in.

A matrix is two arrays, of its labels and of its numbers. Pages of former versions have a
\bordermatrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attncli.answers.model import Answer, OtherShapes
from attncli.answers.pages import CellText, Page, Span, Table
from attncli.answers.texts import add_named
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.latex_numbers import LONGEST_CELL, from_latex
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

_COMMENT = re.compile(r"(\\.)|%[^\n]*", re.DOTALL)
_ABOVE_THE_ROWS = (
    r"\\begin\{array\}\{(?:[^{}]|\{[^{}]*\}){0,99}\}\s*"
    r"\\noalign\{\\vskip-\\arraystretch\\normalbaselineskip\}"
)
_NUMBERS_BESIDE = re.compile(rf"\{{array\}}\s*\\left\(\s*{_ABOVE_THE_ROWS}")
_PART_OF_PAGE = re.compile(
    r"\\section\*?\{(?:\\centering\\LARGE |\\Large )?(?P<heading>[^{}]*)\}"
    r"|\\LARGE\\bfseries (?P<title>.{0,2000}?)\\par\}"
    r"|\{\\small (?P<caption>[^{}]*):\}"
    r"|(?P<bordered>\\bordermatrix\s*\{)"
    r"|\\vphantom\{(?P<repeated>(?:[^{}]|\{[^{}]*\}){1,99})\}"
    rf"\s*\\left\(\s*{_ABOVE_THE_ROWS}"
    rf"|(?P<labelled>{_ABOVE_THE_ROWS})"
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}&]|[^\\{}&]+", re.DOTALL)
_CAPTION = re.compile(r"(column|row)(?:s ([0-9]+)(?:--|–|-))? ?([0-9]+) of ([0-9]+)")
_SPACE = re.compile(r"(?:\s|\\hfill\b)*")
_LABEL = re.compile(
    r"\s*(?:\\hfill)?\s*\\hbox\{(.*?)\}\s*(?:\\vrule[^\\]*)?(?:\\;)?(?:\\hfill)?\s*", re.DOTALL
)
_SMASHED = re.compile(r"^\\smash\{(.*)\}$", re.DOTALL)
# The corner of decimals that stand after closed forms.
_DECIMALS_CORNER = re.compile(r"\\vphantom\{(.{1,99})\}|(.{1,99}?)\s*(?:\\approx|=)")
_FORM = r"write S = \begin{pmatrix} a & b \\ c & d \end{pmatrix}, with your numbers for the letters"


def read(source: Source, trace: Trace, others: OtherShapes = None) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    errors = ErrorCollector(source)
    page = Page(errors, trace, others)
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
            table = None
            try:
                table = _table(_lines(text, found), spans, found.start())
            except _Unclosed as unclosed:
                errors.fail(
                    "the matrix that begins here is not closed",
                    at=found.start(),
                    help=f"close it with {unclosed} after the last row",
                )
            if table:
                page.add_table(table)
            spans = {}
    add_named(page)
    return page.finish(_FORM)


class _Unclosed(Exception):
    """What begins a matrix has no partner, which the text of this names."""


def _spans(caption: str) -> Iterator[tuple[str, Span]]:
    """Which columns and rows a part of a wide matrix has: columns 1--8 of 12, rows 1--30 of 40."""
    for what, first, last, total in _CAPTION.findall(caption):
        if max(len(first), len(last), len(total)) < 10:
            yield what, Span(int(first or last) - 1, int(last), int(total))


def _lines(text: str, found: re.Match[str]) -> list[list[CellText]]:
    """The lines of a matrix, each after its label; the first are its names.

    Decimals that stand after closed forms have no labels, and their name is not seen.
    """
    start = found.end()
    if found["bordered"]:
        rows, _ = _rows(text, start, "}")
        return rows
    if found["repeated"]:
        numbers, _ = _rows(text, start, r"\end")
        labels = [f"{found['repeated']} =", *("" for _ in numbers[1:])]
        return [[CellText(label, start), *row] for label, row in zip(labels, numbers, strict=True)]
    names, end = _rows(text, start, r"\end")
    beside = _NUMBERS_BESIDE.match(text, end)
    if not beside:
        return []
    numbers, _ = _rows(text, beside.end(), r"\end")
    nameless = CellText("", start)
    firsts = [row[0] for row in names]
    firsts += [nameless] * (len(numbers) - len(firsts))
    # The place of a row is that of its numbers.
    return [
        [CellText(first.text, row[0].at), *row] for first, row in zip(firsts, numbers, strict=False)
    ]


def _rows(text: str, start: int, closing: str) -> tuple[list[list[CellText]], int]:
    r"""The rows of a matrix that has just been opened, cut at & and \\ (or \cr), and where what
    closes it ends.
    """
    depth, cell = 0, start
    rows: list[list[CellText]] = []
    row: list[CellText] = []
    for found in _TOKEN.finditer(text, start):
        sign = found[0]
        if sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
        elif depth:
            continue
        elif sign == r"\begin" and closing == r"\end":
            # No array of ours stands in another one.
            break
        elif sign in ("&", r"\cr", "\\\\", closing):
            row.append(_cell_text(text, cell, found.start()))
            cell = found.end()
            if sign != "&":
                if len(row) > 1 or row[0].text:
                    rows.append(row)
                row = []
            if sign == closing:
                return rows, found.end()
    raise _Unclosed("a }" if closing == "}" else r"\end{array}")


def _cell_text(text: str, start: int, end: int) -> CellText:
    found = _SPACE.match(text, start, end)
    assert found
    return CellText(text[found.end() : end].strip(), found.end())


def _table(rows: list[list[CellText]], spans: dict[str, Span], at: int) -> Table | None:
    if len(rows) < 2 or not all(len(row) > 1 for row in rows[1:]):
        return None
    (corner, *columns), *body = rows
    name = corner.text
    if len(name) < LONGEST_CELL:
        name = _SMASHED.sub(r"\1", name)
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
    if len(cell) >= LONGEST_CELL:
        return cell
    cell = _SMASHED.sub(r"\1", cell)
    found = _LABEL.fullmatch(cell)
    return found[1] if found else cell
