"""The softmax at every size of score: plain where that is safe, shifted where it must be, and never
NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.backend import Backend
from attncli.dtypes import DTYPES
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run
from tests.cases import in_one_test

Build = Callable[..., Problem]
FORMATS = list(DTYPES)


def scores_of(problem: Build, rows: Any, **choices: Any) -> Problem:
    """A problem with these very scores: K is the unit matrix and nothing is scaled."""
    width = len(rows[0])
    return problem(
        Q=rows, K=np.eye(width), V=np.arange(1.0, width + 1)[:, None], **{"scale": "none"} | choices
    )


@pytest.mark.each_choice
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("size", [1e3, 1e4])
@pytest.mark.parametrize("sign", [(1, 1, 1), (-1, -1, -1), (1, -1, 1), (1, 0, -1), (-1, -1, 0)])
def test_huge_scores(
    problem: Build, backend: Backend, dtype: str, size: float, sign: tuple[int, ...]
) -> None:
    scores = [[size * one for one in sign], [0, 0, 0]]
    trace = run(scores_of(problem, scores), dtype=dtype, backend=backend)
    heaviest = [one == max(sign) for one in sign]
    digits = 2 * DTYPES[dtype].epsilon
    np.testing.assert_allclose(trace["weights"][0], np.array(heaviest) / sum(heaviest), rtol=digits)
    np.testing.assert_allclose(trace["weights"][1], [1 / 3] * 3, rtol=digits)
    assert trace.warnings == ()
    assert ("shifted" in trace) == (sign != (-1, -1, 0))  # e^0 beside them is all that counts


@pytest.mark.each_choice
@pytest.mark.parametrize("dtype", FORMATS)
@given(data=st.data())
def test_never_nan_and_every_row_sums_to_1(
    problem: Build, backend: Backend, dtype: str, data: st.DataObject
) -> None:
    sizes = st.sampled_from([0, 1e-3, 1, 5, 20, 88, 104, 700, 1e4]).flatmap(
        lambda size: st.sampled_from([size, -size])
    )
    scores = data.draw(st.lists(st.lists(sizes, min_size=3, max_size=3), min_size=1, max_size=3))
    base = data.draw(st.sampled_from([None, 2.0]))
    causal = data.draw(st.sampled_from([(), (Causal(),)]))
    trace = run(
        scores_of(problem, scores, exp_base=base, mask=causal), dtype=dtype, backend=backend
    )
    assert np.isfinite(trace["weights"]).all()
    assert np.isfinite(trace["row_sum"]).all()
    np.testing.assert_allclose(trace["weights"].sum(axis=1), 1, atol=4 * DTYPES[dtype].epsilon)


@in_one_test(
    ("dtype", "score", "shifted"),
    [
        ("float64", 700, False),  # e^700 is 1.01e304
        ("float64", 710, True),  # e^710 is 2.2e308, more than the largest double
        ("float64", -7, False),  # e^-7 is 0.00091
        ("float64", -8, True),  # e^-8 is 0.00034: a whole row shown as 0.000, and divided by 0.000
        ("float64", -700, True),  # e^-700 is a normal number, but what stands beside it is not
        ("float32", 80, False),
        ("float32", 89, True),  # e^89 is 4.5e38; the largest is 3.4e38
        ("bfloat16", 89, True),
        ("float16", 9, False),
        ("float16", 12, True),  # e^12 is 162755; the largest is 65504
        ("float16", -1, False),
        ("float16", -12, True),
    ],
)
def test_the_shift_comes_only_where_it_is_needed(
    problem: Build, dtype: str, score: float, shifted: bool
) -> None:
    trace = run(scores_of(problem, [[score, score - 1], [0, 1]]), dtype=dtype)
    assert ("shifted" in trace) == ("row_max" in trace) == shifted
    assert np.isfinite(trace["exp"]).all()


def test_small_scores_beside_a_large_one_do_not_need_it(problem: Build) -> None:
    """e^-1000 is 0 beside e^0, and 0 is right."""
    trace = run(scores_of(problem, [[0, -1000]]))
    assert "shifted" not in trace
    np.testing.assert_array_equal(trace["weights"], [[1, 0]])


def test_the_shift_is_the_maximum_of_each_row(problem: Build, backend: Backend) -> None:
    trace = run(scores_of(problem, [[1000, 999], [-3, 2]]), backend=backend)
    np.testing.assert_array_equal(trace["row_max"], [1000, 2])
    np.testing.assert_array_equal(trace["shifted"], [[0, -1], [-5, 0]])
    np.testing.assert_allclose(
        trace["weights"][0], [1 / (1 + np.exp(-1)), 1 / (1 + np.e)], rtol=1e-15
    )


@given(
    row=st.lists(st.floats(-30, 30), min_size=1, max_size=6),
    size=st.sampled_from([-1000.0, 1000.0]),
)
def test_shifted_weights_are_those_of_the_same_scores_unshifted(
    problem: Build, row: list[float], size: float
) -> None:
    """Adding 1000 to a whole row forces the shift and must change nothing."""
    plain = run(scores_of(problem, [row]))
    bias = Additive(Matrix(np.full((1, len(row)), size)))
    moved = run(scores_of(problem, [row], mask=(bias,)))
    assert "shifted" in moved
    np.testing.assert_allclose(moved["weights"], plain["weights"], rtol=1e-11, atol=1e-300)


def test_a_finite_sentinel_hides_all_but_a_lonely_row(problem: Build) -> None:
    """-1e9 is a bias, not a mask: a row of nothing else looks at everything evenly."""
    bias = Additive(Matrix(np.array([[0, -1e9], [-1e9, -1e9]])))
    trace = run(scores_of(problem, [[1, 1], [1, 1]], mask=(bias,)))
    np.testing.assert_array_equal(trace["weights"], [[1, 0], [0.5, 0.5]])
    assert trace.fully_masked == ()


def test_many_keys_of_large_scores_still_fit(problem: Build) -> None:
    """Each e^708 fits into a double, and the sum of 1,000 does not."""
    scores = np.full((1, 1000), 708.0)
    trace = run(problem(Q=[[1.0]], K=scores.T, V=np.ones((1000, 1)), scale="none"))
    np.testing.assert_allclose(trace["weights"], 1e-3, rtol=1e-12)


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_large_sink_beside_a_large_score_still_fits(problem: Build, dtype: str) -> None:
    """Each of the two exponentials fits into the format, and their sum does not: half of the weight
    is the sink's.
    """
    large = DTYPES[dtype].highest_exponent - 0.6
    trace = run(problem(Q=[[1.0]], K=[[large]], V=[[5.0]], scale="none", sink=large), dtype=dtype)
    # bfloat16 rounds a score of 88.1 to 88
    np.testing.assert_allclose(trace["output"], [[2.5]], rtol=0.1)
