"""Which of several mistakes that explain a step is named, and how surely; numbers and counts by
hand.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.features.check.diagnosis import ROUNDED_ON_THE_WAY, Diagnosis
from attncli.problem.loader import loads
from tests.features.check.test_single_cell_errors import diagnosed

# d_k is 4, so the scores, which are the keys as they stand, are halved: [[3.1, 1.3], [5.7, 0.9]] /
# 2.
HALVED = """
Q: [[1, 0, 0, 0], [0, 1, 0, 0]]
K: [[3.1, 5.7, 0, 0], [1.3, 0.9, 0, 0], [2.3, 3.9, 0, 0]]
V: [[1, 0], [0, 1], [2, 3]]
"""
SCORES = "scores: [[3.1, 1.3, 2.3], [5.7, 0.9, 3.9]]\n"
UNSCALED, AFTER = "the scores were not scaled", "the scale was applied after the softmax"


def softmax(*scores: float, share: float = 1.0) -> list[str]:
    """A row of weights with five decimals; of each of them a share."""
    total = sum(map(math.exp, scores))
    return [f"{share * math.exp(score) / total:.5f}" for score in scores]


def rows(*of: list[str]) -> str:
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in of) + "]"


def test_of_two_the_one_that_gives_more_of_the_solution() -> None:
    """Three scores were not halved, which both would explain; but the weights are no halves, as by
    the other.
    """
    weights = rows(softmax(3.1, 1.3, 2.3), softmax(2.85, 0.45, 1.95))
    scaled = "scaled: [[3.1, 1.3, 2.3], [2.85, 0.45, 1.95]]\n"
    (found,) = diagnosed(f"{SCORES}{scaled}weights: {weights}", HALVED)
    assert (found.mistakes, found.whole, found.likely) == ((UNSCALED,), False, False)
    assert set(diagnosed(SCORES + scaled, HALVED)[0].mistakes) == {UNSCALED, AFTER}


def test_what_nothing_contradicts_comes_before_what_explains_more() -> None:
    """All scores were not halved, and five of six weights were; the sixth says that this was
    another mistake.
    """
    first, second = softmax(3.1, 1.3, 2.3, share=0.5), softmax(5.7, 0.9, 3.9, share=0.5)
    second[2] = softmax(5.7, 0.9, 3.9)[2]
    scaled = "scaled: [[3.1, 1.3, 2.3], [5.7, 0.9, 3.9]]\n"
    of_scaled, of_weights = diagnosed(f"{SCORES}{scaled}weights: {rows(first, second)}", HALVED)
    assert (of_scaled.step, of_scaled.mistakes, of_scaled.whole) == ("scaled", (UNSCALED,), True)
    assert (of_weights.step, of_weights.mistakes) == ("weights", (AFTER,))
    assert (of_weights.whole, of_weights.likely) == (False, True)


def test_what_gives_a_whole_step_is_whole_though_another_step_contradicts_it() -> None:
    """Scores that were halved, and weights that were halved all the same."""
    first, second = softmax(1.55, 0.65, 1.15, share=0.5), softmax(2.85, 0.45, 1.95, share=0.5)
    scaled = "scaled: [[1.55, 0.65, 1.15], [2.85, 0.45, 1.95]]\n"
    (found,) = diagnosed(f"{SCORES}{scaled}weights: {rows(first, second)}", HALVED)
    assert (found.step, found.mistakes, found.whole, found.rounded) == (
        "weights",
        (AFTER,),
        True,
        None,
    )


def test_the_width_of_the_input_is_its_last_axis() -> None:
    """Two inputs of one token of four features: the scores 18 and 16 are divided by √4, where √3 is
    asked for.
    """
    problem = """
