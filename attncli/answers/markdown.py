"""Answers in Markdown: the tables of a page of ours, with either kind of math, whatever numbers
were written in.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from attncli.answers.claims import read_claim
from attncli.answers.model import Answer, OtherShapes
from attncli.answers.pages import CellText, Page, Table
from attncli.answers.steps import NoStep, step_named
from attncli.answers.texts import add_named
from attncli.attention.registry import STEP_NAMES
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.latex_numbers import LONGEST_CELL, from_latex
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.pasted.named import blanked
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?:[0-9]+\. )?")
_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CELL = re.compile(r"(?:[^|\\]|\\.)*")
# What a mask hides has a dot behind it, and a page without colours has shades.
_MARK = re.compile(r"\s+(?:[·░▒▓█]|\$\\cdot\$)\s*$")
_MATH = re.compile(r"\$`?(.*?)`?\$")
_FORMULA = re.compile(r"\$([^$]*)\$")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# It keeps GitHub from making links of labels.
_NOTHING = "<!-- -->"
_FORM = (
    "a matrix is a table whose first cell is its letter, or below a heading such as ## Scores, or"
    " behind S ="
)


def read(source: Source, trace: Trace, others: OtherShapes = None) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    page = Page(ErrorCollector(source), trace, others)
    title = ""
    text = source.text
    lines = _lines(text)
    place = 0
    while place < len(lines):
        at, line = lines[place]
        heading = _HEADING.match(line)
        if heading:
            title = _text_of_heading(line[heading.end() :])
            page.add_heading(title, at, title=heading[1] == "#")
        end = _end_of_table(lines, place)
        if end is None:
            place += 1
            continue
        head, _, *body = lines[place:end]
        table = _table([head, *body], title, trace)
        # A table without the name of a step may be the matrix below a heading.
        if table:
            start, last = head[0], lines[end - 1]
            text = blanked(text, start, last[0] + len(last[1]))
            page.add_table(table)
        place = end
    add_named(page, text)
    return page.finish(_FORM)


def _text_of_heading(text: str) -> str:
    """What a heading says, without the number signs that may close it."""
    unclosed = text.rstrip().rstrip("#")
    return _plain(unclosed.rstrip())


def _end_of_table(lines: Sequence[tuple[int, str]], start: int) -> int | None:
    """The line after a table that begins here; None where none does."""
    _, head = lines[start]
    if "|" not in head:
        return None
    if start + 1 == len(lines):
        return None
    _, rule = lines[start + 1]
    if not _RULE.fullmatch(rule):
        return None
    for end in range(start + 2, len(lines)):
        _, row = lines[end]
        if "|" not in row:
            return end
    return len(lines)


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines outside of fences, with the offsets at which they begin."""
    found = []
    at = 0
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            found.append((at, line))
        at += len(line) + 1
    return found


def _table(lines: list[tuple[int, str]], title: str, trace: Trace) -> Table | None:
    """A matrix of a step, or None for any other table."""
    head, *body = [list(_cells(line, at)) for at, line in lines]
    corner, *columns = head
    name = _name(corner.text, trace)
    if not corner.text and _is_of_step(title, trace):
        name = title
    if not body or not all(body) or not name:
        return None
    has_names = any(column.text for column in head) or not _are_numbers(row[0] for row in body)
    first = 1 if has_names else 0
    return Table(
        name=name,
        at=corner.at,
        columns=tuple(_plain(column.text) for column in columns),
        rows=tuple(_plain(row[0].text) for row in body if has_names),
        starts=tuple(row[0].at for row in body),
        cells=tuple(_numbers(row[first:]) for row in body),
    )


def _is_of_step(name: str, trace: Trace) -> bool:
    """Whether a step is called so."""
    try:
        step_named(name, trace)
    except NoStep:
        return False
    return True


def _are_numbers(cells: Iterable[CellText]) -> bool:
    """Whether these are numbers or blanks, as a table without any names has in its first column."""
    try:
        for cell in cells:
            read_claim(_number(cell.text))
    except NumberError:
        return False
    return True


def _numbers(cells: Iterable[CellText]) -> tuple[CellText, ...]:
    return tuple(CellText(_number(cell.text), cell.at) for cell in cells)


def _cells(line: str, at: int) -> Iterator[CellText]:
    """What stands between the bars, those at the ends left out."""
    inner = line.rstrip()
    start = len(inner) - len(inner.lstrip())
    if inner.startswith("|", start):
        start += 1
    if "\\" in inner:
        texts = list(_parts(inner, start))
    else:
        texts = inner[start:].split("|")
    if not texts[-1].strip():
        texts.pop()
    for text in texts:
        indent = len(text) - len(text.lstrip())
        yield CellText(text.strip(), at + start + indent)
        start += len(text) + 1


def _parts(line: str, start: int) -> Iterator[str]:
    """What stands between the bars from there on, but for those that a backslash makes part of a
    cell.
    """
    while start <= len(line):
        found = _CELL.match(line, start)
        assert found
        yield found[0]
        start = found.end() + 1


def _name(corner: str, trace: Trace) -> str:
    """What the corner of a table says, if that is a formula or the name of a step; empty for
    anything else.
    """
    found = _MATH.fullmatch(corner)
    if found:
        return found[1].strip()
    plain = _plain(corner)
    if plain in STEP_NAMES or (plain and _is_of_step(plain, trace)):
        return plain
    return ""


def _number(cell: str) -> str:
    """A number in the spelling of claims, without what only shows how it looks."""
    if len(cell) > LONGEST_CELL:
        return cell
    has_formula = "$" in cell
    if cell.isascii() and not has_formula:
        return _plain(cell)
    unmarked = _MARK.sub("", cell)
    if not has_formula:
        return _plain(unmarked)
    text, *others = _FORMULA.split(unmarked)
    said = _plain(text)
    for formula, after in zip(others[::2], others[1::2], strict=True):
        number = from_latex(formula.strip("`"))
        said += f" {number} {_plain(after)}"
    return said.strip()


def _plain(text: str) -> str:
    """Text as it shows on the page."""
    if len(text) > 3 and text.startswith("**") and text.endswith("**"):
        text = text[2:-2]
    text = text.replace(_NOTHING, "")
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    return html.unescape(text).strip()
