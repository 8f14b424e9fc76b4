"""Reads nested lists of equal lengths, whatever their single values are."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from attncli.english import count
from attncli.problem.text.decimal_commas import comma_advice
from attncli.problem.text.nodes import Leaf, ListNode, Node, describe
from attncli.problem.text.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EVEN_HELP = "all rows of a matrix must be equally long"
# So many lists are inside one another where there are entries of a batch.
_BATCH_DEPTHS = {"X": 3, "context": 3, "Q": 4, "K": 4, "V": 4}
# In a list with commas, a blank between two numbers stands where one is missing.
SEVERAL_NUMBERS = re.compile(r"[-+]?[\d.][^\s,]*(?:\s+[-+]?[\d.][^\s,]*)+")
# A help line spells out so many lengths.
_MOST_LENGTHS_SHOWN = 12
_Cell = TypeVar("_Cell")


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
    # These are matrices of other lengths than the first.
    uneven: list[Value] = []
    # And these are rows that may have several numbers in a cell.
    other_lengths: list[Value] = []
    shape: tuple[int, ...] = ()
    inner = first_row = value
    while isinstance(inner.node, ListNode):
        if inner.node.numbers is not None:
            shape += inner.node.numbers.array.shape
            break
        if not inner.node.length:
            inner.wrong("is empty", empty)
            return None
        shape += (inner.node.length,)
        first_row, inner = inner, inner.entry(0)

    cells: list[_Cell | None] = []
    is_first_row_wrong = False

    def read(value: Value, shape: tuple[int, ...]) -> None:
        nonlocal is_first_row_wrong
        node = value.node
        if not shape:
            if isinstance(node, Leaf):
                cells.append(read_cell(value))
                return
            value.wrong(f"must be one entry like its neighbours, not {describe(node)}", _EVEN_HELP)
        elif not isinstance(node, ListNode):
            row = count(shape[0], "entry")
            value.wrong(
                f"must be a row of {row} like the first row, not {describe(node)}", _EVEN_HELP
            )
        elif node.length != shape[0]:
            if len(shape) > 1:
                uneven.append(value)
            elif _has_several_in_a_cell(value):
                # Then the length of the row says nothing, unless its cells are right.
                for item in value.items:
                    read_cell(item)
                other_lengths.append(value)
            elif _has_several_in_a_cell(first_row) or is_first_row_wrong:
                other_lengths.append(value)
            else:
                tell_length(value, node.length)
        elif (
            node.numbers is not None
            and node.numbers.array.shape == shape
            and (numbers := read_numbers(node.numbers.array))
        ):
            cells.extend(numbers)
        else:
            below = shape[1:]
            is_first_row = not below and not cells
            for item in value.items:
                read(item, below)
            if is_first_row:
                is_first_row_wrong = value.errors.count > before

    def tell_length(row: Value, length: int) -> None:
        at = row.node.at
        closing = "]" if text.startswith("[", at) else "\n"
        help = _EVEN_HELP + comma_advice(text, top, text.find(closing, at))
        row.wrong(f"has {count(length, 'entry')}, but the first row has {shape[-1]}", help)

    read(value, shape)
    if uneven:
        _report_uneven(value, uneven[0])
    for row in other_lengths:
        if value.errors.count == before and isinstance(row.node, ListNode):
            tell_length(row, row.node.length)
    return (cells, shape) if value.errors.count == before else None


def _has_several_in_a_cell(row: Value) -> bool:
    """Whether a comma is missing between two numbers of a row, as in [1/2 0.25], so that they are
    one cell.
    """
    texts = (cell.text for cell in row.items if isinstance(cell.node, Leaf))
    return any(SEVERAL_NUMBERS.fullmatch(text) for text in texts)


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
    if levels == 2 and _BATCH_DEPTHS.get(whole.path) == _depth(whole.node):
        help = _fill_up(whole)
    value.wrong(
        f"has {count(_length(value.node), one, many)}, but {first.path} has {_length(first.node)}",
        help,
    )


def _fill_up(whole: Value) -> str:
    """Advice for entries of a batch; the mask then says how long they were, if their rows are those
    of the keys.
    """
    if whole.path == "Q" or (whole.path == "X" and "context" in whole.reading.nodes):
        return "fill up the shorter ones with rows of 0"
    heads = _depth(whole.node) == 4
    entries = [
        next(entry.items, entry) if heads else entry
        for entry in islice(whole.items, _MOST_LENGTHS_SHOWN + 1)
    ]
    lengths = [str(_length(entry.node)) for entry in entries]
    said = ", ".join(lengths[:_MOST_LENGTHS_SHOWN]) + (
        ", …" if len(lengths) > _MOST_LENGTHS_SHOWN else ""
    )
    return (
        f"fill up the shorter ones with rows of 0 at the end, and add mask: {{lengths: [{said}]}}"
    )


def _length(node: Node) -> int:
    return node.length if isinstance(node, ListNode) else 0


def _depth(node: Node) -> int:
    """How many lists are inside one another, by the first of each."""
    if not isinstance(node, ListNode):
        return 0
    return 1 + (_depth(node.items[0]) if node.items else 0)
