"""Random matrices: which numbers a seed draws, all of their digits or few, and how these count as
written.
"""

from __future__ import annotations

import numpy as np
import pytest

from attncli.problem.loader import loads
from attncli.problem.matrix import Matrix


def drawn(form: str) -> Matrix:
    """The matrix of a form, as the queries of a problem."""
    return loads(f"{{Q: {{{form}}}, K: [[1]], V: [[1]]}}".encode(), "p.yaml").given["Q"]


def test_whole_numbers_come_from_low_to_high_and_are_all_drawn() -> None:
    matrix = drawn("random: [500, 1], seed: 3, low: -2, high: 2, integers: true")
    assert set(matrix.value.ravel().tolist()) == {-2, -1, 0, 1, 2}
    assert matrix.written is not None
    assert set(matrix.written.ravel().tolist()) == {"-2", "-1", "0", "1", "2"}


def test_the_ends_need_not_be_whole() -> None:
    assert set(
        drawn("random: [99, 1], low: -1/2, high: sqrt(5), integers: true").value.ravel()
    ) == {0, 1, 2}


def test_decimals_are_the_doubles_that_their_texts_say() -> None:
    matrix = drawn("random: [200, 1], decimals: 1")
    assert matrix.written is not None
    texts = matrix.written.ravel().tolist()
    assert set(texts) == {f"0.{digit}" for digit in range(10)} | {"1.0"}
    assert [float(text) for text in texts] == matrix.value.ravel().tolist()
    assert float(drawn("random: [1, 1], low: 0.28, high: 0.293, decimals: 2").value.item()) in (
        0.28,
        0.29,
    )


def test_a_seed_gives_the_numbers_of_its_generator() -> None:
    """The n-th number is where NumPy's n-th number from 0 to 1 falls, if 0 to 1 is cut into even
    parts.
    """
    parts = np.random.default_rng(7).random((4, 3)) * 5
    whole = drawn("random: [4, 1], seed: 7, low: 1, high: 5, integers: true").value
    assert whole.ravel().tolist() == [1 + int(part) for part in parts.ravel()[:4]]
    assert (
        drawn("random: [4, 1], seed: 7, low: 1, high: 5, decimals: 0").value.tolist()
        == whole.tolist()
    )


def test_without_them_numbers_have_all_digits() -> None:
    plain = drawn("random: [4, 1], seed: 7")
    assert plain.value.tolist() == drawn("random: [4, 1], seed: 7, integers: false").value.tolist()
    assert plain.value.ravel().tolist() == pytest.approx(np.random.default_rng(7).random(4))
    assert plain.written is None
