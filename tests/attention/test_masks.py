"""Masks of every kind against their definition, cell by cell, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attncli.backend import Backend
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.any_of import AnyOf
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.chunk import Chunk
from attncli.problem.parts.masks.documents import Documents
from attncli.problem.parts.masks.keep_and_hide import Hide, Keep
from attncli.problem.parts.masks.lengths import First, Lengths
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.parts.masks.window import Window
from attncli.tracing import Trace, run, slices
from tests.cases import in_one_test

Build = Callable[..., Problem]


def at(matrix: Any, *place: int) -> Any:
    """The cell at (entry, head, query, key) of an array that may lack the first axes, or have 1
    there for all.
    """
    array = np.asarray(matrix)
    return array[
        tuple(
            0 if size == 1 else at
            for at, size in zip(place[-array.ndim :], array.shape, strict=True)
        )
    ]


def visible(part: MaskPart, place: tuple[int, int, int, int], offset: int) -> bool:
    """Whether one part lets query i see key j, as the documentation says it."""
    entry, _, i, j = place
    if isinstance(part, Causal):
        return j <= i + offset
    if isinstance(part, Window):
        near_left = part.left == -1 or j >= i + offset - part.left
        return near_left and (part.right == -1 or j <= i + offset + part.right)
    if isinstance(part, Padding):
        return part.exists[entry if len(part.exists) > 1 else 0][j]
    if isinstance(part, Lengths | First):
        return j < part.lengths[entry if len(part.lengths) > 1 else 0]
    if isinstance(part, Documents):
        rows = part.numbers.rows()
        row = rows[entry if len(rows) > 1 else 0]
        return 0 <= i + offset < len(row) and bool(row[i + offset] == row[j])
    if isinstance(part, Chunk):
        return (i + offset) // part.length == j // part.length
    if isinstance(part, AnyOf):
        return any(all(visible(each, place, offset) for each in mask.parts) for mask in part.masks)
    if isinstance(part, Additive):
        return bool(at(part.matrix.value, *place) != -np.inf)
    return bool(at(part.matrix, *place)) == isinstance(part, Keep)


def added(part: MaskPart, place: tuple[int, int, int, int]) -> float:
    return float(at(part.matrix.value, *place)) if isinstance(part, Additive) else 0


def brute_force(
    parts: tuple[MaskPart, ...], corner: str, shape: tuple[int, int, int, int], past: int
) -> np.ndarray:
    """What is added to every cell of entry × head × query × key."""
    batch, _, n, m = shape
    exist = [
        sum(
            all(visible(p, (entry, 0, 0, j), 0) for p in parts if isinstance(p, Padding | Lengths))
            for j in range(m)
        )
        for entry in range(batch)
    ]
    mask = np.empty(shape)
    for place in np.ndindex(shape):
        offset = exist[place[0]] - n if corner == "bottom-right" else past
        seen = all(visible(p, place, offset) for p in parts)
        mask[place] = sum(added(p, place) for p in parts) if seen else -np.inf
    return mask


@st.composite
def masks(
    draw: st.DrawFn, leading: tuple[int, ...] = ()
) -> tuple[int, int, tuple[MaskPart, ...], str]:
    """(n, m, parts, corner) for arrays with these axes before their rows: none, heads, or batch ×
    heads.
    """
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    entries = leading[0] if len(leading) == 2 else 1
    axes = st.integers(0, len(leading)).flatmap(
        lambda count: st.tuples(
            *(st.sampled_from([1, length]) for length in leading[len(leading) - count :])
        )
    )

    def matrices(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[np.ndarray]:
        return axes.flatmap(
            lambda before: arrays(np.array(draw(cells)).dtype, (*before, n, m), elements=cells)
        )

    def of_entries(one: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
        return st.sampled_from([1, entries]).flatmap(lambda count: st.tuples(*[one] * count))

    sides = st.integers(-1, 4)
    biases = matrices(st.sampled_from([0.0, -np.inf, -1.5, 2.25, -1e9])).map(
        lambda rows: Additive(Matrix(rows))
    )
    rows = of_entries(st.tuples(*[st.integers(-1, 2)] * m))
    hiding = st.one_of(
        st.just(Causal()),
        st.builds(Window, sides, sides),
        of_entries(st.tuples(*[st.booleans()] * m)).map(Padding),
        of_entries(st.integers(0, m)).map(Lengths),
        matrices(st.booleans()).map(Keep),
        matrices(st.booleans()).map(Hide),
        st.builds(Chunk, st.integers(1, 4)),
        of_entries(st.integers(0, m)).map(First),
        # A query behind the last key has no document that is known.
        rows.map(lambda numbers: Documents(Matrix.of(numbers))) if n <= m else st.just(Causal()),
    )
    alternatives = st.lists(
        st.lists(hiding, max_size=2).map(lambda found: Mask(tuple(found))), min_size=1, max_size=3
    )
    shown = alternatives.map(lambda found: AnyOf(tuple(found)))
    part = st.one_of(hiding, biases, shown)
    parts = draw(st.lists(part, min_size=1, max_size=4))
    return n, m, tuple(parts), draw(st.sampled_from(["top-left", "bottom-right"]))


LEADING = [(), (2,), (3, 2), (2, 1), (1, 1)]


@pytest.mark.each_choice
@pytest.mark.parametrize("leading", LEADING, ids=str)
@given(data=st.data(), past=st.integers(0, 2), seed=st.integers(0, 2**32 - 1))
def test_every_mask_is_what_its_definition_says(
    problem: Build, backend: Backend, leading: tuple[int, ...], data: Any, past: int, seed: int
) -> None:
    n, m, parts, corner = data.draw(masks(leading))
    past = min(past, m - 1)  # so many of the m keys come from a cache
    random = np.random.default_rng(seed)
    q, k, v = (
        random.standard_normal((*leading, rows, columns))
        for rows, columns in ((n, 2), (m, 2), (m, 3))
    )
    given = {"Q": q, "K": k[..., past:, :], "V": v[..., past:, :]}
    cache = {"past_K": k[..., :past, :], "past_V": v[..., :past, :]} if past else {}
    trace = run(problem(**given, **cache, mask=parts, corner=corner), backend=backend)
    expected = brute_force(parts, corner, (*(1, 1, *leading)[-2:], n, m), past).reshape(
        *leading, n, m
    )
    hidden = expected == -np.inf
    np.testing.assert_array_equal(spread(trace, "mask", "scores"), expected)
    np.testing.assert_allclose(trace["masked"], trace["scaled"] + expected, rtol=1e-9)
    assert (trace["weights"][hidden] == 0).all()
    dark = [tuple(map(int, row)) for row in np.argwhere(hidden.all(axis=-1))]
    assert trace.fully_masked == tuple(row if leading else row[0] for row in dark)
    np.testing.assert_allclose(trace["weights"].sum(axis=-1), ~hidden.all(axis=-1), atol=1e-12)


def spread(trace: Trace, name: str, like: str) -> np.ndarray:
    """The value of a step repeated along the axes that another step has besides."""
    own, whole = trace.steps[name].rule.axis_names, trace.steps[like].rule.axis_names
    missing = tuple(at for at, axis in enumerate(whole) if axis not in own)
    return np.broadcast_to(np.expand_dims(trace[name], missing), trace[like].shape)


ROWS, ENTRIES = np.ones((2, 3), dtype=bool), (np.ones((2, 2, 2, 2)), np.ones((2, 2, 3, 2)))


@in_one_test(
    ("parts", "corner", "axes"),
    [
        ((Causal(),), "top-left", ()),
        ((Causal(),), "bottom-right", ()),
        ((Lengths((2,)),), "top-left", ()),
        ((Lengths((2, 3)),), "top-left", ("batch",)),
        ((Causal(), Lengths((2, 3))), "top-left", ("batch",)),
        (
            (Window(1, 0), Padding(((True, True, False), (True, False, True)))),
            "bottom-right",
            ("batch",),
        ),
        ((Padding(((True, True, False),)),), "top-left", ()),
        ((Keep(ROWS[None, None]),), "top-left", ()),
        ((Keep(np.ones((2, 2, 3), dtype=bool)),), "top-left", ("head",)),
        ((Keep(np.ones((1, 2, 2, 3), dtype=bool)),), "top-left", ("head",)),
        ((Hide(np.ones((2, 1, 2, 3), dtype=bool)),), "top-left", ("batch",)),
        ((Hide(np.zeros((2, 2, 2, 3), dtype=bool)),), "top-left", ("batch", "head")),
        ((Lengths((2, 3)), Additive(Matrix(np.ones((2, 2, 3))))), "top-left", ("batch", "head")),
    ],
)
def test_a_mask_has_only_the_axes_it_differs_on(
    problem: Build, parts: tuple[MaskPart, ...], corner: str, axes: tuple[str, ...]
) -> None:
    q, k = ENTRIES
    step = run(problem(Q=q, K=k, V=k, mask=parts, corner=corner)).steps["mask"]
    assert step.rule.axis_names == (*axes, "query", "key")
    assert step.shape == (*[2] * len(axes), 2, 3)
    assert [labels[0] for labels in step.labels] == [
        f"{'entry' if axis == 'batch' else axis} 0" for axis in axes
    ] + [
        "t1",
        "c1",
    ]


def test_lengths_and_corners_of_each_entry_by_hand(problem: Build) -> None:
    """Two queries; the first entry has all three keys (offset 1), the second only two (offset
    0).
    """
    q, k = ENTRIES
    trace = run(problem(Q=q, K=k, V=k, mask=(Causal(), Lengths((3, 2))), corner="bottom-right"))
    np.testing.assert_array_equal(
        trace["mask"], [[[0, 0, -INF], [0, 0, 0]], [[0, -INF, -INF], [0, 0, -INF]]]
    )
    assert (
        trace.steps["mask"].rule.source
        == "mask[b, i, j] = where(j <= i + offset[b] and j < length[b], 0, -inf)"
    )
    assert trace.parameters["offset"].value.tolist() == [1, 0]
    assert "(offset 1, 0)" in trace.steps["mask"].rule.meaning
    np.testing.assert_allclose(trace["weights"][0, 1], [[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(trace["weights"][1, 1], [[1, 0, 0], [0.5, 0.5, 0]])


def test_an_entry_is_told_of_its_own_keys_alone(problem: Build) -> None:
    """The same problem: what is said of all entries names both lengths and offsets, what is said of
    one its own.
    """
    q, k = ENTRIES
    exists = ((True, True, False), (True, False, False))
    mask = (Causal(), Lengths((1, 2)), Padding(exists), Keep(np.ones((2, 3), dtype=bool)))
    trace = run(problem(Q=q, K=k, V=k, mask=mask, corner="bottom-right"))
    places = ({}, {"b": 0}, {"b": 1}, {"h": 0, "b": 0})
    whole, *entries, head = (
        slices.trace_at(trace, place).steps["mask"].rule.meaning for place in places
    )
    for sentence in (
        "(offset -1, -1)",
        "the first keys of each entry exist: 1, 2.",
        "3 of 6 keys are padding",
    ):
        assert sentence in whole
        assert not any(sentence in meaning for meaning in entries)
    assert all(
        "corner (offset -1). Lengths" in meaning
        and "Keep: a query sees the keys with a 1." in meaning
        for meaning in entries
    )
    assert "only the first key exists. Padding: 1 of 3 keys is padding" in entries[0]
    assert "only the first 2 keys exist. Padding: 2 of 3 keys are padding" in entries[1]
    assert head == entries[0]


def test_a_cache_moves_the_diagonal(problem: Build) -> None:
    """Two cached keys and two new ones: query i stands at position i + 2."""
    two = np.ones((2, 2))
    trace = run(
        problem(Q=two, K=two, V=two, past_K=two, past_V=two, mask=(Causal(), Window(1, -1)))
    )
    np.testing.assert_array_equal(trace["mask"], [[-INF, 0, 0, -INF], [-INF, -INF, 0, 0]])
    assert trace.parameters["offset"].value == 2
    assert "(offset 2, the length of the cache)" in trace.steps["mask"].rule.meaning


def test_rows_that_see_nothing_are_told_by_head_and_entry(problem: Build) -> None:
    """Head 1 of entry 0 hides everything from the second query, and entry 1 has no keys at all."""
    q, k = ENTRIES
    keep = np.ones((1, 2, 2, 3), dtype=bool)
    keep[0, 1, 1] = False
    trace = run(problem(Q=q, K=k, V=k, mask=(Keep(keep), Lengths((3, 0))), tokens=("a", "b")))
    assert trace.fully_masked == ((0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1))
    assert set(trace.warnings) == {
        'query "a" (row 0) sees no key in entry 1: its weights and its output are 0 there',
        (
            'query "b" (row 1) sees no key in entry 0, head 1 and entry 1: its weights and its'
            " output are 0 there"
        ),
    }
    assert (trace["output"][1] == 0).all()
    one = run(problem(Q=q[0], K=k[0], V=k[0], mask=(Keep(keep[0]),), tokens=("a", "b")))
    assert one.fully_masked == ((1, 1),)
    assert one.warnings == (
        'query "b" (row 1) sees no key in head 1: its weights and its output are 0 there',
    )


INF = np.inf
THREE = {"Q": np.eye(3), "K": np.eye(3), "V": [[1, 2], [3, 4], [5, 6]]}


@in_one_test(
    ("part", "equation"),
    [
        (Causal(), "mask[i, j] = where(j <= i, 0, -inf)"),
        (Window(1, 2), "mask[i, j] = where(j >= i - left and j <= i + right, 0, -inf)"),
        (Window(1, 0), "mask[i, j] = where(j >= i - left and j <= i, 0, -inf)"),
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
    assert (
        trace.steps["mask"].rule.source
        == "mask[i, j] = where(j <= i and j < length, additive[i, j] + additive_2[i, j], -inf)"
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
)
def test_the_corner(
    corner: Any, parts: tuple[MaskPart, ...], queries: int, keys: int, offset: int
) -> None:
    assert Mask(parts, corner).offset(queries, keys, past=0).by == (offset,)
    assert Mask(parts, corner).names[0] == "causal"


@in_one_test(
    ("corner", "parts", "past", "offsets"),
    [
        ("top-left", (Causal(),), 4, (4,)),
        # lengths say nothing about where queries stand
        ("top-left", (Causal(), Lengths((3, 1))), 2, (2,)),
        # all keys, those of the cache among them, less queries
        ("bottom-right", (Causal(),), 4, (3,)),
        ("bottom-right", (Causal(), Lengths((5, 1, 0))), 0, (3, -1, -2)),
        (
            "bottom-right",
            (Lengths((2, 5)), Padding(((True, False, True, True, True),))),
            0,
            (-1, 2),
        ),
        ("bottom-right", (Lengths((4,)), Padding(((False,) * 5, (True,) * 5))), 0, (-2, 2)),
    ],
)
def test_the_corner_of_a_cache_and_of_each_entry(
    corner: Any, parts: tuple[MaskPart, ...], past: int, offsets: tuple[int, ...]
) -> None:
    assert Mask(parts, corner).offset(2, 5, past).by == offsets


@in_one_test("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_query_that_sees_nothing(problem: Build, backend: Backend, dtype: str) -> None:
    keep = np.array([[True, False, False], [False, False, False], [True, True, True]])
    trace = run(
        problem(mask=(Keep(keep),), tokens=("a", "b", "c"), **THREE), dtype=dtype, backend=backend
    )
    np.testing.assert_array_equal(trace["weights"][:2], [[1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(trace["output"][:2], [[1, 2], [0, 0]])
    assert trace.fully_masked == (1,)
    assert trace.warnings == ('query "b" (row 1) sees no key: its weights and its output are 0',)


def test_a_query_that_sees_nothing_beside_one_that_needs_the_shift(
    problem: Build, backend: Backend
) -> None:
    keep = np.array([[False, False], [True, True]])
    trace = run(
        problem(Q=[[1], [1000]], K=[[1], [0]], V=[[3], [5]], mask=(Keep(keep),)), backend=backend
    )
    np.testing.assert_array_equal(trace["row_max"], [-INF, 1000])
    np.testing.assert_array_equal(trace["shifted"], [[-INF, -INF], [0, -1000]])
    np.testing.assert_array_equal(trace["output"], [[0], [3]])
