"""Rewrites that many mistakes share: of a step's own equation, with arrays, letters, indices or calls exchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from attncli.equation.nodes import Call, Expression, Name, Number, Ref, names_used, rename, rewrite
from attncli.mistakes.model import Change, Changes, Rewrite, rewritten
from attncli.tracing.model import Trace


def with_arrays(**names: str) -> Rewrite:
    """Arrays in place of others of the same shape."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        shapes = trace.shapes()
        if any(shapes.get(name) is None or shapes.get(name) != shapes.get(other) for name, other in names.items()):
            return None
        return rename(expression, names)

    return function


def with_arrays_swapped(one: str, other: str) -> Rewrite:
    """Two arrays of the same shape in the place of each other; only where both are read."""
    exchange = with_arrays(**{one: other, other: one})
    return lambda own, trace: exchange(own, trace) if {one, other} <= set(names_used(own)) else None


def with_letters(expression: Expression, letters: Mapping[str, str | Expression]) -> Expression:
    """Indices read as others, all at once, also those that a sum runs over: the sum itself keeps its letter."""

    def other(index: str | Expression) -> str | Expression:
        if isinstance(index, str):
            return letters.get(index, index)
        return rewrite(index, named)

    def named(node: Expression) -> Expression:
        found = letters.get(node.name, node) if isinstance(node, Name) else node
        return Name(found) if isinstance(found, str) else found

    def names(node: Expression) -> Expression:
        match node:
            case Ref(indices=indices):
                return replace(node, indices=tuple(map(other, indices)))
            case Name():
                return named(node)
            case Call(arguments=arguments):
                return replace(node, arguments=tuple(map(names, arguments)))
            case Number():
                return node
        return replace(node, body=names(node.body))

    return names(expression)


def with_i_and_j_exchanged(expression: Expression, trace: Trace) -> Expression | None:
    """Rows for columns in a step of queries by keys; only where there are as many."""
    n, m = trace["weights"].shape[-2:]
    return with_letters(expression, {"i": "j", "j": "i"}) if n == m else None


def transposed(name: str) -> Rewrite:
    """A matrix read with its last two indices in the other order; only a square one."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        shape = trace.shapes().get(name)
        if shape is None or shape[-1] != shape[-2]:
            return None

        def change(node: Expression) -> Expression:
            if isinstance(node, Ref) and node.name == name:
                *leading, row, column = node.indices
                return replace(node, indices=(*leading, column, row))
            return node

        return rewrite(expression, change)

    return function


def result_transposed(name: str) -> Change:
    """A step with its last two indices in the other order: its transpose, where that has the same shape."""

    def change(trace: Trace) -> Changes:
        if name not in trace:
            return {}
        *_, row, column = trace.steps[name].rule.target.letters
        return rewritten(**{name: lambda own, _: with_letters(own, {row: column, column: row})})(trace)

    return change


def with_calls(function: str, other: Callable[[tuple[Expression, ...]], Expression]) -> Rewrite:
    """Every call of a function made another expression of its arguments."""

    def change(node: Expression) -> Expression:
        return other(node.arguments) if isinstance(node, Call) and node.function == function else node

    return lambda expression, _: rewrite(expression, change)
