"""The tables of spellings: complete in every notation, and spelled as the field spells them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from attncli.equation.functions import FUNCTIONS, MATRIX_FORMS
from attncli.equation.mathml import MATHML
from attncli.equation.nodes import Call, Name, Number
from attncli.equation.notation import (
    LATEX,
    LATEX_LINE,
    PLAIN,
    PRINTED,
    PYTHON,
    UNICODE,
    Notation,
)
from attncli.equation.parser import parse_equation, parse_expression
from attncli.equation.printer import write, write_equation, write_number
from attncli.equation.spreadsheet_notation import SPREADSHEET
from tests.cases import in_one_test

NOTATIONS = {"plain": PLAIN, "unicode": UNICODE, "latex": LATEX, "mathml": MATHML}
# Of those that Excel and LibreOffice have, under the same name.
SPREADSHEET_FUNCTIONS = {
    "ABS",
    "AND",
    "COS",
    "COUNT",
    "ERF",
    "EXP",
    "IF",
    "INT",
    "ISTEXT",
    "LN",
    "MAX",
    "MIN",
    "MMULT",
    "MOD",
    "N",
    "NORMSDIST",
    "OR",
    "PI",
    "SIN",
    "SQRT",
    "SUM",
    "SUMPRODUCT",
    "TANH",
}
ARGUMENTS = {
    "pi": 0,
    "where": 3,
    **dict.fromkeys(["neg", "sqrt", "exp", "log", "tanh", "sin", "cos", "abs", "finite"], 1),
    **dict.fromkeys(["sigmoid", "softplus", "erf", "silu", "gelu", "phi", "relu"], 1),
    **dict.fromkeys(["softmax", "row_sums", "column_sums", "row_maxima", "join"], 1),
    **dict.fromkeys(["transpose", "transposed", "diagonal"], 1),
    **dict.fromkeys(["left_out", "e_to", "nearly", "equally"], 1),
}


@in_one_test("function", sorted(FUNCTIONS))
def test_spreadsheets_have_the_functions_that_workbooks_call(function: str) -> None:
    arguments = tuple(Name(letter) for letter in "xyz"[: ARGUMENTS.get(function, 2)])
    written = write(Call(function, arguments), SPREADSHEET)
    assert {*re.findall(r"([A-Z_]+)\(", written)} <= SPREADSHEET_FUNCTIONS


def test_a_function_that_spreadsheets_may_lack_is_not_written() -> None:
    with pytest.raises(LookupError, match="no SINC: spell sinc"):
        write(Call("sinc", (Name("x"),)), SPREADSHEET)


@in_one_test("notation", NOTATIONS.values(), ids=NOTATIONS)
@in_one_test("function", sorted({*FUNCTIONS, *MATRIX_FORMS, *PRINTED}))
def test_every_function_is_spelled_with_all_its_arguments(
    function: str, notation: Notation
) -> None:
    arguments = tuple(Name(letter) for letter in "xyz"[: ARGUMENTS.get(function, 2)])
    written = write(Call(function, arguments), notation)
    assert all(argument.name in written for argument in arguments)
    unescaped = re.sub(r"\\.", "", written)
    assert unescaped.count("{") == unescaped.count("}")
    assert "{0}" not in written


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=NOTATIONS)
def test_no_spelling_is_left_over(notation: Notation) -> None:
    assert set(notation.functions) <= {*FUNCTIONS, *MATRIX_FORMS, *PRINTED}
    assert {*notation.functions} >= {*PRINTED}  # which have no name that could be written


@pytest.mark.parametrize(("notation", "written"), [(PLAIN, "erf(x)"), (LATEX, r"\mathrm{erf}(x)")])
def test_what_is_in_no_table_is_spelled_by_its_name(notation: Notation, written: str) -> None:
    assert write(Call("erf", (Name("x"),)), notation) == written


@in_one_test(
    ("source", "plain", "unicode", "latex"),
    [
        ("Q @ K_T", "Q K^T", "Q Kᵀ", r"Q \, K^{\top}"),
        ("A @ (B + C)", "A (B + C)", "A (B + C)", r"A \, (B + C)"),
        ("transpose(A @ B)", "transpose(A B)", "transpose of (A B)", r"\mathrm{transpose}(A \, B)"),
        (
            "scores / sqrt(d_k)",
            "scores / sqrt(d_k)",
            "scores / √d_k",
            r"\frac{\mathrm{scores}}{\sqrt{d_{k}}}",
        ),
        ("sqrt(a + b)", "sqrt(a + b)", "√(a + b)", r"\sqrt{a + b}"),
        ("exp(x)", "exp(x)", "exp(x)", r"\exp(x)"),
        ("exp(2)", "exp(2)", "e^2", "e^{2}"),
        ("exp(a + b)", "exp(a + b)", "exp(a + b)", r"\exp(a + b)"),
        ("W_Q[d, k]", "W_Q[d, k]", "W_Q[d, k]", r"W^{Q}_{d,k}"),
        (
            "Q[i, k] * K_T[k, j]",
            "Q[i, k]*K^T[k, j]",
            "Q[i, k]·Kᵀ[k, j]",
            r"Q_{i,k} \cdot K^{\top}_{k,j}",
        ),
        (
            "sum(k, Q[i, k] + 1)",
            "sum(k, (Q[i, k] + 1))",
            "Σ_k (Q[i, k] + 1)",
            r"\sum_{k} (Q_{i,k} + 1)",
        ),
        ("max(j, S[i, j])", "max(j, S[i, j])", "max_j S[i, j]", r"\max_{j} S_{i,j}"),
        ("max(1, b)", "max(1, b)", "max(1, b)", r"\max(1, b)"),
        ("max(a, b, -2)", "max(a, b, -2)", "max(a, b, -2)", r"\max(a, b, -2)"),
        (
            "j <= i and j >= 2",
            "j <= i and j >= 2",
            "j ≤ i and j ≥ 2",
            r"j \le i \;\mathrm{and}\; j \ge 2",
        ),
        ("tanh(x)", "tanh(x)", "tanh(x)", r"\tanh(x)"),
        ("softmax(S)", "softmax(S)", "softmax(S)", r"\mathrm{softmax}(S)"),
        ("-inf", "-inf", "-∞", r"-\infty"),
        ("tanh(x / 2)", "tanh(x / 2)", "tanh(x / 2)", r"\tanh\mathopen{}\left(\frac{x}{2}\right)"),
        (
            "a * (b / c + 1)",
            "a*(b / c + 1)",
            "a·(b / c + 1)",
            r"a \cdot \left(\frac{b}{c} + 1\right)",
        ),
        ("b ** (x + 1)", "b^(x + 1)", "b^(x + 1)", "b^{x + 1}"),
        ("share(a, b)", "a / b", "a / b", r"\frac{a}{b}"),
        ("abs(x)", "abs(x)", "|x|", r"\left|x\right|"),
        ("a // b", "a // b", "⌊a/b⌋", r"\lfloor a / b \rfloor"),
        ("a % b", "a mod b", "a mod b", r"a \bmod b"),
        ("row_sums(A)", "rowsum(A)", "row sums of A", r"\mathrm{rowsum}(A)"),
        ("column_sums(A)", "colsum(A)", "column sums of A", r"\mathrm{colsum}(A)"),
        ("row_maxima(A)", "rowmax(A)", "row maxima of A", r"\mathrm{rowmax}(A)"),
        ("hadamard(A, B)", "A o B", "A ∘ B", r"A \circ B"),
        ("hadamard(A, B) @ C", "(A o B) C", "(A ∘ B) C", r"(A \circ B) \, C"),
        ("A / 2 @ B", "(A / 2) B", "(A / 2) B", r"\frac{A}{2} \, B"),
        ("A @ B @ C", "A B C", "A B C", r"A \, B \, C"),
        ("transposed(A)", "A^T", "Aᵀ", r"{A}^{\top}"),
    ],
)
def test_spellings(source: str, plain: str, unicode: str, latex: str) -> None:
    tree = parse_expression(source)
    assert [write(tree, notation) for notation in (PLAIN, UNICODE, LATEX)] == [
        plain,
        unicode,
        latex,
    ]


@in_one_test(
    ("text", "plain", "unicode", "latex"),
    [
        ("0.707", "0.707", "0.707", "0.707"),
        ("-2.5", "-2.5", "-2.5", "-2.5"),
        ("1/3", "1/3", "1/3", r"\frac{1}{3}"),
        ("-1/3", "-1/3", "-1/3", r"-\frac{1}{3}"),
        ("sqrt(2)", "sqrt(2)", "√2", r"\sqrt{2}"),
        ("-3*sqrt(2)/2", "-3*sqrt(2)/2", "-3·√2/2", r"-\frac{3 \sqrt{2}}{2}"),
        ("1.5e+20", "1.5e+20", "1.5e+20", r"1.5 \times 10^{20}"),
        ("1e-07", "1e-07", "1e-07", r"1 \times 10^{-7}"),
        ("1/sqrt(2)", "1/sqrt(2)", "1/√2", r"\frac{1}{\sqrt{2}}"),
        ("-inf", "-inf", "-∞", r"-\infty"),
        ("nan", "nan", "nan", "nan"),
    ],
)
def test_numbers(text: str, plain: str, unicode: str, latex: str) -> None:
    number = Number(Fraction(1), text)
    assert [write(number, notation) for notation in (PLAIN, UNICODE, LATEX)] == [
        plain,
        unicode,
        latex,
    ]
    assert [write_number(text, notation) for notation in (PLAIN, UNICODE, LATEX)] == [
        plain,
        unicode,
        latex,
    ]


def test_a_root_is_a_factor_without_parentheses() -> None:
    tree = Call("mul", (Number(None, "sqrt(2)"), Number(None, "sqrt(3)")))
    assert [write(tree, notation) for notation in (PLAIN, UNICODE, LATEX)] == [
        "sqrt(2)*sqrt(3)",
        "√2·√3",
        r"\sqrt{2} \cdot \sqrt{3}",
    ]


def test_lines_of_text_have_no_tall_parentheses() -> None:
    assert write(parse_expression("tanh(x / 2)"), LATEX_LINE) == r"\tanh(x / 2)"
    assert write(parse_expression("share(a, b)"), LATEX_LINE) == "a / b"


def test_an_equation_has_both_its_sides() -> None:
    equation = parse_equation("scaled[i, j] = scores[i, j] / sqrt(d_k)")
    assert write_equation(equation, PLAIN) == "scaled[i, j] = scores[i, j] / sqrt(d_k)"


def test_a_quotient_that_is_a_later_factor_stands_in_parentheses() -> None:
    a, b, quotient = Name("a"), Name("b"), Call("div", (Name("c"), Name("d")))
    assert write(Call("mul", (a, b, quotient)), PLAIN) == "a*b*(c / d)"
    assert write(Call("mul", (quotient, a, b)), PLAIN) == "c / d*a*b"


@pytest.mark.parametrize("text", ["-(i // 2)", "-(i % 2)", "-i // 2", "-i * 2", "3 - (i // 2)"])
def test_the_opposite_of_a_quotient_is_read_back_as_it_is(text: str) -> None:
    expression = parse_expression(text)
    assert parse_expression(write(expression, PYTHON)) == expression
