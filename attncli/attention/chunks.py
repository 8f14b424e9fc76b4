"""Equations evaluated for a chunk: some of the queries, or of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.equation.evaluator import evaluate
from attncli.equation.indexing import fix_axes, is_fixed, position
from attncli.equation.nodes import Call, Equation, Expression, Name, Ref, rewrite, walk
from attncli.equation.shapes import index_sizes

Array = NDArray[Any]
_NOTHING: Mapping[str, Any] = {}
# Where a chunk begins, by the letter that runs through it.
_FIRST_OF_CHUNK = {"i": "first_query", "j": "first_key"}


def evaluate_chunk(
    equation: Equation,
    ranges: Mapping[str, slice],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    *,
    dtype: Any,
    place: Mapping[str, int] = _NOTHING,
    sizes: Mapping[str, int] = _NOTHING,
    done: Mapping[str, Array] = _NOTHING,
    xp: Any = np,
) -> Array:
    """An equation evaluated for these ranges of queries or keys, at one place of the fixed leading
    axes.

    Positions are those in the whole sequence. `sizes` has the lengths of letters that are no axis
    of an array; `done` are arrays that have only these ranges already. All arrays are those of
    `xp`.
    """
    expression = _with_positions(fix_axes(equation.expression, place), ranges)
    read = _cut(equation.expression, place, ranges, arrays, scalars)
    numbers = {}
    known = {}
    for name, array in {**read, **done}.items():
        if array.ndim:
            known[name] = array
        else:
            numbers[name] = float(array)
    equation = Equation(equation.target, expression)
    lengths = index_sizes(equation, {name: array.shape for name, array in known.items()})
    firsts = {_FIRST_OF_CHUNK[letter]: float(run.start) for letter, run in ranges.items()}
    run_lengths = {letter: run.stop - run.start for letter, run in ranges.items()}
    found: Array = evaluate(
        equation,
        arrays=known,
        scalars={**scalars, **numbers, **firsts},
        sizes={**lengths, **sizes, **run_lengths},
        xp=xp,
        dtype=dtype,
    )
    return found


def chunks(stop: int, size: int, start: int = 0) -> Iterator[slice]:
    """Slices of this size, one after the other; the last one may be shorter."""
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


def _with_positions(expression: Expression, ranges: Mapping[str, slice]) -> Expression:
    """The expression with positions in the whole sequence: i becomes i + first_query."""

    def count(node: Expression) -> Expression:
        if isinstance(node, Name) and node.name in ranges:
            first = Name(_FIRST_OF_CHUNK[node.name])
            return Call("add", (node, first))
        return node

    return rewrite(expression, count)


def _cut(
    expression: Expression,
    place: Mapping[str, int],
    ranges: Mapping[str, slice],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
) -> dict[str, Array]:
    """The parts of the arrays that the chunk reads."""

    def index(each: str | Expression) -> int | slice:
        if is_fixed(each, place):
            return position(each, place, scalars)
        if isinstance(each, str) and each in ranges:
            return ranges[each]
        return slice(None)

    parts = {}
    for node in walk(expression):
        if isinstance(node, Ref) and node.name in arrays:
            array = arrays[node.name]
            part = tuple(map(index, node.indices))
            parts[node.name] = array[part]
    return parts
