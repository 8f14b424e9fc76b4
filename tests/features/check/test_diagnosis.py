"""Every known mistake, made in NumPy, is named: from all matrices of a solution, and from its
output alone.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from attncli.answers.reader import read_answers
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.verdicts import judge
from attncli.problem import model
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.reference.back_in_arrays import sheet_of, steps_of
from tests.reference.in_arrays import Problem, worked
from tests.reference.mistaken import steps_mistaken

DECIMALS = 6


def written(array: Any, decimals: int = DECIMALS) -> str:
    """Nested lists, in all decimals, as a flow of YAML."""
    if isinstance(array, np.ndarray | list):
        return "[" + ", ".join(written(part, decimals) for part in array) + "]"
    return "-inf" if array == -np.inf else f"{array + 0.0:.{decimals}f}"


def answers_of(problem: Problem, mistake: str = "", *, gradient: bool = False) -> dict[str, Any]:
    """Every step of a problem as NumPy alone works it out, with one mistake made on the way.

    A step has the axis of a head only where the program's has one.
    """
    sheet = sheet_of(problem)
    steps = steps_of(sheet)
    wrong = steps_mistaken(mistake, sheet) if mistake else {}
    assert set(wrong) <= set(steps)
    solved = worked(sheet, steps | wrong)
    shapes = run(read(problem), gradient=gradient).shapes()
    return {name: shaped(solved[name], shapes[name]) for name in steps if name in shapes}


def shaped(array: Any, shape: tuple[int, ...]) -> Any:
    return array.reshape(shape) if array.size == math.prod(shape) else array


def read(problem: Problem) -> model.Problem:
    return loads(json.dumps(problem).encode(), "p.json")


def diagnosed(
    problem: Problem, answers: dict[str, Any], decimals: int = DECIMALS
) -> tuple[Diagnosis, ...]:
    trace = run(read(problem))
    text = "\n".join(f"{name}: {written(array, decimals)}" for name, array in answers.items())
    return diagnose(judge(trace, read_answers(decode(text.encode(), "a.yaml", None), trace)))


PLAIN: Problem = {
    "X": [[1.0, 0.5, -0.2, 0.8, 0.4], [0.3, 0.9, 0.1, -0.4, -1.1], [-0.7, 0.2, 0.6, 0.3, 0.5]],
    "W_Q": [[0.5, 0.3], [-0.2, 0.4], [0.1, 0.6], [0.7, -0.2], [0.2, 0.8]],
    "W_K": [[0.4, -0.1], [0.3, 0.5], [0.6, 0.2], [-0.2, 0.9], [0.5, -0.6]],
    "W_V": [[0.6, 0.3], [0.2, -0.7], [0.4, 0.1], [0.3, 0.5], [-0.4, 0.9]],
}
SQUARE: Problem = {
    "X": [[1.0, 0.5], [-0.2, 0.8], [0.3, -0.9]],
    "W_Q": [[0.5, 0.3], [-0.2, 0.4]],
    "W_K": [[0.4, -0.1], [0.7, 0.5]],
    "W_V": [[0.6, 0.3], [0.2, -0.7]],
}
MASKED = {**PLAIN, "mask": "causal"}
CROSSED = {**MASKED, "X": PLAIN["X"][:2], "context": PLAIN["X"]}
CAPPED = {**MASKED, "softcap": 0.5}
BIASED = {**PLAIN, **{f"b_{name}": [0.3, -0.8] for name in "QKV"}}
JOINED = {**PLAIN, "W_O": [[1.0, -2.0, 0.5], [0.5, 1.0, 2.0]], "b_O": [0.3, -0.8, 1.1]}
STEEP = {**PLAIN, "W_Q": (4 * np.array(PLAIN["W_Q"])).tolist()}

CASES: list[tuple[str, Problem]] = [
    ("W_Q and W_K were swapped", PLAIN),
    ("W_K and W_V were swapped", PLAIN),
    ("W_Q and W_V were swapped", PLAIN),
    ("W_Q, W_K and W_V were transposed", SQUARE),
    ("W_Q was transposed", SQUARE),
    ("W_K was transposed", SQUARE),
    ("W_V was transposed", SQUARE),
    ("K Q^T was worked out instead of Q K^T", PLAIN),
    ("K was not transposed", {**PLAIN, "X": PLAIN["X"][:2]}),
    *(
        (f"{product} was worked out instead of Q K^T", PLAIN)
        for product in ("Q Q^T", "K K^T", "Q V^T", "X X^T")
    ),
    ("Q W_K^T was worked out instead of Q K^T", {**SQUARE, "X": SQUARE["X"][:2]}),
    ("the scores were not scaled", PLAIN),
    ("the scores were divided by d_k, not by its root", PLAIN),
    ("the scores were scaled twice", PLAIN),
    ("the scores were divided by the root of d_model", PLAIN),
    ("the scores were divided by the root of n", PLAIN),
    ("the scores were divided by n", PLAIN),
    ("the scores were multiplied by the root of d_k", PLAIN),
    ("the scores were scaled, but the problem asks for no scale", {**PLAIN, "score": "dot"}),
    ("the scale was applied after the softmax", PLAIN),
    ("the softcap was applied after the mask", CAPPED),
    ("the mask was forgotten", MASKED),
    ("the mask was inverted", MASKED),
    ("the causal mask hid what comes before, not what comes after", MASKED),
    ("the mask was transposed", {**PLAIN, "mask": {"window": [1, 0]}}),
    ("the mask hid each token from itself", MASKED),
    ("the mask let each token see the next one", MASKED),
    ("the mask was aligned to the other corner", CROSSED),
    ("hidden scores were set to 0, not to -inf", MASKED),
    ("the mask was put on the weights, after the softmax", MASKED),
    ("a mask of 1 for seen and 0 for hidden was added to the scores, as it is", MASKED),
    ("a mask of 0 for seen and 1 for hidden was added to the scores, as it is", MASKED),
    ("-10 was added instead of -inf", MASKED),
    ("-1 was added instead of -inf", MASKED),
    ("hidden scores were set to -10, not to -inf", MASKED),
    ("hidden scores were set to -1, not to -inf", MASKED),
    ("the softmax was taken down the columns", PLAIN),
    ("the softmax was taken over the whole matrix", PLAIN),
    ("the scores were divided by their sum, without exponentials", PLAIN),
    ("the exponentials were divided by the largest of their row, not by their sum", PLAIN),
    ("the exponentials were not divided by their sum", PLAIN),
    ("squares were taken instead of exponentials", PLAIN),
    ("2 was used instead of e", PLAIN),
    ("3 was used instead of e", PLAIN),
    ("2.7 was used instead of e", PLAIN),
    ("10 was used instead of e", PLAIN),
    ("A X was worked out instead of A V", SQUARE),
    ("A K was worked out instead of A V", PLAIN),
    ("A Q was worked out instead of A V", PLAIN),
    ("A^T V was worked out instead of A V", PLAIN),
    ("2.71 was used instead of e", PLAIN),
    ("2.718 was used instead of e", PLAIN),
    ("the base was e, not the one given", {**PLAIN, "exp_base": 2}),
    ("the bias was left out of Q", BIASED),
    ("the bias was left out of V", BIASED),
    ("the bias was left out of the output", JOINED),
    ("the softcap was left out", CAPPED),
    *(
        (f"{which} were rounded to {word} first", PLAIN)
        for which in ("the scores", "the scaled scores", "the weights")
        for word in ("whole numbers", "one decimal", "2 decimals", "3 decimals")
        if (which, word) != ("the weights", "whole numbers")
    ),
    ("the weights were rounded to whole numbers first", STEEP),
]

# What no numbers can tell apart, and what the output cannot: by the algebra.
TWINS = [("the scores were divided by d_k, not by its root", "the scores were scaled twice")]
TWINS_IN_THE_END = [
    ("W_Q and W_K were swapped", "K Q^T was worked out instead of Q K^T"),
    (
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        "-1 was added instead of -inf",
    ),
]
ALIKE = {one: (other,) for pair in TWINS for one, other in (pair, pair[::-1])}
ALIKE_IN_THE_END = {one: (other,) for pair in TWINS_IN_THE_END for one, other in (pair, pair[::-1])}

# What no output shows: a bias of K adds the same to all scores of a row, which the softmax does not
# see, and the exponentials of these sentinels are 0 in all the decimals there are.
UNSEEN: list[tuple[str, Problem]] = [
    ("the bias was left out of K", BIASED),
    *(
        (name, MASKED)
        for text in ("-1e9", "-1e4", "-9999", "-1000", "-100")
        for name in (
            f"{text} was added instead of -inf",
            f"hidden scores were set to {text}, not to -inf",
        )
    ),
]
each_case = pytest.mark.parametrize(("name", "problem"), CASES, ids=[case[0] for case in CASES])


@pytest.mark.sampled(15)
@pytest.mark.parametrize(
    ("name", "problem"), [*CASES, *UNSEEN], ids=[case[0] for case in [*CASES, *UNSEEN]]
)
def test_named_from_the_matrices(name: str, problem: Problem) -> None:
    found = diagnosed(problem, answers_of(problem, name))
    assert set(found[0].mistakes) == {name, *ALIKE.get(name, ())}
    assert found[0].whole


@pytest.mark.sampled(4)
@each_case
def test_named_from_the_output_alone(name: str, problem: Problem) -> None:
    found = diagnosed(problem, {"output": answers_of(problem, name)["output"]})
    assert [diagnosis.step for diagnosis in found] == ["output"]
    assert set(found[0].mistakes) == {name, *ALIKE.get(name, ()), *ALIKE_IN_THE_END.get(name, ())}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("decimals", [2, 3])
@each_case
def test_whatever_is_named_in_few_decimals_is_not_another_mistake_alone(
    name: str, problem: Problem, decimals: int
) -> None:
    """With less to tell them by, others may be named, too: but never without the one that was
    made, unless the page says that it is only perhaps.
    """
    found = diagnosed(problem, answers_of(problem, name), decimals)
    assert not found or not found[0].likely or name in found[0].mistakes


def test_the_scores_may_be_too_large_for_the_digits_that_people_round_by() -> None:
    """1e30 has more digits than Python's decimals round at once."""
    found = diagnosed(
        {"Q": [[1e15, 0], [0, 1e15]], "K": [[1e15, 2], [3, 4]], "V": [[1, 2], [3, 4]]},
        {"scores": [[1, 2], [3, 4]]},
    )
    assert "rounded" not in str(found)


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize("slip", [-0.7, -0.4])
@pytest.mark.parametrize("cell", [*np.ndindex(3, 3)])
def test_a_slip_in_an_output_of_one_decimal_is_no_known_mistake(
    cell: tuple[int, int], slip: float
) -> None:
    """A number in nine that is off by 0.4 or 0.7, as by no mistake. Of some sixty mistakes, a few
    give just that number, and all others of the output as well, wherever the slip is: by chance.
    """
    problem = {
        "Q": [[1, 2, 2, 0], [2, 1, 2, 1], [0, -1, 1, 1]],
        "K": [[0, -1, 0, -1], [2, -1, 0, 1], [1, 1, 2, 1]],
        "V": [[-1, 2, 0], [2, 2, -1], [0, 0, -1]],
        "mask": "causal",
    }
    # The scores of the last query are 0, 2 and 2, halved: its weights are 1, e and e of 1 + 2e.
    right = np.array([[-1.0, 2.0, 0.0], [1.9, 2.0, -1.0], [0.7, 1.2, -0.8]])
    assert diagnosed(problem, {"output": right}, 1) == ()
    solution = right.copy()
    solution[cell] += slip
    found = diagnosed(problem, {"output": solution}, 1)
    assert all(one.error is not None for one in found), found
