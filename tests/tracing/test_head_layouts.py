"""Layouts of one array, each made by hand from the other."""

from __future__ import annotations

import numpy as np
import pytest

from attncli.tracing.head_layouts import (
    arrange,
    common_shape,
    index_before,
    other_layout,
    same_layout,
    shared_layout,
)
from tests.cases import in_one_test

ROWS = ("query", "feature")
RANDOM = np.random.default_rng(3)


@in_one_test(
    ("a", "b", "same"),
    [
        ((2, 3), (1, 1, 2, 3), True),
        ((1, 2, 3), (2, 3), True),
        ((1, 3), (3,), True),
        ((2, 3), (2, 1, 3), False),
        ((2, 3), (3, 2), False),
        ((3, 1), (3,), False),
        ((2, 2, 3), (2, 3), False),
        ((), (1,), True),
    ],
)
def test_leading_axes_of_length_1_may_be_more_or_less(
    a: tuple[int, ...], b: tuple[int, ...], same: bool
) -> None:
    assert same_layout(a, b) is same
    assert (common_shape(a, b, ("query", "key")) is not None) is same


@in_one_test(
    ("axes", "apart", "joined"),
    [
        (ROWS, (4, 3, 2), (3, 8)),
        (("key", "value"), (1, 4, 3, 2), (3, 8)),
        (ROWS, (5, 4, 3, 2), (5, 3, 8)),
        (("model", "feature"), (4, 3, 2), (3, 8)),
        (("feature",), (4, 2), (8,)),
        (("query", "key"), (4, 3, 2), None),
        (("feature", "key"), (4, 3, 2), None),
        (ROWS, (3, 2), None),
    ],
)
def test_heads_side_by_side_are_split(
    axes: tuple[str, ...], apart: tuple[int, ...], joined: tuple[int, ...] | None
) -> None:
    flat = joined or (apart[-2], apart[-1] * 4)
    expected = apart if joined else None
    assert common_shape(apart, flat, axes) == common_shape(flat, apart, axes) == expected


def test_the_first_features_are_those_of_head_0() -> None:
    heads = RANDOM.normal(size=(4, 3, 2))
    flat = np.concatenate(heads, axis=1)  # side by side
    np.testing.assert_array_equal(arrange(flat, (4, 3, 2), ROWS), heads)
    np.testing.assert_array_equal(
        arrange(np.stack([flat, flat]), (2, 4, 3, 2), ROWS), np.stack([heads, heads])
    )
    np.testing.assert_array_equal(arrange(heads[None], (4, 3, 2), ROWS), heads)
    np.testing.assert_array_equal(
        arrange(np.arange(8.0), (4, 2), ("feature",)), np.arange(8.0).reshape(4, 2)
    )


@in_one_test(
    ("own", "shape", "axes"),
    [
        ((3, 8), (4, 3, 2), ROWS),
        ((1, 3, 8), (4, 3, 2), ROWS),
        ((5, 3, 8), (5, 4, 3, 2), ROWS),
        ((8,), (4, 2), ("feature",)),
        ((1, 1, 2, 3), (2, 3), ROWS),
        ((2, 3), (1, 2, 3), ("query", "key")),
        ((), (), ()),
    ],
)
def test_a_cell_is_found_in_its_own_array(
    own: tuple[int, ...], shape: tuple[int, ...], axes: tuple[str, ...]
) -> None:
    array = RANDOM.normal(size=own)
    there = arrange(array, shape, axes)
    for index in np.ndindex(shape):
        assert array[index_before(index, shape, own, axes)] == there[index]


@pytest.mark.parametrize(
    ("few", "many", "group"),
    [
        ((2, 5, 3), (4, 5, 3), 2),
        ((1, 5, 3), (4, 5, 3), 4),
        ((5, 3), (4, 5, 3), 4),
        ((7, 2, 5, 3), (7, 6, 5, 3), 3),
        ((2, 5, 3), (1, 4, 5, 3), 2),
    ],
)
def test_heads_of_keys_that_are_repeated(
    few: tuple[int, ...], many: tuple[int, ...], group: int
) -> None:
    axes, keys = ("key", "feature"), RANDOM.normal(size=few)
    assert common_shape(few, many, axes, group) == common_shape(many, few, axes, group) == many
    assert common_shape(few, many, axes, group + 1) is common_shape(few, many, axes) is None
    assert common_shape(few, many, ("query", "feature"), group) is None
    assert shared_layout(few, many, axes) == "repeated"
    there = arrange(keys, many, axes)
    for index in np.ndindex(many):
        assert keys[index_before(index, many, few, axes)] == there[index]
    np.testing.assert_array_equal(
        there.reshape(-1, 5, 3)[: 2 * group : group], keys.reshape(-1, 5, 3)[:2]
    )


def test_another_layout_is_known() -> None:
    array = RANDOM.normal(size=(2, 4, 3, 5))
    assert other_layout(array, array.swapaxes(-1, -2), 1e-9) == "transposed"
    assert other_layout(array, array.swapaxes(-3, -2), 1e-9) == "exchanged"
    assert other_layout(array[:1], array[0].swapaxes(-3, -2), 1e-9) == "exchanged"
    assert (
        other_layout(array, array.mean(axis=1), 1e-9)
        == other_layout(array.mean(axis=1), array, 1e-9)
        == "averaged"
    )
    # heads side by side, then viewed as heads × rows × features
    flat = np.concatenate(array[0], axis=1)
    assert other_layout(array[0], flat.reshape(4, 3, 5), 1e-9) == "recut"
    assert other_layout(array, array + 1, 1e-9) is None
    assert other_layout(np.ones(2), np.ones(3), 1e-9) is None
    assert other_layout(array[0, 0], array[0, 1], 1e-9) is None


def test_an_array_of_equal_sides_is_known_by_its_numbers() -> None:
    array = RANDOM.normal(size=(3, 3, 3))
    assert other_layout(array, array.swapaxes(-1, -2), 1e-9) == "transposed"
    assert other_layout(array, array.swapaxes(-3, -2), 1e-9) == "exchanged"
