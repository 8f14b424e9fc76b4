"""What a correct program rounds is no mistake, however large the scores are: nothing is named."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator

from attncli.features.compare.dumps import Dump, in_order
from attncli.features.compare.known_mistakes import explanation
from attncli.features.compare.operands import InputFile, operands
from attncli.problem.loader import loads
from attncli.tracing.comparison import compare
from tests.reference.on_paper import Array

SOME, MANY = 4, 30  # problems of each kind
Rounding = Callable[[Array], Array]


def bfloat16(array: Array) -> Array:
    """The upper half of a float32, rounded to even."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


FORMATS: dict[str, Rounding] = {
    "bfloat16": bfloat16,
    "float16": lambda array: array.astype(np.float16).astype(np.float32),
    "float32": lambda array: array.astype(np.float32),
}


def honestly_worked(
    choice: Generator, size: float, rounded: Rounding
) -> tuple[dict[str, object], dict[str, Array]]:
    """A problem whose queries and keys are about so large, and its steps, each of them rounded."""
    tokens, width = int(choice.integers(2, 9)), int(choice.choice([2, 4, 16]))
    given = {name: (choice.normal(size=(tokens, width)) * size).round(2) for name in "QKV"}
    problem: dict[str, object] = {name: array.tolist() for name, array in given.items()}
    q, k, v = (rounded(array) for array in given.values())
    scores = rounded(q @ k.T)
    scaled = rounded(scores / np.float32(width**0.5))
    steps = {"scores": scores, "scaled": scaled}
    logits = scaled
    if choice.integers(2):
        problem["mask"] = "causal"
        logits = np.where(np.tri(tokens) > 0, scaled, np.float32(-np.inf))
        steps["masked"] = logits
    exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights = rounded(exp / exp.sum(axis=-1, keepdims=True))
    return problem, {**steps, "weights": weights, "output": rounded(weights @ v)}


@pytest.mark.parametrize("size", [1, 3, 5, 10])
@pytest.mark.parametrize("worked_in", FORMATS)
def test_roundings_have_no_name(worked_in: str, size: float) -> None:
    roundings_have_no_name(worked_in, size, SOME)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, 5, 10])
@pytest.mark.parametrize("worked_in", FORMATS)
def test_roundings_of_many_problems_have_no_name(worked_in: str, size: float) -> None:
    roundings_have_no_name(worked_in, size, MANY)


def roundings_have_no_name(worked_in: str, size: float, number: int) -> None:
    """Also where the numbers were saved in another format than that in which they were worked."""
    for seed in range(number):
        choice = np.random.default_rng([seed, int(size)])
        keys, steps = honestly_worked(choice, size, FORMATS[worked_in])
        problem = loads(json.dumps(keys).encode(), "p.json")
        for start in ("scores", "weights", "output"):
            names = list(steps)
            handed_over = {name: steps[name] for name in names[names.index(start) :]}
            for saved_in in (worked_in, "float32", "float64"):
                files = [
                    InputFile(name, None, None, content, {}, None)
                    for name, content in (
                        ("p.json", problem),
                        ("d.npz", Dump(in_order(handed_over), saved_in)),
                    )
                ]
                found = explanation(compare(*operands(files, 3)))
                assert found is None, (keys, start, saved_in, found.mistakes)
