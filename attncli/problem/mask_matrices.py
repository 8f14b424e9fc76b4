"""Reads the matrices of a mask: truth values that keep or hide, numbers that are added, and 0/1 told apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attncli.equation.shapes import shape_text
from attncli.problem.arrays import read_array
from attncli.problem.keys import ONE_HEAD, ONE_HEAD_HELP
from attncli.problem.matrices import read_cells, read_matrix
from attncli.problem.model import Additive, Keep
from attncli.problem.numbers import is_plain
from attncli.problem.report import Report
from attncli.problem.tree import Leaf, Mapping, Node, Sequence, describe, truth

_SPELLINGS = "write {keep: [[1, 0], …]} where 1 means may attend, or {hide: [[0, 1], …]} where 1 means hidden"


def read_bare(node: Sequence | Mapping, path: str, report: Report) -> Keep | Additive | None:
    """A matrix without a word on its polarity: truth values keep, numbers are added, 0 and 1 alone are refused."""
    if isinstance(node, Mapping):
        array = read_array(node, path, report)
        if array is None:
            return None
        if array.dtype.kind == "b":
            keep = squeeze(array.astype(np.bool_), 2, node.at, path, report)
            return None if keep is None else Keep(keep)
        only_zero_one = bool(np.isin(array, (0, 1)).all())
    else:
        cells = list(_leaves(node))
        truths = [cell for cell in cells if truth(cell) is not None]
        if truths and len(truths) == len(cells):
            matrix = read_booleans(node, path, report)
            return None if matrix is None else Keep(matrix)
        if truths:
            report.add(
                "mixes truth values and numbers", at=truths[0].at, path=path,
                help="write true and false only, or numbers to add only",
            )  # fmt: skip
            return None
        only_zero_one = bool(cells) and all(_zero_or_one(cell) for cell in cells)
    if only_zero_one:
        report.add("a mask of only 0 and 1 could mean either", at=node.at, path=path, help=_SPELLINGS)
        return None
    return read_additive(node, path, report)


def read_additive(node: Node, path: str, report: Report) -> Additive | None:
    """Numbers to add, -inf among them; None after reporting what is wrong."""
    matrix = read_matrix(node, path, report, minus_infinity=True)
    return None if matrix is None else Additive(matrix)


def read_booleans(node: Node, path: str, report: Report, rank: int = 2) -> NDArray[np.bool_] | None:
    """true and false, or 1 and 0, in a list or a matrix; None after reporting what is wrong."""
    if isinstance(node, Mapping):
        array = read_array(node, path, report)
        if array is None:
            return None
        if not np.isin(array, (0, 1)).all():
            report.add(
                "holds other values than true and false, 1 and 0", at=node.at, path=path, help="save it as booleans"
            )
            return None
        return squeeze(array.astype(np.bool_), rank, node.at, path, report)
    if not isinstance(node, Sequence):
        example = "[[1, 0], [1, 1]]" if rank == 2 else "[1, 1, 0]"
        report.add(
            f"must be a list of true and false, or 1 and 0, not {describe(node)}",
            at=node.at,
            path=path,
            help=f"write {example}",
        )
        return None
    cells = read_cells(node, path, report, lambda cell, at: _boolean(cell, at, report))
    return None if cells is None else squeeze(np.array(cells, dtype=np.bool_), rank, node.at, path, report)


def squeeze(array: NDArray[np.bool_], rank: int, at: int, path: str, report: Report) -> NDArray[np.bool_] | None:
    """The array without leading axes of length 1, read-only; None after reporting any other rank."""
    while array.ndim > rank and array.shape[0] == 1:
        array = array[0]
    if array.ndim == rank:
        array.setflags(write=False)
        return array
    shape = shape_text(array.shape)
    if array.ndim > rank:
        report.add(f"{ONE_HEAD}, and this is {shape}", at=at, path=path, help=ONE_HEAD_HELP)
    else:
        report.add(
            "must be a list of rows, not a flat list", at=at, path=path, help="one row per query, one column per key"
        )
    return None


def _boolean(cell: Leaf, path: str, report: Report) -> bool | None:
    value = truth(cell)
    if value is None and _zero_or_one(cell):
        return float(cell.text) == 1
    if value is None:
        report.add(
            f"must be true or false, 1 or 0, not {describe(cell)}", at=cell.at, path=path, help="write true or false"
        )
    return value


def _zero_or_one(cell: Leaf) -> bool:
    return not cell.quoted and is_plain(cell.text) and float(cell.text) in (0, 1)


def _leaves(node: Node) -> list[Leaf]:
    if isinstance(node, Sequence):
        return [cell for item in node.items for cell in _leaves(item)]
    return [node] if isinstance(node, Leaf) else []
