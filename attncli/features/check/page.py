"""The page of `attncli check`: the first wrong number with the truth below it, and every step with
its judgement.

A step is its matrices with a sign at each number, and a row for each cell that is not right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim, OtherShape
from attncli.attention.registry import in_symbols
from attncli.english import count, either, listed
from attncli.equation.nodes import Name
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.cut_digits import CUT_OFF, cut_off
from attncli.features.check.diagnosis import Diagnosis, rounded_early
from attncli.features.check.diagnosis_page import diagnosis_blocks
from attncli.features.check.marks.model import Marks
from attncli.features.check.marks.other_shapes import brings_no_marks
from attncli.features.check.marks.page import marks_blocks
from attncli.features.check.no_work import TrivialAnswer, no_work_of_their_own, trivial_answer
from attncli.features.check.row_sums import rows_off
from attncli.features.check.verdicts import (
    VERDICTS,
    JudgedCell,
    Judgement,
    Solution,
    Verdict,
    indices_where,
    too_coarse,
)
from attncli.features.check.worked import (
    claim_text,
    decimals_to_compare,
    worked_both_ways,
    worked_from_own_numbers,
)
from attncli.page.document import (
    Block,
    Cell,
    Document,
    Grid,
    Heading,
    Paragraph,
    Table,
    Text,
    Worked,
)
from attncli.page.measures import number
from attncli.page.printer import format_number
from attncli.problem.text.number_forms import is_plain
from attncli.tracing.model import Step

# How many cells of a step are shown one by one.
MOST_CELLS_SHOWN = 24
# So many rows are named that have another sum than they should.
MOST_ROWS_NAMED = 3
MISSING = "?"
TOO_COARSE = "too few decimals"
# The signs of the verdicts, as matrices have them.
SIGNS: dict[Verdict, str] = {
    "right": "✓",
    "carried": "»",
    "rounding": "≈",
    "wrong": "✗",
    "missing": MISSING,
}
ONLY_TOO_COARSE = f"{SIGNS['wrong']} wrong: the number has too few decimals"
_MEANING_OF_SIGNS: dict[Verdict, str] = {
    "right": f"{SIGNS['right']} right",
    "carried": f"{SIGNS['carried']} carried: follows from your own earlier numbers",
    "rounding": f"{SIGNS['rounding']} rounding: differs by at most one unit in the last digit",
    "wrong": f"{SIGNS['wrong']} wrong: the error was made here",
    "missing": f"{SIGNS['missing']} missing",
}


def check_page(
    solution: Solution,
    *,
    marks: int | None = None,
    diagnoses: Sequence[Diagnosis] = (),
    earned: Marks | None = None,
    asked: Collection[str] = (),
) -> Document:
    """The page; with `marks`, which share of so many the solution earns, and with what it `earned`
    by a scheme, how these marks come about. It says which of the steps that were `asked` for are
    not there; those with marks were.
    """
    if earned is not None:
        asked = earned.worth
    lacking = [name for name in asked if name not in solution.verdicts.answers.steps]

    def data() -> dict[str, Any]:
        # Only JSON needs this.
        from attncli.features.check.data import check_data

        return check_data(solution, marks=marks, diagnoses=diagnoses, earned=earned)

    blocks = tuple(_blocks(solution, marks, diagnoses, earned, lacking))
    title = solution.verdicts.trace.title or solution.verdicts.answers.name
    return Document(checked(title), blocks, data)


def checked(title: str) -> str:
    """The title of a page on what was checked."""
    return f"{title}: checked"


def _blocks(
    solution: Solution,
    marks: int | None,
    diagnoses: Sequence[Diagnosis],
    earned: Marks | None,
    lacking: Sequence[str],
) -> Iterator[Block]:
    judgement = solution.verdicts
    whole = solution.of_all
    first = judgement.first_wrong
    if first is None:
        yield Paragraph(_answer(solution, lacking))
    else:
        yield Paragraph(_first(judgement, *first))
        yield Worked(worked_both_ways(judgement, *first))
    for other in judgement.answers.other_shapes:
        yield Paragraph((_of_other_shape(other),), "warning")
    if len(judgement.steps) and judgement.counts["right"] < sum(judgement.counts.values()):
        yield Paragraph((_counted(judgement),))
    if marks is not None:
        yield Paragraph((_marks(solution, marks),))
    if earned is not None:
        yield from marks_blocks(judgement, earned)
    yield from _notes(solution, diagnoses, is_marked=earned is not None)
    yield from diagnosis_blocks(whole, diagnoses)
    if judgement.steps:
        yield Heading("Step by step")
        yield _counts_table(judgement)
        yield Paragraph((_legend(judgement),))
    for name in judgement.steps:
        yield from _step_blocks(judgement, name)
    yield from _carried_by_rounding_blocks(judgement)


def _of_other_shape(other: OtherShape) -> str:
    said = f"{brings_no_marks(other)}."
    return f"{said} Its rows and columns seem to be exchanged." if other.is_turned else said


def _notes(
    solution: Solution, diagnoses: Sequence[Diagnosis], *, is_marked: bool
) -> Iterator[Block]:
    """What is to be known of the verdicts: where they rest on rounding, or on very little. That is
    no matter of a scheme, which says what few digits cost.
    """
    judgement = solution.verdicts
    if outside := solution.wrong_outside:
        yield Paragraph((_wrong_outside(outside),), "warning")
    if coarse := _coarse(judgement):
        yield Paragraph(_too_few_decimals(judgement, coarse), "note")
    cut = cut_off(solution, diagnoses)
    if cut is not None:
        yield Paragraph((_cut(len(cut)),), "note")
    sums = [f"{row} ({total})" for row, total in rows_off(judgement, diagnoses)]
    if sums:
        yield Paragraph((_not_one(sums),), "note")
    if judgement.first_wrong is None and judgement.carried_by_rounding:
        yield Paragraph((_only_by_rounding(len(judgement.carried_by_rounding)),), "note")
    early = rounded_early(judgement)
    if early is not None:
        yield Paragraph((_early_rounding(*early),), "note")
    trivial = trivial_answer(judgement)
    if trivial is not None:
        yield Paragraph((_shows_nothing(trivial),), "warning")
    vague = 0 if is_marked else too_coarse(judgement)
    if vague:
        are = either(vague, "is", "are")
        said = f"{count(vague, 'number')} {are} written so coarsely that 0 would pass too."
        yield Paragraph((said,), "warning")
    if solution.other_form:
        yield Paragraph((_form(judgement),), "note")


def _wrong_outside(outside: Mapping[str, int]) -> str:
    """In the steps before these, 9 numbers of scaled are wrong."""
    total = sum(outside.values())
    where = listed([f"{number:,} of {name}" for name, number in outside.items()])
    follow = either(total, "it is", "they are")
    return (
        f"In steps that were not asked for, {count(total, 'number')} {either(total, 'is', 'are')}"
        f" wrong: {where}. What follows from that is carried here, but {follow} an error all the"
        " same."
    )


def _too_few_decimals(judgement: Judgement, cells: int) -> Text:
    """47 numbers have too few decimals: 1.2 is read as 1.20, not as 1.15."""
    have = either(cells, "has", "have")
    shown = next(cell for _, cell in judgement.cells() if cell.too_coarse)
    claim = cast("Claim", shown.given)
    asked = claim.decimals_asked
    read = format_number(float(claim.value), asked)
    if read.lstrip("-").isdigit():
        read += "." + "0" * asked
    return (
        f"{count(cells, 'number')} {have} too few decimals: ",
        *_as_written(claim),
        " is read as ",
        *number(read),
        ", not as ",
        *number(format_number(shown.rounded_from, asked)),
        ".",
    )


def _not_one(sums: Sequence[str]) -> str:
    more = len(sums) - MOST_ROWS_NAMED
    named = [*sums[:MOST_ROWS_NAMED]]
    if more > 0:
        named.append(f"{more:,} more")
    rows = either(len(sums), "row", "rows")
    return f"The weights of a row add up to 1. Yours do not in {rows} {listed(named)}."


def _cut(cells: int) -> str:
    return (
        f"{CUT_OFF[0].upper()}{CUT_OFF[1:]} in {count(cells, 'number')}, which rounding makes one"
        " larger in the last digit: 0.667 is 0.67 to two decimals, not 0.66."
    )


def _only_by_rounding(cells: int) -> str:
    fit, them = either(cells, "fits", "fit"), either(cells, "it", "them")
    return (
        f"{cells:,} of the carried numbers {fit} only because you rounded before. The end of this"
        f" page shows {them}."
    )


def _early_rounding(step: str, decimals: int, later: str) -> str:
    to = count(decimals, "decimal") if decimals else "whole numbers"
    return (
        f"{step} is rounded to {to}, and {later} has more decimals. This early rounding changes"
        " numbers after it, so they are carried and not right. Keep more decimals in the earlier"
        " step."
    )


def _shows_nothing(trivial: TrivialAnswer) -> str:
    carried = count(trivial.carried, "carried number")
    pattern = f"The {trivial.cells:,} numbers of {trivial.step} are a simple pattern"
    if trivial.claim is not None:
        value = claim_text(trivial.claim)
        pattern = f"All {trivial.cells:,} numbers of {trivial.step} are {value}"
    show = no_work_of_their_own(trivial.carried)
    return f"{pattern}. So {carried} after {either(trivial.cells, 'it', 'them')} {show}."


def _first(judgement: Judgement, name: str, index: CellIndex) -> Text:
    step, judged = judgement.trace.steps[name], judgement.steps[name][index]
    claim = judged.given
    assert isinstance(claim, Claim)
    title = step.rule.title[0].lower() + step.rule.title[1:]
    where = f"the {title}"
    if index:
        named = name if title == name else f"the {title} ({name})"
        where = f"in {named}, at {step.cell_label(index, in_sentence=True)}"
    digits = decimals_to_compare([claim])
    own, true = format_number(judged.own, digits), format_number(judged.expected, digits)
    between: Text = ()
    if own != true:
        between = (" Your own earlier numbers give ", *number(own), ".")
    end = ", with too few decimals." if judged.too_coarse else "."
    return (
        f"The first wrong number is {where}. You wrote ",
        *_as_written(claim),
        end,
        *between,
        " The true value is ",
        *number(true),
        ".",
    )


def _as_written(claim: Claim) -> Text:
    return number(claim.text) if is_plain(claim.text) else (claim.as_written,)


def _answer(solution: Solution, lacking: Sequence[str]) -> Text:
    """What is to be said where no error was made, also of the steps that are `lacking`."""
    counts = solution.verdicts.counts
    is_blank, are_blank = "is blank", "are blank"
    has_others = bool(solution.verdicts.answers.other_shapes)
    if has_others:
        is_blank, are_blank = "is missing", "are missing"
    said: tuple[tuple[Verdict, str, str], ...] = (
        ("rounding", "is off by one in the last digit", "are off by one in the last digit"),
        (
            "carried",
            "follows from your own earlier numbers",
            "follow from your own earlier numbers",
        ),
        ("missing", is_blank, are_blank),
    )
    left = [
        f"{count(counts[verdict], 'number')} {either(counts[verdict], one, many)}"
        for verdict, one, many in said
        if counts[verdict]
    ]
    missing = ""
    if lacking:
        missing = f" {listed(lacking)} {either(len(lacking), 'is', 'are')} missing."
    if not left:
        return (f"{_all_right(solution, is_all=not lacking)}{missing}".lstrip(),)
    is_nothing_right = not (counts["right"] or counts["carried"] or counts["rounding"])
    if is_nothing_right and not has_others:
        return ("Nothing is filled in.",)
    # Who reads that no number is wrong expects all marks.
    is_partly = bool(counts["rounding"]) or has_others or bool(solution.wrong_outside)
    begin = "" if is_partly else "No number is wrong. "
    return (f"{begin}{listed(left)}.{missing}",)


def _all_right(solution: Solution, *, is_all: bool) -> str:
    """What is to be said of numbers that are all right; `is_all` that was asked for."""
    total = sum(solution.verdicts.counts.values())
    if solution.wrong_outside:
        return "In these steps, no new error was made."
    if not total:
        is_else = is_all or solution.verdicts.answers.other_shapes
        return "There is nothing else to judge." if is_else else ""
    written = "" if is_all else " that you wrote"
    if total == 1:
        return f"The one cell{written} is right."
    return f"All {total:,} cells{written} are right."


def _counted(judgement: Judgement) -> str:
    counts = judgement.counts
    total = sum(counts.values())
    words = [f"{number:,} {word}" for word, number in counts.items() if number]
    return f"{count(total, 'cell')}: {listed(words)}."


def _marks(solution: Solution, marks: int) -> str:
    right, followed = (
        format_number(float(marks * solution.share(follow_through=follow_through)), 1)
        for follow_through in (False, True)
    )
    rounding = " (rounding counts as right)" if solution.lenient else ""
    return (
        f"Marks: {right} of {marks} for right numbers, {followed} of {marks} with"
        f" follow-through{rounding}."
    )


def _form(judgement: Judgement) -> str:
    if judgement.trace.shifted:
        return (
            "These answers subtract the largest score of each row before the exponentials. This"
            " changes no weight, so they are checked in this form."
        )
    return (
        "These answers do not subtract the largest score of each row before the exponentials. This"
        " changes no weight, so they are checked in this form."
    )


def _legend(judgement: Judgement) -> str:
    """The signs that the page has."""
    counts = judgement.counts
    meaning = dict(_MEANING_OF_SIGNS)
    if coarse := _coarse(judgement):
        meaning["wrong"] = ONLY_TOO_COARSE
        if coarse < counts["wrong"]:
            meaning["wrong"] = f"{_MEANING_OF_SIGNS['wrong']}, or the number has too few decimals"
    return "; ".join(said for verdict, said in meaning.items() if counts[verdict]) + "."


def _coarse(judgement: Judgement) -> int:
    """How many numbers are wrong only because they have too few decimals."""
    return sum(cell.too_coarse for _, cell in judgement.cells())


def _counts_table(judgement: Judgement) -> Table:
    """How many cells of each step have which verdict; a column for every verdict that there is."""
    there = [verdict for verdict in VERDICTS if judgement.counts[verdict]]
    rows: list[tuple[Text, ...]] = []
    for name, cells in judgement.steps.items():
        found = Counter(judged.verdict for judged in _flat(cells))
        counts = [_count_text(found[verdict]) for verdict in there]
        rows.append(((name,), *counts))
    columns_of_numbers = tuple(range(1, len(there) + 1))
    return Table(("step", *there), tuple(rows), columns_of_numbers)


def _count_text(number: int) -> Text:
    """1,024; nothing for 0."""
    return (f"{number:,}" if number else "",)


def _step_blocks(judgement: Judgement, name: str) -> Iterator[Block]:
    """A step: its matrix as it was written, one for each head and entry, and the cells that are not
    right.
    """
    step, cells = judgement.trace.steps[name], judgement.steps[name]
    yield Heading(step.rule.title)
    if not step.shape:
        yield Grid(in_symbols(Name(name)), ("",), ("",), ((_cell(_at(cells, ())),),))
    else:
        yield from _grids(step, cells)
    yield from _not_right(step, cells)


def _grids(step: Step, cells: NDArray[Any]) -> Iterator[Block]:
    for outer in np.ndindex(cells.shape[:-2]):
        if outer:
            pairs = zip(step.labels, outer, strict=False)
            where = ", ".join(labels[at] for labels, at in pairs)
            title = where[0].upper() + where[1:]
            yield Paragraph((f"{title}:",))
        yield _grid(step, cells[outer])


def _grid(step: Step, cells: NDArray[Any]) -> Grid:
    name = in_symbols(Name(step.name))
    labels = step.labels[-cells.ndim :]
    axes = step.rule.axis_names[-cells.ndim :]
    if cells.ndim == 2:
        rows = tuple(_row(row) for row in cells)
        return Grid(name, labels[0], labels[1], rows)
    if axes[0] in ("query", "key"):
        column = tuple(_row([cell]) for cell in cells)
        return Grid(name, labels[0], (), column)
    return Grid(name, ("",), labels[0], (_row(cells),))


def _row(cells: Iterable[JudgedCell]) -> tuple[Cell, ...]:
    return tuple(_cell(judged) for judged in cells)


def _cell(judged: JudgedCell) -> Cell:
    return Cell(
        MISSING if judged.given is None else claim_text(judged.given), verdict=judged.verdict
    )


def _not_right(step: Step, cells: NDArray[Any]) -> Iterator[Block]:
    """A row for every cell that is wrong or off by rounding: written, by the solution's own
    numbers, and true.
    """
    found = indices_where(cells, "wrong", "rounding")
    if not found:
        return
    digits = decimals_to_compare(judged.given for judged in _flat(cells))
    head = ["cell", "verdict", "written", "from your own numbers", "true value"]
    rows: list[list[Text]] = []
    for index in found[:MOST_CELLS_SHOWN]:
        judged = _at(cells, index)
        assert judged.given is not None
        label = step.cell_label(index) if index else step.name
        own, true = format_number(judged.own, digits), format_number(judged.expected, digits)
        written = number(claim_text(judged.given))
        verdict = TOO_COARSE if judged.too_coarse else judged.verdict
        rows.append([(label,), (verdict,), written, number(own), number(true)])
    if all(own == true for *_, own, true in rows):
        # Where nothing was carried on, the column would only say the true values again.
        del head[3]
        for row in rows:
            del row[3]
    columns_of_numbers = tuple(range(2, len(head)))
    yield Table(tuple(head), tuple(tuple(row) for row in rows), columns_of_numbers)
    more = len(found) - MOST_CELLS_SHOWN
    if more > 0:
        are = either(more, "is wrong or has", "are wrong or have")
        yield Paragraph((f"{count(more, 'more cell')} {are} a rounding error.",))


def _at(cells: NDArray[Any], index: tuple[int, ...]) -> JudgedCell:
    return cast("JudgedCell", cells[index])


def _flat(cells: NDArray[Any]) -> Iterator[JudgedCell]:
    return iter(cells.ravel().tolist())


def _carried_by_rounding_blocks(judgement: Judgement) -> Iterator[Block]:
    """Cells that are carried only because the numbers before them may be rounded: as they stand,
    they give another.
    """
    found = judgement.carried_by_rounding
    if not found:
        return
    yield Heading("Carried only because of rounding")
    yield Paragraph(
        (
            "The numbers that you wrote before these may be rounded. So what you wrote here is"
            " possible. But from the numbers exactly as you wrote them, you get another result:",
        )
    )
    lines = []
    for name, index in found[:MOST_CELLS_SHOWN]:
        claim = judgement.steps[name][index].given
        line = worked_from_own_numbers(judgement, name, index)
        written = ("written: ", *number(claim_text(claim)))
        lines.append(line._replace(label=f"{name}, {line.label}", remark=written))
    yield Worked(tuple(lines))
    more = len(found) - MOST_CELLS_SHOWN
    if more > 0:
        yield Paragraph((f"The same is true for {count(more, 'more cell')}.",))
