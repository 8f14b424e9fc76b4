"""Shapes: how long each index of an equation runs, which arrays a product multiplies, and how a
shape is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attncli.english import shape_text
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, walk
from attncli.equation.printer import write_equation


def index_sizes(
    equation: Equation,
    shapes: Mapping[str, tuple[int, ...]],
    known: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The length of every index, from the shapes of the arrays on the right, and else as `known`;
    those of the result as `known` first.

    Of S[i, j] = Σ_k Q[i, k]·K_T[k, j], where Q is 3×4 and K_T 4×2, it is {"i": 3, "k": 4, "j": 2}.
    What a `where` chooses between may each be only a part of the whole: it has no say where another
    array has, or where the length is known. Raises ValueError, naming the equation, where two
    arrays disagree: a fault in a rule or a missing check.
    """
    known = known or {}
    sizes: dict[str, int] = {}
    parts = tuple(read_if_chosen(equation.expression))
    always = tuple(read_always(equation.expression))
    for number, node in enumerate((*always, *parts)):
        if number == len(always):
            sizes = {**known, **sizes}
        shape = shapes[node.name]
        if len(shape) != len(node.indices):
            raise ValueError(f"{node.name} has {len(shape)} axes in {_in_python(equation)!r}")
        for index, size in zip(node.indices, shape, strict=True):
            if not isinstance(index, str):
                continue
            there = sizes.setdefault(index, size)
            if there == size or node in parts:
                continue
            written = _in_python(equation)
            raise ValueError(f"{index} runs to {there} and to {size} in {written!r}")
    # The rows of a cache are a part of all keys: the result is as long as is known.
    of_result = {letter: known[letter] for letter in equation.target.letters if letter in known}
    return {**known, **sizes, **of_result}


def _in_python(equation: Equation) -> str:
    # Only a fault is said in Python, so the notation is imported here.
    from attncli.equation.notation import PYTHON

    return write_equation(equation, PYTHON)


def read_always(expression: Expression) -> Iterator[Ref]:
    """The cells an expression always reads."""
    match expression:
        case Ref():
            yield expression
        case Call(function="where", arguments=(condition, _, _)):
            yield from read_always(condition)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from read_always(argument)
        case Reduce(body=body):
            yield from read_always(body)
        case Number() | Name():
            pass


def read_if_chosen(expression: Expression) -> Iterator[Ref]:
    """The cells it reads only where a `where` chooses them."""
    for node in walk(expression):
        if not isinstance(node, Call) or node.function != "where":
            continue
        _, *branches = node.arguments
        for branch in branches:
            for part in walk(branch):
                if isinstance(part, Ref):
                    yield part


def product_factors(matrix_form: Expression) -> tuple[tuple[str, bool], ...]:
    """The arrays multiplied in a headline, in order, each with whether it is transposed; none where
    it is no product.

    X and W_Q in X @ W_Q + b_Q; of a sum of several products, none.
    """
    match matrix_form:
        case Call(function="matmul", arguments=(left, right)):
            before = _factor(left) or product_factors(left)
            last = _factor(right)
            return (*before, *last) if before and last else ()
        case Call(function="add", arguments=(first, *others)):
            is_only_product = not any(map(product_factors, others))
            return product_factors(first) if is_only_product else ()
        case _:
            return ()


def _factor(expression: Expression) -> tuple[tuple[str, bool], ...]:
    match expression:
        case Name(name=name):
            return ((name, False),)
        case Call(function="transposed", arguments=(Name(name=name),)):
            return ((name, True),)
        case _:
            return ()


def product_text(shapes: Sequence[Sequence[int]], times: str = "×", dot: str = "·") -> str:
    """The shapes of a product, (3×4)·(4×3) = (3×3): factors, then the result; a single shape stands
    alone.
    """
    spelled = []
    for shape in shapes:
        sides = shape_text(shape, times)
        spelled.append(f"({sides})")
    *factors, result = spelled
    if not factors:
        return result
    product = dot.join(factors)
    return f"{product} = {result}"
