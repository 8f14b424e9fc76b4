"""The results of a class as a page, as rows of a file, and as a workbook of two sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from attncli.cli.classes.summary import share_of, spread
from attncli.page.document import Block, Document, TableSheet
from attncli.render.csv_lines import Value

# The sheets of a workbook.
RESULTS = "results"
SUMMARY = "summary"
Line = Sequence[Value | None]


class ResultRow(Protocol):
    """What came of one student: `more` has the further columns of the manifest."""

    @property
    def more(self) -> Mapping[str, str]: ...


Results = TypeVar("Results", bound=Sequence[ResultRow])


def results_document(
    title: str,
    results: Results,
    *,
    blocks: Callable[[Results], Iterable[Block]],
    data: Callable[[Results], dict[str, Any]],
    rows: Callable[[Results], Iterator[Line]],
    tables: Callable[[Results], Iterator[list[Line]]],
) -> Document:
    """The page of a class; its rows are those of results.csv and results.xlsx, its data those of
    results.json. `tables` say of the whole class what the page says.
    """
    return Document(
        title,
        tuple(blocks(results)),
        lambda: data(results),
        rows=lambda: rows(results),
        workbook=lambda: (
            TableSheet(RESULTS, ([*rows(results)],)),
            TableSheet(SUMMARY, tuple(tables(results))),
        ),
    )


def further_columns(results: Sequence[ResultRow], known: Sequence[str]) -> dict[str, str]:
    """The further columns of the manifest, each with what it is called beside the known ones."""
    names = dict.fromkeys(name for each in results for name in each.more)
    return {name: f"{name} (manifest)" if name in known else name for name in names}


def table_of_marks(shares: Sequence[float], of: int | None = None) -> list[Line]:
    """The spread of the marks, in percent; beside it in marks, if all have a share `of` as many."""
    names = ("average", "median", "lowest", "highest")
    lines: list[Line] = [("marks", "in %")]
    if of is not None:
        lines = [("marks", "in %", f"of {of}")]
    for name, value in zip(names, spread(shares), strict=True):
        percent = round(100 * value, 1)
        lines.append((name, percent) if of is None else (name, percent, share_of(of, value)))
    return lines
