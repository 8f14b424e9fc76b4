"""What the problem gives and a student read wrongly: one number or two rows, with which all the
rest was worked out. It is one error, in however many steps it shows.

The solutions are NumPy: Q, K and V from a changed X or W, and the four steps from these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import attncli
from tests.features.check.solutions_by_hand import Array, Work, softmax, written
from tests.tools.marks.sheets import MATRICES

GIVEN: dict[str, Any] = {
    "X": [[1, 2], [0, -1], [2, 1]],
    "W_Q": [[1, 0], [2, 1]],
    "W_K": [[2, 1], [1, -1]],
    "W_V": [[1, 2], [-1, 1]],
}
MARKING = {
    "marks": 20,
    "decimals": 2,
    "steps": {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
    "mistake": 2,
}


def projected(**others: Array | list[list[float]]) -> dict[str, Any]:
    """Q, K and V of the problem with these in the place of what is given."""
    given = {name: np.array(array) for name, array in (GIVEN | others).items()}
    return {name: given["X"] @ given[f"W_{name}"] for name in "QKV"}


def with_others(**others: Array | list[list[float]]) -> dict[str, Any]:
    """A right solution of the problem with these in the place of what is given."""
    return written(projected(**others))


def with_number(name: str, index: tuple[int, int], number: float) -> Array:
    """What is given, with another number in one place."""
    array = np.array(GIVEN[name])
    array[index] = number
    return array


def misread(name: str, index: tuple[int, int], number: float) -> dict[str, Any]:
    """A solution with another number in one place of what is given."""
    return with_others(**{name: with_number(name, index, number)})


def explained(answers: dict[str, Any], given: dict[str, Any] = GIVEN) -> set[str]:
    """All that explains a solution."""
    found = attncli.check(given, answers).diagnoses
    return {name for diagnosis in found for name in diagnosis.mistakes}


def marks(answers: dict[str, Any], given: dict[str, Any] = GIVEN) -> float:
    earned = attncli.check(given, answers, marking=MARKING).earned
    assert earned is not None
    return float(earned.points)


@pytest.mark.parametrize(
    ("name", "index", "number"),
    [("X", (0, 1), -2), ("X", (2, 0), 3), ("W_Q", (1, 0), 1), ("W_K", (0, 0), 3)],
)
def test_a_number_is_one_slip_in_all_steps(name: str, index: tuple[int, int], number: int) -> None:
    answers = misread(name, index, number)
    row, column = index
    assert explained(answers) == {f"{name}[{row}][{column}] was copied as {number}"}
    assert marks(answers) == 19


@pytest.mark.parametrize("bias", [[0, -1], [3, 0], [2, -1]])
@pytest.mark.parametrize("first", ["Q", "scores"])
def test_a_bias_that_was_not_used_was_left_out(bias: list[float], first: str) -> None:
    """Whatever its numbers are: also if it has a single one that is not 0, no other reading of it
    costs less.
    """
    answers = with_others()
    handed_in = {name: numbers for name, numbers in answers.items() if name not in "QKV"}
    if first == "Q":
        handed_in["Q"] = (np.array(GIVEN["X"]) @ GIVEN["W_Q"]).tolist()
    given = GIVEN | {"b_Q": bias}
    assert explained(handed_in, given) == {"the bias was left out of Q"}
    assert marks(handed_in, given) == 18


def test_one_of_two_numbers_of_a_bias_may_be_read_as_0() -> None:
    right = projected()
    read = right | {"Q": right["Q"] + [2, 0]}
    given = GIVEN | {"b_Q": [2, -1]}
    answers = written(read)
    assert explained(answers, given) == {"b_Q[1] was copied as 0"}
    assert marks(answers, given) == 19


def test_a_number_of_w_v_shows_in_a_column_of_the_output() -> None:
    """Not as a column that was copied from another one: nobody copied."""
    answers = misread("W_V", (1, 1), 3)
    assert explained(answers) == {"W_V[1][1] was copied as 3"}
    assert marks(answers) == 19


def test_a_number_may_be_misread_in_one_product_alone() -> None:
    """X is right for Q and V, and has -2 for 2 where K was worked out."""
    given = {name: np.array(array) for name, array in GIVEN.items()}
    other = given["X"].copy()
    other[0, 1] = -2
    answers = written(
        {
            "Q": given["X"] @ given["W_Q"],
            "K": other @ given["W_K"],
            "V": given["X"] @ given["W_V"],
        }
    )
    assert explained(answers) == {"X[0][1] was copied as -2"}
    assert marks(answers) == 19


def test_single_numbers_of_written_steps_have_one_cause() -> None:
    """By hand: X[1][1] = 1 for -1 gives other rows of Q, K and V, of which each has its numbers."""
    projected = {"Q": [[5, 2], [-2, -1], [4, 1]], "K": [[4, -1], [-1, 1], [5, 1]]}
    values = [[-1, 4], [1, -1], [1, 5]]
    changed = {
        "Q": [[5, 2], [2, 1], [4, 1]],
        "K": [[4, -1], [1, -1], [5, 1]],
        "V": [[-1, 4], [-1, 1], [1, 5]],
    }
    assert explained({**projected, "V": values}) == set()
    found = attncli.check(GIVEN, changed).diagnoses
    assert {each.step for each in found} == {"Q", "K", "V"}
    assert explained(changed) == {"X[1][1] was copied as 1"}


def test_rows_that_were_exchanged_are_one_mistake() -> None:
    rows = [GIVEN["X"][at] for at in (1, 0, 2)]
    answers = with_others(X=rows)
    assert explained(answers) == {"rows X[0] and X[1] were exchanged"}
    assert marks(answers) == 18


def test_a_right_number_denies_it() -> None:
    """Two rows of the scores are another one's, and the third is right."""
    answers = misread("W_Q", (1, 0), 1)
    right = with_others()
    answers["scores"][0] = right["scores"][0]
    assert not any("W_Q" in name for name in explained(answers))


