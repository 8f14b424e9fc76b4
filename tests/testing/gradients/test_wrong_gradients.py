"""Every wrong backward pass is found, and its mistake is said by name; no other one is."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from attncli.testing.asking import CaseResult
from attncli.testing.diagnosis import differing
from attncli.testing.gradients.findings import NAN_WHERE_BLIND, gradient_findings
from attncli.testing.running.process import Limits
from attncli.testing.trial import try_function
from tests.cases import in_one_test
from tests.testing.gradients.wrong import WRONG
from tests.testing.in_process import results_back

HERE = Path(__file__).parent
# A framework may start slowly where other tests run.
PATIENT = Limits(seconds=60)


@pytest.fixture(scope="module")
def jax() -> Any:
    """JAX, where it is installed; what it says to its own developers is left aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("jax", reason="JAX is not installed", exc_type=ImportError)


MEAN = "the row's mean was not subtracted in the backward pass of the softmax"


def said_of(results: list[CaseResult]) -> set[str]:
    """What explains the gradients that differ; some do."""
    back = [each for each in results if each.is_of_gradients]
    assert differing(back)
    found = gradient_findings(back)
    return {name for each in found for name in each.mistakes}


def test_there_are_more_than_a_dozen() -> None:
    assert len([each for each in WRONG.values() if each.names]) >= 16


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WRONG)
def test_in_numpy(name: str) -> None:
    wrong = WRONG[name]
    assert said_of(results_back(wrong.function)) == {*wrong.names}


@pytest.mark.torch
@in_one_test(
    ("name", "said"),
    [
        ("without_mean", {MEAN}),
        ("detached_sum", {MEAN}),
        ("detached_weights", {"no gradient reaches Q and K"}),
        ("detached_keys", {"no gradient reaches K"}),
        ("detached", {"no gradient reaches V, Q and K"}),
        ("nulled_afterwards", {NAN_WHERE_BLIND}),
        ("straight_through_softcap", {"the softcap's derivative was forgotten"}),
    ],
)
def test_in_torch(torch: Any, name: str, said: set[str]) -> None:
    from tests.testing.gradients import in_torch

    results = results_back(getattr(in_torch, name), "torch")
    assert said_of(results) == said


@pytest.mark.parametrize(
    ("name", "said", "first"),
    [
        pytest.param("nulled_afterwards", NAN_WHERE_BLIND, None, marks=pytest.mark.slow),
        # JAX compiles each case.
        ("stopped", "no gradient reaches Q and K", 2),
    ],
)
def test_in_jax(jax: Any, name: str, said: str, first: int | None) -> None:
    from tests.testing.gradients import in_jax

    assert said_of(results_back(getattr(in_jax, name), "jax", first=first)) == {said}


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("changed_in_place", "what they need was changed in place"),
        ("keys_of_another_shape", "returned an invalid gradient at index 1"),
    ],
)
def test_gradients_that_cannot_be_worked_out(torch: Any, name: str, said: str) -> None:
    from tests.testing.gradients import in_torch

    results = results_back(getattr(in_torch, name), "torch")
    errors = [each for each in results if each.result == "error"]
    assert errors
    for each in errors:
        assert each.error.startswith("its gradients cannot be worked out")
        assert said in each.error
        assert each.forward is not None
        assert each.forward.result == "same"


@pytest.mark.torch
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["applied", "WithoutMean.apply", "WithoutMean"])
def test_a_class_with_a_backward_pass_of_its_own_is_applied(torch: Any, name: str) -> None:
    trial = try_function(f"{HERE}/in_torch.py:{name}", gradient=True, limits=PATIENT)
    assert [each.mistakes for each in trial.explanations] == [
        ("the row's mean was not subtracted in the backward pass of the softmax",)
    ]


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("NamedSettings", {"a scale of its own", "causal", "causal, fewer queries than keys"}),
        ("WithSetup", set()),
    ],
)
def test_the_parameters_of_an_applied_class_are_those_of_its_forward(
    torch: Any, name: str, asked: set[str]
) -> None:
    trial = try_function(f"{HERE}/in_torch.py:{name}", gradient=True, limits=PATIENT)
    assert trial.agrees
    with_settings = {each.case.name for each in trial.results if each.case.asks}
    assert (
        with_settings & {each.case.name for each in trial.results if each.result == "same"} == asked
    )


@pytest.mark.long
@pytest.mark.torch
def test_a_wrong_output_is_said_first_and_its_gradients_are_not_judged(torch: Any) -> None:
    trial = try_function(f"{HERE}/in_torch.py:scale_forgotten", gradient=True, limits=PATIENT)
    assert [each.mistakes for each in trial.explanations] == [("the scores were not scaled",)]
    assert not any(each.is_of_gradients for each in differing(trial.results))


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize(("cut", "said"), [("k", "W_K"), ("v", "W_V and b_V")])
def test_a_layer_of_which_a_part_learns_nothing(torch: Any, cut: str, said: str) -> None:
    # What is added to all keys alike moves no weight, so the gradient of b_K is 0 anyway.
    trial = try_function(f"{HERE}/in_torch.py:Layer(cut='{cut}')", gradient=True, limits=PATIENT)
    assert [each.mistakes for each in trial.explanations] == [(f"no gradient reaches {said}",)]
