"""Every known mistake, made in NumPy, is named: from all matrices of a solution, and from its
output alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncli.answers.reader import read_answers
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.verdicts import judge
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.features.check.mistaken import PLAIN, SQUARE, causal, solution

DECIMALS = 6


def written(array: Any, decimals: int = DECIMALS) -> str:
    """Nested lists, in all decimals, as a flow of YAML."""
    if isinstance(array, np.ndarray | list):
        return "[" + ", ".join(written(part, decimals) for part in array) + "]"
    return "-inf" if array == -np.inf else f"{array + 0.0:.{decimals}f}"


def problem_of(given: dict[str, Any]) -> str:
    known = {
        name: value for name, value in given.items() if name not in ("swap", "transpose", "mask")
    }
    lines = [
        f"{name}: {written(value) if isinstance(value, np.ndarray) else value}"
        for name, value in known.items()
    ]
    return "\n".join([*lines, *(["mask: causal"] if "mask" in given else [])])


def diagnosed(
    problem: str, answers: dict[str, Any], decimals: int = DECIMALS
) -> tuple[Diagnosis, ...]:
    trace = run(loads(problem.encode(), "p.yaml"))
    text = "\n".join(f"{name}: {written(array, decimals)}" for name, array in answers.items())
    return diagnose(judge(trace, read_answers(decode(text.encode(), "a.yaml", None), trace)))


MASKED = {**PLAIN, "mask": causal(3, 3)}
CROSSED = {**PLAIN, "X": PLAIN["X"][:2], "context": PLAIN["X"], "mask": causal(2, 3)}
CAPPED = {**MASKED, "softcap": 0.5}
BIASED = {**PLAIN, **{f"b_{name}": np.array([0.3, -0.8]) for name in "QKV"}}
JOINED = {
    **PLAIN,
    "W_O": np.array([[1.0, -2.0, 0.5], [0.5, 1.0, 2.0]]),
    "b_O": np.array([0.3, -0.8, 1.1]),
}
STEEP = {**PLAIN, "W_Q": 4 * PLAIN["W_Q"]}

CASES: list[tuple[str, dict[str, Any], str, float]] = [
    ("W_Q and W_K were swapped", {**PLAIN, "swap": "QK"}, "swap", 0),
    ("W_K and W_V were swapped", {**PLAIN, "swap": "KV"}, "swap", 0),
    ("W_Q and W_V were swapped", {**PLAIN, "swap": "QV"}, "swap", 0),
    ("W_Q, W_K and W_V were transposed", {**SQUARE, "transpose": "QKV"}, "transpose", 0),
    ("W_Q was transposed", {**SQUARE, "transpose": "Q"}, "transpose", 0),
    ("W_K was transposed", {**SQUARE, "transpose": "K"}, "transpose", 0),
    ("W_V was transposed", {**SQUARE, "transpose": "V"}, "transpose", 0),
    ("K Q^T was worked out instead of Q K^T", PLAIN, "K Q^T", 0),
    ("K was not transposed", {**PLAIN, "X": PLAIN["X"][:2]}, "K not transposed", 0),
    *(
        (f"{did} was worked out instead of Q K^T", PLAIN, did, 0)
        for did in ("Q Q^T", "K K^T", "Q V^T", "X X^T")
    ),
    ("Q W_K^T was worked out instead of Q K^T", {**SQUARE, "X": SQUARE["X"][:2]}, "Q W_K^T", 0),
    ("the scores were not scaled", PLAIN, "unscaled", 0),
    ("the scores were divided by d_k, not by its root", PLAIN, "d_k", 0),
    ("the scores were scaled twice", PLAIN, "twice", 0),
    ("the scores were divided by the root of d_model", PLAIN, "d_model", 0),
    ("the scores were divided by the root of n", PLAIN, "n", 0),
    ("the scores were divided by n", PLAIN, "by n", 0),
    ("the scores were multiplied by the root of d_k", PLAIN, "times", 0),
    (
        "the scores were scaled, but the problem asks for no scale",
        {**PLAIN, "score": "dot"},
        "unasked",
        0,
    ),
    ("the scale was applied after the softmax", PLAIN, "scale after", 0),
    ("the softcap was applied after the mask", CAPPED, "softcap last", 0),
    ("the mask was forgotten", MASKED, "forgotten", 0),
    ("the mask was inverted", MASKED, "inverted", 0),
    ("the mask was transposed", MASKED, "mask transposed", 0),
    ("the mask hid each token from itself", MASKED, "self", 0),
    ("the mask let each token see the next one", MASKED, "next", 0),
    ("the mask was aligned to the other corner", CROSSED, "corner", 0),
    ("hidden scores were set to 0, not to -inf", MASKED, "set", 0),
    ("the mask was put on the weights, after the softmax", MASKED, "mask after", 0),
    (
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        MASKED,
        "1 and 0",
        0,
    ),
    (
        "a mask of 0 for seen and 1 for hidden was added to the scores, as it is",
        MASKED,
        "0 and 1",
        0,
    ),
    ("-10 was added instead of -inf", MASKED, "added", -10),
    ("-1 was added instead of -inf", MASKED, "added", -1),
    ("hidden scores were set to -10, not to -inf", MASKED, "set", -10),
    ("hidden scores were set to -1, not to -inf", MASKED, "set", -1),
    ("the softmax was taken down the columns", PLAIN, "columns", 0),
    ("the softmax was taken over the whole matrix", PLAIN, "whole", 0),
    ("the scores were divided by their sum, without exponentials", PLAIN, "plain", 0),
    (
        "the exponentials were divided by the largest of their row, not by their sum",
        PLAIN,
        "largest",
        0,
    ),
    ("the exponentials were not divided by their sum", PLAIN, "undivided", 0),
    ("squares were taken instead of exponentials", PLAIN, "squares", 0),
    ("2 was used instead of e", PLAIN, "base", 2),
    ("3 was used instead of e", PLAIN, "base", 3),
    ("2.7 was used instead of e", PLAIN, "base", 2.7),
    ("10 was used instead of e", PLAIN, "base", 10),
    ("A X was worked out instead of A V", SQUARE, "A X", 0),
    ("A K was worked out instead of A V", PLAIN, "A K", 0),
    ("A Q was worked out instead of A V", PLAIN, "A Q", 0),
    ("A^T V was worked out instead of A V", PLAIN, "A^T", 0),
    ("2.71 was used instead of e", PLAIN, "base", 2.71),
    ("2.718 was used instead of e", PLAIN, "base", 2.718),
    ("the base was e, not the one given", {**PLAIN, "exp_base": 2}, "base", np.e),
    ("the bias was left out of Q", BIASED, "no b_Q", 0),
    ("the bias was left out of V", BIASED, "no b_V", 0),
    ("the bias was left out of the output", JOINED, "no b_O", 0),
    ("the softcap was left out", CAPPED, "no softcap", 0),
    *(
        (f"{which} were rounded to {word} first", PLAIN, did, decimals)
        for which, did in (("the scores", "rounded"), ("the scaled scores", "scaled rounded"))
        for decimals, word in enumerate(
            ("whole numbers", "one decimal", "2 decimals", "3 decimals")
        )
    ),
    ("the weights were rounded to one decimal first", PLAIN, "weights rounded", 1),
    ("the weights were rounded to 2 decimals first", PLAIN, "weights rounded", 2),
    ("the weights were rounded to 3 decimals first", PLAIN, "weights rounded", 3),
    ("the weights were rounded to whole numbers first", STEEP, "weights rounded", 0),
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
UNSEEN: list[tuple[str, dict[str, Any], str, float]] = (
    [("the bias was left out of K", BIASED, "no b_K", 0)]
    + [
        (f"{text} was added instead of -inf", MASKED, "added", float(text))
        for text in ("-1e9", "-1e4", "-9999", "-1000", "-100")
    ]
    + [
        (f"hidden scores were set to {text}, not to -inf", MASKED, "set", float(text))
        for text in ("-1e9", "-1e4", "-9999", "-1000", "-100")
    ]
)


@pytest.mark.parametrize(
    ("name", "given", "did", "number"),
    [*CASES, *UNSEEN],
    ids=[case[0] for case in [*CASES, *UNSEEN]],
)
def test_named_from_the_matrices(name: str, given: dict[str, Any], did: str, number: float) -> None:
    found = diagnosed(problem_of(given), solution(given, did, number))
    assert set(found[0].mistakes) == {name, *ALIKE.get(name, ())}
    assert found[0].whole


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "given", "did", "number"), CASES, ids=[case[0] for case in CASES])
def test_named_from_the_output_alone(
    name: str, given: dict[str, Any], did: str, number: float
) -> None:
    found = diagnosed(problem_of(given), {"output": solution(given, did, number)["output"]})
    assert [diagnosis.step for diagnosis in found] == ["output"]
    assert set(found[0].mistakes) == {name, *ALIKE.get(name, ()), *ALIKE_IN_THE_END.get(name, ())}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("decimals", [2, 3])
@pytest.mark.parametrize(("name", "given", "did", "number"), CASES, ids=[case[0] for case in CASES])
def test_whatever_is_named_in_few_decimals_is_not_another_mistake_alone(
    name: str, given: dict[str, Any], did: str, number: float, decimals: int
) -> None:
    """With less to tell them by, others may be named, too: but never without the one that was
    made.
    """
    found = diagnosed(problem_of(given), solution(given, did, number), decimals)
    assert not found or name in found[0].mistakes


def test_the_scores_may_be_too_large_for_the_digits_that_people_round_by() -> None:
    """1e30 has more digits than Python's decimals round at once."""
    found = diagnosed(
        "Q: [[1e15, 0], [0, 1e15]]\nK: [[1e15, 2], [3, 4]]\nV: [[1, 2], [3, 4]]",
        {"scores": [[1, 2], [3, 4]]},
    )
    assert "rounded" not in str(found)