def test_invented_numbers_have_no_cause() -> None:
    choice = np.random.default_rng(5)
    for _ in range(20):
        answers = with_others()
        answers["output"] = choice.uniform(-3, 3, (3, 2)).round(2).tolist()
        assert not any("copied as" in name for name in explained(answers) if "[" in name)


# The scores were worked out and scaled, and the softmax was taken of the scores.


def test_the_scores_were_read_for_the_scaled_scores() -> None:
    given = {"Q": [[1, 2], [0, 1], [1, 1]], "K": [[1, 0], [1, 1], [0, 1]], "V": [[1], [3], [0]]}
    work: dict[str, Work] = {"weights": lambda m: softmax(m["scores"])}
    answers = written(given, work=work)
    assert explained(answers, given) == {"scores was used instead of scaled"}
    assert marks(answers, given) == 18
    # Who has not written the scaled scores has not scaled.
    del answers["scaled"]
    assert explained(answers, given) == {"the scores were not scaled"}


@pytest.mark.parametrize(
    ("divisor", "said"),
    [(1.7, "1.7"), (1.5, "1.5"), (5**0.5, "the root of 5"), (4, "4")],
)
def test_one_wrong_scale_is_one_mistake(divisor: float, said: str) -> None:
    given = {
        "Q": [[3, 2, 1], [0, 1, 4], [1, 1, 5]],
        "K": [[1, 7, 1], [5, 1, 1], [0, 1, 2]],
        "V": [[1], [3], [0]],
    }
    work: dict[str, Work] = {"scaled": lambda m: m["scores"] / divisor}
    answers = written(given, work=work)
    assert explained(answers, given) == {f"the scores were divided by {said}"}
    assert marks(answers, given) == 18


