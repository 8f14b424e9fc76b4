"""Trees: a change reaches every node, also those in indices, the innermost first."""

from __future__ import annotations

from attncli.equation.nodes import Call, Expression, Name, rename, rewrite
from attncli.equation.parser import parse_expression


def test_a_change_reaches_what_stands_in_an_index() -> None:
    def other(node: Expression) -> Expression:
        return Name("g") if node == Name("h") else node

    found = rewrite(parse_expression("sum(k, Q[h, k] * K[h // group, k + h])"), other)
    assert found == parse_expression("sum(k, Q[h, k] * K[g // group, k + g])")


def test_the_innermost_node_is_changed_first() -> None:
    def grown(node: Expression) -> Expression:
        return (
            Call("neg", (node,))
            if node in (Name("x"), Call("exp", (Call("neg", (Name("x"),)),)))
            else node
        )

    assert rewrite(parse_expression("exp(x)"), grown) == parse_expression("-exp(-x)")


def test_names_change_and_indices_stay() -> None:
    assert rename(
        parse_expression("A[i, j] * c"), {"A": "B", "c": "d", "i": "k"}
    ) == parse_expression("B[i, j] * d")
