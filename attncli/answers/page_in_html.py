"""Answers in HTML: the matrices of a page of ours, by the arrays that its tables name, and what was
typed into the fields of a worksheet, as browsers save it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from attncli.answers.model import Answer, OtherShapes
from attncli.answers.pages import CellText, Page, Table
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

_FORM = "a page that attncli wrote has tables with the names of steps; others are no answers"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# The sign of a verdict or of a mask stands in one of these, and the number of a step in the other.
_ASIDE = frozenset({"i", "span"})
_DOTS = "dots"


def read(source: Source, trace: Trace, others: OtherShapes = None) -> dict[str, Answer]:
    """The answers to steps of this trace; raises AttncliError (exit 3) for what is wrong."""
    page = Page(ErrorCollector(source), trace, others)
    reader = _PageReader(page, source.text)
    reader.feed(source.text)
    reader.close()
    return page.finish(_FORM)


class _PageReader(HTMLParser):
    """Gives headings and matrices to a page as it comes to them."""

    def __init__(self, page: Page, text: str) -> None:
        super().__init__()
        self._page = page
        self._lines = _beginnings_of_lines(text)
        self._table: _ReadTable | None = None
        self._known: set[str] = set()
        self._headings = 0
        # The tag of a heading or a cell that is open, and what was said in it.
        self._open = ""
        self._said: list[str] = []
        self._start = 0
        self._ignored = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self._table = self._opened_table(given)
        elif tag in _HEADINGS:
            self._begin(tag)
        elif self._table is not None:
            self._in_table(self._table, tag, given)
        if self._open and tag in _ASIDE and tag != self._open:
            self._ignored += 1

    def _opened_table(self, given: dict[str, str | None]) -> _ReadTable | None:
        """A matrix whose numbers stand in it as they stand in the array; None for another table."""
        name = given.get("data-array")
        if not name or "data-turned" in given:
            return None
        return _ReadTable(name, self._at())

    def _in_table(self, table: _ReadTable, tag: str, given: dict[str, str | None]) -> None:
        if tag == "tbody":
            table.is_in_body = True
        elif tag == "tr" and table.is_in_body:
            table.add_row(self._at())
        elif tag in ("td", "th"):
            table.has_dots |= _DOTS in (given.get("class") or "").split()
            self._begin(tag)
        elif tag == "input" and self._open == "td":
            self._said.append(given.get("value") or "")

    def _begin(self, tag: str) -> None:
        self._open, self._said, self._start, self._ignored = tag, [], self._at(), 0

    def handle_endtag(self, tag: str) -> None:
        if tag == self._open:
            self._end(tag, "".join(self._said).strip())
        elif self._open and tag in _ASIDE:
            self._ignored = max(0, self._ignored - 1)
        elif tag == "table" and self._table is not None:
            self._add(self._table)
            self._table = None

    def _end(self, tag: str, said: str) -> None:
        self._open = ""
        if tag in _HEADINGS:
            # The title of a page that stands in another one is of any level.
            is_title = not self._headings
            self._headings += 1
            self._page.add_heading(said, self._start, title=is_title)
        elif self._table is not None:
            self._table.add_cell(said, self._start, is_heading=tag == "th")

    def handle_data(self, data: str) -> None:
        if self._open and not self._ignored:
            self._said.append(data)

    def _add(self, table: _ReadTable) -> None:
        if table.has_dots:
            help = "write the page with all rows and columns, as Markdown or as JSON"
            self._page.errors.add(f"{table.name} is not whole on this page", at=table.at, help=help)
            return
        if not table.cells:
            return
        # A factor of a product stands where it was worked out, too, and keys that heads share.
        repeats = table.name in self._known
        self._known.add(table.name)
        self._page.add_table(table.as_answer(repeats=repeats))

    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


class _ReadTable:
    """A matrix that is being read."""

    def __init__(self, name: str, at: int) -> None:
        self.name = name
        self.at = at
        self.is_in_body = False
        self.has_dots = False
        self.columns: list[str] = []
        self.rows: list[str] = []
        self.starts: list[int] = []
        self.cells: list[list[CellText]] = []

    def add_row(self, at: int) -> None:
        """Begin a row, whose first cell is its label."""
        self.starts.append(at)
        self.cells.append([])

    def add_cell(self, said: str, at: int, *, is_heading: bool) -> None:
        """The label of a column or a row, or a number."""
        if not self.is_in_body:
            if is_heading:
                self.columns.append(said)
        elif len(self.rows) < len(self.starts):
            self.rows.append(said)
        elif self.cells:
            self.cells[-1].append(CellText(said.replace("\N{MINUS SIGN}", "-"), at))

    def as_answer(self, *, repeats: bool) -> Table:
        return Table(
            name=self.name,
            at=self.at,
            columns=tuple(self.columns),
            rows=tuple(self.rows),
            starts=tuple(self.starts),
            cells=tuple(map(tuple, self.cells)),
            repeats=repeats,
        )


def _beginnings_of_lines(text: str) -> Sequence[int]:
    """Where each line begins, as the parser counts them."""
    found = [0]
    at = text.find("\n")
    while at >= 0:
        found.append(at + 1)
        at = text.find("\n", at + 1)
    return found
