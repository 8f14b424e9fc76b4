"""Mistakes on the way back, made in NumPy: each is named from the gradients as they were written, in three decimals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.answers.reader import read_answers
from attncli.problem.model import Problem
from attncli.problem.reader import load, loads
from attncli.problem.source import decode
from attncli.study.diagnosis import Diagnosis, diagnose
from attncli.study.solution import judged
from attncli.study.verdicts import Verdicts
from attncli.tracing import run
from tests.study.mistaken import Array
from tests.study.mistaken_back import (
    ADDITIVE,
    BASE_TWO,
    CAPPED,
    CAUSAL,
    CLASSES,
    CROSSED,
    LAYER,
    PLAIN,
    SCALED,
    SHARED,
    SQUARE,
    SQUARE_O,
    SQUARES,
    TURNED,
    gradients,
)
from tests.study.test_diagnosis import written

INPUTS = Path(__file__).parents[2] / "inputs"
DECIMALS = 3
Given = dict[str, Any]

CASES: list[tuple[str, str, Given, str]] = [  # what it is called, what was done, in what, and the step it is seen in
    ("the loss was added up, not averaged", "sum", SQUARES, "loss"),
    ("the loss was added up, not averaged", "sum", CLASSES, "loss"),
    ("the gradient of the loss was taken with the other sign", "sign", SQUARES, "d_output"),
    ("the gradient of the loss was taken with the other sign", "sign", CLASSES, "d_output"),
    ("the target was not subtracted from the probabilities", "no target", CLASSES, "d_output"),
    ("the factor 2 of the square was forgotten", "no 2", SQUARES, "d_output"),
    ("the gradient was not divided by the N of the mean", "no mean of gradients", SQUARES, "d_output"),
    ("the gradient was not divided by the N of the mean", "no mean of gradients", CLASSES, "d_output"),
    ("the mean was taken over the rows, not over all numbers", "rows", SQUARES, "d_output"),
    ("the mean was taken over all numbers, not over the rows", "numbers", CLASSES, "d_output"),
    ("W_O was not transposed on the way back", "W_O", SQUARE_O, "d_heads_output"),
    ("W_O was not transposed on the way back", "W_O", LAYER, "d_concat"),
    ("dO V was worked out in place of dO V^T", "dO V", SQUARE, "d_weights"),
    *(
        ("the row's mean was not subtracted on the way back through the softmax", "no mean", given, step)
        for given, step in (
            (PLAIN, "d_scaled"), (LAYER, "d_scaled"), (CAUSAL, "d_masked"), (ADDITIVE, "d_scores"),
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
    ("the softmax was left out on the way back", "no softmax", PLAIN, "d_scaled"),
    ("the logarithm of the base was forgotten on the way back", "no log", BASE_TWO, "d_scaled"),
    ("the mask was forgotten on the way back", "no mask", CAUSAL, "delta"),
    ("the mask was forgotten on the way back", "no mask", CAPPED, "delta"),
    ("the softcap's derivative was forgotten", "no slope", CAPPED, "d_scaled"),
    ("the scale was forgotten on the way back", "no scale", PLAIN, "d_scores"),
    ("the scale was forgotten on the way back", "no scale", SCALED, "d_scores"),
    *(
        ("the scale was applied to dQ and dK, not to dS", "scaled later", given, "d_scores")
        for given in (PLAIN, SCALED, TURNED, LAYER)
    ),
    ("the row's mean was not subtracted on the way back, nor the scale applied", "neither", PLAIN, "d_scaled"),
    ("the scale was applied twice on the way back", "twice", PLAIN, "d_scores"),
    ("the scale was applied twice on the way back", "twice", SCALED, "d_scores"),
    ("the scale was undone on the way back, not applied", "undone", PLAIN, "d_scores"),
    ("the scale was undone on the way back, not applied", "undone", SCALED, "d_scores"),
    ("the derivative of the tanh was forgotten", "no tanh", ADDITIVE, "d_hidden"),
    *(
        (f"{wrong} was worked out in place of {right}", did, given, step + rot)
        for wrong, right, did, step in (
            ("dS^T K", "dS K", "dS^T K", "d_Q"), ("dS Q", "dS K", "dQ of Q", "d_Q"),
            ("dS Q", "dS^T Q", "dS Q", "d_K"), ("dS^T K", "dS^T Q", "dK of K", "d_K"),
        )
        for given, rot in ((PLAIN, ""), (LAYER, ""), (TURNED, "_rot"))
    ),
    ("A dO was worked out in place of A^T dO", "A dO", PLAIN, "d_V"),
    ("A dO was worked out in place of A^T dO", "A dO", SHARED, "d_V"),
    ("RoPE turned forward on the way back", "forward", TURNED, "d_Q"),
    ("RoPE was left out on the way back", "no rotation", TURNED, "d_Q"),
    ("only the first of the heads that share keys and values was taken", "first head", SHARED, "d_K"),
    ("only the last of the heads that share keys and values was taken", "last head", SHARED, "d_K"),
    ("the heads that share keys and values were averaged, not added up", "mean of heads", SHARED, "d_K"),
    *((f"dW_{name} was transposed", f"dW_{name}^T", SQUARE_O, f"d_W_{name}") for name in "QKVO"),
    *(
        (f"what comes back through {name} was left out of the gradient of the input", f"no {name}", given, step)
        for given, names, step in ((PLAIN, "QKV", "d_X"), (LAYER, "QKV", "d_X"), (CROSSED, "KV", "d_context"))
        for name in names
    ),
    *((f"W_{name} was not transposed on the way back", f"W_{name}", SQUARE, "d_X") for name in "QKV"),
    ("W_Q, W_K and W_V were not transposed on the way back", "W_QKV", SQUARE, "d_X"),
]  # fmt: skip
NAMES = [f"{case[1]}-{case[3]}-{number}" for number, case in enumerate(CASES)]


def problem_of(given: Given) -> Problem:
    """The problem as a file says it."""
    said = {
        "mask": "mask: causal",
        "rope": f"position: {{rope: {{theta: {given.get('rope')}}}}}",
        "target": f"loss: {{kind: mse, target: {written(given.get('target', 0.0), 1)}}}",
        "targets": f"loss: {{kind: cross_entropy, targets: {list(map(int, given.get('targets', ())))}}}",
        "v": f"score: additive\nv: {written(given.get('v', 0.0), 1)}",
    }
    lines = [
        said.get(name) or f"{name}: {written(value, 1) if isinstance(value, np.ndarray) else value}"
        for name, value in given.items()
    ]
    return loads("\n".join(lines).encode(), "p.yaml")


def checked(problem: Problem, answers: dict[str, Array]) -> Verdicts:
    """The verdicts on these answers; each has the axis of a head only where its step has one."""
    shapes = run(problem, gradient=True).shapes()
    there = {name: np.reshape(array, shapes[name]) for name, array in answers.items() if name in shapes}
    text = "\n".join(
        f"{name}: {written(array if array.ndim else float(array), DECIMALS)}" for name, array in there.items()
    )
    source = decode(text.encode(), "a.yaml", None)
    return judged(problem, lambda trace: read_answers(source, trace), gradient=True).verdicts


def diagnosed(given: Given, answers: dict[str, Array]) -> tuple[Diagnosis, ...]:
    return diagnose(checked(problem_of(given), answers))


@pytest.mark.parametrize(("name", "did", "given", "step"), CASES, ids=NAMES)
def test_named(name: str, did: str, given: Given, step: str) -> None:
    found = diagnosed(given, gradients(given, did))
    assert found[0].step == step
    assert found[0].mistakes == (name,)
    assert found[0].whole
    assert {one.mistakes for one in found} == {(name,)}


@pytest.mark.parametrize(("name", "did", "given", "step"), {case[0]: case for case in CASES[::-1]}.values())
def test_named_from_its_step_alone(name: str, did: str, given: Given, step: str) -> None:
    """The steps before it are left out, and were right."""
    found = diagnosed(given, {step: gradients(given, did)[step]})
    assert [one.step for one in found] == [step]
    assert name in found[0].mistakes


def test_dS_in_place_of_dZ() -> None:
    """Without the scale between them they are often called the same."""
    name = "the row's mean was not subtracted on the way back, nor the scale applied"
    found = diagnosed(PLAIN, {"d_scores": gradients(PLAIN, "neither")["d_scores"]})
    assert [one.mistakes for one in found] == [(name,)]


def test_a_softcap_that_is_not_there_is_not_blamed() -> None:
    """The weights for the gradient of the scaled scores: A ∘ (dA - δ) without what a tanh would have for a slope."""
    scores = (PLAIN["X"] @ PLAIN["W_Q"]) @ (PLAIN["X"] @ PLAIN["W_K"]).T / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert diagnosed(PLAIN, {"d_scaled": weights}) == ()


def test_kv_heads_that_are_tiled_both_ways() -> None:
    answers = gradients(SHARED, "tiled")
    assert {one.mistakes for one in diagnosed(SHARED, answers)} == {("KV heads were tiled, not repeated",)}
    found = diagnosed(SHARED, {"d_K": answers["d_K"]})
    assert [one.mistakes for one in found] == [("KV heads were tiled, not repeated",)]


@pytest.mark.parametrize("given", [PLAIN, SQUARE, SQUARE_O, CROSSED, CAUSAL, CAPPED, BASE_TWO, SCALED, TURNED, ADDITIVE,
                                   LAYER, SHARED, SQUARES, CLASSES])  # fmt: skip
def test_right_gradients_are_not_blamed(given: Given) -> None:
    problem, answers = problem_of(given), gradients(given)
    verdicts = checked(problem, answers)
    assert verdicts.counts["right"] + verdicts.counts["carried"] == sum(verdicts.counts.values())
    assert diagnose(verdicts) == ()
    for name in verdicts.steps:
        assert diagnosed(given, {name: answers[name]}) == ()


@pytest.mark.parametrize("file", sorted(path.name for path in INPUTS.glob("*.yaml")))
def test_nor_are_those_of_any_example(file: str) -> None:
    problem = load(str(INPUTS / file))
    trace = run(problem, gradient=True)
    verdicts = checked(problem, {step.name: step.value for step in trace.computed()})
    assert verdicts.counts["wrong"] == 0
    assert diagnose(verdicts) == ()
