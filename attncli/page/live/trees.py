"""Equations and spellings as data that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import inf
from typing import Any, TypeAlias

from attncli.equation.functions import FUNCTIONS, Function
from attncli.equation.intervals import ANYTHING, Interval
from attncli.equation.nodes import Call, Expression, Name, Number, Reduce, Ref
from attncli.equation.notation import UNICODE, Notation, Spelling

Tree: TypeAlias = "str | float | list[Any]"
_POSITIVE = Interval(1e-300, inf)
# Ends of intervals are rounded outwards: what is that near below 0 is 0.
_ROUNDED_ZERO = -1e-300


def as_tree(node: Expression) -> Tree:
    """An expression as nested lists: ["mul", ["@", "Q", "i", "k"], ["@", "K_T", "k", "j"]].

    A name is its text, a number of an equation a number, or ["#", "-inf"] and ["#", "1e9"]. A sum
    is ["sum", "k", …], a cell ["@", name, …].
    """
    match node:
        case Number(value=value, text=text):
            assert value is not None
            if math.isinf(value) or "e" in text:
                return ["#", text]
            return int(value) if value == int(value) else float(value)
        case Name(name=name):
            return name
        case Ref(name=name, indices=indices):
            return ["@", name, *map(_index_as_tree, indices)]
        case Call(function=function, arguments=arguments):
            return [function, *map(as_tree, arguments)]
        case Reduce(function=function, index=index, body=body):
            kind = "sum" if function == "add" else "largest"
            return [kind, index, as_tree(body)]


def _index_as_tree(index: str | Expression) -> Tree:
    return index if isinstance(index, str) else as_tree(index)


def names_in(node: Expression) -> Iterator[str]:
    """The names in a node itself, and the letters of its indices: Q, i and k for Q[i, k]."""
    match node:
        case Name(name=name):
            yield name
        case Ref(name=name, indices=indices):
            yield name
            yield from (index for index in indices if isinstance(index, str))
        case Reduce(index=index):
            yield index
        case Number() | Call():
            pass


def forms_of(notation: Notation) -> dict[str, Any]:
    """The signs and forms of a notation."""
    return {
        "equals": notation.equals,
        "nearly": notation.nearly,
        "parenthesis": notation.parenthesis,
        "sum": notation.sums,
        "largest": notation.maxima,
    }


def spelling_of(spelling: Spelling) -> dict[str, Any]:
    """How a notation spells a function, of numbers and of what is tall, too."""
    found: dict[str, Any] = {
        "form": spelling.form,
        "level": spelling.level,
        "needs": spelling.needs,
    }
    if spelling.separator:
        found["separator"] = spelling.separator
    if spelling.of_number:
        found["of_number"] = spelling_of(spelling.of_number)
    if spelling.of_tall:
        found["of_tall"] = spelling_of(spelling.of_tall)
    return found


def function_data(name: str) -> dict[str, Any]:
    """How a function is spelled on a line, and what is known of it when the line is worked."""
    found = spelling_of(UNICODE.spelling(name))
    known = FUNCTIONS.get(name)
    if known is None:
        return found
    if known.zero_arguments:
        found["zero_arguments"] = known.zero_arguments
    if known.looked_up:
        found["looked_up"] = True
    signs = signs_that_count(known, _argument_count(name))
    if signs:
        found["signs_that_count"] = signs
    return found


def _argument_count(name: str) -> int:
    """How many arguments a function takes; two stand for any number of them."""
    return 2 if FUNCTIONS[name].any_number else len(UNICODE.spelling(name).needs)


def signs_that_count(function: Function, arguments: int) -> list[bool]:
    """Which arguments must not be below 0, so that the result is not: of exp none, of add both.

    Empty where the result may be below 0 whatever their signs are.
    """
    if function.is_condition:
        return []
    places = range(arguments)
    every = [True] * arguments
    if not _is_never_negative(function, every):
        return []
    counts = []
    for place in places:
        # All arguments are positive but this one, which may be anything.
        all_but_one = [at != place for at in places]
        counts.append(not _is_never_negative(function, all_but_one))
    # Of a maximum, no single sign counts, but all of them together do.
    return counts if _is_never_negative(function, counts) else every


def _is_never_negative(function: Function, are_positive: list[bool]) -> bool:
    """Whether the result is not below 0 where some arguments are positive, and others anything."""
    ranges = [_POSITIVE if is_positive else ANYTHING for is_positive in are_positive]
    return function.interval(*ranges).low >= _ROUNDED_ZERO
