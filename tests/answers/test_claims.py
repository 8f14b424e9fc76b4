"""What one cell of an answer claims: the number, and how precise it is written."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.answers.claims import read_claim
from attncli.answers.model import Claim
from attncli.problem.text.latex_numbers import from_latex
from attncli.problem.text.number_forms import NumberError
from tests.cases import in_one_test


def claim(text: str) -> Claim:
    found = read_claim(text)
    assert found is not None
    return found


@in_one_test(
    ("text", "value", "half"),
    [
        ("0.70", "0.7", "0.005"),
        ("0.7", "0.7", "0.05"),
        ("5", "5", "0.5"),
        ("5.", "5", "0.5"),
        ("-.5", "-0.5", "0.05"),
        ("+12.0", "12", "0.05"),
        ("1e3", "1000", "500"),
        ("7.0e3", "7000", "50"),
        ("1.5e-3", "0.0015", "0.00005"),
        ("0", "0", "0.5"),
        ("-0.00", "0", "0.005"),
        ("−0.25", "-0.25", "0.005"),
        ("1.5e+20", "150000000000000000000", "5e18"),
        ("1.5·10^20", "150000000000000000000", "5e18"),
        ("1.5 * 10^(-3)", "0.0015", "0.00005"),
        ("- 0.70", "-0.7", "0.005"),
        ("− 0.70", "-0.7", "0.005"),
        ("(-0.70)", "-0.7", "0.005"),
        ("((-0.70))", "-0.7", "0.005"),
        ("-(0.70)", "-0.7", "0.005"),
        ("-(-0.70)", "0.7", "0.005"),
        ("-(1.5·10^(-3))", "-0.0015", "0.00005"),
        ("1.5·10⁻³", "0.0015", "0.00005"),
        ("1.5 × 10²⁰", "150000000000000000000", "5e18"),
        ("1.5x10^3", "1500", "50"),
        ("1.5 X 10⁻³", "0.0015", "0.00005"),
        ("０．７０", "0.7", "0.005"),
        (
            "0.1234567890123456789012345",
            "0.1234567890123456789012345",
            "0.00000000000000000000000005",
        ),
    ],
)
def test_the_digits_are_the_precision(text: str, value: str, half: str) -> None:
    found = claim(text)
    assert (found.value, found.half) == (Decimal(value), Decimal(half))
    assert not found.exact


@in_one_test(
    ("text", "spelled", "value"),
    [
        ("7/10", "7/10", lambda: mpmath.mpf(7) / 10),
        ("-2/5", "-2/5", lambda: -mpmath.mpf(2) / 5),
        ("sqrt(2)", "sqrt(2)", lambda: mpmath.sqrt(2)),
        ("√2/2", "sqrt(2)/2", lambda: mpmath.sqrt(2) / 2),
        ("-3·√2", "-3*sqrt(2)", lambda: -3 * mpmath.sqrt(2)),
        ("5 / sqrt(3)", "5/sqrt(3)", lambda: 5 / mpmath.sqrt(3)),
        ("√(1/2)", "sqrt(1/2)", lambda: mpmath.sqrt(0.5)),
        ("e", "e", lambda: mpmath.e),
        ("e^(5/√3)", "e^(5/sqrt(3))", lambda: mpmath.exp(5 / mpmath.sqrt(3))),
        ("exp(-1.5)", "exp(-1.5)", lambda: mpmath.exp(-1.5)),
        ("2^(3/2)", "2^(3/2)", lambda: mpmath.mpf(2) ** 1.5),
        ("-2**2", "-2**2", lambda: mpmath.mpf(-4)),
        ("2^(3^2)", "2^(3^2)", lambda: mpmath.mpf(512)),
        ("(2^3)^2", "(2^3)^2", lambda: mpmath.mpf(64)),
        ("-2^2", "-2^2", lambda: mpmath.mpf(-4)),
        ("e^5/3", "e^5/3", lambda: mpmath.exp(5) / 3),
        ("2^(1)/2", "2^(1)/2", lambda: mpmath.mpf(1)),
        ("0.5 e", "0.5*e", lambda: mpmath.e / 2),
        ("0.5e^2", "0.5*e^2", lambda: mpmath.exp(2) / 2),
        ("tanh(2)^2", "tanh(2)^2", lambda: mpmath.tanh(2) ** 2),
        ("2^-1", "2^-1", lambda: mpmath.mpf("0.5")),
        ("1 - 2 - 3", "1-2-3", lambda: mpmath.mpf(-4)),
        ("8/4/2", "8/4/2", lambda: mpmath.mpf(1)),
        ("2√3", "2*sqrt(3)", lambda: 2 * mpmath.sqrt(3)),
        ("5√3/3", "5*sqrt(3)/3", lambda: 5 / mpmath.sqrt(3)),
        ("2 tanh(2)", "2*tanh(2)", lambda: 2 * mpmath.tanh(2)),
        ("-24 ln(2)/5", "-24*ln(2)/5", lambda: -24 * mpmath.log(2) / 5),
        ("ln(√3)^2", "ln(sqrt(3))^2", lambda: mpmath.log(3) ** 2 / 4),
        ("e^(5√3/3)", "e^(5*sqrt(3)/3)", lambda: mpmath.exp(5 / mpmath.sqrt(3))),
        ("2e", "2*e", lambda: 2 * mpmath.e),
        ("5 e - 3", "5*e-3", lambda: 5 * mpmath.e - 3),
        ("e² + 10³", "e^(2)+10^(3)", lambda: mpmath.exp(2) + 1000),
        ("½", "1/2", lambda: mpmath.mpf("0.5")),
        ("-1½", "-3/2", lambda: mpmath.mpf("-1.5")),
        ("2¹⁄₁₆", "33/16", lambda: mpmath.mpf("2.0625")),
        ("½√3", "(1/2)*sqrt(3)", lambda: mpmath.sqrt(3) / 2),
        ("½(1 + e)", "(1/2)*(1+e)", lambda: (1 + mpmath.e) / 2),
        ("2^½", "2^(1/2)", lambda: mpmath.sqrt(2)),
        ("1e - ½", "1*e-(1/2)", lambda: mpmath.e - 0.5),
        ("2⁻¹", "2^(-1)", lambda: mpmath.mpf("0.5")),
        ("-2²", "-2^(2)", lambda: mpmath.mpf(-4)),
        ("2¹²/2", "2^(12)/2", lambda: mpmath.mpf(2048)),
        ("(1 + e)²√3", "(1+e)^(2)*sqrt(3)", lambda: (1 + mpmath.e) ** 2 * mpmath.sqrt(3)),
        ("5÷3", "5/3", lambda: mpmath.mpf(5) / 3),
        ("1⁄3", "1/3", lambda: mpmath.mpf(1) / 3),
        ("10⁄3 - 15⁄2", "10/3-15/2", lambda: mpmath.mpf(-25) / 6),
        ("２／３", "2/3", lambda: mpmath.mpf(2) / 3),
        ("√3√2", "sqrt(3)*sqrt(2)", lambda: mpmath.sqrt(6)),
        ("2(1/3)", "2*(1/3)", lambda: mpmath.mpf(2) / 3),
        ("2·10 − 3·4", "2*10-3*4", lambda: mpmath.mpf(8)),
        ("2*10-3", "2*10-3", lambda: mpmath.mpf(17)),
        ("1.5*10 - 3", "1.5*10-3", lambda: mpmath.mpf(12)),
        ("3·10+2", "3*10+2", lambda: mpmath.mpf(32)),
        ("1.5*103", "1.5*103", lambda: mpmath.mpf("154.5")),
        ("2.5·100", "2.5*100", lambda: mpmath.mpf(250)),
        ("12·10-3", "12*10-3", lambda: mpmath.mpf(117)),
        ("(2/1.5)·10^3", "(2/1.5)*10^3", lambda: mpmath.mpf(4000) / 3),
        ("3e^(2)√5", "3*e^(2)*sqrt(5)", lambda: 3 * mpmath.exp(2) * mpmath.sqrt(5)),
        ("2√3√5 - 1", "2*sqrt(3)*sqrt(5)-1", lambda: 2 * mpmath.sqrt(15) - 1),
        ("2(1 + e)(1/2)", "2*(1+e)*(1/2)", lambda: 1 + mpmath.e),
        ("0.(3)", "1/3", lambda: mpmath.mpf(1) / 3),
        ("-1.(6)", "-5/3", lambda: -mpmath.mpf(5) / 3),
        ("0.(142857)", "1/7", lambda: mpmath.mpf(1) / 7),
        ("0.(9)", "1", lambda: mpmath.mpf(1)),
        ("0.16\u0305", "1/6", lambda: mpmath.mpf(1) / 6),
        ("0.1\u030742857\u0307", "1/7", lambda: mpmath.mpf(1) / 7),
        ("2√0.(3)", "2*sqrt((1/3))", lambda: 2 / mpmath.sqrt(3)),
        ("√e", "sqrt(e)", lambda: mpmath.exp(0.5)),
        ("√√2", "sqrt(sqrt(2))", lambda: mpmath.mpf(2) ** 0.25),
        ("tanh(-1/2)^2", "tanh(-1/2)^2", lambda: mpmath.tanh(0.5) ** 2),
        (
            "3 sin(1/10) - cos(10^9)",
            "3*sin(1/10)-cos(10^9)",
            lambda: 3 * mpmath.sin(mpmath.mpf(1) / 10) - mpmath.cos(10**9),
        ),
        ("tanh(1/10^9)", "tanh(1/10^9)", lambda: mpmath.tanh(mpmath.mpf(10) ** -9)),
        ("e^(-9999)", "e^(-9999)", lambda: mpmath.mpf(0)),
        (
            "e^(5/sqrt(3))/(e^(1/sqrt(3)) + e^(5/sqrt(3)) + e^sqrt(3))",
            "e^(5/sqrt(3))/(e^(1/sqrt(3))+e^(5/sqrt(3))+e^sqrt(3))",
            lambda: (
                mpmath.exp(5 / mpmath.sqrt(3))
                / sum(mpmath.exp(x / mpmath.sqrt(3)) for x in (1, 5, 3))
            ),
        ),
    ],
)
def test_a_calculation_is_exact(text: str, spelled: str, value: object) -> None:
    found = claim(text)
    assert found.exact
    assert found.text == spelled
    with mpmath.workdps(60):
        assert abs(mpmath.mpf(str(found.value)) - value()) < mpmath.mpf(10) ** -45  # type: ignore[operator]


@in_one_test(
    ("text", "spelled"),
    [
        ("1/√3 ≈ 0.577", "1/sqrt(3)"),
        ("0.577 ≈ 1/√3", "1/sqrt(3)"),
        ("-11/8 = -1.375", "-11/8"),
        ("5/√3 = 5√3/3 ≈ 2.89", "5/sqrt(3)"),
        ("2.887 ≈ 2.89", "2.887"),
        ("2 ≈ 2.000", "2.000"),
        ("e^(-2000) ≈ 0.000", "e^(-2000)"),
        ("e^(50) ≈ 5.2·10^21", "e^(50)"),
        ("≈ 0.577", "0.577"),
        ("1/3 = ______", "1/3"),
        ("-∞ = -inf", "-inf"),
    ],
)
def test_of_a_number_written_twice_the_more_precise_is_claimed(text: str, spelled: str) -> None:
    assert claim(text).text == spelled


MINUS_INFINITIES = (
    ("-inf", "-Inf", "-INF", "-.inf", "- inf", "−inf", "-Infinity", "−infinity", "-infinite"),
    ("-∞", "−∞", "–∞", "- ∞", "-oo", "-OO", "-infty", r"-\infty", "-np.inf", "-math.inf"),
)


@in_one_test("spelled", [text for texts in MINUS_INFINITIES for text in texts])
def test_infinity_in_every_spelling(spelled: str) -> None:
    """Without a minus, or with a plus, it is another number, which no step has."""
    found = claim(spelled)
    assert (found.text, found.value, found.hidden) == ("-inf", -math.inf, True)
    without = spelled[1:].strip()
    for text in (without, f"+{without}"):
        found = claim(text)
        assert (found.text, found.value, found.hidden) == ("inf", math.inf, False)


@in_one_test(
    ("source", "text"),
    [
        (r"\frac{1}{\sqrt{3}}", "1/sqrt(3)"),
        (r"2 \tanh(2)", "2 tanh(2)"),
        (r"-\frac{24 \ln(2)}{5}", "-(24 ln(2))/5"),
        (r"\frac{e - 1}{\left(e + 1\right)^{2}}", "(e - 1)/((e + 1)^(2))"),
        (r"e^{2\tanh(2)}", "e^(2tanh(2))"),
        (r"\frac{1}{2} \sqrt{3}", "(1/2) sqrt(3)"),
        (r"\frac{2}{3}^{2}", "(2/3)^(2)"),
        (r"2/\frac{3}{4}", "2/(3/4)"),
        (r"-\frac{2}{3} + \frac{1}{2}", "-2/3 + 1/2"),
        (r"2\frac13", "2 1/3"),
        (r"2^1 + 3^{10} + 2^\frac12", "2^(1) + 3^(10) + 2^(1/2)"),
        (r"3e\tanh(2)", "3e tanh(2)"),
        (r"\cos\mathopen{}\left(\frac{1}{2}\right)", "cos(1/2)"),
        (r"\frac{e^{2}}{e^{1/\sqrt{3}} + 1} \approx 2.674", "e^(2)/(e^(1/sqrt(3)) + 1) ≈ 2.674"),
    ],
)
def test_latex_in_the_spelling_of_claims(source: str, text: str) -> None:
    assert from_latex(source) == text


@pytest.mark.parametrize("text", ["np.float64(0.70)", "numpy.float64(0.70)", "np.float32(0.70)"])
def test_a_number_as_numpy_prints_it(text: str) -> None:
    assert claim(text) == claim("0.70")


@in_one_test(
    ("text", "value", "half"),
    [
        ("22 %", "0.22", "0.005"),
        ("22%", "0.22", "0.005"),
        ("22.3 %", "0.223", "0.0005"),
        ("22.0%", "0.220", "0.0005"),
        ("100 %", "1.00", "0.005"),
        ("0 %", "0.00", "0.005"),
        ("−7 %", "-0.07", "0.005"),
        ("２２％", "0.22", "0.005"),
        ("70.7\u00a0%", "0.707", "0.0005"),
        ("0." + "7" * 390 + " %", "0.00" + "7" * 390, "5e-393"),
    ],
)
def test_percent_is_as_precise_as_it_was_written(text: str, value: str, half: str) -> None:
    found = claim(text)
    assert (found.text, found.value, found.half) == (value, Decimal(value), Decimal(half))


def test_percent_is_shown_as_it_was_written() -> None:
    assert claim("22%").as_written == "22 %"


@pytest.mark.parametrize("text", ["-inf", "-∞", "−∞", "-.inf", "-Infinity"])
def test_minus_infinity(text: str) -> None:
    assert claim(text) == Claim("-inf", Decimal("-Infinity"), Decimal(0))


@in_one_test("text", ["", "  ", "_", "______", "?", "\u00a0", "-", "−", "–", "—"])
def test_blank(text: str) -> None:
    assert read_claim(text) is None


def test_as_deep_as_is_read() -> None:
    assert claim("(" * 40 + "1/2" + ")" * 40).value == Decimal("0.5")


DEEP = "40 parentheses, signs and powers inside one another are the most"


@in_one_test(
    ("text", "message", "help"),
    [
        ("love", "love is not a number", "7/10, 5/sqrt(3)"),
        ("0,7", "0,7 has a decimal comma", "write 0.7"),
        ("70,7 %", "70,7 % has a decimal comma", "write 70.7 %"),
        ("1/3 %", "1/3 % is not a number", "0.71"),
        ("5 %%", "5 %% is not a number", "0.71"),
        ("1_000", "separator between its digits", "write 1000"),
        ("1 000", "separator between its digits", "write 1000"),
        ("010", "has a leading zero", "write 10"),
        ("2024-11-05", "is a date", "0.71"),
        ("true", "is a truth value", "write 1 or 0"),
        ("nan", "nan is not a number", "finite"),
        ("1/0", "1/0 divides by zero", "other than 0"),
        ("0^-1", "divides by zero", "other than 0"),
        ("sqrt(-2)", "cannot be worked out", "positive"),
        ("0^0", "cannot be worked out", "positive"),
        ("9^(9^(9^9))", "is too large", "1.8e308"),
        ("1e309", "1e309 is too large", "1.8e308"),
        ("1e99999999999999999999", "is too large", "1.8e308"),
        ("1e-99999999999999999999", "is too small: it would become 0", "write 0"),
        (
            "0." + "3" * 399,
            "(401 characters) is too long for a number",
            "a number has at most 400 characters",
        ),
        ("0/0", "0/0 divides by zero", "other than 0"),
        ("(1 - 1)/(2 - 2)", "divides by zero", "other than 0"),
        ("(" * 150 + "1" + ")" * 150, "is nested too deeply", DEEP),
        ("(" * 41 + "1" + ")" * 41, "is nested too deeply", DEEP),
        ("exp(" * 70 + "0" + ")" * 70, "is nested too deeply", DEEP),
        ("√" * 41 + "1", "is nested too deeply", DEEP),
        ("-" * 300 + "1", "is nested too deeply", DEEP),
        ("2^(" * 41 + "1" + ")" * 41, "is nested too deeply", DEEP),
        ("2 3", "2 3 is more than one number", "2, 3"),
        ("2*", "2* is not a number", "0.71"),
        ("sqrt(", "sqrt( has a parenthesis that nothing closes", "as in sqrt(2)"),
        ("__import__('os')", "is not a number", "0.71"),
        ("1/2√3", "can be read in two ways", "1/(2*sqrt(3))"),
        (
            "1/√3(2)",
            "can be read as a product, or as a number and a remark",
            "write 2*(1 + e) for a product",
        ),
        ("e^5√3", "can be read in two ways", "write * and parentheses"),
        ("2^3^2", "can be read in two ways", "write 512 for 2^(3^2), or 64 for (2^3)^2"),
        ("2^2²", "can be read in two ways", "write 16, which both readings give"),
        ("9^9^9", "can be read in two ways", "write a number such as 0.71"),
        ("2.5^3^2", "can be read in two ways", "write parentheses: 2^(3^2), or (2^3)^2"),
        (
            "2.3̅4",
            "2.3̅4 has a line or a dot above digits that cannot recur",
            "write 232/99 if 34 recurs, or 2.34",
        ),
        ("3̅", "above digits that cannot recur", "write 3, or a fraction such as 1/3"),
        (
            "0.(1)(6)",
            "0.(1)(6) can be read in several ways",
            "write 2/3 for the product, or one of the numbers, or 16/99 if 16 recurs",
        ),
        (from_latex(r"\sqrt23"), r"\sqrt23 has a root without braces", r"\sqrt{23}, or \sqrt{2}*3"),
        (from_latex(r"\frac{1}{\sqrt 2.5}"), r"\sqrt2.5 has a root", r"\sqrt{2.5}, or \sqrt{2}*.5"),
        (from_latex(r"e^{\sqrt-1}"), r"\sqrt-1 has a root without braces", r"write \sqrt{-1}"),
        ("2^-(3)**2", "can be read in two ways", "write parentheses: 2^(3^2), or (2^3)^2"),
        ("2^1/2", "can be read in two ways", "write parentheses: 2^(1/2), or (2^1)/2"),
        ("e^-1/√3", "can be read in two ways", "write parentheses: 2^(1/2), or (2^1)/2"),
        ("0.5e", "as a power of ten whose exponent is missing", "write 0.5*e for the product"),
        ("5.e/3", "as a power of ten whose exponent is missing", "write 0.5*e for the product"),
        ("2.5e - 3", "can be read in two ways", "write 5e-3 for a power of ten, or 5*e - 3"),
        ("2^-3e", "can be read in two ways", "write * and parentheses"),
        ("5e - 3", "can be read in two ways", "write 5e-3 for a power of ten, or 5*e - 3"),
        ("5e -3", "can be read in two ways", "write 5e-3 for a power of ten, or 5*e - 3"),
        ("2.e5e-3", "can be read in two ways", "write 5e-3 for a power of ten, or 5*e - 3"),
        ("5e- 3", "can be read in two ways", "write 5e-3 for a power of ten, or 5*e - 3"),
        (
            "1.5×10−3",
            "1.5×10−3 can be read as 1.5e-3 or as 1.5*10 - 3",
            "write 1.5e-3, or 1.5*10 - 3",
        ),
        ("1.5 × 10 −3", "can be read as 1.5e-3 or as 1.5*10 - 3", "write 1.5e-3, or 1.5*10 - 3"),
        ("-2.5·10-4", "can be read as -2.5e-4 or as -2.5*10 - 4", "write -2.5e-4, or -2.5*10 - 4"),
        ("1.5 * 10-3", "can be read as 1.5e-3 or as 1.5*10 - 3", "write 1.5e-3, or 1.5*10 - 3"),
        ("2×10-3", "can be read as 2e-3 or as 2*10 - 3", "write 2e-3, or 2*10 - 3"),
        ("1.5×103", "1.5×103 can be read as 1.5e3 or as 1.5*103", "write 1.5e3, or 1.5*103"),
        ("1.5×103 + 2", "can be read as 1.5e3 or as 1.5*103", "write 1.5e3, or 1.5*103"),
        (
            "2/1.5·10^3",
            "2/1.5·10^3 can be read in two ways",
            "write parentheses: 2/(1.5*10^3), or (2/1.5)*10^3",
        ),
        (
            "((0.70))",
            "(0.70) can be read in two ways",
            "write 0.70, or -0.70, which accounts have in parentheses",
        ),
        (
            "2 1/3",
            "2 1/3 can be read in two ways",
            "write 7/3 for the mixed number, or 2/3 for the product",
        ),
        (
            "-1 1/2",
            "-1 1/2 can be read in two ways",
            "write -3/2 for the mixed number, or -1/2 for the product",
        ),
        (
            "0.1(6)",
            "0.1(6) can be read in several ways",
            "write 1/6 if the 6 recurs, 0.1 if it is uncertain, 0.6 for",
        ),
        (
            "-0.577(1)",
            "in several ways",
            "write -2597/4500 if the 1 recurs, -0.577 if it is uncertain, -0.577 for",
        ),
        (
            "10(1)",
            "10(1) can be read in several ways",
            "write 10 if it is uncertain, 10 for the product",
        ),
        (
            "(0.70)",
            "(0.70) can be read in two ways",
            "write 0.70, or -0.70, which accounts have in parentheses",
        ),
        (
            "(1)(2)",
            "(1)(2) can be read in several ways",
            "write 2 for the product, or one of the numbers",
        ),
        (
            "0.577 (1/√3)",
            "can be read as a product, or as a number and a remark",
            "write 2*(1 + e) for a product",
        ),
        (
            "√2 (1.41)",
            "can be read as a product, or as a number and a remark",
            "write 2*(1 + e) for a product",
        ),
        (
            "0.5(1 + e)",
            "can be read as a product, or as a number and a remark",
            "write 2*(1 + e) for a product",
        ),
        ("√3e", "can be read in two ways", "sqrt(3)*e, or sqrt(3*e)"),
        ("0·5", "0·5 can be read as 0.5 or as a product", "write 0.5, or 0*5"),
        ("3–5", "3–5 can be read as 3 minus 5, or as a range", "write one number, or 3 - 5"),
        ("12 -3", "12 -3 is more than one number", "12, -3"),
        ("0,(3)", "0,(3) has a decimal comma", "write 1/3"),
        (
            "0.333...",
            "0.333... leaves open which digits follow",
            "write 0.333, or a fraction such as 1/3",
        ),
        ("0,3…", "0,3… leaves open which digits follow", "write 0.3, or a fraction such as 1/3"),
        ("1.5··10^2", "1.5··10^2 is not a number", "0.71"),
        ("2*010", "2*010 is not a number", "0.71"),
        ("3 e 2", "3 e 2 has no sign between e and 2", "3 e*2"),
        ("2 tanh", "2 tanh is not a number", "0.71"),
        ("tanh(0^-2)", "divides by zero", "other than 0"),
        (
            "np.float64(" * 2000 + "1" + ")" * 2000,
            "is too long for a number",
            "at most 400 characters",
        ),
        ("(1+e)2", "(1+e)2 has no sign between ) and 2", "(1+e)*2 for a product, or (1+e)^2 for"),
        ("sqrt(2)3", "has no sign between ) and 3", "sqrt(2)*3 for a product, or sqrt(2)^3 for"),
        ("1/3 1", "1/3 1 has no sign between 3 and 1", "1/3*1 for a product, or one number"),
        ("½2", "½2 has no sign between ½ and 2", "write ½*2 for a product"),
        ("11⁄2", "can be read in several ways", "write 11/2 for the quotient, or 3/2 for 1 1/2"),
        (
            "115⁄16 - 1",
            "can be read in several ways",
            "115/16 for the quotient, or 31/16 for 1 15/16, or 181/16 for 11 5/16",
        ),
        ("e^2⁄3", "e^2⁄3 can be read in several ways", "e^(2/3), or (e^2)/3"),
        ("√3⁄2", "√3⁄2 can be read in several ways", "write / and parentheses"),
        ("1⁄0", "1⁄0 is not a number", "0.71"),
        (
            from_latex(r"\sqrt{3} + 10^-2"),
            "sqrt(3) + 10^-2 has an exponent without braces",
            "write 10^{-2}",
        ),
        (from_latex("2^1.5"), "2^1.5 has an exponent without braces", "write 2^{1.5}, or 2^{1}*.5"),
        (
            from_latex(r"e^-\frac{1}{2}"),
            "has an exponent without braces",
            "write braces around all of it, as in 10^{-1}",
        ),
        ("2^(3)4", "2^(3)4 has no sign between ) and 4", "write 2^(3)*4 for a product"),
        (
            "1 ½",
            "1 ½ can be read in two ways",
            "write 3/2 for the mixed number, or 1/2 for the product",
        ),
        ("1.5x103", "can be read as 1.5e3 or as 1.5*103", "write 1.5e3, or 1.5*103"),
        ("0x10", "0x10 is not a decimal number", "write 16"),
        ("2⁻", "2⁻ is not a number", "0.71"),
        ("1.5E³", "1.5E³ is not a number", "0.71"),
        ("0.()", "0.() has nothing between its parentheses", "a fraction, such as 1/3"),
        ("0.(3", "0.(3 has a parenthesis that nothing closes", "write 1/3"),
        ("sqrt(2", "sqrt(2 has a parenthesis that nothing closes", "write sqrt(2)"),
        ("0.3)", "0.3) has a parenthesis that nothing opens", "write a ( for each ), or leave it"),
        ("√3 2", "√3 2 has no sign between 3 and 2", "√3*2"),
        ("e(2)", "e(2) is not a number", "0.71"),
        ("tanh 2", "tanh 2 has no parentheses after tanh", "as in tanh(2)"),
        ("ln √2", "ln √2 has no parentheses after ln", "as in ln(2)"),
        (
            "tanh^2(1)",
            "tanh^2(1) has a power between tanh and its argument",
            "write the power behind the parentheses, as in tanh(2)^3",
        ),
        ("ln**-1(2)", "has a power between ln and its argument", "as in ln(2)^3"),
        ("tanh", "tanh is not a number", "0.71"),
        (
            "ln(0)",
            "ln(0) cannot be worked out",
            "roots, powers and logarithms need positive numbers",
        ),
        ("e^ln(1 - 2)", "e^ln(1 - 2) cannot be worked out", "logarithms need positive numbers"),
        ("1/2 ln(2)", "can be read in two ways", "write * and parentheses"),
        ("cos(10^10)", "cos of 10000000000 cannot be worked out", "1e9"),
        (
            "1/√3 ≈ 0.578",
            "1/sqrt(3) and 0.578 are not the same number",
            "1/sqrt(3) is 0.577: correct one of the two",
        ),
        (
            "1234.5 + 0 = 1.4e3",
            "1234.5+0 and 1.4e3 are not the same number",
            "correct one of the two",
        ),
        (
            "√2/2 ≈ 1/√3",
            "sqrt(2)/2 and 1/sqrt(3) are not the same number",
            "correct one of the two",
        ),
        ("-inf = 0", "-inf and 0 are not the same number", "correct one of the two"),
        ("1/3 ≈ 0,333", "0,333 has a decimal comma", "write 0.333"),
        ("1/3 ≈ 1e-999", "1/3 and 1e-999 are not the same number", "correct one of the two"),
        ("=", "= is not a number", "0.71"),
    ],
)
def test_no_claim(text: str, message: str, help: str) -> None:
    with pytest.raises(NumberError) as error:
        read_claim(text)
    assert message in error.value.message
    assert help in error.value.help


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-1000, max_value=1000),
    st.integers(0, 5),
)
def test_a_number_lies_within_what_its_rounding_claims(value: Decimal, places: int) -> None:
    rounded = claim(str(value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)))
    assert rounded.half == Decimal(5).scaleb(-places - 1)
    assert abs(rounded.value - value) <= rounded.half


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000)
)
def test_a_zero_more_claims_ten_times_as_much(value: Decimal) -> None:
    less, more = claim(f"{value:f}"), claim(f"{value:f}0")
    assert less.value == more.value
    assert less.half == 10 * more.half


@given(st.integers(-999, 999), st.integers(1, 999), st.integers(-999, 999), st.integers(1, 999))
def test_fractions_are_worked_out_as_fractions(a: int, b: int, c: int, d: int) -> None:
    found = claim(f"{a}/{b} - ({c})/{d}*2 + 1")
    truth = Fraction(a, b) - Fraction(c, d) * 2 + 1
    assert found.exact
    assert abs(Fraction(found.value) - truth) < Fraction(1, 10**45)


def is_told(text: str) -> bool:
    """Whether a text is a claim or blank, or else an error with words and a help."""
    try:
        found = read_claim(text)
    except NumberError as error:
        return bool(error.message and error.help)
    return found is None or found.half >= 0


@pytest.mark.long
@given(st.text(max_size=30))
def test_any_text_is_a_claim_or_blank_or_an_error(text: str) -> None:
    assert is_told(text)


@given(
    st.lists(
        st.sampled_from(
            [*"0123456789.+-*/^()e√≈ ", "sqrt(", "exp(", "tanh(", "sin(", "10^", "1e9", "-inf"]
        ),
        max_size=40,
    )
)
def test_any_calculation_too(pieces: list[str]) -> None:
    assert is_told("".join(pieces))
