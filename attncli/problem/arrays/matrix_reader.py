"""Reads matrices and vectors: nested lists of numbers, arrays from files, and random ones by their
seed.
"""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from attncli.english import shape_text, shorten
from attncli.problem.arrays.random_matrices import read_random
from attncli.problem.matrix import Matrix, read_only
from attncli.problem.text.decimal_commas import report_doubtful_commas
from attncli.problem.text.nested_lists import read_cells
from attncli.problem.text.nodes import Leaf, ListNode, Node, describe
from attncli.problem.text.numbers import as_float
from attncli.problem.text.pasted.finding import written_out
from attncli.problem.text.pasted.names import name_in
from attncli.problem.text.values import Value, read_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.problem.arrays.stored import StoredArray

_RANKS = {
    1: "a list of numbers",
    2: "a list of rows",
    3: "a list of matrices",
    4: "a list of lists of matrices",
}
_EXAMPLES = {1: "[1, 0]", 2: "[[1, 0], [0, 1]]"}
_REFERENCES_HELP = (
    "write {file: weights.npz, name: W_Q}, {file: W_Q.csv} or {random: [4, 8], seed: 7}"
)
# The deepest lists are batch × heads × rows × columns.
MOST_AXES = 4


def read_matrix(
    value: Value, *, rank: int = 2, deepest: int | None = None, minus_infinity: bool = False
) -> Matrix | None:
    """A Matrix of the given rank (1 or 2) or up to the `deepest`, or None after reporting what is
    wrong with it.

    Leading axes of 1 beyond the deepest are dropped.
    """
    deepest = deepest or rank
    matrix: Matrix | None = None
    if not written_out(value, rank):
        return None
    if isinstance(value.node, Leaf):
        _wrong_rank(value, describe(value.node), rank)
    elif isinstance(value.node, ListNode):
        if name := name_in(value):
            name.wrong(
                f"{shorten(name.text)} is not a number",
                "paste numbers only, without names of rows and columns",
            )
        elif not report_doubtful_commas(value):
            matrix = _read_lists(value, rank, minus_infinity)
    elif "random" in value.keys and "file" in value.keys:
        at = max(value.keys["random"], value.keys["file"])
        value.wrong("both file and random are given", "keep one of the two", at=at)
    elif "random" in value.keys:
        matrix = read_random(value)
    elif "file" not in value.keys:
        value.wrong(f"must be {_RANKS[rank]}, {{file: …}} or {{random: …}}", _REFERENCES_HELP)
    else:
        matrix = _read_file(value, rank, minus_infinity)
    if matrix is None:
        return None
    while rank > 1 and deepest < matrix.ndim <= MOST_AXES and matrix.shape[0] == 1:
        matrix = matrix.arranged(itemgetter(0), matrix.shape[1:])
    if not rank <= matrix.ndim <= deepest:
        what = (
            f"{_RANKS.get(matrix.ndim, f'{matrix.ndim} lists deep')} ({shape_text(matrix.shape)})"
        )
        _wrong_rank(value, what if matrix.ndim > 1 else _RANKS[1], rank)
        return None
    return matrix


def _read_lists(value: Value, rank: int, minus_infinity: bool) -> Matrix | None:
    numbers = value.node.numbers if isinstance(value.node, ListNode) else None
    if numbers is not None and numbers.array.dtype != bool:
        return Matrix(numbers.array, numbers.texts, numbers.array.shape)

    def read_cell(cell: Value) -> float | None:
        return read_number(cell, minus_infinity=minus_infinity)

    def read_numbers(array: NDArray[Any]) -> list[float] | None:
        found: list[float] | None = None if array.dtype == bool else array.ravel().tolist()
        return found

    read = read_cells(value, read_cell, read_numbers, empty=f"write {_EXAMPLES[rank]}")
    if read is None:
        return None
    cells, shape = read
    return Matrix(cells, lambda: _texts(value.node), shape)


def _texts(node: Node) -> list[str]:
    """The text of each value in nested lists, row after row."""
    if isinstance(node, Leaf):
        return [node.text]
    if isinstance(node, ListNode) and node.numbers is not None:
        return node.numbers.texts()
    return (
        [text for item in node.items for text in _texts(item)] if isinstance(node, ListNode) else []
    )


def _read_file(value: Value, rank: int, minus_infinity: bool) -> Matrix | None:
    import numpy as np

    from attncli.problem.arrays.references import read_array

    array = read_array(value, rank)
    texts = None
    # A file of text has texts where it has fractions and roots.
    if array is not None and array.dtype == object:
        texts, array = read_only(array), np.vectorize(as_float, otypes=[float])(array)
    if array is None or not _all_numbers(array, value, minus_infinity):
        return None
    numbers = array.astype(np.float64, order="C") + 0.0
    numbers.setflags(write=False)
    return Matrix(numbers, texts)


def _all_numbers(array: StoredArray, value: Value, minus_infinity: bool) -> bool:
    """Whether an array from a file holds numbers attention can use: no truth values, no NaN, no
    infinity.
    """
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
