"""Arrays that are made where someone calculates with them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from attncli.problem.later import Cells, Later
from attncli.problem.loader import loads


def test_it_is_made_once_and_read_only() -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.ones((2, 3))

    later = Later((2, 3), make)
    assert (later.ndim, made) == (2, [])
    assert later.array is later.array
    assert (made, later.array.flags.writeable) == ([1], False)


@pytest.mark.parametrize("number", [6, 40_000])
def test_cells_are_listed_row_after_row(number: int) -> None:
    cells = Cells(list(range(number)), (2, number // 2), float)
    assert cells.rows()[1][:2] == [number // 2, number // 2 + 1]
    np.testing.assert_array_equal(cells.array, np.arange(float(number)).reshape(2, -1))
    assert cells.rows()[1][:2] == [number // 2, number // 2 + 1]


def test_what_is_typed_has_its_shape_before_and_after_heads_are_cut() -> None:
    text = "heads: 2\nQ: [[1, 2, 3, 4]]\nK: [[1, 2, 3, 4]]\nV: [[0.50, 6]]"
    values = loads(text.encode(), "p.yaml").given["V"]
    assert (values.shape, values.ndim) == (values.value.shape, 3) == ((2, 1, 1), 3)
    assert values.written is not None
    assert values.written.tolist() == [[["0.50"]], [["6"]]]
    again = pickle.loads(pickle.dumps(values))
    np.testing.assert_array_equal(again.value, [[[0.5]], [[6.0]]])
