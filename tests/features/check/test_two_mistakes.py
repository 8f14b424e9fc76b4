"""Two mistakes behind a step that is not written: both are named where they give all numbers of the
next step together, and nobody who invents numbers has made them.
"""

from __future__ import annotations

from random import Random

import pytest

import attncli
from attncli.mistakes.model import BESIDES
from tests.features.check.solutions_by_hand import Work, softmax, written

# No number of these is right by chance.
GIVEN = {
    "Q": [[1, 2], [2, 1], [3, 1]],
    "K": [[1, 1], [2, 1], [1, 3]],
    "V": [[1, 2], [3, 0], [0, 2]],
}
NOT_SCALED: dict[str, Work] = {"scaled": lambda m: m["scores"]}
OVER_COLUMNS: dict[str, Work] = {"weights": lambda m: softmax(m["scaled"].T).T}
TRANSPOSED: dict[str, Work] = {"scores": lambda m: m["K"] @ m["Q"].T}
IN_WORDS = {
    "columns": "the softmax was taken down the columns",
    "not scaled": "the scores were not scaled",
    "K Q^T": "K Q^T was worked out instead of Q K^T",
}


@pytest.mark.parametrize(
    ("work", "only", "first", "second"),
    [
        (NOT_SCALED | OVER_COLUMNS, ("scores", "weights", "output"), "not scaled", "columns"),
        (NOT_SCALED | OVER_COLUMNS, ("output",), "not scaled", "columns"),
        (TRANSPOSED | NOT_SCALED, ("weights",), "K Q^T", "not scaled"),
    ],
)
def test_both_are_named(
    work: dict[str, Work], only: tuple[str, ...], first: str, second: str
) -> None:
    found = attncli.check(GIVEN, written(GIVEN, work=work, only=only))
    [diagnosis] = found.diagnoses
    both = f"{IN_WORDS[first]}{BESIDES}{IN_WORDS[second]}"
    assert both in diagnosis.mistakes
    assert diagnosis.likely
    assert f"{BESIDES}{IN_WORDS[second]}" in found.to_markdown()
    # The equation of each is there.
    data = found.to_dict()["diagnoses"]
    assert len(data[0]["equations"]) == 2


def test_a_class_is_taught_each_by_itself() -> None:
    answers = written(GIVEN, work=NOT_SCALED | OVER_COLUMNS, only=("weights", "output"))
    [row] = attncli.check_many([("Ada", GIVEN, answers)])
    assert row.mistakes == (("weights", IN_WORDS["not scaled"]), ("weights", IN_WORDS["columns"]))
    assert len(row.examples) == 2


@pytest.mark.parametrize("seed", range(12))
def test_numbers_that_were_invented_show_no_two_mistakes(seed: int) -> None:
    choice = Random(f"two mistakes {seed}")
    right = written(GIVEN, only=("output",))
    invented = [[f"{choice.uniform(-2, 3):.2f}" for _ in row] for row in right["output"]]
    found = attncli.check(GIVEN, {"output": invented})
    assert not [name for each in found.diagnoses for name in each.mistakes if BESIDES in name]


def test_one_mistake_comes_before_two() -> None:
    answers = written(GIVEN, work=NOT_SCALED, only=("weights", "output"))
    [diagnosis] = attncli.check(GIVEN, answers).diagnoses
    assert diagnosis.mistakes == (IN_WORDS["not scaled"],)
