"""Reads matrices and vectors: nested lists of numbers, arrays from files, and random ones by their seed."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TypeVar

import numpy as np

from attncli.english import count
from attncli.equation.shapes import shape_text
from attncli.problem.arrays import read_array
from attncli.problem.commas import comma_advice
from attncli.problem.generated import read_random
from attncli.problem.model import Matrix, WrittenLater
from attncli.problem.ragged import tell_uneven
from attncli.problem.spot import Spot
from attncli.problem.stored import Array
from attncli.problem.tree import Leaf, Numbers, Sequence, describe
from attncli.problem.values import read_number
from attncli.records import replace

_RANKS = {1: "a list of numbers", 2: "a list of rows", 3: "a list of matrices", 4: "a list of lists of matrices"}
_EXAMPLES = {1: "[1, 0, 0.5]", 2: "[[1, 0], [0, 1]]"}
_REFERENCES = "write {file: weights.npz, name: W_Q} or {random: [4, 8], seed: 7}"
DEEPEST = 4  # batch × heads × rows × columns
_EVEN = "all rows of a matrix are equally long"
_Cell = TypeVar("_Cell")


def read_matrix(
    spot: Spot, *, rank: int = 2, deepest: int | None = None, minus_infinity: bool = False
) -> Matrix | None:
    """A Matrix of the given rank (1 or 2) or up to the `deepest`, or None after reporting what is wrong with it.

    Leading axes of 1 beyond the deepest are dropped.
    """
    deepest = deepest or rank
    matrix: Matrix | None = None
    if isinstance(spot.node, Leaf):
        _wrong_rank(spot, describe(spot.node), rank)
    elif isinstance(spot.node, Sequence):
        matrix = _nested(spot, minus_infinity)
    elif "random" in spot.keys:
        array = read_random(spot)
        matrix = None if array is None else Matrix(array)
    elif "file" not in spot.keys:
        spot.wrong(f"must be {_RANKS[rank]}, {{file: …}} or {{random: …}}", _REFERENCES)
    else:
        matrix = _from_file(spot, minus_infinity)
    if matrix is None:
        return None
    while rank > 1 and deepest < matrix.value.ndim <= DEEPEST and matrix.value.shape[0] == 1:
        matrix = matrix.arranged(itemgetter(0))
    value = matrix.value
    if not rank <= value.ndim <= deepest:
        what = f"{_RANKS.get(value.ndim, f'{value.ndim} lists deep')} ({shape_text(value.shape)})"
        _wrong_rank(spot, what if value.ndim > 1 else _RANKS[1], rank)
        return None
    value.setflags(write=False)
    if not isinstance(matrix, WrittenLater) and matrix.written is not None:
        matrix.written.setflags(write=False)
    return matrix


def _nested(spot: Spot, minus_infinity: bool) -> Matrix | None:
    if isinstance(spot.node, Numbers):
        return WrittenLater(spot.node.value, spot.node.write)
    written: list[str] = []

    def read_cell(cell: Spot) -> float | None:
        written.append(cell.text)
        return read_number(cell, minus_infinity=minus_infinity)

    cells = read_cells(spot, read_cell)
    if cells is None:
        return None
    value = np.array(cells, dtype=np.float64)
    return Matrix(value, np.array(written, dtype=object).reshape(value.shape))


def _from_file(spot: Spot, minus_infinity: bool) -> Matrix | None:
    array = read_array(spot)
    if array is None or not _all_numbers(array, spot, minus_infinity):
        return None
    return Matrix(array.astype(np.float64, order="C") + 0.0)


def read_cells(spot: Spot, read_cell: Callable[[Spot], _Cell | None]) -> list[object] | None:
    """Nested lists of equal lengths with every single value read by `read_cell`, or None after reporting."""
    before = spot.report.count
    text, top = spot.report.source.text, spot.node.at
    shape: list[int] = []
    uneven: list[Spot] = []  # matrices of other lengths than the first
    inner = spot
    while isinstance(inner.node, Sequence):
        shape.append(len(inner.node.items))
        if not inner.node.items:
            inner.wrong("is empty", f"write {_EXAMPLES[2]}")
            return None
        inner = inner.items[0]

    def read(spot: Spot, shape: list[int]) -> object:
        if not shape:
            if isinstance(spot.node, Leaf):
                return read_cell(spot)
            spot.wrong(f"must be one entry as its neighbours are, not {describe(spot.node)}", _EVEN)
        elif not isinstance(spot.node, Sequence):
            row = count(shape[0], "entry")
            spot.wrong(f"must be a row of {row} as the first is, not {describe(spot.node)}", _EVEN)
        elif len(spot.node.items) != shape[0]:
            if len(shape) > 1:
                uneven.append(spot)
            else:
                help = _EVEN + comma_advice(text[top : text.find("]", spot.node.at)])
                spot.wrong(f"has {count(len(spot.node.items), 'entry')} where the first row has {shape[0]}", help)
        else:
            return [read(item, shape[1:]) for item in spot.items]
        return None

    cells = read(spot, shape)
    if uneven:
        tell_uneven(spot, uneven[0])
    return cells if spot.report.count == before and isinstance(cells, list) else None


def _all_numbers(array: Array, spot: Spot, minus_infinity: bool) -> bool:
    """Whether an array from a file holds numbers attention can use: no truth values, no NaN, no infinity."""
    if array.dtype.kind == "b":
        spot.wrong("holds truth values, not numbers", "save it as numbers")
        return False
    bad = ~np.isfinite(array)
    if minus_infinity:
        bad &= array != -np.inf
    if bad.any():
        cell = np.argwhere(bad)[0]
        path = spot.path + "".join(f"[{index}]" for index in cell)
        message = f"{array[tuple(cell)]} is not a finite number"
        replace(spot, path=path).wrong(message, "attention needs finite numbers")
        return False
    return True


def _wrong_rank(spot: Spot, what: str, rank: int) -> None:
    spot.wrong(f"must be {_RANKS[rank]}, not {what}", f"write {spot.path}: {_EXAMPLES[rank]}")
