"""The forms a mask can take in a mapping, one reader each, by their names."""

from __future__ import annotations

from collections.abc import Callable

from attncli.problem.mask_matrices import read_additive, read_booleans
from attncli.problem.model import Additive, Causal, Hide, Keep, Lengths, MaskPart, Padding, Window
from attncli.problem.nodes import Sequence, describe
from attncli.problem.values import Value, read_integer, read_truth


def _causal(value: Value) -> Causal | None:
    return Causal() if read_truth(value) else None


def _padding(value: Value) -> Padding | None:
    exists = read_booleans(value, rank=1)
    return None if exists is None else Padding(tuple(map(tuple, exists.rows())))


def _lengths(value: Value) -> Lengths | None:
    if isinstance(value.node, Sequence) and not value.node.length:
        value.wrong("is empty", "write {lengths: [2]}, one number for each entry of the batch")
        return None
    values = value.items or [value]
    read = [read_integer(each, least=0, help="how many keys exist, counted from the left") for each in values]
    lengths = tuple(length for length in read if length is not None)
    return Lengths(lengths) if len(lengths) == len(read) else None


def _window(value: Value) -> Window | None:
    length = value.node.length if isinstance(value.node, Sequence) else 0
    if length != 2:
        what = f"a list of {length}" if isinstance(value.node, Sequence) else describe(value.node)
        value.wrong(f"must be two numbers, not {what}", "write {window: [left, right]}, with -1 for unbounded")
        return None
    help = "how far to the left and right of itself a query sees; -1 is unbounded"
    left, right = (read_integer(item, least=-1, help=help) for item in value.items)
    return None if left is None or right is None else Window(left, right)


def _keep(value: Value) -> Keep | None:
    matrix = read_booleans(value)
    return None if matrix is None else Keep(matrix)


def _hide(value: Value) -> Hide | None:
    matrix = read_booleans(value)
    return None if matrix is None else Hide(matrix)


FORMS: dict[str, Callable[[Value], MaskPart | None]] = {
    Causal.name: _causal,
    "corner": lambda value: None,  # read with causal and window, which it belongs to
    Padding.name: _padding,
    Lengths.name: _lengths,
    Window.name: _window,
    Keep.name: _keep,
    Hide.name: _hide,
    Additive.name: read_additive,
}
