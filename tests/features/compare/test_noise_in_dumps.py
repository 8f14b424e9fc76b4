"""What a correct program rounds is no mistake, however large the scores are: nothing is named."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator

from attncli.comparison.known_mistakes import explanation
from attncli.features.compare.dumps import Dump, in_order
from attncli.features.compare.operands import InputFile, operands
from attncli.problem.loader import loads
from attncli.tracing.comparison import compare
from tests.reference.in_arrays import FORWARD, Problem, sheet_of, there, worked
from tests.reference.on_paper import Array

SOME, MANY = 1, 12  # problems of each kind
Rounding = Callable[[Array], Array]


def bfloat16(array: Array) -> Array:
    """The upper half of a float32, rounded to even."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


HANDED_OVER = ("scores", "scaled", "masked", "weights", "output")
FORMATS: dict[str, Rounding] = {
    "bfloat16": bfloat16,
    "float16": lambda array: array.astype(np.float16).astype(np.float32),
    "float32": lambda array: array.astype(np.float32),
}


def honestly_worked(
    choice: Generator, size: float, rounded: Rounding
) -> tuple[Problem, dict[str, Array]]:
    """A problem whose queries and keys are about so large, and its steps, each of them rounded."""
    tokens, width = int(choice.integers(2, 9)), int(choice.choice([2, 4, 16]))
    given = {name: (choice.normal(size=(tokens, width)) * size).round(2) for name in "QKV"}
    problem: Problem = {name: array.tolist() for name, array in given.items()}
    if choice.integers(2):
        problem["mask"] = "causal"
    sheet = sheet_of(problem, given={name: rounded(array) for name, array in given.items()})
    sheet["shifted"] = True
    steps = worked(
        sheet,
        there(sheet, FORWARD),
        lambda name, array: rounded(array) if name in HANDED_OVER else array.astype(np.float32),
    )
    return problem, {name: steps[name] for name in HANDED_OVER if name in steps}


@pytest.mark.long
@pytest.mark.each_choice
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
            for saved_in in dict.fromkeys((worked_in, "float32", "float64")):
                files = [
                    InputFile(name, None, None, content, {}, None)
                    for name, content in (
                        ("p.json", problem),
                        ("d.npz", Dump(in_order(handed_over), saved_in)),
                    )
                ]
                found = explanation(compare(*operands(files, 3)))
                assert found is None, (keys, start, saved_in, found.mistakes)
