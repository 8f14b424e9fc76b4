"""Mistakes in the backward pass, made in NumPy: each is named from the gradients, written in three
decimals.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.answers.reader import read_answers
from attncli.features.check.diagnosis import ROUNDED_ON_THE_WAY, Diagnosis, diagnose
from attncli.features.check.verdicts import Judgement, judge_solution
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.features.check.mistaken import Array
from tests.features.check.mistaken_back import (
    ADDITIVE,
    BASE_TWO,
    CAPPED,
    CAUSAL,
    CLASSES,
    CROSSED,
    CROSSED_LAYER,
    LAYER,
    PLAIN,
    SCALED,
    SHARED,
    SQUARE,
    SQUARE_O,
    SQUARES,
    TURNED,
    TURNED_PAIRS,
    gradients,
)
from tests.features.check.test_diagnosis import written

INPUTS = Path(__file__).parents[3] / "inputs"
DECIMALS = 3
Given = dict[str, Any]

# what it is called, what was done, in what, and the step it is seen in
CASES: list[tuple[str, str, Given, str]] = [
    ("the loss was added up, not averaged", "sum", SQUARES, "loss"),
    ("the loss was added up, not averaged", "sum", CLASSES, "loss"),
    ("the gradient of the loss was taken with the other sign", "sign", SQUARES, "d_output"),
    ("the gradient of the loss was taken with the other sign", "sign", CLASSES, "d_output"),
    ("the target was not subtracted from the probabilities", "no target", CLASSES, "d_output"),
    ("the factor 2 of the square was forgotten", "no 2", SQUARES, "d_output"),
    (
        "the gradient was not divided by the N of the mean",
        "no mean of gradients",
        SQUARES,
        "d_output",
    ),
    (
        "the gradient was not divided by the N of the mean",
        "no mean of gradients",
        CLASSES,
        "d_output",
    ),
    ("the mean was taken over the rows, not over all numbers", "rows", SQUARES, "d_output"),
    ("the mean was taken over all numbers, not over the rows", "numbers", CLASSES, "d_output"),
    ("W_O was not transposed in the backward pass", "W_O", SQUARE_O, "d_heads_output"),
    ("W_O was not transposed in the backward pass", "W_O", LAYER, "d_concat"),
    ("dO V was worked out instead of dO V^T", "dO V", SQUARE, "d_weights"),
    *(
        (
            "the row's mean was not subtracted in the backward pass of the softmax",
            "no mean",
            given,
            step,
        )
        for given, step in (
            (PLAIN, "d_scaled"),
            (LAYER, "d_scaled"),
            (CAUSAL, "d_masked"),
            (ADDITIVE, "d_scores"),
            (BASE_TWO, "d_scaled"),
        )
    ),
    ("only the diagonal of the softmax's Jacobian was taken", "diagonal", PLAIN, "d_scaled"),
    ("only the diagonal of the softmax's Jacobian was taken", "diagonal", SHARED, "d_scaled"),
    ("the softmax's Jacobian was taken down the columns", "columns", PLAIN, "delta"),
    ("the means of the rows were subtracted from the columns", "lost axis", PLAIN, "d_scaled"),
    ("the gradients of a row were added up without its weights", "added", PLAIN, "delta"),
    ("the gradients of a row were averaged without its weights", "averaged", PLAIN, "delta"),
    ("the gradients of a row were averaged without its weights", "averaged", CROSSED, "delta"),
    (
        "the gradients of a row were averaged without its weights",
        "averaged",
        CROSSED_LAYER,
        "delta",
    ),
    ("the softmax was left out in the backward pass", "no softmax", PLAIN, "d_scaled"),
    (
        "the logarithm of the base was forgotten in the backward pass",
        "no log",
        BASE_TWO,
        "d_scaled",
    ),
    ("the mask was forgotten in the backward pass", "no mask", CAUSAL, "delta"),
    ("the mask was forgotten in the backward pass", "no mask", CAPPED, "delta"),
    ("the softcap's derivative was forgotten", "no slope", CAPPED, "d_scaled"),
    ("the scale was forgotten in the backward pass", "no scale", PLAIN, "d_scores"),
    ("the scale was forgotten in the backward pass", "no scale", SCALED, "d_scores"),
    *(
        ("the scale was applied to dQ and dK, not to dS", "scaled later", given, "d_scores")
        for given in (PLAIN, SCALED, TURNED, LAYER)
    ),
    (
        "the row's mean was not subtracted in the backward pass, nor the scale applied",
        "neither",
        PLAIN,
        "d_scaled",
    ),
    ("the scale was applied twice in the backward pass", "twice", PLAIN, "d_scores"),
    ("the scale was applied twice in the backward pass", "twice", SCALED, "d_scores"),
    ("the scale was undone in the backward pass, not applied", "undone", PLAIN, "d_scores"),
    ("the scale was undone in the backward pass, not applied", "undone", SCALED, "d_scores"),
    ("the derivative of the tanh was forgotten", "no tanh", ADDITIVE, "d_hidden"),
    *(
        (f"{wrong} was worked out instead of {right}", did, given, step + rot)
        for wrong, right, did, step in (
            ("dS^T K", "dS K", "dS^T K", "d_Q"),
            ("dS Q", "dS K", "dQ of Q", "d_Q"),
            ("dS Q", "dS^T Q", "dS Q", "d_K"),
            ("dS^T K", "dS^T Q", "dK of K", "d_K"),
        )
        for given, rot in ((PLAIN, ""), (LAYER, ""), (TURNED, "_rot"))
    ),
    ("A dO was worked out instead of A^T dO", "A dO", PLAIN, "d_V"),
    ("A dO was worked out instead of A^T dO", "A dO", SHARED, "d_V"),
    ("RoPE rotated forward in the backward pass", "forward", TURNED, "d_Q"),
    ("RoPE rotated forward in the backward pass", "forward", TURNED_PAIRS, "d_Q"),
    ("RoPE was left out in the backward pass", "no rotation", TURNED, "d_Q"),
    (
        "only the first of the heads that share keys and values was taken",
        "first head",
        SHARED,
        "d_K",
    ),
    ("only the last of the heads that share keys and values was taken", "last head", SHARED, "d_K"),
    (
        "the heads that share keys and values were averaged, not added up",
        "mean of heads",
        SHARED,
        "d_K",
    ),
    *((f"dW_{name} was transposed", f"dW_{name}^T", SQUARE_O, f"d_W_{name}") for name in "QKVO"),
    *(
        (
            f"the part through {name} was left out of the gradient of the input",
            f"no {name}",
            given,
            step,
        )
        for given, names, step in (
            (PLAIN, "QKV", "d_X"),
            (LAYER, "QKV", "d_X"),
            (CROSSED, "KV", "d_context"),
        )
        for name in names
    ),
    *(
        (f"W_{name} was not transposed in the backward pass", f"W_{name}", SQUARE, "d_X")
        for name in "QKV"
    ),
    ("W_Q, W_K and W_V were not transposed in the backward pass", "W_QKV", SQUARE, "d_X"),
    *(
        (
            f"only the part through {name} was taken as the gradient of the input",
            f"only {name}",
            given,
            "d_X",
        )
        for given in (PLAIN, LAYER)
        for name in "QKV"
    ),
    *(
        (
            f"W_{one} and W_{other} were swapped in the backward pass",
            f"{one} for {other}",
            given,
            step,
        )
        for given, one, other, step in (
            (PLAIN, "Q", "K", "d_X"),
            (PLAIN, "K", "V", "d_X"),
            (PLAIN, "Q", "V", "d_X"),
            (LAYER, "Q", "K", "d_X"),
            (CROSSED, "K", "V", "d_context"),
        )
    ),
]
NAMES = [f"{case[1]}-{case[3]}-{number}" for number, case in enumerate(CASES)]


def problem_of(given: Given) -> Problem:
    """The problem as a file says it."""
    said = {
        "mask": "mask: causal",
        "rope": (
            f"position: {{rope: {{theta: {given.get('rope')}, pairing:"
            f" {given.get('pairing', 'half')}}}}}"
        ),
        "target": f"loss: {{kind: mse, target: {written(given.get('target', 0.0), 1)}}}",
        "targets": (
            f"loss: {{kind: cross_entropy, targets: {list(map(int, given.get('targets', ())))}}}"
        ),
        "v": f"score: additive\nv: {written(given.get('v', 0.0), 1)}",
    }
    lines = [
        said.get(name) or f"{name}: {written(value, 1) if isinstance(value, np.ndarray) else value}"
        for name, value in given.items()
        if name != "pairing"
    ]
    return loads("\n".join(lines).encode(), "p.yaml")


def checked(problem: Problem, answers: dict[str, Array]) -> Judgement:
    """The verdicts on these answers; each has the axis of a head only where its step has one."""
    shapes = run(problem, gradient=True).shapes()
    there = {
        name: np.reshape(array, shapes[name]) for name, array in answers.items() if name in shapes
    }
    text = "\n".join(
        f"{name}: {written(array if array.ndim else float(array), DECIMALS)}"
        for name, array in there.items()
    )
    source = decode(text.encode(), "a.yaml", None)
    return judge_solution(
        problem, lambda trace: read_answers(source, trace), gradient=True
    ).verdicts


def diagnosed(given: Given, answers: dict[str, Array]) -> tuple[Diagnosis, ...]:
    return diagnose(checked(problem_of(given), answers))


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "did", "given", "step"), CASES, ids=NAMES)
def test_named(name: str, did: str, given: Given, step: str) -> None:
    found = diagnosed(given, gradients(given, did))
    assert found[0].step == step
    assert found[0].mistakes == (name,)
    assert found[0].whole
    assert {one.mistakes for one in found} == {(name,)}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "did", "given", "step"), {case[0]: case for case in CASES[::-1]}.values()
)
def test_named_from_its_step_alone(name: str, did: str, given: Given, step: str) -> None:
    """The steps before it are left out, and were right."""
    found = diagnosed(given, {step: gradients(given, did)[step]})
    assert [one.step for one in found] == [step]
    assert name in found[0].mistakes


def test_dS_in_place_of_dZ() -> None:
    """Without the scale between them they are often called the same."""
    name = "the row's mean was not subtracted in the backward pass, nor the scale applied"
    found = diagnosed(PLAIN, {"d_scores": gradients(PLAIN, "neither")["d_scores"]})
    assert [one.mistakes for one in found] == [(name,)]


def test_a_softcap_that_is_not_there_is_not_blamed() -> None:
    """The weights for the gradient of the scaled scores: A ∘ (dA - δ) without what a tanh would
    have for a slope.
    """
    scores = (PLAIN["X"] @ PLAIN["W_Q"]) @ (PLAIN["X"] @ PLAIN["W_K"]).T / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert diagnosed(PLAIN, {"d_scaled": weights}) == ()


def test_kv_heads_that_are_tiled_both_ways() -> None:
    answers = gradients(SHARED, "tiled")
    assert {one.mistakes for one in diagnosed(SHARED, answers)} == {
        ("KV heads were tiled, not repeated",)
    }
    found = diagnosed(SHARED, {"d_K": answers["d_K"]})
    assert [one.mistakes for one in found] == [("KV heads were tiled, not repeated",)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "given",
    [
        PLAIN,
        SQUARE,
        SQUARE_O,
        CROSSED,
        CAUSAL,
        CAPPED,
        BASE_TWO,
        SCALED,
        TURNED,
        TURNED_PAIRS,
        ADDITIVE,
        LAYER,
        CROSSED_LAYER,
        SHARED,
        SQUARES,
        CLASSES,
    ],
)
def test_right_gradients_are_not_blamed(given: Given) -> None:
    problem, answers = problem_of(given), gradients(given)
    verdicts = checked(problem, answers)
    assert verdicts.counts["right"] + verdicts.counts["carried"] == sum(verdicts.counts.values())
    assert diagnose(verdicts) == ()
    for name in verdicts.steps:
        assert diagnosed(given, {name: answers[name]}) == ()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("file", sorted(path.name for path in INPUTS.glob("*.yaml")))
def test_nor_are_those_of_any_example(file: str) -> None:
    problem = load(str(INPUTS / file))
    trace = run(problem, gradient=True)
    verdicts = checked(problem, {step.name: step.value for step in trace.computed()})
    assert verdicts.counts["wrong"] == 0
    assert diagnose(verdicts) == ()


def test_what_right_numbers_deny_is_not_named() -> None:
    """A loss may come from scores multiplied by the root of d_k; but then its gradients would not
    be right.
    """
    answers, mistaken = gradients(SQUARES), gradients({**SQUARES, "scale": 2**0.5})
    name = "the scores were multiplied by the root of d_k"
    assert name in diagnosed(SQUARES, {"loss": mistaken["loss"]})[0].mistakes
    found = diagnosed(SQUARES, {"loss": mistaken["loss"], "d_output": answers["d_output"]})
    assert name not in [mistake for one in found for mistake in one.mistakes]
    found = diagnosed(SQUARES, {"loss": mistaken["loss"], "d_output": mistaken["d_output"]})
    assert {one.mistakes for one in found} == {(name,)}


LEFT_TO_A_CALCULATOR = """
X: [[1, 2], [3, -1]]
W_Q: [[1, 0], [2, 1]]
W_K: [[0, 1], [1, 2]]
W_V: [[2, 1], [1, 3]]
mask: causal
loss: {kind: mse, target: [[1, 2], [0, 1]]}
"""


def back_on_paper(did: str, decimals: int) -> Array:
    """dX of that problem: the forward pass is rounded once, at its end; of the backward pass every
    number.
    """

    def short(array: Array) -> Array:
        unit = Decimal(1).scaleb(-decimals)
        halves = [
            float(Decimal(repr(x)).quantize(unit, ROUND_HALF_UP)) for x in array.ravel().tolist()
        ]
        return np.array(halves).reshape(array.shape)

    x, target = np.array([[1.0, 2], [3, -1]]), np.array([[1.0, 2], [0, 1]])
    w_q, w_k, w_v = (
        np.array([[1.0, 0], [2, 1]]),
        np.array([[0.0, 1], [1, 2]]),
        np.array([[2.0, 1], [1, 3]]),
    )
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    logits = np.where(np.tri(2) == 1, q @ k.T / np.sqrt(2), -np.inf)
    full = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    weights, output = short(full), short(full @ v)
    d_output = short(2 * (output - target) / 4)
    d_weights = short(d_output @ v.T)
    delta = short((weights * d_weights).sum(axis=1, keepdims=True))
    d_scaled = short(weights * (d_weights - (0 if did == "no mean" else delta)))
    d_scores = d_scaled if did == "no scale" else short(d_scaled / np.sqrt(2))
    d_q, d_k = short(d_scores @ k), short((d_scores if did == "dS Q" else d_scores.T) @ q)
    d_v = short(weights.T @ d_output)
    into = d_q @ (w_q if did == "W_Q" else w_q.T) + d_k @ w_k.T
    return short(into if did == "no V" else into + d_v @ w_v.T)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("decimals", [2, 3])
@pytest.mark.parametrize(
    ("did", "name"),
    [
        ("", ROUNDED_ON_THE_WAY),
        ("no mean", "the row's mean was not subtracted in the backward pass of the softmax"),
        ("no scale", "the scale was forgotten in the backward pass"),
        ("dS Q", "dS Q was worked out instead of dS^T Q"),
        ("no V", "the part through V was left out of the gradient of the input"),
        ("W_Q", "W_Q was not transposed in the backward pass"),
    ],
)
def test_named_though_the_way_there_was_left_to_a_calculator(
    did: str, name: str, decimals: int
) -> None:
    problem, gradient = loads(LEFT_TO_A_CALCULATOR.encode(), "p.yaml"), back_on_paper(did, decimals)
    source = decode(f"d_X: {written(gradient, decimals)}".encode(), "a.yaml", None)
    verdicts = judge_solution(
        problem, lambda trace: read_answers(source, trace), gradient=True
    ).verdicts
    if did or verdicts.counts["wrong"]:
        (found,) = diagnose(verdicts)
        # W_K and W_V are symmetric: all three may as well not have been transposed
        assert name in found.mistakes
        assert (found.whole, found.rounded, found.forward_in_full) == (
            True,
            decimals,
            decimals == 3,
        )
