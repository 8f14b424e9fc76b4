"""What comes back from the process of a function, read and checked: a function may write there
too, so nothing in it is trusted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import prod
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# More is none of what `child.py` sends.
LONGEST_MESSAGE = 2**20
MOST_BYTES = 2**26
# Of a tuple, so many are told of.
MOST_ITEMS = 3
# Those of all arguments and weights.
MOST_GRADIENTS = 1000
# NumPy has no more.
MOST_AXES = 64
Message: TypeAlias = dict[str, Any]


class Answer(NamedTuple):
    """What the process answers: a message, and the numbers of an array in one row, if it has
    any.

    Of a call with gradients, `numbers` are the output, empty where there is none, and `gradients`
    those that it has, None where none flows.
    """

    message: Message
    numbers: NDArray[np.float64]
    gradients: tuple[NDArray[np.float64] | None, ...] = ()

    def shaped(self) -> Answer:
        """The answer to a call with its numbers in the shapes that it says."""
        left = self.numbers
        found: list[NDArray[np.float64] | None] = []
        for shape in (self.message["shape"], *self.message.get("gradients", ())):
            if shape is None:
                found.append(None)
                continue
            numbers, left = np.split(left, [prod(shape)])
            found.append(numbers.reshape(shape))
        output, *gradients = found
        numbers = np.zeros(0) if output is None else output
        return Answer(self.message, numbers, tuple(gradients))


class NoAnswerError(Exception):
    """Something else came than an answer to what was asked."""


def read_answer(stream: IO[bytes], asked: str) -> Answer | None:
    """The next answer, to what was `asked`: one of those in `child.py`; None at the end.

    Raises NoAnswerError where something else comes.
    """
    head = stream.readline(LONGEST_MESSAGE)
    if not head:
        return None
    try:
        return _answer(head, stream, asked)
    except (ValueError, RecursionError):
        raise NoAnswerError from None


def _answer(head: bytes, stream: IO[bytes], asked: str) -> Answer:
    message = json.loads(head)
    _require(isinstance(message, dict))
    size = message.pop("size", None)
    _require(_is_count(size) and size <= MOST_BYTES)
    numbers = np.frombuffer(stream.read(size), np.float64)
    if "error" in message:
        _require(isinstance(message["error"], str))
    else:
        _CHECKS[asked](message, numbers)
    return Answer(message, numbers)


def _require(holds: bool) -> None:
    if not holds:
        raise NoAnswerError


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)


def _require_nothing(message: Message, numbers: NDArray[np.float64]) -> None:
    _require(not message and not numbers.size)


# What is said of a parameter.
_PARAMETER = {
    "name": str,
    "required": bool,
    "default": str,
    "annotation": str,
    "positional": bool,
}

# What is said of a weight.
_WEIGHT = {"name": str, "shape": list, "owner": str}


def _require_described(message: Message, numbers: NDArray[np.float64]) -> None:
    """Of a function that was loaded."""
    _require(isinstance(message.get("kind"), str))
    for name in ("others", "starred", "has_torch"):
        _require(type(message.get(name, False)) is bool)
    _require_weights(message)
    parameters = message.get("parameters", ())
    if parameters is None:
        return
    _require(_is_list_of(dict, parameters))
    for each in parameters:
        _require({name: type(value) for name, value in each.items()} == _PARAMETER)


def _require_weights(message: Message) -> None:
    """Of a layer that was loaded; a function has none."""
    for name in ("heads", "kv_heads"):
        _require(message.get(name) is None or _is_count(message[name]))
    weights = message.get("weights", [])
    _require(_is_list_of(dict, weights))
    for each in weights:
        _require({name: type(value) for name, value in each.items()} == _WEIGHT)
        _require(all(map(_is_count, each["shape"])))
        _require(prod(each["shape"]) <= MOST_BYTES)


def _require_numbers(message: Message, numbers: NDArray[np.float64]) -> None:
    """Of a call."""
    gradients = message.get("gradients", [])
    _require(isinstance(gradients, list) and len(gradients) <= MOST_GRADIENTS)
    shapes = [message.get("shape"), *gradients]
    _require(shapes[0] is not None or "gradients" in message)
    there = [shape for shape in shapes if shape is not None]
    for shape in there:
        _require(isinstance(shape, list) and len(shape) <= MOST_AXES)
        _require(all(map(_is_count, shape)))
    _require(sum(map(prod, there)) == numbers.size)
    _require(isinstance(message.get("dtype"), str))
    _require(isinstance(message.get("without", ""), str))
    _require(_is_list_of(str, message.get("changed")))
    _require(type(message.get("repeats", True)) is bool)
    items = message.get("items", [])
    _require(_is_list_of(list, items) and len(items) <= MOST_ITEMS)
    for shape in items:
        _require(all(map(_is_count, shape)))


def _require_samples(message: Message, numbers: NDArray[np.float64]) -> None:
    """Of a function of FlexAttention, called at many places."""
    shape: Any = message.get("shape")
    _require(isinstance(shape, list) and len(shape) <= MOST_AXES)
    _require(all(map(_is_count, shape)))
    _require(prod(shape) == numbers.size)


_CHECKS: Mapping[str, Callable[[Message, NDArray[np.float64]], None]] = {
    "begin": _require_nothing,
    "read": _require_nothing,
    "prepare": _require_nothing,
    "flex": _require_nothing,
    "load": _require_described,
    "weights": _require_nothing,
    "call": _require_numbers,
    "sample": _require_samples,
}
