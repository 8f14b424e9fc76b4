"""Two mistakes behind a step that is not written: both are named where they give all numbers of the
next step together, and nobody who invents numbers has made them.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import attncli
from attncli.mistakes.model import BESIDES
from tests.features.check.solutions_by_hand import Work, softmax, written
from tests.tools.marks.sheets import MATRICES

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
    "no mask": "the mask was forgotten",
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
    changed = {equation.split("[")[0] for equation in data[0]["equations"]}
    assert changed >= {MATRICES.mistakes[name][0] for name in (first, second)}


CAUSAL = GIVEN | {"mask": "causal"}
OF_TWO_HEADS = {
    "Q": [GIVEN["Q"], [[1, -1], [0, 2], [2, 2]]],
    "K": [GIVEN["K"], [[2, 0], [1, -1], [1, 2]]],
    "V": [GIVEN["V"], [[1, 1], [4, 2], [0, 3]]],
    "mask": ["causal", {"window": [1, 0]}],
    "position": {"alibi": True},
}


def test_a_mask_leaves_room_for_both() -> None:
    """With a mask, there are many more mistakes that two can be made of."""
    answers = written(GIVEN, work=NOT_SCALED, only=("weights", "output"))
    scheme = {"marks": 20, "steps": {"weights": 9, "output": 11}, "mistake": 2, "decimals": 2}
    found = attncli.check(CAUSAL, answers, marking=scheme)
    [diagnosis] = found.diagnoses
    assert f"{IN_WORDS['not scaled']}{BESIDES}{IN_WORDS['no mask']}" in diagnosis.mistakes
    assert found.earned is not None
    assert found.earned.points == 16


def test_heads_positions_and_masks_leave_room_for_both() -> None:
    """Scores of Q Q^T and a mask that was forgotten, in both heads; the biases are -1/16 and -1/256
    for each step between the tokens.
    """
    heads = []
    for query, value, slope in zip(
        OF_TWO_HEADS["Q"], OF_TWO_HEADS["V"], (1 / 16, 1 / 256), strict=True
    ):
        q, v = np.array(query, dtype=float), np.array(value, dtype=float)
        places = np.arange(3)
        bias = -slope * abs(places - places[:, None])
        heads.append(softmax(q @ q.T / np.sqrt(2) + bias) @ v)
    output = [[[f"{number:.3f}" for number in row] for row in head] for head in heads]
    found = attncli.check(OF_TWO_HEADS, {"output": output})
    [diagnosis] = found.diagnoses
    both = f"Q Q^T was worked out instead of Q K^T{BESIDES}{IN_WORDS['no mask']}"
    assert both in diagnosis.mistakes


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
