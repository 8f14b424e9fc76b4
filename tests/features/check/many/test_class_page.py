"""What the page of a class says of rows, whatever made them."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.features.check.many.class_page import class_page
from attncli.features.check.many.copies import Alike, Copies
from attncli.features.check.many.result_row import SLIP, Marked
from attncli.features.check.verdicts import VERDICTS
from attncli.page.document import Document, Listing, Paragraph, Table, plain


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
    assert taught(class_page(rows)) == [f"3 students: {said} Ada, Ben, Cy."]
    alike = Copies(alike=(Alike(("Ada", "Ben"), 2, 0.001),))
    first, *_ = taught(class_page(rows, alike))
    assert first == f"2 students: {said} Ada, Cy."


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
