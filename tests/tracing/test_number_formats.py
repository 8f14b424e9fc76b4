"""Where formats part from float64: errors within half a unit of the format, sums, overflow, what
vanishes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from attncli.dtypes import DTYPES
from attncli.problem.model import Problem
from attncli.problem.parts.masks.padding import Padding
from attncli.tracing import run
from attncli.tracing.number_formats import LOWER_FORMATS, deviation_from_float64, deviations

Build = Callable[..., Problem]


def test_formats_from_the_finest_to_the_coarsest(love: Problem) -> None:
    assert LOWER_FORMATS == ("float32", "float16", "bfloat16")
    assert [each.dtype.name for each in deviations(love)] == list(LOWER_FORMATS)


@pytest.mark.parametrize("dtype", LOWER_FORMATS)
def test_a_given_number_is_off_by_its_rounding(problem: Build, dtype: str) -> None:
    found = deviation_from_float64(
        given := problem(Q=[[1 / 3]], K=[[1]], V=[[1]]), run(given, dtype=dtype)
    )
    difference = found.comparison["Q"].difference
    assert difference is not None
    assert 0 < difference.relative <= DTYPES[dtype].epsilon / 2
    assert found.comparison["K"].identical


def test_one_third_in_float16(problem: Build) -> None:
    found = deviation_from_float64(
        given := problem(Q=[[1 / 3]], K=[[1]], V=[[1]]), run(given, dtype="float16")
    )
    difference = found.comparison["Q"].difference
    assert difference is not None
    assert difference.b == 1365 / 4096  # 1/3 to 11 significant bits
    assert difference.absolute == pytest.approx(1 / 3 - 1365 / 4096)


def test_rows_that_no_longer_sum_to_1(problem: Build) -> None:
    # a third is 171/512 in bfloat16, and 3 · 171/512 = 1.002 rounds to 1; but a 61st is 134/8192,
    # and 61 · 134/8192 = 8174/8192 is nearer to 255/256 than to 1
    thirds = problem(Q=[[0]], K=[[0]] * 3, V=[[1]] * 3)
    assert deviation_from_float64(thirds, run(thirds, dtype="bfloat16")).uneven_rows == ()
    many = problem(Q=[[0]], K=[[0]] * 61, V=[[1]] * 61)
    (row,) = deviation_from_float64(many, run(many, dtype="bfloat16")).uneven_rows
    assert (row.row, row.sum, row.true) == ((0,), 8174 / 8192, pytest.approx(1))


def test_a_row_that_sees_nothing_keeps_its_sum_of_0(problem: Build) -> None:
    given = problem(Q=[[1]], K=[[1]], V=[[1]], mask=(Padding(((False,),)),))
    assert deviation_from_float64(given, run(given, dtype="float16")).uneven_rows == ()


def test_overflow_is_named_with_step_and_cell(problem: Build) -> None:
    given = problem(Q=[[1], [300]], K=[[1], [300]], V=[[1], [1]])
    found = deviation_from_float64(given, run(given, dtype="float16")).overflow
    assert found is not None
    assert (found.step, found.cells, found.where, found.true) == ("scores", 1, (1, 1), 90000)
    assert deviation_from_float64(given, run(given, dtype="bfloat16")).overflow is None


def test_weights_that_vanish(problem: Build) -> None:
    # e^-20 is 2e-9, and the smallest float16 6e-8
    given = problem(Q=[[1]], K=[[0], [-20]], V=[[1], [1]])
    assert [each.vanished for each in deviations(given)] == [0, 1, 0]


def test_all_formats_shift_where_one_does(problem: Build) -> None:
    given = problem(Q=[[12]], K=[[1], [0]], V=[[1], [2]])  # e^12 is beyond float16 only
    assert not run(given).shifted
    assert all(
        "shifted" in [step.name for step in each.comparison.steps] for each in deviations(given)
    )
    assert all(not step.one_sided for each in deviations(given) for step in each.comparison.steps)


def test_every_number_is_a_number_of_its_format(love: Problem) -> None:
    kinds = {"float32": "float32", "float16": "float16", "bfloat16": "float32"}
    found = list(deviations(love))
    assert {each.dtype.name for each in found} == set(kinds)
    for each in found:
        for step in each.comparison.steps:
            low = each.comparison.b[step.name]
            held = low.astype(kinds[each.dtype.name])
            np.testing.assert_array_equal(low, held)
            if each.dtype.name == "bfloat16":  # the upper half of a float32
                assert not (held.view(np.uint32) & 0xFFFF).any()
