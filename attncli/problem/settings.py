"""How each kind of key is read: the table behind `keys.KEYS`, and the readers of scale, softcap and base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attncli.problem.keys import SCALE_WORDS, SCORES, Kind
from attncli.problem.losses import read_loss
from attncli.problem.masks import read_mask
from attncli.problem.matrices import DEEPEST, read_matrix
from attncli.problem.model import Matrix, Scalar
from attncli.problem.nodes import Leaf, describe, is_null
from attncli.problem.positions import read_past, read_position
from attncli.problem.spot import Spot
from attncli.problem.values import read_integer, read_labels, read_scalar, read_title, read_word


def read_scale(spot: Spot) -> Any:
    """A number, or the words none and default; None after reporting anything else."""
    if isinstance(spot.node, Leaf):
        if spot.text in SCALE_WORDS:
            return spot.text
        if spot.text.isalpha() or is_null(spot.node):
            what = describe(spot.node)
            spot.wrong(f"must be a number or none, not {what}", "write a number, or none for unscaled scores")
            return None
    return read_scalar(spot)


def _read_positive(spot: Spot) -> Scalar | None:
    help = "write a number such as 50"
    number = read_scalar(spot, help=help)
    if number is not None and number.value <= 0:
        spot.wrong(f"must be greater than 0, not {describe(spot.node)}", help)
    return number


def _read_base(spot: Spot) -> Scalar | None:
    if isinstance(spot.node, Leaf) and spot.text == "e":
        return None
    help = "write e, or a number such as 2 or 3"
    number = read_scalar(spot, help=help)
    if number is not None and number.value <= 1:
        spot.wrong(f"must be greater than 1, not {describe(spot.node)}", help)
    return number


def _read_sink(spot: Spot) -> Scalar | Matrix | None:
    return read_scalar(spot) if isinstance(spot.node, Leaf) else read_matrix(spot, rank=1)


READERS: dict[Kind, Callable[[Spot], Any]] = {
    "text": read_title,
    "labels": read_labels,
    "entries": lambda spot: read_matrix(spot, deepest=3),
    "heads": lambda spot: read_matrix(spot, deepest=DEEPEST),
    "matrix": read_matrix,
    "vector": lambda spot: read_matrix(spot, rank=1),
    "score": lambda spot: read_word(spot, SCORES),
    "scale": read_scale,
    "positive": _read_positive,
    "base": _read_base,
    "mask": read_mask,
    "past": read_past,
    "position": read_position,
    "sink": _read_sink,
    "loss": read_loss,
    "count": lambda spot: read_integer(spot, least=1, help="write how many heads there are, such as 8"),
}
