"""Reading equations: what the language holds, and what it says to anything else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from attncli.equation.nodes import Call, Equation, Name, Number, Reduce, Ref
from attncli.equation.parser import EquationError, parse_equation, parse_expression
from tests.cases import in_one_test


def test_a_product_is_a_sum_over_cells() -> None:
    tree = parse_equation("scores[i, j] = sum(k, Q[i, k] * K_T[k, j])")
    product = Call("mul", (Ref("Q", ("i", "k")), Ref("K_T", ("k", "j"))))
    assert tree == Equation(Ref("scores", ("i", "j")), Reduce("add", "k", product))


@in_one_test(
    ("source", "tree"),
    [
        ("2", Number(Fraction(2), "2")),
        ("0.1", Number(Fraction(1, 10), "0.1")),
        ("-inf", Number(float("-inf"), "-inf")),
        ("-x", Call("neg", (Name("x"),))),
        ("a - b", Call("sub", (Name("a"), Name("b")))),
        ("a / b", Call("div", (Name("a"), Name("b")))),
        ("a ** 2", Call("pow", (Name("a"), Number(Fraction(2), "2")))),
        ("A @ B", Call("matmul", (Name("A"), Name("B")))),
        ("i <= j", Call("le", (Name("i"), Name("j")))),
        ("i == j", Call("eq", (Name("i"), Name("j")))),
        (
            "i < j and j >= k",
            Call("and_", (Call("lt", (Name("i"), Name("j"))), Call("ge", (Name("j"), Name("k"))))),
        ),
        (
            # It is printed without brackets, and read back from there.
            "(i and j) and (k and (i or j))",
            Call(
                "and_",
                (Name("i"), Name("j"), Name("k"), Call("or_", (Name("i"), Name("j")))),
            ),
        ),
        (
            "i < j or j >= k and i == j",
            Call(
                "or_",
                (
                    Call("lt", (Name("i"), Name("j"))),
                    Call(
                        "and_",
                        (
                            Call("ge", (Name("j"), Name("k"))),
                            Call("eq", (Name("i"), Name("j"))),
                        ),
                    ),
                ),
            ),
        ),
        ("max(j, S[i, j])", Reduce("max", "j", Ref("S", ("i", "j")))),
        ("max(1, x)", Call("max", (Number(Fraction(1), "1"), Name("x")))),
        ("sqrt(d_k)", Call("sqrt", (Name("d_k"),))),
        ("v[a]", Ref("v", ("a",))),
    ],
)
def test_every_form(source: str, tree: object) -> None:
    assert parse_expression(source) == tree


@in_one_test(
    ("source", "message"),
    [
        ("", "not an equation: ''"),
        ("S[i] = ", "not an equation: 'S[i] = '"),
        ("S[i, j]", "not of the form target[i, j] = expression: 'S[i, j]'"),
        ("a[i] = b[i] = c[i]", "not of the form target[i, j] = expression: 'a[i] = b[i] = c[i]'"),
        ("a[i] += b[i]", "not of the form target[i, j] = expression: 'a[i] += b[i]'"),
        ("2 = a[i]", "not an equation: '2 = a[i]'"),
        ("-a = b[i]", "not an equation: '-a = b[i]'"),
        ("sum(k, a[k]) = b[i]", "not an equation: 'sum(k, a[k]) = b[i]'"),
        ("a[0] = b[i]", "the left side must be a name with letters as indices: 'a[0] = b[i]'"),
        (
            "a[i + 1] = b[i]",
            "the left side must be a name with letters as indices: 'a[i + 1] = b[i]'",
        ),
        ("a[i] = b[i, 'k']", "cannot read \"'k'\" in \"a[i] = b[i, 'k']\""),
        ("a[i] = cosh(b[i])", "cannot read 'cosh(b[i])' in 'a[i] = cosh(b[i])'"),
        ("a[i] = b.c", "cannot read 'b.c' in 'a[i] = b.c'"),
        ("a[i] = b ^ c", "cannot read 'b ^ c' in 'a[i] = b ^ c'"),
        ("a[i] = i < j < k", "cannot read 'i < j < k' in 'a[i] = i < j < k'"),
        ("a[i] = not j", "cannot read 'not j' in 'a[i] = not j'"),
        ("a[i] = 'text'", "cannot read \"'text'\" in \"a[i] = 'text'\""),
        ("a[i] = True", "cannot read 'True' in 'a[i] = True'"),
        ("a[i] = [1]", "cannot read '[1]' in 'a[i] = [1]'"),
        ("a[i] = sum(b[i])", "cannot read 'sum(b[i])' in 'a[i] = sum(b[i])'"),
        (
            "a[i] = __import__('os')",
            "cannot read \"__import__('os')\" in \"a[i] = __import__('os')\"",
        ),
    ],
)
def test_what_is_no_equation_is_named(source: str, message: str) -> None:
    with pytest.raises(EquationError) as caught:
        parse_equation(source)
    assert str(caught.value) == message


def test_a_target_without_indices_is_a_scalar() -> None:
    assert parse_equation("x = 2").target == Ref("x")


def test_what_is_no_expression_is_named() -> None:
    with pytest.raises(EquationError, match=r"^not an expression: 'a \+'$"):
        parse_expression("a +")
