"""How far the result of an equation moves where what it reads moves a little: slopes over
intervals, and magnitudes.

The magnitude of a cell is how large the numbers are that it is made of, which bounds what roundings
do to it. A cell may be 0 because large terms cancel; its roundings are as large as the terms. So
the magnitude of a sum is the sum of magnitudes, and that of a function tells how far its result
moves where its argument moves by its own magnitude. Arrays that are off by at most t times their
magnitudes give a result that is off by a few t times its own, as long as t is no more than `reach`:
that far a function is looked at, where it is steeper than at its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from typing import TypeAlias

from attncli.equation.chain_rule import ARGUMENTS, derivative_rule
from attncli.equation.functions import FUNCTIONS
from attncli.equation.intervals import ONE, ZERO, Interval, hull, mul
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    number_node,
    rewrite,
)
from attncli.equation.parser import parse_expression

OnIntervals: TypeAlias = Callable[[Mapping[str, Interval]], Interval]


def slopes(
    function: str, arguments: Sequence[Interval], rate: Interval = ONE
) -> Iterator[Interval]:
    """How fast something changes with each argument of a function, where it changes at this rate
    with its result.

    They are the rules of the gradient, worked out on intervals. Raises TypeError for a function
    without a range.

    >>> list(slopes("max", [Interval(1.0, 2.0), Interval(3.0, 4.0)]))
    [Interval(low=0.0, high=0.0), Interval(low=1.0, high=1.0)]
    """
    row = FUNCTIONS[function]
    if row.slopes is not None:
        yield from (mul(rate, slope) for slope in row.slopes(*arguments))
        return
    values = dict(zip(ARGUMENTS, arguments, strict=False)) | {"d": rate}
    for number in range(len(arguments)):
        rule = _derivative_on_intervals(function, number)
        yield rule(values) if rule else ZERO


@cache
def _derivative_on_intervals(function: str, argument: int) -> OnIntervals | None:
    rule = derivative_rule(function, argument)
    return None if rule is None else _on_intervals(rule)


def _on_intervals(node: Expression) -> OnIntervals:
    """An expression as a function of what its names may be."""
    match node:
        case Name(name=name):
            return itemgetter(name)
        case Number(value=value) if value is not None:
            point = Interval.at(float(value))
            return lambda _: point
        case Call("where", (Call("lt" | "eq" as comparison, (left, right)), yes, no)):
            return _choice(comparison, *map(_on_intervals, (left, right, yes, no)))
        case Call(function=function, arguments=arguments):
            of = FUNCTIONS[function].interval
            if of is not None:
                parts = [_on_intervals(argument) for argument in arguments]
                return lambda values: of(*[part(values) for part in parts])
        case Number() | Ref() | Reduce():
            pass
    raise TypeError(f"no range of {node!r}")


def _choice(
    comparison: str, left: OnIntervals, right: OnIntervals, yes: OnIntervals, no: OnIntervals
) -> OnIntervals:
    """One branch where the ranges decide between them, and else whatever is in either."""

    def chosen(values: Mapping[str, Interval]) -> Interval:
        one, other = left(values), right(values)
        if comparison == "lt":
            holds = one.high < other.low
            fails = one.low >= other.high
        else:
            holds = one.low == one.high == other.low == other.high
            fails = not one.meets(other)
        if holds:
            return yes(values)
        if fails:
            return no(values)
        return hull(yes(values), no(values))

    return chosen


def magnitude_name(name: str) -> str:
    """What the magnitude of an array is called in equations of magnitudes."""
    return f"|{name}|"


def magnitude(equation: Equation, reach: float) -> Equation:
    """The equation by which the magnitudes of a step come from those of the arrays it reads, and
    from these.

    TypeError for a function whose row says none.

    >>> from attncli.equation.notation import UNICODE
    >>> from attncli.equation.parser import parse_equation
    >>> from attncli.equation.printer import write_equation
    >>> write_equation(magnitude(parse_equation("S[i] = sum(k, Q[i, k])"), reach=0.0), UNICODE)
    '|S|[i] = Σ_k |Q|[i, k]'
    >>> write_equation(magnitude(parse_equation("S[i] = A[i] - B[i]"), reach=0.0), UNICODE)
    '|S|[i] = |A|[i] + |B|[i]'
    """
    cell = equation.target
    name = magnitude_name(cell.name)
    target = replace(cell, name=name)
    reach_in_symbols = Number(reach, "")
    size = _size(equation.expression, reach_in_symbols)
    return Equation(target, size)


def _size(node: Expression, reach: Number) -> Expression:
    match node:
        case Number() | Name():
            return Call("abs", (node,))
        case Ref(name=name):
            return replace(node, name=magnitude_name(name))
        case Call(
            function="pow", arguments=(Ref() | Call() | Reduce() as base, Number(value=exponent))
        ):
            if exponent == 2:
                return _size(Call("mul", (base, base)), reach)
        case Call(function=function, arguments=(first, second, *others)) if (
            others and FUNCTIONS[function].any_number
        ):
            return _size(Call(function, (Call(function, (first, second)), *others)), reach)
        case Call(function=function) if function in FUNCTIONS and FUNCTIONS[function].magnitude:
            return _size_of_call(node, reach)
        case Reduce(function="add", body=Call(function="mul") as product):
            size = _size_of_call(product, reach)
            assert isinstance(size, Call)
            # A sum of two terms becomes two sums of products, each of which is one matmul.
            sums = tuple(replace(node, body=term) for term in size.arguments)
            return replace(size, arguments=sums)
        case Reduce(function="add", body=body):
            return replace(node, body=_size(body, reach))
        case Reduce(function="max", body=body):
            # Only the largest matters: a number that hides, such as -1e9, is of no concern to it.
            is_largest = Call("eq", (body, node))
            size = Call("where", (is_largest, _size(body, reach), number_node(0)))
            return replace(node, body=size)
        case Call() | Reduce():
            pass
    raise TypeError(f"no magnitude of {node!r}")


def _size_of_call(call: Call, reach: Number) -> Expression:
    """The rule of the function's magnitude, with the arguments and their sizes put in."""
    arguments = dict(zip(ARGUMENTS, call.arguments, strict=False))

    def put(node: Expression) -> Expression:
        if not isinstance(node, Name):
            return node
        if node.name == "reach":
            return reach
        of = node.name.removeprefix("size_")
        return arguments[of] if of == node.name else _size(arguments[of], reach)

    magnitude = FUNCTIONS[call.function].magnitude
    assert magnitude is not None
    return rewrite(parse_expression(magnitude), put)
