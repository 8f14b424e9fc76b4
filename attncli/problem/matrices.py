"""Reads matrices and vectors: nested lists of numbers, arrays from files, and random ones by their seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from attncli.english import count, shape_text
from attncli.problem.commas import comma_advice
from attncli.problem.later import Cells
from attncli.problem.many import Many
from attncli.problem.matrix import Matrix, Typed, WrittenLater
from attncli.problem.nodes import Leaf, Sequence, describe
from attncli.problem.ragged import tell_uneven
from attncli.problem.runs import Run, Runs, numbers
from attncli.problem.values import Value, read_number

if TYPE_CHECKING:
    from attncli.problem.stored import Array

_RANKS = {1: "a list of numbers", 2: "a list of rows", 3: "a list of matrices", 4: "a list of lists of matrices"}
_EXAMPLES = {1: "[1, 0]", 2: "[[1, 0], [0, 1]]"}
_REFERENCES = "write {file: weights.npz, name: W_Q} or {random: [4, 8], seed: 7}"
DEEPEST = 4  # batch × heads × rows × columns
_EVEN = "all rows of a matrix are equally long"
_Cell = TypeVar("_Cell")


def read_matrix(
    value: Value, *, rank: int = 2, deepest: int | None = None, minus_infinity: bool = False
) -> Matrix | None:
    """A Matrix of the given rank (1 or 2) or up to the `deepest`, or None after reporting what is wrong with it.

    Leading axes of 1 beyond the deepest are dropped.
    """
    deepest = deepest or rank
    matrix: Matrix | None = None
    if isinstance(value.node, Leaf):
        _wrong_rank(value, describe(value.node), rank)
    elif isinstance(value.node, Sequence):
        matrix = _nested(value, rank, minus_infinity)
    elif "random" in value.keys and "file" in value.keys:
        at = max(value.keys["random"], value.keys["file"])
        value.wrong("file and random are both given: where does the matrix come from?", "keep one of the two", at=at)
    elif "random" in value.keys:
        from attncli.problem.generated import read_random

        array = read_random(value)
        matrix = None if array is None else Matrix(array)
    elif "file" not in value.keys:
        value.wrong(f"must be {_RANKS[rank]}, {{file: …}} or {{random: …}}", _REFERENCES)
    else:
        matrix = _from_file(value, minus_infinity)
    if matrix is None:
        return None
    while rank > 1 and deepest < matrix.ndim <= DEEPEST and matrix.shape[0] == 1:
        matrix = matrix.arranged(itemgetter(0), matrix.shape[1:])
    if not rank <= matrix.ndim <= deepest:
        what = f"{_RANKS.get(matrix.ndim, f'{matrix.ndim} lists deep')} ({shape_text(matrix.shape)})"
        _wrong_rank(value, what if matrix.ndim > 1 else _RANKS[1], rank)
        return None
    if not isinstance(matrix, Typed):  # which becomes a read-only array as soon as it is one
        matrix.value.setflags(write=False)
    return matrix


def _nested(value: Value, rank: int, minus_infinity: bool) -> Matrix | None:
    written: list[str] = []

    def read_cell(cell: Value) -> float | None:
        return read_number(cell, minus_infinity=minus_infinity)

    def read_written(cell: Value) -> float | None:
        written.append(cell.text)
        return read_cell(cell)

    read_run = Runs(numbers, read_cell)
    if isinstance(node := value.node, Many) and node.shape:
        array, wrong = read_run(value)
        if not wrong.any():
            return WrittenLater(array.reshape(node.shape), node.write)

    def read_row(row: Value) -> Run:
        array, wrong = read_run(row)
        if isinstance(row.node, Many) and not wrong.any():
            written.extend(row.node.write().ravel().tolist())
        return array, wrong

    read = read_cells(value, read_written, read_row, empty=f"write {_EXAMPLES[rank]}")
    if read is None:
        return None
    cells, shape = read
    return Typed(Cells(cells, shape, float), Cells(written, shape, object))


def _from_file(value: Value, minus_infinity: bool) -> Matrix | None:
    import numpy as np

    from attncli.problem.arrays import read_array

    array = read_array(value)
    if array is None or not _all_numbers(array, value, minus_infinity):
        return None
    return Matrix(array.astype(np.float64, order="C") + 0.0)


def read_cells(
    value: Value,
    read_cell: Callable[[Value], _Cell | None],
    read_run: Callable[[Value], Run] | None = None,
    *,
    empty: str,
) -> tuple[list[_Cell | None], tuple[int, ...]] | None:
    """Every single value of nested lists of equal lengths, read by `read_cell`, and their shape; None after reporting.

    The values come in order, row after row. `read_run` reads all those of a list that was read in one go.
    `empty` is the help where one of the lists is empty.
    """
    before = value.errors.count
    text, top = value.errors.source.text, value.node.at
    shape: list[int] = []
    uneven: list[Value] = []  # matrices of other lengths than the first
    inner = value
    while isinstance(inner.node, Sequence):
        shape.append(inner.node.length)
        if not inner.node.length:
            inner.wrong("is empty", empty)
            return None
        inner = next(inner.each())

    cells: list[_Cell | None] = []

    def read(value: Value, shape: list[int]) -> None:
        if not shape:
            if isinstance(value.node, Leaf):
                cells.append(read_cell(value))
                return
            value.wrong(f"must be one entry as its neighbours are, not {describe(value.node)}", _EVEN)
        elif not isinstance(value.node, Sequence):
            row = count(shape[0], "entry")
            value.wrong(f"must be a row of {row} as the first is, not {describe(value.node)}", _EVEN)
        elif value.node.length != shape[0]:
            if len(shape) > 1:
                uneven.append(value)
            else:
                help = _EVEN + comma_advice(text[top : text.find("]", value.node.at)])
                value.wrong(f"has {count(value.node.length, 'entry')} where the first row has {shape[0]}", help)
        elif read_run and isinstance(value.node, Many):
            values, wrong = read_run(value)
            if value.node.shape == tuple(shape) and not wrong.any():
                cells.extend(values.tolist())
                return
            for place in value.node.suspects(tuple(shape), wrong):
                read(value.entry(place), shape[1:])
        else:
            for item in value.each():
                read(item, shape[1:])

    read(value, shape)
    if uneven:
        tell_uneven(value, uneven[0])
    return (cells, tuple(shape)) if value.errors.count == before else None


def _all_numbers(array: Array, value: Value, minus_infinity: bool) -> bool:
    """Whether an array from a file holds numbers attention can use: no truth values, no NaN, no infinity."""
    import numpy as np

    if array.dtype.kind == "b":
        value.wrong("holds truth values, not numbers", "save it as numbers")
        return False
    bad = ~np.isfinite(array)
    if minus_infinity:
        bad &= array != -np.inf
    if bad.any():
        cell = np.argwhere(bad)[0]
        path = value.path + "".join(f"[{index}]" for index in cell)
        message = f"{array[tuple(cell)]} is not a finite number"
        replace(value, path=path).wrong(message, "attention needs finite numbers")
        return False
    return True


def _wrong_rank(value: Value, what: str, rank: int) -> None:
    value.wrong(f"must be {_RANKS[rank]}, not {what}", f"write {value.name}: {_EXAMPLES[rank]}")
