"""Reads matrices and vectors: nested lists of numbers, arrays from files, and random ones by their
seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from attncli.english import count, shape_text, shorten
from attncli.problem.arrays.random_matrices import read_random
from attncli.problem.model import Matrix, read_only
from attncli.problem.text.decimal_commas import comma_advice, report_doubtful_commas
from attncli.problem.text.numbers import as_float
from attncli.problem.text.pasted import name_in, written_out
from attncli.problem.text.tree import Leaf, Node, Sequence, describe
from attncli.problem.text.values import Value, read_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.problem.arrays.formats import Array

_RANKS = {
    1: "a list of numbers",
    2: "a list of rows",
    3: "a list of matrices",
    4: "a list of lists of matrices",
}
_EXAMPLES = {1: "[1, 0]", 2: "[[1, 0], [0, 1]]"}
_REFERENCES = "write {file: weights.npz, name: W_Q}, {file: W_Q.csv} or {random: [4, 8], seed: 7}"
# batch × heads × rows × columns
DEEPEST = 4
_EVEN = "all rows of a matrix must be equally long"
# the lists inside one another where there are entries
_BATCHES = {"X": 3, "context": 3, "Q": 4, "K": 4, "V": 4}
# lengths that a help line spells out
_LISTED = 12
_Cell = TypeVar("_Cell")


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
    elif isinstance(value.node, Sequence):
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
        value.wrong(f"must be {_RANKS[rank]}, {{file: …}} or {{random: …}}", _REFERENCES)
    else:
        matrix = _read_file(value, rank, minus_infinity)
    if matrix is None:
        return None
    while rank > 1 and deepest < matrix.ndim <= DEEPEST and matrix.shape[0] == 1:
        matrix = matrix.arranged(itemgetter(0), matrix.shape[1:])
    if not rank <= matrix.ndim <= deepest:
        what = (
            f"{_RANKS.get(matrix.ndim, f'{matrix.ndim} lists deep')} ({shape_text(matrix.shape)})"
        )
        _wrong_rank(value, what if matrix.ndim > 1 else _RANKS[1], rank)
        return None
    return matrix


def read_cells(
    value: Value,
    read_cell: Callable[[Value], _Cell | None],
    read_numbers: Callable[[NDArray[Any]], list[_Cell] | None] = lambda array: None,
    *,
    empty: str,
) -> tuple[list[_Cell | None], tuple[int, ...]] | None:
    """Every single value of nested lists of equal lengths, read by `read_cell`, and their shape;
    None after reporting.

    The values come in order, row after row. `read_numbers` makes them of a list that was read in
    one go, or returns None where one of them may be wrong: then they are read one by one as well.
    `empty` is the help where one of the lists is empty.
    """
    before = value.errors.count
    text, top = value.errors.source.text, value.node.at
    # matrices of other lengths than the first
    uneven: list[Value] = []
    shape: tuple[int, ...] = ()
    inner = value
    while isinstance(inner.node, Sequence):
        if inner.node.numbers is not None:
            shape += inner.node.numbers.array.shape
            break
        if not inner.node.length:
            inner.wrong("is empty", empty)
            return None
        shape += (inner.node.length,)
        inner = inner.entry(0)

    cells: list[_Cell | None] = []

    def read(value: Value, shape: tuple[int, ...]) -> None:
        node = value.node
        if not shape:
            if isinstance(node, Leaf):
                cells.append(read_cell(value))
                return
            value.wrong(f"must be one entry like its neighbours, not {describe(node)}", _EVEN)
        elif not isinstance(node, Sequence):
            row = count(shape[0], "entry")
            value.wrong(f"must be a row of {row} like the first row, not {describe(node)}", _EVEN)
        elif node.length != shape[0]:
            if len(shape) > 1:
                uneven.append(value)
            else:
                closing = "]" if text.startswith("[", node.at) else "\n"
                help = _EVEN + comma_advice(text, top, text.find(closing, node.at))
                value.wrong(
                    f"has {count(node.length, 'entry')}, but the first row has {shape[0]}", help
                )
        elif (
            node.numbers is not None
            and node.numbers.array.shape == shape
            and (numbers := read_numbers(node.numbers.array))
        ):
            cells.extend(numbers)
        else:
            below = shape[1:]
            for item in value.items:
                read(item, below)

    read(value, shape)
    if uneven:
        _report_uneven(value, uneven[0])
    return (cells, shape) if value.errors.count == before else None


def _read_lists(value: Value, rank: int, minus_infinity: bool) -> Matrix | None:
    numbers = value.node.numbers if isinstance(value.node, Sequence) else None
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
    if isinstance(node, Sequence) and node.numbers is not None:
        return node.numbers.texts()
    return (
        [text for item in node.items for text in _texts(item)] if isinstance(node, Sequence) else []
    )


def _read_file(value: Value, rank: int, minus_infinity: bool) -> Matrix | None:
    import numpy as np

    from attncli.problem.arrays.references import read_array

    array = read_array(value, rank)
    texts = None
    # which a file of text has where it has fractions and roots
    if array is not None and array.dtype == object:
        texts, array = read_only(array), np.vectorize(as_float, otypes=[float])(array)
    if array is None or not _all_numbers(array, value, minus_infinity):
        return None
    numbers = array.astype(np.float64, order="C") + 0.0
    numbers.setflags(write=False)
    return Matrix(numbers, texts)


def _all_numbers(array: Array, value: Value, minus_infinity: bool) -> bool:
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


def _report_uneven(whole: Value, value: Value) -> None:
    """Report an entry of nested lists that is not as long as the first, where it holds lists
    itself.

    Entries of a batch, such as sentences, may be filled up, and the mask then says how long they
    were.
    """
    first = whole
    while first.path.count("[") < value.path.count("["):
        first = first.entry(0)
    levels = _depth(first.node)
    one, many = {2: ("row", "rows"), 3: ("matrix", "matrices")}.get(levels, ("list", "lists"))
    help = f"all of them must have the same number of {many}"
    if levels == 2 and _BATCHES.get(whole.path) == _depth(whole.node):
        help = _fill_up(whole)
    value.wrong(
        f"has {count(_length(value.node), one, many)}, but {first.path} has {_length(first.node)}",
        help,
    )


def _fill_up(whole: Value) -> str:
    """Advice for entries of a batch; the mask then says how long they were, if their rows are those
    of the keys.
    """
    if whole.path == "Q" or (whole.path == "X" and "context" in whole.errors.nodes):
        return "fill up the shorter ones with rows of 0"
    heads = _depth(whole.node) == 4
    entries = [
        next(entry.items, entry) if heads else entry for entry in islice(whole.items, _LISTED + 1)
    ]
    lengths = [str(_length(entry.node)) for entry in entries]
    said = ", ".join(lengths[:_LISTED]) + (", …" if len(lengths) > _LISTED else "")
    return (
        f"fill up the shorter ones with rows of 0 at the end, and add mask: {{lengths: [{said}]}}"
    )


def _length(node: Node) -> int:
    return node.length if isinstance(node, Sequence) else 0


def _depth(node: Node) -> int:
    """How many lists are inside one another, by the first of each."""
    if not isinstance(node, Sequence):
        return 0
    return 1 + (_depth(node.items[0]) if node.items else 0)
