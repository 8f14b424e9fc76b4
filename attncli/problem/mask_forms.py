"""The forms a mask can take in a mapping, one reader each, by their names."""

from __future__ import annotations

from collections.abc import Callable

from attncli.problem.mask_matrices import read_additive, read_booleans
from attncli.problem.model import Additive, Causal, Hide, Keep, Lengths, MaskPart, Padding, Window
from attncli.problem.nodes import Sequence, describe
from attncli.problem.spot import Spot
from attncli.problem.values import read_integer, read_truth


def _causal(spot: Spot) -> Causal | None:
    return Causal() if read_truth(spot) else None


def _padding(spot: Spot) -> Padding | None:
    exists = read_booleans(spot, rank=1)
    return None if exists is None else Padding(tuple(map(tuple, exists.rows())))


def _lengths(spot: Spot) -> Lengths | None:
    if isinstance(spot.node, Sequence) and not spot.node.length:
        spot.wrong("is empty", "write {lengths: [2]}, one number for each entry of the batch")
        return None
    spots = spot.items or [spot]
    read = [read_integer(each, least=0, help="how many keys exist, counted from the left") for each in spots]
    lengths = tuple(length for length in read if length is not None)
    return Lengths(lengths) if len(lengths) == len(read) else None


def _window(spot: Spot) -> Window | None:
    length = spot.node.length if isinstance(spot.node, Sequence) else 0
    if length != 2:
        what = f"a list of {length}" if isinstance(spot.node, Sequence) else describe(spot.node)
        spot.wrong(f"must be two numbers, not {what}", "write {window: [left, right]}, with -1 for unbounded")
        return None
    help = "how far to the left and right of itself a query sees; -1 is unbounded"
    left, right = (read_integer(item, least=-1, help=help) for item in spot.items)
    return None if left is None or right is None else Window(left, right)


def _keep(spot: Spot) -> Keep | None:
    matrix = read_booleans(spot)
    return None if matrix is None else Keep(matrix)


def _hide(spot: Spot) -> Hide | None:
    matrix = read_booleans(spot)
    return None if matrix is None else Hide(matrix)


FORMS: dict[str, Callable[[Spot], MaskPart | None]] = {
    Causal.name: _causal,
    "corner": lambda spot: None,  # read with causal and window, which it belongs to
    Padding.name: _padding,
    Lengths.name: _lengths,
    Window.name: _window,
    Keep.name: _keep,
    Hide.name: _hide,
    Additive.name: read_additive,
}
