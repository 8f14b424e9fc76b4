"""Products of the chain rule in the order of a matrix product, each divisor under the factor that
it belongs to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Equation, Expression, Ref
from attncli.equation.parser import parse_expression
from attncli.equation.products import as_product, to_expression
from attncli.equation.shapes import index_sizes


def test_a_divisor_stands_under_the_factor_that_it_shares_most_letters_with() -> None:
    """P and z have rows j and columns k; X, which has as many letters, shares only j with them."""
    product = as_product(parse_expression("sum(j, X[i, j] * P[j, k] / z[j, k])"))
    assert to_expression(product, ("i", "k")) == parse_expression(
        "sum(j, X[i, j] * (P[j, k] / z[j, k]))"
    )


@pytest.mark.parametrize(
    ("source", "merged"),
    [
        ("sum(k, A[i, k]) * sum(k, B[j, k])", "sum(k, A[i, k]) * sum(l, B[j, l])"),
        ("sum(k, A[i, k]) * B[j, k]", "B[j, k] * sum(l, A[i, l])"),
        ("sum(k, A[i, k] * sum(k, B[j, k]))", "sum(k, A[i, k]) * sum(l, B[j, l])"),
    ],
    ids=[
        "two sums over one letter",
        "a sum beside a cell of its letter",
        "a sum inside one over the same letter",
    ],
)
def test_sums_that_are_merged_keep_letters_of_their_own(source: str, merged: str) -> None:
    random = np.random.default_rng(1)
    arrays = {"A": random.normal(size=(2, 3)), "B": random.normal(size=(2, 3))}
    sizes = {"i": 2, "j": 2, "k": 3}

    def value(expression: Expression) -> Any:
        equation = Equation(Ref("R", ("i", "j", "k")), expression)
        return evaluate(
            equation,
            arrays=arrays,
            scalars={},
            sizes=index_sizes(equation, {"A": (2, 3), "B": (2, 3)}) | sizes,
            xp=np,
            dtype=np.float64,
        )

    found = to_expression(as_product(parse_expression(source)), ("i", "j"))
    np.testing.assert_allclose(value(found), value(parse_expression(source)))
    np.testing.assert_allclose(value(found), value(parse_expression(merged)))
