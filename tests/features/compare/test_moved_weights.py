"""Weights that moved: what each query lost and gained, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from attncli.comparison.moved_weights import KeyChange, moved_rows


def test_from_one_key_to_another() -> None:
    (found,) = moved_rows(np.array([[0.5, 0.5], [1, 0]]), np.array([[0.25, 0.75], [1, 0]]), 1e-9)
    assert (found.row, found.amount, found.sums) == ((0,), 0.25, (1, 1))
    assert (found.lost, found.gained) == ((KeyChange(0, 0.25),), (KeyChange(1, 0.25),))
    assert found.others_lost == found.others_gained == (0, 0)


def test_the_largest_move_comes_first_in_every_head() -> None:
    before = np.array([[[1.0, 0], [1, 0]], [[1, 0], [1, 0]]])
    after = np.array([[[1.0, 0], [0.75, 0.25]], [[0.5, 0.5], [1, 0]]])
    assert [(move.row, move.amount) for move in moved_rows(before, after, 1e-9)] == [
        ((1, 0), 0.5),
        ((0, 1), 0.25),
    ]


def test_many_keys_are_summed_up() -> None:
    (found,) = moved_rows(
        np.array([[1.0, 0, 0, 0, 0, 0, 0]]), np.array([[0, 0.4, 0.3, 0.1, 0.08, 0.06, 0.06]]), 1e-9
    )
    assert found.lost == (KeyChange(0, 1),)
    assert found.gained == (KeyChange(1, 0.4), KeyChange(2, 0.3), KeyChange(3, 0.1))
    assert found.others_gained == (3, pytest.approx(0.2))


def test_a_fourth_key_is_named_rather_than_called_another() -> None:
    (found,) = moved_rows(np.array([[1.0, 0, 0, 0, 0]]), np.array([[0, 0.4, 0.3, 0.2, 0.1]]), 1e-9)
    assert [shift.key for shift in found.gained] == [1, 2, 3, 4]
    assert found.others_gained == (0, 0)


def test_a_row_that_sees_nothing_any_more() -> None:
    (found,) = moved_rows(np.array([[0.5, 0.5]]), np.zeros((1, 2)), 1e-9)
    assert (found.amount, found.gained, found.sums) == (1, (), (1, 0))


def test_rows_that_are_no_numbers_and_small_moves_are_left_out() -> None:
    before = np.array([[np.nan, 1], [0.5, 0.5], [1, 0]])
    after = np.array([[0.5, 0.5], [0.5 - 1e-12, 0.5 + 1e-12], [np.nan, np.inf]])
    assert moved_rows(before, after, 1e-9) == ()