X: [[[1, 2, 0, 1]], [[2, 0, 1, 1]]]
W_Q: [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 2]]
W_K: [[1, 0, 0], [0, 1, 1], [2, 0, 1], [1, 1, 0]]
W_V: [[1], [0], [0], [0]]
"""
    # Q is 3 2 3 and 2 1 5, K is 2 3 2 and 5 1 1: 6 + 6 + 6, and 10 + 1 + 5
    (found,) = diagnosed("scores: [[[18]], [[16]]]\nscaled: [[[9.0000]], [[8.0000]]]", problem)
    assert (found.mistakes, found.whole) == (
        ("the scores were divided by the root of d_model",),
        True,
    )


def test_a_mask_aligned_to_the_first_key_where_the_last_is_asked_for() -> None:
    """Two queries and four keys: they see three and four of them, not one and two."""
    problem = (
        "Q: [[1], [1]]\nK: [[1], [2], [3], [4]]\nV: [[1], [2], [3], [4]]\nmask: {causal: true,"
        " corner: bottom-right}"
    )
    (found,) = diagnosed("mask: [[0, -inf, -inf, -inf], [0, 0, -inf, -inf]]", problem)
    assert (found.mistakes, found.whole) == (("the mask was aligned to the other corner",), True)


def by_halves(queries: int) -> str:
    """Keys of two features, X of four: s/2 for s/√2 is a scale of d_k, of 1/√2 twice, of √d_model,
    of √n if n is 4.
    """
    x = [["0"] * 4 for _ in range(queries)]
    for at, row in enumerate(x):
        row[at] = "1"
    return f"""
