"""Where an index points: a letter at its place, or an expression of letters and whole numbers, h // group."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, walk

MEMBER = "q"  # a place among those that read the same place: the query heads of one head of keys


def position(index: str | Expression, place: Mapping[str, int], scalars: Mapping[str, Any]) -> int:
    """The position an index gives at a place; `scalars` are numbers, or nodes of numbers, that are whole."""
    match index:
        case str() as letter:
            return place[letter]
        case Name(name=name) if name in place:
            return place[name]
        case Name(name=name):
            scalar = scalars[name]
            return int(scalar.text if isinstance(scalar, Number) else scalar)
        case Number(value=value) if value is not None:
            return int(value)
        case Call(function=function, arguments=arguments):
            return int(FUNCTIONS[function].scalar(*(position(part, place, scalars) for part in arguments)))
    raise TypeError(f"cannot be a position: {index!r}")


def names_in(index: str | Expression) -> Iterator[str]:
    """Every name in an index: its letters, and the numbers it is worked out with."""
    if isinstance(index, str):
        yield index
    else:
        yield from (node.name for node in walk(index) if isinstance(node, Name))


def letters(index: str | Expression, known: Collection[str]) -> Iterator[str]:
    """The letters, of those known, that an index depends on."""
    return (name for name in names_in(index) if name in known)


def letters_in(equation: Equation) -> frozenset[str]:
    """All index letters of an equation, which tells i in j <= i from a scalar such as d_k."""
    summed = {node.index for node in walk(equation.expression) if isinstance(node, Reduce)}
    return frozenset(equation.target.letters) | summed
