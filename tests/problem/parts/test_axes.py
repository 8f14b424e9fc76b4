"""The leading axes of arrays: which letter each has, how long each is, and how many rows there are
behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncli.problem.matrix import Matrix
from attncli.problem.parts.axes import (
    Axes,
    axes_of,
    leads,
    letters_of,
    past_length,
    rows,
    sizes,
    width,
)
from tests.cases import in_one_test


def of_shapes(**shapes: tuple[int, ...]) -> dict[str, Matrix]:
    return {name: Matrix(np.zeros(shape)) for name, shape in shapes.items()}


@in_one_test(
    ("name", "letters"),
    [
        ("X", ["", "b"]),
        ("context", ["", "b"]),
        ("Q", ["", "h", "bh"]),
        ("K", ["", "g", "bg"]),
        ("V", ["", "g", "bg"]),
        ("past_K", ["", "g", "bg"]),
        ("past_V", ["", "g", "bg"]),
        ("W_Q", ["", "h"]),
        ("W_K", ["", "g"]),
        ("W_V", ["", "g"]),
        ("W_O", [""]),
        ("W_a", [""]),
    ],
)
def test_letters_of_matrices(name: str, letters: list[str]) -> None:
    assert [letters_of(name, 2 + extra) for extra in range(len(letters))] == [
        tuple(found) for found in letters
    ]


@pytest.mark.parametrize(
    ("name", "letters"),
    [("b_Q", ["", "h"]), ("b_K", ["", "g"]), ("b_V", ["", "g"]), ("b_O", [""]), ("v", [""])],
)
def test_letters_of_vectors(name: str, letters: list[str]) -> None:
    assert [letters_of(name, 1 + extra) for extra in range(len(letters))] == [
        tuple(found) for found in letters
    ]


@pytest.mark.parametrize("name", ["slopes", "sink"])
def test_one_number_for_each_head(name: str) -> None:
    assert letters_of(name, 1) == ("h",)


@in_one_test(
    ("shapes", "axes"),
    [
        ({"Q": (3, 4), "K": (3, 4), "V": (3, 4)}, Axes()),
        ({"Q": (1, 3, 4), "K": (1, 3, 4), "V": (1, 3, 4)}, Axes(None, 1, 1)),
        ({"Q": (8, 3, 4), "K": (2, 3, 4), "V": (2, 3, 4)}, Axes(None, 8, 2)),
        ({"Q": (5, 8, 3, 4), "K": (5, 2, 3, 4), "V": (3, 4)}, Axes(5, 8, 2)),
        ({"X": (5, 3, 4), "W_Q": (4, 4), "W_K": (4, 4), "W_V": (4, 4)}, Axes(5, None, None)),
        (
            {"X": (5, 3, 4), "W_Q": (8, 4, 2), "W_K": (2, 4, 2), "W_V": (2, 4, 2), "b_Q": (8, 2)},
            Axes(5, 8, 2),
        ),
        ({"Q": (3, 4), "K": (3, 4), "V": (3, 4), "sink": (1,), "slopes": (1,)}, Axes()),
    ],
)
def test_how_long_each_is(shapes: Any, axes: Axes) -> None:
    assert axes_of(of_shapes(**shapes)) == axes


@pytest.mark.parametrize(
    ("axes", "group"),
    [
        (Axes(), 1),
        (Axes(None, 8, None), 1),
        (Axes(None, 8, 8), 1),
        (Axes(None, 8, 2), 4),
        (Axes(3, 6, 1), 6),
    ],
)
def test_a_head_of_keys_serves_a_group(axes: Axes, group: int) -> None:
    assert axes.group == group


def test_keys_of_as_many_heads_are_read_by_the_head_of_the_query() -> None:
    keys = Matrix(np.zeros((5, 2, 3, 4)))
    assert leads("K", keys, Axes(5, 8, 2)) == ("b", "g")
    assert leads("K", keys, Axes(5, 2, 2)) == ("b", "h")
    assert leads("K", Matrix(np.zeros((3, 4))), Axes(5, 8, 2)) == ()
    assert leads("Q", Matrix(np.zeros((8, 3, 4))), Axes(5, 8, 2)) == ("h",)


def test_rows_and_widths_lie_behind_them() -> None:
    given = of_shapes(
        X=(5, 3, 7),
        context=(5, 6, 9),
        W_Q=(8, 7, 2),
        W_K=(2, 9, 2),
        W_V=(2, 9, 4),
        past_K=(5, 2, 4, 2),
    )
    assert [rows(name, given) for name in "QKV"] == [3, 6, 6]
    assert [width(name, given) for name in "QKV"] == [2, 2, 4]
    assert past_length(given) == 4
    assert sizes(given) == (3, 10)
    alone = of_shapes(Q=(5, 8, 3, 2), K=(6, 2), V=(6, 4))
    assert (past_length(alone), sizes(alone), width("V", alone)) == (0, (3, 6), 4)
