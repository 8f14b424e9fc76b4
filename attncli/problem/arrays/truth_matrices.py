"""Reads the truth values of a mask: true and false, or 1 and 0, in a list, a matrix or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attncli.problem.arrays.matrix_reader import MOST_AXES
from attncli.problem.matrix import Matrix
from attncli.problem.text.nested_lists import read_cells
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, describe, truth
from attncli.problem.text.number_forms import is_plain
from attncli.problem.text.pasted.finding import written_out
from attncli.problem.text.values import Value

if TYPE_CHECKING:
    from attncli.problem.arrays.stored import StoredArray

_EXAMPLES = {1: "[1, 1, 0]", 2: "[[1, 0], [1, 1]]"}
# A batch of lists is batch × keys, one of matrices batch × heads × queries × keys.
_MOST_AXES = {1: 2, 2: MOST_AXES}


def read_truths(value: Value, rank: int = 2, example: str = "") -> Matrix | None:
    """true and false, or 1 and 0, in a list or a matrix, or several of them; None after reporting
    what is wrong.

    The help is to write the `example`, or one of this rank.
    """
    example = example or _EXAMPLES[rank]
    if not written_out(value, rank):
        return None
    if isinstance(value.node, MappingNode):
        import numpy as np

        from attncli.problem.arrays.references import read_array

        array = read_array(value, rank)
        if array is None:
            return None
        if not np.isin(array, (0, 1)).all():
            value.wrong("holds other values than true and false, 1 and 0", "save it as booleans")
            return None
        return stored_truths(array, value, rank)
    if not isinstance(value.node, ListNode):
        what = describe(value.node)
        value.wrong(f"must be a list of true and false, or 1 and 0, not {what}", f"write {example}")
        return None
    read = read_cells(value, _read_truth, _truths_of, empty=f"write {example}")
    return None if read is None else _of_rank(Matrix(read[0], shape=read[1]), rank, value)


def stored_truths(array: StoredArray, value: Value, rank: int = 2) -> Matrix | None:
    """The truth values of an array in a file; None after reporting that it has too few axes, or too
    many.

    Lists for the entries of a batch may have axes of 1 for heads and queries: batch × 1 × 1 × keys.
    """
    truths = array.astype(bool)
    are_lists = rank == 1 and _MOST_AXES[rank] < truths.ndim <= MOST_AXES
    if are_lists and set(truths.shape[1:-1]) == {1}:
        truths = truths.reshape(truths.shape[0], -1)
    truths.setflags(write=False)
    return _of_rank(Matrix(truths), rank, value)


def is_zero_or_one(node: Node) -> bool:
    """Whether a node is a plain number that is 0 or 1."""
    return (
        isinstance(node, Leaf)
        and not node.quoted
        and is_plain(node.text)
        and float(node.text) in (0, 1)
    )


def _of_rank(array: Matrix, rank: int, value: Value) -> Matrix | None:
    """The array; None after reporting that it has fewer axes, or more than a batch of it would
    have.
    """
    if array.ndim > _MOST_AXES[rank]:
        value.wrong(f"is {array.ndim} lists deep", f"write {_EXAMPLES[rank]}")
    elif array.ndim < rank:
        value.wrong(
            "must be a list of rows, not a single list", "one row per query, one column per key"
        )
    else:
        return array
    return None


def _truths_of(numbers: StoredArray) -> list[bool] | None:
    """The truth values of a list that was read in one go; None where it holds others than true and
    false, 1 and 0.
    """
    are_truths = (numbers == 0) | (numbers == 1)
    if not are_truths.all():
        return None
    truths: list[bool] = (numbers != 0).ravel().tolist()
    return truths


def _read_truth(cell: Value) -> bool | None:
    value = truth(cell.node)
    if value is None and is_zero_or_one(cell.node):
        return float(cell.text) == 1
    if value is None:
        cell.wrong(
            f"must be true or false, 1 or 0, not {describe(cell.node)}", "write true or false"
        )
    return value
