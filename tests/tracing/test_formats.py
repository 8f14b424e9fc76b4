"""Number formats: each result is rounded as the format rounds, and labelled with it."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.backend import Backend
from attncli.dtypes import DTYPES
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run
from tests.cases import in_one_test

Build = Callable[..., Problem]


def bfloat16(number: float) -> float:
    """The nearest number with 8 bits of exponent and 7 of fraction, ties to even, bit by bit."""
    bits = struct.unpack("<I", struct.pack("<f", np.float32(number)))[0]
    low, kept = bits & 0xFFFF, bits >> 16
    if low > 0x8000 or (low == 0x8000 and kept & 1):
        kept += 1
    return float(struct.unpack("<f", struct.pack("<I", kept << 16))[0])


def float16(number: float) -> float:
    return struct.unpack("<e", struct.pack("<e", number))[0]


ROUNDED: dict[str, Callable[[float], float]] = {
    "float16": float16,
    "bfloat16": bfloat16,
    "float32": lambda number: float(np.float32(number)),
    "float64": float,
}
singles = st.floats(-60000, 60000, width=32)


@pytest.mark.each_choice
@pytest.mark.parametrize("dtype", DTYPES)
@given(numbers=st.lists(singles, min_size=1, max_size=8))
def test_numbers_are_rounded_to_what_the_format_holds(
    backend: Backend, dtype: str, numbers: list[float]
) -> None:
    rounded = backend.to_host(backend.asarray(np.array(numbers), DTYPES[dtype]))
    assert rounded.tolist() == [ROUNDED[dtype](number) for number in numbers]


@in_one_test(
    ("dtype", "number", "rounded"),
    [
        ("bfloat16", 1 + 2**-8, 1),  # a tie goes to the even neighbour
        ("bfloat16", 1 + 3 * 2**-8, 1 + 2**-6),
        ("bfloat16", 3.4e38, np.inf),
        ("float16", 1 + 2**-11, 1),
        ("float16", 65519.0, 65504),
        ("float16", 65520.0, np.inf),
        ("float16", 2.0**-25, 0),
        ("float32", 16777217.0, 16777216),
    ],
)
def test_ties_and_edges(backend: Backend, dtype: str, number: float, rounded: float) -> None:
    with np.errstate(over="ignore"):
        assert backend.to_host(backend.asarray(np.array([number]), DTYPES[dtype])).tolist() == [
            rounded
        ]


def test_what_is_no_number_stays_none_in_bfloat16(backend: Backend) -> None:
    assert np.isnan(backend.to_host(backend.asarray(np.array([np.nan]), DTYPES["bfloat16"]))).all()


@in_one_test("dtype", DTYPES)
def test_every_step_holds_only_numbers_of_its_format(
    problem: Build, backend: Backend, dtype: str
) -> None:
    random = np.random.default_rng(1)
    shapes = {"X": (4, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 2)}
    given_arrays = {name: random.standard_normal(shape) for name, shape in shapes.items()}
    trace = run(problem(**given_arrays, mask=(Causal(),)), dtype=dtype, backend=backend)
    assert trace.settings.dtype == dtype
    for step in trace.steps.values():
        assert step.value.dtype == DTYPES[dtype].computed
        assert step.value.tolist() == np.vectorize(ROUNDED[dtype])(step.value).tolist()
    full = run(problem(**given_arrays, mask=(Causal(),)))
    np.testing.assert_allclose(trace["output"], full["output"], atol=20 * DTYPES[dtype].epsilon)


@in_one_test("dtype", ["float16", "bfloat16"])
def test_a_step_is_computed_in_float32_and_rounded_once(
    problem: Build, backend: Backend, dtype: str
) -> None:
    """1 and four numbers too small to change it one by one: rounding after each addition would lose
    them.
    """
    small = 2.0**-12 if dtype == "float16" else 2.0**-9
    trace = run(
        problem(Q=[[1] + [small] * 4], K=[[1] * 5], V=[[1]], scale="none"),
        dtype=dtype,
        backend=backend,
    )
    assert trace["scores"].tolist() == [[1 + 4 * small]]


@in_one_test(
    ("dtype", "numbers", "warning"),
    [
        (
            "float16",
            [[1e5, 1]],
            "Q: 1 of 2 cells does not fit into float16 (the first at Q[t1,d1])",
        ),
        (
            "float16",
            [[300, 1], [1, 300]],
            "scores: 2 of 4 cells do not fit into float16 (the first at scores[t1,t1])",
        ),
        (
            "float32",
            [[1e20, 1]],
            "scores: 1 of 1 cells does not fit into float32 (the first at scores[t1,t1])",
        ),
        (
            "float64",
            [[1e200, 1]],
            "scores: 1 of 1 cells does not fit into float64 (the first at scores[t1,t1])",
        ),
    ],
)
def test_an_overflow_names_its_step_and_its_first_cell(
    problem: Build, backend: Backend, dtype: str, numbers: list[list[float]], warning: str
) -> None:
    given_arrays = {"Q": numbers, "K": numbers, "V": np.ones((len(numbers), 1))}
    trace = run(problem(**given_arrays), dtype=dtype, backend=backend)
    assert trace.warnings[0] == warning
    assert [told.replace("K", "Q") for told in trace.warnings[1:]] == [
        warning
    ] * warning.startswith("Q")


def test_a_cell_that_overflows_in_one_only_format(problem: Build) -> None:
    assert run(problem(Q=[[300]], K=[[300]], V=[[1]]), dtype="bfloat16").warnings == ()
