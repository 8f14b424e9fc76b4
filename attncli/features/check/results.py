"""Reads results back, so that marking goes on where it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from attncli.cli.csv_files import csv_rows
from attncli.cli.options import suffix_of
from attncli.errors import AttncliError, Place, input_error
from attncli.features.check.class_page import BETWEEN, COLUMNS, RESULTS
from attncli.features.check.marking import Marked
from attncli.features.check.solution import VERDICTS, Verdict
from attncli.problem.array_formats import ArrayError, strict_json
from attncli.problem.files import read_bytes
from attncli.problem.source import Source, read_source

_HELP = "name a file that attncli check wrote, or leave out --resume"


def read_results(path: str, *, lenient: bool) -> list[Marked]:
    """The rows of results in CSV, TSV, JSON or a workbook; AttncliError (exit 3 or 4) for what is none."""
    suffix = suffix_of(path)
    try:
        if suffix == ".json":
            return [*_of_json(read_source(path))]
        return [*_of_table(_of_workbook(path) if suffix == ".xlsx" else _of_csv(read_source(path)), lenient)]
    except AttncliError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise input_error("these are no results of a class", place=Place(path, 1, 1), help=_HELP) from None


def _of_json(source: Source) -> Iterator[Marked]:
    results: Any = strict_json(source.text.encode())
    return map(row_of_json, results["students"])


def row_of_json(row: Mapping[str, Any]) -> Marked:
    """The row that `Marked.to_dict` made this data of; ValueError, KeyError, TypeError or AttributeError for others."""
    return Marked(
        student=_text(row["student"]),
        problem=_text(row["problem"]),
        answers=_text(row["answers"]),
        marks=None if row["marks"] is None else float(row["marks"]),
        of=None if row["of"] is None else int(row["of"]),
        counts={} if row["counts"] is None else {verdict: int(row["counts"][verdict]) for verdict in VERDICTS},
        first_wrong=_text(row["first_wrong"] or ""),
        mistakes=tuple((_text(each["step"]), _text(each["mistake"])) for each in row["mistakes"]),
        passed=bool(row["passed"]),
        error=_text(row["error"] or ""),
        more={name: _text(text) for name, text in row["more"].items()},
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _of_csv(source: Source) -> Iterator[Sequence[str]]:
    return (row.cells for row in csv_rows(source))


def _of_workbook(path: str) -> Iterator[Sequence[str]]:
    from attncli.problem.array_formats.xlsx import rows_of_text

    try:
        rows = rows_of_text(BytesIO(read_bytes(path)), path, RESULTS)
    except ArrayError as error:
        message, help = error.args
        raise input_error(message, help=help) from None
    columns = [*rows[0]] if rows else []
    return ([row.get(column, "") for column in columns] for row in rows)


def _of_table(rows: Iterator[Sequence[str]], lenient: bool) -> Iterator[Marked]:
    head = next(rows, ())
    if not {*COLUMNS}.issubset(head):
        raise ValueError
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        counts = {verdict: int(cells[verdict]) for verdict in VERDICTS if cells[verdict]}
        yield Marked(
            student=cells["student"],
            problem=cells["problem"],
            answers=cells["answers"],
            marks=float(cells["marks"]) if cells["marks"] else None,
            of=int(cells["of"]) if cells["of"] else None,
            counts=counts,
            first_wrong=cells["first_wrong"],
            mistakes=tuple(_mistake(each) for each in cells["mistakes"].split(BETWEEN) if each),
            passed=_passed(counts, lenient),
            error=cells["error"],
            more={name.removesuffix(" (manifest)"): text for name, text in cells.items() if name not in COLUMNS},
        )


def _mistake(text: str) -> tuple[str, str]:
    step, _, mistake = text.partition(": ")
    return step, mistake


def _passed(counts: Mapping[Verdict, int], lenient: bool) -> bool:
    return bool(counts) and not (counts["wrong"] or counts["missing"] or (counts["rounding"] and not lenient))
