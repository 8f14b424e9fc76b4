"""Where an equation reads an array, and what the array receives there of the gradient of the result: the chain rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attncli.equation.derivatives import is_zero, received
from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, rewrite, walk

Guard = tuple[Expression, bool]  # a condition, and whether it has to hold


@dataclass(frozen=True, slots=True)
class Use:
    """One cell that is read: `received` is its share of the gradient, wherever all `guards` are met.

    `summed` are the letters of the sums that the cell stands in.
    """

    cell: Ref
    received: Expression
    guards: tuple[Guard, ...] = ()
    summed: tuple[str, ...] = ()


def uses(equation: Equation, name: str, gradient: Expression) -> tuple[Use, ...]:
    """Every use that an equation makes of an array (or number) of this name, where its result has this gradient.

    What is just the result again, such as exp(x) in the derivative of exp(x), is called by the name of the result.
    """

    def as_result(node: Expression) -> Expression:
        return equation.target if isinstance(node, Call) and node == equation.expression else node

    found = _pulled(equation.expression, name, Use(Ref(name), gradient))
    return tuple(Use(use.cell, rewrite(use.received, as_result), use.guards, use.summed) for use in found)


def _pulled(node: Expression, name: str, so_far: Use) -> Iterator[Use]:
    match node:
        case Ref() if node.name == name:
            yield Use(node, so_far.received, so_far.guards, so_far.summed)
        case Name() if node.name == name:
            yield so_far
        case Reduce(function="add", index=index, body=body):
            yield from _pulled(body, name, Use(so_far.cell, so_far.received, so_far.guards, (*so_far.summed, index)))
        case Call(arguments=arguments):
            for number, argument in enumerate(arguments):
                share = received(node, number, so_far.received) if reads(argument, name) else None
                if share is not None:
                    plain, guards = _unguarded(share)
                    yield from _pulled(argument, name, Use(so_far.cell, plain, so_far.guards + guards, so_far.summed))


def reads(expression: Expression, name: str) -> bool:
    """Whether an array or number of this name stands in an expression."""
    return any(isinstance(node, Ref | Name) and node.name == name for node in walk(expression))


def _unguarded(expression: Expression) -> tuple[Expression, tuple[Guard, ...]]:
    """What is received where a condition holds and nothing elsewhere, apart from the condition."""
    match expression:
        case Call("where", (condition, received, nothing)) if is_zero(nothing):
            return received, ((condition, True),)
        case Call("where", (condition, nothing, received)) if is_zero(nothing):
            return received, ((condition, False),)
    return expression, ()
