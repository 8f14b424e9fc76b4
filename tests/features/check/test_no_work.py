"""A sheet of hardly any work earns hardly anything, and who works on with wrong numbers keeps the
marks of what follows.

The right queries, keys and values are worked out by hand from X and the weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import attncli
from tests.features.check.solutions_by_hand import Array, Matrices

EXAM: dict[str, Any] = {
    "X": [[2, -1, 0, -1], [0, 1, 0, 0], [0, 1.5, 0.5, 1]],
    "W_Q": [[0, 1, -1], [1, 0, 0], [-1, -1, -1], [0, -1, 1]],
    "W_K": [[1, -1, -1], [1, -1, 0], [-1, -1, -1], [-1, 0, -1]],
    "W_V": [[2, -1], [-1, 0], [1, 0], [-1, 1]],
    "mask": "causal",
}
SCHEME: dict[str, Any] = {
    "marks": 24,
    "decimals": 2,
    "steps": {"Q": 3, "K": 3, "V": 2, "scores": 4, "scaled": 3, "weights": 5, "output": 4},
    "mistake": 2,
    "slip": 1,
    "digit": 0.5,
}
Q = [[-1, 3, -3], [1, 0, 0], [1, -1.5, 0.5]]
K = [[2, -1, -1], [1, -1, 0], [0, -2, -1.5]]
V = [[6, -3], [-1, 0], [-2, 1]]
ONE_OF_K = [[2, 0, 0], [0, 0, 0], [0, 0, 0]]
# Each with its sign, a term left out or a wrong sum.
SIX_WRONG = [[3, -1, 2], [1, -2, 1], [0, -3, 2.5]]
EVENLY = [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]


def solution(**written: Any) -> Matrices:
    """All steps, each worked out from those before it unless it is `written` otherwise."""
    m: Matrices = {name: np.array(written.get(name, right), dtype=float) for name, right in RIGHT}
    for name, work in LATER.items():
        m[name] = np.array(written[name], dtype=float) if name in written else work(m)
    return m


def softmax_of_what_is_seen(m: Matrices) -> Array:
    exponentials = np.tril(np.exp(m["scaled"]))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


RIGHT = (("Q", Q), ("K", K), ("V", V))
LATER = {
    "scores": lambda m: m["Q"] @ m["K"].T,
    "scaled": lambda m: m["scores"] / math.sqrt(3),
    "weights": softmax_of_what_is_seen,
    "output": lambda m: m["weights"] @ m["V"],
}


def marks(solution: Matrices) -> float:
    texts = {
        name: [[f"{number:.2f}" for number in row] for row in rows]
        for name, rows in solution.items()
    }
    found = attncli.check(EXAM, texts, marking=SCHEME)
    assert found.earned is not None
    return float(found.earned.points)


def test_all_right() -> None:
    assert marks(solution()) == 24


ZEROS = np.zeros((3, 3))


@pytest.mark.parametrize(
    ("written", "least", "most"),
    [
        # Q and V are right, K is lost, and the output is worked out from what there is: 3 + 2 + 4.
        # The scores, the scaled scores and the weights show nothing.
        ({"K": ZEROS}, 9, 9),
        # One number of K more, which nothing follows from.
        ({"K": ONE_OF_K, "scores": ZEROS, "scaled": ZEROS, "weights": EVENLY}, 9, 10),
        # Now a column of scores follows from it, and the weights are worked out. Two keys are 0,
        # and need no work: at least the column whose right numbers differ shows nothing.
        ({"K": ONE_OF_K}, 15, 20),
        # Six errors in K cost no more than a mistake, and all that follows is worked out.
        ({"K": SIX_WRONG}, 22, 22),
    ],
)
def test_a_sheet_earns_what_work_is_in_it(
    written: dict[str, Any], least: float, most: float
) -> None:
    assert least <= marks(solution(**written)) <= most


@pytest.mark.slow
def test_who_puts_numbers_right_in_a_sheet_of_zeros_loses_no_mark() -> None:
    """Q, K and so on, number by number, while all that comes after it is 0 still."""
    right = solution()
    sheet = {name: np.zeros(numbers.shape) for name, numbers in right.items()}
    earned = [marks(sheet)]
    for name in ("Q", "K", "V", "scores", "scaled"):
        for index in np.ndindex(right[name].shape):
            if right[name][index]:
                sheet[name][index] = right[name][index]
                earned.append(marks(sheet))
    assert earned == sorted(earned)
    assert earned[0] == 0
    # What is worked out in full, and nothing more.
    assert earned[-1] == 3 + 3 + 2 + 4 + 3
