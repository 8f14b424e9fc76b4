"""What is added to a table works everywhere: scores and positions that the program does not have,
each in a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

PRELUDE = """
import json, sys
from attncli.problem import keys

name, equation, cells, problem = json.loads(sys.stdin.read())
said = {"meaning": "is new.", "when": "with the new score"}
arrays = tuple(keys.GivenArray(cell, "Weights", **said) for cell in cells)
keys.SCORES[name] = keys.Score(equation, "", "A new score.", arrays)
keys.KEYS.update({array.name: keys._of_score(array) for array in arrays})
keys.ARRAYS.update({array.name: array for array in arrays})

from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.serialization import to_dict

trace = run(loads(json.dumps(problem).encode(), "problem.json"), gradient=True)
print(json.dumps({"logits": trace.logits, **to_dict(trace)}))
"""
GIVEN = {
    "Q": [[1, 0.5], [0.25, 1], [1, 1]],
    "K": [[1, 1], [1, 0.5], [0.75, 1]],
    "V": [[1, 0], [0, 1], [1, 1]],
}
WEIGHTED = ("weighted", "scores[i, j] = sum(k, Q[i, k] * w[k] * K[j, k])", ["w[k]"])
COSINE = (  # which has its letter in three sums
    "cosine",
    (
        "scores[i, j] = sum(k, Q[i, k] * K[j, k]) / (sqrt(sum(k, Q[i, k] ** 2)) * sqrt(sum(k, K[j,"
        " k] ** 2)))"
    ),
    [],
)
TWO_LETTERS = (
    "two_letters",
    "scores[i, j] = sum(k, Q[i, k] * K[j, k]) * sum(p, Q[i, p] ** 2 * w[p])",
    ["w[p]"],
)
BENT = ("bent", "scores[i, j] = tanh(sum(k, Q[i, k] * K[j, k]))", [])


def traced(score: tuple[str, str, list[str]], **given: Any) -> Any:
    """The data of a trace with gradients by a score that is new."""
    told = json.dumps([*score, GIVEN | {"score": score[0]} | given])
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE], input=told, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def slope(
    score: tuple[str, str, list[str]], numpy_scores: Any, name: str, given: dict[str, Any]
) -> np.ndarray:
    """The gradient of the sum of all outputs by an array, from differences of the same in NumPy."""
    arrays = {key: np.array(value, dtype=float) for key, value in given.items()}

    def outputs(arrays: dict[str, np.ndarray]) -> float:
        exp = np.exp(numpy_scores(arrays))
        return float((exp / exp.sum(axis=1, keepdims=True) @ arrays["V"]).sum())

    found, step = np.zeros_like(arrays[name]), 1e-6
    for place in np.ndindex(found.shape):
        sides = []
        for sign in (1, -1):
            moved = arrays[name].copy()
            moved[place] += sign * step
            sides.append(outputs(arrays | {name: moved}))
        found[place] = (sides[0] - sides[1]) / (2 * step)
    return found


def weighted(arrays: dict[str, np.ndarray]) -> np.ndarray:
    return (arrays["Q"] * arrays["w"]) @ arrays["K"].T


def bent(arrays: dict[str, np.ndarray]) -> np.ndarray:
    return np.tanh(arrays["Q"] @ arrays["K"].T)


def cosine(arrays: dict[str, np.ndarray]) -> np.ndarray:
    lengths = [np.sqrt((arrays[name] ** 2).sum(axis=1)) for name in "QK"]
    return arrays["Q"] @ arrays["K"].T / np.outer(*lengths)


def two_letters(arrays: dict[str, np.ndarray]) -> np.ndarray:
    return arrays["Q"] @ arrays["K"].T * (arrays["Q"] ** 2 @ arrays["w"])[:, None]


@pytest.mark.long
@pytest.mark.parametrize(
    ("score", "numpy_scores", "own", "names"),
    [
        (WEIGHTED, weighted, {"w": [1.5, 0.5]}, ["w", "Q", "K"]),
        (BENT, bent, {}, ["Q", "K"]),
        (COSINE, cosine, {}, ["Q", "K"]),
        (TWO_LETTERS, two_letters, {"w": [1.5, 0.5]}, ["w", "Q", "K"]),
    ],
    ids=[
        "its own array has a gradient",
        "a tanh of the whole score is no hidden layer",
        "a letter in several sums",
        "an array read with two letters",
    ],
)
def test_gradients_of_a_new_score(
    score: Any, numpy_scores: Any, own: dict[str, Any], names: list[str]
) -> None:
    data = traced(score, **own)
    assert data["logits"] == "scores"
    assert "hidden" not in data["steps"]
    for name in names:
        expected = slope(score, numpy_scores, name, GIVEN | own)
        np.testing.assert_allclose(
            data["steps"][f"d_{name}"]["value"], expected, rtol=0, atol=1e-8, err_msg=name
        )


NEW_POSITION = """
import json, sys
from dataclasses import dataclass
from attncli.equation.rule import Rule
from attncli.problem.parts import positions
from attncli.problem.model import Scalar


