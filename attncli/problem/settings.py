"""How each kind of key is read: the table behind `keys.KEYS`, and the readers of scale, softcap and base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attncli.problem.keys import ONE_HEAD, ONE_HEAD_HELP, SCALE_WORDS, SCORES, Kind
from attncli.problem.masks import read_mask
from attncli.problem.matrices import read_matrix
from attncli.problem.model import Scalar
from attncli.problem.report import Report
from attncli.problem.tree import Leaf, Node, describe, is_null
from attncli.problem.values import read_integer, read_labels, read_scalar, read_text, read_word


def read_scale(node: Node, path: str, report: Report) -> Any:
    """A number, or the words none and default; None after reporting anything else."""
    if isinstance(node, Leaf) and node.text in SCALE_WORDS:
        return node.text
    if isinstance(node, Leaf) and (node.text.isalpha() or is_null(node)):
        help = "write a number, or none for unscaled scores"
        report.add(f"must be a number or none, not {describe(node)}", at=node.at, path=path, help=help)
        return None
    return read_scalar(node, path, report)


def _read_positive(node: Node, path: str, report: Report) -> Scalar | None:
    number = read_scalar(node, path, report)
    if number is not None and number.value <= 0:
        report.add(
            f"must be greater than 0, not {describe(node)}", at=node.at, path=path, help="write a number such as 50"
        )
    return number


def _read_base(node: Node, path: str, report: Report) -> Scalar | None:
    if isinstance(node, Leaf) and node.text == "e":
        return None
    number = read_scalar(node, path, report)
    if number is not None and number.value <= 1:
        report.add(
            f"must be greater than 1, not {describe(node)}",
            at=node.at,
            path=path,
            help="write e, or a number such as 2 or 3",
        )
    return number


def _read_one(node: Node, path: str, report: Report) -> None:
    count = read_integer(node, path, report, least=1, help="remove it, or write 1")
    if count is not None and count != 1:
        report.add(ONE_HEAD, at=node.at, path=path, help=ONE_HEAD_HELP)


READERS: dict[Kind, Callable[[Node, str, Report], Any]] = {
    "text": read_text,
    "labels": read_labels,
    "matrix": read_matrix,
    "vector": lambda node, path, report: read_matrix(node, path, report, rank=1),
    "score": lambda node, path, report: read_word(node, path, report, SCORES),
    "scale": read_scale,
    "positive": _read_positive,
    "base": _read_base,
    "mask": read_mask,
    "one": _read_one,
}
