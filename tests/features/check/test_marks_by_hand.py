"""Solutions that a teacher marked by hand, each with the reason; the program has to come within
half a mark.

The first twelve are the cases of a teacher who had no scheme at hand; where she gave a range, both
its ends are there. Her scheme is the one that says what she did: a mistake costs her 3.5 of 20, a
slip 1. The others have the scheme of the documentation, in which a mistake costs 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import attncli
from tests.features.check.solutions_by_hand import (
    WORK,
    Written,
    cut,
    half_even,
    softmax,
    written,
)

HALF_A_MARK = 0.5
# Scores are [[3, 4, 7], [3, 5, 5], [4, 7, 6]]; no other number has less than three decimals.
GIVEN = {
    "Q": [[1, 2], [2, 1], [3, 1]],
    "K": [[1, 1], [2, 1], [1, 3]],
    "V": [[1, 2], [3, 0], [0, 2]],
}
NEIGHBOUR = {
    "Q": [[2, 2], [1, 3], [3, 2]],
    "K": [[2, 1], [1, 3], [3, 3]],
    "V": [[7, 1], [2, 9], [5, 5]],
}
# Scores of these have a half at the third decimal: 0.125, 1.025 and -1.925.
WITH_HALVES = {
    "Q": [[0.5, 0.25], [-1, 0.75], [0.2, 1.5]],
    "K": [[1, 0.3], [0.5, -0.5], [2, 0.1]],
    "V": [[1.5, 2], [0, 0.25], [-1, 0.75]],
}
# Scores are [[1, 3, 4], [3, 4, 7], [0, 1, 1]].
CAUSAL = {
    "Q": [[1, 2], [3, 1], [0, 1]],
    "K": [[1, 0], [1, 1], [2, 1]],
    "V": [[1, 0], [2, 3], [-1, 1]],
    "mask": "causal",
}
SMALL = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 2], [3, 0]]}
NONE_WORKED = [[0, 0, 0]] * 3
TEACHER: dict[str, Any] = {
    "marks": 20,
    "decimals": 2,
    "steps": {"scores": 4, "scaled": 4, "weights": 7, "output": 5},
    "mistake": 3.5,
    "slip": 1,
}
# A short exam asks for two steps. There, a mistake is a quarter of it all.
SHORT: dict[str, Any] = {
    "marks": 20,
    "decimals": 2,
    "steps": {"weights": 10, "output": 10},
    "mistake": 5,
    "slip": 1,
}
# With weights of two decimals, the second row of outputs is 1.82 and not 1.83, and so on.
FROM_X: dict[str, Any] = {
    "X": [[0, -1], [2, 1], [1, 2], [1, 0]],
    "W_Q": [[1, -1, 0], [0, -1, -1]],
    "W_K": [[2, 2, 1], [0, -1, 0]],
    "W_V": [[0, 0, -1, -1, 1], [1, -1, 0, -1, -1]],
}
ROW_NOT_FOLLOWED: dict[str, Any] = {
    "scores": [[1, 5, 1, 3], [-3, -3, 3, -3], [-3, -9, 0, -6], [-1, 1, 2, 0]],
    "scaled": [
        ["0.58", "2.89", "0.58", "1.73"],
        ["-1.73", "-1.73", "1.73", "-1.73"],
        ["-1.73", "-5.20", "0.00", "-3.46"],
        ["-0.58", "0.58", "1.15", "0.00"],
    ],
    "weights": [
        ["0.07", "0.66", "0.07", "0.21"],
        ["0.31", "0.29", "0.22", "0.18"],
        ["0.15", "0.00", "0.82", "0.03"],
        ["0.09", "0.27", "0.49", "0.15"],
    ],
    "output": [
        ["0.73", "-0.73", "-1.60", "-2.33", "0.87"],
        ["1.82", "-1.82", "-1.00", "-2.82", "-0.82"],
        ["1.49", "-1.49", "-0.85", "-2.34", "-0.64"],
        ["1.16", "-1.16", "-1.18", "-2.34", "0.02"],
    ],
}
DOCUMENTED: dict[str, Any] = {
    "marks": 20,
    "decimals": 2,
    "steps": {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
    "mistake": 2,
}
THREE: dict[str, Any] = {**DOCUMENTED, "steps": {"scaled": 5, "weights": 5, "output": 10}}
ONLY_TWO: dict[str, Any] = {**DOCUMENTED, "steps": {"weights": 10, "output": 10}}


@dataclass(frozen=True)
class Marked:
    """A solution, the scheme, and what the teacher gives: between `least` and `most`."""

    answers: dict[str, Any]
    least: float
    most: float
    scheme: dict[str, Any]
    given: dict[str, Any]


def by_hand(
    answers: dict[str, Any],
    marks: float,
    most: float | None = None,
    scheme: dict[str, Any] = DOCUMENTED,
    given: dict[str, Any] = GIVEN,
) -> Marked:
    return Marked(answers, marks, marks if most is None else most, scheme, given)


def of_teacher(answers: dict[str, Any], marks: float, most: float | None = None) -> Marked:
    return by_hand(answers, marks, most, TEACHER)


def without_cells(answers: Written, step: str, *cells: tuple[int, int]) -> Written:
    changed = {name: [list(row) for row in rows] for name, rows in answers.items()}
    for row, column in cells:
        changed[step][row][column] = None
    return changed


def whole(answers: Written) -> dict[str, Any]:
    return {
        name: [[str(round(float(text or 0))) for text in row] for row in rows]
        for name, rows in answers.items()
    }


RIGHT = written(GIVEN)
BY_D_K = {"scaled": lambda m: m["scores"] / 2}
NOT_SCALED = {"scaled": lambda m: m["scores"]}
TRANSPOSED = {"scores": lambda m: m["K"] @ m["Q"].T}
OVER_COLUMNS = {"weights": lambda m: softmax(m["scaled"].T).T}
BASE_2 = {"weights": lambda m: 2 ** m["scaled"] / (2 ** m["scaled"]).sum(-1, keepdims=True)}
PLAIN_SHARES = {"weights": lambda m: m["scaled"] / m["scaled"].sum(-1, keepdims=True)}
INVENTED = [[0.52, 0.18, 0.3], [0.25, 0.61, 0.14], [0.71, 0.2, 0.09]]
INVENTED_SCORES = [[5, 1, 2], [8, 2, 9], [1, 3, 11]]
INVENTED_OUTPUT = [[2.34, 5.1], [0.07, 4.77], [3.3, 2.91]]


def cells(rows: list[list[float]]) -> dict[tuple[int, int], float]:
    return {(i, j): number for i, row in enumerate(rows) for j, number in enumerate(row)}


ZEROS = {
    name: cells(np.zeros(shape).tolist())
    for name, shape in {
        "scores": (3, 3),
        "scaled": (3, 3),
        "weights": (3, 3),
        "output": (3, 2),
    }.items()
}  # The output follows from the weights.
WHOLE_WEIGHTS = {
    **RIGHT,
    "weights": [["0.00", "0.00", "1.00"], ["0.00", "0.00", "0.00"], ["0.00", "1.00", "0.00"]],
    "output": [["0.00", "2.00"], ["0.00", "0.00"], ["3.00", "0.00"]],
}

CASES = {
    # What the teacher did.
    "all right": of_teacher(written(GIVEN, on_the_way=False), 20),
    "rounded at every step": of_teacher(RIGHT, 20),
    "divided by d_k, all steps shown": of_teacher(written(GIVEN, work=BY_D_K), 16, 17),
    "divided by d_k, only two steps": by_hand(
        written(GIVEN, work=BY_D_K, only=("weights", "output")), 12, 15, SHORT
    ),
    "not scaled, all steps shown": of_teacher(written(GIVEN, work=NOT_SCALED), 16),
    "not scaled, only the output": by_hand(
        written(GIVEN, work=NOT_SCALED, only=("output",)), 5, 10, SHORT
    ),
    "one slip in the scores": of_teacher(written(GIVEN, cells={"scores": {(0, 2): 9}}), 19),
    "only the first two steps": of_teacher(written(GIVEN, only=("scores", "scaled")), 8, 10),
    "digits cut off": of_teacher(written(GIVEN, rounding=cut()), 19),
    # All scores are whole numbers, and right. Nothing else is.
    "whole numbers only": of_teacher(whole(written(GIVEN, on_the_way=False)), 2, 4),
    # Her 0 is for the copy, of which the class has a note. As it stands, the sheet has other scores
    # (4), from which the next two steps follow, and an output (5) that does not follow.
    "the neighbour's sheet": of_teacher(written(NEIGHBOUR), 11),
    "invented weights": of_teacher(written(GIVEN, cells={"weights": cells(INVENTED)}), 13),
    # One mistake is 2, wherever it is.
    "K Q^T": by_hand(written(GIVEN, work=TRANSPOSED), 18),
    "softmax of columns": by_hand(written(GIVEN, work=OVER_COLUMNS), 18),
    "powers of 2": by_hand(written(GIVEN, work=BASE_2), 18),
    "shares without exponentials": by_hand(written(GIVEN, work=PLAIN_SHARES), 18),
    "two mistakes": by_hand(written(GIVEN, work=NOT_SCALED | OVER_COLUMNS), 16),
    "two other mistakes": by_hand(written(GIVEN, work=TRANSPOSED | BASE_2), 16),
    # The rows of two tokens are exchanged: one mistake, and all that follows is right.
    "two rows exchanged": by_hand(
        written(GIVEN, work={"scores": lambda m: WORK["scores"](m)[[1, 0, 2]]}), 18
    ),
    # A slip is 1, wherever it is, and what follows from it is right.
    "a slip in the scaled scores": by_hand(written(GIVEN, cells={"scaled": {(1, 1): 3.45}}), 19),
    "a slip in the weights": by_hand(written(GIVEN, cells={"weights": {(2, 0): 0.29}}), 19),
    "a slip in the output": by_hand(written(GIVEN, cells={"output": {(0, 1): 1.47}}), 19),
    "a sign in the scores": by_hand(written(GIVEN, cells={"scores": {(2, 2): -6}}), 19),
    "slips in two steps": by_hand(
        written(GIVEN, cells={"scores": {(0, 0): 5}, "output": {(2, 1): 0.11}}), 18
    ),
    "two slips in one step": by_hand(written(GIVEN, cells={"scores": {(0, 0): 5, (2, 1): 9}}), 18),
    # Three slips in one step do not weigh more than not to know the method.
    "three slips in one step": by_hand(
        written(GIVEN, cells={"scores": {(0, 0): 5, (2, 1): 9, (1, 1): 8}}), 18
    ),
    "a mistake and a slip": by_hand(
        written(GIVEN, work=BY_D_K, cells={"output": {(1, 0): 2.12}}), 17
    ),
    # The mistake and the slip of cutting; each step is worked out in full, or from what is written.
    "digits cut off, and divided by d_k": by_hand(
        written(GIVEN, rounding=cut(), work=BY_D_K, on_the_way=False), 17
    ),
    "digits cut off on the way, and divided by d_k": by_hand(
        written(GIVEN, rounding=cut(), work=BY_D_K), 17
    ),
    "digits cut off, and the softmax down the columns": by_hand(
        written(GIVEN, rounding=cut(), work=OVER_COLUMNS, on_the_way=False), 17
    ),
    "digits cut off, 2 in place of e, and a slip": by_hand(
        written(GIVEN, rounding=cut(), work=BASE_2, cells={"output": {(1, 0): 2.12}}), 16
    ),
    "digits cut off and a slip": by_hand(
        written(GIVEN, rounding=cut(), cells={"output": {(1, 0): 2.12}}), 18
    ),
    # In one step it is no better than everywhere.
    "a row of weights is wrong, and was not followed; nothing was cut off": by_hand(
        ROW_NOT_FOLLOWED, 18, given=FROM_X
    ),
    "digits cut off in the scaled scores": by_hand(
        {**RIGHT, **written(GIVEN, rounding=cut(), only=("scaled",))}, 19
    ),
    # What is not there earns nothing.
    "no output": by_hand(written(GIVEN, only=("scores", "scaled", "weights")), 14),
    "the last row of the output is blank": by_hand(
        without_cells(RIGHT, "output", (2, 0), (2, 1)), 18
    ),
    "only scores": by_hand(written(GIVEN, only=("scores",)), 4),
    "a blank sheet": by_hand({"scores": [[None] * 3] * 3}, 0),
    "no scaled scores": by_hand(written(GIVEN, only=("scores", "weights", "output")), 16),
    # 4 for the step that is not there, 2 for the mistake that was made in it.
    "no scaled scores, and not scaled": by_hand(
        written(GIVEN, work=NOT_SCALED, only=("scores", "weights", "output")), 14
    ),
    # 8 for the steps that are not there, 4 for the mistakes that were made in them and after them.
    "two mistakes, and only the second step of them": by_hand(
        written(GIVEN, work=NOT_SCALED | OVER_COLUMNS, only=("weights", "output")), 8
    ),
    "two other mistakes, and only the second step of them": by_hand(
        written(GIVEN, work=TRANSPOSED | BASE_2, only=("weights", "output")), 8
    ),
    # One number right, or wrong otherwise, does not make them other mistakes.
    "two mistakes behind one step, and a number put right": by_hand(
        written(
            GIVEN,
            work=BY_D_K | OVER_COLUMNS,
            cells={"weights": {(0, 0): 0.05}},
            only=("weights", "output"),
        ),
        8,
    ),
    "two mistakes behind one step, and a slip": by_hand(
        written(
            GIVEN,
            work=BY_D_K | OVER_COLUMNS,
            cells={"weights": {(1, 2): 0.9}},
            only=("weights", "output"),
        ),
        7,
    ),
    # Three slips, where a cell is worth more than a slip; and nothing that is right.
    "three of four outputs": by_hand(
        written(SMALL, cells={"output": {(0, 0): 7.11, (0, 1): 0.39, (1, 1): 9.73}}),
        17,
        given=SMALL,
    ),
    "four of four outputs": by_hand(
        written(SMALL, cells={"output": cells([[7.11, 0.39], [6.07, 9.73]])}), 14, given=SMALL
    ),
    # Any way to write the right numbers is right.
    "roots": by_hand(
        {
            **RIGHT,
            "scaled": [[f"{number}/√2" for number in row] for row in ([3, 4, 7], [3, 5, 5])]
            + [["4/√2", "7√2/2", "6/sqrt(2)"]],
        },
        20,
    ),
    "four decimals": by_hand(written(GIVEN, decimals=4), 20),
    "Python's rounding": by_hand(
        written(WITH_HALVES, rounding=half_even(), on_the_way=False), 20, given=WITH_HALVES
    ),
    "halves rounded up": by_hand(written(WITH_HALVES, on_the_way=False), 20, given=WITH_HALVES),
    # Only the weights are whole numbers (6), and the output follows from them.
    "weights as whole numbers": by_hand(
        {
            **RIGHT,
            "weights": [[0, 0, 1], [0, 0, 0], [0, 1, 0]],
            "output": [["0.00", "2.00"], ["0.00", "0.00"], ["3.00", "0.00"]],
        },
        14,
    ),
    # With zeros behind the point, or without a point, they are the same numbers.
    "weights as whole numbers, with zeros": by_hand(WHOLE_WEIGHTS, 14),
    # Outputs (6) without decimals are as coarse as the weights that they follow from.
    "weights and output as whole numbers": by_hand(
        {**RIGHT, **{name: whole(WHOLE_WEIGHTS)[name] for name in ("weights", "output")}}, 8
    ),
    # Nothing explains a step: it earns nothing, and what follows from it all.
    "invented scores": by_hand(written(GIVEN, cells={"scores": cells(INVENTED_SCORES)}), 16),
    "invented output": by_hand(written(GIVEN, cells={"output": cells(INVENTED_OUTPUT)}), 14),
    # Zeros show no knowledge: nobody has to work them out, nor what follows from them.
    "nothing but zeros": by_hand(written(GIVEN, cells=ZEROS), 0, 1),
    "zeros as whole numbers": by_hand(whole(written(GIVEN, cells=ZEROS)), 0, 1),
    "zeros after right scores": by_hand(
        {**RIGHT, **written(GIVEN, cells=ZEROS, only=("weights", "output"))}, 8
    ),
    # Numbers that are all alike show no more than zeros do. The output (6) is the averages of the
    # values: one row of work, and two that repeat it.
    "all weights alike": by_hand(
        written(GIVEN, work={"weights": lambda m: np.full((3, 3), 1 / 3)}), 10
    ),
    "all scores alike": by_hand(written(GIVEN, work={"scores": lambda m: np.ones((3, 3))}), 2),
    # The same row of scores for each query: the other steps have one row of work.
    "the same scores for each query": by_hand(
        written(GIVEN, work={"scores": lambda m: np.array([[8.0, 1.0, 5.0]] * 3)}), 5.33
    ),
    "scores on the diagonal": by_hand(
        written(GIVEN, work={"scores": lambda m: 9 * np.eye(3)}), 0, 4.5
    ),
    "each token sees itself": by_hand(written(GIVEN, work={"weights": lambda m: np.eye(3)}), 8),
    # One query sees itself and the next one. That has to be worked out.
    "weights of a half": by_hand(
        written(GIVEN, work={"weights": lambda m: (np.eye(3) + np.eye(3)[[1, 2, 0]]) / 2}), 14
    ),
    # The wrong step is not marked, but shown. It is a mistake all the same.
    "a mistake in a step that is not marked": by_hand(
        written(GIVEN, work=BY_D_K), 18, None, ONLY_TWO
    ),
    "the same mistake, not shown": by_hand(
        written(GIVEN, work=BY_D_K, only=("weights", "output")), 18, None, ONLY_TWO
    ),
    "a slip in a step that is not marked": by_hand(
        written(GIVEN, cells={"scores": {(0, 2): 9}}), 19, None, ONLY_TWO
    ),
    # Some of the right numbers are 0, and a slip may give one more: that earns nothing.
    "zeros everywhere": by_hand(
        {
            "scores": NONE_WORKED,
            "scaled": NONE_WORKED,
            "weights": NONE_WORKED,
            "output": [[0, 0]] * 3,
        },
        0,
        None,
        DOCUMENTED,
        CAUSAL,
    ),
    # Averages of the values are work.
    "zeros, and what follows": by_hand(
        {
            "scores": NONE_WORKED,
            "scaled": NONE_WORKED,
            "weights": [[1, 0, 0], ["0.50", "0.50", 0], [0.33, 0.33, 0.33]],
            "output": [[1, 0], ["1.50", "1.50"], [0.66, 1.32]],
        },
        float(DOCUMENTED["steps"]["output"]),
        None,
        DOCUMENTED,
        CAUSAL,
    ),
    # Nothing is right, and scores that were copied are no work. Nobody knows that he did not scale.
    "all invented, and the scores copied": by_hand(
        {
            "scores": [[5, -3, 2], [1, 6, -4], [7, 2, -1]],
            "scaled": [[5, -3, 2], [1, 6, -4], [7, 2, -1]],
            "weights": [[0.41, 0.27, 0.88], [0.05, 0.61, 0.13], [0.72, 0.36, 0.19]],
            "output": [[3.11, 4.27], [-2.35, 1.86], [0.44, 5.91]],
        },
        0,
        None,
        {**DOCUMENTED, "steps": {"scores": 5, "scaled": 5, "weights": 5, "output": 5}},
        CAUSAL,
    ),
    # One decimal of two costs half of the share, in 12 of 24 numbers: the others have no more.
    "one decimal instead of two": by_hand(
        {
            "scaled": [["0.7", "2.1", "2.8"], ["2.1", "2.8", "4.9"], ["0", "0.7", "0.7"]],
            "weights": [["1", "0", "0"], ["0.3", "0.7", "0"], ["0.2", "0.4", "0.4"]],
            "output": [["1", "0"], ["1.7", "2.0"], ["0.6", "1.6"]],
        },
        16,
        None,
        {**THREE, "digit": 0.5},
        CAUSAL,
    ),
    # A whole number lacks both: nobody has worked it out.
    "weights as whole numbers, where a decimal costs half": by_hand(
        WHOLE_WEIGHTS, 14, None, {**DOCUMENTED, "digit": 0.5}
    ),
    # Whole numbers need no decimals where a mistake gives just these.
    "the mask the wrong way round": by_hand(
        {
            "scaled": [[0.71, 2.12, 2.83], [2.12, 2.83, 4.95], [0, 0.71, 0.71]],
            "weights": [[0.07, 0.31, 0.62], [0, 0.11, 0.89], [0, 0, 1]],
            "output": [[0.07, 1.54], [-0.68, 1.21], [-1, 1]],
        },
        18,
        None,
        THREE,
        CAUSAL,
    ),
    "not scaled, as the scores stand": by_hand(
        {
            "scaled": [[1, 3, 4], [3, 4, 7], [0, 1, 1]],
            "weights": [["1", "0", "0"], [0.27, 0.73, 0], [0.16, 0.42, 0.42]],
            "output": [[1, 0], [1.73, 2.19], [0.58, 1.69]],
        },
        18,
        None,
        THREE,
        CAUSAL,
    ),
    # The right end of a wrong way was not worked out from it, but it is right.
    "a right output after a mistake": by_hand(
        {**written(GIVEN, work=BY_D_K), "output": RIGHT["output"]}, 18
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_marks_are_within_half_a_mark_of_a_teacher(name: str) -> None:
    case = CASES[name]
    checked = attncli.check(case.given, case.answers, marking=case.scheme)
    assert checked.earned is not None
    points = float(checked.earned.points)
    assert case.least - HALF_A_MARK <= points <= case.most + HALF_A_MARK, checked.to_markdown()


def test_no_number_of_these_problems_is_right_by_chance() -> None:
    """Scores are whole; of all other numbers none is whole, so that whole numbers earn nothing."""
    numbers = {name: np.array(array, dtype=float) for name, array in GIVEN.items()}
    for name in WORK:
        numbers[name] = WORK[name](numbers)
        fractions = abs(numbers[name] - numbers[name].round())
        assert (fractions.max() == 0) if name == "scores" else (fractions.min() > 0.02), name
    assert math.isclose(numbers["scaled"][0, 0], 3 / math.sqrt(2))
