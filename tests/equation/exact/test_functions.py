"""The functions of equations on exact numbers, one by one: values by hand, or of mpmath."""

from __future__ import annotations

import math
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

INF = math.inf


def work(expression: str, **numbers: Exact | float) -> Exact | float:
    """An expression in the language of steps, of numbers by name."""
    found: Exact | float = evaluate_exactly(parse_expression(expression), {}, {}, nowhere, {"inf": INF, **numbers})
    return found


def nowhere(name: str, index: tuple[int, ...]) -> Exact:
    raise AssertionError(f"{name} has no cells")


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(("number", "sign"), [("0", 0), ("-1/3", -1), ("1 - sqrt(2)", -1), ("3 - e", 1), ("1/9", 1)])
def test_the_sign_of_a_number(number: str, sign: int) -> None:
    assert sign_of(read_exact(number)) == sign


@pytest.mark.parametrize(("number", "zero"), [("0", True), ("1", False), ("-1", False), ("e", False)])
def test_only_0_is_zero(number: str, zero: bool) -> None:
    assert is_zero(read_exact(number)) is zero


@pytest.mark.parametrize(
    ("base", "exponent", "value"),
    [
        ("0", "1/2", "0"),
        ("1", "sqrt(2)", "1"),
        ("0", "sqrt(2)", "0"),
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


@pytest.mark.parametrize(
    ("base", "exponent"),
    [
        ("-2", "1/2"),
        ("-1/2", "1/2"),
        ("-1", "sqrt(2)"),
        ("0", "-sqrt(2)"),
        ("0", "-1/2"),
        ("1/2", "9000"),  # its denominator has more than 10,000 bits, though its numerator has 1
        ("1000036000099", "1/2"),  # 1000003 · 1000033, both too large to be found
        ("102034302592673962729", "1/4"),  # (100003 · 101009)², whose root is no prime
    ],
)
def test_powers_that_have_no_closed_form(base: str, exponent: str) -> None:
    with pytest.raises(ExactError):
        power(read_exact(base), read_exact(exponent))


@pytest.mark.parametrize("number", ["1/2", "-1", "0", "sqrt(2)"])
def test_logarithms_of_the_base_of_a_softmax_only(number: str) -> None:
    """It is a number above 1, and no root."""
    with pytest.raises(ExactError):
        work(f"log({number})")


@pytest.mark.parametrize(
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
        ("2^√2*3^√3", "3^√3*2^√2"),
        ("2^√3*3^√2", "3^√2*2^√3"),
        ("tanh(1/2)*tanh(2)^2", "tanh(2)^2*tanh(1/2)"),
        ("tanh(√2)*tanh(√3)", "tanh(√3)*tanh(√2)"),
        ("tanh(cos(1) + 2*sin(1))*tanh(2*cos(1) + sin(1))", "tanh(2*cos(1) + sin(1))*tanh(cos(1) + 2*sin(1))"),
        ("tanh(1/2)/tanh(1/2)", "1"),
        ("1/tanh(1/2)^2*tanh(1/2)^3", "tanh(1/2)"),
        ("1/(1 + e)*(1 + e)", "1"),
        ("1/(1 + √2)/(1 + e)", "1/(1 + e)/(1 + √2)"),
        ("e/(1 + e)^10 + 1/(1 + e)^10", "1/(1 + e)^9"),
        ("sin(-1) + sin(1)", "0"),
        ("sin(-√2) + sin(√2)", "0"),
    ],
)
def test_factors_in_any_order_are_one_number(one: str, other: str) -> None:
    assert read_exact(one) == read_exact(other)
    assert text_of(read_exact(one)) == text_of(read_exact(other))


def test_functions_of_the_same_number_in_any_order_are_one_number() -> None:
    """Nothing but their names tells them apart."""
    assert work("tanh(2) * log(2)") == work("log(2) * tanh(2)")


def test_a_higher_root_is_written_above_the_line() -> None:
    """The cube root of 2, halved: only a square root may go below, where it is 1/√2 for √2/2."""
    assert text_of(read_exact("2^(1/3)/2")) == "2^(1/3)/2"
    assert text_of(read_exact("sqrt(2)/2")) == "1/sqrt(2)"


@pytest.mark.parametrize("text", ["2^(7433059/20000000)", "6*2^(7433059/20000000)*3^(7433057/20000000)"])
def test_a_root_of_too_many_digits_is_written_as_a_power(text: str) -> None:
    """The whole number under it would have two million digits."""
    assert text_of(read_exact(text)) == text
    assert read_exact(text_of(read_exact(text))) == read_exact(text)


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


def test_a_function_of_fractions_alone_has_no_closed_form_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    halved = replace(FUNCTIONS["tanh"], exact="", rational=lambda x: x / 2 if isinstance(x, Fraction) else None)
    monkeypatch.setitem(FUNCTIONS, "tanh", halved)
    assert read_exact("tanh(1/2)") == Fraction(1, 4)
    with pytest.raises(ExactError, match="tanh has no closed form here"):
        read_exact("tanh(sqrt(2))")
