"""Products of the chain rule in the order of a matrix product, each divisor under the factor that it belongs to."""

from __future__ import annotations

from attncli.equation.parser import parse_expression
from attncli.equation.products import as_product, to_expression


def test_a_divisor_stands_under_the_factor_that_it_shares_most_letters_with() -> None:
    """P and z have rows j and columns k; X, which has as many letters, shares only j with them."""
    product = as_product(parse_expression("sum(j, X[i, j] * P[j, k] / z[j, k])"))
    assert to_expression(product, ("i", "k")) == parse_expression("sum(j, X[i, j] * (P[j, k] / z[j, k]))")
