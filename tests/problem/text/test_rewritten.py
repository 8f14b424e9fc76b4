"""Matrices of drawn numbers in every notation: none is read wrongly, and hardly one is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest

import attncli
from attncli.errors import AttncliError
from tests.tools.rewriting.notations import NOTATIONS, drawn_matrix

# Where a row can be one of mixed numbers, or digits in groups, people must say which.
DOUBTS = ("can be read as", "can be read in two ways", "has a comma inside the number")


def read_or_said(text: str, columns: int) -> tuple[np.ndarray | None, str]:
    """The numbers, or what is wrong with them."""
    try:
        problem = attncli.problem(Q=text, K=[[0] * columns], V=[[0]])
    except AttncliError as error:
        return None, error.message
    return problem.given["Q"].value, ""


def played(seed: int, times: int) -> tuple[int, list[str]]:
    """How many matrices were read rightly, and what was said of the others."""
    draw = random.Random(seed)
    right, refused = 0, []
    for _ in range(times):
        name, text, numbers = drawn_matrix(draw)
        found, said = read_or_said(text, len(numbers[0]))
        if found is None:
            assert any(doubt in said for doubt in DOUBTS), f"{name}:\n{text}\n{said}"
            refused.append(f"{name}: {said}\n{text}")
            continue
        np.testing.assert_allclose(found, numbers, rtol=1e-15, atol=0, err_msg=f"{name}:\n{text}")
        right += 1
    return right, refused


@pytest.mark.long
def test_matrices_in_every_notation_are_read_back() -> None:
    right, refused = played(0, 300)
    assert right > 280, refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_many_matrices_in_every_notation_are_read_back(seed: int) -> None:
    right, refused = played(seed, 500)
    assert right > 470, refused


def test_every_notation_is_drawn() -> None:
    draw = random.Random(0)
    assert {drawn_matrix(draw)[0] for _ in range(300)} == set(NOTATIONS)
