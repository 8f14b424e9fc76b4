"""The chain rule: what the arguments of a call receive of its gradient, and so every array that an
equation reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    is_zero,
    number_node,
    rewrite,
    walk,
)
from attncli.equation.parser import binary, parse_expression

# Rules of derivatives call the arguments of a function so.
ARGUMENTS = ("x", "y", "z")
# A condition, and whether it has to hold.
Guard: TypeAlias = "tuple[Expression, bool]"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One cell that an equation reads: `received` is its share of the gradient, wherever all
    `guards` are met.

    `summed` are the letters of the sums that the cell stands in.
    """

    cell: Ref
    received: Expression
    guards: tuple[Guard, ...] = ()
    summed: tuple[str, ...] = ()


def occurrences(equation: Equation, name: str, gradient: Expression) -> tuple[Occurrence, ...]:
    """Every occurrence of an array (or number) of this name in an equation whose result has this
    gradient.

    What is just the result again, such as exp(x) in the derivative of exp(x), is called by the name
    of the result.

    >>> from attncli.equation.parser import parse_equation, parse_expression
    >>> scores = parse_equation("S[i, j] = sum(k, Q[i, k] * K[j, k])")
    >>> [query] = occurrences(scores, "Q", parse_expression("dS[i, j]"))
    >>> query.received == parse_expression("dS[i, j] * K[j, k]"), query.summed
    (True, ('k',))
    """

    def as_result(node: Expression) -> Expression:
        is_result = isinstance(node, Call) and node == equation.expression
        if is_result:
            return equation.target
        return node

    whole = Occurrence(Ref(name), gradient)
    found = []
    for each in _occurrences(equation.expression, name, whole):
        received = rewrite(each.received, as_result)
        found.append(replace(each, received=received))
    return tuple(found)


def _occurrences(node: Expression, name: str, so_far: Occurrence) -> Iterator[Occurrence]:
    match node:
        case Ref() if node.name == name:
            yield replace(so_far, cell=node)
        case Name() if node.name == name:
            yield so_far
        case Reduce(function="add", index=index, body=body):
            inside = replace(so_far, summed=(*so_far.summed, index))
            yield from _occurrences(body, name, inside)
        case Reduce(function="max", index=index, body=body) if reads(body, name):
            yield from _occurrences(body, name, _of_the_largest(node, so_far))
        case Call(arguments=arguments):
            for number, argument in enumerate(arguments):
                if not reads(argument, name):
                    continue
                share = backpropagate(node, number, so_far.received)
                if share is None:
                    continue
                received, guards = _unguarded(share)
                inside = replace(so_far, received=received, guards=so_far.guards + guards)
                yield from _occurrences(argument, name, inside)
        case Number() | Name() | Ref() | Reduce():
            pass


def _of_the_largest(largest: Reduce, so_far: Occurrence) -> Occurrence:
    """What the numbers under a maximum receive: the largest all of it, equal ones a share each."""
    index, body = largest.index, largest.body
    is_largest = Call("eq", (body, largest))
    equal = Call("where", (is_largest, number_node(1), number_node(0)))
    share = binary("div", so_far.received, Reduce("add", index, equal))
    guards = (*so_far.guards, (is_largest, True))
    return replace(so_far, received=share, guards=guards, summed=(*so_far.summed, index))


def reads(expression: Expression, name: str) -> bool:
    """Whether an array or number of this name stands in an expression: Q does in Q[i, k]·2."""
    return any(isinstance(node, Ref | Name) and node.name == name for node in walk(expression))


def _unguarded(expression: Expression) -> tuple[Expression, tuple[Guard, ...]]:
    """What is received where a condition holds and nothing elsewhere, apart from the condition."""
    match expression:
        case Call("where", (condition, received, nothing)) if is_zero(nothing):
            return received, ((condition, True),)
        case Call("where", (condition, nothing, received)) if is_zero(nothing):
            return received, ((condition, False),)
    return expression, ()


def backpropagate(call: Call, argument: int, gradient: Expression) -> Expression | None:
    """What an argument of a call receives of the gradient of its result; None where that is
    nothing.

    Of a·b with the gradient dS, the first argument receives dS·b.
    Raises TypeError for what only stands in headlines, and has no derivative.
    """
    rule = derivative_rule(call.function, argument)
    if rule is None:
        return None
    parts = dict(zip(ARGUMENTS, call.arguments, strict=False)) | {"d": gradient}

    def put(node: Expression) -> Expression:
        if isinstance(node, Name):
            return parts.get(node.name, node)
        return node

    written_out = rewrite(rule, put)
    return rewrite(written_out, _simplified)


@cache
def derivative_rule(function: str, argument: int) -> Expression | None:
    """The rule of one argument in x, y, z and d; None where the result does not follow it
    smoothly.

    >>> derivative_rule("exp", 0) == parse_expression("d * exp(x)")
    True
    """
    if function not in FUNCTIONS:
        raise TypeError(f"no derivative of {function}")
    rules = FUNCTIONS[function].derivative
    if not rules:
        return None
    last = len(rules) - 1
    rule = rules[min(argument, last)]
    return parse_expression(rule) if rule else None


def _raised(base: Expression, exponent: Fraction) -> Expression | None:
    """A power of this number, which is written as numbers in equations are: without a fraction, and
    with its sign before it; None where it cannot be.
    """
    if exponent == 1:
        return base
    size = abs(exponent)
    text = str(int(size)) if size == int(size) else str(float(size))
    if Fraction(text) != size:
        return None
    number = Number(size, text)
    if exponent < 0:
        return Call("pow", (base, Call("neg", (number,))))
    return Call("pow", (base, number))


def _simplified(node: Expression) -> Expression:
    """x for x ** (2 - 1), and x ** 0.5 for x ** (1.5 - 1)."""
    match node:
        case Call("pow", (base, Call("sub", (Number(value=one), Number(value=other))))):
            if not isinstance(one, Fraction) or not isinstance(other, Fraction):
                return node
            return _raised(base, one - other) or node
        case Call("mul" | "div", (left, right)):
            # A minus stands before the whole product, as it is read again.
            return binary(node.function, left, right)
        case _:
            return node