def test_a_blank_number_and_what_follows_from_a_wrong_one_are_one_slip() -> None:
    """Q[0][1] is 3 for 2, is left blank, and gives three scores: a share of Q and a slip."""
    given = {"Q": [[1, 2], [0, 1], [1, 1]], "K": [[1, 4], [1, 1], [0, 3]], "V": [[1], [3], [0]]}
    of_x = {"X": given["Q"], "W_Q": [[1, 0], [0, 1]], "W_K": [[1, 0], [0, 1]]}
    problem = {**of_x, "context": given["K"], "W_V": [[1], [3]]}
    answers = written({**given, "Q": [[1, 3], [0, 1], [1, 1]]}, only=("scores",))
    answers["Q"] = [["1", None], ["0", "1"], ["1", "1"]]
    scheme = {"marks": 10, "steps": {"Q": 4, "scores": 6}, "mistake": 2}
    earned = attncli.check(problem, answers, marking=scheme).earned
    assert earned is not None
    assert float(round(earned.points, 2)) == 8.33


def test_a_number_of_q_that_is_rotated_with_the_one_half_a_row_away() -> None:
    """RoPE reads Q[i, k + half]: the number is found there, too."""
    given = {
        "Q": [[1.5, -0.5, 2.0, 1.0], [0.5, 1.0, -1.5, 2.0], [2.0, 0.5, 1.0, -1.0]],
        "K": [[1.0, 0.5, -1.0, 2.0], [2.0, -1.5, 0.5, 1.0], [0.5, 1.0, 1.5, -0.5]],
        "V": [[1.0, 2.0], [-1.0, 0.5], [2.0, 1.0]],
    }
    base = 100.0
    angles = np.arange(3)[:, None] * base ** -(np.arange(2) / 2)

    def turned(rows: Array) -> Array:
        one, other = rows[:, :2], rows[:, 2:]
        cos, sin = np.cos(angles), np.sin(angles)
        return np.hstack([one * cos - other * sin, other * cos + one * sin])

    read = np.array(given["Q"])
    read[1, 2] = 1.5
    scores = turned(read) @ turned(np.array(given["K"])).T
    weights = softmax(np.round(scores / 2, 3))
    output = np.round(weights, 3) @ np.array(given["V"])
    problem = {**given, "position": {"rope": {"theta": base, "pairing": "half"}}}
    steps = {"scores": scores, "scaled": scores / 2, "weights": weights, "output": output}
    answers = {name: [[f"{n:.3f}" for n in row] for row in array] for name, array in steps.items()}
    assert "Q[1][2] was copied as 1.5" in explained(answers, problem)


# An exam that asks for weights and output only.
EXAM: dict[str, Any] = {
    "X": [[1, 0, 1, 0], [0, 1, 0, 2], [1, 1, 0, -1]],
    "W_Q": [[1, 0], [0, 1], [0, -1], [0, 0]],
    "W_K": [[0, 1], [1, 0], [1, 1], [-1, 0]],
    "W_V": [[1, 0, 2], [0, 1, 0], [0, -1, -1], [1, 0, 0]],
}
OF_EXAM = {
    "marks": 20,
    "steps": {"weights": 9, "output": 11},
    "mistake": 3,
    "slip": 1,
    "decimals": 2,
}
MISREAD = "X of t1, d1 was copied as -1"


def exam_misread(
    name: str, index: tuple[int, int], number: float, mistake: str = ""
) -> dict[str, Any]:
    """The exam, worked with a number of it read as another one, and with a mistake or without."""
    given = {of: np.array(array) for of, array in EXAM.items()}
    given[name][index] = number
    numbers = {of: given["X"] @ given[f"W_{of}"] for of in "QKV"}
    work = dict([MATRICES.mistakes[mistake]]) if mistake else {}
    return written(numbers, work=work, only=("weights", "output"))


def exam_with(first: int) -> dict[str, Any]:
    """The exam, worked with this in the place of the first number of X."""
    return exam_misread("X", (0, 0), first)


def exam_marks(answers: dict[str, Any]) -> float:
    earned = attncli.check(EXAM, answers, marking=OF_EXAM).earned
    assert earned is not None
    return float(earned.points)


