"""What has to be true of all marks, tried on a few drawn solutions.

`tests/tools/marks/run.py` tries thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import attncli
from tests.features.check.solutions_by_hand import half_even, half_up, written
from tests.tools.marks.drawn import STEPS, Errors, Student, in_short, marking
from tests.tools.marks.run import (
    lost_by_correcting,
    lost_by_fewer_errors,
    lost_by_mending,
    lost_by_mending_a_masked_sheet,
    lost_by_mending_a_mess,
    lost_by_mending_a_sheet,
    lost_by_mending_a_sheet_of_heads,
    lost_by_mending_a_short_sheet,
    lost_by_mending_an_exam,
    lost_by_mending_some_steps,
    unfair,
    wrong_right_marks,
)
from tests.tools.marks.sheets import MATRICES, SUMS

MANY = pytest.param(30, marks=pytest.mark.slow)
FULL = {
    "marks": 20,
    "steps": {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
    "mistake": 2,
    "decimals": 2,
}
KNOWN_TO_FOLLOW = {
    "X": [[-1, 1], [2, 0], [0, -1], [1, 2]],
    "W_Q": [[1, 1, -1], [0, 1, 0]],
    "W_K": [[0, 0, 2], [2, 1, 2]],
    "W_V": [[-1, -1, -1, 0, -1], [1, 0, -1, 1, 0]],
}
SHORT = {"marks": 6, "steps": {"output": 6}, "mistake": 2, "decimals": 2}


def seeds(number: int) -> range:
    """Those of the fast tier are not those of the slow one."""
    return range(2) if number < 10 else range(100, 100 + number)


@pytest.mark.parametrize("number", [4, MANY])
def test_no_right_solution_is_below_full_marks(number: int) -> None:
    """However it is rounded and written. Some of these are known to need room for rounding."""
    hard = [1097, 1162, 1597, 2007, 2173, 2448, 9596, 20557]
    known_to_be_hard = [132, 1500] if number < 10 else hard
    found = [
        said for seed in (*seeds(number), *known_to_be_hard) for said in wrong_right_marks(seed)
    ]
    assert not found


# A slip made a copied output another one; a right number denied a mistake; one mistake less made
# digits look cut off. Rounding on the way excused a mistake; a mistake lost its name in one of two
# steps, or where it shows once in each; what was read from a blank had no name, or no rounding.
KNOWN_TO_LOSE = (43, 96, 171, 5973, 20100, 6101, 5939, 6204)


@pytest.mark.slow
@pytest.mark.parametrize("seed", KNOWN_TO_LOSE)
def test_who_makes_one_error_less_lost_marks_before(seed: int) -> None:
    assert [said for said in lost_by_fewer_errors(seed) if said is not None] == []


# What follows from a mistake, a slip, an invented step or a row that was carried was left as it
# was, and did not follow any more; and a mistake lost its name with its numbers. A slip beside a
# mistake was not looked for by the equations of that mistake, nor one number of a row that is left.
KNOWN_TO_FOLLOW_NO_MORE = (
    *(9, 57, 1027, 1048, 1099, 2034, 2085, 5138, 7011, 7243),
    *(10033, 40118, 60005, 60188, 61248, 61252),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", KNOWN_TO_FOLLOW_NO_MORE)
def test_who_puts_a_number_right_lost_marks_before(seed: int) -> None:
    assert [said for said in lost_by_mending_a_mess(seed) if said is not None] == []


@pytest.mark.parametrize("mistake", ["columns", "whole matrix"])
def test_a_mistake_in_the_sums_costs_what_it_does_where_they_are_not_written(mistake: str) -> None:
    given = {"Q": [[1, 2], [2, 1], [0, 1]], "K": [[1, 1], [2, 1], [0, 2]], "V": [[1], [3], [0]]}
    costs = []
    for sheet in (MATRICES, SUMS):
        student = Student(given, 2, half_up(2), (), 0, sheet)
        solution = student.solution(Errors((mistake,)))
        found = attncli.check(given, solution.answers, marking=marking(solution)).earned
        assert found is not None
        [taken] = found.mistakes
        assert mistake in taken.said
        costs.append(found.of - found.points)
    assert costs == [2, 2]


@pytest.mark.long
@pytest.mark.parametrize("seed", [179, 1271])
def test_what_a_mistake_gives_about_is_not_what_it_gives(seed: int) -> None:
    """By one of two mistakes a weight is 0.12, and by the one that was made 0.14. By a mistake, and
    a weight that was put right, an output is 1.509, and written is 1.495.
    """
    assert [said for said in lost_by_mending(seed) if said is not None] == []


# Only one output follows from a weight that was put right, in a row that is wrong. Weights put
# among those of a mistake looked cut off. A score that is not written gives the other weights of a
# row, and the one that was put right; so does a score by the equations of a mistake.
KNOWN_TO_FOLLOW_FROM_WHAT_IS_NOT_WRITTEN = (0, 187, 359, 376)


@pytest.mark.long
@pytest.mark.parametrize("seed", KNOWN_TO_FOLLOW_FROM_WHAT_IS_NOT_WRITTEN)
def test_a_weight_is_put_right_where_steps_before_it_are_not_written(seed: int) -> None:
    assert [said for said in lost_by_mending_some_steps(seed) if said is not None] == []


# A masked score, and a cell of the mask, follow no more from a mask that hid the other side; nor
# does an exponential from a score that was not masked.
KNOWN_TO_FOLLOW_FROM_WHAT_IS_HIDDEN = (16, 118, 191)


@pytest.mark.long
@pytest.mark.parametrize("seed", KNOWN_TO_FOLLOW_FROM_WHAT_IS_HIDDEN)
def test_a_number_is_put_right_where_a_mask_hides_some(seed: int) -> None:
    assert [said for said in lost_by_mending_a_masked_sheet(seed) if said is not None] == []


# Whole numbers that looked as if they had too few decimals followed from others. One number of the
# problem was read wrongly, and one that follows was put right.
KNOWN_TO_BE_SHORT = (7, 17, 43, 66, 83, 170)


@pytest.mark.long
@pytest.mark.parametrize("seed", KNOWN_TO_BE_SHORT)
def test_a_number_is_put_right_among_those_without_zeros_at_the_end(seed: int) -> None:
    assert [said for said in lost_by_mending_a_short_sheet(seed) if said is not None] == []


@pytest.mark.long
@pytest.mark.parametrize("seed", [6, 8])
def test_a_number_is_put_right_that_follows_from_one_that_was_misread(seed: int) -> None:
    assert [said for said in lost_by_mending_an_exam(seed) if said is not None] == []


def test_another_number_in_the_place_of_a_right_one_has_all_its_decimals() -> None:
    """Two outputs are wrong. As 1 and not as 1.0, another sum and another weight looked right, and
    explained them for nothing.
    """
    problem = {
        "Q": [[2, 2], [1, 0], [0, -1]],
        "K": [[-1, -1], [0, 1], [0, 2]],
        "V": [[0, -1], [1, -1], [0, 1]],
        "mask": "causal",
    }
    answers = {
        "exp": [["0.1", "0", "0"], ["0.5", "1", "0"], ["2", "0.5", "0.2"]],
        "row_sum": ["0.1", "1.5", "2.7"],
        "weights": [["1", "0", "0"], ["0.3", "0.7", "0"], ["0.7", "0.2", "0.1"]],
        "output": [["0", "-1"], ["0.7", "-1.7"], ["0.2", "-1"]],
    }
    steps = {"exp": 6, "row_sum": 2, "weights": 6, "output": 6}
    scheme = {"marks": 20, "decimals": 1, "steps": steps, "mistake": 2}
    found = attncli.check(problem, answers, marking=scheme).earned
    assert found is not None
    assert found.points <= 19


@pytest.mark.long
def test_several_slips_in_one_step_are_counted_as_they_cost() -> None:
    """Four wrong sums cost no more than a mistake. If one is put right, the weights of its row
    follow from what stood there.
    """
    assert [said for said in lost_by_mending_a_sheet(236) if said is not None] == []


@pytest.mark.parametrize(
    ("number", "cases"),
    [
        pytest.param(n, each, marks=pytest.mark.long)
        for n, each in ((3, lost_by_mending), (2, lost_by_fewer_errors), (1, unfair))
    ]
    + [
        pytest.param(6, each, marks=pytest.mark.slow)
        for each in (
            lost_by_mending,
            lost_by_mending_a_sheet,
            lost_by_mending_some_steps,
            lost_by_mending_a_masked_sheet,
            lost_by_mending_a_sheet_of_heads,
            lost_by_mending_a_short_sheet,
            lost_by_mending_an_exam,
            lost_by_mending_a_mess,
            lost_by_fewer_errors,
            unfair,
        )
    ]
    + [pytest.param(3, lost_by_correcting, marks=pytest.mark.slow)],
)
def test_who_makes_one_error_less_loses_no_mark_and_a_mistake_costs_the_same(
    number: int, cases: Callable[[int], Iterator[str | None]]
) -> None:
    tried = [said for seed in range(number) for said in cases(seed)]
    assert len(tried) > number
    assert [said for said in tried if said is not None] == []


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"Q": [[0, 2], [1, -1], [-1, 0]], "K": [[0, 1], [0, 2], [-1, -1]]}, STEPS),
        ({"Q": [[1, 2], [2, 0], [0, 1]], "K": [[-1, 0], [2, 0], [1, 1]]}, ("weights",)),
    ],
    ids=["beside a slip that gives two", "where others look cut off"],
)
def test_a_mistake_costs_the_same_without_the_zero_of_a_number(
    given: dict[str, object], asked: tuple[str, ...]
) -> None:
    """3 was used for e: one weight of these is 0.60 or 0.30, and is written with one decimal."""
    problem = given | {"V": [[-1, 0], [1, 0], [-1, 1]]}
    step, work = MATRICES.mistakes["base 3"]
    in_full = written(problem, work={step: work}, only=asked)
    without_zero = in_short(in_full)
    assert without_zero != in_full
    worth = {name: MATRICES.worth[name] for name in asked}
    scheme = FULL | {"steps": worth, "marks": sum(worth.values())}
    for answers in (in_full, without_zero):
        found = attncli.check(problem, answers, marking=scheme).earned
        assert found is not None
        assert found.of - found.points == 2


@pytest.mark.parametrize("number", [3, MANY])
def test_fewer_decimals_than_were_asked_for_never_bring_more(number: int) -> None:
    """Whole numbers of outputs follow from whole weights, and weights are too coarse.

    The first problem is known to have outputs that follow exactly.
    """
    known = attncli.load(KNOWN_TO_FOLLOW)
    for problem in (known, *attncli.problems("coarse", number)):
        trace = attncli.trace(problem)
        given = {name: trace[name] for name in ("Q", "K", "V")}
        earned = []
        for decimals in (0, 1, 2):
            answers = written(given, decimals=decimals, on_the_way=False)
            found = attncli.check(problem, answers, marking=FULL).earned
            assert found is not None
            earned.append(found.points)
        assert earned == sorted(earned), problem
        assert earned[-1] == 20


@pytest.mark.parametrize("rounding", [half_up, half_even])
def test_a_slip_is_no_rounding_on_the_way(rounding: Callable[[int], object]) -> None:
    """With weights of two decimals, 1 is 0.99 at most; 0.9 is an error."""
    given = {"Q": [[1, -1]], "K": [[1, 0], [3, 2], [2, 1]], "V": [[1, 2], [1, 0], [1, 1]]}
    right = written(given, rounding=rounding(2), only=("output",))  # type: ignore[arg-type]
    assert attncli.check(given, right, marking=SHORT).earned.points == 6  # type: ignore[union-attr]
    third = {"output": [["0.99", right["output"][0][1]]]}
    found = attncli.check(given, third, marking=SHORT)
    assert found.earned is not None
    assert found.earned.points == 6
    wrong = {"output": [["0.90", right["output"][0][1]]]}
    assert attncli.check(given, wrong, marking=SHORT).earned.points == 5  # type: ignore[union-attr]
