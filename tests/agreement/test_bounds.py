"""Three computations agree within a bound that is derived, not chosen; and the bound is one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from tests.conformance.drawn import problem_files
from tests.reference.bounded import UNIT, Bounded, dot, gamma, power, softmax, tanh, total, turn
from tests.reference.bounded import given as number
from tests.reference.in_loops import attention
from tests.tools.agreement.measure import Shares

numbers = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)
lists = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12)


def without_sines(problem: dict[str, Any]) -> dict[str, Any]:
    """The loops know no sines that are added to X."""
    problem.get("position", {}).pop("sinusoidal", None)
    return problem


ROPES = problem_files(settings_of_rope=True).map(without_sines)


@given(problem=problem_files() | problem_files(mixed=True) | ROPES)
def test_the_program(problem: dict[str, Any]) -> None:
    """`run.py` does this with thousands of problems, and with PyTorch."""
    shares = Shares()
    shares.take(problem)
    assert shares.cells
    assert max(shares.largest.values()) <= 1


@pytest.mark.torch
@settings.get_profile("few")
@given(problem=problem_files())
def test_pytorch(torch: Any, problem: dict[str, Any]) -> None:
    shares = Shares()
    shares.take(problem, torch)
    assert ("PyTorch", "heads_output") in shares.largest


@given(pairs=lists)
def test_a_product_of_rows_is_within_its_bound_in_any_order(
    pairs: list[tuple[float, float]],
) -> None:
    """The exact one by fractions; the computed ones from the left, from the right, and as NumPy has
    it.
    """
    left, right = zip(*pairs, strict=True)
    exact = sum((Fraction(one) * Fraction(other) for one, other in pairs), Fraction(0))
    bounded = dot([number(each) for each in left], [number(each) for each in right])
    assert (
        abs(bounded.value - mpf(exact.numerator) / exact.denominator)
        <= abs(bounded.value) * mpf(10) ** -35 + mpf(10) ** -25
    )
    products = [one * other for one, other in pairs]
    found = [
        sum(products),
        sum(reversed(products)),
        math.fsum(products),
        float(np.dot(left, right)),
    ]
    for each in found:
        assert abs(Fraction(each) - exact) <= Fraction(bounded.error)
    terms = sum(abs(Fraction(one) * Fraction(other)) for one, other in pairs)
    # and no larger than it has to be
    assert bounded.error <= float(terms) * gamma(len(pairs)) * (1 + 1e-5)


@given(x=st.floats(-700, 700))
def test_functions_of_numpy_keep_to_what_is_taken_for_granted(x: float) -> None:
    """8 roundings for each: exp, tanh, cosine and sine, a power."""
    cos, sin = turn(number(x))
    shown = power(1.5, mpf(x))
    for found, bounded in (
        (np.tanh(x), tanh(number(x))),
        (np.cos(x), cos),
        (np.sin(x), sin),
        (np.power(1.5, x), shown),
    ):
        assert abs(mpf(float(found)) - bounded.value) <= bounded.error
    exp = power(mpf("2.718281828459045235360287471352662497757247"), mpf(x))
    assert abs(mpf(float(np.exp(x))) - exp.value) <= exp.error


@given(row=st.lists(st.floats(-30, 30), min_size=1, max_size=8), by=st.floats(-40, 40))
def test_shares_are_within_their_bound_whatever_is_subtracted(row: list[float], by: float) -> None:
    bounded = softmax([number(each) for each in row])
    assert abs(sum(each.value for each in bounded) - 1) < mpf(10) ** -35
    for shift in (0.0, max(row)):
        powers = np.exp(np.array(row) - shift)
        for found, each in zip((powers / powers.sum()).tolist(), bounded, strict=True):
            assert abs(mpf(found) - each.value) <= each.error


def test_a_hidden_key_has_no_share() -> None:
    assert [each.value for each in softmax([None, None])] == [0, 0]
    assert [(float(each.value), each.error > 0) for each in softmax([number(3.0), None])] == [
        (1.0, True),
        (0.0, False),
    ]


def test_a_bound_is_that_of_the_book() -> None:
    """u·Σ|x| for a sum of two, γ₂ for three: Higham, Accuracy and Stability of Numerical
    Algorithms, section 4.2.
    """
    assert total([number(3.0), number(-4.0)]).error == pytest.approx(7 * UNIT, rel=1e-5)
    assert total([number(3.0), number(-4.0), number(1.0)]).error == pytest.approx(
        16 * UNIT, rel=1e-5
    )
    assert total([Bounded(mpf(3), 0.5), number(1.0)]).error == pytest.approx(0.5, rel=1e-5)


def test_an_error_of_a_few_last_digits_is_found() -> None:
    """So that these tests can fail: 1e-14 more in every weight is told."""
    expected = attention({"Q": [[1, 2]], "K": [[1, 0], [0.5, 1]], "V": [[1], [2]]})["weights"]
    found = np.array([[[[float(cell.value) for cell in expected[0][0][0]]]]])
    Shares().add("nobody", "weights", found, expected)
    with pytest.raises(AssertionError, match=r"weights: .* is off "):
        Shares().add("nobody", "weights", found + 1e-14, expected)
