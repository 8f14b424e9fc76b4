r"""Answers in a text, each matrix behind its name or below it: S = [[1, 5, 3], …], in LaTeX too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from attncli.answers.model import Answer, OtherShapes
from attncli.answers.pages import CellText, Page, Table
from attncli.answers.steps import find_step
from attncli.english import listed
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, Node, PastedList
from attncli.problem.text.pasted.named import NamedMatrix, named_matrices
from attncli.problem.text.pasted.text import PasteError
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

_OF_OUR_PAGES = re.compile(
    r"\\overset\{|\\bordermatrix|\\noalign\{\\vskip-\\arraystretch|\\qquad|── |\$`"
    r"|^ *row\b[^\n]*:|, columns:|^-- ",
    re.MULTILINE,
)
_FORM = "write S = [[_, _, _], [_, _, _], …], or the same in LaTeX, with your numbers for _"


def read(source: Source, trace: Trace, others: OtherShapes = None) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    page = Page(ErrorCollector(source), trace, others)
    add_named(page)
    return page.finish(_FORM)


def add_named(page: Page, text: str = "") -> None:
    """Take the matrices of a text that have names into a page: of its whole text, or of one that is
    as long, without what was taken already.

    A page of ours has all its matrices in tables, and some of them in formulas once more.
    """
    errors = page.errors
    text = text or errors.source.text
    has_tables = bool(page.answers) or errors.count > 0
    if has_tables and _OF_OUR_PAGES.search(errors.source.text):
        return

    # Each line may begin with a name, and many are alike.
    @cache
    def shape_of(name: str) -> tuple[int, ...]:
        step = find_step(name, page.trace)
        return () if step is None else step.shape or (1,)

    try:
        found = named_matrices(text, shape_of, of_answers=True)
    except PasteError as error:
        message, help = error.args
        errors.fail(message, at=error.at, help=help)
    for matrix in found:
        if not matrix.name:
            message = "nothing above this matrix says which step it is"
            names = listed(list(page.trace.steps), last="")
            help = f"write the name of its step on a line above it, such as weights: (of {names})"
            errors.add(message, at=matrix.at, help=help)
            continue
        if _is_nested(matrix.numbers):
            page.add_nested(matrix.name, matrix.at, matrix.numbers)
            continue
        for table in _tables(matrix):
            page.add_table(table)


def _is_nested(numbers: PastedList) -> bool:
    """Whether these are matrices in a list, as programs print what has heads."""
    rows = (row for row in numbers.items if isinstance(row, ListNode))
    return any(isinstance(cell, ListNode) for row in rows for cell in row.items)


def _tables(matrix: NamedMatrix) -> list[Table]:
    """The matrix as a page would have it."""
    rows = _rows(matrix.numbers)
    if not rows:
        return []
    names = matrix.numbers
    return [
        Table(
            name=matrix.name,
            at=matrix.at,
            columns=names.column_names,
            rows=names.row_names,
            starts=tuple(row[0].at for row in rows),
            cells=tuple(rows),
        )
    ]


def _rows(numbers: PastedList) -> list[tuple[CellText, ...]]:
    """The cells of its rows; a list of numbers is one row, and deeper lists have no rows here."""
    rows: Sequence[Node] = numbers.items
    if all(isinstance(item, Leaf) for item in numbers.items):
        rows = [numbers]
    found = [_cells(row) for row in rows if isinstance(row, ListNode)]
    return [cells for cells in found if cells]


def _cells(row: ListNode) -> tuple[CellText, ...]:
    return tuple(CellText(cell.text, cell.at) for cell in row.items if isinstance(cell, Leaf))
