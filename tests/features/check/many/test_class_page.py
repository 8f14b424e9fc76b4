"""What the page of a class says of rows, whatever made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncli.features.check.many.class_page import class_page
from attncli.features.check.many.copies import Alike, Copies, OfAnother
from attncli.features.check.many.manifest import Stray
from attncli.features.check.many.result_row import SLIP, Marked
from attncli.features.check.verdicts import VERDICTS
from attncli.page.document import Document, Listing, Paragraph, Table, TableSheet, plain
from attncli.render import Style, render


def row(
    student: str,
    mistakes: Sequence[tuple[str, str]] = (),
    *,
    first_wrong: str = "",
    slips: Sequence[bool] = (),
    error: str = "",
) -> Marked:
    if error:
        return Marked(student, "p.yaml", "a.yaml", error=error)
    return Marked(
        student,
        "p.yaml",
        "a.yaml",
        marks=1,
        of=2,
        counts=dict.fromkeys(VERDICTS, 1),
        first_wrong=first_wrong,
        mistakes=tuple(mistakes),
        named_slips=tuple(slips),
        by_step={"Q": (1, 2), "scores": (1, 2), "weights": (1, 2)},
    )


def taught(page: Document) -> list[str]:
    listings = [block for block in page.blocks if isinstance(block, Listing)]
    return [plain(item) for listing in listings for item in listing.items]


def paragraphs(page: Document) -> list[str]:
    return [plain(block.text) for block in page.blocks if isinstance(block, Paragraph)]


def test_mistakes_that_are_not_listed_are_counted_as_they_were_made() -> None:
    """Of 22 mistakes that one student each made, 20 are listed; of two that three made, all."""
    one_each = [row(f"s{number}", [("Q", f"mistake {number}")]) for number in range(22)]
    page = class_page(one_each)
    assert len(taught(page)) == 20
    assert "2 more mistakes were made by 1 student each." in paragraphs(page)
    twice = [row(f"t{number}", [("Q", f"mistake {number}")]) for number in range(22)]
    page = class_page([*one_each, *twice])
    assert "2 more mistakes were made by at most 2 students each." in paragraphs(page)
    page = class_page(one_each[:21])
    assert "1 more mistake was made by 1 student." in paragraphs(page)


def test_a_mistake_in_several_steps_of_one_student_counts_once() -> None:
    rows = [row("Ada", [("Q", "rows were exchanged"), ("K", "rows were exchanged")])]
    assert taught(class_page(rows)) == ["1 student: Q and K: rows were exchanged. Ada."]


def test_slips_of_students_who_are_alike_count_once() -> None:
    rows = [
        row("Ada", [("K", "perhaps a sign was lost"), ("V", SLIP)], slips=[True]),
        row("Ben", [("K", "perhaps a sign was lost"), ("V", SLIP)], slips=[True]),
        row("Cy", [("V", SLIP)]),
    ]
    said = "slips in V and K."
    assert taught(class_page(rows)) == [f"3 students: {said} Ada, Ben and Cy."]
    alike = Copies(alike=(Alike(("Ada", "Ben"), 2, 0.001),))
    first, *_ = taught(class_page(rows, alike))
    assert first == f"2 students: {said} Ada and Cy."


def test_first_wrong_numbers_are_sorted_by_the_order_of_the_steps() -> None:
    rows = [
        row("Ada", first_wrong="weights, a → b"),
        row("Ben"),
        row("Cy", first_wrong="Q, a, d1"),
        row("Dai", first_wrong="scores, a → b"),
        row("Eve", error="x is not a number"),
        row("Fay", first_wrong="Q, b, d2"),
    ]
    [table] = [
        block for block in class_page(rows).blocks if isinstance(block, Table) and block.sorts
    ]
    column = len(table.head) - 1
    ranks = dict(zip("ABCDEF", table.ranks[column], strict=True))
    assert ranks["C"] == ranks["F"] < ranks["D"] < ranks["A"] < ranks["E"]


def tables_of(
    rows: Sequence[Marked], found: Copies, strays: Sequence[Stray] = ()
) -> list[list[Sequence[object]]]:
    """The tables on the second sheet of a workbook."""
    make = class_page(rows, found, strays).workbook
    assert make is not None
    _, summary = make()
    assert isinstance(summary, TableSheet)
    return [[*table] for table in summary.tables]


def test_the_summary_of_a_workbook_says_what_the_page_says_with_all_names() -> None:
    """A mistake stands first, once for all of its steps; what copies have is not counted."""
    mistake = "the scores were not scaled"
    rows = [
        row("Ada", [("scaled", mistake), ("weights", mistake)]),
        row("Ben", [("weights", mistake), ("Q", SLIP)]),
        replace(row("Cy", [("V", "copied")]), note="the answers of Ada"),
        row("Dai", error="dai.yaml:1:1: the file is empty"),
    ]
    found = Copies(of_another=(OfAnother("Cy", ("Ada",), True, 9, 9, 0.001),))
    strays = [Stray("dia.yaml", meant="dai.yaml")]
    _, marks, taught, notes, unread, nobodys = tables_of(rows, found, strays)
    assert marks[0] == ("marks", "in %", "of 2")
    assert taught == [
        ("what to teach again", "students", "who", "steps"),
        (mistake, 2, "Ada, Ben", "scaled, weights"),
        ("a slip", 1, "Ben", "Q"),
    ]
    assert notes == [("answers that are alike", "note"), ("Cy", "the answers of Ada")]
    assert unread == [("could not be checked", "why"), ("Dai", "dai.yaml:1:1: the file is empty")]
    assert nobodys == [("belongs to nobody", "did you mean"), ("dia.yaml", "dai.yaml")]


def lines_at_80(rows: Sequence[Marked]) -> list[str]:
    """The table of students in a terminal of 80 columns, below its heads."""
    text = render(class_page(rows), "table", Style(width=80))
    table = text.partition("Each student ")[2].partition("✓ right")[0]
    return [line for line in table.splitlines()[4:] if line.strip()]


def test_a_student_has_one_line_on_a_terminal_of_80_columns() -> None:
    """Names of 20 letters, numbers of two digits, and all verdicts."""
    names = [f"Ann-Marie Number{number:04}" for number in range(40)]
    rows = [row(name, first_wrong="weights, t1 → t2") for name in names]
    rows[0] = replace(rows[0], marks=12.98, of=20, counts=dict.fromkeys(VERDICTS, 36))
    rows[1:] = [replace(each, of=20) for each in rows[1:]]
    lines = lines_at_80(rows)
    assert [line.split("  ")[1] for line in lines] == names
    assert max(map(len, lines)) <= 80


def test_only_a_long_name_takes_two_lines() -> None:
    long = "Anne-Marie Le Goff-Dupont de la Rivière-Saint-Martin"
    names = ["Ann-Marie Number0001", long, "Ann-Marie Number0002"]
    lines = lines_at_80([row(name, first_wrong="weights, t1 → t2") for name in names])
    assert len(lines) == 4
    assert [line.split("   ")[0].strip() for line in lines] == [
        "Ann-Marie Number0001",
        "Anne-Marie Le Goff-Dupont de la",
        "Rivière-Saint-Martin",
        "Ann-Marie Number0002",
    ]


def test_marks_are_of_as_many_for_all_or_say_of_how_many() -> None:
    same = [row("Ada"), row("Ben")]
    assert "Marks: 1 of 2 (50 %) on average, median 1 (50 %), from 1 to 1." in paragraphs(
        class_page(same)
    )
    different = [row("Ada"), replace(row("Ben"), of=4)]
    assert "Marks: 38 % on average, median 38 %, from 25 % to 50 %." in paragraphs(
        class_page(different)
    )
    text = render(class_page(different), "table", Style(width=80))
    assert "student   marks   ✓" in text
    assert "Ben       1 / 4   1" in text


def test_signs_above_columns_are_words_where_a_page_is_heard() -> None:
    page = class_page([row("Ada")])
    assert "student: Ada; of 2: 1; right: 1; carried: 1; rounding: 1" in render(
        page, "table", Style(ascii=True)
    )
    assert '<abbr title="carried">»</abbr>' in render(page, "html")
