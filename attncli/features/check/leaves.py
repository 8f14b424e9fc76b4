"""What the equation of a single cell is made of: its numbers as they are given, and the cells that stand in it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.equation.nodes import Call, Expression, Number, Ref
from attncli.problem.numbers import as_decimal


def given(written: NDArray[np.object_] | None, value: NDArray[Any], index: tuple[int, ...]) -> Decimal:
    """A cell of an array that a problem gives, as it was written there."""
    return as_decimal(str(written[index])) if written is not None else Decimal(repr(float(value[index])))


def number(value: Decimal) -> Number:
    """A number as a leaf of an equation."""
    if not value.is_finite():
        return Number(float(value), str(value))
    exact = Fraction(value)
    return Number(exact, str(exact) if exact.denominator == 1 else str(value))  # a whole number may be a position


def refs(tree: Expression) -> tuple[Ref, ...]:
    """The cells in a tree, each once and always in the same order; what stands in it many times is looked at once."""
    found: dict[Ref, None] = {}
    looked: set[int] = set()

    def look(node: Expression) -> None:
        if isinstance(node, Ref):
            found[node] = None
        elif isinstance(node, Call) and id(node) not in looked:
            looked.add(id(node))
            for argument in node.arguments:
                look(argument)

    look(tree)
    return tuple(found)
