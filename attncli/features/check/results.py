"""Reads results back, so that marking goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from attncli.cli.csv_files import csv_rows
from attncli.errors import AttncliError, Place, input_error
from attncli.features.check.class_page import BETWEEN, COLUMNS
from attncli.features.check.marking import Marked
from attncli.features.check.solution import VERDICTS, Verdict
from attncli.problem.source import Source, read_source

_HELP = "name a file that attncli check wrote, or leave out --resume"


def read_results(path: str, *, lenient: bool) -> list[Marked]:
    """The rows of results in CSV, TSV or JSON; AttncliError (exit 3 or 4) for what is none."""
    source = read_source(path)
    try:
        rows = _of_json(source) if path.lower().endswith(".json") else _of_csv(source, lenient)
        return list(rows)
    except AttncliError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise input_error("these are no results of a class", place=Place(path, 1, 1), help=_HELP) from None


def _of_json(source: Source) -> Iterable[Marked]:
    for row in json.loads(source.text)["students"]:
        yield Marked(
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


def _of_csv(source: Source, lenient: bool) -> Iterable[Marked]:
    rows = csv_rows(source)
    head = first.cells if (first := next(rows, None)) else ()
    if not {*COLUMNS}.issubset(head):
        raise ValueError
    for row in rows:
        cells = dict(zip(head, row.cells, strict=True))
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
