"""Numbers in print: rounded half up, whole where they are whole, and never a digit lost before the
point.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncli.page.printer import Printer, format_number, number_node
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.tracing import run
from tests.cases import in_one_test


@in_one_test(
    ("value", "precision", "text"),
    [
        (0.9995, 3, "1.000"),
        (0.99949, 3, "0.999"),
        (2.675, 2, "2.68"),
        (0.125, 2, "0.13"),
        (-0.125, 2, "-0.13"),
        (0.5, 0, "1"),
        (1.0, 3, "1"),
        (0.1 + 0.2, 3, "0.300"),
        (2.9999999999999996, 3, "3"),
        (0.0, 3, "0"),
        (-0.0, 3, "0"),
        (-0.0004, 3, "0.000"),
        (-0.0005, 3, "-0.001"),
        (1e-300, 3, "0.000"),
        (123456789.0, 3, "123456789"),
        (123456.78949999, 3, "123456.789"),
        (999999999999.5, 1, "999999999999.5"),
        (-1000000004.949747, 6, "-1000000004.949747"),
        (1 / 3, 17, "0.3333333333333333"),  # the 17th decimal is beyond a float64
        (0.1, 17, "0.1000000000000000"),
        (506337855943.6118, 5, "506337855943.6118"),
        (1000002000001.0, 3, "1000002000001"),
        (1e15, 3, "1e+15"),
        (1e20, 3, "1e+20"),
        (-1.5e20, 3, "-1.500e+20"),
        (1.7976931348623157e308, 3, "1.798e+308"),
        (float("inf"), 3, "inf"),
        (float("-inf"), 3, "-inf"),
        (float("nan"), 3, "nan"),
    ],
)
def test_numbers_by_hand(value: float, precision: int, text: str) -> None:
    assert format_number(value, precision) == text


@given(number=st.decimals(-1000, 1000, places=6), precision=st.integers(0, 8))
def test_a_short_decimal_is_rounded_as_on_paper(number: Decimal, precision: int) -> None:
    shown = format_number(float(number), precision)
    if number == number.to_integral_value():
        assert shown == str(int(number))
    else:
        rounded = number.quantize(Decimal(10) ** -precision, ROUND_HALF_UP)
        assert Decimal(shown) == rounded
        assert len(shown.partition(".")[2]) == precision
        assert not (rounded == 0 and shown.startswith("-"))


DIGITS = Fraction(5, 10**5)  # how far the decimal of 15 digits of a float below 1e11 may be off it


@given(value=st.floats(-1e11, 1e11))
def test_what_is_shown_is_never_farther_than_half_a_digit(value: float) -> None:
    assert abs(Fraction(format_number(value, 3)) - Fraction(value)) <= Fraction(5, 10000) + DIGITS
    assert abs(Fraction(format_number(value, 0)) - Fraction(value)) <= Fraction(5, 10) + DIGITS


@in_one_test(
    ("text", "value"),
    [
        ("0.707", Fraction(707, 1000)),
        ("-1/3", Fraction(-1, 3)),
        ("1.5e+20", Fraction(15 * 10**19)),
        ("sqrt(2)", None),
        ("nan", None),
        ("-inf", float("-inf")),
    ],
)
def test_a_printed_number_knows_what_it_says(text: str, value: Fraction | float | None) -> None:
    number = number_node(text)
    assert (number.text, number.value) == (text, value)


@in_one_test(
    ("written", "precision", "printed"),
    [
        ("0.50", 3, "0.5"),
        ("1/3", 3, "1/3"),
        ("2/4", 3, "1/2"),
        ("sqrt(8)", 3, "sqrt(8)"),
        ("1e3", 3, "1000"),
        ("0.12345", 2, "0.12345"),
        ("0.123456789", 3, "0.123"),
        ("0.123456789", 9, "0.123456789"),
    ],
)
def test_given_numbers_are_shown_as_given(
    problem: Callable[..., Problem], written: str, precision: int, printed: str
) -> None:
    trace = run(problem(Q=[[written]], K=[["1"]], V=[["1"]]))
    assert Printer(trace, precision).text(trace.steps["Q"], (0, 0)) == printed


def test_on_paper_given_numbers_are_shown_in_full(problem: Callable[..., Problem]) -> None:
    trace = run(problem(Q=[["0.123456789"]], K=[["1"]], V=[["1"]]), rounding="paper")
    assert Printer(trace, 3).text(trace.steps["Q"], (0, 0)) == "0.123456789"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("1/3", "1/3"),
        ("1/sqrt(2)", "sqrt(2)/2"),
        ("0.50", "0.5"),
        ("1e3", "1000"),
        ("0.123456789", "0.123456789"),
    ],
)
def test_given_settings_are_shown_as_given(
    problem: Callable[..., Problem], written: str, printed: str
) -> None:
    trace = run(problem(Q=[[1]], K=[[1]], V=[[1]], scale=written, softcap=written))
    scalars = Printer(trace, 3).scalars()
    assert (scalars["scale"].text, scalars["softcap"].text, scalars["d_k"].text) == (
        printed,
        printed,
        "1",
    )


def test_a_mask_of_given_numbers_is_shown_as_given(
    problem: Callable[..., Problem], matrix: Callable[..., Matrix]
) -> None:
    given = Additive(matrix([["1/3", "-inf"]]))
    trace = run(problem(Q=[[1]], K=[[1], [2]], V=[[1], [2]], mask=(given,)))
    printer = Printer(trace, 3)
    assert [printer.text(trace.steps["mask"], (0, j)) for j in range(2)] == ["1/3", "-inf"]
    assert printer.number("additive", (0, 0)).value == Fraction(1, 3)


@given(st.floats(min_value=-1e6, max_value=1e6), st.integers(0, 8))
@example(0.9995, 3)
@example(2.675, 2)
@example(0.125, 2)
@example(0.49995, 4)
@example(999.9999999999999, 3)
def test_the_short_way_to_round_is_the_long_one(value: float, precision: int) -> None:
    """Most numbers are rounded in binary for speed; all must come out as their 15 digits, rounded
    half up by hand.
    """
    digits = Decimal(f"{value:.14e}")
    whole = digits == digits.to_integral_value()
    by_hand = digits.quantize(Decimal(1).scaleb(-precision), ROUND_HALF_UP)
    assert format_number(value, precision) == (str(int(digits)) if whole else f"{by_hand:zf}")
