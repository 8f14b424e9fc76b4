"""Marks of who puts a number right, and leaves what followed from the wrong one as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import attncli
from attncli.equation.nodes import Ref
from attncli.features.check.marks.fitting_number import fitting_number
from attncli.features.check.marks.shared_graph import SharedGraph
from attncli.features.check.verdicts import Judgement
from tests.features.check.solutions_by_hand import softmax, written

# By hand: the scores are [[3, 1], [1, 2]], and 3 / √2 is 2.12, 1 / √2 is 0.71, 2 / √2 is 1.41.
# e^1.41 is 4.1, and 4.1 : 1 is 0.80 : 0.20; e^0.70 is 2.01, and 1 : 2.01 is 0.33 : 0.67.
GIVEN: dict[str, Any] = {
    "Q": [[1, 2], [1, 0]],
    "K": [[1, 1], [1, 0]],
    "V": [[5, 0, 1], [0, 10, 2]],
}
RIGHT = {
    "scores": [["3.00", "1.00"], ["1.00", "1.00"]],
    "scaled": [["2.12", "0.71"], ["0.71", "0.71"]],
    "weights": [["0.80", "0.20"], ["0.50", "0.50"]],
    "output": [["4.00", "2.00", "1.20"], ["2.50", "5.00", "1.50"]],
}
MARKING = {
    "marks": 20,
    "decimals": 2,
    "steps": {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
    "mistake": 2,
}
# What follows if 0.71 is 1.71: e^0.41 : 1 is 0.60 : 0.40.
AFTER_A_SLIP = {
    "weights": [["0.60", "0.40"], ["0.50", "0.50"]],
    "output": [["3.00", "4.00", "1.40"], ["2.50", "5.00", "1.50"]],
}


def checked(**answers: list[list[str]]) -> Any:
    return attncli.check(GIVEN, {**RIGHT, **answers}, marking=MARKING)


def points(**answers: list[list[str]]) -> float:
    return float(checked(**answers).earned.points)


def test_the_right_numbers_are_those_of_the_hand() -> None:
    assert points() == 20


def test_a_slip_that_was_put_right_costs_what_it_did() -> None:
    scaled = [["2.12", "1.71"], ["0.71", "0.71"]]
    assert points(**AFTER_A_SLIP, scaled=scaled) == 19
    assert points(**AFTER_A_SLIP) == 19


def test_a_weight_that_was_put_right_costs_what_it_did() -> None:
    """By hand: 0.80 and 0.90 of the values are [4.00, 9.00, 2.60]."""
    output = [["4.00", "9.00", "2.60"], ["2.50", "5.00", "1.50"]]
    assert points(weights=[["0.80", "0.90"], ["0.50", "0.50"]], output=output) == 19
    assert points(output=output) == 19


@pytest.mark.parametrize("scaled", [["3.00", "1.00"], ["2.12", "1.00"], ["3.00", "0.71"]])
def test_a_mistake_accounts_for_what_follows_from_it_where_one_number_is_right(
    scaled: list[str],
) -> None:
    """Not scaled, by hand: e^2 is 7.39, and 7.39 : 1 is 0.88 : 0.12."""
    answers = {
        "weights": [["0.88", "0.12"], ["0.50", "0.50"]],
        "output": [["4.40", "1.20", "1.12"], ["2.50", "5.00", "1.50"]],
    }
    assert points(scaled=[scaled, ["1.00", "1.00"]], **answers) == 18


def test_a_weight_of_a_row_is_put_right_and_one_number_still_follows_from_it() -> None:
    """The scaled scores are not there, which is 4. A slip in them gives both weights of the row.
    The first output is 0.60 · 5.
    """
    answers = {**RIGHT, "output": [["3.00", "2.00", "1.20"], ["2.50", "5.00", "1.50"]]}
    del answers["scaled"]
    for first in ("0.60", "0.80"):
        answers["weights"] = [[first, "0.40"], ["0.50", "0.50"]]
        found = attncli.check(GIVEN, answers, marking=MARKING)
        assert found.earned is not None
        assert found.earned.points == 20 - 4 - 1, first


def test_the_page_says_which_number_was_used() -> None:
    found = checked(**AFTER_A_SLIP)
    [slip] = found.earned.slips
    assert slip.cells == (("weights", (0, 0)), ("weights", (0, 1)))
    said = [name for each in found.diagnoses for name in each.mistakes]
    assert any("scaled[0][" in name or "exp[0][" in name for name in said)


def test_a_number_without_its_sign_is_told_with_its_cell() -> None:
    """The exponentials are those of |Z|: the second row has three times 1.41, as if the first of
    them were -1.41, as the others are.
    """
    given = {
        "Q": [[2, 1], [0, -1], [-1, -2]],
        "K": [[-2, -2], [-2, 2], [1, 2]],
        "V": [[1, 1], [2, 1], [1, 1]],
    }
    answers = written(given, work={"weights": lambda m: softmax(abs(m["scaled"]))})
    assert answers["scaled"][1] == ["1.41", "-1.41", "-1.41"]
    found = attncli.check(given, answers, marking=MARKING)
    assert found.earned is not None
    [slip] = found.earned.slips
    assert "used for scaled of t2 → t1" in slip.said
    assert {*slip.names} & {name for each in found.diagnoses for name in each.mistakes}


def test_what_follows_from_a_number_that_was_put_right_is_told_even_if_it_costs_nothing() -> None:
    """The weights follow from 1.71, and so did the first, which is right now."""
    found = checked(
        scaled=[["2.12", "1.71"], ["0.71", "0.71"]],
        weights=[["0.80", "0.40"], ["0.50", "0.50"]],
        output=AFTER_A_SLIP["output"],
    )
    assert found.earned.points == 19
    said = {each.step: each.mistakes for each in found.diagnoses}
    assert said["output"] == ("0.60 was used for weights[0][0]",)


def test_what_follows_by_way_of_numbers_that_were_put_right_stands_for_the_slip() -> None:
    """Only the outputs are left of a scaled score of 1.71: the slip is told of them, and not of a
    number that is right.
    """
    found = checked(output=AFTER_A_SLIP["output"])
    [slip] = found.earned.slips
    assert found.earned.points == 19
    assert {step for step, _ in slip.cells} == {"output"}
    said = {each.step: each.mistakes for each in found.diagnoses}
    assert "was used for scaled[0][" in said["output"][0]


def test_of_many_numbers_that_fit_none_is_named() -> None:
    """Any score that is 6 less gives weights of 1 and 0."""
    found = checked(
        weights=[["1.00", "0.00"], ["0.50", "0.50"]],
        output=[["5.00", "0.00", "1.00"], ["2.50", "5.00", "1.50"]],
    )
    names = [name for each in found.diagnoses for name in each.mistakes]
    assert not any(" was used for scaled" in name and name[0] in "-0123456789" for name in names)


def test_an_invented_step_is_not_excused_by_a_number_that_gives_a_part_of_it() -> None:
    """Two weights of a row that add up to 1 follow from any two scores that are as far apart."""
    weights = [["0.37", "0.63"], ["0.91", "0.30"]]
    output = [["1.85", "6.30", "1.63"], ["4.55", "3.00", "1.51"]]
    assert points(weights=weights, output=output) == 14


def test_a_sum_follows_from_what_stood_where_a_right_number_was_put() -> None:
    """By hand: the scores are 6 and 4, e^3.46 is 31.82, and e^(6/√3) is 31.95. Who puts the one for
    the other has a sum that does not follow any more: 31.82 + 10.07.
    """
    given = {"Q": [[2, 0, 0]], "K": [[3, 0, 0], [2, 0, 0]], "V": [[1], [0]]}
    marking = {"marks": 4, "decimals": 2, "steps": {"exp": 3, "row_sum": 1}, "mistake": 2}
    answers = {"scaled": [["3.46", "2.31"]], "exp": [["31.82", "10.07"]], "row_sum": ["41.89"]}
    put_right = answers | {"exp": [["31.95", "10.07"]]}
    another = put_right | {"row_sum": ["43.89"]}
    for solution, points in ((answers, 4), (put_right, 4), (another, 3)):
        assert attncli.check(given, solution, marking=marking).earned.points == points


def fitting(answers: dict[str, Any], cells: list[tuple[int, ...]]) -> Any:
    judgement: Judgement = attncli.check(GIVEN, {**RIGHT, **answers}).solution.verdicts
    ref = Ref("scaled", ("0", "1"))
    graph = SharedGraph(judgement.values)
    return fitting_number(graph, ref, [("weights", cell) for cell in cells])


def test_cells_by_another_number_are_those_of_numpy() -> None:
    """Outputs by way of scaled scores and weights that are not written; the written score of the
    other row stays what it is.
    """
    answers = {"scores": [["3", "1"], ["1", "2"]], "output": RIGHT["output"]}
    judgement = attncli.check(GIVEN, answers).solution.verdicts
    cells = [("output", index) for index in np.ndindex(2, 3)]
    graph = SharedGraph(judgement.values)
    outputs = graph.by_number(Ref("scores", ("0", "1")), cells)
    for number in (1.0, -4.5, 900.0):
        scores = np.array([[3, number], [1, 2]]) / np.sqrt(2)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = shares / shares.sum(axis=1, keepdims=True)
        expected = weights @ np.array(GIVEN["V"])
        assert outputs(number) == pytest.approx(expected.ravel().tolist())
    # No float holds e^1414, and the other row does not read it.
    assert np.isnan(outputs(2000.0)).tolist() == [True] * 3 + [False] * 3
    assert graph.number(Ref("scores", ("0", "1"))) == 1


def test_a_condition_and_what_is_nothing_have_their_own_nodes() -> None:
    """Behind a causal mask, the second token alone reads the other score; a key hidden from a row
    counts for nothing there, whatever its score is.
    """
    problem = {**GIVEN, "mask": "causal"}
    judgement = attncli.check(problem, {"output": RIGHT["output"]}).solution.verdicts
    cells = [("output", (0, 0)), ("output", (1, 0))]
    hidden = SharedGraph(judgement.values).by_number(Ref("scores", ("0", "1")), cells)
    assert hidden(5.0) == hidden(-5.0)
    seen = SharedGraph(judgement.values).by_number(Ref("scores", ("1", "1")), cells)
    assert seen(5.0)[0] == seen(-5.0)[0]
    assert seen(5.0)[1] != seen(-5.0)[1]


def test_the_number_is_found_from_which_weights_follow() -> None:
    found = fitting(AFTER_A_SLIP, [(0, 0), (0, 1)])
    assert found.value == pytest.approx(1.71, abs=0.03)
    assert not found.open


def test_weights_of_1_and_0_follow_from_many_numbers() -> None:
    found = fitting({"weights": [["1.00", "0.00"], ["0.50", "0.50"]]}, [(0, 0), (0, 1)])
    assert found.open
    assert found.value < 2.12 - 5


def test_there_is_no_number_for_weights_that_do_not_add_up_to_1() -> None:
    assert fitting({"weights": [["0.60", "0.70"], ["0.50", "0.50"]]}, [(0, 0), (0, 1)]) is None
