"""Rows and columns that were copied from others, or exchanged with them; worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import attncli
from attncli.features.check.diagnosis_page import with_labels
from attncli.problem.loader import loads
from tests.features.check.solutions_by_hand import WORK, Array, Matrices, written
from tests.features.check.test_single_cell_errors import diagnosed

# 2·3 + 5·11, 14 - 20, 2 + 20; 39 + 11, 91 - 4, 13 + 4; 18 + 99, 42 - 36, 6 + 36
PROBLEM = (
    "Q: [[2, 5], [13, 1], [6, 9]]\nK: [[3, 11], [7, -4], [1, 4]]\nV: [[1.25, 0.5], [3.5, 2], [6,"
    " 7]]\nscore: dot"
)
RIGHT = [[61, -6, 22], [50, 87, 17], [117, 6, 42]]


def with_rows(*order: int) -> str:
    return f"scores: {[RIGHT[row] for row in order]}"


@pytest.mark.parametrize(
    ("answers", "names", "cells"),
    [
        (
            with_rows(0, 0, 2),
            ("row scores[1] was copied from scores[0]",),
            ((1, 0), (1, 1), (1, 2)),
        ),
        (
            with_rows(0, 1, 0),
            ("row scores[2] was copied from scores[0]",),
            ((2, 0), (2, 1), (2, 2)),
        ),
        (
            with_rows(2, 1, 0),
            ("rows scores[0] and scores[2] were exchanged",),
            ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
        ),
        (
            "scores: [[61, 22, -6], [50, 17, 87], [117, 42, 6]]",
            ("columns scores[:, 1] and scores[:, 2] were exchanged",),
            ((0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)),
        ),
        (
            "scores: [[61, 61, 22], [50, 50, 17], [117, 117, 42]]",
            ("column scores[:, 1] was copied from scores[:, 0]",),
            ((0, 1), (1, 1), (2, 1)),
        ),
    ],
)
def test_rows_and_columns(
    answers: str, names: tuple[str, ...], cells: tuple[tuple[int, int], ...]
) -> None:
    (found,) = diagnosed(answers, PROBLEM)
    assert (found.mistakes, found.cells, found.whole, found.likely) == (names, cells, False, True)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        (
            "row scores[1] was copied from scores[0]",
            "row t2 of scores was copied from t1 of scores",
        ),
        (
            "columns output[:, 0] and output[:, 1] were exchanged",
            "columns d1 of output and d2 of output were exchanged",
        ),
        ("the number was copied from scores[0][2]", "the number was copied from scores of t1 → t3"),
        # A step and a row that are not there.
        ("scales[0] and scores[7]", "scales[0] and scores[7]"),
    ],
)
def test_rows_and_columns_have_the_names_of_the_page(name: str, called: str) -> None:
    judgement = attncli.check(
        loads(PROBLEM.encode(), "p.yaml"), {"scores": RIGHT}
    ).solution.verdicts
    assert with_labels(judgement, name) == called


@pytest.mark.long
def test_columns_of_values_exchanged_in_an_output_alone() -> None:
    """Weights of a half each: V has the means 2.5 and 4; rounded on the way, e/(e + e) is
    1.36/2.72, a half as well.
    """
    problem = "Q: [[0], [0]]\nK: [[1], [2]]\nV: [[1, 3, 9], [4, 5, 2]]"
    (found,) = diagnosed("output: [[4.0, 2.5, 5.5], [4.0, 2.5, 5.5]]", problem)
    assert found.mistakes == ("columns output[:, 0] and output[:, 1] were exchanged",)


def test_a_slip_beside_a_row_that_was_copied() -> None:
    """78 for 87 in the second row, and the third is the first."""
    row, slip = diagnosed("scores: [[61, -6, 22], [50, 78, 17], [61, -6, 22]]", PROBLEM)
    assert (row.mistakes, row.cells) == (
        ("row scores[2] was copied from scores[0]",),
        ((2, 0), (2, 1), (2, 2)),
    )
    assert (slip.mistakes, slip.cells) == (("two digits were swapped",), ((1, 1),))


def test_a_blank_in_a_copied_row_says_nothing() -> None:
    (found,) = diagnosed("scores: [[61, -6, 22], [61, null, 22], [117, 6, 42]]", PROBLEM)
    assert (found.mistakes, found.cells) == (
        ("row scores[1] was copied from scores[0]",),
        ((1, 0), (1, 2)),
    )


def test_one_number_of_another_row_is_no_row() -> None:
    (found,) = diagnosed("scores: [[61, -6, 22], [61, 87, 17], [117, 6, 42]]", PROBLEM)
    assert found.mistakes == ("the number was copied from scores[0][0]",)


def test_where_most_rows_are_others_there_is_another_cause() -> None:
    """Four rows, each in the place of the next."""
    problem = f"Q: [[2, 5], [13, 1], [6, 9], [1, 1]]{PROBLEM[PROBLEM.index(chr(10)) :]}"
    rows = [[14, 3, 5], *RIGHT]
    assert diagnosed(f"scores: {rows}", problem) == ()


def test_a_row_of_one_head_is_not_taken_for_that_of_another() -> None:
    problem = (
        "heads: 2\nQ: [[1, 2], [5, 7]]\nK: [[23, 89], [57, 4]]\nV: [[1, 1], [2, 2]]\nW_O: [[1],"
        " [1]]\nscore: dot"
    )
    # head 0: [[23, 57], [115, 285]]; head 1: [[178, 8], [623, 28]]
    assert diagnosed("scores: [[[23, 57], [178, 8]], [[178, 8], [623, 28]]]", problem) == ()
    (found,) = diagnosed("scores: [[[23, 57], [115, 285]], [[178, 8], [178, 8]]]", problem)
    assert found.mistakes == ("row scores[1][1] was copied from scores[1][0]",)


def test_the_heads_may_be_exchanged_as_a_whole() -> None:
    """Scores of head 0 are [[23, 57], [115, 285]], those of head 1 [[178, 8], [623, 28]]."""
    problem = (
        "heads: 2\nQ: [[1, 2], [5, 7]]\nK: [[23, 89], [57, 4]]\nV: [[1, 1], [2, 2]]\nW_O: [[1],"
        " [1]]\nscore: dot"
    )
    zero, one = "[[23, 57], [115, 285]]", "[[178, 8], [623, 28]]"
    (found,) = diagnosed(f"scores: [{one}, {zero}]", problem)
    assert found.mistakes == ("matrices scores[0] and scores[1] were exchanged",)
    assert len(found.cells) == 8
    (found,) = diagnosed(f"scores: [{zero}, {zero}]", problem)
    assert found.mistakes == ("matrix scores[1] was copied from scores[0]",)
    assert len(found.cells) == 4


def test_among_few_small_numbers_a_row_may_look_like_another_by_chance() -> None:
    """Whole numbers from 0 to 2: two of them are as in another row one time in five."""
    problem = "Q: [[1, 0], [0, 1], [1, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1], [2]]\nscore: dot"
    found = diagnosed("scores: [[1, 0], [1, 0], [1, 1]]", problem)
    assert all(
        "row scores[1] was copied from scores[0]" not in one.mistakes or not one.likely
        for one in found
    )


def test_a_column_of_one_number_is_not_said_to_be_copied() -> None:
    """All rows are alike, weights of a half each: 2.5 for 4 says no more in two of them than in
    one.
    """
    problem = "Q: [[0], [0]]\nK: [[1], [2]]\nV: [[1, 3, 9], [4, 5, 2]]"
    found = diagnosed("output: [[2.5, 2.5, 5.5], [2.5, 2.5, 5.5]]", problem)
    assert not [
        name for one in found for name in one.mistakes if name.startswith(("row", "column"))
    ]


@pytest.mark.parametrize(
    ("answers", "name", "cells"),
    [
        (
            "scores: [[61, -6, 22], [17, 87, 50], [117, 6, 42]]",
            "scores[1][0] and scores[1][2] were exchanged",
            ((1, 0), (1, 2)),
        ),
        (
            "scores: [[117, -6, 22], [50, 87, 17], [61, 6, 42]]",
            "scores[0][0] and scores[2][0] were exchanged",
            ((0, 0), (2, 0)),
        ),
    ],
)
def test_two_numbers_of_a_row_or_a_column(
    answers: str, name: str, cells: tuple[tuple[int, int], ...]
) -> None:
    (found,) = diagnosed(answers, PROBLEM)
    assert (found.mistakes, found.cells, found.likely) == ((name,), cells, True)
    assert found.two_numbers


def test_numbers_of_neither_one_row_nor_one_column_are_not_exchanged() -> None:
    found = diagnosed("scores: [[42, -6, 22], [50, 87, 17], [117, 6, 61]]", PROBLEM)
    assert not any(one.two_numbers for one in found)


def test_numbers_exchanged_whose_digits_are_too() -> None:
    """2·3 + 5·11 is 61; 2 + 14 is 16: who writes 16 and 61 has swapped the digits of each, or the
    numbers.
    """
    problem = f"{PROBLEM[: PROBLEM.index('K')]}K: [[3, 11], [7, -4], [-2, 4]]\nV: [[1], [2], [3]]"
    rows = "[16, -6, 61], [50, 87, -22], [117, 6, 24]"
    (found,) = diagnosed(f"scores: [{rows}]", f"{problem}\nscore: dot")
    exchanged = "scores[0][0] and scores[0][2] were exchanged"
    assert found.mistakes == (exchanged, "two digits were swapped")


# Powers of 2: 32, 1, 16 of 49, and 2, 1, 8 of 11.
EXCHANGED = {
    "Q": [[1, 0], [0, 1]],
    "K": [[5, 1], [0, 0], [4, 3]],
    "V": [[1, 0], [0, 1], [0, 0]],
    "scale": "none",
    "exp_base": 2,
}


def test_weights_that_were_exchanged_are_one_slip() -> None:
    """A larger exponential in the third place would make the second weight 0.01."""
    answers = {
        "scores": [[5, 0, 4], [1, 0, 3]],
        "weights": [[0.33, 0.02, 0.65], [0.18, 0.09, 0.73]],
        "output": [[0.33, 0.02], [0.18, 0.09]],
    }
    marking = {"marks": 20, "steps": {"scores": 6, "weights": 6, "output": 8}, "mistake": 2}
    checked = attncli.check(EXCHANGED, answers, marking=marking)
    assert checked.earned is not None
    assert checked.earned.points == 19
    [found] = checked.diagnoses
    assert found.mistakes == ("weights[0][0] and weights[0][2] were exchanged",)
    page = checked.to_markdown()
    assert "weights of t1 $\\to$ c1 and weights of t1 $\\to$ c3 were exchanged" in page


@pytest.mark.parametrize(("second", "is_slip"), [(0.01, True), (0.02, False)])
def test_a_wrong_exponential_gives_all_numbers_of_its_row(second: float, is_slip: bool) -> None:
    """64 in the place of 16 is 32, 1, 64 of 97: 0.33, 0.01, 0.66. A 0.02 is of another sum."""
    answers = {
        "scores": [[5, 0, 4], [1, 0, 3]],
        "weights": [[0.33, second, 0.66], [0.18, 0.09, 0.73]],
    }
    marking = {"marks": 20, "steps": {"scores": 10, "weights": 10}, "mistake": 2}
    named = [each.mistakes for each in attncli.check(EXCHANGED, answers, marking=marking).diagnoses]
    assert (("exp[0][2] is wrong",) in named) == is_slip


def test_weights_that_were_exchanged_have_no_moved_point() -> None:
    """0.7273 and 0.0909 of the second row: 0.09 is 0.9 with its point moved, and 0.73 is 0.073."""
    answers = {"weights": [[0.65, 0.02, 0.33], [0.18, 0.73, 0.09]]}
    [found] = attncli.check(EXCHANGED, answers).diagnoses
    assert found.mistakes == ("weights[1][1] and weights[1][2] were exchanged",)


def test_a_column_copied_from_its_opposite_may_have_wrong_signs() -> None:
    values = {
        "Q": [[0, 0], [0, 0]],
        "K": [[1, 2], [2, 1]],
        "V": [[1, -1, 5], [4, -4, 9]],
        "mask": "causal",
    }
    answers = {"output": [[-1, -1, 5], [-2.5, -2.5, 7]]}
    [found] = attncli.check(values, answers).diagnoses
    copied = "column output[:, 0] was copied from output[:, 1]"
    assert found.mistakes == (copied, "the sign is wrong")
    assert found.cells == ((0, 0), (1, 0))


VALUES = {
    "Q": [[1, 2], [2, 1], [3, 1]],
    "K": [[1, 1], [2, 1], [1, 3]],
    "V": [[1, 2], [3, 0], [0, 2]],
}


@pytest.mark.parametrize("only", [tuple(WORK), ("weights", "output"), ("output",)])
def test_rows_of_v_that_were_exchanged(only: tuple[str, ...]) -> None:
    """No two rows of the output are exchanged by that, and none is copied."""

    def with_rows_exchanged(m: Matrices) -> Array:
        return m["weights"] @ m["V"][[0, 2, 1]]

    answers = written(VALUES, work={"output": with_rows_exchanged}, only=only)
    checked = attncli.check(VALUES, answers)
    [found] = checked.diagnoses
    assert found.mistakes == ("rows V[1] and V[2] were exchanged",)
    assert found.likely
    page = checked.to_markdown()
    assert "rows t2 of V and t3 of V were exchanged" in page
    assert "if" not in page[page.index("What explains") : page.index("Step by step")]


def test_rows_of_v_in_each_head() -> None:
    values = np.array([[[1, 2], [3, 0], [0, 2]], [[2, 5], [0, 1], [4, 0]]])
    given = {
        "Q": [VALUES["Q"], [[0, 1], [1, 1], [2, 0]]],
        "K": [VALUES["K"], [[1, 0], [0, 2], [1, 1]]],
        "V": values.tolist(),
        "heads": 2,
    }
    weights = attncli.trace(given)["weights"]
    answers = (weights @ values[:, [1, 0, 2]]).round(2).tolist()
    [found] = attncli.check(given, {"output": answers}).diagnoses
    assert found.mistakes == ("rows V[0] and V[1] were exchanged",)


@pytest.mark.parametrize("step", ["heads_output", "output"])
@pytest.mark.parametrize("head", [0, 1])
def test_the_weights_of_one_head_in_every_head(step: str, head: int) -> None:
    """In the output of each head, or in the output alone."""
    given = {
        "X": [[1, 2, 0, 1], [2, 1, 1, 0], [3, 1, 0, 2]],
        "W_Q": [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]],
        "W_K": [[1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]],
        "W_V": [[1, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]],
        "heads": 2,
    }
    trace = attncli.trace(given)
    of_heads = trace["weights"][head] @ trace["V"]
    answers = of_heads if step == "heads_output" else np.hstack([*of_heads])
    checked = attncli.check(given, {step: answers.round(2).tolist()})
    assert [each.mistakes for each in checked.diagnoses] == [
        (f"the weights of head {head} were used in every head",)
    ]
