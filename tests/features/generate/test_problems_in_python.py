"""`attncli.problems`: the problems of a set in Python, and draws without a search."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run


def told(problem: attncli.Problem) -> dict[str, Any]:
    """All that makes two problems the same."""
    arrays = {name: given.value.tolist() for name, given in problem.given.items()}
    trace = attncli.trace(problem)
    return {"title": problem.title, **arrays, "steps": trace.to_dict()["steps"]}


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ([], {}),
        (
            ["--mask", "causal", "--ask", "weights,output", "--decimals", "3"],
            {"mask": "causal", "ask": "weights,output", "decimals": 3},
        ),
        (
            ["--heads", "2", "--given", "qkv", "--mask", "{window: [1, 0]}"],
            {"heads": 2, "given": "qkv", "mask": {"window": [1, 0]}},
        ),
        (["--dims", "3,2,3,4"], {"dims": (3, 2, 3, 4)}),
    ],
)
def test_they_are_those_of_the_command(
    options: list[str], choices: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    assert run(["generate", "--seed", "7", "--count", "2", "-d", str(folder), *options]) == 0
    files = sorted(folder.glob("problems/*.yaml"))
    written = [attncli.load(file) for file in files]
    # A seed is a text, which a number is, too.
    drawn = attncli.problems(7, 2, **choices)
    assert [told(problem) for problem in drawn] == [told(problem) for problem in written]


@pytest.mark.long
def test_draws_without_a_search() -> None:
    """Of sizes for which a search takes long, at once, and every time the same."""
    choices: dict[str, Any] = {"dims": (7, 16, 8, 6), "heads": 4, "separate": False}
    problems = attncli.problems("a", 3, **choices)
    assert [told(problem) for problem in problems] == [
        told(problem) for problem in attncli.problems("a", 3, **choices)
    ]
    for problem in problems:
        assert problem.given["W_Q"].shape == (4, 16, 8)
        assert problem.given["W_V"].shape == (4, 16, 6)
        assert problem.given["X"].value.any(axis=-1).all()
    first, second, _ = (problem.given["X"].value for problem in problems)
    assert (first != second).any()


def test_a_query_may_see_no_key_without_a_search() -> None:
    seen = np.array([[True, False], [False, False]])
    choices: dict[str, Any] = {"dims": (2, 2, 3, 5), "mask": seen}
    (problem,) = attncli.problems("a", separate=False, **choices)
    assert attncli.trace(problem).fully_masked == (1,)
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.problems("a", **choices)
    assert "query t2 sees no key" in caught.value.message
    assert caught.value.help.startswith("change mask so that")


def test_two_matrices_differ_in_more_than_a_number() -> None:
    """Else Q Q^T is one number of K that was read wrongly. The second of these once was so."""
    choices: dict[str, Any] = {"given": "qkv", "dims": (3, 2, 2, 2)}
    _, second = attncli.problems("fairness 152", 2, **choices)
    matrices = [second.given[name].value for name in "QKV"]
    different = [(one != other).sum() for one, other in combinations(matrices, 2)]
    assert min(different) > 1


@pytest.mark.long
def test_the_numbers_tell_mistakes_apart() -> None:
    (problem,) = attncli.problems("b", mask="causal")
    trace = attncli.trace(problem)
    # As numbers of the output alone, worked out by NumPy with a scale of 1.
    logits = np.where(np.tri(4) > 0, trace["Q"] @ trace["K"].T, -np.inf)
    exp = np.exp(logits)
    wrong = exp / exp.sum(axis=-1, keepdims=True) @ trace["V"]
    assert attncli.compare(problem, wrong).mistakes == ("the scores were not scaled",)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("choices", "message", "help"),
    [
        ({"seed": None}, "seed cannot be None", 'seed="midterm"'),
        ({"count": 0}, "count cannot be 0", "a whole number from 1 to 10000"),
        ({"count": True}, "count cannot be True", "a whole number"),
        ({"dims": (4, 2, 3)}, "dims cannot be (4, 2, 3)", "dims=(4, 2, 3, 5)"),
        ({"dims": "4,2,3,5"}, "dims cannot be '4,2,3,5'", "dims=(4, 2, 3, 5)"),
        ({"dims": (1, 2, 3, 5)}, "dims: n cannot be 1", "from 2 to 16"),
        ({"dims": (4, 2, 17, 5)}, "dims: d_k cannot be 17", "from 1 to 16"),
        ({"heads": 9}, "heads cannot be 9", "from 1 to 8"),
        ({"given": "X"}, "given cannot be 'X'", "did you mean x?"),
        ({"decimals": 0}, "decimals cannot be 0", "from 1 to 6"),
        ({"ask": "wieghts"}, "no step is called 'wieghts'", "did you mean weights?"),
        ({"ask": "W_Q"}, "W_Q cannot be blank", "the steps that can be blank"),
        ({"ask": "output", "separate": False}, "ask cannot be used with separate=False", "ask"),
        ({"mask": "casual"}, "casual", "causal"),
        ({"mask": {"window": object()}}, "mask cannot be read", "a dict or a matrix"),
        ({"mask": np.eye(3) > 0}, "", ""),
        ({"separate": np.ones(2)}, "separate cannot be array", "give True or False"),
        ({"dims": (16, 16, 16, 16)}, "no problem of", "such as dims=(4,2,3,5)"),
    ],
)
def test_what_cannot_be_drawn(choices: dict[str, Any], message: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.problems(**{"seed": "a", **choices})
    assert message in str(caught.value)
    assert help in caught.value.help
    assert int(caught.value.exit_code) == 2
