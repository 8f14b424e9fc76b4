"""A solution is judged in the form of the softmax that it has; trivial answers are found, and only
those.
"""

from __future__ import annotations

import json
import math
from functools import partial

import pytest

from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.features.check.cell_values import steps_after
from attncli.features.check.no_work import trivial_answer, without_work
from attncli.features.check.verdicts import Solution, judge_solution
from attncli.problem.loader import loads
from attncli.problem.text.source import decode

PLAIN = "Q: [[1]]\nK: [[1], [3]]\nV: [[1], [2]]\nscore: dot\n"  # scores 1 and 3
# scores -8 and -12: shifted, since e^-8 shows as 0
DEEP = "Q: [[4]]\nK: [[-2], [-3]]\nV: [[1], [2]]\nscore: dot\n"


def solved(problem: str, **answers: object) -> Solution:
    source = decode(json.dumps(answers).encode(), "a.json", None)
    return judge_solution(
        loads(problem.encode(), "p.yaml"), lambda trace: read_answers(source, trace)
    )


def written(*values: float) -> list[list[str]]:
    return [[f"{value:.4f}" for value in values]]


def test_exponentials_of_the_plain_scores_are_taken_as_they_are() -> None:
    solution = solved(
        PLAIN, exp=written(math.exp(1), math.exp(3)), row_sum=written(math.exp(1) + math.exp(3))[0]
    )
    assert (solution.passed, solution.other_form, solution.verdicts.trace.shifted) == (
        True,
        False,
        False,
    )


def test_gradients_beside_a_shift_that_is_not_ours_are_judged() -> None:
    """The weights are 1/(1 + e^2) = 0.1192 and 0.8808, and dV is Aᵀ dO, with ones for dO."""
    for answers in (
        {"row_max": ["3"], "shifted": [["-2", "0"]]},
        {"exp": written(math.exp(-2), 1)},
    ):
        source = decode(
            json.dumps({**answers, "d_V": [["0.1192"], ["0.8808"]]}).encode(), "a.json", None
        )
        read = partial(read_answers, source)
        solution = judge_solution(loads(PLAIN.encode(), "p.yaml"), read, gradient=True)
        assert (solution.passed, solution.other_form) == (True, True)


def test_the_loss_of_a_page_may_be_shifted_where_ours_is_not() -> None:
    """On paper without decimals e^-1 is 0; without that, log_sum is the same: -1 + log(1 + e^-1) =
    -0.687.
    """
    problem = (
        "Q: [[1]]\nK: [[1]]\nV: [[-1, -2]]\nscore: dot\nloss: {kind: cross_entropy, targets: [0]}\n"
    )
    source = decode(json.dumps({"row_top": ["-1"], "log_sum": ["-0.687"]}).encode(), "a.json", None)
    solution = judge_solution(
        loads(problem.encode(), "p.yaml"), partial(read_answers, source), gradient=True
    )
    assert (solution.passed, solution.other_form) == (True, False)


def test_one_step_that_only_a_shift_has_tells_it() -> None:
    solution = solved(PLAIN, shifted=[["-2", "0"]])
    assert (solution.passed, solution.other_form) == (True, True)


def test_a_sum_alone_tells_a_shift() -> None:
    """e^-2 + 1 = 1.1353."""
    solution = solved(PLAIN, row_sum=written(math.exp(-2) + 1)[0])
    assert (solution.passed, solution.other_form) == (True, True)


def test_what_is_wrong_in_either_form_is_judged_in_ours() -> None:
    assert not solved(DEEP, exp=[["0.5", "0.4"]]).other_form
    # above 1, as no exponential of a shifted score
    assert not solved(PLAIN, exp=[["0.1353", "1.5000"]]).other_form


def test_one_cell_that_is_right_is_all_of_it() -> None:
    assert (
        solved(PLAIN, row_sum=written(math.exp(1) + math.exp(3))[0]).share(follow_through=False)
        == 1
    )


def test_a_shift_that_is_not_ours_is_judged_as_one() -> None:
    """Less their largest, 3, the scores are -2 and 0."""
    solution = solved(PLAIN, exp=written(math.exp(-2), 1), row_sum=written(math.exp(-2) + 1)[0])
    assert (solution.passed, solution.other_form, solution.verdicts.trace.shifted) == (
        True,
        True,
        True,
    )
    named = solved(PLAIN, row_max=["3"], shifted=[["-2", "0"]], exp=written(math.exp(-2), 1))
    assert (named.passed, named.other_form) == (True, True)


def test_plain_exponentials_where_ours_are_shifted() -> None:
    solution = solved(DEEP, exp=[["0.000335", "0.00000614"]], row_sum=["0.000342"])
    assert (solution.passed, solution.other_form, solution.verdicts.trace.shifted) == (
        True,
        True,
        False,
    )
    ours = solved(DEEP, exp=written(1, math.exp(-4)))
    assert (ours.passed, ours.other_form, ours.verdicts.trace.shifted) == (True, False, True)


