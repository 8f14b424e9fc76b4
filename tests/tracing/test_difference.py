"""Two arrays compared by hand: how far apart, where, what is infinite, what hides, what is the
other in disguise.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attncli.tracing.difference import Hides, difference, factor
from tests.cases import in_one_test

NUMBERS = st.floats(-1e6, 1e6)
ANY = arrays(np.float64, array_shapes(min_dims=1, max_dims=4, max_side=4), elements=st.floats())
FINITE = arrays(np.float64, array_shapes(min_dims=1, max_dims=4, max_side=4), elements=NUMBERS)


def of(*rows: Any) -> np.ndarray:
    return np.array(rows, dtype=float)


def test_a_cell_that_differs() -> None:
    found = difference(of([1, 2], [3, 4]), of([1, 2], [3, 5]), 1e-9)
    assert (found.cells, found.differing, found.where, found.a, found.b) == (4, 1, (1, 1), 4, 5)
    assert (found.absolute, found.relative) == (1, 1 / 5)
    # b's mean squares: 34/2 in the row, 29/2 below
    assert found.needed == pytest.approx(1 / (np.sqrt(29 / 2) + 5))


def test_a_column_excuses_no_other() -> None:
    """Between two dumps: the second column has the wrong sign, beside one of numbers far larger."""
    assert difference(of([1000, 1], [1000, -1]), of([1000, -1], [1000, 1]), 1e-2).differing == 2
    assert difference(of([1000, 1e3], [1, -1]), of([1000, 1e3], [-1, 1]), 1e-2).differing == 2


def test_sizes_say_what_a_cell_is_made_of() -> None:
    found = difference(of(0.0, 0.0), of(0.5, 0.5), 0.01, sizes=of(100.0, 10.0))
    assert (found.differing, found.needed) == (1, 0.05)
    assert difference(of(0.0), of(5e-324), 1e-9, sizes=of(0.0)).needed == inf


@in_one_test(
    ("tolerance", "differing"), [(0, 2), (0.09, 2), (0.1, 1), (0.11, 1), (0.12, 0), (1, 0)]
)
def test_the_tolerance_is_of_the_row_and_of_the_cell(tolerance: float, differing: int) -> None:
    # root mean squares: 5 and 6.25; so 1 and 1.75 need 0.75 / 8 = 0.094, and 7 and 8.66 need 1.66 /
    # 14.91 = 0.112
    found = difference(of(1.0, 7.0), of(1.75, np.sqrt(2 * 6.25**2 - 1.75**2)), tolerance)
    assert found.differing == differing


def test_one_rounding_of_large_terms_is_no_difference_of_a_small_sum() -> None:
    many = np.full(100, 100.0)
    assert difference(of(*many, 0.0), of(*many, 9e-8), 1e-9).differing == 0
    assert difference(of(0.0, 0.0), of(0.0, 1e-12), 1e-9).differing == 0  # 1e-9 · (0.01 + …)
    assert difference(of(0.0, 0.0), of(0.0, 1e-10), 1e-9).differing == 1


def test_small_numbers_are_measured_by_their_own_size() -> None:
    weights = np.full(1000, 1e-3)
    assert difference(weights, weights * 2, 1e-2).differing == 1000


def test_without_a_cell_that_differs_the_farthest_is_told_all_the_same() -> None:
    found = difference(of(1.0, 2.0), of(1.0, 2.5), 1)
    assert (found.differing, found.where, found.absolute, found.relative) == (0, (1,), 0.5, 0.2)


def test_the_farthest_cell_is_one_that_differs() -> None:
    # the first is farther, and within its tolerance
    found = difference(of(1e9, 0.0), of(1e9 + 5, 4.0), 3e-9)
    assert (found.differing, found.where, found.absolute, found.relative) == (1, (1,), 4, 1)


@in_one_test(
    ("a", "b", "differing"),
    [
        (inf, inf, 0),
        (-inf, -inf, 0),
        (nan, nan, 0),
        (inf, -inf, 1),
        (nan, 1, 1),
        (1, nan, 1),
        (-inf, 1, 1),
        (inf, nan, 1),
    ],
)
def test_what_is_not_finite(a: float, b: float, differing: int) -> None:
    found = difference(of(a, 1.0), of(b, 1.0), 1e-9)
    assert found.differing == differing
    assert found.absolute == found.relative == found.needed == (inf if differing else 0)


def test_a_signalling_nan_is_one_like_others() -> None:
    signalling = np.array([0x7F800001, 0x3F800000], dtype=np.uint32).view(np.float32)  # and 1
    assert difference(of(nan, 1.0), signalling, 1e-9).differing == 0


def test_numbers_near_the_largest_there_is() -> None:
    found = difference(of([9e307], [9e307]), of([1.0], [3.0]), 1e-9)
    assert (found.differing, found.absolute) == (2, 9e307)
    assert factor(of([1.0], [3.0]), of([1e308], [1.0]), 1e-9) is None
    assert factor(of(1e-300, 2.0), of(1e300, 1e308), 1e-9) is None


def test_a_difference_too_large_for_a_float_is_infinite() -> None:
    assert difference(of(-1.7e308), of(1.7e308), 1e-9).absolute == inf


@pytest.mark.parametrize(
    ("low", "hidden"), [(-1e9, 1), (-9998, 1), (-999, 1), (-998, 0), (-inf, 0)]
)
def test_large_negative_numbers_hide_as_minus_infinity_does(low: float, hidden: int) -> None:
    # 1000 below the 1 that is seen
    found = difference(of(1.0, -inf), of(1.0, low), 1e-9, hides="row")
    assert (found.hidden, found.sentinel) == (hidden, low if hidden else 0)
    assert found.differing == (0 if low != -998 else 1)


def test_what_hides_is_far_below_what_is_seen_of_its_row() -> None:
    masked, theirs = (
        of([9000, -inf], [-9000, -inf], [-inf, -inf]),
        of([9000, -1000], [-9000, -9900], [-9000, -999]),
    )
    found = difference(masked, theirs, 1e-9, hides="row")
    # of the second row it leaks; in the last, 1000 below 0
    assert (found.hidden, found.differing) == (2, 2)
    assert difference(masked[:, 1], theirs[:, 1], 1e-9, hides="cell").hidden == 2  # -1000 and -9900


def test_elsewhere_they_do_not_hide() -> None:
    assert difference(of(-inf), of(-1e9), 1e-9).differing == 1


@in_one_test(
    ("b", "expected"),
    [
        ([2, 4, 0], 2),
        ([-1, -2, 0], -1),
        ([1, 2, 0], None),
        ([2, 4, 1], None),
        ([2, 4.1, 0], None),
        ([0, 0, 0], None),
    ],
)
def test_a_constant_factor(b: list[float], expected: float | None) -> None:
    assert factor(of(1, 2, 0), of(*b), 1e-9) == expected


def test_a_factor_beside_what_hides() -> None:
    assert factor(of(1, 2, -inf), of(3, 6, -inf), 1e-9) == 3
    assert factor(of(1, 2, -inf), of(3, 6, -1e9), 1e-9) is None
    assert factor(of(1, 2, -inf), of(3, 6, -1e9), 1e-9, hides="row") == 3
    assert factor(of(1, 0), of(3, 0), 1e-9) is None  # one number is always some multiple of another


@given(ANY, st.sampled_from([None, "row", "cell"]))
def test_nothing_differs_from_itself(array: np.ndarray, hides: Hides | None) -> None:
    found = difference(array, array.copy(), 0, hides=hides)
    assert (found.differing, found.absolute, found.relative, found.needed) == (0, 0, 0, 0)


@given(FINITE, st.data())
def test_a_cell_that_was_changed_is_found(array: np.ndarray, data: st.DataObject) -> None:
    where = tuple(data.draw(st.integers(0, size - 1)) for size in array.shape)
    changed = array.copy()
    changed[where] += data.draw(st.sampled_from([1e-3, -1.0, 7.0, inf, nan]))
    found = difference(array, changed, 1e-12)
    assert (found.differing, found.where, found.a) == (1, where, array[where])
    np.testing.assert_equal(found.b, changed[where])


@given(FINITE, st.floats(0, 1e-3), st.integers(0, 2**32))
def test_with_the_tolerance_that_is_needed_nothing_differs(
    array: np.ndarray, noise: float, seed: int
) -> None:
    other = array + noise * np.random.default_rng(seed).normal(size=array.shape)
    found = difference(array, other, 0)
    assert difference(array, other, found.needed).differing == 0
    assert found.needed == 0 or difference(array, other, found.needed * 0.99).differing > 0
