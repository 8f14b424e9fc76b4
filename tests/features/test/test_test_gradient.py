"""`attncli test --gradient`, from the name of a function to its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.cli.main import run

ROOT = Path(__file__).parents[3]
BACKWARD = f"{ROOT / 'inputs/functions/backward.py'}:attention_backward"
SCHEMA = json.loads((ROOT / "attncli/testing/test.schema.json").read_text(encoding="utf-8"))
MEAN = "the row's mean was not subtracted in the backward pass of the softmax"
FUNCTIONS = """
import numpy as np

def weights_of(q, k):
    scores = q @ k.swapaxes(-1, -2) / k.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)

def attention(q, k, v):
    weights = weights_of(q, k)
    return weights @ v, (q, k, v, weights)

def backward(d_output, cache):
    q, k, v, weights = cache
    d_weights = d_output @ v.swapaxes(-1, -2)
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdims=True))
    d_scores = d_scores / k.shape[-1] ** 0.5
    return d_scores @ k, d_scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ d_output

def one(q, k, v, dO):
    return dO

def two_of_three(q, k, v, dO):
    return q, k

def in_another_order(q, k, v, dO):
    d_q, d_k, d_v = backward(dO, attention(q, k, v)[1])
    return d_v, d_k, d_q

def two_arrays(q, k, dO):
    return q, k, k
"""


@pytest.fixture
def functions(tmp_path: Path) -> str:
    path = tmp_path / "functions.py"
    path.write_text(FUNCTIONS)
    return str(path)


def told(
    capsys: pytest.CaptureFixture[str], code: int, function: str, *options: str
) -> dict[str, Any]:
    """The data of `attncli test --gradient`, which has to end with this code and fit its schema."""
    assert run(["test", function, "--gradient", "--format", "json", *options]) == code
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    return data


@pytest.mark.long
def test_a_mistake_is_named_and_its_numbers_are_given(capsys: pytest.CaptureFixture[str]) -> None:
    data = told(capsys, 1, BACKWARD)
    assert data["mistakes"] == [MEAN]
    assert data["facts"]["gradients"] == "returned"
    plain = data["cases"][0]
    given, expected = (plain["gradients"][key] for key in ("given", "expected"))
    assert plain["result"] == plain["gradients"]["result"] == "differs"
    assert "given" not in plain
    trace = attncli.trace(plain["problem"], gradient=True)
    for name in ("d_Q", "d_K", "d_V"):
        np.testing.assert_allclose(expected[name], trace[name], rtol=1e-12)
    np.testing.assert_allclose(given["d_V"], expected["d_V"], rtol=1e-12)
    assert np.abs(np.subtract(given["d_Q"], expected["d_Q"])).max() > 0.001


def test_a_cache_is_handed_on_by_an_expression(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = "backward(dO, f(q, k, v)[1])"
    data = told(capsys, 0, f"{functions}:attention", "--call", call)
    judged = [each["name"] for each in data["cases"] if "gradients" in each]
    assert judged == ["plain", "scores of 1,000", "plain, in float16"]


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("one", "it returns a value of type ndarray, not a tuple of three gradients"),
        ("two_of_three", "it returns 2 arrays, not three gradients: dQ, dK, dV"),
        ("in_another_order", "by their shapes, its gradients are not dQ, dK and dV in this order"),
    ],
)
def test_what_is_no_gradient(
    name: str, said: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = told(capsys, 1, f"{functions}:{name}")["cases"]
    errors = [each["error"] for each in cases if each["result"] != "not asked"]
    assert [error for error in errors if said not in error] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("attention", "has no gradients: it is a function of NumPy"),
        ("two_arrays", "has fewer than three parameters beside dO: q, k"),
    ],
)
def test_what_cannot_be_asked(
    name: str, said: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["test", f"{functions}:{name}", "--gradient"]) == 3
    err = capsys.readouterr().err
    assert said in err
    assert "help: " in err


@pytest.mark.long
def test_the_smallest_problem_is_saved_with_its_upstream_gradient(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "failing.yaml")
    assert run(["test", BACKWARD, "--gradient", "-o", file]) == 1
    assert MEAN.capitalize()[:30] in capsys.readouterr().out
    trace = attncli.trace(file, gradient=True)
    assert trace["d_output"].shape == trace["output"].shape
    assert np.unique(trace["d_output"]).size > 3
