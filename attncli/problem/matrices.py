"""Reads matrices and vectors: nested lists of numbers, arrays from files, and random ones by their seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from attncli.english import count
from attncli.equation.shapes import shape_text
from attncli.problem.arrays import Array, read_array
from attncli.problem.generated import read_random
from attncli.problem.keys import ONE_HEAD, ONE_HEAD_HELP
from attncli.problem.model import Matrix
from attncli.problem.report import Report
from attncli.problem.tree import Leaf, Mapping, Node, Sequence, describe
from attncli.problem.values import read_number

_RANKS = {1: "a list of numbers", 2: "a list of rows"}
_EXAMPLES = {1: "[1, 0, 0.5]", 2: "[[1, 0], [0, 1]]"}
_REFERENCES = "write {file: weights.npz, name: W_Q} or {random: [4, 8], seed: 7}"
_EVEN = "all rows of a matrix are equally long"
_Cell = TypeVar("_Cell")


def read_matrix(node: Node, path: str, report: Report, *, rank: int = 2, minus_infinity: bool = False) -> Matrix | None:
    """A Matrix of the given rank (1 or 2), or None after reporting what is wrong with it."""
    matrix: Matrix | None = None
    if isinstance(node, Leaf):
        _wrong_rank(node, describe(node), path, report, rank)
    elif isinstance(node, Sequence):
        matrix = _nested(node, path, report, minus_infinity)
    elif "random" in node.keys:
        array = read_random(node, path, report)
        matrix = None if array is None else Matrix(array)
    elif "file" not in node.keys:
        message = f"must be {_RANKS[rank]}, {{file: …}} or {{random: …}}"
        report.add(message, at=node.at, path=path, help=_REFERENCES)
    else:
        matrix = _from_file(node, path, report, minus_infinity)
    if matrix is None:
        return None
    value, written = matrix.value, matrix.written
    if rank == 2:  # a batch of one, or one head, is what this version computes
        while value.ndim > 2 and value.shape[0] == 1:
            value, written = value[0], None if written is None else written[0]
        if value.ndim > 2:
            shape = shape_text(value.shape)
            report.add(f"{ONE_HEAD}, and this is {shape}", at=node.at, path=path, help=ONE_HEAD_HELP)
            return None
    if value.ndim != rank:
        _wrong_rank(node, _RANKS.get(value.ndim, f"{value.ndim} deep"), path, report, rank)
        return None
    value.setflags(write=False)
    if written is not None:
        written.setflags(write=False)
    return Matrix(value, written)


def _nested(node: Sequence, path: str, report: Report, minus_infinity: bool) -> Matrix | None:
    written: list[str] = []

    def read_cell(cell: Leaf, path: str) -> float | None:
        written.append(cell.text)
        return read_number(cell, path, report, minus_infinity=minus_infinity)

    cells = read_cells(node, path, report, read_cell)
    if cells is None:
        return None
    value = np.array(cells, dtype=np.float64)
    return Matrix(value, np.array(written, dtype=object).reshape(value.shape))


def _from_file(node: Mapping, path: str, report: Report, minus_infinity: bool) -> Matrix | None:
    array = read_array(node, path, report)
    if array is None or not _all_numbers(array, node.at, path, report, minus_infinity):
        return None
    return Matrix(array.astype(np.float64) + 0.0)


def read_cells(
    node: Sequence, path: str, report: Report, read_cell: Callable[[Leaf, str], _Cell | None]
) -> list[object] | None:
    """Nested lists of equal lengths with every cell read by `read_cell`, or None after reporting."""
    before = report.count
    shape: list[int] = []
    inner: Node = node
    while isinstance(inner, Sequence):
        shape.append(len(inner.items))
        if not inner.items:
            report.add("is empty", at=inner.at, path=path + "[0]" * (len(shape) - 1), help=f"write {_EXAMPLES[2]}")
            return None
        inner = inner.items[0]

    def read(node: Node, path: str, shape: list[int]) -> object:
        if not shape:
            if isinstance(node, Leaf):
                return read_cell(node, path)
            report.add(
                f"must be one entry as its neighbours are, not {describe(node)}", at=node.at, path=path, help=_EVEN
            )
        elif not isinstance(node, Sequence):
            report.add(
                f"must be a row of {count(shape[0], 'entry')} as the first is, not {describe(node)}",
                at=node.at, path=path, help=_EVEN,
            )  # fmt: skip
        elif len(node.items) != shape[0]:
            report.add(
                f"has {count(len(node.items), 'entry')} where the first row has {shape[0]}",
                at=node.at, path=path, help=_EVEN,
            )  # fmt: skip
        else:
            return [read(item, f"{path}[{i}]", shape[1:]) for i, item in enumerate(node.items)]
        return None

    cells = read(node, path, shape)
    return cells if report.count == before and isinstance(cells, list) else None


def _all_numbers(array: Array, at: int, path: str, report: Report, minus_infinity: bool) -> bool:
    """Whether an array from a file holds numbers attention can use: no truth values, no NaN, no infinity."""
    if array.dtype.kind == "b":
        report.add("holds truth values, not numbers", at=at, path=path, help="save it as numbers")
        return False
    bad = ~np.isfinite(array)
    if minus_infinity:
        bad &= array != -np.inf
    if bad.any():
        cell = np.argwhere(bad)[0]
        where = path + "".join(f"[{index}]" for index in cell)
        report.add(
            f"{array[tuple(cell)]} is not a finite number", at=at, path=where, help="attention needs finite numbers"
        )
        return False
    return True


def _wrong_rank(node: Node, what: str, path: str, report: Report, rank: int) -> None:
    help = f"write {path}: {_EXAMPLES[rank]}"
    report.add(f"must be {_RANKS[rank]}, not {what}", at=node.at, path=path, help=help)
