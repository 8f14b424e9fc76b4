"""Mistakes in the backward pass, made in NumPy: each is named from the gradients, written in three
decimals.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.answers.reader import read_answers
from attncli.features.check.diagnosis import ROUNDED_ON_THE_WAY, Diagnosis, diagnose
from attncli.features.check.verdicts import Judgement, judge_solution
from attncli.problem import model
from attncli.problem.loader import load
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.features.check.test_diagnosis import answers_of, read, shaped, written
from tests.reference.back_in_arrays import BACKWARD, of_mixture, sheet_of, steps_of
from tests.reference.in_arrays import Problem, Sheet, Steps, t, worked
from tests.reference.mistaken import steps_mistaken, tiled
from tests.reference.on_paper import Array, half_up, to_decimals

INPUTS = Path(__file__).parents[3] / "inputs"
DECIMALS = 3
_RANDOM = np.random.default_rng(11)


def drawn(*shape: int, size: float = 1.5) -> Any:
    """Nested lists."""
    return (_RANDOM.uniform(-size, size, shape).round(1) + 0.0).tolist()


PLAIN: Problem = {
    "X": drawn(3, 4),
    "W_Q": drawn(4, 2),
    "W_K": drawn(4, 2),
    "W_V": drawn(4, 2),
    "d_output": drawn(3, 2, size=9),
}
SQUARE: Problem = {
    "X": drawn(3, 3, size=1),
    "W_Q": drawn(3, 3, size=1),
    "W_K": drawn(3, 3, size=1),
    "W_V": drawn(3, 3),
    "d_output": drawn(3, 3, size=9),
}
SQUARE_O = {**SQUARE, "W_O": drawn(3, 3)}
CROSSED = {**PLAIN, "context": drawn(5, 4)}
CAUSAL = {**PLAIN, "mask": "causal"}
CAPPED = {**CAUSAL, "softcap": 2.0}
BASE_TWO = {**PLAIN, "exp_base": 2}
SCALED = {**PLAIN, "scale": 0.25}
TURNED = {**PLAIN, "position": {"rope": {"theta": 100, "pairing": "half"}}}
ADDITIVE = {**PLAIN, "score": "additive", "W_1": drawn(2, 2), "W_2": drawn(2, 2), "v": drawn(2)}
LAYER: Problem = {
    "X": drawn(3, 4),
    "W_Q": drawn(4, 4),
    "W_K": drawn(4, 4),
    "W_V": drawn(4, 4),
    "W_O": drawn(4, 4),
    "heads": 2,
    "d_output": drawn(3, 4, size=9),
}
SHARED: Problem = {
    "X": drawn(3, 4),
    "W_Q": drawn(4, 8),
    "W_K": drawn(4, 4),
    "W_V": drawn(4, 4),
    "heads": 4,
    "kv_heads": 2,
    "d_output": drawn(3, 8, size=9),
}
WITHOUT_GRADIENT = {name: value for name, value in PLAIN.items() if name != "d_output"}
SQUARES = {**WITHOUT_GRADIENT, "loss": {"kind": "mse", "target": drawn(3, 2, size=9)}}
CLASSES = {
    **WITHOUT_GRADIENT,
    "W_O": drawn(2, 4),
    "loss": {"kind": "cross_entropy", "targets": [2, 0, 3]},
}
CROSSED_LAYER = {**LAYER, "context": drawn(5, 4)}
ONE_HEAD = {name: value for name, value in LAYER.items() if name not in ("heads", "W_O")}
TURNED_PAIRS = {**ONE_HEAD, "position": {"rope": {"theta": 100, "pairing": "interleaved"}}}

# What it is called, in what it is made, and the step it is seen in.
CASES: list[tuple[str, Problem, str]] = [
    ("the loss was added up, not averaged", SQUARES, "loss"),
    ("the loss was added up, not averaged", CLASSES, "loss"),
    ("the gradient of the loss was taken with the other sign", SQUARES, "d_output"),
    ("the gradient of the loss was taken with the other sign", CLASSES, "d_output"),
    ("the target was not subtracted from the probabilities", CLASSES, "d_output"),
    ("the factor 2 of the square was forgotten", SQUARES, "d_output"),
    (
        "the gradient was not divided by the N of the mean",
        SQUARES,
        "d_output",
    ),
    (
        "the gradient was not divided by the N of the mean",
        CLASSES,
        "d_output",
    ),
    ("the mean was taken over the rows, not over all numbers", SQUARES, "d_output"),
    ("the mean was taken over all numbers, not over the rows", CLASSES, "d_output"),
    ("W_O was not transposed in the backward pass", SQUARE_O, "d_heads_output"),
    ("W_O was not transposed in the backward pass", LAYER, "d_concat"),
    ("dO V was worked out instead of dO V^T", SQUARE, "d_weights"),
    *(
        (
            "the row's mean was not subtracted in the backward pass of the softmax",
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
    ("only the diagonal of the softmax's Jacobian was taken", PLAIN, "d_scaled"),
    ("only the diagonal of the softmax's Jacobian was taken", SHARED, "d_scaled"),
    ("the softmax's Jacobian was taken down the columns", PLAIN, "delta"),
    ("the means of the rows were subtracted from the columns", PLAIN, "d_scaled"),
    ("the gradients of a row were added up without its weights", PLAIN, "delta"),
    ("the gradients of a row were averaged without its weights", PLAIN, "delta"),
    ("the gradients of a row were averaged without its weights", CROSSED, "delta"),
    (
        "the gradients of a row were averaged without its weights",
        CROSSED_LAYER,
        "delta",
    ),
    ("the softmax was left out in the backward pass", PLAIN, "d_scaled"),
    (
        "the logarithm of the base was forgotten in the backward pass",
        BASE_TWO,
        "d_scaled",
    ),
    ("the mask was forgotten in the backward pass", CAUSAL, "delta"),
    ("the mask was forgotten in the backward pass", CAPPED, "delta"),
    ("the softcap's derivative was forgotten", CAPPED, "d_scaled"),
    ("the scale was forgotten in the backward pass", PLAIN, "d_scores"),
    ("the scale was forgotten in the backward pass", SCALED, "d_scores"),
    *(
        ("the scale was applied to dQ and dK, not to dS", given, "d_scores")
        for given in (PLAIN, SCALED, TURNED, LAYER)
    ),
    *(
        (f"the scale was forgotten in d{array} alone", given, f"d_{array}{rot}")
        for array in ("Q", "K")
        for given, rot in ((PLAIN, ""), (SCALED, ""), (LAYER, ""), (TURNED, "_rot"))
    ),
    (
        "the row's mean was not subtracted in the backward pass, nor the scale applied",
        PLAIN,
        "d_scaled",
    ),
    ("the scale was applied twice in the backward pass", PLAIN, "d_scores"),
    ("the scale was applied twice in the backward pass", SCALED, "d_scores"),
    ("the scale was undone in the backward pass, not applied", PLAIN, "d_scores"),
    ("the scale was undone in the backward pass, not applied", SCALED, "d_scores"),
    ("the derivative of the tanh was forgotten", ADDITIVE, "d_hidden"),
    *(
        (f"{wrong} was worked out instead of {right}", given, step + rot)
        for wrong, right, step in (
            ("dS^T K", "dS K", "d_Q"),
            ("dS Q", "dS K", "d_Q"),
            ("dS Q", "dS^T Q", "d_K"),
            ("dS^T K", "dS^T Q", "d_K"),
        )
        for given, rot in ((PLAIN, ""), (LAYER, ""), (TURNED, "_rot"))
    ),
    ("A dO was worked out instead of A^T dO", PLAIN, "d_V"),
    ("A dO was worked out instead of A^T dO", SHARED, "d_V"),
    ("RoPE rotated forward in the backward pass", TURNED, "d_Q"),
    ("RoPE rotated forward in the backward pass", TURNED_PAIRS, "d_Q"),
    ("RoPE was left out in the backward pass", TURNED, "d_Q"),
    (
        "only the first of the heads that share keys and values was taken",
        SHARED,
        "d_K",
    ),
    ("only the last of the heads that share keys and values was taken", SHARED, "d_K"),
    (
        "the heads that share keys and values were averaged, not added up",
        SHARED,
        "d_K",
    ),
    *((f"dW_{name} was transposed", SQUARE_O, f"d_W_{name}") for name in "QKVO"),
    *(
        (
            f"the part through {name} was left out of the gradient of the input",
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
    *((f"W_{name} was not transposed in the backward pass", SQUARE, "d_X") for name in "QKV"),
    ("W_Q, W_K and W_V were not transposed in the backward pass", SQUARE, "d_X"),
    *(
        (
            f"only the part through {name} was taken as the gradient of the input",
            given,
            "d_X",
        )
        for given in (PLAIN, LAYER)
        for name in "QKV"
    ),
    *(
        (
            f"W_{one} and W_{other} were swapped in the backward pass",
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
NAMES = [f"{case[0]}-{case[2]}-{number}" for number, case in enumerate(CASES)]


def gradients(given: Problem, mistake: str = "") -> dict[str, Array]:
    """The loss, and the gradients of all steps."""
    found = answers_of(given, mistake, gradient=True)
    return {name: array for name, array in found.items() if name in BACKWARD}


def checked(problem: model.Problem, answers: dict[str, Array]) -> Judgement:
    """The verdicts on these answers; each has the axis of a head only where its step has one."""
    shapes = run(problem, gradient=True).shapes()
    there = {name: shaped(array, shapes[name]) for name, array in answers.items() if name in shapes}
    text = "\n".join(
        f"{name}: {written(array if array.ndim else float(array), DECIMALS)}"
        for name, array in there.items()
    )
    source = decode(text.encode(), "a.yaml", None)
    return judge_solution(
        problem, lambda trace: read_answers(source, trace), gradient=True
    ).verdicts


def diagnosed(given: Problem, answers: dict[str, Array]) -> tuple[Diagnosis, ...]:
    return diagnose(checked(read(given), answers))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "given", "step"), CASES, ids=NAMES)
def test_named(name: str, given: Problem, step: str) -> None:
    found = diagnosed(given, gradients(given, name))
    assert found[0].step == step
    assert found[0].mistakes == (name,)
    assert found[0].whole
    assert {one.mistakes for one in found} == {(name,)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "given", "step"), {case[0]: case for case in CASES[::-1]}.values()
)
def test_named_from_its_step_alone(name: str, given: Problem, step: str) -> None:
    """The steps before it are left out, and were right."""
    found = diagnosed(given, {step: gradients(given, name)[step]})
    assert [one.step for one in found] == [step]
    assert name in found[0].mistakes


def test_dS_in_place_of_dZ() -> None:
    """Without the scale between them they are often called the same."""
    name = "the row's mean was not subtracted in the backward pass, nor the scale applied"
    found = diagnosed(PLAIN, {"d_scores": gradients(PLAIN, name)["d_scores"]})
    assert [one.mistakes for one in found] == [(name,)]


def test_a_wrong_loss_which_is_a_single_number_is_judged() -> None:
    """The true value is 1.410."""
    found = attncli.check(INPUTS / "next_token.yaml", {"loss": "1.45"})
    assert found.solution.verdicts.counts["wrong"] == 1


@pytest.mark.long
def test_a_softcap_that_is_not_there_is_not_blamed() -> None:
    """The weights for the gradient of the scaled scores: A ∘ (dA - δ) without what a tanh would
    have for a slope.
    """
    weights = answers_of(PLAIN)["weights"]
    assert diagnosed(PLAIN, {"d_scaled": weights}) == ()


@pytest.mark.long
def test_kv_heads_that_are_tiled_both_ways() -> None:
    name = "KV heads were tiled, not repeated"
    back: Steps = {
        "d_weights": lambda s: of_mixture(s) @ t(tiled(s.V, s)),
        "d_Q": lambda s: s.d_scores @ tiled(s.K, s),
        "d_K": lambda s: of_tiles(t(s.d_scores) @ s.Q, s),
        "d_V": lambda s: of_tiles(t(s.weights) @ of_mixture(s), s),
    }
    sheet = sheet_of(SHARED)
    answers = worked(sheet, steps_of(sheet) | steps_mistaken(name, sheet) | back)
    found = diagnosed(SHARED, {step: answers[step] for step in gradients(SHARED)})
    assert {one.mistakes for one in found} == {(name,)}
    found = diagnosed(SHARED, {"d_K": answers["d_K"]})
    assert [one.mistakes for one in found] == [(name,)]


def of_tiles(array: Array, s: Sheet) -> Array:
    """What heads of keys or values get back, if they were laid out again and again."""
    return array.reshape(s.group, s.kv_heads, *array.shape[1:]).sum(axis=0)


@pytest.mark.sampled(2)
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
def test_right_gradients_are_not_blamed(given: Problem) -> None:
    problem, answers = read(given), gradients(given)
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


@pytest.mark.long
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


LEFT_TO_A_CALCULATOR: Problem = {
    "X": [[1, 2], [3, -1]],
    "W_Q": [[1, 0], [2, 1]],
    "W_K": [[0, 1], [1, 2]],
    "W_V": [[2, 1], [1, 3]],
    "mask": "causal",
    "loss": {"kind": "mse", "target": [[1, 2], [0, 1]]},
}


def back_on_paper(mistake: str, decimals: int) -> Array:
    """dX of that problem: the forward pass is rounded once, at its end; of the backward pass every
    number.
    """
    sheet = sheet_of(LEFT_TO_A_CALCULATOR)
    steps = steps_of(sheet)
    whole = worked(sheet, steps)
    wrong = steps_mistaken(mistake, sheet) if mistake else {}
    seen = {step: half_up(whole[step], decimals) for step in ("weights", "output")}
    later = {step: work for step, work in (steps | wrong).items() if step in BACKWARD}
    forward = Sheet(whole | seen)
    found = worked(forward, later, to_decimals(decimals))
    return found.d_X


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("decimals", [2, 3])
@pytest.mark.parametrize(
    "name",
    [
        ROUNDED_ON_THE_WAY,
        "the row's mean was not subtracted in the backward pass of the softmax",
        "the scale was forgotten in the backward pass",
        "dS Q was worked out instead of dS^T Q",
        "the part through V was left out of the gradient of the input",
        "W_Q was not transposed in the backward pass",
    ],
)
def test_named_though_the_way_there_was_left_to_a_calculator(name: str, decimals: int) -> None:
    mistake = "" if name == ROUNDED_ON_THE_WAY else name
    problem, gradient = read(LEFT_TO_A_CALCULATOR), back_on_paper(mistake, decimals)
    source = decode(f"d_X: {written(gradient, decimals)}".encode(), "a.yaml", None)
    verdicts = judge_solution(
        problem, lambda trace: read_answers(source, trace), gradient=True
    ).verdicts
    if mistake or verdicts.counts["wrong"]:
        (found,) = diagnose(verdicts)
        # W_K and W_V are symmetric: all three may as well not have been transposed
        assert name in found.mistakes
        assert (found.whole, found.rounded, found.forward_in_full) == (
            True,
            decimals,
            decimals == 3,
        )
