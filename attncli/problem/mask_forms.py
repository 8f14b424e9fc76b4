"""The forms a mask can take in a mapping, one reader each, by their names."""

from __future__ import annotations

from collections.abc import Callable

from attncli.problem.keys import ONE_HEAD
from attncli.problem.mask_matrices import read_additive, read_booleans
from attncli.problem.model import Additive, Causal, Hide, Keep, Lengths, MaskPart, Padding, Window
from attncli.problem.report import Report
from attncli.problem.tree import Node, Sequence, describe
from attncli.problem.values import read_integer, read_truth


def _causal(node: Node, path: str, report: Report) -> Causal | None:
    return Causal() if read_truth(node, path, report) else None


def _padding(node: Node, path: str, report: Report) -> Padding | None:
    exists = read_booleans(node, path, report, rank=1)
    return None if exists is None else Padding(tuple(exists.tolist()))


def _lengths(node: Node, path: str, report: Report) -> Lengths | None:
    if isinstance(node, Sequence):
        if len(node.items) != 1:
            report.add(
                f"{ONE_HEAD}, and this has {len(node.items)} lengths",
                at=node.at,
                path=path,
                help="write {lengths: [2]}",
            )
            return None
        node, path = node.items[0], f"{path}[0]"
    length = read_integer(node, path, report, least=0, help="how many keys exist, counted from the left")
    return None if length is None else Lengths(length)


def _window(node: Node, path: str, report: Report) -> Window | None:
    if not isinstance(node, Sequence) or len(node.items) != 2:
        what = f"a list of {len(node.items)}" if isinstance(node, Sequence) else describe(node)
        report.add(
            f"must be two numbers, not {what}",
            at=node.at,
            path=path,
            help="write {window: [left, right]}, with -1 for unbounded",
        )
        return None
    help = "how far to the left and right of itself a query sees; -1 is unbounded"
    left, right = (read_integer(item, f"{path}[{i}]", report, least=-1, help=help) for i, item in enumerate(node.items))
    return None if left is None or right is None else Window(left, right)


def _keep(node: Node, path: str, report: Report) -> Keep | None:
    matrix = read_booleans(node, path, report)
    return None if matrix is None else Keep(matrix)


def _hide(node: Node, path: str, report: Report) -> Hide | None:
    matrix = read_booleans(node, path, report)
    return None if matrix is None else Hide(matrix)


FORMS: dict[str, Callable[[Node, str, Report], MaskPart | None]] = {
    Causal.name: _causal,
    "corner": lambda node, path, report: None,  # read with causal and window, which it belongs to
    Padding.name: _padding,
    Lengths.name: _lengths,
    Window.name: _window,
    Keep.name: _keep,
    Hide.name: _hide,
    Additive.name: read_additive,
}
