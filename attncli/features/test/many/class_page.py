"""The page of a class: a row for each function, the mistakes that were made and how often, and what
could not be tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import Any

from attncli.cli.classes.results import further_columns, results_document, table_of_marks
from attncli.cli.classes.summary import (
    BETWEEN_MISTAKES,
    most_first,
    named,
    plain_marks,
    spread_in_words,
)
from attncli.english import count, either, listed
from attncli.features.test.many.result_row import ENDS, Tested
from attncli.page.document import (
    Block,
    Document,
    Heading,
    Listing,
    Paragraph,
    Table,
    Text,
)
from attncli.render.csv_lines import Value
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

# The sheets of a workbook.
COLUMNS_OF_RESULTS = (
    "student",
    "marks",
    "of",
    *ENDS,
    "first_wrong",
    "first_error",
    "mistakes",
    "remarks",
    "error",
    "function",
)


def class_page(results: Sequence[Tested]) -> Document:
    """The page; its rows are those of results.csv and results.xlsx, its data those of
    results.json.
    """
    return results_document(
        f"{count(len(results), 'function')}: tested",
        results,
        blocks=_blocks,
        data=_data,
        rows=_rows,
        tables=_summary_tables,
    )


def _rows(results: Sequence[Tested]) -> Iterator[Sequence[Value | None]]:
    """A line of names and a line for each student, at its end the further columns of the
    manifest.
    """
    more = further_columns(results, COLUMNS_OF_RESULTS)
    yield [*COLUMNS_OF_RESULTS, *more.values()]
    for each in results:
        yield [
            each.student,
            plain_marks(each.marks),
            each.of,
            *(each.counts.get(end) for end in ENDS),
            each.first_wrong,
            each.first_error,
            BETWEEN_MISTAKES.join(each.mistakes),
            BETWEEN_MISTAKES.join(each.remarks),
            each.error,
            each.function,
            *(each.more.get(name) for name in more),
        ]


def _summary_tables(results: Sequence[Tested]) -> Iterator[list[Sequence[Value | None]]]:
    """What the page says of the whole class, with all names."""
    tested = _tested(results)
    kinds = [(words, number) for number, words in _kinds(results)]
    yield [("functions", len(results)), *kinds]
    if tested:
        yield table_of_marks(_shares(tested))
    if made := _made(results):
        rows = [(len(who), ", ".join(who), mistake) for mistake, who in made]
        yield [("students", "who", "mistake"), *rows]


def _data(results: Sequence[Tested]) -> dict[str, Any]:
    tested = _tested(results)
    made = [{"mistake": mistake, "students": who} for mistake, who in _made(results)]
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "students": [each.to_dict() for each in results],
        "summary": {
            "students": len(results),
            "passed": sum(each.passed for each in results),
            "not_tested": len(results) - len(tested),
            "mean_share": mean(_shares(tested)) if tested else None,
            "median_share": median(_shares(tested)) if tested else None,
            "mistakes": made,
        },
    }


def _blocks(results: Sequence[Tested]) -> Iterator[Block]:
    tested = _tested(results)
    yield Paragraph((_counted(results),))
    if tested:
        yield Paragraph((spread_in_words(_shares(tested)),))
    if not results:
        return
    yield _table(results)
    if made := _made(results):
        yield Heading("Which mistakes explain what differs")
        yield Listing(
            tuple(
                (f"{mistake}. {count(len(who), 'student')}: {named(who)}.",)
                for mistake, who in made
            )
        )
    if failed := [each for each in tested if each.counts["failed"]]:
        yield Heading("What failed")
        yield _reasons([(each.student, each.first_error) for each in failed])
    if told := [(each.student, said) for each in tested for said in each.remarks]:
        yield Heading("What else they do")
        yield Table(("student", "what"), tuple(((student,), (said,)) for student, said in told))
    if untested := [each for each in results if each.error]:
        yield Heading("What could not be tested")
        yield _reasons([(each.student, each.error) for each in untested])


def _table(results: Sequence[Tested]) -> Table:
    """A row for each function, with the ends that there are."""
    counted = Counter[str]()
    for each in results:
        counted.update(each.counts)
    there = [end for end in ENDS if counted[end]]
    head = ("student", "marks", *there, "first wrong case", "mistakes")
    rows = tuple(_row_of_page(each, there) for each in results)
    columns_of_numbers = tuple(range(1, len(there) + 2))
    return Table(head, rows, columns_of_numbers)


def _row_of_page(each: Tested, ends: Sequence[str]) -> tuple[Text, ...]:
    marks = "" if each.marks is None else f"{plain_marks(each.marks):g} / {each.of}"
    counts: list[Text] = []
    for end in ends:
        number = each.counts.get(end)
        counts.append((str(number) if number else "",))
    first = "not tested" if each.error else each.first_wrong
    return ((each.student,), (marks,), *counts, (first,), (listed(each.mistakes),))


def _reasons(pairs: Sequence[tuple[str, str]]) -> Table:
    return Table(("student", "why"), tuple(((student,), (why,)) for student, why in pairs))


def _shares(tested: Sequence[Tested]) -> list[float]:
    return [each.share for each in tested]


def _tested(results: Sequence[Tested]) -> list[Tested]:
    return [each for each in results if not each.error]


def _kinds(results: Sequence[Tested]) -> list[tuple[int, str]]:
    """How many functions there are of each kind, and the words for them."""
    tested = _tested(results)
    passed = sum(each.passed for each in tested)
    wrong = len(tested) - passed
    kinds = (
        (passed, either(passed, "agrees", "agree")),
        (wrong, either(wrong, "differs or fails", "differ or fail")),
        (len(results) - len(tested), "could not be tested"),
    )
    return [kind for kind in kinds if kind[0]]


def _counted(results: Sequence[Tested]) -> str:
    parts = [f"{number:,} {words}" for number, words in _kinds(results)]
    return f"{listed(parts)}." if parts else "There are no functions."


def _made(results: Sequence[Tested]) -> list[tuple[str, list[str]]]:
    """Each mistake and the students who made it; the most frequent first."""
    return most_first((mistake, each.student) for each in results for mistake in each.mistakes)
