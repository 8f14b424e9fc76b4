"""Masks of every kind against their definition, cell by cell, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.attention.masks import mask_names
from attncli.attention.offset import mask_offset
from attncli.backend import Backend
from attncli.problem.model import (
    Additive,
    Causal,
    Hide,
    Keep,
    Lengths,
    Mask,
    MaskPart,
    Matrix,
    Padding,
    Problem,
    Window,
)
from attncli.tracing import run

Build = Callable[..., Problem]


def visible(part: MaskPart, i: int, j: int, offset: int) -> bool:
    """Whether one part lets query i see key j, as the documentation says it."""
    if isinstance(part, Causal):
        return j <= i + offset
    if isinstance(part, Window):
        near_left = part.left == -1 or j >= i + offset - part.left
        return near_left and (part.right == -1 or j <= i + offset + part.right)
    if isinstance(part, Padding):
        return part.exists[j]
    if isinstance(part, Lengths):
        return j < part.length
    if isinstance(part, Additive):
        return bool(part.matrix.value[i, j] != -np.inf)
    return bool(part.matrix[i, j]) == isinstance(part, Keep)


def added(part: MaskPart, i: int, j: int) -> float:
    return float(part.matrix.value[i, j]) if isinstance(part, Additive) else 0


def brute_force(parts: tuple[MaskPart, ...], corner: str, n: int, m: int) -> np.ndarray:
    exist = [j for j in range(m) if all(visible(p, 0, j, 0) for p in parts if isinstance(p, Padding | Lengths))]
    offset = len(exist) - n if corner == "bottom-right" else 0
    return np.array(
        [
            [
                sum(added(p, i, j) for p in parts) if all(visible(p, i, j, offset) for p in parts) else -np.inf
                for j in range(m)
            ]
            for i in range(n)
        ]
    )


@st.composite
def masks(draw: st.DrawFn) -> tuple[int, int, tuple[MaskPart, ...], str]:
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 5))

    def matrices(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[np.ndarray]:
        return st.lists(st.lists(cells, min_size=m, max_size=m), min_size=n, max_size=n).map(np.array)

    sides = st.integers(-1, 4)
    biases = matrices(st.sampled_from([0.0, -np.inf, -1.5, 2.25, -1e9])).map(lambda rows: Additive(Matrix(rows)))
    part = st.one_of(
        st.just(Causal()),
        st.builds(Window, sides, sides),
        st.lists(st.booleans(), min_size=m, max_size=m).map(lambda exists: Padding((tuple(exists),))),
        st.integers(0, m).map(Lengths),
        matrices(st.booleans()).map(Keep),
        matrices(st.booleans()).map(Hide),
        biases,
    )
    parts = draw(st.lists(part, min_size=1, max_size=4))
    return n, m, tuple(parts), draw(st.sampled_from(["top-left", "bottom-right"]))


@given(mask=masks(), seed=st.integers(0, 2**32 - 1))
def test_every_mask_is_what_its_definition_says(problem: Build, backend: Backend, mask: Any, seed: int) -> None:
    n, m, parts, corner = mask
    random = np.random.default_rng(seed)
    q, k, v = random.standard_normal((n, 2)), random.standard_normal((m, 2)), random.standard_normal((m, 3))
    trace = run(problem(Q=q, K=k, V=v, mask=parts, corner=corner), backend=backend)
    expected = brute_force(parts, corner, n, m)
    np.testing.assert_array_equal(trace["mask"], expected)
    np.testing.assert_allclose(trace["masked"], q @ k.T / np.sqrt(2) + expected, rtol=1e-9)
    hidden = expected == -np.inf
    assert (trace["weights"][hidden] == 0).all()
    assert trace.fully_masked == tuple(np.flatnonzero(hidden.all(axis=1)))
    sums = trace["weights"].sum(axis=1)
    np.testing.assert_allclose(sums, [0 if row in trace.fully_masked else 1 for row in range(n)], atol=1e-12)


THREE = {"Q": np.eye(3), "K": np.eye(3), "V": [[1, 2], [3, 4], [5, 6]]}
INF = np.inf


@pytest.mark.parametrize(
    ("part", "equation"),
    [
        (Causal(), "mask[i, j] = where(j <= i, 0, -inf)"),
        (Window(1, 0), "mask[i, j] = where(j >= i - left and j <= i + right, 0, -inf)"),
        (Window(-1, 2), "mask[i, j] = where(j <= i + right, 0, -inf)"),
        (Padding(((True, False, True),)), "mask[i, j] = where(exists[j] == 1, 0, -inf)"),
        (Lengths((2,)), "mask[i, j] = where(j < length, 0, -inf)"),
        (Keep(np.eye(3, dtype=bool)), "mask[i, j] = where(keep[i, j] == 1, 0, -inf)"),
        (Hide(np.eye(3, dtype=bool)), "mask[i, j] = where(hide[i, j] == 0, 0, -inf)"),
        (Additive(Matrix(np.ones((3, 3)))), "mask[i, j] = additive[i, j]"),
    ],
    ids=lambda value: type(value).__name__.lower() if not isinstance(value, str) else "",
)
def test_each_part_is_one_equation(problem: Build, part: MaskPart, equation: str) -> None:
    trace = run(problem(mask=(part,), **THREE))
    assert trace.steps["mask"].rule.source == equation
    assert trace.settings.mask == (type(part).__name__.lower(),)


def test_a_window_open_on_both_sides_hides_nothing(problem: Build) -> None:
    trace = run(problem(mask=(Window(-1, -1),), **THREE))
    assert (trace["mask"] == 0).all()


def test_parts_are_combined_in_one_equation(problem: Build) -> None:
    bias = Additive(Matrix(np.full((3, 3), 0.5)))
    trace = run(problem(mask=(Causal(), bias, Lengths((2,)), bias), **THREE))
    assert trace.steps["mask"].rule.source == (
        "mask[i, j] = where(j <= i and j < length, additive[i, j] + additive_2[i, j], -inf)"
    )
    np.testing.assert_array_equal(trace["mask"], [[1, -INF, -INF], [1, 1, -INF], [1, 1, -INF]])


@pytest.mark.parametrize(
    ("corner", "parts", "queries", "keys", "offset"),
    [
        ("top-left", (Causal(),), 2, 5, 0),
        ("bottom-right", (Causal(),), 2, 5, 3),
        ("bottom-right", (Causal(),), 5, 2, -3),
        ("bottom-right", (Causal(), Lengths((4,))), 2, 5, 2),
        ("bottom-right", (Causal(), Padding(((True, True, False, True, False),))), 2, 5, 1),
    ],
)  # fmt: skip
def test_the_corner(corner: Any, parts: tuple[MaskPart, ...], queries: int, keys: int, offset: int) -> None:
    assert mask_offset(Mask(parts, corner), queries, keys) == offset
    assert mask_names(Mask(parts, corner))[0] == "causal"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_query_that_sees_nothing(problem: Build, backend: Backend, dtype: str) -> None:
    keep = np.array([[True, False, False], [False, False, False], [True, True, True]])
    trace = run(problem(mask=(Keep(keep),), tokens=("a", "b", "c"), **THREE), dtype=dtype, backend=backend)
    np.testing.assert_array_equal(trace["weights"][:2], [[1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(trace["output"][:2], [[1, 2], [0, 0]])
    assert trace.fully_masked == (1,)
    assert trace.warnings == ('query "b" (row 1) sees no key: its weights and its output are 0',)


def test_a_query_that_sees_nothing_beside_one_that_needs_the_shift(problem: Build, backend: Backend) -> None:
    keep = np.array([[False, False], [True, True]])
    trace = run(problem(Q=[[1], [1000]], K=[[1], [0]], V=[[3], [5]], mask=(Keep(keep),)), backend=backend)
    np.testing.assert_array_equal(trace["row_max"], [-INF, 1000])
    np.testing.assert_array_equal(trace["shifted"], [[-INF, -INF], [0, -1000]])
    np.testing.assert_array_equal(trace["output"], [[0], [3]])
