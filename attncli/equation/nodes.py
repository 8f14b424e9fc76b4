"""The nodes of an equation: five kinds, immutable, with no knowledge of arrays or of printing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, cast


@dataclass(frozen=True, slots=True)
class Number:
    """A number as printed in `text`.

    `value` is what the text says, exactly: a Fraction, an infinity as a float, or None for what is
    not rational (a printed root such as √2).
    """

    value: Fraction | float | None
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A scalar such as d_k, or an index standing for its own value, as in j <= i."""

    name: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A cell of a named array, Q[i, k]; with no indices, the array as a whole (Q in Q K^T).

    An index is a letter, or an expression that gives a position: K[h // group, j, k].
    """

    name: str
    indices: tuple[str | Expression, ...] = ()

    @property
    def letters(self) -> tuple[str, ...]:
        """The indices that are letters, as all those of a target are."""
        indices = self.indices
        # Every cell that is worked out comes by here, and hardly any has another index.
        for index in indices:
            if not isinstance(index, str):
                return tuple(each for each in indices if isinstance(each, str))
        return cast(tuple[str, ...], indices)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table in `functions.py`, operators included: add, mul, sqrt, where, …"""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """A sum (`add`) or a maximum (`max`) of the body over one index."""

    function: str
    index: str
    body: Expression


Expression: TypeAlias = Number | Name | Ref | Call | Reduce


@dataclass(frozen=True, slots=True)
class Equation:
    """target[indices] = expression: one step of a derivation."""

    target: Ref
    expression: Expression


def number_node(number: int) -> Number:
    """A whole number as a node."""
    return Number(Fraction(number), str(number))


def is_zero(expression: Expression) -> bool:
    """Whether it is the number 0 as it is written."""
    return isinstance(expression, Number) and expression.value == 0


def walk(expression: Expression) -> Iterator[Expression]:
    """Every node, the outermost first; what stands in an index is not among them."""
    yield expression
    # Every node comes by here, and `match` takes half as long again.
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from walk(argument)
    elif isinstance(expression, Reduce):
        yield from walk(expression.body)


# A condition of a `where`, and whether what it chooses stands where it holds, or where it does not.
Condition: TypeAlias = tuple[Expression, bool]


def cells(
    expression: Expression, conditions: tuple[Condition, ...] = ()
) -> Iterator[tuple[Ref, tuple[Condition, ...]]]:
    """The cells that an expression reads, from the left, each with the conditions of every `where`
    that chooses it.
    """
    match expression:
        case Ref():
            yield expression, conditions
        case Call("where", (condition, yes, no)):
            yield from cells(condition, conditions)
            yield from cells(yes, (*conditions, (condition, True)))
            yield from cells(no, (*conditions, (condition, False)))
        case Call(arguments=arguments):
            for argument in arguments:
                yield from cells(argument, conditions)
        case Reduce(body=body):
            yield from cells(body, conditions)
        case Number() | Name():
            pass


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same tree with `change` applied to every node, the innermost first, also in indices that
    are expressions.
    """
    # What has not changed below is the same node: most nodes are, and a new one takes longer.
    if isinstance(expression, Call):
        arguments = [rewrite(argument, change) for argument in expression.arguments]
        if tuple(arguments) != expression.arguments:
            expression = Call(expression.function, tuple(arguments))
        return change(expression)
    if isinstance(expression, Reduce):
        body = rewrite(expression.body, change)
        if body is not expression.body:
            expression = Reduce(expression.function, expression.index, body)
        return change(expression)
    if isinstance(expression, Ref) and not all(
        isinstance(index, str) for index in expression.indices
    ):
        indices = (
            index if isinstance(index, str) else rewrite(index, change)
            for index in expression.indices
        )
        return change(Ref(expression.name, tuple(indices)))
    return change(expression)


def names_used(expression: Expression) -> tuple[str, ...]:
    """The arrays an expression reads, in the order of first mention.

    >>> from attncli.equation.parser import parse_expression
    >>> names_used(parse_expression("sum(k, Q[i, k] * K_T[k, j]) / sqrt(d_k)"))
    ('Q', 'K_T')
    """
    cells = [node for node in walk(expression) if isinstance(node, Ref)]
    names = [cell.name for cell in cells]
    return tuple(dict.fromkeys(names))


def rename(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The same tree with arrays and scalars called by other names; names not in the table stay."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref | Name) and node.name in names:
            return replace(node, name=names[node.name])
        return node

    return rewrite(expression, change)
