"""Reads results back, so that marking goes on where it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from attncli.cli.classes.results import RESULTS
from attncli.cli.classes.summary import BETWEEN_MISTAKES
from attncli.cli.csv_files import Row, csv_rows
from attncli.cli.options import suffix_of
from attncli.english import listed
from attncli.errors import AttncliError, Place, input_error
from attncli.features.check.many.class_page import COLUMNS_OF_RESULTS, FEEDBACK
from attncli.features.check.many.result_row import Example, Marked
from attncli.features.check.verdicts import VERDICTS, Verdict
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.stored import strict_json
from attncli.problem.files import read_bytes
from attncli.problem.text.source import Source, read_source

_HELP_ON_RESUME = "name a file that attncli check wrote, or leave out --resume"
# No class has more cells, and with numbers up to here the averages can be worked out.
_LARGEST_COUNT = 2**53


def read_results(path: str, *, lenient: bool) -> list[Marked]:
    """The rows of results in CSV, TSV, JSON or a workbook; AttncliError (exit 3 or 4) for what is
    none.
    """
    suffix = suffix_of(path)
    try:
        if suffix == ".json":
            return [*_of_json(read_source(path))]
        rows = _of_workbook(path) if suffix == ".xlsx" else csv_rows(read_source(path))
        return [*_of_table(rows, lenient)]
    except AttncliError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise input_error(
            "these are no results of a class", place=Place(path, 1, 1), help=_HELP_ON_RESUME
        ) from None


def _of_json(source: Source) -> Iterator[Marked]:
    results: Any = strict_json(source.text.encode())
    return map(row_of_json, results["students"])


def row_of_json(row: Mapping[str, Any]) -> Marked:
    """The row that `Marked.to_dict` made this data of; ValueError, KeyError, TypeError or
    AttributeError for others.

    No others are raised, whatever JSON the row is.
    """
    counts = row["counts"]
    return _possible(
        Marked(
            student=_text(row["student"]),
            problem=_text(row["problem"]),
            answers=_text(row["answers"]),
            marks=None if row["marks"] is None else _marks(row["marks"]),
            of=None if row["of"] is None else _whole(row["of"]),
            counts=(
                {} if counts is None else {verdict: _whole(counts[verdict]) for verdict in VERDICTS}
            ),
            first_wrong=_text_or_none(row["first_wrong"]),
            mistakes=tuple(
                (_text(each["step"]), _text(each["mistake"])) for each in row["mistakes"]
            ),
            examples=tuple(_example(each.get("example")) for each in row["mistakes"]),
            named_slips=tuple(_truth(each.get("slip", False)) for each in row["mistakes"]),
            by_step={
                _text(each["step"]): (_whole(each["right_or_carried"]), _whole(each["of"]))
                for each in row.get("steps", ())
            },
            passed=_truth(row["passed"]),
            error=_text_or_none(row["error"]),
            taken_off=tuple(
                (float(_marks(each["marks"])), _text(each["why"]))
                for each in row.get("taken_off", ())
            ),
            note=_text_or_none(row.get("note")),
            feedback=_text_or_none(row.get("feedback")),
            more={_text(name): _text(text) for name, text in row["more"].items()},
        )
    )


def _example(data: Any) -> Example | None:
    if data is None:
        return None
    return Example(_text(data["where"]), _text(data["given"]), _text(data["right"]))


def _possible(row: Marked) -> Marked:
    """The row, if it is one that marking can make; ValueError for another."""
    # A submission that could not be checked has none of these, and every other has all.
    has_marks = row.marks is not None and row.of is not None
    if has_marks == bool(row.error):
        raise ValueError
    if {*row.counts} != {*(() if row.error else VERDICTS)}:
        raise ValueError
    of_steps = [number for step in row.by_step.values() for number in step]
    taken = [marks for marks, _ in row.taken_off]
    numbers = (row.marks or 0, row.of or 0, *row.counts.values(), *of_steps, *taken)
    # This also refuses what is not finite.
    if not all(abs(number) <= _LARGEST_COUNT for number in numbers):
        raise ValueError
    if any(count < 0 for count in (*row.counts.values(), *of_steps)):
        raise ValueError
    if row.passed and row.error:
        raise ValueError
    return row


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    # What is half of a letter cannot be written again: UnicodeEncodeError is a ValueError.
    value.encode()
    return value


def _text_or_none(value: Any) -> str:
    return "" if value is None else _text(value)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _marks(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError
    if not abs(value) <= _LARGEST_COUNT:
        raise ValueError
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _of_workbook(path: str) -> Iterator[Row]:
    from attncli.problem.arrays.formats.xlsx import rows_of_text

    try:
        rows = rows_of_text(BytesIO(read_bytes(path)), path, RESULTS)
    except ArrayError as error:
        message, help = error.args
        raise input_error(message, help=help) from None
    if not rows:
        return
    columns = list(rows[0])
    for number, row in enumerate(rows, start=1):
        cells = (row.get(column, "") for column in columns)
        yield Row(tuple(cells), Place(path, number, 1))


def _of_table(rows: Iterator[Row], lenient: bool) -> Iterator[Marked]:
    first = next(rows, None)
    head = first.cells if first else ()
    if not {*COLUMNS_OF_RESULTS}.issubset(head):
        raise ValueError
    for row in rows:
        cells = dict(zip(head, row.cells, strict=True))
        counts = {verdict: int(cells[verdict]) for verdict in VERDICTS if cells[verdict]}
        if cells["marks"] and len(counts) < len(VERDICTS):
            raise _marks_without_counts(cells["student"], row.place)
        yield _possible(
            Marked(
                student=cells["student"],
                problem=cells["problem"],
                answers=cells["answers"],
                marks=float(cells["marks"]) if cells["marks"] else None,
                of=int(cells["of"]) if cells["of"] else None,
                counts=counts,
                first_wrong=cells["first_wrong"],
                mistakes=tuple(
                    _mistake(each) for each in cells["mistakes"].split(BETWEEN_MISTAKES) if each
                ),
                passed=_passed(counts, lenient),
                error=cells["error"],
                taken_off=tuple(
                    _taken_off(each) for each in cells["taken_off"].split(BETWEEN_MISTAKES) if each
                ),
                note=cells["note"],
                feedback=cells.get(FEEDBACK, ""),
                more={
                    name.removesuffix(" (manifest)"): text
                    for name, text in cells.items()
                    if name not in (*COLUMNS_OF_RESULTS, FEEDBACK)
                },
            )
        )


def _marks_without_counts(student: str, place: Place) -> AttncliError:
    """What is wrong with marks that were written by hand."""
    return input_error(
        f"{student or 'this student'} has marks, but not all counts",
        place=place,
        help=f"write a number into {listed(VERDICTS)}: 0 where you do not know it",
    )


def _mistake(text: str) -> tuple[str, str]:
    step, _, mistake = text.partition(": ")
    return step, mistake


def _taken_off(text: str) -> tuple[float, str]:
    marks, _, why = text.partition(": ")
    return float(marks), why


def _passed(counts: Mapping[Verdict, int], lenient: bool) -> bool:
    return bool(counts) and not (
        counts["wrong"] or counts["missing"] or (counts["rounding"] and not lenient)
    )
