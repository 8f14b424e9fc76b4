"""Indices that are expressions: the position they give, the letters they depend on, and how they
are written.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.equation.indexing import index_names, letters, position
from attncli.equation.nodes import Expression, Number, Ref, number_node
from attncli.equation.notation import LATEX, PLAIN, PYTHON, UNICODE
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write
from tests.cases import in_one_test


def index(source: str) -> str | Expression:
    """The second index of A[i, …]."""
    cell = parse_expression(f"A[i, {source}]")
    assert isinstance(cell, Ref)
    return cell.indices[1]


@in_one_test(
    ("source", "found"),
    [
        ("h", 5),
        ("0", 0),
        ("h // group", 2),
        ("h % group", 1),
        ("k - 1", 6),
        ("k + half", 10),
        ("j - past", -1),
        ("2 * k + 1", 15),
        ("past + 0", 4),
        ("e // d_v", 1),
    ],
)
@in_one_test("number", [float, int, Decimal, number_node])
def test_the_position_at_a_place(source: str, found: int, number: Any) -> None:
    """h = 5, k = 7, j = 3, e = 3; numbers as floats, decimals, or the nodes that stand in a worked
    line.
    """
    scalars = {
        name: number(value) for name, value in {"group": 2, "half": 3, "past": 4, "d_v": 2}.items()
    }
    assert position(index(source), {"h": 5, "k": 7, "j": 3, "e": 3}, scalars) == found


def test_a_letter_of_the_place_is_no_scalar() -> None:
    assert position("k", {"k": 2}, {"k": 9}) == 2
    assert position(index("k + 0"), {"k": 2}, {"k": 9}) == 2


@pytest.mark.parametrize("source", ["sum(k, k)", "A[i, 0]"])
def test_what_is_no_position_is_a_fault(source: str) -> None:
    with pytest.raises(TypeError, match=r"^cannot be a position: "):
        position(parse_expression(source), {"i": 0}, {})


def test_a_number_without_a_value_is_a_fault() -> None:
    with pytest.raises(TypeError, match=r"^cannot be a position: "):
        position(Number(None, "sqrt(2)"), {}, {})


@given(e=st.integers(0, 40), width=st.integers(1, 7))
def test_head_and_feature_of_what_stands_side_by_side(e: int, width: int) -> None:
    head, feature = (
        position(index(source), {"e": e}, {"d_v": float(width)})
        for source in ("e // d_v", "e % d_v")
    )
    assert head * width + feature == e
    assert 0 <= feature < width


@pytest.mark.parametrize(
    ("source", "names", "known"),
    [
        ("k", ["k"], ["k"]),
        ("0", [], []),
        ("h // group", ["h", "group"], ["h"]),
        ("i + past - 1", ["i", "past"], ["i"]),
        ("k + k", ["k", "k"], ["k", "k"]),
    ],
)
def test_names_and_letters(source: str, names: list[str], known: list[str]) -> None:
    assert list(index_names(index(source))) == names
    assert list(letters(index(source), {"h": 4, "i": 2, "k": 3})) == known


@pytest.mark.parametrize(
    ("source", "plain", "unicode", "latex"),
    [
        ("K[h // group, j, k]", "K[h // group, j, k]", "K[⌊h/group⌋, j, k]",
         r"K_{\lfloor h / \mathrm{group} \rfloor,j,k}"),
        ("H[e // d_v, i, e % d_v]", "H[e // d_v, i, e mod d_v]", "H[⌊e/d_v⌋, i, e mod d_v]",
         r"H_{\lfloor e / d_{v} \rfloor,i,e \bmod d_{v}}"),
        ("Q[i, k + half]", "Q[i, k + half]", "Q[i, k + half]", r"Q_{i,k + \mathrm{half}}"),
        ("A[i - (j - 1), 0]", "A[i - (j - 1), 0]", "A[i - (j - 1), 0]", r"A_{i - (j - 1),0}"),
    ],
)  # fmt: skip
def test_positions_in_every_notation(source: str, plain: str, unicode: str, latex: str) -> None:
    tree = parse_expression(source)
    assert [write(tree, notation) for notation in (PLAIN, UNICODE, LATEX)] == [
        plain,
        unicode,
        latex,
    ]
    assert write(tree, PYTHON) == source
    assert parse_expression(write(tree, PYTHON)) == tree


def test_a_number_is_an_index_too() -> None:
    assert parse_expression("A[0, k]") == Ref("A", (Number(Fraction(0), "0"), "k"))
