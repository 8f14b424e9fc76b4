"""Reads a loss: what the output should have been, and how far it is from that; and compares its
target with the output.

The equations of each kind are in `attention/losses.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from attncli.english import count, shape_text
from attncli.problem.arrays.matrix_reader import MOST_AXES, read_matrix
from attncli.problem.matrix import Matrix, read_only
from attncli.problem.parts.axes import Shaped, output_shape
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, describe
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import as_float
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value, read_scalar, read_word, require_keys


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """How far the output is from what it should have been: `target`, in the shape of the output.

    mse is the mean, over all numbers of the output, of the squared differences. cross_entropy takes
    each row of the output as logits, has a 1 in each row of the target, in the column of its class,
    and is the mean over all rows.
    """

    kind: str
    target: Matrix


@dataclass(frozen=True, slots=True)
class LossKind:
    """`target` is the key of what it compares the output with: numbers like the output's, or a
    class for each row.
    """

    target: str
    example: str
    of_classes: bool = False


LOSSES: Mapping[str, LossKind] = {
    "mse": LossKind("target", "loss: {kind: mse, target: [[1, 0], [0, 1]]}"),
    "cross_entropy": LossKind(
        "targets", "loss: {kind: cross_entropy, targets: [1, 0]}", of_classes=True
    ),
}


def read_loss(value: Value) -> Loss | None:
    """The loss as it is written; None after reporting what is wrong."""
    if not isinstance(value.node, MappingNode) or not value.keys:
        value.wrong(
            f"must be {{kind: …, …}}, not {describe(value.node)}", f"write {LOSSES['mse'].example}"
        )
        return None
    targets = [kind.target for kind in LOSSES.values()]
    # What is missing may be what is misspelt.
    whole = require_keys(value, ("kind", *targets))
    if "kind" not in value.keys:
        if whole:
            likely = next(
                (kind for kind in LOSSES.values() if kind.target in value.keys), LOSSES["mse"]
            )
            value.wrong("has no kind", f"write {likely.example}")
        return None
    name = read_word(value.key("kind"), LOSSES)
    if name is None:
        return None
    kind = LOSSES[name]
    for other in targets:
        if other != kind.target and other in value.keys:
            value.wrong(
                f"{name} has {kind.target}, not {other}",
                f"write {kind.example}",
                at=value.keys[other],
            )
            return None
    if kind.target not in value.keys:
        if whole:
            value.wrong(f"has no {kind.target}", f"write {kind.example}")
        return None
    if kind.of_classes:
        target = read_matrix(value.key(kind.target), rank=1, deepest=MOST_AXES - 1)
    else:
        target = read_like_result(value.key(kind.target))
    return None if target is None else Loss(name, target)


def read_like_result(value: Value) -> Matrix | None:
    """Numbers in the shape of what the page ends with: where a problem has equations, this may be
    one number, or a list of them. None after reporting what is wrong.
    """
    node = value.node
    if "equations" not in value.reading.nodes:
        return read_matrix(value, deepest=MOST_AXES)
    if isinstance(node, Leaf):
        try:
            as_float(node.text)
        except NumberError:
            return read_matrix(value, deepest=MOST_AXES)
        number = read_scalar(value)
        return None if number is None else Matrix([number.value], [number.written], ())
    is_of_rows = isinstance(node, ListNode) and node.length > 0 and _has_lists(value)
    return read_matrix(value, rank=2 if is_of_rows else 1, deepest=MOST_AXES)


def _has_lists(value: Value) -> bool:
    return isinstance(value.entry(0).node, ListNode)


def check_loss(
    loss: Loss, given: Mapping[str, Shaped], joined: bool, reading: Reading
) -> Loss | None:
    """The loss with its target in the shape of the output: of classes, a 1 in each row; None after
    reporting.
    """
    if "d_output" in reading.places:
        reading.wrong(
            "loss",
            "d_output is given, too",
            "keep one of the two: the loss already gives the gradient of the output",
        )
        return None
    kind, expected = LOSSES[loss.kind], output_shape(given, joined)
    key, needed = f"loss.{kind.target}", expected[:-1] if kind.of_classes else expected
    if loss.target.shape != needed:
        what, each = ("class", "row") if kind.of_classes else ("number", "number")
        found = _counted(loss.target.shape) if kind.of_classes else shape_text(loss.target.shape)
        hot = kind.of_classes and loss.target.shape == expected
        message = f"is {found or 'one number'}, but the output is {shape_text(expected)}"
        reading.wrong(
            key,
            "has a row for each row of the output, and not its class" if hot else message,
            (
                "in place of a row such as 0, 1, 0 give the place of its 1, counted from 0"
                if hot
                else f"give one {what} for each {each} of the output"
            ),
        )
        return None
    return _one_hot(loss, expected[-1], reading) if kind.of_classes else loss


def _counted(shape: tuple[int, ...]) -> str:
    return count(shape[0], "class", "classes") if len(shape) == 1 else shape_text(shape)


def _one_hot(loss: Loss, classes: int, reading: Reading) -> Loss | None:
    """The target as a 1 in the column of each row's class, and 0 elsewhere."""
    import numpy as np

    numbers = loss.target.value
    wrong = np.argwhere((numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= classes))
    if wrong.size:
        place = tuple(wrong[0])
        written = (
            f"{numbers[place]:g}" if loss.target.written is None else loss.target.written[place]
        )
        _class_at(place, loss.kind, reading).wrong(
            f"{written} is no column of the output",
            f"the output has {count(classes, 'column')}, and its classes are "
            + (f"0 to {classes - 1}" if classes > 1 else "just 0"),
        )
        return None
    hot = (numbers[..., np.newaxis] == np.arange(classes)).astype(np.float64)
    written = np.where(hot == 1, "1", "0").astype(object)
    return Loss(loss.kind, Matrix(read_only(hot), read_only(written)))


def _class_at(place: tuple[int, ...], kind: str, reading: Reading) -> Value:
    """Where the class of a row is written; of one that comes from a file, where the file is
    named.
    """
    value = Value(reading.nodes["loss"], "loss", reading).key(LOSSES[kind].target)
    for index in place:
        value = (
            value.entry(index)
            if isinstance(value.node, ListNode)
            else replace(value, path=f"{value.path}[{index}]")
        )
    return value
