"""Pages of exact traces: closed forms beside the decimals, in lists where they are wide, and in
worked lines.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.page.derivation import derivation
from attncli.page.document import Grid, Paragraph, Worked, plain, plain_line
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.lengths import Lengths
from attncli.render import FORMATS, Style, render
from attncli.tracing import run

Build = Callable[..., Problem]
INPUTS = sorted((Path(__file__).parents[3] / "inputs").glob("*.[yj][as][mo][ln]*"))


def lines(problem: Problem, step: str, **choices: Any) -> list[str]:
    page = derivation(run(problem, rounding="exact"), View(steps=(step,), **choices))
    return [
        f"{line.label}: {plain_line(line)}"
        for block in page.blocks
        if isinstance(block, Worked)
        for line in block.lines
    ]


def test_worked_lines_go_on_from_the_closed_form_to_the_decimals(love: Problem) -> None:
    assert lines(love, "scores") == [
        "I → love: 2·2 + 0·1 + 1·1 = 5",
        "love → I: 0·0 + 2·1 + 1·1 = 3",
        "AI → love: 1·2 + 1·1 + 1·1 = 4",
    ]
    assert lines(love, "scaled") == [
        "I → love: 5/√3 ≈ 2.887",
        "love → I: 3 / √3 = √3 ≈ 1.732",
        "AI → love: 4/√3 ≈ 2.309",
    ]
    assert lines(love, "exp")[0] == "I → love: e^(5/√3) ≈ 17.935"
    assert lines(love, "row_sum")[1] == "love: e^√3 + e^√3 + e^√3 = 3·e^√3 ≈ 16.957"


def test_what_is_too_wide_for_a_matrix_is_listed_cell_by_cell(love: Problem) -> None:
    first = "e^(1/√3) + e^(5/√3) + e^√3"
    for detail in ("brief", "rows"):
        found = lines(love, "weights", detail=detail)
        assert len(found) == 9
        assert found[1] == f"I → love: e^(5/√3)/({first}) ≈ 0.707"
        assert found[3] == "love → I: e^√3 / (3·e^√3) = 1/3 ≈ 0.333"
    assert lines(love, "output")[:2] == [
        "I, d1: 1",
        f"I, d2: (2·e^(5/√3) + e^√3)/({first}) ≈ 1.637",
    ]


def test_a_cell_asked_for_is_worked_in_full(love: Problem) -> None:
    page = derivation(run(love, rounding="exact"), View(cell="output[0,0]", precision=5))
    (worked,) = (block for block in page.blocks if isinstance(block, Worked))
    row = "(e^(1/√3) + e^(5/√3) + e^√3)"
    assert plain_line(worked.lines[0]) == f"e^(1/√3)/{row}·1 + e^(5/√3)/{row}·1 + e^√3/{row}·1 = 1"


def test_long_sums_of_whole_numbers_are_shortened_and_no_closed_form_is(problem: Build) -> None:
    rows = [["1"] * 20, ["2"] * 20]
    many = problem(Q=rows, K=[*rows, *[["0"] * 20] * 18], V=[["1"]] * 20, scale="1/4")
    first, _ = lines(many, "scores")
    assert first == "t1 → c2: " + " + ".join(["1·2"] * 11) + " + … 9 more … = 40"
    assert lines(many, "scaled")[0] == "t1 → c2: 40·(1/4) = 10"
    assert lines(many, "row_sum")[0] == "t1: e^5 + e^10 + 18 ≈ 22192.879"
    assert lines(many, "output")[0] == "t1, d1: 1"


def test_given_numbers_stand_as_they_were_given(problem: Build) -> None:
    found = lines(problem(Q=[["0.1", "1/3"]], K=[["0.25", "sqrt(2)/2"]], V=[["1"]]), "scores")
    assert found == ["t1 → t1: 0.1·0.25 + 1/3·(√2/2) = 1/40 + 1/(3·√2) ≈ 0.261"]


def test_decimals_that_are_the_number_itself_are_equal_to_it(problem: Build) -> None:
    rows = problem(
        Q=[["1"], ["1"]], K=[["1"], ["1"]], V=[["1"], ["0"]], exp_base=2, mask=(Causal(),)
    )
    assert lines(rows, "weights") == ["t1 → t1: 2 / 2 = 1", "t2 → t1: 2 / 4 = 1/2 = 0.500"]
    assert lines(rows, "masked") == ["t1 → t2: 1 + (-∞) = -∞", "t2 → t1: 1 + 0 = 1"]


def test_a_row_without_keys_is_0_by_definition(problem: Build) -> None:
    rows = problem(Q=[["1"]], K=[["1"]], V=[["1"]], mask=(Lengths((0,)),))
    assert lines(rows, "weights") == ["t1 → t1: 0 by definition, because this query sees no key"]


def test_closed_forms_beyond_reading_are_left_out_but_of_a_cell_asked_for(problem: Build) -> None:
    long = problem(Q=[["0.123456789012345"]], K=[["0.987654321098765"]], V=[["1"]])
    (found,) = lines(long, "scores")
    assert found == "t1 → t1: 0.122 its closed form has 58 characters"
    (found,) = lines(long, "scores", detail="cells")
    assert " ≈ 0.122" in found


def test_the_page_says_how_it_was_worked(love: Problem) -> None:
    page = derivation(run(love, rounding="exact"), View(precision=1))
    notes = [
        plain(block.text)
        for block in page.blocks
        if isinstance(block, Paragraph) and block.kind == "note"
    ]
    assert notes == [
        "Every number is calculated exactly and shown in closed form. After ≈, it is rounded to 1"
        " decimal."
    ]


def test_only_a_matrix_that_says_more_has_closed_forms(love: Problem) -> None:
    page = derivation(run(love, rounding="exact"), View())
    found = [
        write(block.name, UNICODE)
        for block in page.blocks
        if isinstance(block, Grid) and block.closed
    ]
    assert found == ["Z", "E", "r"]


def test_a_copy_of_given_numbers_has_them_as_they_were_given_and_no_closed_forms(
    problem: Build,
) -> None:
    page = derivation(
        run(problem(Q=[["1"]], K=[["1/sqrt(2)"]], V=[["1"]]), rounding="exact"),
        View(steps=("K_T",)),
    )
    (grid,) = (block for block in page.blocks if isinstance(block, Grid))
    assert ([[cell.text for cell in row] for row in grid.cells], grid.closed) == (
        [["sqrt(2)/2"]],
        (),
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_every_example_has_a_page_in_every_format(path: Path) -> None:
    page = derivation(run(load(str(path)), rounding="exact"), View())
    for format in FORMATS:
        assert render(page, format, Style(width=80)).endswith("\n")
