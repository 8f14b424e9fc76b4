"""Numbers as written: their grammar, their exact values, their one spelling, and what is no
number.
"""

from __future__ import annotations

import contextlib
import math
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.problem.text.number_forms import NumberError, is_plain
from attncli.problem.text.numbers import as_decimal, as_exact, as_float, as_spelled, canonical
from tests.cases import in_one_test

GRAMMAR = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
ROOT_2 = "1.4142135623730950488016887242096980785696718753769"

PLAIN = [
    ("1", 1.0),
    ("-1", -1.0),
    ("+.5", 0.5),
    ("-.5", -0.5),
    (".5", 0.5),
    ("1.", 1.0),
    ("1e3", 1000.0),
    ("1E-2", 0.01),
    ("0", 0.0),
    ("0.5", 0.5),
    ("0e99999999999999999999", 0.0),
    ("1e-99", 1e-99),
    ("179e306", 1.79e308),
]
EXACT = [
    ("1/3", 1 / 3),
    ("-2/5", -0.4),
    ("4 / 8", 0.5),
    ("1.5/2", 0.75),
    ("-1/-4", 0.25),
    ("sqrt(2)", math.sqrt(2)),
    ("-sqrt(2)/2", -math.sqrt(0.5)),
    ("2*sqrt(3)", 2 * math.sqrt(3)),
    ("sqrt(1/2)", math.sqrt(0.5)),
    ("1/sqrt(2)", math.sqrt(0.5)),
    ("-1/sqrt(4)", -0.5),
    ("sqrt(0)", 0.0),
    ("sqrt(0.25)", 0.5),
    ("0/7", 0.0),
]
CANONICAL = [
    ("1.0", "1"),
    ("0.50", "0.5"),
    ("1e3", "1000"),
    ("+.5", "0.5"),
    ("-0", "0"),
    ("-0.0e5", "0"),
    ("2/4", "1/2"),
    ("6/3", "2"),
    ("-2/-4", "1/2"),
    ("0/3", "0"),
    ("sqrt(2)", "sqrt(2)"),
    ("sqrt(4)", "2"),
    ("sqrt(1/4)", "1/2"),
    ("sqrt(1/2)", "sqrt(2)/2"),
    ("1/sqrt(2)", "sqrt(2)/2"),
    ("-sqrt(2)/2", "-sqrt(2)/2"),
    ("2*sqrt(9)", "6"),
    ("2 * sqrt(3)", "2*sqrt(3)"),
    ("0*sqrt(3)", "0"),
    ("1e30", "1e+30"),
    ("1E-12", "1e-12"),
    ("-1.50e-20", "-1.5e-20"),
    ("100000", "100000"),
    ("0.000001", "0.000001"),
    ("12.500", "12.5"),
    ("1.", "1"),
    ("-.inf", "-inf"),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
]
# Each with what a problem would have in its place.
AS_PEOPLE_WRITE = [
    ("½", "1/2"), ("1½", "3/2"), ("- 1½", "-3/2"), ("−½", "-1/2"), ("⅓", "1/3"), ("¹⁄₂", "1/2"),
    ("-1⁄3", "-1/3"), ("(1⁄3)", "1/3"), ("5 ÷ 3", "5/3"), ("(-1)/2", "-1/2"), ("1/(2)", "1/2"),
    ("−1", "-1"), ("–0.5", "-0.5"), ("1e−5", "1e-5"), ("-(5)", "-5"), ("１．５", "1.5"),
    ("√2", "sqrt(2)"), ("√(1/2)", "sqrt(1/2)"), ("1/√2", "1/sqrt(2)"), ("2√3", "2*sqrt(3)"),
    ("-3·√2/2", "-3*sqrt(2)/2"), ("2sqrt(3)", "2*sqrt(3)"), ("((sqrt(2)))", "sqrt(2)"),
    ("(3√2)/4", "3*sqrt(2)/4"), ("-(2*sqrt(3))", "-2*sqrt(3)"), ("1/(2√3)", "1*sqrt(3)/6"),
    ("√ 2", "sqrt(2)"), ("(√2)/2", "sqrt(2)/2"), ("−√2", "-sqrt(2)"),
    ("2^3", "8"), ("2²", "4"), ("2⁻¹", "1/2"), ("-2^2", "-4"), ("2**(-3)", "1/8"),
    ("1.5×10³", "1.5e3"), ("1.5 x 10^-3", "1.5e-3"), ("-∞", "-inf"), ("−∞", "-inf"),
]  # fmt: skip
LIKE = "write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2)"
MINUS = "write the minus sign of the keyboard, as in -1"
REFUSED = [
    ("010", "010 has a leading zero", "write 10"),
    ("-007.5", "-007.5 has a leading zero", "write -7.5"),
    ("1_000", "1_000 is not a number: it has a separator between its digits", "write 1000"),
    ("1:30", "1:30 is not a number", f"attncli does not read hours and minutes; {LIKE}"),
    ("0x10", "0x10 is not a decimal number", "write 16"),
    ("0o17", "0o17 is not a decimal number", "write 15"),
    ("0b12", "0b12 is not a decimal number", LIKE),
    ("yes", "yes is a truth value, not a number", "write 1 or 0"),
    ("true", "true is a truth value, not a number", "write 1 or 0"),
    ("2024-01-31", "2024-01-31 is a date, not a number", LIKE),
    (".nan", ".nan is not a number", "a matrix can hold only finite numbers"),
    ("NaN", "NaN is not a number", "a matrix can hold only finite numbers"),
    (
        ".inf",
        ".inf is not allowed here",
        "only a mask can hold an infinity: -inf, which hides a key",
    ),
    (
        "Infinity",
        "Infinity is not allowed here",
        "only a mask can hold an infinity: -inf, which hides a key",
    ),
    ("1e400", "1e400 is too large", "the largest number is about 1.8e308"),
    (
        "-1e999999999999999999999",
        "-1e999999999999999999999 is too large",
        "the largest number is about 1.8e308",
    ),
    ("1e-400", "1e-400 is too small: it would become 0", "write 0, or use larger numbers"),
    (
        "9" * 400,
        "99999999999999999999…9999999999 (400 characters) is too large",
        "the largest number is about 1.8e308",
    ),
    (
        "1" * 401,
        "11111111111111111111…1111111111 (401 characters) is too long for a number",
        "a number has at most 400 characters",
    ),
    (
        "1/" + "3" * 399,
        "1/333333333333333333…3333333333 (401 characters) is too long for a number",
        "a number has at most 400 characters",
    ),
    ("1/0", "1/0 divides by zero", "write a number other than 0 after the /"),
    ("2/sqrt(0)", "2/sqrt(0) divides by zero", "write a number other than 0 after the /"),
    (
        "sqrt(-2)",
        "sqrt(-2) is the root of a negative number",
        "the number under a root must be 0 or greater",
    ),
    ("1,5", "1,5 has a decimal comma", "write 1.5"),
    ("— 2", "— 2 has a dash that is not the minus sign of the keyboard", "write -2"),
    (
        "–x",
        "–x has a dash that is not the minus sign of the keyboard",
        MINUS,
    ),
    ("3–5", "3–5 has a dash that is not the minus sign of the keyboard", MINUS),
    ("50%", "50% is not a number", "write 50/100"),
    ("O.25", "O.25 has a letter in place of a digit", "write 0.25"),
    ("-l", "-l has a letter in place of a digit", "write -1"),
    ("o", "o has a letter in place of a digit", "write 0"),
    ("1O.l", "1O.l has a letter in place of a digit", "write 10.1"),
    ("1/2√3", "1/2√3 is not a number", LIKE),
    ("√-2", "√-2 is not a number", LIKE),
    ("0·5", "0·5 is not a number", LIKE),
    ("1/3 1", "1/3 1 is more than one number", "put a comma between numbers: 1/3, 1"),
    (
        "11⁄2",
        "11⁄2 can be read in several ways",
        "write 11/2 for the quotient, or 3/2 for 1 1/2",
    ),
    (
        "1 ½",
        "1 ½ can be read in two ways",
        "write 3/2 for the mixed number, or 1/2 for the product",
    ),
    ("- 1 ½", "- 1 ½ is not a number", LIKE),
    ("0^-1", "0^-1 is not a number", LIKE),
    ("9^99", "9^99 is not a number", LIKE),
    (
        "9" * 390 + "^99",
        "99999999999999999999…9999999^99 (393 characters) is not a number",
        LIKE,
    ),
    (
        "0.()",
        "0.() has nothing between its parentheses",
        "write a number there, as in sqrt(2); digits that recur are a fraction, such as 1/3",
    ),
    ("0.(3", "0.(3 has a parenthesis that nothing closes", "write 1/3"),
    ("sqrt(2", "sqrt(2 has a parenthesis that nothing closes", "write sqrt(2)"),
    ("exp(2", "exp(2 has a parenthesis that nothing closes", "write a ) for each ("),
    (
        "0.3)",
        "0.3) has a parenthesis that nothing opens",
        "write a ( for each ), or leave it out",
    ),
    ("", "there is no number here", "write a number, such as 0"),
    ("null", "there is no number here", "write a number, such as 0"),
    ("abc", "abc is not a number", LIKE),
    ("1 2", "1 2 is more than one number", "put a comma between numbers: 1, 2"),
    (
        "1 2/3",
        "1 2/3 can be read in two ways",
        "write 5/3 for the mixed number, or 2/3 for the product",
    ),
    ("0.(3)", "0.(3) is a recurring decimal", "write 1/3"),
    ("-0.16\u0305", "-0.16\u0305 is a recurring decimal", "write -1/6"),
    ("0,(3)", "0,(3) has a decimal comma", "write 1/3"),
    (
        "0.1(6)",
        "0.1(6) can be read in several ways",
        "write 1/6 if the 6 recurs, 0.1 if it is uncertain, 0.6 for the product",
    ),
    ("2(3)", "2(3) can be read in several ways", "write 2 if it is uncertain, 6 for the product"),
    ("(5)", "(5) can be read in two ways", "write 5, or -5, which accounts have in parentheses"),
    (
        "1 1⁄2",
        "1 1⁄2 can be read in two ways",
        "write 3/2 for the mixed number, or 1/2 for the product",
    ),
    (
        "(1)(2)",
        "(1)(2) can be read in several ways",
        "write 2 for the product, or one of the numbers",
    ),
    (
        "(1/2)(3)",
        "(1/2)(3) can be read in several ways",
        "write 3/2 for the product, or one of the numbers",
    ),
    (".(1)(2)", ".(1)(2) is not a number", LIKE),
    ("(1/0)(3)", "(1/0)(3) can be read in several ways", LIKE),
    (
        "0.1(6)(7)",
        "0.1(6)(7) can be read in several ways",
        "write 21/5 for the product, or one of the numbers, or 83/495 if 67 recurs",
    ),
    (
        "-2,3̅4",
        "-2,3̅4 has a line or a dot above digits that cannot recur",
        "write -232/99 if 34 recurs, or -2.34",
    ),
    (
        "1̅2.5",
        "1̅2.5 has a line or a dot above digits that cannot recur",
        "write 12.5, or a fraction such as 1/3 for digits that recur",
    ),
    (
        ".3̅4",
        ".3̅4 has a line or a dot above digits that cannot recur",
        "write 34/99 if 34 recurs, or .34",
    ),
    ("1.2.3̅", "1.2.3̅ has a line or a dot above digits that cannot recur", LIKE),
    ("2^3²", "2^3² can be read in two ways", "write 512 for 2^(3^2), or 64 for (2^3)^2"),
    (
        "-2**3**2",
        "-2**3**2 can be read in two ways",
        "write -512 for -2^(3^2), or -64 for -(2^3)^2",
    ),
    (
        "0.333...",
        "0.333... leaves open which digits follow",
        "write 0.333, or a fraction such as 1/3 for digits that recur",
    ),
    ("٣", "٣ is not a number", LIKE),
    ("1e", "1e is not a number", LIKE),
    ("__import__('os')", "__import__('os') is not a number", LIKE),
    ("9**9**9", "9**9**9 can be read in two ways", LIKE),
]


