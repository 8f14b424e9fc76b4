"""A matrix of a problem: its arrays are made where somebody asks for them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from attncli.problem.loader import loads
from attncli.problem.matrix import Matrix


def test_it_is_made_once_and_read_only() -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.ones((2, 3))

    matrix = Matrix(make, shape=(2, 3))
    assert (matrix.ndim, made) == (2, [])
    assert matrix.value is matrix.value
    assert (made, matrix.value.flags.writeable) == ([1], False)
    assert matrix.written is None


def test_cells_are_listed_row_after_row() -> None:
    matrix = Matrix(list(map(float, range(6))), list("abcdef"), (2, 3))
    assert matrix.rows() == [[0, 1, 2], [3, 4, 5]]
    np.testing.assert_array_equal(matrix.value, np.arange(6.0).reshape(2, 3))
    assert matrix.rows() == [[0, 1, 2], [3, 4, 5]]
    assert np.array(matrix.written).tolist() == [["a", "b", "c"], ["d", "e", "f"]]
    assert Matrix([True, False], shape=(2,)).value.dtype == bool
    with pytest.raises(ValueError, match="reshape"):
        Matrix([1.0, 2.0], shape=(2, 2)).value  # noqa: B018  # what is asked for is made


def test_what_is_typed_has_its_shape_before_and_after_heads_are_cut() -> None:
    text = "heads: 2\nQ: [[1, 2, 3, 4]]\nK: [[1, 2, 3, 4]]\nV: [[0.50, 6]]"
    values = loads(text.encode(), "p.yaml").given["V"]
    assert (values.shape, values.ndim) == (values.value.shape, 3) == ((2, 1, 1), 3)
    assert values.written is not None
    assert values.written.tolist() == [[["0.50"]], [["6"]]]
    again = pickle.loads(pickle.dumps(values))
    np.testing.assert_array_equal(again.value, [[[0.5]], [[6.0]]])
