"""Reads a loss: what the output should have been, and how far it is from that; and holds it against the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from attncli.english import count, shape_text
from attncli.problem.axes import output_shape
from attncli.problem.keys import LOSSES, TARGETS, LossKind
from attncli.problem.matrices import DEEPEST, read_matrix
from attncli.problem.model import Loss, Matrix, read_only
from attncli.problem.nodes import Mapping as Keyed
from attncli.problem.nodes import Sequence, describe
from attncli.problem.values import ErrorCollector, Places, Value, read_word, require_keys

_EXAMPLES = {"mse": "loss: {kind: mse, target: [[1, 0], [0, 1]]}",
             "cross_entropy": "loss: {kind: cross_entropy, targets: [1, 0]}"}  # fmt: skip


def read_loss(value: Value) -> Loss | None:
    """The loss as it is written; None after reporting what is wrong."""
    if not isinstance(value.node, Keyed) or not value.keys:
        value.wrong(f"must be {{kind: …, …}}, not {describe(value.node)}", f"write {_EXAMPLES['mse']}")
        return None
    whole = require_keys(value, ("kind", *TARGETS.values()))  # else what is missing may be what is misspelt
    if "kind" not in value.keys:
        if not whole:
            return None
        kind = next((kind for kind, key in TARGETS.items() if key in value.keys), LOSSES[0])
        value.wrong("has no kind", f"write {_EXAMPLES[kind]}")
        return None
    word = read_word(value.key("kind"), LOSSES)
    if word is None:
        return None
    kind = cast("LossKind", word)
    wanted = TARGETS[kind]
    for other in TARGETS.values():
        if other != wanted and other in value.keys:
            value.wrong(f"{kind} has {wanted}, not {other}", f"write {_EXAMPLES[kind]}", at=value.keys[other])
            return None
    if wanted not in value.keys:
        if whole:
            value.wrong(f"has no {wanted}", f"write {_EXAMPLES[kind]}")
        return None
    rank = 2 if kind == "mse" else 1
    target = read_matrix(value.key(wanted), rank=rank, deepest=DEEPEST + rank - 2)
    return None if target is None else Loss(kind, target)


def check_loss(
    loss: Loss | None, given: Mapping[str, Matrix], joined: bool, at: Places, errors: ErrorCollector
) -> Loss | None:
    """The loss with its target in the shape of the output: of classes, a 1 in each row; None after reporting."""
    if loss is None:
        return None
    if "d_output" in at:
        errors.add(
            "d_output is given, too", at=at["loss"], path="loss",
            help="keep one of the two: the gradient of the output is that of the loss",
        )  # fmt: skip
        return None
    expected, key = output_shape(given, joined), f"loss.{TARGETS[loss.kind]}"
    needed = expected if loss.kind == "mse" else expected[:-1]
    if loss.target.shape != needed:
        what, each = ("number", "number") if loss.kind == "mse" else ("class", "row")
        found = shape_text(loss.target.shape) if loss.kind == "mse" else _counted(loss.target.shape)
        hot = loss.kind != "mse" and loss.target.shape == expected
        message = f"is {found}, but the output is {shape_text(expected)}"
        errors.add(
            "has a row for each row of the output, and not its class" if hot else message, at=at[key], path=key,
            help="in place of a row such as 0, 1, 0 give the place of its 1, counted from 0" if hot
            else f"give one {what} for each {each} of the output",
        )  # fmt: skip
        return None
    return loss if loss.kind == "mse" else _one_hot(loss, expected[-1], errors)


def _counted(shape: tuple[int, ...]) -> str:
    return count(shape[0], "class", "classes") if len(shape) == 1 else shape_text(shape)


def _one_hot(loss: Loss, classes: int, errors: ErrorCollector) -> Loss | None:
    """The target as a 1 in the column of each row's class, and 0 elsewhere."""
    import numpy as np

    numbers = loss.target.value
    wrong = np.argwhere((numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= classes))
    if wrong.size:
        place = tuple(wrong[0])
        written = f"{numbers[place]:g}" if loss.target.written is None else loss.target.written[place]
        _class_at(place, errors).wrong(
            f"{written} is no column of the output",
            f"the output has {count(classes, 'column')}, and its classes are "
            + (f"0 to {classes - 1}" if classes > 1 else "just 0"),
        )
        return None
    hot = (numbers[..., np.newaxis] == np.arange(classes)).astype(np.float64)
    written = np.where(hot == 1, "1", "0").astype(object)
    return Loss(loss.kind, Matrix(read_only(hot), read_only(written)))


def _class_at(place: tuple[int, ...], errors: ErrorCollector) -> Value:
    """Where the class of a row is written; of one that comes from a file, where the file is named."""
    assert isinstance(errors.root, Keyed)
    value = Value(errors.root.values["loss"], "loss", errors).key(TARGETS["cross_entropy"])
    for index in place:
        value = (
            value.entry(index) if isinstance(value.node, Sequence) else replace(value, path=f"{value.path}[{index}]")
        )
    return value
