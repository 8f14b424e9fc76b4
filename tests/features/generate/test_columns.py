"""No two columns of a matrix are equal or opposite, where its size allows that."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.features.generate.columns import columns_alike

# How many pairs W_V has at least. A third of its numbers is 0 where it has two rows: 2, 3, 3 and 5
# of 6, 8, 10 and 14. Columns with a 0 are (±1, 0) or (0, ±1), so of three of them two are alike,
# and five have four pairs.
FEWEST: list[tuple[dict[str, Any], int]] = [
    ({}, 1),
    ({"mask": "causal"}, 1),
    ({"dims": (4, 2, 3, 3)}, 0),
    ({"dims": (4, 2, 3, 4)}, 1),
    ({"dims": (4, 2, 3, 7)}, 4),
    ({"dims": (4, 3, 3, 5)}, 0),
    ({"dims": (4, 2, 3, 2), "heads": 2}, 0),
    ({"given": "qkv"}, 0),
]


def pairs_alike(matrix: Any) -> int:
    columns = list(zip(*matrix, strict=True))
    return sum(
        one == other or one == tuple(-number for number in other)
        for one, other in combinations(columns, 2)
    )


@pytest.mark.long
@pytest.mark.parametrize(("sizes", "fewest"), FEWEST)
def test_as_few_columns_are_alike_as_the_sizes_allow(sizes: dict[str, Any], fewest: int) -> None:
    for problem in attncli.problems("columns", 6, **sizes):
        trace = attncli.trace(problem)
        alike = {}
        for name in "QKV":
            numbers = np.array(trace[name])
            heads = numbers.reshape(-1, *numbers.shape[-2:]).tolist()
            alike[name] = sum(map(pairs_alike, heads))
        assert alike == {"Q": 0, "K": 0, "V": fewest}


def test_columns_of_another_length_are_not_alike() -> None:
    """(1, 2) and (2, 4) are parallel; (1, 2) and (2, 1) have one length."""
    draws = np.array([[[1.0, 2], [2, 4]], [[1, 2], [2, 1]], [[1, -1], [2, -2]]])
    assert columns_alike(draws).tolist() == [0, 0, 1]
    # Those of two heads are counted together, and not compared.
    of_heads = np.array([[[[1.0, 1], [2, 2]], [[1, 3], [2, 4]]]])
    assert columns_alike(of_heads).tolist() == [1]