@in_one_test(("text", "value"), PLAIN + EXACT)
def test_value(text: str, value: float) -> None:
    assert as_float(text) == pytest.approx(value, rel=1e-15, abs=0)


@in_one_test(("text", "spelling"), CANONICAL)
def test_canonical(text: str, spelling: str) -> None:
    assert canonical(text) == spelling


@pytest.mark.parametrize(("text", "meant"), AS_PEOPLE_WRITE)
def test_what_people_write_is_the_number_that_a_problem_would_have(text: str, meant: str) -> None:
    assert as_spelled(text) == meant
    assert as_float(text) == as_float(meant)
    assert canonical(text) == canonical(meant)
    assert as_decimal(text) == as_decimal(meant)


@in_one_test(("text", "message", "help"), REFUSED)
def test_refused(text: str, message: str, help: str) -> None:
    with pytest.raises(NumberError) as caught:
        as_float(text)
    assert (caught.value.message, caught.value.help) == (message, help)


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, as_float("-0")) == 1


def test_exact_values() -> None:
    assert as_exact("1/3") == Fraction(1, 3)
    assert as_exact("0.1") == Fraction(1, 10)
    assert as_exact("2*sqrt(9/4)") == 3
    assert as_exact("sqrt(2)") is None
    assert as_exact("-inf") is None


