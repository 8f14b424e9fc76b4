"""The functions of equations on exact numbers, one by one: values by hand, or of mpmath."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

from attncli.equation.exact import (
    Exact,
    ExactError,
    ExactNumber,
    decimal_of,
    evaluate_exactly,
    is_zero,
    read_exact,
    text_of,
)
from attncli.equation.exact.decimals import sign_of
from attncli.equation.exact.functions import power
from attncli.equation.functions import FUNCTIONS
from attncli.equation.parser import parse_expression
from tests.cases import in_one_test

INF = math.inf


def work(expression: str, **numbers: Exact | float) -> Exact | float:
    """An expression in the language of steps, of numbers by name."""
    found: Exact | float = evaluate_exactly(
        parse_expression(expression), {}, {}, nowhere, {"inf": INF, **numbers}
    )
    return found


def nowhere(name: str, index: tuple[int, ...]) -> Exact:
    raise AssertionError(f"{name} has no cells")


@in_one_test(
    ("expression", "value"),
    [
        ("abs(-1/2)", "1/2"),
        ("abs(1/2)", "1/2"),
        ("abs(0)", "0"),
        ("abs(3)", "3"),
        ("abs(1 - sqrt(2))", "sqrt(2) - 1"),
        ("abs(sqrt(2) - 1)", "sqrt(2) - 1"),
        ("max(1, sqrt(2))", "sqrt(2)"),
        ("max(sqrt(2), 1)", "sqrt(2)"),
        ("max(3, exp(1), 2)", "3"),
        ("max(-inf, -1/2)", "-1/2"),
        ("max(-1/2, -inf)", "-1/2"),
        ("max(-inf, -inf)", "-inf"),
        ("max(-2, -1, -3)", "-1"),
        ("finite(-inf)", "0"),
        ("finite(1/2)", "1/2"),
        ("finite(sqrt(2))", "sqrt(2)"),
        ("share(0, 0)", "0"),
        ("share(1, 4)", "1/4"),
        ("share(exp(1), exp(1) + 1)", "e/(e + 1)"),
        ("add_mask(1, 1/2)", "3/2"),
        ("add_mask(1, -inf)", "-inf"),
        ("-inf - 1", "-inf"),
        ("-inf + 1", "-inf"),
        ("exp(-inf)", "0"),
        ("2 ** -inf", "0"),
        ("log(1)", "0"),
        ("sin(0)", "0"),
        ("cos(0)", "1"),
    ],
)
def test_a_function_of_exact_numbers(expression: str, value: str) -> None:
    assert work(expression) == read_exact(value)


@pytest.mark.parametrize(
    ("number", "sign"), [("0", 0), ("-1/3", -1), ("1 - sqrt(2)", -1), ("3 - e", 1), ("1/9", 1)]
)
def test_the_sign_of_a_number(number: str, sign: int) -> None:
    assert sign_of(read_exact(number)) == sign


@pytest.mark.parametrize(
    ("number", "zero"), [("0", True), ("1", False), ("-1", False), ("e", False)]
)
def test_only_0_is_zero(number: str, zero: bool) -> None:
    assert is_zero(read_exact(number)) is zero


@in_one_test(
    ("base", "exponent", "value"),
    [
        ("0", "1/2", "0"),
        ("1/4", "1/2", "1/2"),
        ("1/4", "-1/2", "2"),
        ("2*sqrt(3)", "-2", "1/12"),
        ("2", "-3", "1/8"),
        ("1 + sqrt(2)", "-1", "1/(1 + sqrt(2))"),
        ("1 + sqrt(2)", "2", "3 + 2*sqrt(2)"),
        ("-1", "3", "-1"),
        ("1000003", "1/2", "sqrt(1000003)"),
        ("10000600009", "1/2", "100003"),  # its square
    ],
)
def test_powers(base: str, exponent: str, value: str) -> None:
    assert power(read_exact(base), read_exact(exponent)) == read_exact(value)


@in_one_test(
    ("base", "exponent"),
    [
        ("-2", "1/2"),
        ("-1/2", "1/2"),
        ("-1", "sqrt(2)"),
        ("0", "-sqrt(2)"),
        ("2", "sqrt(2)"),
        ("2", "1/3"),
        ("1 + sqrt(2)", "65"),
        ("1/2", "1200"),  # its denominator has more than 1,100 bits, though its numerator has 1
        ("1000036000099", "1/2"),  # 1000003 · 1000033, both too large to be found
    ],
)
def test_powers_that_have_no_closed_form(base: str, exponent: str) -> None:
    with pytest.raises(ExactError):
        power(read_exact(base), read_exact(exponent))


@in_one_test(
    "expression",
    [
        "log(2)",
        "tanh(sqrt(2))",
        "cos(1)",
        "sin(1/2)",
        "2 ** sqrt(2)",
        "2 ** (1/3)",
        "sqrt(1 + sqrt(2))",
        "exp(exp(1))",
        "exp(1 / (1 + exp(1)))",
        "1 / (1 / (exp(1) + 1) + 1 / (exp(1) + 2))",
        "sqrt(1000036000099)",
        "2 ** 1200",
    ],
)
def test_what_has_no_closed_form_goes_on_in_decimals(expression: str) -> None:
    found = work(expression)
    assert isinstance(found, Decimal)
    with mpmath.workdps(60):
        names = {
            name: getattr(mpmath, name)
            for name in ("log", "tanh", "cos", "sin", "sqrt", "exp", "mpf")
        }
        expected = Decimal(mpmath.nstr(eval(re.sub(r"(\d+)", r"mpf('\1')", expression), names), 58))
    assert abs(found / expected - 1) < Decimal("1e-47")


def test_decimals_are_contagious() -> None:
    assert work("x + exp(1)", x=Decimal(1)) == decimal_of(work("1 + exp(1)"))
    assert work("x * y", x=Decimal("0.5"), y=Fraction(1, 4)) == Decimal("0.125")
    assert work("add_mask(x, -inf)", x=Decimal("0.5")) == -INF
    assert isinstance(work("add_mask(x, -inf)", x=Decimal("0.5")), float)
    assert work("max(exp(1), x)", x=Decimal(2)) == decimal_of(read_exact("e"))
    assert work("exp(1) < x", x=Decimal(3)) is True


def test_irrational_numbers_are_compared() -> None:
    assert work("where(sqrt(2) < exp(1), 1, 2)") == 1


def test_what_is_divided_by_0_is_not_finite() -> None:
    """As in floating point."""
    assert work("1 / 0") == INF
    assert work("0 / 0") != work("0 / 0")


@in_one_test(
    ("expression", "same"),
    [
        ("log(3/2)", lambda: mpmath.log(mpmath.mpf(3) / 2)),
        ("log(2) * log(2)", lambda: mpmath.log(2) ** 2),
        ("log(2) / log(10)", lambda: mpmath.log10(2)),
        ("sin(-1)", lambda: -mpmath.sin(1)),
        ("sin(1)", lambda: mpmath.sin(1)),
        ("cos(-2)", lambda: mpmath.cos(2)),
        ("(1/2) ** sqrt(2)", lambda: mpmath.mpf("0.5") ** mpmath.sqrt(2)),
        ("2 ** (1 + sqrt(2))", lambda: 2 ** (1 + mpmath.sqrt(2))),
        ("2 / tanh(1)", lambda: 2 / mpmath.tanh(1)),
        ("3 ** (1/3)", lambda: mpmath.cbrt(3)),
    ],
)
def test_values_are_those_of_mpmath(expression: str, same: object) -> None:
    with mpmath.workdps(60):
        expected = Decimal(mpmath.nstr(same(), 58))  # type: ignore[operator]
    assert abs(decimal_of(work(expression)) / expected - 1) < Decimal("1e-48")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1/(1 + e)*(1 + e)", "1"),
        ("1/(1 + √2)/(1 + e)", "1/(1 + e)/(1 + √2)"),
        ("e/(1 + e)^10 + 1/(1 + e)^10", "1/(1 + e)^9"),
    ],
)
def test_factors_in_any_order_are_one_number(one: str, other: str) -> None:
    assert read_exact(one) == read_exact(other)
    assert text_of(read_exact(one)) == text_of(read_exact(other))


def test_decimals_end_where_terms_cancel_for_ever() -> None:
    """Two sums that are equal, though not written alike: 1/(e + 1) + 1/(e² + 1)."""
    zero = read_exact("1/(e + 1) + 1/(e^2 + 1)") - read_exact("(e^2 + e + 2)/((e + 1)*(e^2 + 1))")
    assert isinstance(zero, ExactNumber)
    assert is_zero(zero)
    assert abs(decimal_of(zero, 10)) < Decimal("1e-1000")


def test_what_is_read_is_a_fraction_or_closed() -> None:
    assert isinstance(read_exact("2"), Fraction)
    assert isinstance(read_exact("0.25"), Fraction)
    assert read_exact("-inf") == -INF


def test_a_power_is_a_divisor_of_its_own_up_to_the_twentieth() -> None:
    """The 21st is multiplied out, as (1 + e)^2 = 1 + 2·e + e^2 is."""
    assert text_of(read_exact("1/(1 + e)^20")) == "1/(1 + e)^20"
    assert text_of(read_exact("1/(1 + e)^21")).startswith("1/(1 + 21*e + 210*e^2")


def test_quotients_stay_apart_where_one_would_have_too_many_terms() -> None:
    """(1 + √2 + √3 + … + √31)^8 has more than 1,000 terms."""
    roots = " + ".join(f"sqrt({prime})" for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31))
    number = read_exact(f"1/(1 + {roots}) + 1/(1 + {roots})^9")
    with mpmath.workdps(60):
        total = 1 + sum(mpmath.sqrt(prime) for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31))
        expected = Decimal(mpmath.nstr(1 / total + total**-9, 58))
    assert abs(decimal_of(number) / expected - 1) < Decimal("1e-48")


def test_a_function_of_fractions_alone_has_no_closed_form_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    halved = replace(
        FUNCTIONS["tanh"], rational=lambda x: x / 2 if isinstance(x, Fraction) else None
    )
    monkeypatch.setitem(FUNCTIONS, "tanh", halved)
    assert read_exact("tanh(1/2)") == Fraction(1, 4)
    assert isinstance(read_exact("tanh(sqrt(2))"), Decimal)


def test_a_number_by_an_infinity_is_worked_in_decimals() -> None:
    assert work("share(x, inf)", x=Fraction(3)) == 0
    assert work("x / inf", x=Fraction(3)) == 0