@pytest.mark.parametrize("mistake", ["not scaled", "base 2"])
@pytest.mark.parametrize(
    ("name", "index", "number"), [("X", (1, 1), -1), ("W_Q", (0, 0), -1), ("W_K", (0, 1), 0)]
)
def test_a_mistake_in_numbers_of_which_one_was_misread_costs_both(
    name: str, index: tuple[int, int], number: int, mistake: str
) -> None:
    """Most weights are wrong: 3 for the mistake, and 1 for the number."""
    assert exam_marks(exam_misread(name, index, number, mistake)) == 16


# Another one, as a teacher worked it.
WITH_BIASES = {
    "X": [[-1, 0, 1], [1, -1, 2], [0, 0, 2]],
    "W_Q": [[0, -1, -1], [-1, -1, 1], [-1, 0, 0]],
    "W_K": [[0, -1, 0], [-1, 0, -1], [1, 1, -1]],
    "W_V": [[0, -1, 0], [-1, 1, -1], [-1, 2, 2]],
    "b_Q": [0, -1, -1],
    "b_V": [2, 2, 0],
}
# The scores were not scaled, and W_K[2][1] was read as 0.
NOT_SCALED = {
    "weights": [["0.67", "0.09", "0.24"], ["0.05", "0.05", "0.91"], ["0.47", "0.06", "0.47"]],
    "output": [["0.76", "5.15", "2.76"], ["0.09", "5.86", "3.95"], ["0.53", "5.40", "3.13"]],
}
# The scores were divided by d_k, and X[2][0] was read as 1.
BY_D_K = {
    "weights": [["0.45", "0.23", "0.32"], ["0.23", "0.16", "0.61"], ["0.29", "0.15", "0.56"]],
    "output": [["0.68", "4.77", "3.33"], ["0.39", "4.84", "3.71"], ["0.44", "4.85", "3.57"]],
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("answers", "row", "column", "right"),
    [
        (NOT_SCALED, 1, 0, "0.21"),
        (NOT_SCALED, 1, 2, "0.67"),
        (NOT_SCALED, 2, 2, "0.32"),
        (BY_D_K, 2, 0, "0.58"),
    ],
)
def test_who_puts_a_weight_right_that_both_gave_loses_nothing(
    answers: dict[str, list[list[str]]], row: int, column: int, right: str
) -> None:
    """The output follows from the weight that stood there."""
    scheme = {"marks": 20, "steps": {"weights": 10, "output": 10}, "mistake": 2, "decimals": 2}
    mended = {name: [[*numbers] for numbers in rows] for name, rows in answers.items()}
    mended["weights"][row][column] = right
    for each in (answers, mended):
        found = attncli.check(WITH_BIASES, each, marking=scheme).earned
        assert found is not None
        assert found.points == 17


@pytest.mark.parametrize("row", range(3))
def test_a_number_that_was_misread_costs_no_more_where_what_follows_is_put_right(row: int) -> None:
    """A column of the output is wrong, and one number of it was put right."""
    misread, right = exam_misread("W_V", (0, 0), 2), exam_with(1)
    assert misread["output"][row][0] != right["output"][row][0]
    assert exam_marks(misread) == 19
    misread["output"][row][0] = right["output"][row][0]
    assert exam_marks(misread) == 19


@pytest.mark.parametrize(("row", "column"), [(0, 0), (2, 2)])
def test_an_output_that_is_put_right_after_all_does_not_deny_it(row: int, column: int) -> None:
    right, answers = exam_with(1), exam_with(-1)
    assert answers["output"][row][column] != right["output"][row][column]
    for number in (answers["output"][row][column], right["output"][row][column]):
        answers["output"][row][column] = number
        found = attncli.check(EXAM, answers, marking=OF_EXAM).earned
        assert found is not None
        assert found.points == 19
        assert [slip.said for slip in found.slips] == [MISREAD]


def test_a_slip_beside_it_is_another_one() -> None:
    """All weights are wrong, and it gives all but one of them."""
    answers = exam_with(-1)
    weight = answers["weights"][0][0]
    answers["weights"][0][0] = f"{float(weight) + 0.1:.2f}"
    found = attncli.check(EXAM, answers, marking=OF_EXAM).earned
    assert found is not None
    assert found.points == 18
    assert MISREAD in [slip.said for slip in found.slips]
