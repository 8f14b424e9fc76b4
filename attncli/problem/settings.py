"""How each kind of key is read: the table behind `keys.KEYS`, and the readers of scale, softcap and base."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attncli.problem.conventions import OWN, Convention
from attncli.problem.keys import SCALE_WORDS, SCORES, Kind
from attncli.problem.losses import read_loss
from attncli.problem.matrices import DEEPEST, read_matrix
from attncli.problem.model import Matrix, Scalar
from attncli.problem.nodes import Leaf, describe, is_null
from attncli.problem.positions import read_past, read_position
from attncli.problem.values import Value, read_integer, read_labels, read_scalar, read_title, read_word

if TYPE_CHECKING:
    from attncli.problem.mask_reader import MaskReading


def read_scale(value: Value) -> Any:
    """A number, or the words none and default; None after reporting anything else."""
    if isinstance(value.node, Leaf):
        if value.text in SCALE_WORDS:
            return value.text
        if value.text.isalpha() or is_null(value.node):
            what = describe(value.node)
            value.wrong(f"must be a number or none, not {what}", "write a number, or none for unscaled scores")
            return None
    return read_scalar(value)


def _read_positive(value: Value) -> Scalar | None:
    help = "write a number such as 50"
    number = read_scalar(value, help=help)
    if number is not None and number.value <= 0:
        value.wrong(f"must be greater than 0, not {describe(value.node)}", help)
    return number


def _read_base(value: Value) -> Scalar | None:
    if isinstance(value.node, Leaf) and value.text == "e":
        return None
    help = "write e, or a number such as 2 or 3"
    number = read_scalar(value, help=help)
    if number is not None and number.value <= 1:
        value.wrong(f"must be greater than 1, not {describe(value.node)}", help)
    return number


def _read_sink(value: Value) -> Scalar | Matrix | None:
    return read_scalar(value) if isinstance(value.node, Leaf) else read_matrix(value, rank=1)


def _read_mask(value: Value, convention: Convention = OWN) -> MaskReading:
    from attncli.problem.mask_reader import read_mask  # with all forms of masks, which most problems do without

    return read_mask(value, convention)


READERS: dict[Kind, Callable[..., Any]] = {
    "text": read_title,
    "labels": read_labels,
    "entries": lambda value: read_matrix(value, deepest=3),
    "heads": lambda value: read_matrix(value, deepest=DEEPEST),
    "matrix": read_matrix,
    "vector": lambda value: read_matrix(value, rank=1),
    "score": lambda value: read_word(value, SCORES),
    "scale": read_scale,
    "positive": _read_positive,
    "base": _read_base,
    "mask": _read_mask,
    "past": read_past,
    "position": read_position,
    "sink": _read_sink,
    "loss": read_loss,
    "count": lambda value: read_integer(value, least=1, help="write how many heads there are, such as 8"),
}
