"""How each kind of key is read: the table behind `keys.KEYS`, and the readers of scale, softcap and base."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attncli.problem.conventions import OWN, Convention
from attncli.problem.keys import SCALE_WORDS, SCORES, Kind
from attncli.problem.losses import read_loss
from attncli.problem.matrices import DEEPEST, read_matrix
from attncli.problem.model import Matrix, Scalar
from attncli.problem.nodes import Leaf, Mapping, describe, is_null
from attncli.problem.values import Value, read_integer, read_labels, read_scalar, read_title, read_word, require_keys

if TYPE_CHECKING:
    from attncli.problem.mask_reader import MaskReading
    from attncli.problem.positions import Position

_PAST = "write past: {K: [[1, 0]], V: [[0, 1]]}"


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


def _read_past(value: Value) -> dict[str, Matrix | None] | None:
    """The arrays of a cache, by the names of their steps; None after reporting what is wrong."""
    if not isinstance(value.node, Mapping):
        value.wrong(f"must be {{K: …, V: …}}, not {describe(value.node)}", _PAST)
        return None
    whole = require_keys(value, ("K", "V"))
    for name in "KV":
        if whole and name not in value.keys:
            value.wrong(f"has no {name}: a cache holds a key and a value of every earlier token", _PAST)
            return None
    return {f"past_{name}": read_matrix(value.key(name), deepest=DEEPEST) for name in "KV" if name in value.keys}


def _read_sink(value: Value) -> Scalar | Matrix | None:
    return read_scalar(value) if isinstance(value.node, Leaf) else read_matrix(value, rank=1)


def _read_mask(value: Value, convention: Convention = OWN) -> MaskReading:
    from attncli.problem.mask_reader import read_mask  # with all forms of masks, which most problems do without

    return read_mask(value, convention)


def _read_positions(value: Value) -> tuple[Position, ...] | None:
    from attncli.problem.positions import read_positions  # with their rules, which problems without any do without

    return read_positions(value)


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
    "past": _read_past,
    "position": _read_positions,
    "sink": _read_sink,
    "loss": read_loss,
    "count": lambda value: read_integer(value, least=1, help="write how many heads there are, such as 8"),
}
