"""Tells of matrices of different lengths in one array, such as sentences, and how they make a batch all the same."""

from __future__ import annotations

from itertools import islice

from attncli.english import count
from attncli.problem.nodes import Mapping, Node, Sequence
from attncli.problem.values import Value

_BATCHES = {"X": 3, "context": 3, "Q": 4, "K": 4, "V": 4}  # the lists inside one another where there are entries
_LISTED = 12  # lengths that a help line spells out


def tell_uneven(whole: Value, value: Value) -> None:
    """Report an entry of nested lists that is not as long as the first, where it holds lists itself."""
    first = whole
    while first.path.count("[") < value.path.count("["):
        first = next(first.each())
    levels = _depth(first.node)
    one, many = {2: ("row", "rows"), 3: ("matrix", "matrices")}.get(levels, ("list", "lists"))
    help = f"all of them have equally many {many}"
    if levels == 2 and _BATCHES.get(whole.path) == _depth(whole.node):
        help = _fill_up(whole)
    value.wrong(f"has {count(_length(value.node), one, many)} where {first.path} has {_length(first.node)}", help)


def _fill_up(whole: Value) -> str:
    """Advice for entries of a batch; the mask then says how long they were, if their rows are those of the keys."""
    root = whole.errors.root
    crossed = isinstance(root, Mapping) and "context" in root.keys
    if whole.path == "Q" or (whole.path == "X" and crossed):
        return "fill up the shorter ones with rows of 0"
    heads = _depth(whole.node) == 4
    entries = [next(entry.each(), entry) if heads else entry for entry in islice(whole.each(), _LISTED + 1)]
    lengths = [str(_length(entry.node)) for entry in entries]
    said = ", ".join(lengths[:_LISTED]) + (", …" if len(lengths) > _LISTED else "")
    return f"fill up the shorter ones with rows of 0 at the end, and add mask: {{lengths: [{said}]}}"


def _length(node: Node) -> int:
    return node.length if isinstance(node, Sequence) else 0


def _depth(node: Node) -> int:
    """How many lists are inside one another, by the first of each."""
    if not isinstance(node, Sequence):
        return 0
    return 1 + (_depth(node.items[0]) if node.items else 0)
