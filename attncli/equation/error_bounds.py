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
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from typing import TypeAlias

from attncli.equation.chain_rule import ARGUMENTS, derivative_rule
from attncli.equation.functions import FUNCTIONS
from attncli.equation.intervals import ONE, ZERO, Interval, mul
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
    walk,
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
        case Call(function=function, arguments=arguments):
            of = FUNCTIONS[function].interval
            parts = [_on_intervals(argument) for argument in arguments]
            return lambda values: of(*[part(values) for part in parts])
        case Number() | Ref() | Reduce():
            pass
    raise TypeError(f"no range of {node!r}")


class TooLongError(ValueError):
    """A magnitude whose equation would be too long to be worked out."""


def magnitude_name(name: str) -> str:
    """What the magnitude of an array is called in equations of magnitudes."""
    return f"|{name}|"


def magnitude(equation: Equation, reach: float) -> Equation:
    """The equation by which the magnitudes of a step come from those of the arrays it reads, and
    from these.

    Raises TypeError for a function whose row says none, TooLongError where the equation would be
    too long.

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
    if _length(equation.expression) > _MOST_NODES:
        raise TooLongError(f"no magnitude of {cell.name}: its equation would be too long")
    return Equation(target, _Sizes(Number(reach, "")).of(equation.expression))


# Of a base that is worked out, to a power: by its slope. 0 that is made of nothing stays 0.
_OF_BASE = (
    "where(size_x == 0, abs(x) ** y, abs(x) ** y + size_x * abs(y)"
    " * max((abs(x) + reach * size_x) ** (y - 1), abs(abs(x) - reach * size_x) ** (y - 1)))"
)
_OF_EXPONENT = "abs(log(abs(x))) * size_y * abs(x) ** (y + reach * size_y)"
_OF_SQUARE = parse_expression("size_x * abs(x) + abs(x) * (size_x - abs(x))")
_OF_COMPUTED_BASE = parse_expression(_OF_BASE)
_OF_COMPUTED_POWER = parse_expression(f"{_OF_BASE} + {_OF_EXPONENT}")
# Some functions look twice at the size of their argument: of one inside another inside another …,
# the magnitude soon has millions of nodes.
_MOST_NODES = 2_000


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The sizes of the nodes of an equation, each worked out once."""

    reach: Number
    # By the node itself, which has to stay for its place not to be taken by another.
    _known: dict[int, tuple[Expression, Expression]] = field(default_factory=dict)

    def of(self, node: Expression) -> Expression:
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._worked(node))
        _, size = self._known[id(node)]
        return size

    def _worked(self, node: Expression) -> Expression:
        match node:
            case Number() | Name():
                return Call("abs", (node,))
            case Ref(name=name):
                return replace(node, name=magnitude_name(name))
            case Call(function=function, arguments=(first, second, *others)) if (
                others and FUNCTIONS[function].any_number
            ):
                return self.of(Call(function, (Call(function, (first, second)), *others)))
            case Reduce(function="add", body=Call(function="mul") as product):
                size = self._of_call(product)
                assert isinstance(size, Call)
                # A sum of two terms becomes two sums of products, each of which is one matmul.
                sums = tuple(replace(node, body=term) for term in size.arguments)
                return replace(size, arguments=sums)
            case Reduce(function="add", body=body):
                return replace(node, body=self.of(body))
            case Reduce(function="max", body=body):
                # Only the largest matters: a number that hides, such as -1e9, is of no concern to
                # it.
                is_largest = Call("eq", (body, node))
                size = Call("where", (is_largest, self.of(body), number_node(0)))
                return replace(node, body=size)
            case Reduce():
                raise TypeError(f"no magnitude of {node!r}")
            case Call():
                return self._of_call(node)

    def _of_call(self, call: Call) -> Expression:
        """The rule of the function's magnitude, with the arguments and their sizes put in."""
        arguments = dict(zip(ARGUMENTS, call.arguments, strict=False))

        def put(node: Expression) -> Expression:
            if not isinstance(node, Name):
                return node
            if node.name == "reach":
                return self.reach
            of = node.name.removeprefix("size_")
            return arguments[of] if of == node.name else self.of(arguments[of])

        return rewrite(_rule_of(call), put)


def _rule_of(call: Call) -> Expression:
    """The magnitude of a function of its arguments and their sizes; TypeError where it has none."""
    if call.function == "pow" and not isinstance(call.arguments[0], Number | Name):
        exponent = call.arguments[1]
        if exponent == number_node(2):
            return _OF_SQUARE
        return _OF_COMPUTED_BASE if isinstance(exponent, Number | Name) else _OF_COMPUTED_POWER
    row = FUNCTIONS.get(call.function)
    if row is None or row.magnitude is None:
        raise TypeError(f"no magnitude of {call!r}")
    return parse_expression(row.magnitude)


def _length(node: Expression) -> int:
    """How many nodes the size of a node has."""
    match node:
        case Number() | Name() | Ref():
            return 2
        case Reduce(body=body):
            return 1 + 2 * _count(body) + _length(body)
        case Call(arguments=arguments):
            names = [part.name for part in walk(_rule_of(node)) if isinstance(part, Name)]
            found = _count(_rule_of(node))
            for name, argument in zip(ARGUMENTS, arguments, strict=False):
                found += names.count(name) * _count(argument)
                if f"size_{name}" in names:
                    found += names.count(f"size_{name}") * _length(argument)
            return found + sum(map(_length, arguments[len(ARGUMENTS) :]))


def _count(node: Expression) -> int:
    return sum(1 for _ in walk(node))
