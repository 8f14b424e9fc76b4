"""Reads a dump from JSON or YAML: `{scores: [[…]], …}` by itself or under `steps`, as in a trace of attncli."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.dtypes import DTYPES
from attncli.english import count, shorten
from attncli.features.compare.dump import STEPS, Dump, as_step, in_order, named_steps, nearest, single, twice
from attncli.problem.nodes import Leaf, Node, Sequence, describe, truth
from attncli.problem.nodes import Mapping as Keyed
from attncli.problem.values import ErrorCollector, Value

_WORDS = {
    word: value
    for value, words in (
        (np.nan, ("NaN", "nan", ".nan", ".NaN")),
        (np.inf, ("Infinity", "inf", ".inf", "+inf", "+Infinity")),
        (-np.inf, ("-Infinity", "-inf", "-.inf")),
    )
    for word in words
}
_EVEN = "all rows of an array are equally long"


def read_dump(root: Node, errors: ErrorCollector) -> Dump:
    """The steps of a JSON or YAML file; AttncliError (exit 3) where no name is a step's, and for what is no array.

    `{scores: [[…]], …}` by itself or under `steps`, each an array (a number where the step is one) or, as in a trace, a
    mapping with its `value`.
    """
    assert isinstance(root, Keyed)
    values = {name: Value(node, name, errors) for name, node in root.values.items()}
    dtype = None
    if "steps" in values:
        dtype = _written_dtype(values.get("settings"))
        steps = values["steps"].node
        if not isinstance(steps, Keyed):
            errors.fail(
                f"must be a mapping, not {describe(steps)}", at=steps.at, path="steps", help="write {scores: …}"
            )
        values, root = {name: Value(node, name, errors) for name, node in steps.values.items()}, steps
    if not values:
        errors.fail("there is no step in it", at=root.at, help=STEPS)
    arrays: dict[str, NDArray[Any]] = {}
    labels: dict[str, tuple[tuple[str, ...], ...]] = {}
    found, left_out = named_steps(values)
    if not found:
        for name in left_out:
            errors.add(f"no step is called {shorten(name)}", at=root.keys[name], help=nearest(name))
    if clash := twice(found):
        errors.fail(clash[1], at=root.keys[clash[0]], help="keep one of the two")
    for name, step in found.items():
        value = values[name]
        if isinstance(value.node, Keyed) and "value" in value.keys:
            labels[step] = _labels(value.node.values.get("labels"))
            value = value.key("value")
        array = _array(value, step)
        if array is not None:
            arrays[step] = array
    errors.stop()
    return Dump(in_order(arrays), dtype or _format_of(arrays), labels, left_out)


def _array(value: Value, step: str) -> NDArray[Any] | None:
    """An array of nested lists, or of one number where the step is that; None after reporting what is wrong with it.

    A mask may be of true and false.
    """
    shape: list[int] = []
    node = value.node
    while isinstance(node, Sequence):
        if not node.items:
            value.wrong("is empty", "leave the step out", at=node.at)
            return None
        shape.append(len(node.items))
        node = node.items[0]
    if not shape and not (single(step) and isinstance(node, Leaf)):
        value.wrong(f"must be an array, not {describe(value.node)}", f"write {value.name}: [[1, 0], [0, 1]]")
        return None
    before = value.errors.count
    cells: list[float | bool] = []
    _gather(value, shape, cells, truths=step == "mask" and truth(node) is not None)
    return as_step(step, np.array(cells).reshape(shape)) if value.errors.count == before else None


def _gather(value: Value, shape: list[int], cells: list[float | bool], *, truths: bool) -> None:
    node = value.node
    if not shape:
        number = truth(node) if truths else _number(node)
        if number is not None:
            cells.append(number)
        elif truths:
            value.wrong(f"must be true or false, not {describe(node)}", "the first is one: write true or false")
        else:
            value.wrong(f"must be a number, not {describe(node)}", "write a number, NaN, Infinity or -Infinity")
    elif not isinstance(node, Sequence) or len(node.items) != shape[0]:
        found = count(len(node.items), "entry") if isinstance(node, Sequence) else describe(node)
        value.wrong(f"has {found} where the first row has {shape[0]}", _EVEN)
    else:
        for item in value.items:
            _gather(item, shape[1:], cells, truths=truths)


def _number(node: Node) -> float | None:
    if not isinstance(node, Leaf):
        return None
    if node.text in _WORDS:
        return _WORDS[node.text]
    try:
        return None if node.quoted or "_" in node.text else float(node.text)
    except ValueError:
        return None


def _labels(node: Node | None) -> tuple[tuple[str, ...], ...]:
    """The labels of a step of a trace, or nothing where they are not two lists deep."""
    axes = node.items if isinstance(node, Sequence) else []
    return tuple(
        tuple(leaf.text for leaf in axis.items if isinstance(leaf, Leaf)) for axis in axes if isinstance(axis, Sequence)
    )


def _written_dtype(settings: Value | None) -> str | None:
    node = settings.node.values.get("dtype") if settings and isinstance(settings.node, Keyed) else None
    return node.text if isinstance(node, Leaf) and node.text in DTYPES else None


def _format_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """float32 where all numbers are such and some have more digits than a person would write; else float64."""
    long = False
    for array in arrays.values():
        finite = array[np.isfinite(array)]
        with np.errstate(over="ignore"):
            if (finite.astype(np.float32) != finite).any():
                return "float64"
        long = long or any(len(repr(number)) > 12 for number in finite.ravel()[:100].tolist())
    return "float32" if long else "float64"
