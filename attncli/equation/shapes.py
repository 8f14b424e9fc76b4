"""Shapes: how long each index of an equation runs, which arrays a product multiplies, and how a shape is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from attncli.equation.python import PYTHON
from attncli.equation.tree import Call, Equation, Expression, Name, Ref, walk
from attncli.equation.write import write_equation


def index_sizes(equation: Equation, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """The length of every index, from the shapes of the arrays on the right.

    Raises ValueError, naming the equation, where two arrays disagree: a fault in a rule or a missing check.
    """
    sizes: dict[str, int] = {}
    said = partial(write_equation, equation, PYTHON)
    for node in walk(equation.expression):
        if isinstance(node, Ref):
            shape = shapes[node.name]
            if len(shape) != len(node.indices):
                raise ValueError(f"{node.name} has {len(shape)} axes in {said()!r}")
            for index, size in zip(node.indices, shape, strict=True):
                if sizes.setdefault(index, size) != size:
                    raise ValueError(f"{index} runs to {sizes[index]} and to {size} in {said()!r}")
    return sizes


def product_factors(matrix_form: Expression) -> tuple[str, ...]:
    """The arrays multiplied in a headline, in order: X and W_Q in X @ W_Q + b_Q; none where it is no such product."""
    match matrix_form:
        case Call(function="matmul", arguments=(left, Name(name=right))):
            before = (left.name,) if isinstance(left, Name) else product_factors(left)
            return (*before, right) if before else ()
        case Call(function="add", arguments=(first, *_)):
            return product_factors(first)
    return ()


def shape_text(shape: Sequence[int], times: str = "×") -> str:
    """3×4."""
    return times.join(map(str, shape))


def product_text(shapes: Sequence[Sequence[int]], times: str = "×", dot: str = "·") -> str:
    """The shapes of a product, (3×4)·(4×3) = (3×3): factors, then the result; a single shape stands alone."""
    *factors, result = [f"({shape_text(shape, times)})" for shape in shapes]
    return f"{dot.join(factors)} = {result}" if factors else result