def test_decimals_have_fifty_digits() -> None:
    assert str(as_decimal("sqrt(2)")) == ROOT_2
    assert as_decimal("0.1") == Decimal("0.1")
    assert as_decimal("-.inf") == Decimal("-Infinity")
    assert str(as_decimal("1/3")) == "0." + "3" * 50


def test_all_digits_are_kept() -> None:
    text = "0." + "1" * 398
    assert canonical(text) == text
    assert as_exact(text) == Fraction(Decimal(text))
    assert as_float(text) == 1 / 9


@given(st.from_regex(GRAMMAR, fullmatch=True))
def test_plain_numbers_agree_with_python(text: str) -> None:
    leading_zero = re.match(r"[-+]?0\d", text)
    assert is_plain(text) == (leading_zero is None)
    if leading_zero:
        return
    expected = float(text)
    if math.isinf(expected) or (expected == 0 and re.search("[1-9]", re.split("[eE]", text)[0])):
        with pytest.raises(NumberError):
            as_float(text)
        return
    assert as_float(text) == expected
    assert as_exact(text) == (Fraction(text) if expected else 0)
    assert as_exact(canonical(text)) == as_exact(text)


@given(st.fractions(), st.fractions(min_value=0), st.integers(1, 99))
def test_fractions_and_roots_agree_with_fractions(
    number: Fraction, under: Fraction, by: int
) -> None:
    fraction = f"{number.numerator}/{number.denominator}"
    assert as_exact(fraction) == number
    assert canonical(fraction) == str(number)
    root = f"{number.numerator}*sqrt({under.numerator}/{under.denominator})/{by}"
    expected = number.numerator * math.sqrt(under) / by
    assert as_float(root) == pytest.approx(expected, rel=1e-14)
    assert as_float(canonical(root)) == pytest.approx(expected, rel=1e-14)


@given(st.text(max_size=12))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    with contextlib.suppress(NumberError):
        assert isinstance(as_float(text), float)