@dataclass(frozen=True, slots=True)
class Near(positions.Position):
    name, example, title = "near", "{near: true}", "Near"
    equation = "near_bias[i, j] = where(j <= i, rate * (j - i), 0)"
    rules = (Rule("near_bias", "N", "Near", equation, ""),)
    bias = "near_bias"

    @classmethod
    def read(cls, value):
        return cls()

    def steps(self, sizes):
        return self.rules

    def parameters(self, sizes):
        return {"rate": Scalar.of(0.75)}


positions.POSITIONS["near"] = Near

from attncli.attention.variants import variants_of
from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.serialization import to_dict

assert "near and a mask" in variants_of("masked")
print(json.dumps(to_dict(run(loads(sys.stdin.buffer.read(), "problem.json"), gradient=True))))
"""


@pytest.mark.long
def test_a_new_kind_of_positions() -> None:
    """Its bias is added beside that of another kind, and its gradient is that of the scores."""
    problem = GIVEN | {"mask": "causal", "position": {"alibi": {"slopes": [0.5]}, "near": True}}
    done = subprocess.run(
        [sys.executable, "-c", NEW_POSITION],
        input=json.dumps(problem),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    q, k, v = (np.array(GIVEN[name]) for name in "QKV")
    i, j = np.indices((3, 3))
    scores = q @ k.T / np.sqrt(2) - 0.5 * abs(i - j) + np.where(j <= i, 0.75 * (j - i), 0)
    exp = np.where(j <= i, np.exp(scores), 0)
    expected = exp / exp.sum(axis=1, keepdims=True) @ v
    np.testing.assert_allclose(data["steps"]["output"]["value"], expected, rtol=0, atol=1e-12)
    assert data["settings"]["position"] == ["alibi", "near"]
    assert data["steps"]["d_masked"]["shape"] == [3, 3]


NEW_KEY = """
import json, sys
from attncli.problem import keys

said = {"meaning": "is new.", "when": "where the problem gives it"}
gates = keys.GivenArray("gates[j, c]", "Gates", leading=("b", "g"), **said)
keys.KEYS["gates"] = keys.Key("heads", (gates,))
keys.ARRAYS["gates"] = gates

from attncli.errors import AttncliError
from attncli.problem.loader import loads

try:
    problem = loads(sys.stdin.buffer.read(), "problem.json")
    print(problem.given["gates"].shape)
except AttncliError as error:
    print(f"{error.path}: {error.message} ({error.help})")
"""


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("gates", "more", "said"),
    [
        ([[1, 0], [0, 1], [1, 1]], {}, "(3, 2)"),
        ([[1, 0], [0, 1], [1, 1]], {"heads": 2, "score": "dot"}, "(2, 3, 1)"),
        (
            [[1, 0], [0, 1]],
            {},
            "is 2×2, but 3×2 is needed",
        ),
        (
            [[1], [0], [1]],
            {},
            "is 3×1, but 3×2 is needed",
        ),
    ],
    ids=["fits", "fits in heads", "too few keys", "too few features"],
)
def test_a_new_array_fits_by_the_letters_of_its_cell(
    gates: Any, more: dict[str, Any], said: str
) -> None:
    told = json.dumps(GIVEN | {"gates": gates} | more)
    done = subprocess.run(
        [sys.executable, "-c", NEW_KEY], input=told, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    if "needed" in said:
        said = f"gates: {said} (its axes are a key and a feature of values)"
    assert done.stdout.strip() == said