def test_a_shift_that_is_ours_and_named_is_judged_as_one() -> None:
    """Plain exponentials are not tried: they have no step of that name."""
    solution = solved(DEEP, shifted=written(0, -4), exp=[["1", "0.5000"]])
    assert (solution.other_form, solution.verdicts.first_wrong) == (False, ("exp", (0, 1)))


def test_wrong_exponentials_are_wrong_in_either_form() -> None:
    solution = solved(PLAIN, exp=[["9.99", "20.09"]])
    assert solution.verdicts.first_wrong == ("exp", (0, 0))
    assert not solution.other_form


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"scroes": [["1", "3"]]}, "no step is called scroes"),
        ({"exp": [["x", "1"]]}, "x is not a number"),
        ({"shifted": [["-2", "0", "1"]]}, "is 1×3, but must be 1×2"),
    ],
)
def test_errors_are_those_of_the_form_that_fits(answers: dict[str, object], said: str) -> None:
    with pytest.raises(AttncliError, match=said):
        solved(PLAIN, **answers)


def test_a_trivial_answer() -> None:
    """Both scores 0 give weights of a half without any work."""
    solution = solved(PLAIN, scores=[["0", "0"]], weights=[["0.50", "0.50"]], output=[["1.5"]])
    found = trivial_answer(solution.verdicts)
    assert found is not None
    assert found.claim is not None
    assert (found.step, found.claim.text, found.cells, found.carried) == ("scores", "0", 2, 2)


@pytest.mark.parametrize(
    "answers",
    [
        {"scores": [["0", "3"]], "weights": [["0.05", "0.95"]]},  # not alike
        # what follows has an error of its own
        {"scores": [["0", "0"]], "weights": [["0.9", "0.1"]]},
        {"scores": [["0", "0"]]},  # nothing follows
        {"scores": [["1", "3"]], "weights": [["0.12", "0.88"]]},  # right
    ],
)
def test_what_is_not_trivial(answers: dict[str, object]) -> None:
    assert trivial_answer(solved(PLAIN, **answers).verdicts) is None


MORE = (
    "Q: [[1, 2], [2, 1], [3, 1]]\nK: [[1, 1], [2, 1], [1, 3]]\nV: [[1, 2], [3, 0], [0, 2]]\n"
    "score: dot\n"
)
SEES_ITSELF = [["0.98", "0.01", "0.01"], ["0.01", "0.98", "0.01"], ["0.01", "0.01", "0.98"]]
CELLS = [(i, c) for i in range(3) for c in range(2)]
INVENTED = [["0.52", "0.18", "0.30"], ["0.25", "0.61", "0.14"], ["0.71", "0.20", "0.09"]]


@pytest.mark.parametrize(
    ("weights", "output", "worked"),
    [
        # An output is copied if each of its rows is nearly one of V.
        (SEES_ITSELF, [["1.01", "1.98"], ["2.95", "0.04"], ["0.04", "1.98"]], []),
        # The averages of the values are worked out once.
        ([["1/3"] * 3] * 3, [["4/3", "4/3"]] * 3, [(0, 0), (0, 1)]),
        ([["0"] * 3] * 3, [["0", "0"]] * 3, []),
        (INVENTED, [["1.06", "1.64"], ["2.08", "0.78"], ["1.31", "1.60"]], CELLS),
        # A slip is no work.
        (SEES_ITSELF, [["1.01", "1.98"], ["2.95", "0.04"], ["0.04", "3.75"]], [(2, 1)]),
    ],
)
def test_what_needs_no_work(
    weights: list[list[str]], output: list[list[str]], worked: list[tuple[int, int]]
) -> None:
    judgement = solved(MORE, weights=weights, output=output).verdicts
    hollow = without_work(judgement, "weights", "output")
    assert [cell for cell in CELLS if cell not in hollow] == worked


# The largest score of each row is nearly 0, so that the weights are nearly the exponentials.
LARGEST_IS_0 = [["0.00", "-5.00"], ["-0.02", "-3.00"]]
NEARLY_EXPONENTIALS = [["0.99", "0.01"], ["0.95", "0.05"]]


@pytest.mark.parametrize(
    ("exponentials", "worked"),
    [(None, 4), ([["1.00", "0.01"], ["0.98", "0.05"]], 0)],
)
def test_nobody_copies_from_what_is_not_written(
    exponentials: list[list[str]] | None, worked: int
) -> None:
    answers = {"scores": LARGEST_IS_0, "weights": NEARLY_EXPONENTIALS}
    if exponentials:
        answers["exp"] = exponentials
    given = "Q: [[1, 2], [2, 1]]\nK: [[1, 1], [2, 1]]\nV: [[1, 2], [3, 0]]\nscore: dot\n"
    judgement = solved(given, **answers).verdicts
    assert judgement.counts["wrong"] == 4
    assert len(without_work(judgement, "scores", "weights")) == 4 - worked


def test_what_follows_from_a_step() -> None:
    trace = solved(PLAIN, scores=[["1", "3"]]).verdicts.trace
    assert steps_after(trace, {"V"}) == {"output"}
    assert steps_after(trace, {"weights"}) == {"output"}
    assert {"scores", "exp", "weights", "output"} <= steps_after(trace, {"K"})