X: {rows(*x)}
context: [[1, 0, 0, 0], [0, 1, 0, 0]]
W_Q: [[1, 0], [0, 1], [1, 1], [1, 2]]
W_K: [[3.7, 6.1], [2.3, 0.9], [0, 0], [0, 0]]
W_V: [[1, 0], [0, 1], [0, 0], [0, 0]]
"""


@pytest.mark.parametrize("queries", [3, 4])
def test_three_mistakes_may_be_named_for_a_cell_but_not_four(queries: int) -> None:
    """Of the score 3.7, which is halved; 2.3, 6.1 and so on are divided by 1.41421."""
    scores = [[3.7, 2.3], [6.1, 0.9], [9.8, 3.2], [15.9, 4.1]][:queries]
    scaled = [[f"{score / math.sqrt(2):.4f}" for score in row] for row in scores]
    scaled[0][0] = "1.8500"
    found = diagnosed(f"scores: {scores}\nscaled: {rows(*scaled)}", by_halves(queries))
    if queries == 4:
        assert found == ()
        return
    assert set(found[0].mistakes) == {
        "the scores were divided by d_k, not by its root",
        "the scores were scaled twice",
        "the scores were divided by the root of d_model",
    }
    assert (len(found), found[0].cells, found[0].whole, found[0].likely) == (
        1,
        ((0, 0),),
        False,
        False,
    )


def test_steps_left_out_may_be_rounded_to_one_more_decimal_than_the_result() -> None:
    """e^-5.2 = 0.00552 is 0.006, and 0.006/1.006 is 0.006 again; the weight is 0.00549, and 0.01
    with 2 decimals.
    """
    problem = "Q: [[1]]\nK: [[0], [-5.2]]\nV: [[0], [1000]]\nscore: dot"
    (found,) = diagnosed("output: [[6.00]]", problem)
    assert (found.mistakes, found.whole, found.rounded) == ((ROUNDED_ON_THE_WAY,), True, 3)


def test_numbers_copied_with_another_sign_and_another_digit_are_as_likely() -> None:
    """-1 for 1, or 3 for 5: (1 + 5)·3 = 18 and (1 + 5)·4 = 24 become 12 and 16 either way."""
    problem = "Q: [[2, 7], [1, 5]]\nK: [[3, 3], [4, 4]]\nV: [[1], [2]]\nscore: dot"
    (found,) = diagnosed("scores: [[27, 36], [12, 16]]", problem)
    assert set(found.mistakes) == {"Q[1][0] was copied as -1", "Q[1][1] was copied as 3"}
    assert found.cells == ((1, 0), (1, 1))


def test_a_number_of_another_head_is_no_neighbour() -> None:
    """Both heads have one query and two keys: scores 23 and 57, and 890 and 4."""
    problem = (
        "heads: 2\nQ: [[1, 1]]\nK: [[23, 890], [57, 4]]\nV: [[1, 1], [2, 2]]\nW_O: [[1],"
        " [1]]\nscore: dot"
    )
    assert diagnosed("scores: [[[890, 57]], [[890, 4]]]", problem) == ()
    (found,) = diagnosed("scores: [[[57, 57]], [[890, 4]]]", problem)
    assert "the number was copied from scores[0][0][1]" in found.mistakes


def test_a_matrix_of_another_width_is_not_taken_for_the_values() -> None:
    """Weights of a half each: X has three columns, 1, 5 and 4 in the middle, and the values only
    one of 2.
    """
    problem = (
        "X: [[0, 5, 3], [2, 5, 5]]\nW_Q: [[0], [0], [0]]\nW_K: [[1], [2], [3]]\nW_V: [[1], [0.2],"
        " [0]]"
    )
    assert diagnosed("weights: [[0.5, 0.5], [0.5, 0.5]]\noutput: [[97], [97]]", problem) == ()
    assert diagnosed("weights: [[0.5, 0.5], [0.5, 0.5]]\noutput: [[1], [1]]", problem) == ()


def test_a_cache_with_an_axis_for_its_one_head_makes_no_heads_of_queries() -> None:
    """2·3 + 5·11 = 61 for the key in the cache, and 2·7 - 5·4 = -6 for the new one."""
    problem = (
        "Q: [[2, 5]]\nK: [[7, -4]]\nV: [[1]]\npast: {K: [[[3, 11]]], V: [[[2]]]}\nW_O:"
        " [[1]]\nscore: dot"
    )
    (found,) = diagnosed("scores: [[[16, -6]]]", problem)
    assert found.mistakes == ("two digits were swapped",)


def test_own_numbers_that_were_rounded_further_than_written() -> None:
    """7.731 is half of 3.8655, which is 3.87 with two decimals; the true 7.729 would be 3.86."""
    problem = (
        "Q: [[1, 0, 0, 0]]\nK: [[7.729, 0, 0, 0], [1.234, 0, 0, 0], [2.468, 0, 0, 0]]\nV: [[1],"
        " [2], [3]]"
    )
    *_, scaled = diagnosed(
        "scores: [[7.731, 1.234, 2.468]]\nscaled: [[3.870, 0.620, 1.230]]", problem
    )
    assert (scaled.step, scaled.mistakes, scaled.whole) == (
        "scaled",
        ("the scaled scores were rounded to 2 decimals first",),
        True,
    )


def test_a_mistake_that_shows_in_a_single_cell_is_only_perhaps() -> None:
    """The first of two tokens sees the second, which is all there is to be seen ahead, and to be
    hidden.
    """
    problem = "Q: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\nmask: causal"
    (found,) = diagnosed("mask: [[0, 0], [0, 0]]", problem)
    assert found.mistakes == (
        "the mask was forgotten",
        "the mask let each token see the next one",
    )
    assert (found.cells, found.whole, found.likely) == (((0, 1),), True, False)


# The scores of I love AI, [[1, 5, 3], [3, 3, 3], [2, 4, 3]], divided by 3, not by √3.
LOVE = (Path(__file__).parents[3] / "inputs" / "i_love_ai.yaml").read_text()
BY_D_K = [["0.33", "1.67", "1.00"], ["1.00", "1.00", "1.00"], ["0.67", "1.33", "1.00"]]
DIVIDED = "the scores were divided by d_k, not by its root"


def with_slips(**numbers: str) -> list[Diagnosis]:
    """The scores divided by 3, with other numbers in cells: a00 is the first."""
    answer = [row.copy() for row in BY_D_K]
    for place, number in numbers.items():
        answer[int(place[1])][int(place[2])] = number
    return list(diagnosed(f"scaled: {rows(*answer)}", LOVE))


def test_a_mistake_is_named_though_one_of_its_cells_has_a_slip() -> None:
    (found,) = with_slips(a12="1.35")
    assert DIVIDED in found.mistakes
    assert (len(found.cells), found.slips, found.whole, found.likely) == (8, ((1, 2),), True, True)


def test_two_slips_in_nine_cells_are_few_and_three_are_many() -> None:
    assert with_slips(a12="1.35", a01="9")[0].slips == ((0, 1), (1, 2))
    assert not any(DIVIDED in found.mistakes for found in with_slips(a12="1.35", a01="9", a20="-4"))


def test_no_mistake_is_named_for_most_of_a_step_where_right_numbers_deny_it() -> None:
    """The first row is as if divided by 3, with a slip in its last cell; the others are divided by
    √3.
    """
    rows_of = rows(["0.33", "1.67", "5"], ["1.73", "1.73", "1.73"], ["1.15", "2.31", "1.73"])
    assert not any(found.slips for found in diagnosed(f"scaled: {rows_of}", LOVE))


def test_three_numbers_are_too_few_for_a_slip() -> None:
    assert not diagnosed("scaled: [[0.33, 1.67, 9], [null, null, null], [null, null, null]]", LOVE)


def test_who_divides_by_nearly_nothing_may_have_any_number() -> None:
    """Each row of scores adds up to 0, or to some hundredths as they are rounded; of a share of
    that, 0.27 is no sign.
    """
    problem = "Q: [[-1, 0], [0, 2]]\nK: [[2, -2], [-2, 2]]\nV: [[1, 0], [1, 0]]"
    scores = "scores: [[-2.00, null], [-4.00, 4.00]]\n"
    found = diagnosed(f"{scores}weights: [[0.27, 0.83], [0.27, -0.73]]", problem)
    assert not any(each.slips for each in found)


def test_numbers_that_are_all_alike_are_no_evidence() -> None:
    """Each score is 2, and each scaled one is written as 1, as all but one would be divided by d_k;
    2 / √2 is 1.41.
    """
    problem = "Q: [[1, 1], [1, 1]]\nK: [[1, 1], [1, 1]]\nV: [[1, 0], [0, 1]]"
    assert not any(found.slips for found in diagnosed("scaled: [[1, 1], [1, 7]]", problem))


# Queries that see no key with a mistake, and mistakes that are one in these sizes


def blind_output(instead: float) -> list[list[str]]:
    """The output of a causal mask that was inverted: what the last query sees is up to the
    program.
    """
    q, k, v = (
        np.array(rows, float)
        for rows in ([[1, 2], [0, 1], [2, 1]], [[1, 0], [0, 1], [1, 1]], [[1], [2], [4]])
    )
    scores = q @ k.T / np.sqrt(2)
    masked = np.where(np.tri(3) > 0, instead, scores)
    exp = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return [
        [f"{number:.4f}" for number in row] for row in exp / exp.sum(axis=-1, keepdims=True) @ v
    ]


BLIND = "Q: [[1, 2], [0, 1], [2, 1]]\nK: [[1, 0], [0, 1], [1, 1]]\nV: [[1], [2], [4]]\nmask: causal"


@pytest.mark.parametrize("last", ["0", "mean"])
def test_a_query_that_sees_no_key_may_have_0_or_the_mean(last: str) -> None:
    output = blind_output(-1e9)
    assert output[2] == ["2.3333"]
    output[2] = ["0.0000"] if last == "0" else output[2]
    (found,) = attncli.check(loads(BLIND.encode(), "p.yaml"), {"output": output}).diagnoses
    assert (found.mistakes, found.whole) == (("the mask was inverted",), True)


@pytest.mark.long
def test_a_query_that_sees_no_key_has_not_any_number() -> None:
    output = blind_output(-1e9)
    output[2] = ["3.1234"]
    found = attncli.check(loads(BLIND.encode(), "p.yaml"), {"output": output}).diagnoses
    assert not any("the mask was inverted" in each.mistakes and each.whole for each in found)


@pytest.mark.long
def test_what_mistakes_share_is_said() -> None:
    random = np.random.default_rng(0)
    arrays = {
        name: random.normal(size=shape).round(2)
        for name, shape in (("X", (3, 16)), ("W_Q", (16, 16)), ("W_K", (16, 16)), ("W_V", (16, 16)))
    }
    wrong = attncli.trace(**arrays, heads=4, scale=0.25)
    answers = {"output": [[f"{number:.4f}" for number in row] for row in wrong["output"]]}
    checked = attncli.check(attncli.problem(**arrays, heads=4), answers)
    assert {each["shared"][0] for each in checked.to_dict()["diagnoses"]} == {
        "All 4 mistakes divide scores by 4 instead of 2."
    }


@pytest.mark.parametrize("decimals", [None, 2])
def test_a_whole_number_is_perhaps_copied_where_all_are_whole(decimals: int | None) -> None:
    """A score of 2 in the place of 3 is that of its neighbour, and as likely a sum that went
    wrong.
    """
    given = {
        "Q": [[1, 2], [2, 0], [0, 1]],
        "K": [[1, 1], [2, 1], [0, 2]],
        "V": [[1], [2], [3]],
    }
    right = [[3, 4, 4], [2, 4, 0], [1, 1, 2]]
    assert (np.array(given["Q"]) @ np.array(given["K"]).T).tolist() == right
    wrong = [[2, 4, 4], *right[1:]]
    [found] = attncli.check(given, {"scores": wrong}, decimals=decimals).diagnoses
    assert "the number was copied from scores[1][0]" in found.mistakes
    assert not found.likely
