"""Exact numbers: their normal form, their decimals against mpmath, and their spelling, which reads
back.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from time import process_time

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.answers.claims import LONGEST_NUMBER, read_claim
from attncli.equation.exact import (
    ExactError,
    ExactNumber,
    decimal_of,
    expression_of,
    float_of,
    is_zero,
    read_exact,
    text_of,
)
from attncli.equation.notation import LATEX, LATEX_LINE, PLAIN, UNICODE, Notation
from attncli.equation.printer import write
from attncli.problem.text.latex_numbers import from_latex
from tests.cases import in_one_test

SPELLED = [  # as it is read, as it is written, in a terminal, in LaTeX
    ("5/sqrt(3)", "5/sqrt(3)", "5/√3", r"\frac{5}{\sqrt{3}}"),
    ("5*sqrt(3)/3", "5/sqrt(3)", "5/√3", r"\frac{5}{\sqrt{3}}"),
    ("3/√3", "sqrt(3)", "√3", r"\sqrt{3}"),
    ("sqrt(12)", "2*sqrt(3)", "2·√3", r"2 \sqrt{3}"),
    ("sqrt(6)/2", "sqrt(6)/2", "√6/2", r"\frac{\sqrt{6}}{2}"),
    ("5/(2*√3)", "5/(2*sqrt(3))", "5/(2·√3)", r"\frac{5}{2 \sqrt{3}}"),
    ("0.25 - 1/3", "-1/12", "-1/12", r"-\frac{1}{12}"),
    ("e", "e", "e", "e"),
    ("exp(2)", "e^2", "e^2", "e^{2}"),
    ("1/e^2", "e^(-2)", "e^(-2)", "e^{-2}"),
    ("e^(5/√3)", "e^(5/sqrt(3))", "e^(5/√3)", r"e^{5/\sqrt{3}}"),
    (
        "e^(5/√3)/(e^(1/√3) + e^(5/√3) + e^√3)",
        "e^(5/sqrt(3))/(e^(1/sqrt(3)) + e^(5/sqrt(3)) + e^sqrt(3))",
        "e^(5/√3)/(e^(1/√3) + e^(5/√3) + e^√3)",
        r"\frac{e^{5/\sqrt{3}}}{e^{1/\sqrt{3}} + e^{5/\sqrt{3}} + e^{\sqrt{3}}}",
    ),
    ("(1 - e)/(1 + e)", "-(e - 1)/(1 + e)", "-(e - 1)/(1 + e)", r"-\frac{e - 1}{1 + e}"),
    (
        "-(e - 1/2)/(2 + 2*e)",
        "-(2*e - 1)/(4 + 4*e)",
        "-(2·e - 1)/(4 + 4·e)",
        r"-\frac{2 e - 1}{4 + 4 e}",
    ),
    ("e/(1 + e)*(1 - e/(1 + e))", "e/(1 + e)^2", "e/(1 + e)^2", r"\frac{e}{(1 + e)^{2}}"),
    (
        "1/3/(1 + e)*(2 - 1/(1 + e))",
        "(1 + 2*e)/(3*(1 + e)^2)",
        "(1 + 2·e)/(3·(1 + e)^2)",
        r"\frac{1 + 2 e}{3 (1 + e)^{2}}",
    ),
    (
        "1/(1 + e)/(1 + √2)",
        "1/((1 + e)*(1 + sqrt(2)))",
        "1/((1 + e)·(1 + √2))",
        r"\frac{1}{(1 + e) (1 + \sqrt{2})}",
    ),
    ("2^(5/2)", "4*sqrt(2)", "4·√2", r"4 \sqrt{2}"),
    ("-inf", "-inf", "-∞", r"-\infty"),
    ("0*e", "0", "0", "0"),
]


@in_one_test(("said", "plain", "terminal", "latex"), SPELLED, ids=[row[0] for row in SPELLED])
def test_a_number_has_one_spelling_in_each_notation(
    said: str, plain: str, terminal: str, latex: str
) -> None:
    number = read_exact(said)
    assert text_of(number) == plain
    assert write(expression_of(number), UNICODE) == terminal
    assert write(expression_of(number), LATEX) == latex
    assert read_exact(plain) == number
    assert read_exact(terminal) == number


@in_one_test(
    ("one", "other"),
    [
        ("sqrt(2)*sqrt(3)", "sqrt(6)"),
        ("sqrt(8)", "2*sqrt(2)"),
        ("(1 + sqrt(2))*(1 - sqrt(2))", "-1"),
        ("e^(1/√3)*e^(2/√3)", "e^√3"),
        ("(e + 1)*(e - 1)", "e^2 - 1"),
        ("(e + e^2)/(2*e + 2*e^2)", "1/2"),
        ("(√2*e + √2)/(e + 1)", "√2"),
        ("1/(e + 1) + e/(1 + e)", "1"),
        ("1 + 1/(e + 1) + e/(1 + e)", "2"),
        ("1/(1/(e + 1))", "1 + e"),
        ("e/(e + 1)^2 + 1/(1 + e)^2", "1/(1 + e)"),
        ("1/(e + 1) - e/(e + 1)^2 - 1/(e + 1)^2", "0"),
        ("(1/(e + 1) + 2/(e^2 + 3))/(e + 1)", "1/(e + 1)^2 + 2/((e^2 + 3)*(e + 1))"),
    ],
)
def test_what_is_equal_has_the_same_terms(one: str, other: str) -> None:
    assert read_exact(one) == read_exact(other)
    assert hash(read_exact(one)) == hash(read_exact(other))


def test_quotients_are_compared_by_their_numerators() -> None:
    one = read_exact("1/(e + 1) + 1/(e^2 + 1)")
    other = read_exact("(e^2 + e + 2)/((e + 1)*(e^2 + 1))")
    assert is_zero(one - other)
    assert not is_zero(one - other + Fraction(1, 10**30))


def in_mpmath(text: str) -> mpmath.mpf:
    """The same formula, worked out by mpmath to 60 digits."""
    names = {
        name: getattr(mpmath, name) for name in ("sqrt", "exp", "tanh", "sin", "cos", "e", "mpf")
    }
    whole = re.sub(r"(\d+)", r"mpf('\1')", text.replace("^", "**"))
    return eval(whole, names)


@in_one_test(
    "text",
    [
        "5/sqrt(3)",
        "e^(5/sqrt(3))/(e^(1/sqrt(3)) + e^(5/sqrt(3)) + e^sqrt(3))",
        "sqrt(2) + sqrt(3) - 3/7",
        "2^(5/sqrt(3)) - 4^(1/3)",
        "30*tanh(1/(6*sqrt(3)))",
        "tanh(1/1000000000000)",
        "tanh(400)",
        "cos(1) - 3*sin(1/100) + cos(100000)",
        "e^(-2000)",
        "e^1000000",
        "99^20 - sqrt(99)^40 + e",
        "sqrt(10000000001) - 100000",
        "e^(1/1000000000000000000000000000000) - 1",
        "cos(1)*cos(3)",
        "sin(1)*sin(3)",
        "sin(1)*cos(3)",
        "cos(1)*sin(3)*sin(1/2)",
        "(e^20 - e^(20 + 1/1000000000000000000000))/e^20",
        "sin(3/2 + e^sqrt(2))*e^cos(1)",
    ],
)
def test_decimals_are_those_of_mpmath(text: str) -> None:
    with mpmath.workdps(140):
        expected = mpmath.nstr(in_mpmath(text), 60, min_fixed=1, max_fixed=0)
    found = decimal_of(read_exact(text))
    assert abs(found / Decimal(expected) - 1) < Decimal("1e-49")


@pytest.mark.each_choice
@pytest.mark.parametrize(
    "text",
    [
        "e^100003",
        "e^(-100003)",
        "e^(-1234567/891)",
        "e^(40000*sqrt(3) - 69282)",
        "e^(5/7 - 3/sqrt(2))/3",
    ],
)
@pytest.mark.parametrize("digits", [20, 300, 2400])
def test_decimals_of_any_power_of_e_are_right_to_the_last_digit(text: str, digits: int) -> None:
    found = decimal_of(read_exact(text), digits)
    with mpmath.workdps(digits + 20):
        expected = in_mpmath(text)
        assert abs(mpmath.mpf(str(found)) / expected - 1) < mpmath.mpf(10) ** (1 - digits)


@pytest.mark.long
def test_many_powers_of_e_to_thousands_of_digits_take_seconds() -> None:
    """Each alone takes a tenth of a second; all are powers of one number."""
    begin = process_time()
    for exponent in range(3000, 3200):
        decimal_of(read_exact(f"e^(-{exponent})"), 2400)
    assert process_time() - begin < 4


rationals = st.fractions(-3, 3, max_denominator=7)
numbers = st.recursive(
    st.one_of(
        rationals.map(lambda value: f"({value})"),
        st.integers(2, 20).map(lambda value: f"sqrt({value})"),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(
            lambda parts: "({}{}{})".format(*parts)
        ),
        inner.map(lambda value: f"tanh({value})"),
        inner.map(lambda value: f"exp({value})"),
        inner.map(lambda value: f"{value}/(1+exp({value}))"),
        inner.map(lambda value: f"({value}+{value}/(e+sqrt(2)))/(e+sqrt(2))"),
    ),
    max_leaves=6,
)


long_numbers = st.integers(0, 300).map(lambda digits: 10**digits + 7)


@given(
    above=long_numbers,
    below=long_numbers,
    powers=st.lists(st.integers(-3, 3), min_size=1, max_size=4, unique=True),
)
def test_every_number_that_can_be_made_can_be_written(
    above: int, below: int, powers: list[int]
) -> None:
    divisor = "+".join(f"({power + 5})*e^({power})" for power in powers)
    try:
        number = read_exact(f"{above}/({below})/({divisor})")
    except ExactError:
        # It is too long to be made.
        return
    if isinstance(number, Decimal):
        # So is it: decimals stand in for it.
        return
    closed = text_of(number)
    assert closed is not None
    # The text may be too long to be read back. mpmath takes it as Python.
    with mpmath.workdps(60):
        value = mpmath.mpf(above) / below
        value /= mpmath.fsum((power + 5) * mpmath.exp(power) for power in powers)
        written = eval(_python(closed), {"mpf": mpmath.mpf, "e": mpmath.e})
        assert abs(written / value - 1) < mpmath.mpf(10) ** -50


def _python(closed: str) -> str:
    return re.sub(r"\d+", r"mpf('\g<0>')", closed).replace("^", "**")


@given(text=numbers)
def test_any_number_is_what_it_says_and_reads_back(text: str) -> None:
    number = read_exact(text)
    with mpmath.workdps(60):
        expected = in_mpmath(text)
        if abs(expected) > 1e300 or 0 < abs(expected) < 1e-40:
            return
        assert abs(mpmath.mpf(str(decimal_of(number))) - expected) <= abs(expected) * mpmath.mpf(
            "1e-40"
        ) + mpmath.mpf("1e-50")
    closed = text_of(number)
    assert closed is None if isinstance(number, Decimal) else read_exact(str(closed)) == number


@given(text=numbers)
@pytest.mark.parametrize("notation", [LATEX, LATEX_LINE, UNICODE, PLAIN])
def test_check_reads_any_closed_form_of_a_page(notation: Notation, text: str) -> None:
    number = read_exact(text)
    if isinstance(number, Decimal):
        return
    written = write(expression_of(number), notation)
    spelled = from_latex(written) if notation in (LATEX, LATEX_LINE) else written
    if len(spelled) > LONGEST_NUMBER:
        return
    found = read_claim(spelled)
    truth = decimal_of(number)
    assert found is not None
    assert abs(found.value - truth) <= abs(truth) * Decimal("1e-40")


SUMS_WITH_E = [
    "3*e + 4",
    "3*e - 1/2",
    "2*e + 5*e^2",
    "(3*e + 2)/(2*e + sqrt(2))",
    "sqrt(2)*e - 3",
    "4 - 7*e",
    "e/2 + 5",
]


@in_one_test("notation", [LATEX, LATEX_LINE, UNICODE, PLAIN])
@in_one_test("text", SUMS_WITH_E)
def test_check_reads_multiples_of_e_in_sums(text: str, notation: Notation) -> None:
    written = write(expression_of(read_exact(text)), notation)
    found = read_claim(from_latex(written) if notation in (LATEX, LATEX_LINE) else written)
    assert found is not None
    with mpmath.workdps(60):
        assert abs(mpmath.mpf(str(found.value)) - in_mpmath(text)) < mpmath.mpf("1e-40")


def test_a_rational_number_is_a_fraction() -> None:
    assert read_exact("sqrt(2)*sqrt(2) + 1/3") == Fraction(7, 3)
    assert isinstance(read_exact("sqrt(9/4)"), Fraction)
    assert isinstance(read_exact("sqrt(2)"), ExactNumber)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1234567890123456789", Fraction(1234567890123456789, 10**19)),
        ("12345678901234567890.50", Fraction(24691357802469135781, 2)),
        ("007.0", 7),
        ("0.00", 0),
        ("4^0.5 - 3/1.5", 0),
    ],
)
def test_all_digits_of_a_decimal_are_read(text: str, number: Fraction) -> None:
    assert read_exact(text) == number


def test_floats_are_the_nearest_ones() -> None:
    assert float_of(Fraction(1, 3)) == 1 / 3
    assert float_of(read_exact("sqrt(2)")) == 2**0.5
    assert float_of(Fraction(10**400)) == float("inf")
    assert float_of(-Fraction(10**400)) == float("-inf")
    assert float_of(float("-inf")) == float("-inf")


@in_one_test(
    "text",
    [
        "",
        "x",
        "1/0",
        "sqrt(-2)",
        "[1]",
        "1, 2",
        "e^",
        "(1",
        "__import__('os')",
        "9^99999999",
        "inf",
        "1/(0*e)",
        "((" * 200,
    ],
)
def test_what_is_no_closed_form_is_refused(text: str) -> None:
    with pytest.raises(ExactError):
        read_exact(text)


@in_one_test(
    "text",
    [
        "*".join(f"(1 + sqrt({prime}))" for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)),
        "+".join(f"exp(sqrt({number}))" for number in range(1, 60)),
        "+".join(f"sqrt(2)/{10**60 + number}" for number in range(1, 14, 2)),  # of too many digits
        "+".join(f"1/{10**60 + number}" for number in range(1, 14, 2)),
        "(1 + e)^65",
        "+".join(f"exp({number}/97)/1000000007" for number in range(40)),
    ],
    ids=["product", "exponents", "digits", "fractions", "power", "characters"],
)
def test_what_grows_without_bound_goes_on_in_decimals(text: str) -> None:
    found = read_exact(text)
    assert isinstance(found, Decimal)
    with mpmath.workdps(60):
        assert abs(found / Decimal(mpmath.nstr(in_mpmath(text), 58)) - 1) < Decimal("1e-45")


@given(text=numbers)
def test_how_long_a_number_is_as_it_is_written_is_known_before(text: str) -> None:
    number = read_exact(text)
    if isinstance(number, ExactNumber):
        written = len(str(text_of(number)))
        assert written / 3 < number.length < max(3 * written, 12)
