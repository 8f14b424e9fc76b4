"""The page of `attncli check`: the first wrong number with the truth beside it, and every step with its verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.answers.model import Claim
from attncli.english import count, either, listed
from attncli.features.check.cell_equations import Cell
from attncli.features.check.data import check_data
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.diagnosis_page import diagnosis_blocks
from attncli.features.check.solution import Solution
from attncli.features.check.steps_page import counts_table, legend, loose, loose_ends, step_blocks
from attncli.features.check.trivial import coarse, trivial_answer
from attncli.features.check.verdicts import Verdict, Verdicts
from attncli.features.check.worked_page import claimed, decimals, worked_twice
from attncli.page.document import Block, Document, Heading, Paragraph, Text, Worked
from attncli.page.labels import cell_label
from attncli.page.measures import number
from attncli.page.number_format import format_number
from attncli.problem.numbers import is_plain


def check_page(solution: Solution, *, marks: int | None = None, diagnoses: Sequence[Diagnosis] = ()) -> Document:
    """The page; with `marks`, how many of so many the solution earns."""
    title = solution.verdicts.trace.title or solution.verdicts.answers.name
    return Document(
        f"{title}: checked",
        tuple(_blocks(solution, marks, diagnoses)),
        lambda: check_data(solution, marks=marks, diagnoses=diagnoses),
    )


def _blocks(solution: Solution, marks: int | None, diagnoses: Sequence[Diagnosis]) -> Iterator[Block]:
    verdicts = solution.verdicts
    first = verdicts.first_wrong
    yield Paragraph(_answer(solution) if first is None else _first(verdicts, *first))
    if first is not None:
        yield Worked(worked_twice(verdicts, *first))
    if len(verdicts.steps) and verdicts.counts["right"] < sum(verdicts.counts.values()):
        yield Paragraph((_counted(verdicts),))
    if marks is not None:
        yield Paragraph((_marks(solution, marks),))
    if first is None and (apart := len(loose(verdicts))):
        said = (
            f"{count(apart, 'carried cell')} {either(apart, 'is', 'are')} not what the numbers before give exactly "
            "as they stand, but only what these may have been rounded from: see the end of this page."
        )
        yield Paragraph((said,), "note")
    if found := trivial_answer(verdicts):
        said = (
            f"All {found.cells:,} numbers of {found.step} are {claimed(found.claim)}, which makes all that follows "
            f"from them trivial: {count(found.carried, 'cell')} {either(found.carried, 'is', 'are')} carried, and "
            f"{either(found.carried, 'shows', 'show')} nothing."
        )
        yield Paragraph((said,), "warning")
    if vague := coarse(verdicts):
        said = f"In {count(vague, 'cell')} so few digits are written that 0 would pass as well."
        yield Paragraph((said,), "warning")
    if solution.other_form:
        yield Paragraph((_form(verdicts),), "note")
    yield from diagnosis_blocks(verdicts, diagnoses)
    yield Heading("Step by step")
    yield counts_table(verdicts)
    yield Paragraph((legend(verdicts),))
    for name in verdicts.steps:
        yield from step_blocks(verdicts, name)
    yield from loose_ends(verdicts)


def _first(verdicts: Verdicts, name: str, index: Cell) -> Text:
    step, judged = verdicts.trace.steps[name], verdicts.steps[name][index]
    digits = decimals(iter([judged.given]))
    claim = judged.given
    assert isinstance(claim, Claim)
    own, true = format_number(judged.own, digits), format_number(judged.expected, digits)
    title = step.rule.title[0].lower() + step.rule.title[1:]
    named = name if title == name else f"the {title} ({name})"
    where = f"in {named}, at {cell_label(step, index)}" if index else f"the {title}"
    between: Text = () if own == true else (" by your own numbers it is ", *number(own), ",")
    linked = " it is" if own == true else " and in truth"
    return (
        f"The first wrong number is {where}: ",
        *_as_written(claim), " is written;", *between, linked, " ", *number(true), ".",
    )  # fmt: skip


def _as_written(claim: Claim) -> Text:
    return number(claim.text) if is_plain(claim.text) else (claim.text,)


def _answer(solution: Solution) -> Text:
    """What is to be said where no error was made."""
    counts = solution.verdicts.counts
    said: tuple[tuple[Verdict, str, str], ...] = (
        ("carried", "follows from numbers before it", "follow from numbers before them"),
        ("rounding", "is off by rounding", "are off by rounding"),
        ("missing", "is blank", "are blank"),
    )
    left = [
        f"{count(counts[verdict], 'cell')} {either(counts[verdict], one, many)}"
        for verdict, one, many in said
        if counts[verdict]
    ]
    if not left:
        total = sum(counts.values())
        return (f"All {total:,} cells are right." if total > 1 else "The one cell is right.",)
    if not (counts["right"] or counts["carried"] or counts["rounding"]):
        return ("Nothing is filled in.",)
    return (f"No number is wrong; {listed(left)}.",)


def _counted(verdicts: Verdicts) -> str:
    counts = verdicts.counts
    total = sum(counts.values())
    words = [f"{number:,} {word}" for word, number in counts.items() if number]
    return f"Of {count(total, 'cell')}: {listed(words)}."


def _marks(solution: Solution, marks: int) -> str:
    plain, followed = (
        format_number(float(marks * solution.share(follow_through=follow_through)), 1)
        for follow_through in (False, True)
    )
    rounding = " (a matter of rounding counts as right)" if solution.lenient else ""
    return f"Marks: {plain} of {marks} for what is right, {followed} of {marks} with follow-through{rounding}."


def _form(verdicts: Verdicts) -> str:
    if verdicts.trace.shifted:
        return (
            "In these answers the largest score of each row is subtracted before the exponentials, which changes no "
            "weight; they are judged so."
        )
    return (
        "These answers have the exponentials of the plain scores, without subtracting the largest; they are judged so."
    )
